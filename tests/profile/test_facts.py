"""What a profile knows of the directory's file system without measuring."""

from __future__ import annotations

from pathlib import Path

from venturi.execute.target import file_system_of
from venturi.profile.facts import journal_in


def test_only_an_ext4_says_whether_it_has_a_journal(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/proc")):
        found = journal_in(place)
        if file_system_of(place).type != "ext4":
            assert found is None
        else:
            assert found in (True, False)


def test_memory_has_no_journal() -> None:
    assert journal_in(Path("/dev/shm")) is None
