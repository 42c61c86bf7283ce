"""Damaged captures: one clear error, or a trace that holds together; never anything else.

`VENTURI_FUZZ=N` sets the number of inputs for the parsers in this process (`make nightly`).
"""

from __future__ import annotations

import gzip
import os
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from darshan_log import log_of
from sources.made_log import MadeLog, Record
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.operation import NO_FILE, Kind
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured
from venturi.sources.darshan import read_log
from venturi.sources.darshan_container import ContainerError
from venturi.sources.dxt import container_of, read_dxt
from venturi.sources.heatmap import read_heatmaps
from venturi.sources.open import read_capture

INPUTS = int(os.environ.get("VENTURI_FUZZ", "10000"))
LOGS = 1000 if INPUTS > 10_000 else 60
"""Inputs for the route through the C library, each of which costs a process."""

SEEDS = sorted((Path(__file__).parent / "seed").iterdir())
TEXTS = [path.read_bytes() for path in SEEDS]

_NUMBER = re.compile(rb"\d+")
_EXTREMES = [b"0", b"-1", b"18446744073709551616", b"9223372036854775807", b"1e308", b"nan", b""]


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """The input with one to four small damages."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 4)):
        size = len(data)
        if size < 2:
            break
        place = chance.randrange(size)
        span = slice(place, min(size, place + chance.randint(1, 40)))
        match chance.randrange(7):
            case 0:
                data[place] = chance.randrange(256)
            case 1:
                data[place] ^= 1 << chance.randrange(8)
            case 2:
                del data[span]
            case 3:
                data[place:place] = data[span]
            case 4:
                del data[place:]
            case 5:
                data[place:place] = chance.randbytes(chance.randint(1, 8))
            case _:
                numbers = list(_NUMBER.finditer(data))
                if numbers:
                    found = chance.choice(numbers)
                    data[found.start() : found.end()] = chance.choice(_EXTREMES)
    return bytes(data)


def check(captured: Captured) -> None:
    """Raises AssertionError where a trace does not hold together."""
    trace, operations = captured.trace, captured.operations
    assert parse_json(Trace, trace.to_json()) == trace
    if operations is None:
        return
    assert len(operations) == trace.operation_count
    named = operations.file[operations.file != NO_FILE]
    assert not len(named) or named.max() < len(trace.files)
    assert not len(operations) or operations.process.max() < len(trace.processes)
    assert (operations.offset >= -1).all()
    assert (operations.bytes >= 0).all()
    assert (operations.start_ns >= 0).all()
    assert (operations.end_ns >= operations.start_ns).all()
    assert (operations.kind < len(Kind)).all()
    pairs = operations.detail[operations.is_kind(Kind.RENAME, Kind.LINK)]
    assert not len(pairs) or np.all((pairs < len(trace.files)) | (pairs == NO_FILE))


def outcome(read: Callable[[], Captured]) -> str:
    """What came of an input; anything but a trace and one sentence is raised."""
    try:
        captured = read()
    except UserError as error:
        check_sentence(error)
        return "refused"
    check(captured)
    return "read"


def check_sentence(error: UserError) -> None:
    assert "input" in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.name)
def test_the_inputs_to_damage_are_whole(seed: Path) -> None:
    assert outcome(lambda: read_capture(seed)) == "read"


def test_damaged_texts(tmp_path: Path) -> None:
    chance = random.Random(20261122)
    seen = dict.fromkeys(("read", "refused"), 0)
    for number in range(INPUTS * 6 // 10):
        data = mutated(TEXTS[number % len(TEXTS)], chance)
        if number % 97 == 0:
            data = gzip.compress(data, 1)
            data = data[: chance.randint(1, len(data))]
        path = (
            tmp_path / f"input{number}"
        )  # a file of its own: ext4 writes out one that is replaced
        path.write_bytes(data)
        try:
            seen[outcome(partial(read_capture, path))] += 1
            path.unlink()
        except Exception as error:
            raise AssertionError(f"input {number}: {data!r}") from error
    assert min(seen.values()) > INPUTS // 20


def made(order: str, compression: int) -> bytes:
    """A log with all regions that are read here."""
    segments = [(k * 100, 100, k * 0.1, k * 0.1 + 0.05, k % 2) for k in range(5)]
    records = [Record(7, 0, segments, segments[:2]), Record(8, 1, [], segments)]
    return MadeLog(
        order=order,
        compression=compression,
        names={7: "/w/f", 8: "/w/g", 9: "heatmap:POSIX"},
        dxt={"DXT_POSIX": (2, records), "DXT_MPIIO": (3, records)},
        heat=[("heatmap:POSIX", 0, 0.1, [1, 2, 3], [4, 5, 6])],
    ).bytes()


def test_damaged_logs_of_operations() -> None:
    """Plain regions let damage reach the records; packed ones try the unpacking."""
    chance = random.Random(20261123)
    seeds = [made("<", 2), made(">", 2), made("<", 0), made("<", 1)]
    seen = dict.fromkeys(("read", "refused"), 0)
    for number in range(INPUTS * 4 // 10):
        data = mutated(seeds[number % len(seeds)], chance)
        try:
            container = container_of(data)
            container.job()
            read_heatmaps(container)
            content = read_dxt(container)
            if content is not None:
                operations = content.operations
                assert (operations.end_ns >= operations.start_ns).all()
                assert (operations.bytes >= 0).all()
            seen["read"] += 1
        except ContainerError:
            seen["refused"] += 1
        except Exception as error:
            raise AssertionError(f"input {number}: {data!r}") from error
    assert min(seen.values()) > INPUTS // 50


def test_damaged_logs_through_the_c_library(tmp_path: Path) -> None:
    chance = random.Random(20261124)
    seeds = [log_of(name).read_bytes() for name in ("dd", "miniapp", "ior_hdf5_coll")]
    path = tmp_path / "input.darshan"
    for number in range(LOGS):
        path.write_bytes(mutated(seeds[number % len(seeds)], chance))
        try:
            read_log(path, timeout_s=20)
        except UserError as error:
            check_sentence(error)
