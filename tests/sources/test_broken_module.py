"""A damaged log says so, whatever is damaged and whatever the Darshan library makes of it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from darshan_log import log_of
from venturi.derive.workload import derive
from venturi.model.error import UserError
from venturi.model.trace import Gap, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import Confidence
from venturi.sources.darshan import read_log
from venturi.sources.darshan_container import Container
from venturi.sources.darshan_log import read_whole_log

LOGS = ["miniapp", "ior_mpiio_coll", "h5slab", "serial_app"]


def totals(trace: Trace) -> list[tuple[str, str, int]]:
    return [(record.layer, record.file, sum(record.counters.values())) for record in trace.records]


def regions(data: bytes) -> list[tuple[int, int]]:
    """Where the modules' records, and the names, lie in a log."""
    maps = Container(data)._maps  # the table of the format, which nothing else tells
    both = zip(maps[::2], maps[1::2], strict=True)
    return [(offset, length) for offset, length in both if length]


def content(captured: Captured) -> list[object]:
    """Return what a log holds, in short."""
    trace, operations = captured.trace, captured.operations
    columns = ("file", "offset", "bytes", "start_ns", "end_ns")
    moved = [
        (m.layer, sum(sum(row.read) + sum(row.written) for row in m.rows)) for m in trace.heatmaps
    ]
    calls = [] if operations is None else [int(getattr(operations, c).sum()) for c in columns]
    return [totals(trace), calls, moved, trace.job]


def flipped(data: bytearray, chance: random.Random) -> None:
    offset, length = chance.choice(regions(bytes(data)))
    data[offset + chance.randrange(length)] ^= 1 << chance.randrange(8)


def zeroed(data: bytearray, chance: random.Random) -> None:
    offset, length = chance.choice(regions(bytes(data)))
    first = chance.choice([0, chance.randrange(length)])
    data[offset + first : offset + length] = bytes(length - first)


def cut(data: bytearray, chance: random.Random) -> None:
    offset, length = chance.choice(regions(bytes(data)))
    del data[offset + chance.randrange(length) :]


def unnamed(data: bytearray, chance: random.Random) -> None:
    offset, length = chance.choice(regions(bytes(data)))
    entry = struct.pack("<QQ", offset, length)
    place = bytes(data).index(entry)
    data[place : place + len(entry)] = bytes(len(entry))


@pytest.mark.parametrize("damage", [flipped, zeroed, cut, unnamed])
@pytest.mark.parametrize("seed", range(12))
def test_damage_changes_nothing_in_silence(
    damage: Callable[[bytearray, random.Random], None], seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    log = log_of(LOGS[seed % len(LOGS)])
    data = bytearray(log.read_bytes())
    whole = read_whole_log(log)
    damage(data, chance)
    path = tmp_path / "changed.darshan"
    path.write_bytes(data)
    try:
        found = read_whole_log(path)
    except UserError:
        return
    told = len(found.trace.gaps) > len(whole.trace.gaps)
    assert told or content(found) == content(whole)


@pytest.mark.parametrize("module", ["POSIX", "MPI-IO"])
def test_a_module_of_which_nothing_is_left_is_refused(module: str, tmp_path: Path) -> None:
    data = bytearray(log_of("ior_mpiio_coll").read_bytes())
    for name in (module, f"DXT_{module.replace('-', '')}"):
        zero(data, name)
    path = tmp_path / "empty.darshan"
    path.write_bytes(data)
    for reading in (read_log, read_whole_log):
        with pytest.raises(UserError, match=f"no record of its module {module} can be read"):
            reading(path)


def test_a_module_that_is_traced_call_by_call_is_not_missed(tmp_path: Path) -> None:
    data = bytearray(log_of("ior_mpiio_coll").read_bytes())
    zero(data, "MPI-IO")
    path = tmp_path / "traced.darshan"
    path.write_bytes(data)
    found = read_whole_log(path)
    assert [gap.layer for gap in found.trace.gaps] == ["MPI-IO"]
    assert found.operations is not None
    assert found.operations.is_layer(Layer.MPIIO).any()


def zero(data: bytearray, module: str) -> None:
    """Overwrite a module's records."""
    container = Container(bytes(data))
    place = container._places[module]
    offset, length = container._maps[2 * place + 2 : 2 * place + 4]
    data[offset : offset + length] = bytes(length)


def test_what_a_lost_library_would_tell_is_unknown() -> None:
    trace = read_log(log_of("ior_shared_seg"))
    assert {e.value for e in fields(trace) if e.field.endswith("collective")} == {"no"}
    lost = trace.model_copy(update={"gaps": [Gap(layer="MPI-IO", what="damaged")]})
    assert {e.value for e in fields(lost) if e.field.endswith(("collective", "api"))} == {"unknown"}


def fields(trace: Trace) -> list[Confidence]:
    origin = derive(trace, "fields").origin
    assert origin is not None
    return origin.confidence


@pytest.mark.parametrize("name", LOGS)
def test_a_module_that_breaks_off_makes_the_share_unknown(name: str, tmp_path: Path) -> None:
    data = bytearray(log_of(name).read_bytes())
    posix = Container(bytes(data))._maps[4:6]  # module 1 in all versions
    data[posix[0] + posix[1] // 2 : posix[0] + posix[1]] = bytes(posix[1] - posix[1] // 2)
    path = tmp_path / "cut.darshan"
    path.write_bytes(data)
    trace = read_whole_log(path).trace
    assert any(gap.layer == "POSIX" for gap in trace.gaps)
    if not trace.records:
        with pytest.raises(UserError, match="POSIX"):
            derive(Captured(trace), "cut")
        return
    origin = derive(Captured(trace), "cut").origin
    assert origin is not None
    assert origin.observed is not None
    assert origin.observed.coverage_bytes is None
