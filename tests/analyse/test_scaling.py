"""Scaling by generation: times from known laws with noise, and what is said of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import product

import pytest

from venturi.analyse import scaling_law
from venturi.analyse.scaling import CurveRequest, SizedMetric, curve_of
from venturi.model.campaign import MetricSummary
from venturi.model.output import Better
from venturi.model.scaling import ScalingCurve, StudyKind
from venturi.model.statistic import median_interval

Noise = Callable[[random.Random, float], float]
Law = Callable[[float], float]
"""The time on a number of processors, over that on one."""
EIGHT = (1, 2, 4, 8, 16, 32, 64, 128)


def normal(chance: random.Random, share: float) -> float:
    """A factor that is as often above 1 as below."""
    return math.exp(chance.gauss(0.0, share))


def spiky(chance: random.Random, share: float) -> float:
    """A factor with a long tail above."""
    return math.exp(share * chance.expovariate(1.0))


def amdahl(serial: float) -> Law:
    return lambda n: serial + (1 - serial) / n


def gustafson(serial: float) -> Law:
    return lambda n: n / (serial + (1 - serial) * n)


def summary(values: list[float], better: Better = Better.LOWER, unit: str = "s") -> MetricSummary:
    middle = median_interval(values)
    return MetricSummary(
        name="step.seconds",
        unit=unit,
        better=better,
        values=values,
        median=middle.median,
        low=middle.low,
        high=middle.high,
        coverage=middle.coverage,
    )


def curve(
    times: Sequence[tuple[float, list[float]]], kind: StudyKind = StudyKind.STRONG
) -> ScalingCurve:
    """The curve of times by number of ranks, over the smallest one."""
    request = CurveRequest(kind, "ranks", times[0][0], "run", {})
    found = curve_of(request, [SizedMetric(n, f"p{n}", summary(own)) for n, own in times])
    assert isinstance(found, ScalingCurve), found
    return found


def made(
    law: Law,
    sizes: Sequence[float],
    share: float,
    repetitions: int,
    seed: str,
    noise: Noise = normal,
    widens: float = 0.0,
) -> list[tuple[float, list[float]]]:
    """Times of a law, each with its own noise, which may widen as a power of n; a minute on one."""
    chance = random.Random(seed)
    return [
        (n, [60 * law(n) * noise(chance, share * n**widens) for _ in range(repetitions)])
        for n in sizes
    ]


def least(share: float, draws: int) -> float:
    """The least share of draws that something of this probability has, 999 times of 1000."""
    return share - 3.1 * math.sqrt(share * (1 - share) / draws)


@pytest.mark.parametrize("kind", list(StudyKind))
@pytest.mark.parametrize(
    ("share", "noise", "widens"),
    [
        (0.01, normal, 0.0),
        (0.05, normal, 0.0),
        (0.1, normal, 0.0),
        (0.05, spiky, 0.0),
        (0.01, normal, 0.5),
    ],
)
@pytest.mark.parametrize("repetitions", [3, 6, 10])
def test_the_serial_share_is_in_its_interval(
    kind: StudyKind, share: float, noise: Noise, widens: float, repetitions: int
) -> None:
    law = amdahl if kind is StudyKind.STRONG else gustafson
    fitted = inside = rejected = all_ = 0
    for serial, sizes, draw in product((0.0, 0.03, 0.2), (EIGHT[:4], EIGHT[:6]), range(20)):
        seed = f"{kind} {share} {repetitions} {serial} {len(sizes)} {draw}"
        times = made(law(serial), sizes, share, repetitions, seed, noise, widens)
        found = curve(times, kind)
        all_ += 1
        if found.fit is None:
            continue
        fitted += 1
        rejected += found.fit.stops_at is not None
        inside += found.fit.serial_low <= serial <= found.fit.serial_high
    assert fitted >= 0.75 * all_
    assert inside / fitted >= least(0.95, fitted)
    assert rejected / all_ <= 1 - least(0.95, all_)


@pytest.mark.parametrize("kind", list(StudyKind))
@pytest.mark.parametrize("repetitions", [3, 6])
def test_where_a_law_stops_is_named_and_not_fitted_over(kind: StudyKind, repetitions: int) -> None:
    law = (amdahl if kind is StudyKind.STRONG else gustafson)(0.05)
    draws, named, inside = 60, 0, 0
    for draw in range(draws):
        broken = made(
            lambda n: law(n) * (2.0 if n >= 32 else 1.0),
            EIGHT[:7],
            0.04,
            repetitions,
            f"break {kind} {repetitions} {draw}",
        )
        fit = curve(broken, kind).fit
        if fit is not None and fit.stops_at is not None:
            inside += fit.serial_low <= 0.05 <= fit.serial_high
            assert fit.excess is not None
            named += fit.stops_at == 32 and fit.excess.low <= 2.0 <= fit.excess.high
    assert named >= 0.9 * draws
    assert inside >= least(0.95, draws) * draws


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("flat", lambda n: 1.0),
        ("slower", lambda n: n**0.3),
        ("superlinear", lambda n: n**-1.15),
        ("root", lambda n: n**-0.5),
        ("turns", lambda n: 1 / n + 0.04 * n),
    ],
)
@pytest.mark.parametrize("repetitions", [3, 6, 10])
def test_what_follows_no_law_is_fitted_as_a_whole_by_none(
    name: str, law: Law, repetitions: int
) -> None:
    draws, whole = 40, 0
    for draw, share in product(range(draws // 2), (0.02, 0.06)):
        found = curve(made(law, EIGHT[:6], share, repetitions, f"{name} {repetitions} {draw}"))
        whole += found.fit is not None and found.fit.stops_at is None
    assert whole <= 0.1 * draws


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (lambda n: n**-1.3, "above 1"),
        (lambda n: 1.0, "no speed-up can be told from 1"),
        (lambda n: n**0.3, "no speed-up can be told from 1"),
    ],
)
def test_why_no_law_is_fitted(law: Law, said: str) -> None:
    found = curve(made(law, EIGHT[:5], 0.02, 6, "why"))
    assert found.fit is None
    assert said in found.law_says


def test_times_of_a_weak_study_are_to_stay() -> None:
    found = curve([(1, [60.0] * 6), (2, [80.0] * 6)], StudyKind.WEAK)
    assert found.points[1].efficiency.value == 0.75
    assert found.points[1].speedup.value == 1.5


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_what_would_contradict_a_law_does(share: float) -> None:
    times = made(amdahl(0.05), EIGHT[:6], share, 6, "contradiction")
    whole = curve(times).fit
    assert whole is not None
    assert whole.contradiction is not None
    for factor, stops in ((0.97, None), (1.0, 32)):
        n, last = times[-1]
        longer = [value * factor * whole.contradiction for value in last]
        found = curve([*times[:-1], (n, longer)]).fit
        assert found is not None
        assert found.stops_at == stops


def test_times_that_would_contradict_nothing_are_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_law, "MOST_LONGER", 1.05)
    found = curve(made(amdahl(0.05), EIGHT[:5], 0.1, 3, "little"))
    assert found.fit is not None
    assert found.fit.contradiction is None
    assert "That says little" in found.law_says


@pytest.mark.parametrize("sizes", [EIGHT[:2], EIGHT[:3]])
def test_three_numbers_are_too_few_for_a_law(sizes: tuple[int, ...]) -> None:
    found = curve(made(amdahl(0.1), sizes, 0.01, 6, "few"))
    assert found.fit is None
    assert "too few" in found.law_says


@pytest.mark.parametrize("repetitions", [3, 6, 10])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("kind", list(StudyKind))
def test_no_knee_is_named_in_noise(kind: StudyKind, share: float, repetitions: int) -> None:
    laws: dict[str, Law] = {
        "flat": lambda n: 1.0 if kind is StudyKind.STRONG else n,
        "ideal": lambda n: 1 / n if kind is StudyKind.STRONG else 1.0,
        "root": lambda n: n**-0.5 if kind is StudyKind.STRONG else n**0.5,
    }
    draws, named = 0, 0
    for (name, law), size, draw in product(laws.items(), (3, 5, 8), range(15)):
        times = made(law, EIGHT[:size], share, repetitions, f"{name} {size} {share} {draw}")
        named += curve(times, kind).knee is not None
        draws += 1
    assert named <= 0.05 * draws


@pytest.mark.parametrize("repetitions", [3, 6, 10])
def test_a_knee_is_named_with_what_cannot_be_told_from_it(repetitions: int) -> None:
    draws, named, right = 60, 0, 0
    for draw in range(draws):
        law: Law = lambda n: 1 / min(n, 8)  # noqa: E731
        found = curve(made(law, EIGHT[:7], 0.1, repetitions, f"knee {repetitions} {draw}"))
        named += found.knee is not None
        right += found.knee == 8 or 8 in found.knee_alike
    assert named >= 0.9 * draws
    assert right == named


@pytest.mark.parametrize("repetitions", [3, 6, 10])
@pytest.mark.parametrize("share", [0.02, 0.1])
def test_the_best_number_is_among_those_that_are_named(repetitions: int, share: float) -> None:
    draws, right = 200, 0
    for draw in range(draws):
        law: Law = lambda n: (0.97 if n == 16 else 1.0) / min(n, 8)  # noqa: E731
        found = curve(made(law, EIGHT[:7], share, repetitions, f"best {share} {draw}"))
        right += found.best == 16 or 16 in found.best_alike
    assert right / draws >= least(0.95, draws)


def test_one_repetition_names_nothing() -> None:
    found = curve(made(amdahl(0.1), EIGHT, 0.01, 1, "one"))
    assert (found.fit, found.best, found.knee) == (None, None, None)
    assert found.points[-1].speedup.coverage == 0.0
    assert "one repetition" in found.law_says


def test_a_base_that_is_not_the_smallest() -> None:
    times = [(n, [100 / n] * 6) for n in (1, 2, 4, 8)]
    request = CurveRequest(StudyKind.STRONG, "ranks", 4, "run", {})
    found = curve_of(request, [SizedMetric(n, f"p{n}", summary(own)) for n, own in times])
    assert isinstance(found, ScalingCurve)
    assert [point.speedup.value for point in found.points] == [0.25, 0.5, 1.0, 2.0]
    assert [point.efficiency.value for point in found.points] == [1.0] * 4


@pytest.mark.parametrize(
    ("kind", "rates", "speedups"),
    [(StudyKind.STRONG, [10, 15], [1.0, 1.5]), (StudyKind.WEAK, [10, 15], [1.0, 1.5])],
)
def test_rates_are_those_of_all_ranks(
    kind: StudyKind, rates: list[float], speedups: list[float]
) -> None:
    measured = [
        SizedMetric(n, f"p{n}", summary([rate] * 6, Better.HIGHER, "B/s"))
        for n, rate in zip((1, 2), map(float, rates), strict=True)
    ]
    found = curve_of(CurveRequest(kind, "ranks", 1, "run", {}), measured)
    assert isinstance(found, ScalingCurve)
    assert [point.speedup.value for point in found.points] == speedups
    assert found.points[1].efficiency.value == 0.75


@pytest.mark.parametrize(
    ("kind", "works", "fault"),
    [
        (StudyKind.STRONG, (64.0, 62.0), ""),
        (
            StudyKind.STRONG,
            (64.0, 128.0),
            "this is no strong scaling: the work at ranks 2 is 2 times that at 1, and should be "
            "1 times",
        ),
        (StudyKind.WEAK, (64.0, 128.0), ""),
        (
            StudyKind.WEAK,
            (64.0, 64.0),
            "this is no weak scaling: the work at ranks 2 is 1 times that at 1, and should be "
            "2 times",
        ),
    ],
)
def test_work_that_contradicts_the_kind_is_said(
    kind: StudyKind, works: tuple[float, float], fault: str
) -> None:
    measured = [
        SizedMetric(n, f"p{n}", summary([60.0 / n] * 6), work)
        for n, work in zip((1, 2), works, strict=True)
    ]
    found = curve_of(CurveRequest(kind, "ranks", 1, "run", {}), measured)
    assert isinstance(found, ScalingCurve)
    assert found.work_says == fault
    assert (found.best is None) is bool(fault)
    for says in (found.law_says, found.best_says, found.knee_says):
        assert ("the work contradicts" in says) is bool(fault)


@pytest.mark.parametrize(
    ("sizes", "better", "unit", "value", "said"),
    [
        ((2, 4), Better.LOWER, "s", 1.0, "the base, ranks 1, has no value"),
        ((1,), Better.LOWER, "s", 1.0, "ranks 1 alone has values"),
        ((1, 2, 2), Better.LOWER, "s", 1.0, "several points have ranks 2"),
        ((1, 2), Better.NONE, "B", 1.0, "neither a time nor a rate"),
        ((1, 2), Better.LOWER, "s", 0.0, "a value of 0 has no ratio"),
    ],
)
def test_why_there_is_no_curve(
    sizes: tuple[int, ...], better: Better, unit: str, value: float, said: str
) -> None:
    measured = [SizedMetric(n, f"p{n}", summary([value] * 6, better, unit)) for n in sizes]
    found = curve_of(CurveRequest(StudyKind.STRONG, "ranks", 1, "run", {}), measured)
    assert isinstance(found, str)
    assert said in found
