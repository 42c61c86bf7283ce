"""Every tutorial does what it says: its commands are typed, and its output is compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial_text import complaints, first_missing, parsed

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.md"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_as_it_says(path: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    wrong = list(complaints(path.read_text("utf-8"), home))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_has_commands_and_fits_its_reader(path: Path) -> None:
    text = path.read_text("utf-8")
    tutorial = parsed(text)
    assert len(tutorial.commands) >= 3
    in_files = sum(len(content.splitlines()) for content in tutorial.files.values())
    assert 60 <= len(text.splitlines()) - in_files <= 120
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize(
    ("shown", "printed", "missing"),
    [
        (["wrote 5 MiB in 3 s"], "wrote 7.25 GiB in 12 ms\n", None),
        (["wrote 5 MiB"], "read 5 MiB\n", "wrote 5 MiB"),
        (["a", "..."], "a\nb\nc\n", None),
        (["...", "c"], "a\nb\nc\n", None),
        (["a", "c"], "a\nb\nc\n", "c"),
        (["a b c"], "a\n  b c\n", None),
        (["write", "..."], "writes\n", "write"),
        (["a"], "a\nb\n", "only what the text shows"),
        (["run ... done"], "run 2026-x1 done\n", None),
        (["exit code 4"], "exit code 0\n", "exit code 4"),
        (["h5py"], "h4py\n", "h5py"),
        ([], "anything\n", None),
    ],
)
def test_output_is_compared(shown: list[str], printed: str, missing: str | None) -> None:
    assert first_missing(shown, printed) == missing


def test_a_command_that_fails_is_a_complaint(tmp_path: Path) -> None:
    text = '```sh title="a/b"\nhi\n```\n```console\n$ cat a/b\nhi\n$ false\n$ echo never\n```\n'
    home = tmp_path / "home"
    home.mkdir()
    (only,) = complaints(text, home)
    assert only.startswith("$ false\nexits with 1")
