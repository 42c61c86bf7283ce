"""Folders and files that commands leave: whole, or where there is room, and nothing half."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from venturi.cli.option import write_text
from venturi.execute.result_folder import write_folder
from venturi.model.error import UserError
from venturi.profile.journal import ProfileJournal
from venturi.store.journal import RunJournal
from venturi.store.place import make_store

TEXT = "measured\n" * 20_000


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A small file system in which nothing has room any more, but names have."""
    place = tmp_path / "full"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], check=True)
    try:
        make_store(place / "store")
        (place / "old").write_text("as it was")
        with contextlib.suppress(OSError), (place / "filling").open("wb", 0) as file:
            while file.write(bytes(4096)):
                pass
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def names(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


@pytest.mark.needs("root")
def test_what_was_measured_goes_where_there_is_room(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = names(full)
    went = write_folder(full / "app.tune", {"tuning.json": TEXT})
    assert (went / "tuning.json").read_text() == TEXT
    assert went.name == "app.tune"
    assert went.parent.parent == tmp_path
    assert names(full) == before
    here = write_folder(tmp_path / "app.tune", {"tuning.json": TEXT})
    assert here == tmp_path / "app.tune"


@pytest.mark.needs("root")
def test_a_report_is_there_as_a_whole_or_as_it_was(full: Path) -> None:
    before = names(full)
    for name in ("new.html", "old"):
        with pytest.raises(UserError, match="No space left"):
            write_text(full / name, TEXT)
    assert names(full) == before
    assert (full / "old").read_text() == "as it was"


def test_a_report_can_go_to_a_pipe(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from venturi.cli.option import write_text;"
    line = [sys.executable, "-c", script + "write_text(Path('/dev/stdout'), 'a page')"]
    assert subprocess.run(line, capture_output=True, check=True).stdout == b"a page"


@pytest.mark.needs("root")
def test_a_full_store_is_named_and_left_as_it_was(full: Path) -> None:
    journal = RunJournal(full / "store", "run")
    with pytest.raises(UserError, match="the store cannot be written: No space") as told:
        journal.keep_text("plan.json", TEXT)
    assert str(full / "store") in told.value.message
    journal.discard()
    assert names(full / "store" / "running") == set()


@pytest.mark.needs("root")
def test_a_profile_that_cannot_be_kept_leaves_nothing_of_its_own(full: Path) -> None:
    before = names(full)
    with pytest.raises(UserError, match="No space left"):
        ProfileJournal(full / "machine.yaml").begin(TEXT, resume=False)
    assert names(full) == before
