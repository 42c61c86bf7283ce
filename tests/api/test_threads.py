"""Calls from another thread than the main one, as notebooks and servers make them."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import venturi as v

HANDFUL = """
workload: 1
name: handful
groups: {g: {ranks: 1}}
files: {f: {path: f}}
program:
  g:
    - phase: write
      do:
        - create: f
        - write: {to: f, transfer: 4 KiB, size: 1 MiB}
        - close: f
"""


def test_calls_work_in_other_threads_and_leave_signals_to_the_main_one(tmp_path: Path) -> None:
    workload = v.Workload.from_yaml(HANDFUL)
    store = str(tmp_path / "store")
    command = [sys.executable, "-c", f"open({str(tmp_path / 'x')!r}, 'w').write('x' * 5000)"]
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with ThreadPoolExecutor(3) as pool:
        run = pool.submit(v.run, workload, tmp_path, repeat=1, store=store, quiet=True)
        capture = pool.submit(v.capture, command, output=tmp_path / "x.trace")
        during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        assert run.result().phases[0]["phase"] == "write"
        assert v.plan(v.derive(capture.result())).totals.bytes_written == 5000
        tuning = pool.submit(
            v.tune, workload, tmp_path, budget_s=4, what_if="transfer=1MiB", store=store, quiet=True
        )
        assert [row["change"] for row in tuning.result().changes] == ["transfer=1MiB"]
    assert during == before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
