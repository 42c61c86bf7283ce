"""dftracer's files: calls with places, one file per process, torn ones as far as they go."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from venturi.model.error import UserError
from venturi.model.operation import KINDS, LAYERS
from venturi.sources.dftracer import GUESSED_RANKS, WITHOUT_SIZES
from venturi.sources.open import read_capture

START_US = 1_795_325_277_748_147


class Events:
    """Lines as dftracer writes them, of one process."""

    def __init__(self, pid: int, parent: int = 1) -> None:
        self._pid = pid
        self.lines = ["["]
        self._now = START_US
        self.about("HH", "node7", "h1")
        self.about("SH", "./app -x", "s1")
        self.event("start", "dftracer", ppid=parent, cmd_hash="s1")

    def about(self, name: str, said: str, value: str) -> None:
        self._line(name=name, cat="dftracer", ph=4, args={"name": said, "value": value})

    def event(self, name: str, cat: str = "POSIX", tid: int | None = None, **args: Any) -> None:
        self._line(
            id=len(self.lines),
            name=name,
            cat=cat,
            type=3,
            tid=tid or self._pid,
            ts=self._now,
            dur=5,
            ph=1,
            args={"hhash": "h1"} | args,
        )
        self._now += 10

    def _line(self, **fields: Any) -> None:
        self.lines.append(json.dumps({"pid": self._pid} | fields, separators=(",", ":")))

    def text(self) -> bytes:
        return ("\n".join(self.lines) + "\n").encode()


def written(pid: int, parent: int = 1) -> Events:
    events = Events(pid, parent)
    events.about("FH", "/w/a", "c6")
    events.about("FH", "/w/b", "08")
    events.event("open", flags=578, mode=420, fhash="c6")
    events.event("write", ret=4096, count=4096, fhash="c6")
    events.event("write", ret=4096, count=4096, fhash="c6", tid=99)
    events.event("lseek", ret=100, whence=0, offset=100, fhash="c6")
    events.event("read", ret=50, count=64, fhash="c6")
    events.event("pwrite", ret=10, offset=9000, count=10, fhash="c6")
    events.event("fopen", "STDIO", mode="a", fhash="08")
    events.event("fwrite", "STDIO", ret=3, count=3, size=10, fhash="08")
    events.event("rename", newpath_hash="c6", fhash="08")
    events.event("compute", "APP")
    events.event("end", "dftracer")
    return events


EXPECTED = [
    ("posix", "open", "/w/a", -1, 0),
    ("posix", "write", "/w/a", 0, 4096),
    ("posix", "write", "/w/a", 4096, 4096),
    ("posix", "seek", "/w/a", 100, 0),
    ("posix", "read", "/w/a", 100, 50),
    ("posix", "write", "/w/a", 9000, 10),
    ("stdio", "open", "/w/b", -1, 0),
    ("stdio", "write", "/w/b", 0, 30),
    ("posix", "rename", "/w/b", -1, 0),
]


@pytest.mark.parametrize("packed", [False, True])
def test_calls_have_their_places(packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "app.pfw"
    text = written(7).text()
    path.write_bytes(gzip.compress(text) if packed else text)
    captured = read_capture(path)
    trace, operations = captured.trace, captured.operations
    assert operations is not None
    assert [
        (
            LAYERS[operations.layer[row]].value,
            KINDS[operations.kind[row]].value,
            trace.files[operations.file[row]].path,
            int(operations.offset[row]),
            int(operations.bytes[row]),
        )
        for row in range(len(operations))
    ] == EXPECTED
    assert operations.thread.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert operations.start_ns[1] - operations.start_ns[0] == 10_000
    assert trace.files[operations.detail[-1]].path == "/w/a"
    [process] = trace.processes
    assert (process.host, process.program, process.process) == ("node7", "app", 7)
    assert process.ended_s is not None
    assert trace.job.started.startswith("2026-11-22T05:27:57")
    assert not trace.gaps
    record = next(r for r in trace.records if r.file == "/w/a")
    assert record.counters["BYTES_WRITTEN"] == 8202


def test_siblings_are_ranks_and_that_is_said(tmp_path: Path) -> None:
    for pid in (12, 11, 10):
        (tmp_path / f"app-{pid}.pfw.gz").write_bytes(gzip.compress(written(pid).text()))
    (tmp_path / "app-20.pfw.gz").write_bytes(gzip.compress(written(20, parent=11).text()))
    trace = read_capture(tmp_path).trace
    assert trace.job.ranks == 3
    assert {p.process: p.rank for p in trace.processes} == {10: 0, 11: 1, 12: 2, 20: -1}
    assert [gap.what for gap in trace.gaps] == [GUESSED_RANKS]
    written_bytes = {r.rank: r.counters["BYTES_WRITTEN"] for r in trace.records if r.file == "/w/a"}
    assert written_bytes == {0: 8202, 1: 2 * 8202, 2: 8202}  # a helper counts as its rank


def test_traces_without_metadata_say_so(tmp_path: Path) -> None:
    path = tmp_path / "app.pfw"
    path.write_text(
        '{"id":2,"name":"write","cat":"POSIX","type":3,"pid":7,"tid":7,"ts":100,"dur":5,"ph":1}\n'
    )
    captured = read_capture(path)
    assert [gap.what for gap in captured.trace.gaps] == [WITHOUT_SIZES]
    assert captured.trace.operation_count == 1


def test_a_torn_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "app.pfw"
    text = written(7).text()
    path.write_bytes(text[:-300])
    captured = read_capture(path)
    assert 0 < captured.trace.operation_count < len(EXPECTED)
    assert "ends inside a line" in captured.trace.gaps[0].what
    path.write_bytes(gzip.compress(text)[:-30])
    assert "torn" in read_capture(path).trace.gaps[0].what


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    lines = written(7).text().splitlines(keepends=True)
    lines[9] = b'{"broken\n'
    path = tmp_path / "app.pfw"
    path.write_bytes(b"".join(lines))
    with pytest.raises(UserError, match=r"app\.pfw' is damaged at line 10 "):
        read_capture(path)
