"""Days go from the ring into files: whole, once, small, and no longer than asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from probe.conftest import Place
from probe.history import BEGIN_NS, put, samples_of
from venturi.model.error import UserError
from venturi.model.probe import ProbeKind
from venturi.probe.columns import read_columns, read_facts, write_columns
from venturi.probe.keep import (
    HOURS,
    MINUTES,
    SAMPLES,
    day_files,
    keep,
    rows_between,
    samples_between,
)
from venturi.probe.ring import FAILED, MISSED, WITHHELD, read_samples
from venturi.probe.rollup import (
    DAY_NS,
    HOUR_NS,
    MINUTE_NS,
    bin_of,
    hours_of,
    middle_of,
    minutes_of,
    quantile_of,
)
from venturi.probe.sample import from_segment, joined, rounded

KIND = ProbeKind.METADATA
STEP_NS = 15 * 10**9


@pytest.fixture
def slow(place: Place) -> Place:
    """A target that is asked once a minute, so that a day has few samples."""
    place.settings |= {"interval_s": 60.0, "ring_days": 7, "keep_days": 3}
    return place


def test_days_that_are_over_are_kept_and_the_rest_stays_in_the_ring(slow: Place) -> None:
    samples = samples_of(0, 5760 * 2 + 100, BEGIN_NS, STEP_NS, 1e6)
    put(slow, samples)
    now = BEGIN_NS + 2 * DAY_NS + HOUR_NS
    assert keep(slow.folder, lambda: now).days == 2
    assert keep(slow.folder, lambda: now).days == 0
    names = [path.name for path in day_files(slow.folder, SAMPLES, KIND)]
    day = datetime.fromtimestamp(BEGIN_NS / 1e9, UTC).date().isoformat()
    assert names[0] == f"{day}.metadata"
    whole = joined(samples_between(slow.folder, KIND, 0, 2**62))
    assert len(whole) == len(samples)
    for name in ("scheduled_ns", "operation", "flags", "sequence"):
        assert (whole[name] == samples[name]).all(), name
    for name in ("response_ns", "service_ns"):
        assert np.abs(whole[name] / samples[name] - 1).max() < 0.002, name


def test_a_day_at_one_per_second_fits_into_its_budget(place: Place) -> None:
    samples = samples_of(0, 86_400 * 4, BEGIN_NS, 250_000_000, 1e6)
    columns = {
        name: np.ascontiguousarray(samples[name])
        for name in ("scheduled_ns", "operation", "flags", "error")
    }
    columns["service_ns"] = rounded(samples["service_ns"])
    columns["response_ns"] = columns["service_ns"] + rounded(
        samples["response_ns"] - samples["service_ns"]
    )
    path = place.folder / "day.metadata"
    write_columns(path, {"first": 0}, columns, frozenset({"scheduled_ns"}))
    assert path.stat().st_size < 1.7e6 * 4 / 6


def test_old_days_go_and_their_hours_stay(slow: Place) -> None:
    put(slow, samples_of(0, 5760 * 6, BEGIN_NS, STEP_NS, 1e6))
    now = BEGIN_NS + 6 * DAY_NS + HOUR_NS
    done = keep(slow.folder, lambda: now)
    assert done.days == 6
    assert len(day_files(slow.folder, SAMPLES, KIND)) == 3
    assert len(day_files(slow.folder, MINUTES, KIND)) == 6
    assert len(day_files(slow.folder, HOURS, KIND)) == 6
    later = now + 740 * DAY_NS
    keep(slow.folder, lambda: later)
    assert day_files(slow.folder, MINUTES, KIND) == []
    assert len(day_files(slow.folder, HOURS, KIND)) == 6


def test_sixty_days_of_a_simulated_clock_keep_every_sample_once(slow: Place) -> None:
    slow.settings["keep_days"] = 90
    counted = 0
    for day in range(60):
        begin = BEGIN_NS + day * DAY_NS
        samples = samples_of(counted, 5760, begin, STEP_NS, 1e6, seed=day)
        put(slow, samples)
        counted += len(samples)
        keep(slow.folder, lambda now=begin + DAY_NS + HOUR_NS: now)  # type: ignore[misc]
    files = day_files(slow.folder, SAMPLES, KIND)
    facts = [read_facts(path) for path in files]
    assert [one["first"] for one in facts] == [5760 * day for day in range(60)]
    assert sum(one["count"] for one in facts) == counted
    rows = rows_between(slow.folder, MINUTES, KIND, 0, 2**62)
    assert int(rows["samples"].sum()) == counted
    assert len(np.unique(rows["begin_ns"])) == 60 * 1440


def test_a_clock_that_goes_back_loses_nothing(slow: Place) -> None:
    forth = samples_of(0, 5760, BEGIN_NS, STEP_NS, 1e6)
    back = samples_of(5760, 5760, BEGIN_NS + DAY_NS // 2, STEP_NS, 1e6)
    put(slow, np.concatenate((forth, back)))
    assert keep(slow.folder, lambda: BEGIN_NS + 3 * DAY_NS).days == 2
    whole = joined(samples_between(slow.folder, KIND, 0, 2**62))
    assert whole["sequence"].tolist() == list(range(2 * 5760))


def test_a_ring_is_read_to_the_last_whole_sample(slow: Place) -> None:
    samples = samples_of(0, 100, BEGIN_NS, STEP_NS, 1e6)
    path = put(slow, samples, head=110)  # a crash: the head is on disk, ten samples are not
    _, first, data = read_samples(path, 0)
    assert (first, len(data) // 32) == (0, 100)
    with path.open("r+b") as file:
        file.truncate(4096 + 50 * 32 + 7)
    _, first, data = read_samples(path, 0)
    assert (first, len(data) // 32) == (0, 50)


def test_a_ring_that_went_round_gives_what_it_still_has(slow: Place) -> None:
    slow.make(KIND)
    capacity = slow.header(KIND).capacity
    path = put(slow, samples_of(0, capacity + 500, BEGIN_NS, STEP_NS, 1e6))
    _, first, data = read_samples(path, 0)
    assert first == 501  # the one before may be overwritten at any moment
    assert len(data) // 32 == capacity - 1


def test_damage_of_a_file_is_said(slow: Place) -> None:
    put(slow, samples_of(0, 5760, BEGIN_NS, STEP_NS, 1e6))
    keep(slow.folder, lambda: BEGIN_NS + 2 * DAY_NS)
    path = day_files(slow.folder, SAMPLES, KIND)[0]
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match="damaged"):
        from_segment(path)


def test_minutes_count_what_users_felt() -> None:
    samples = samples_of(0, 240, BEGIN_NS, 250_000_000, 1e6)
    samples["response_ns"] = 10**6
    samples["flags"][0] = FAILED
    samples["flags"][4] = MISSED
    samples["response_ns"][4] = 30 * 10**9
    samples["flags"][2] = WITHHELD
    rows = minutes_of(samples)
    assert rows["operation"].tolist() == [0, 1, 2, 3]
    assert rows["samples"].tolist() == [60, 60, 60, 60]
    assert rows["felt"].tolist() == [59, 60, 59, 60]
    assert rows["errors"].tolist() == [1, 0, 0, 0]
    assert rows["missed"].tolist() == [1, 0, 0, 0]
    assert rows["max_ns"].tolist() == [30 * 10**9, *[10**6] * 3]
    assert rows["mean_ns"][0] == (30 * 10**9 + 58 * 10**6) // 59
    assert set(rows["begin_ns"].tolist()) == {BEGIN_NS}
    assert BEGIN_NS % MINUTE_NS == 0


def test_histograms_give_quantiles_within_one_percent() -> None:
    samples = samples_of(0, 14_400, BEGIN_NS, 250_000_000, 1e6)
    rows = hours_of(samples)
    mine = rows["operation"] == 1
    values = samples["response_ns"][samples["operation"] == 1]
    for share in (0.5, 0.95, 0.99):
        found = quantile_of(rows["bin"][mine], rows["felt"][mine], share)
        assert found == pytest.approx(np.quantile(values, share), rel=0.01)


def test_bins_are_in_order_and_narrow() -> None:
    values = np.unique(np.logspace(0, 18, 20_000).astype(np.int64))
    bins = bin_of(values)
    assert (np.diff(bins.astype(np.int64)) >= 0).all()
    wide = values > 128
    assert np.abs(middle_of(bins[wide]) / values[wide] - 1).max() < 0.008


def test_columns_come_back_as_they_were(place: Place) -> None:
    columns = {
        "a": np.array([5, 3, 2**60, -1], "<i8"),
        "b": np.array([1, 0, 255, 7], "u1"),
    }
    path = place.folder / "x.metadata"
    write_columns(path, {"fact": 1}, columns, frozenset({"a"}))
    found = read_columns(path)
    assert all((found[name] == columns[name]).all() for name in columns)
    assert read_facts(path)["fact"] == 1
