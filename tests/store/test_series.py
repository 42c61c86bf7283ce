"""A session without an end, on a simulated clock, killed wherever it may be."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.model.error import UserError
from venturi.model.series import Presence, SeriesPoint
from venturi.store.seal import faults
from venturi.store.series import (
    SeriesWriter,
    forget_before,
    line_of,
    points_of,
    read_points,
    windows_of,
)

HOUR_NS = 3_600_000_000_000
SECOND_NS = 1_000_000_000


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        return self.now_ns


def writer(store: Path, clock: Clock) -> SeriesWriter:
    return SeriesWriter(store, "probe", HOUR_NS, clock)


def values(store: Path, series: str = "read") -> list[float]:
    found = points_of(store / "series" / "probe", series, 0, 1 << 62)
    return [point.values["bytes_per_s"] for point in found]


def test_points_are_read_while_the_window_is_open(tmp_path: Path) -> None:
    clock = Clock(10 * HOUR_NS)
    with writer(tmp_path, clock) as one:
        for number in range(3):
            clock.now_ns += SECOND_NS
            one.append("read", {"bytes_per_s": number})
        assert values(tmp_path) == [0, 1, 2]
        assert windows_of(one.folder) == []


def test_a_window_that_is_over_is_sealed(tmp_path: Path) -> None:
    """Windows begin at whole hours, those without any point are not there, and all add up."""
    clock = Clock(10 * HOUR_NS + 5 * SECOND_NS)
    with writer(tmp_path, clock) as one:
        for hour in (10, 10, 11, 14):
            clock.now_ns = hour * HOUR_NS + 5 * SECOND_NS
            one.append("read", {"bytes_per_s": hour})
    found = windows_of(one.folder)
    assert [window.begin_ns // HOUR_NS for _, window in found] == [10, 11]
    assert [[part.points for part in window.series] for _, window in found] == [[2], [1]]
    assert [list(faults(place)) for place, _ in found] == [[], []]
    assert values(tmp_path) == [10, 10, 11, 14]
    changed = found[0][0] / "read.jsonl"
    changed.write_bytes(changed.read_bytes().replace(b"10.0", b"90.0"))
    assert list(faults(found[0][0])) == ["read.jsonl was changed"]
    with pytest.raises(UserError, match=r"read\.jsonl:1: the line is damaged"):
        values(tmp_path)


def test_only_points_of_the_interval_come(tmp_path: Path) -> None:
    clock = Clock(0)
    with writer(tmp_path, clock) as one:
        for hour in range(5):
            clock.now_ns = hour * HOUR_NS
            one.append("read", {"bytes_per_s": hour})
    found = points_of(one.folder, "read", HOUR_NS, 3 * HOUR_NS)
    assert [point.values["bytes_per_s"] for point in found] == [1, 2]
    assert list(points_of(one.folder, "write", 0, 5 * HOUR_NS)) == []


def test_the_next_writer_goes_on_and_the_gap_is_known(tmp_path: Path) -> None:
    """The first was stopped, the second killed: nobody measured from its last point on."""
    clock = Clock(100 * SECOND_NS)
    with writer(tmp_path, clock) as first:
        clock.now_ns = 110 * SECOND_NS
        first.append("read", {"bytes_per_s": 1})
        clock.now_ns = 120 * SECOND_NS
    clock.now_ns = 200 * SECOND_NS
    second = writer(tmp_path, clock)
    clock.now_ns = 205 * SECOND_NS
    second.append("read", {"bytes_per_s": 2})
    killed(second)
    clock.now_ns = 300 * SECOND_NS
    with writer(tmp_path, clock) as third:
        clock.now_ns = HOUR_NS
        third.append("read", {"bytes_per_s": 3})
    ((_, window),) = windows_of(third.folder)
    assert window.presence == [
        Presence(begin_ns=100 * SECOND_NS, end_ns=120 * SECOND_NS),
        Presence(begin_ns=200 * SECOND_NS, end_ns=205 * SECOND_NS),
        Presence(begin_ns=300 * SECOND_NS, end_ns=HOUR_NS),
    ]
    assert values(tmp_path) == [1, 2, 3]


def killed(one: SeriesWriter) -> None:
    """The process of a writer is gone: its lock, too, and it says nothing more."""
    os.close(one._lock)
    one._lock = -1


@given(st.integers(0, 10_000))
def test_a_writer_may_be_killed_within_a_line(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    """Every line before the one that was torn stays, and what follows is whole."""
    store = tmp_path_factory.mktemp("store")
    clock = Clock(0)
    one = writer(store, clock)
    for number in range(20):
        one.append("read", {"bytes_per_s": number})
    killed(one)
    path = one.folder / "open" / "read.jsonl"
    data = path.read_bytes()
    kept = at % (len(data) + 1)
    path.write_bytes(data[:kept])
    whole = data[:kept].count(b"\n")
    assert values(store) == list(range(whole))
    with writer(store, clock) as other:
        other.append("read", {"bytes_per_s": 99})
        assert values(store) == [*range(whole), 99]


def test_a_damaged_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = [line_of(SeriesPoint(at_ns=at, values={"a": at})) for at in range(3)]
    path.write_bytes(lines[0] + lines[1].replace(b'"a":1', b'"a":7') + lines[2])
    with pytest.raises(UserError, match=r"x\.jsonl:2: the line is damaged"):
        list(read_points(path))


def test_a_clock_that_goes_back_is_counted(tmp_path: Path) -> None:
    clock = Clock(50 * SECOND_NS)
    with writer(tmp_path, clock) as one:
        for at in (60, 40, 70):
            clock.now_ns = at * SECOND_NS
            one.append("read", {"bytes_per_s": at})
        clock.now_ns = HOUR_NS
        one.append("read", {"bytes_per_s": 0})
    ((_, window),) = windows_of(one.folder)
    assert window.clock_steps == 1
    assert values(tmp_path) == [60, 40, 70, 0]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    clock = Clock(0)
    with (
        writer(tmp_path, clock),
        pytest.raises(UserError, match="another process writes this session"),
    ):
        writer(tmp_path, clock)


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "series").write_text("a file")
    with pytest.raises(UserError, match="the series cannot be written"):
        writer(tmp_path, Clock(0))


def test_no_room_in_the_middle_of_a_line(tmp_path: Path) -> None:
    clock = Clock(0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with writer(tmp_path, clock) as one:
        one.append("read", {"bytes_per_s": 1})
        bytes_now = (one.folder / "open" / "read.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_now + 10, before[1]))
        try:
            with pytest.raises(UserError, match="took only a part"):
                one.append("read", {"bytes_per_s": 2})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        one.append("read", {"bytes_per_s": 3})
    assert values(tmp_path) == [1, 3]


def test_old_windows_are_forgotten(tmp_path: Path) -> None:
    clock = Clock(0)
    with writer(tmp_path, clock) as one:
        for hour in range(5):
            clock.now_ns = hour * HOUR_NS
            one.append("read", {"bytes_per_s": hour})
    assert forget_before(one.folder, 2 * HOUR_NS) == 2
    assert values(tmp_path) == [2, 3, 4]
    assert sorted(path.name for path in one.folder.iterdir()) == ["lock", "open", "windows"]
