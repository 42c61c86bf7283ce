"""What a prediction that was killed left in memory is removed; what is in use is not."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from venturi.predict.subject import remove_left


def test_only_old_folders_that_nobody_holds_are_removed(tmp_path: Path) -> None:
    names = ("left", "used", "fresh")
    left, used, fresh = (tmp_path / f"venturi-recorded-{name}" for name in names)
    other, link = tmp_path / "venturi-predict-left", tmp_path / "venturi-recorded-link"
    for folder in (left, used, fresh, other):
        folder.mkdir()
        (folder / "output").write_text("kept?")
    link.symlink_to(other)
    for folder in (left, used, other):
        os.utime(folder, (0, 0))
    lock = os.open(used, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_left(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in (used, fresh, other, link)
    }
    assert (other / "output").exists()
    os.close(lock)
    remove_left(tmp_path)
    assert not used.exists()
