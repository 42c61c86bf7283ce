"""A first Ctrl-C waits for the running repetition, but not for ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from venturi.execute import job as job_module
from venturi.execute.job import EngineJob

STUBBORN = "trap 'echo >asked; exit 7' TERM; echo >ready; while :; do sleep 0.02; done"
DEAF = "trap '' TERM; echo >ready; while :; do sleep 0.02; done"


@pytest.mark.parametrize(("script", "code"), [(STUBBORN, 7), (DEAF, -signal.SIGKILL)])
def test_a_repetition_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_module, "_REPETITION_S", 0.2)
    monkeypatch.setattr(job_module, "_GRACE_S", 0.2)
    lock = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    job = EngineJob(["/bin/sh", "-c", script], tmp_path, lock)

    before = [signal.getsignal(signal.SIGINT)]

    def interrupt() -> None:
        while not (tmp_path / "ready").exists() or signal.getsignal(signal.SIGINT) in before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert list(job.events()) == []
    thread.join()
    assert job.interrupts == 1
    assert (tmp_path / "stop").exists()
    assert job.returncode == code
    os.close(lock)


def test_the_time_till_the_end_is_less_than_a_batch_system_waits() -> None:
    assert job_module._REPETITION_S + job_module._GRACE_S <= 25
