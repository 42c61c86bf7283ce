"""A command begins only once its processes would be ended with those who started it."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from venturi.execute import command
from venturi.execute.command import Command, run_command


def touching(place: Path) -> Command:
    return Command(f"cat >{place}/seen; touch {place}/ran", place, place, {"NAME": "word"})


def test_it_runs_with_nothing_to_read(tmp_path: Path) -> None:
    ended = run_command(touching(tmp_path), 600, threading.Event())
    assert ended.code == 0
    assert (tmp_path / "ran").exists()
    assert (tmp_path / "seen").read_bytes() == b""


def test_without_a_watch_it_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def once(words: list[str], **rest: Any) -> subprocess.Popen[bytes]:
        if started:
            raise OSError("no more processes")
        started.append(plain(words, **rest))
        return started[0]

    plain = subprocess.Popen
    monkeypatch.setattr(command.subprocess, "Popen", once)
    with pytest.raises(OSError, match="no more processes"):
        run_command(touching(tmp_path), 600, threading.Event())
    assert started[0].returncode is not None
    assert not (tmp_path / "ran").exists()
