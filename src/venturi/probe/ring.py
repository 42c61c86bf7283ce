"""The ring file of a probe's worker: made here, written by the engine, read by anybody.

docs/probe.md describes the form; `engine/probe/ring.hpp` is its other side.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.probe import ProbeDurability, ProbeKind, ProbeTarget

HEADER_BYTES = 4096
SAMPLE = struct.Struct("<qqqIBBh")
"""Scheduled (since 1970), response, service; sequence, operation, flags, errno; in nanoseconds."""
FAILED, MISSED, ABANDONED, CACHED = 1, 2, 4, 8
CACHE_UNKNOWN, WITHHELD, BACKED_OFF, CORRUPT = 16, 32, 64, 128
STATES = ("new", "preparing", "running", "stopped", "stopped_hung")

_MAGIC = b"VNTPROB1"
_SETTINGS = struct.Struct("<8sIIQIIQQQQQQQQQQ2048s")
_STATE = struct.Struct("<IIQQ4Q4Q4QQQQQ3QQQQQQQQ")
_HEAD_AT, _FIRST_AT = 2248, 2384
_KINDS = (ProbeKind.METADATA, ProbeKind.DATA)
_DURABILITIES = tuple(ProbeDurability)
_OPERATIONS = {ProbeKind.METADATA: 4, ProbeKind.DATA: 2}


@dataclass(frozen=True)
class RingHeader:
    """The first page of a ring at one moment."""

    capacity: int
    kind: ProbeKind
    durability: ProbeDurability
    key_high: int
    key_low: int
    interval_ns: int
    offset_ns: int
    pool_files: int
    file_bytes: int
    data_bytes: int
    block_bytes: int
    made_ns: int
    backs_off: bool
    directory: str
    state: str
    durability_in_use: ProbeDurability
    pid: int
    starts: int
    head: int
    done: int
    flagged: int
    errors: int
    oldest: int
    newest: int
    draws: int
    prepared: int
    in_flight_operation: int | None
    in_flight_monotonic_ns: int
    in_flight_ns: int
    alive_ns: int
    step_ns: int
    clock_steps: int
    preparation_error: int
    foreign: int
    first: int

    @property
    def root_name(self) -> str:
        """The probe's own directory below the target."""
        return f"venturi-probe-{self.kind.value}-{self.key_high:016x}"

    @property
    def wanted(self) -> int:
        """Files or blocks that preparation makes."""
        whole = self.kind is ProbeKind.DATA
        return self.data_bytes // self.block_bytes if whole else self.pool_files

    @property
    def normal_step_ns(self) -> int:
        """Between two moments of the grid, unless the probe backs off."""
        return max(1, self.interval_ns // _OPERATIONS[self.kind])

    def in_flight_s(self) -> float:
        """How long ago the operation under way was due; 0 where there is none."""
        if self.in_flight_operation is None:
            return 0.0
        return max(0, time.monotonic_ns() - self.in_flight_monotonic_ns) / 1e9


def make_ring(
    path: Path, target: ProbeTarget, kind: ProbeKind, offset_ns: int, first: int = 0
) -> None:
    """Make a ring with the settings of a target, whose samples are numbered from `first` on.

    Raises UserError where it cannot be made.
    """
    interval_ns = round(target.interval_s * 1e9)
    a_day = round(86_400 / target.interval_s) * _OPERATIONS[kind]
    capacity = max(1024, round(a_day * target.ring_days))
    settings = _SETTINGS.pack(
        _MAGIC,
        HEADER_BYTES,
        SAMPLE.size,
        capacity,
        _KINDS.index(kind),
        _DURABILITIES.index(target.durability),
        secrets.randbits(64) or 1,
        secrets.randbits(64),
        interval_ns,
        offset_ns % interval_ns,
        target.pool_files,
        target.file_bytes,
        target.data_bytes,
        target.block_bytes,
        time.time_ns(),
        int(target.back_off),
        os.fsencode(target.directory),
    )
    part = path.with_suffix(".part")
    try:
        with part.open("wb") as file:
            # All of it is there before the first sample: a full disk must not end a mapped write.
            os.posix_fallocate(file.fileno(), 0, HEADER_BYTES + capacity * SAMPLE.size)
            file.write(settings)
            for at in (_HEAD_AT, _FIRST_AT):
                file.seek(at)
                file.write(struct.pack("<Q", first))
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(
            f"{path}: the ring cannot be made: {error.strerror}",
            f"it takes {(HEADER_BYTES + capacity * SAMPLE.size) / 1e6:.0f} MB of local disk: "
            "choose another store with --store, or fewer ring_days",
        ) from None


def read_header(path: Path) -> RingHeader:
    """Return the first page of a ring. Raises UserError where this is none."""
    try:
        with path.open("rb") as file:
            page = file.read(HEADER_BYTES)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "venturi probe run makes it") from None
    return _header_in(page, path)


def is_held(path: Path) -> bool:
    """Whether a worker has the ring; asks the kernel, so a dead worker holds nothing."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def read_samples(path: Path, begin: int) -> tuple[RingHeader, int, bytes]:
    """Return the header, the number of the first sample, and all whole samples from `begin` on.

    Samples that are overwritten meanwhile are left out, so the first number may be larger.
    """
    header = read_header(path)
    first = max(begin, header.first, header.head - header.capacity)
    with path.open("rb") as file:
        pieces = []
        at = first
        while at < header.head:
            slot = at % header.capacity
            count = min(header.head - at, header.capacity - slot)
            file.seek(HEADER_BYTES + slot * SAMPLE.size)
            piece = file.read(count * SAMPLE.size)
            pieces.append(piece[: len(piece) // SAMPLE.size * SAMPLE.size])
            at += count
        after = read_header(path)
    data = b"".join(pieces)
    overwritten = max(0, after.head - after.capacity + 1 - first)
    if overwritten:
        data = data[overwritten * SAMPLE.size :]
        first += overwritten
    return header, first, data[: _whole(data, first) * SAMPLE.size]


def _whole(data: bytes, first: int) -> int:
    """How many samples from the first on have the number that they must have."""
    count = len(data) // SAMPLE.size
    last = count - 1
    while last >= 0:
        fields = SAMPLE.unpack_from(data, last * SAMPLE.size)
        if fields[3] == (first + last) & 0xFFFFFFFF:
            break
        last -= 1
    return last + 1


def _header_in(page: bytes, path: Path) -> RingHeader:
    if len(page) < HEADER_BYTES or page[:8] != _MAGIC:
        raise UserError(f"{path}: this is no ring of a probe")
    of = _SETTINGS.unpack_from(page)
    state = _STATE.unpack_from(page, _SETTINGS.size)
    return RingHeader(
        capacity=of[3],
        kind=_KINDS[of[4]],
        durability=_DURABILITIES[of[5]],
        key_high=of[6],
        key_low=of[7],
        interval_ns=of[8],
        offset_ns=of[9],
        pool_files=of[10],
        file_bytes=of[11],
        data_bytes=of[12],
        block_bytes=of[13],
        made_ns=of[14],
        backs_off=bool(of[15]),
        directory=os.fsdecode(of[16].rstrip(b"\0")),
        state=STATES[state[0]],
        durability_in_use=_DURABILITIES[state[1]],
        pid=state[2],
        starts=state[3],
        head=state[12],
        done=state[13],
        flagged=state[14],
        errors=state[15],
        oldest=state[16],
        newest=state[17],
        draws=state[18],
        prepared=state[19],
        in_flight_operation=state[20] - 1 if state[20] else None,
        in_flight_monotonic_ns=state[21],
        in_flight_ns=state[22],
        alive_ns=state[24],
        step_ns=state[25],
        clock_steps=state[26],
        preparation_error=state[27],
        foreign=state[28],
        first=state[29],
    )
