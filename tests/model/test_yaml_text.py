"""Workload files: every fault is one message with file, line and the nearest known key."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml, parse_yaml

GOOD = """\
workload: 1
name: x
files:
  data: {path: a}
program:
  g:
    - phase: a
      do:
        - write: {to: data, transfer: 5, size: 10}
        - barrier
"""

BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join(['*' + below] * 10)}]"
    for below, name in zip("abcdef", "bcdefg", strict=True)
)


def test_a_good_file_is_read() -> None:
    workload = parse_yaml(GOOD, "w.yaml", Workload)
    assert workload.files["data"].path == "a"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (GOOD.replace("transfer", "tranfer"), "w.yaml:9: program.g[0].do[0].write", "'transfer'"),
        (GOOD.replace("path", "pth"), "w.yaml:4: files.data.pth", "'path'"),
        (GOOD.replace("files:", "fils:"), "w.yaml:3: fils", "'files'"),
        (GOOD.replace("name: x", "name: [x]"), "w.yaml:2: name", ""),
        (GOOD.replace("- barrier", "- {barrier: all, sync: fsync}"), "exactly one verb", ""),
        (GOOD.replace("do:", "d:"), "w.yaml:8", ""),
        (GOOD + "name: y\n", "w.yaml:11: the key 'name' stands twice", ""),
        (BOMB, "too large or refers to itself", "for"),
        ("a: &a [*a]", "refers to itself", ""),
        ("[" * 3000, "not valid YAML", ""),
        ("x: !!python/object/apply:os.system [id]", "w.yaml:1", ""),
        ("", "empty", ""),
        ("- 1", "a document is a mapping", ""),
        ("a: [1", "not valid YAML", ""),
    ],
)
def test_faults(text: str, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_yaml(text, "w.yaml", Workload)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert "\n" not in caught.value.message


def test_words_that_old_yaml_took_for_truth_stay_text() -> None:
    text = GOOD.replace("- barrier", "- {each: {on: data, do: [stat]}}")
    assert parse_yaml(text, "w.yaml", Workload).program["g"]


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        load_yaml(tmp_path / "no.yaml", Workload)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a text file"):
        load_yaml(tmp_path / "b.yaml", Workload)
