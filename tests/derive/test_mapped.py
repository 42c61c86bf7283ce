"""Files that are used through mappings are told as such, and nothing else is."""

from __future__ import annotations

from traced_run import CREATE, REOPEN, TracedRun, derived, moves_of, planned

from venturi.model.operation import STORES_REACH_FILE, Kind
from venturi.model.plan import Interface
from venturi.model.workload import Workload

MIB = 1 << 20


def mapped(detail: int, beside: int = 0, size: int = 16 * MIB, long: bool = True) -> TracedRun:
    """A file of `size` that is made, cut to its length where `long`, and mapped; calls move
    `beside` bytes of it."""
    run = TracedRun(1)
    run.open(0, "other", CREATE)
    run.move(0, Kind.WRITE, "other", [(0, MIB)])
    run.close(0, "other")
    run.open(0, "field", CREATE)
    if long:
        run.call(0, Kind.TRUNCATE, "field", offset=size)
    if beside:
        run.move(0, Kind.WRITE, "field", [(0, beside)])
    run.call(0, Kind.MAP, "field", 0, size, detail)
    run.close(0, "field")
    return run


def interfaces(workload: Workload) -> list[Interface]:
    """Those of the files, in order."""
    return sorted(file.interface for file in workload.files.values())


def test_stores_and_loads_through_memory_are_requests_of_a_mapped_file() -> None:
    run = mapped(STORES_REACH_FILE)
    run.open(0, "field", REOPEN)
    run.call(0, Kind.MAP, "field", 0, 16 * MIB)
    run.close(0, "field")
    found = derived(run)
    assert interfaces(found) == [Interface.MMAP, Interface.POSIX]
    totals = planned(found).totals
    assert (totals.bytes_written, totals.bytes_read) == (17 * MIB, 16 * MIB)
    assert found.origin is not None
    sure = {
        one.confidence
        for one in found.origin.confidence
        if "mapping" in one.rule and one.field in ("write", "read")
    }
    assert sure == {0.3}
    assert any("mapped files" in said for said in found.origin.assumed)


def test_a_mapping_beside_calls_that_move_the_data_is_left_out() -> None:
    found = derived(mapped(STORES_REACH_FILE, beside=4 * MIB))
    assert set(interfaces(found)) == {Interface.POSIX}
    assert planned(found).totals.bytes_written == 5 * MIB
    assert found.origin is not None
    assert any("1 map" in said for said in found.origin.assumed)


def test_room_for_a_file_that_may_grow_is_not_touched() -> None:
    found = derived(mapped(0, size=1 << 40, long=False))
    assert planned(found).totals.bytes_read == 0
    known = derived(mapped(0, size=2 << 30))
    assert sum(int(str(move.size).split()[0]) for move in moves_of(known) if move.from_) > 0
