"""What is at stake is what mending brings: bounds, layers below, and groups of files."""

from __future__ import annotations

import random

import pytest

from capture_factory import MIB, CaptureFactory
from venturi.derive.finding import operation_findings
from venturi.derive.footprint import footprint_of
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import Finding, Severity


def found(made: CaptureFactory, seconds: float | None = None) -> dict[str, Finding]:
    return {finding.id: finding for finding in operation_findings(made.captured(seconds))}


def put_back(made: CaptureFactory, seconds: float) -> None:
    """Set the clock of the first process back, so that its next call is another thread's."""
    made.clock_s[0] -= seconds


@pytest.mark.parametrize("seed", range(12))
def test_nothing_at_stake_exceeds_the_time_inside_of_calls(seed: int) -> None:
    """Calls in each other, and calls of several threads at once, count once."""
    chance = random.Random(seed)
    made = CaptureFactory(1)
    for number in range(300):
        size = chance.choice([512, 4096, 65536])
        kind = chance.choice([Kind.READ, Kind.WRITE, Kind.OPEN, Kind.STAT, Kind.SYNC])
        s = chance.uniform(0.001, 0.02)
        offset = chance.randrange(4096) * 512
        path = f"/s/{chance.choice('abc')}"
        made.call(0, kind, path, size if kind in (Kind.READ, Kind.WRITE) else 0, offset, s=s)
        if chance.random() < 0.7:
            put_back(made, s * chance.random())
        if number % 100 == 99:
            made.pause(0.5)
    captured = made.captured()
    footprint = footprint_of(captured)
    assert footprint is not None
    ops = captured.operations
    assert ops is not None
    ticks = sorted((int(a), int(b)) for a, b in zip(ops.start_ns, ops.end_ns, strict=True))
    inside_ns = reached = 0
    for start, end in ticks:
        inside_ns += max(0, end - max(start, reached))
        reached = max(reached, end)
    assert footprint.inside_s(footprint.ops.start_ns.argsort())[0] == pytest.approx(
        inside_ns * 1e-9
    )
    findings = operation_findings(captured)
    assert findings
    for finding in findings:
        assert finding.at_stake_s is not None
        assert finding.at_stake_s <= inside_ns * 1e-9 * (1 + 1e-9), finding


def test_parallel_calls_of_one_process_count_once() -> None:
    made = CaptureFactory(1)
    for _ in range(40):
        for _ in range(8):
            made.call(0, Kind.SYNC, "/s/f", s=0.01)
            put_back(made, 0.01)
        made.clock_s[0] += 0.01
        made.call(0, Kind.WRITE, "/s/f", MIB, s=0.001)
    stake_s = max(one.at_stake_s or 0.0 for one in found(made).values())
    assert stake_s == pytest.approx(0.4, abs=0.05)


def library(
    asked: int, below: list[int], kind: Kind, layer: Layer = Layer.HDF5_DATASET
) -> CaptureFactory:
    """A library that makes requests of other sizes of a thousand calls of 10 ms."""
    made = CaptureFactory(1)
    made.file("/s/f.h5")
    made.file("field", within=0)
    for number in range(100):
        begin = made.clock_s[0]
        name = "field" if layer is Layer.HDF5_DATASET else "/s/f.h5"
        made.call(0, kind, name, asked, number * asked, layer=layer, s=0.01)
        made.clock_s[0] = begin
        for size in below[number::100]:
            made.call(0, kind, "/s/f.h5", size, s=1e-3)
        made.clock_s[0] = begin + 0.01
    return made


def test_small_requests_that_a_library_joins_are_none() -> None:
    joined = library(160_000, [1_600_000] * 10, Kind.WRITE)
    assert "small-requests" not in found(joined)
    assert "small-requests" in found(library(160_000, [160_000] * 100, Kind.WRITE))


@pytest.mark.parametrize("layer", [Layer.HDF5_DATASET, Layer.MPIIO])
@pytest.mark.parametrize("kind", [Kind.READ, Kind.WRITE])
def test_amplification_is_graded_without_a_cliff(layer: Layer, kind: Kind) -> None:
    """The stake grows with the bytes that are moved in vain; there is no threshold."""
    stakes = []
    for times in (1.0, 1.02, 1.097, 1.103, 1.5, 3.0, 25.0):
        made = library(4 * MIB, [int(4 * MIB * times)] * 100, kind, layer)
        finding = found(made).get("amplification")
        stakes.append(finding.at_stake_s or 0.0 if finding else 0.0)
        assert stakes[-1] == pytest.approx(1.0 * (1 - 1 / times), abs=0.002)
    assert stakes == sorted(stakes)
    severe = found(library(4 * MIB, [80 * MIB] * 100, kind, layer))["amplification"]
    assert severe.severity is Severity.HIGH
    assert "20 times" in severe.evidence


def test_large_requests_lose_little_where_they_are_not_aligned() -> None:
    small, large = CaptureFactory(1), CaptureFactory(1)
    small.run(0, Kind.WRITE, "/s/f", 8192, 100, first=512, s=0.01)
    large.run(0, Kind.WRITE, "/s/f", 16 * MIB, 100, first=512, s=0.01)
    assert found(small)["misaligned"].severity is Severity.HIGH
    assert "misaligned" not in found(large)


@pytest.mark.parametrize("files", [2, 5, 20])
def test_one_kind_on_many_files_is_told_once(files: int) -> None:
    made = CaptureFactory(1)
    for name in range(files):
        path = f"/s/{'abcdefghijklmnopqrstuvwxyz'[name] * 3}.dat"
        for number in range(30):
            made.call(0, Kind.WRITE, path, 4096, number * 4096, s=0.01)
    findings = [f for f in operation_findings(made.captured()) if f.id == "small-requests"]
    assert len(findings) == 1
    assert findings[0].at_stake_s == pytest.approx(0.3 * files)
    if files > 1:
        assert f"{files - 1} more group" in findings[0].evidence
        assert "/s/" in findings[0].evidence.partition("more group")[2]


def test_time_in_calls_is_graded_below_a_gain() -> None:
    calls, gain = CaptureFactory(1), CaptureFactory(1)
    calls.run(0, Kind.WRITE, "/s/f", 4096, 100, s=0.01)
    for number in range(100):
        gain.call(0, Kind.WRITE, "/s/f", 4 * MIB, number * 4 * MIB, s=1e-6)
        gain.call(0, Kind.SYNC, "/s/f", s=0.01)
    one = found(calls, 2.0)["small-requests"]
    assert (one.severity, "the time in these calls" in one.evidence) == (Severity.MEDIUM, True)
    other = found(gain, 2.0)["sync-each-write"]
    assert (other.severity, "the time in these calls" in other.evidence) == (Severity.HIGH, False)
