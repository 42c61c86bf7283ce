"""Histories: a planted regression is found, clean ones stay quiet, known changes pass the gate."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from store.test_store import result, venturi
from venturi.analyse.change_point import FEWEST, change_points, seen_after
from venturi.analyse.history import history_of
from venturi.model.document import parse_json
from venturi.model.history import History, KnownChange, Trend
from venturi.model.output import Better
from venturi.model.result import Measure, Result
from venturi.report.figure.history import over_sessions
from venturi.report.history_text import row_of, title_of
from venturi.report.quantity import Units
from venturi.store.result import keep

SESSIONS, AT = 60, 40


def sessions(
    seed: int, factor: float = 1.0, unit: str = "B/s", better: Better = Better.HIGHER
) -> list[Result]:
    """Sixty days of six repetitions at 5 %, with 3 % from day to day; another level from day 40."""
    chance = random.Random(seed)
    found = []
    for number in range(SESSIONS):
        day = datetime(2026, 1, 1, 6, tzinfo=UTC) + timedelta(days=number)
        level = 1e9 * math.exp(chance.gauss(0.0, 0.03)) * (factor if number >= AT else 1.0)
        values = [level * math.exp(chance.gauss(0.0, 0.05)) for _ in range(6)]
        found.append(
            result(
                f"{day:%Y%m%d}-060000-tool-{seed:04d}",
                started=day.isoformat(),
                facts={"kernel": "6.2" if number >= AT else "6.1"},
                metrics={"write": Measure(unit=unit, better=better, values=values)},
            )
        )
    return found


def test_a_planted_regression_is_found_and_none_in_clean_histories() -> None:
    for seed in range(40):
        [series] = history_of(sessions(seed)).series
        assert series.trend is Trend.STEADY, f"history {seed} is clean"
    for seed in range(10):
        found = history_of(sessions(seed, 0.9))
        [series] = found.worse
        [change] = series.changes
        assert abs(change.at - AT) <= 3
        assert change.change == pytest.approx(-0.1, abs=0.04)
        if change.at == AT:
            assert [(d.what, d.first, d.second) for d in change.differences] == [
                ("kernel", "6.1", "6.2")
            ]
        assert series.detectable is not None
        assert series.detectable < 0.1
        assert "worse by" in found.headline
        assert parse_json(History, found.to_json()) == found


def test_direction_and_size_decide() -> None:
    assert history_of(sessions(1, 1.2)).series[0].trend is Trend.BETTER
    assert history_of(sessions(1, 1.2, "s", Better.LOWER)).series[0].trend is Trend.WORSE
    assert history_of(sessions(1, 0.8, "", Better.NONE)).series[0].trend is Trend.CHANGED
    assert history_of(sessions(1, 0.9), least=0.2).series[0].trend is Trend.STEADY
    assert history_of(sessions(1, 0.5)[AT - 2 : AT + 2]).series[0].trend is Trend.SHORT
    back = [
        *sessions(1, 0.8),
        *(
            r.model_copy(
                update={"session": f"{r.session}-later", "started": f"2027{r.started[4:]}"}
            )
            for r in sessions(2)
        ),
    ]
    [series] = history_of(back).series
    assert ([change.is_worse for change in series.changes], series.trend) == (
        [True, False],
        Trend.BETTER,
    )


def test_a_known_change_is_named_and_does_not_count() -> None:
    update = KnownChange(at="2026-02-10", about="new firmware", machine="alpha")
    [series] = history_of(sessions(3, 0.8), known=[update]).series
    assert (series.trend, series.changes[0].known) == (Trend.CHANGED, "new firmware")
    for other in ({"at": "2026-01-20"}, {"machine": "beta"}, {"name": "other"}):
        known = [update.model_copy(update=other)]
        assert history_of(sessions(3, 0.8), known=known).worse


def test_unlike_runs_are_series_of_their_own() -> None:
    one, other = sessions(4), sessions(5)
    other = [r.model_copy(update={"parameters": {"tasks": 8}, "ranks": 8}) for r in other]
    assert [len(s.sessions) for s in history_of([*one, *other]).series] == [SESSIONS] * 2
    assert {s.variant for s in history_of([*one, *other]).series} == {""}
    failed = [r.model_copy(update={"level": "INVALID"}) for r in one]
    assert history_of(failed).headline.startswith("No run measured anything. Left out")


def test_other_work_with_the_same_parameters_is_told_apart() -> None:
    one, other = sessions(4), sessions(5)
    other = [r.model_copy(update={"work": "f00dfeedcafe"}) for r in other]
    series = history_of([*one, *other]).series
    assert sorted(s.variant for s in series)[-1] == "work f00dfeed"
    titles = {title_of(s) for s in series}
    assert len(titles) == 2
    assert history_of(one).series[0].variant == ""


def step(values: Sequence[float], at: int, by: float) -> list[float]:
    return [value + (by if index >= at else 0.0) for index, value in enumerate(values)]


def test_change_points_are_where_the_level_changes() -> None:
    chance = random.Random(7)
    noise = [chance.gauss(0.0, 0.1) for _ in range(90)]
    assert change_points(noise) == []
    assert change_points([1.0] * 50) == []
    assert change_points([1.0, 2.0]) == []
    two = step(step(noise, 30, 1.0), 60, -2.0)
    assert change_points(two) == [30, 60]
    assert change_points(two, least=1.2) == [60]
    assert change_points([0.0] * 3 + [1.0] * 3) == []  # six values cannot show it to 1 %
    assert change_points([0.0] * 8 + [1.0] * 8) == [8]


def test_the_gate_as_typed(tmp_path: Path) -> None:
    """Exit code 4 and a page; 0 once somebody has said what was done."""
    for one in sessions(6, 0.85):
        keep(tmp_path / "store", one, {})
    text = venturi(tmp_path, "results", "history", "name:tool", "--check", "-o", "h.html", code=4)
    assert "WORSE" in text
    page = (tmp_path / "h.html").read_text()
    assert "<svg" in page
    assert "kernel 6.1 → 6.2" in page
    (tmp_path / "store" / "known-changes.yaml").write_text(
        'changes: 1\nknown: [{at: "2026-02-10", about: new firmware}]\n'
    )
    assert "new firmware" in venturi(tmp_path, "results", "history", "--check")


def test_rates_of_names_are_called_as_a_runs_own_summary_calls_them() -> None:
    found = [
        one.model_copy(
            update={
                "metrics": {
                    "look": one.metrics["write"].model_copy(
                        update={"unit": "1/s", "of": "stat", "values": [12_300.0] * 6}
                    )
                }
            }
        )
        for one in sessions(1)
    ]
    [series] = history_of(found).series
    assert row_of(series, Units.IEC)[3] == "12.3 k stats/s"
    figure = over_sessions(series, 0, Units.IEC)
    assert figure.table is not None
    assert figure.table.rows[0][2] == "12.3 k stats/s"
    assert '"title": "k stats/s"' in json.dumps(figure.spec)


def test_a_step_shows_after_as_many_sessions_as_are_named() -> None:
    """A clean step, wherever it is: four times out of five, and never where none can be shown."""
    found: list[bool] = []
    for before in range(1, 40):
        for after in range(1, before):
            count = before + after
            values = [1.0 + 1e-4 * (n % 3) - 0.5 * (n >= before) for n in range(count)]
            seen = change_points(values, 0.05) == [before]
            if count < FEWEST - 1:
                assert not seen
            elif after >= seen_after(before):
                found.append(seen)
    assert sum(found) >= 0.8 * len(found) > 400


@pytest.mark.parametrize("count", range(1, 20))
def test_few_sessions_are_never_called_steady(count: int) -> None:
    chosen = sessions(count, 0.5)[AT - count // 2 : AT - count // 2 + count]
    [series] = history_of(chosen).series
    is_told = count >= FEWEST
    assert (series.trend is not Trend.SHORT) == is_told == (series.detectable is not None)
    assert is_told or "Too few sessions to tell: a series needs 13" in history_of(chosen).headline
