"""A log whose compressed records are damaged says so, whatever the Darshan library makes of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from darshan_log import log_of
from venturi.derive.workload import derive
from venturi.model.error import UserError
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured
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


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_bit_changes_no_total_in_silence(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    log = log_of(LOGS[seed % len(LOGS)])
    data = bytearray(log.read_bytes())
    whole = read_whole_log(log).trace
    offset, length = chance.choice(regions(bytes(data)))
    data[offset + chance.randrange(length)] ^= 1 << chance.randrange(8)
    path = tmp_path / "changed.darshan"
    path.write_bytes(data)
    try:
        trace = read_whole_log(path).trace
    except UserError:
        return
    assert totals(trace) == totals(whole) or len(trace.gaps) > len(whole.gaps)


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
