"""A replay does call by call what a run did: the same files, requests, places and order."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import warm_start
from capture_factory import MIB, CaptureFactory
from venturi.capture.proxy import ProxyRun, run_proxy
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import KINDS, Kind
from venturi.model.trace_folder import Captured, read_trace
from venturi.predict.replay import replay_of

PROGRAM = """
import os
with open("given", "rb", 0) as given:
    for _ in range(7):
        given.read(1000)
for name in ("one", "two", "one"):
    fd = os.open(name, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o644)
    for i in range(20):
        os.pwrite(fd, b"x" * (100 + i * 37), (i * 7919) % 50_000)
    os.fdatasync(fd)
    os.pread(fd, 512, 100)
    os.close(fd)
    if name == "two":
        os.unlink(name)
os.stat("one")
"""
COUNTED = (Kind.READ, Kind.WRITE, Kind.DATA_SYNC, Kind.UNLINK, Kind.CLOSE)


def calls(captured: Captured, names: tuple[str, ...]) -> Counter[tuple[str, int, int]]:
    """Kind, offset and bytes of the calls on these files, and how often each was made."""
    ops = captured.operations
    assert ops is not None
    files = [path.path.rsplit("/", 1)[-1].split(".")[0] for path in captured.trace.files]
    return Counter(
        (KINDS[kind].value, offset if KINDS[kind] in (Kind.READ, Kind.WRITE) else -1, size)
        for kind, file, offset, size in zip(
            ops.kind.tolist(),
            ops.file.tolist(),
            ops.offset.tolist(),
            ops.bytes.tolist(),
            strict=True,
        )
        if KINDS[kind] in COUNTED and file < len(files) and files[file].startswith(names)
    )


def test_a_real_run_is_replayed_call_by_call(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "given").write_bytes(bytes(10_000))
    words = ("capture", "-q", "-o", "app.trace", "--", sys.executable, "app.py")
    done = warm_start.venturi(*words, folder=tmp_path)
    assert done.returncode == 0
    captured = read_trace(tmp_path / "app.trace")
    workload = replay_of(captured, "app")
    assert workload is not None
    (tmp_path / "io").mkdir()
    (tmp_path / "place").mkdir()
    run = ProxyRun(workload, to_yaml(workload), tmp_path / "io")
    replayed = run_proxy(run, tmp_path / "place")
    ours, theirs = calls(captured, ("one", "two", "given")), calls(replayed, ("file",))
    assert theirs == ours
    assert ours["write", 0, 100] == 3


def test_ranks_with_files_of_their_own_are_replayed_beside_each_other(tmp_path: Path) -> None:
    made = CaptureFactory(ranks=2)
    for rank in range(2):
        made.whole(rank, Kind.WRITE, f"/scratch/out{rank}", MIB, 3 + rank)
    workload = replay_of(made.captured(), "app")
    assert workload is not None
    (tmp_path / "io").mkdir()
    (tmp_path / "place").mkdir()
    run = ProxyRun(workload, to_yaml(workload), tmp_path / "io")
    replayed = run_proxy(run, tmp_path / "place")
    assert replayed.operations is not None
    writes = replayed.operations.take(replayed.operations.is_kind(Kind.WRITE))
    assert sorted(Counter(writes.process.tolist()).values()) == [3, 4]
    assert set(writes.bytes.tolist()) == {MIB}


def test_ranks_that_share_a_file_are_not_replayed() -> None:
    made = CaptureFactory(ranks=2)
    for rank in range(2):
        made.whole(rank, Kind.WRITE, "/scratch/out", MIB, 3)
    assert replay_of(made.captured(), "app") is None
