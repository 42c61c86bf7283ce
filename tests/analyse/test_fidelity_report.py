"""The fidelity report: a capture equals itself, and each field that is changed is named."""

from __future__ import annotations

from typing import Any

import pytest

from capture_factory import MIB, CaptureFactory, shared_file
from venturi.analyse.fidelity_report import fidelity
from venturi.model.document import parse_json
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import Kind
from venturi.model.trace import Layer


def stencil(path: str = "/app", **change: Any) -> CaptureFactory:
    """Two streams: each rank's own file in writes, then a shared table in reads."""
    shape = {"ranks": 4, "size": MIB, "count": 8, "stride": MIB, "sync": 1, "reads": 6, "opens": 1}
    shape |= change
    made = CaptureFactory(shape["ranks"])
    for rank in range(shape["ranks"]):
        own = f"{path}/out.{rank}"
        for _ in range(shape["opens"]):
            made.call(rank, Kind.OPEN, own)
        made.run(rank, Kind.WRITE, own, shape["size"], shape["count"], stride=shape["stride"])
        for _ in range(shape["sync"]):
            made.call(rank, Kind.SYNC, own)
        made.call(rank, Kind.CLOSE, own)
    made.pause(1.0)
    for rank in range(shape["ranks"]):
        made.run(rank, Kind.READ, f"{path}/table", 4096, shape["reads"], first=rank * 65536)
    return made


def compare(left: CaptureFactory, right: CaptureFactory) -> FidelityReport:
    """The card of two programs."""
    return fidelity(left.captured(), right.captured())


def off(fidelity_report: FidelityReport) -> set[str]:
    """The fields that are off, anywhere."""
    streams = [fidelity_report.total, *fidelity_report.streams]
    return {field.name for s in streams for field in s.fields if field.match is Match.OFF}


@pytest.mark.parametrize("made", [shared_file, stencil])
def test_a_capture_equals_itself(made: Any) -> None:
    fidelity_report = compare(made(), made())
    assert fidelity_report.match is Match.EQUAL
    assert "equals the application in all" in fidelity_report.headline
    assert parse_json(FidelityReport, fidelity_report.to_json()) == fidelity_report


def test_names_do_not_matter() -> None:
    fidelity_report = compare(stencil("/app"), stencil("/elsewhere/proxy"))
    assert fidelity_report.match is Match.EQUAL
    assert [(s.name, s.counterpart) for s in fidelity_report.streams] == [
        ("/app/out.#", "/elsewhere/proxy/out.#"),
        ("/app/table", "/elsewhere/proxy/table"),
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": 9}, "bytes written"),
        ({"reads": 5}, "read operations"),
        ({"sync": 2}, "sync operations"),
        ({"opens": 3}, "open operations"),
        ({"stride": 2 * MIB}, "writes forward"),
        ({"stride": -MIB}, "writes backward"),
        ({"size": MIB // 2, "count": 16, "stride": MIB // 2}, "request sizes, exactly"),
        ({"ranks": 2, "count": 16}, "ranks"),
    ],
)
def test_what_is_changed_is_off(change: dict[str, Any], field: str) -> None:
    fidelity_report = compare(stencil(), stencil(**change))
    assert fidelity_report.match is Match.OFF
    assert field in off(fidelity_report)


def test_one_change_leaves_the_rest_equal() -> None:
    fidelity_report = compare(stencil(), stencil(stride=2 * MIB))
    assert off(fidelity_report) == {
        "writes consecutive",
        "writes forward",
        "operations, one by one: place",
        "operations, one by one: order",
    }
    assert "of /app/out.#" in fidelity_report.headline


def test_shares_of_ranks_are_not_averaged_away() -> None:
    left, right = CaptureFactory(2), CaptureFactory(2)
    for rank, (even, odd) in enumerate([(8, 12), (8, 4)]):
        left.run(rank, Kind.WRITE, f"/s/f{rank}", MIB, even)
        right.run(rank, Kind.WRITE, f"/s/f{rank}", MIB, odd)
    fidelity_report = compare(left, right)
    assert "shares of the ranks" in off(fidelity_report)
    assert "bytes written" not in off(fidelity_report)


def test_near_is_within() -> None:
    fidelity_report = compare(stencil(count=400), stencil(count=401))
    assert fidelity_report.match is Match.WITHIN
    assert "0 off" in fidelity_report.headline


def test_time_is_beside() -> None:
    slow = CaptureFactory(1)
    slow.run(0, Kind.WRITE, "/s/f", MIB, 10, s=1.0)
    fast = CaptureFactory(1)
    fast.run(0, Kind.WRITE, "/s/f", MIB, 10, s=0.001)
    fidelity_report = compare(slow, fast)
    assert fidelity_report.match is Match.EQUAL
    times = [f.match for f in fidelity_report.total.fields if f.unit == "s"]
    assert set(times) == {Match.BESIDE}


def test_a_stream_that_is_missing_is_named() -> None:
    more = stencil()
    more.whole(0, Kind.WRITE, "/app/log.txt", 100, 3, layer=Layer.STDIO)
    fidelity_report = compare(more, stencil())
    assert fidelity_report.match is Match.OFF
    assert "lacks /app/log.txt" in fidelity_report.headline
    fidelity_report = compare(stencil(), more)
    assert fidelity_report.only_proxy == ["/app/log.txt"]
    assert "does more" in fidelity_report.headline


def test_a_pause_that_is_lost_is_off() -> None:
    left, right = CaptureFactory(1), CaptureFactory(1)
    for made, pause in ((left, 2.0), (right, 0.0)):
        for dump in range(4):
            made.whole(0, Kind.WRITE, f"/s/d{dump}", MIB, 10)
            made.pause(pause)
    fidelity_report = compare(left, right)
    assert off(fidelity_report) == {"time between operations, all ranks"}
    (field,) = [f for f in fidelity_report.total.fields if f.name == "phases between pauses"]
    assert (field.application, field.proxy, field.match) == (4, 1, Match.BESIDE)


def test_the_order_of_directions_is_judged() -> None:
    left, right = CaptureFactory(1), CaptureFactory(1)
    for made, kinds in ((left, "wrwr"), (right, "wwrr")):
        for kind in kinds:
            made.run(0, Kind.WRITE if kind == "w" else Kind.READ, "/s/f", MIB, 10)
            made.pause(1.0)
    names = {"stretches of one direction", "bytes of these stretches", "turns to it"}
    assert off(compare(left, right)) == names | {"operations, one by one: order"}
