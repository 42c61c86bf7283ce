"""Captures by hand: a small program per rank, call by call, with a clock of its own."""

from __future__ import annotations

from typing import Any

from venturi.model.operation import (
    COLLECTIVE,
    KIND_CODES,
    LAYER_CODES,
    NO_FILE,
    Kind,
    operations_of,
)
from venturi.model.trace import Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import Captured

MIB = 2**20
O_WRONLY, O_CREAT, O_TRUNC, O_APPEND = 0o1, 0o100, 0o1000, 0o2000
ENOENT = 2


class CaptureFactory:
    """Gathers calls; each process has a clock that its calls and pauses advance."""

    def __init__(self, ranks: int = 1, programs: tuple[str, ...] = ()) -> None:
        self.ranks = ranks
        self.processes = [
            Process(rank=rank, process=100 + rank, program="app") for rank in range(ranks)
        ]
        if programs:
            self.processes = [
                Process(process=100 + i, program=name) for i, name in enumerate(programs)
            ]
        self.clock_s = [0.0] * len(self.processes)
        self.files: dict[str, int] = {}
        self.described: list[TracedFile] = []
        self.rows: list[dict[str, Any]] = []

    def file(self, path: str, **more: Any) -> int:
        """The index of a file, which is made known on first use."""
        if path not in self.files:
            self.files[path] = len(self.files)
            self.described.append(TracedFile(path=path, **more))
        return self.files[path]

    def call(
        self,
        process: int,
        kind: Kind,
        path: str | None,
        size: int = 0,
        offset: int = -1,
        *,
        s: float = 1e-3,
        layer: Layer = Layer.POSIX,
        detail: int = 0,
        error: int = 0,
    ) -> None:
        """One call that takes `s` seconds."""
        begin = self.clock_s[process]
        self.clock_s[process] = begin + s
        self.rows.append(
            {
                "process": process,
                "layer": LAYER_CODES[layer],
                "kind": KIND_CODES[kind],
                "error": error,
                "file": NO_FILE if path is None else self.file(path),
                "detail": detail,
                "offset": offset,
                "bytes": size,
                "start_ns": round(begin * 1e9),
                "end_ns": round((begin + s) * 1e9),
            }
        )

    def run(
        self,
        process: int,
        kind: Kind,
        path: str,
        size: int,
        count: int,
        *,
        first: int = 0,
        stride: int | None = None,
        **more: Any,
    ) -> None:
        """`count` reads or writes of `size` bytes, each `stride` (default: size) further on."""
        for i in range(count):
            self.call(process, kind, path, size, first + i * (stride or size), **more)

    def whole(
        self, process: int, kind: Kind, path: str, size: int, count: int, **more: Any
    ) -> None:
        """Opens a file, reads or writes it from the beginning, closes it."""
        flags = O_WRONLY | O_CREAT if kind is Kind.WRITE else 0
        self.call(process, Kind.OPEN, path, detail=flags)
        self.run(process, kind, path, size, count, **more)
        self.call(process, Kind.CLOSE, path)

    def pause(self, seconds: float) -> None:
        """All processes meet, and then compute."""
        self.clock_s = [max(self.clock_s) + seconds] * len(self.clock_s)

    def captured(self, seconds: float | None = None) -> Captured:
        """The capture of all that was called."""
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        trace = Trace(
            schema_="venturi.trace/1",
            source=TraceSource(format="capture", file="app.trace"),
            job=TracedJob(
                ranks=self.ranks, seconds=max(self.clock_s) if seconds is None else seconds
            ),
            layers=[Layer.POSIX, Layer.MPIIO],
            records=[],
            record_count=0,
            files=self.described,
            processes=self.processes,
            operation_count=len(self.rows),
        )
        return Captured(trace, operations_of(**columns))


def shared_file(ranks: int = 4, dumps: int = 3, path: str = "/scratch/dump") -> CaptureFactory:
    """A healthy program: all ranks write large aligned blocks of one file for each dump."""
    made = CaptureFactory(ranks)
    for dump in range(dumps):
        for rank in range(ranks):
            name = f"{path}.{dump}"
            made.call(rank, Kind.OPEN, name, detail=O_WRONLY | O_CREAT, layer=Layer.MPIIO)
            made.run(
                rank,
                Kind.WRITE,
                name,
                4 * MIB,
                4,
                first=rank * 16 * MIB,
                s=0.05,
                layer=Layer.MPIIO,
                detail=COLLECTIVE,
            )
            made.call(rank, Kind.CLOSE, name, layer=Layer.MPIIO)
        made.pause(5.0)
    return made
