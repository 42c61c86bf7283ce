"""Workload files: every fault is one message with file, line and the nearest known key."""

from __future__ import annotations

import random
from importlib import resources
from pathlib import Path

import pytest
import yaml

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import _composed, load_yaml, parse_yaml

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


SHIPPED = sorted(Path(str(resources.files("venturi"))).rglob("*.yaml"))
ODD = ["\t", "\ufeff", "?", "? ", ":", ": ", "{", "}", "[", "]", ",", "#", " #", "&a ", "*a", "!x "]
ODD += ["'", '"', "|", ">", "- ", "\n", "%", "@", "---\n", "\x00", "\x85", "<<: ", "\r", "\\"]


def graph(text: str, *, own: bool) -> object:
    """What is read of a text: tags, values, quotes and lines; None if it is refused.

    An empty value may stand on the line of its key or on that of what follows.
    """

    def of(node: yaml.Node) -> object:
        line = node.start_mark.line if node.value != "" else None
        if isinstance(node, yaml.ScalarNode):
            return node.tag, node.value, bool(node.style), line
        if isinstance(node, yaml.SequenceNode):
            return node.tag, line, [of(child) for child in node.value]
        return node.tag, line, [(of(key), of(value)) for key, value in node.value]

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader) if own else _composed(text)
    except (yaml.YAMLError, RecursionError):
        return None
    return of(node) if node is not None else ""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_libyaml_reads_the_same(path: Path) -> None:
    """What ships, and eight texts that follow from each by putting something odd into it."""
    text = path.read_text("utf-8")
    assert graph(text, own=False) == graph(text, own=True)
    draw = random.Random(path.stem)
    lines = text.splitlines(keepends=True)
    for _ in range(8):
        begin = draw.randrange(len(lines))
        part = "".join(lines[begin : begin + 8])
        at = draw.randrange(len(part))
        spoilt = part[:at] + draw.choice(ODD) + part[at:]
        assert graph(spoilt, own=False) == graph(spoilt, own=True), spoilt
