"""Makes small Darshan logs with DXT of any version and byte order, as the format is published."""

from __future__ import annotations

import bz2
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = 6567223
HEADS = {"3.41": (64, "Q", 24), "3.21": (16, "I", 20), "3.10": (16, "I", 20)}
"""By log version: modules in the header, type and place of the flags."""
PLACES = {
    "3.41": {"DXT_POSIX": 10, "DXT_MPIIO": 11, "HEATMAP": 15},
    "3.21": {"DXT_POSIX": 9, "DXT_MPIIO": 10, "HEATMAP": 14},
    "3.10": {"DXT_POSIX": 8, "DXT_MPIIO": 9},
}

Segment = tuple[int, int, float, float, int]
"""Offset, bytes, start, end, thread."""


@dataclass
class Record:
    """One file in one process."""

    identity: int
    rank: int
    writes: list[Segment]
    reads: list[Segment]
    host: str = "node1"


@dataclass
class MadeLog:
    """What goes into a log."""

    version: str = "3.41"
    order: str = "<"
    compression: int = 0
    ranks: int = 2
    job: int = 4711
    start_s: int = 1_700_000_000
    seconds: int = 10
    names: dict[int, str] = field(default_factory=dict)
    dxt: dict[str, tuple[int, list[Record]]] = field(default_factory=dict)
    heat: list[tuple[str, int, float, list[int], list[int]]] = field(default_factory=list)
    """Name, rank, width of a bin, written, read."""
    partial: tuple[str, ...] = ()

    def bytes(self) -> bytes:
        """The log."""
        count, flag_type, flags_at = HEADS[self.version]
        header_bytes = flags_at + struct.calcsize("=" + flag_type) + 16 * (count + 1) + 4 * count
        regions = {"job": self._job(), "names": self._names()}
        for module, (version, records) in self.dxt.items():
            threaded = version >= {"DXT_POSIX": 2, "DXT_MPIIO": 3}[module]
            regions[module] = b"".join(self._record(r, threaded) for r in records)
        if self.heat:
            regions["HEATMAP"] = b"".join(self._heat(*row) for row in self.heat)
        maps = [(0, 0)] * (count + 1)
        versions = [0] * count
        body = b""
        flags = 0
        for name, plain in regions.items():
            packed = self._pack(plain)
            if name == "names":
                maps[0] = (header_bytes + len(body), len(packed))
            elif name != "job":
                place = PLACES[self.version][name]
                maps[place + 1] = (header_bytes + len(body), len(packed))
                versions[place] = self.dxt[name][0] if name in self.dxt else 1
                flags |= (name in self.partial) << place
            body += packed
        head = self.version.encode().ljust(8, b"\0") + struct.pack(self.order + "q", MAGIC)
        head += bytes([self.compression]).ljust(flags_at - 16, b"\0")
        head += struct.pack(self.order + flag_type, flags)
        head += b"".join(struct.pack(self.order + "QQ", *one) for one in maps)
        head += struct.pack(f"{self.order}{count}I", *versions)
        return head + body

    def write(self, path: Path) -> Path:
        """Writes the log."""
        path.write_bytes(self.bytes())
        return path

    def _pack(self, plain: bytes) -> bytes:
        if self.compression == 0:
            half = len(plain) // 2  # several streams, as the run-time library leaves them
            return zlib.compress(plain[:half]) + zlib.compress(plain[half:])
        return bz2.compress(plain) if self.compression == 1 else plain

    def _job(self) -> bytes:
        end = self.start_s + self.seconds
        if self.version == "3.41":
            numbers = struct.pack(
                self.order + "7q",
                0,
                self.start_s,
                250_000_000,
                end,
                250_000_000,
                self.ranks,
                self.job,
            )
        else:
            numbers = struct.pack(self.order + "5q", 0, self.start_s, end, self.ranks, self.job)
        return numbers + b"lib_ver=3.5.0\n".ljust(1024, b"\0") + b"/bin/app\next4\t/\0"

    def _names(self) -> bytes:
        return b"".join(
            struct.pack(self.order + "Q", identity) + name.encode() + b"\0"
            for identity, name in self.names.items()
        )

    def _record(self, record: Record, threaded: bool) -> bytes:
        head = struct.pack(
            self.order + "Qqq64sqq",
            record.identity,
            record.rank,
            0,
            record.host.encode(),
            len(record.writes),
            len(record.reads),
        )
        layout = self.order + ("qqddQ" if threaded else "qqdd")
        width = 5 if threaded else 4
        return head + b"".join(
            struct.pack(layout, *segment[:width]) for segment in record.writes + record.reads
        )

    def _heat(
        self, name: str, rank: int, width_s: float, written: list[int], read: list[int]
    ) -> bytes:
        identity = next(i for i, known in self.names.items() if known == name)
        head = struct.pack(self.order + "Qqdqqq", identity, rank, width_s, len(read), 0, 0)
        return head + struct.pack(f"{self.order}{2 * len(read)}q", *written, *read)
