"""Slowdown, baseline and reference, on histories whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from probe.conftest import Place
from probe.history import BEGIN_NS, put, samples_of
from venturi.model.error import UserError
from venturi.model.probe import ProbeOperation, ProbeRow, ProbeStatistic, ProbeStatus
from venturi.probe.baseline import baseline_of, freeze, learn
from venturi.probe.columns import Array
from venturi.probe.keep import keep
from venturi.probe.ring import CACHED, FAILED, MISSED
from venturi.probe.rollup import DAY_NS, HOUR_NS
from venturi.probe.slowdown import word_of
from venturi.probe.status import status_of

STEP_NS = 15 * 10**9
A_DAY = 5760


@pytest.fixture
def slow(place: Place) -> Place:
    place.settings |= {"interval_s": 60.0, "ring_days": 60, "kinds": ["metadata"]}
    return place


def constant(first: int, count: int, value_ns: int) -> Array:
    samples = samples_of(first, count, BEGIN_NS + first * STEP_NS, STEP_NS, 1e6)
    samples["response_ns"] = samples["service_ns"] = value_ns
    return samples


def end_of(samples: Array) -> int:
    return int(samples["scheduled_ns"][-1]) + 1


def stat_row(status: ProbeStatus) -> ProbeRow:
    return next(row for row in status.targets[0].rows if row.operation is ProbeOperation.MD_STAT)


def test_no_slowdown_is_published_before_a_day_of_samples(slow: Place) -> None:
    samples = constant(0, A_DAY * 23 // 24, 10**6)
    put(slow, samples)
    status = status_of([slow.folder], clock=lambda: end_of(samples))
    row = stat_row(status)
    assert row.expected is None
    assert row.learning_hours == 23
    assert row.word == "learning"
    assert all(window.slowdown is None for window in row.windows)
    with pytest.raises(UserError, match="23 of 24 hours"):
        freeze(slow.folder, lambda: end_of(samples))


@pytest.mark.parametrize(
    ("factor", "word"),
    [(1, "normal"), (2, "busy"), (5, "slow"), (50, "very slow"), (500, "stalled")],
)
def test_slowdown_is_the_statistic_over_the_baseline(slow: Place, factor: int, word: str) -> None:
    usual = constant(0, 2 * A_DAY, 10**6)
    now = constant(2 * A_DAY, A_DAY // 6, factor * 10**6)
    put(slow, np.concatenate((usual, now)))
    row = stat_row(status_of([slow.folder], clock=lambda: end_of(now)))
    assert row.expected is not None
    assert row.expected.value_s == pytest.approx(1e-3, rel=0.01)
    assert row.windows[0].slowdown == pytest.approx(factor, rel=0.01)
    assert row.word == word


def test_errors_missed_moments_and_cached_reads_do_not_shape_the_baseline(slow: Place) -> None:
    samples = constant(0, 2 * A_DAY, 10**6)
    wrong = np.arange(len(samples)) % 10 < 8
    samples["response_ns"][wrong] = 10**10
    samples["flags"][wrong] = np.array([FAILED, MISSED, CACHED] * 8000)[: np.sum(wrong)]
    put(slow, samples)
    learned = learn(slow.folder, slow.target, end_of(samples))
    for expected, _ in learned.values():
        assert expected is not None
        assert expected.value_s == pytest.approx(1e-3, rel=0.01)


def test_missed_moments_are_felt(slow: Place) -> None:
    usual = constant(0, 2 * A_DAY, 10**6)
    hang = constant(2 * A_DAY, 40, 10**11)
    hang["flags"] = MISSED
    put(slow, np.concatenate((usual, hang)))
    row = stat_row(status_of([slow.folder], clock=lambda: end_of(hang)))
    assert row.windows[1].slowdown == pytest.approx(1e5, rel=0.01)
    assert row.missed_4h == 10


def test_a_reference_shows_that_the_baseline_drifts(slow: Place) -> None:
    before = constant(0, 2 * A_DAY, 10**6)
    put(slow, before)
    freeze(slow.folder, lambda: end_of(before))
    after = constant(2 * A_DAY, 5 * A_DAY, 4 * 10**6)
    put(slow, after)
    status = status_of([slow.folder], clock=lambda: end_of(after))
    row = stat_row(status)
    assert row.drift == pytest.approx(4, rel=0.02)
    assert row.windows[0].slowdown == pytest.approx(1, rel=0.02)
    assert any("4.0 times the reference" in text for text in status.targets[0].warnings)


def test_the_baseline_covers_thirty_days_of_kept_files(slow: Place) -> None:
    old = constant(0, 5 * A_DAY, 10**8)
    new = constant(5 * A_DAY, 31 * A_DAY, 10**6)
    put(slow, np.concatenate((old, new)))
    now = BEGIN_NS + 36 * DAY_NS
    keep(slow.folder, lambda: now)
    learned = baseline_of(slow.folder, slow.target, now)
    expected, _ = learned[ProbeOperation.MD_STAT]
    assert expected is not None
    assert expected.value_s == pytest.approx(1e-3, rel=0.01)
    assert expected.samples == pytest.approx(30 * 1440, rel=0.01)
    assert expected.begin_ns >= now - 30 * DAY_NS
    assert (
        baseline_of(slow.folder, slow.target, now + HOUR_NS // 2)[ProbeOperation.MD_STAT][0]
        == expected
    ), "within the hour it is read, not learned anew"


def test_sustained_values_below_one_ask_about_the_cache() -> None:
    assert word_of([0.5, 0.5, 0.5], 0, 1e-3, None) == "cache?"
    assert word_of([0.5, 1.0, 1.0], 0, 1e-3, None) == "normal"
    assert word_of([1.0, 1.0, 1.0], 0, 1e-3, 0.5) == "cache?"
    assert word_of([1.0, 1.0, 1.0], 0, 1e-3, 0.0) == "normal"


def test_an_operation_that_hangs_is_named_before_it_ends() -> None:
    assert word_of([1.0, 1.0, 1.0], 11, 1e-3, None) == "STALLED"
    assert word_of([1.0, 1.0, 1.0], 9, 1e-3, None) == "normal"
    assert word_of([1.0, 1.0, 1.0], 41, 1.0, None) == "normal"


def test_the_statistic_is_named_and_obeyed(slow: Place) -> None:
    usual = constant(0, 2 * A_DAY, 10**6)
    now = constant(2 * A_DAY, 240, 10**6)
    now["response_ns"][::8] = 10**9  # half of the stats of the last hour
    put(slow, np.concatenate((usual, now)))
    status = status_of([slow.folder], ProbeStatistic.P95, lambda: end_of(now))
    assert status.statistic is ProbeStatistic.P95
    assert stat_row(status).windows[1].slowdown == pytest.approx(1000, rel=0.02)
    mean = stat_row(status_of([slow.folder], ProbeStatistic.MEAN, lambda: end_of(now)))
    assert mean.windows[1].slowdown == pytest.approx(500, rel=0.02)
