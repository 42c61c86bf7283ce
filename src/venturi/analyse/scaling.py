"""One metric over the number of processors: speed-up, efficiency, law, best number and knee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from venturi.analyse.scaling_choice import best_choice, knee_choice, rises
from venturi.analyse.scaling_law import FEWEST_SIZES, MOST_LONGER, SerialShare, serial_share
from venturi.analyse.scaling_sample import SizeSample, samples_of, weighted_sum
from venturi.model.campaign import MetricSummary
from venturi.model.output import Better
from venturi.model.result import direction_of
from venturi.model.scaling import Law, LawFit, Ratio, ScalingCurve, ScalingPoint, StudyKind
from venturi.model.statistic import ratio_interval
from venturi.model.workload import Scalar

WORK_TOLERANCE = 0.1
"""By this share, work may differ from what the study's kind says: blocks are rounded."""
_LAWS = {StudyKind.STRONG: Law.AMDAHL, StudyKind.WEAK: Law.GUSTAFSON}


@dataclass(frozen=True)
class SizedMetric:
    """What was measured at one number of processors."""

    size: float
    point: str
    metric: MetricSummary
    work: float | None = None
    """Bytes or operations; None: not known."""


@dataclass(frozen=True)
class CurveRequest:
    """What a curve is of."""

    kind: StudyKind
    over: str
    base: float
    step: str
    parameters: dict[str, Scalar]
    """Those beside `over` that vary in the campaign."""


def is_time(metric: MetricSummary) -> bool | None:
    """Whether a metric is a time; False: a rate of all processors; None: neither.

    Who scales a metric that is better low means a time, whatever its unit.
    """
    better = direction_of(metric.unit, metric.better)
    return None if better is Better.NONE else better is Better.LOWER


def curve_of(request: CurveRequest, measured: Sequence[SizedMetric]) -> ScalingCurve | str:
    """The curve of a metric, or why there is none, in words."""
    ordered = sorted(measured, key=lambda one: one.size)
    base = next((one for one in ordered if one.size == request.base), None)
    if base is None:
        return f"the base, {request.over} {request.base:g}, has no value"
    if len(ordered) < 2:
        return f"{request.over} {request.base:g} alone has values"
    sizes = [one.size for one in ordered]
    twice = next((size for size in sizes if sizes.count(size) > 1), None)
    if twice is not None:
        return f"several points have {request.over} {twice:g}, and no parameter tells them apart"
    if is_time(base.metric) is None:
        return "neither a time nor a rate: it says not which way it improves"
    if min(value for one in ordered for value in one.metric.values) <= 0.0:
        return "a value of 0 has no ratio"
    points = [_point(request, one, base) for one in ordered]
    fault = _work_fault(request, ordered, base)
    words = _Words(request, points, _samples(request, ordered, base), bool(fault))
    first = base.metric
    fit, law_says = words.law()
    best, best_alike, best_says = words.best()
    knee, knee_alike, knee_says = words.knee()
    return ScalingCurve(
        step=request.step,
        metric=first.name,
        unit=first.unit,
        of=first.of,
        better=first.better,
        parameters=request.parameters,
        points=points,
        work_says=fault,
        fit=fit,
        law_says=law_says,
        best=best,
        best_alike=best_alike,
        best_says=best_says,
        knee=knee,
        knee_alike=knee_alike,
        knee_says=knee_says,
    )


def _work_fault(request: CurveRequest, measured: Sequence[SizedMetric], base: SizedMetric) -> str:
    """How the work contradicts the study's kind; empty where it does not, or is not known."""
    works = [one.work for one in measured if one.work is not None]
    if len(works) < len(measured) or min(works) <= 0.0 or base.work is None:
        return ""
    grows = request.kind is StudyKind.WEAK
    wanted = [one.size / base.size if grows else 1.0 for one in measured]
    factors = [work / base.work for work in works]
    off = [abs(math.log(own / want)) for own, want in zip(factors, wanted, strict=True)]
    if max(off) <= math.log1p(WORK_TOLERANCE):
        return ""
    far = off.index(max(off))
    return (
        f"this is no {request.kind.value} scaling: the work at {request.over} "
        f"{measured[far].size:g} is {factors[far]:.3g} times that at {base.size:g}, and should be "
        f"{wanted[far]:.3g} times"
    )


def _point(request: CurveRequest, one: SizedMetric, base: SizedMetric) -> ScalingPoint:
    """Speed-up and efficiency; both of the base are 1 by definition."""
    grows = one.size / base.size
    own, first = one.metric.values, base.metric.values
    is_rate = not is_time(base.metric)
    found = ratio_interval(own, first) if is_rate else ratio_interval(first, own)
    ratio = Ratio(value=found.median, low=found.low, high=found.high, coverage=found.coverage)
    if one is base:
        ratio = Ratio(value=1.0, low=1.0, high=1.0, coverage=1.0)
    is_speedup = is_rate or request.kind is StudyKind.STRONG
    return ScalingPoint(
        size=one.size,
        point=one.point,
        runs=len(own),
        median=one.metric.median,
        low=one.metric.low,
        high=one.metric.high,
        work=one.work,
        speedup=ratio if is_speedup else _scaled(ratio, grows),
        efficiency=_scaled(ratio, 1.0 / grows) if is_speedup else ratio,
    )


def _scaled(ratio: Ratio, factor: float) -> Ratio:
    return Ratio(
        value=ratio.value * factor,
        low=ratio.low * factor,
        high=ratio.high * factor,
        coverage=ratio.coverage,
    )


def _samples(
    request: CurveRequest, ordered: Sequence[SizedMetric], base: SizedMetric
) -> list[SizeSample] | None:
    """Logarithms of times; None where a size has one repetition, which shows no spread."""
    if any(len(one.metric.values) < 2 for one in ordered):
        return None
    sizes = [one.size / base.size for one in ordered]
    if is_time(base.metric):
        times = [one.metric.values for one in ordered]
    else:
        grows = request.kind is StudyKind.WEAK
        times = [
            [(size if grows else 1.0) / value for value in one.metric.values]
            for size, one in zip(sizes, ordered, strict=True)
        ]
    return samples_of(sizes, times)


class _Words:
    """What the samples of a curve say, and the sentences for it."""

    def __init__(
        self,
        request: CurveRequest,
        points: Sequence[ScalingPoint],
        samples: Sequence[SizeSample] | None,
        has_fault: bool,
    ) -> None:
        self._request = request
        self._points = points
        self._samples = samples
        self._law = _LAWS[request.kind]
        self._nothing = ""
        """Why nothing is named; empty: it may be."""
        if has_fault:
            self._nothing = "the work contradicts the kind of the study"
        elif samples is None:
            self._nothing = "one repetition shows no spread"

    def law(self) -> tuple[LawFit | None, str]:
        """The fit and its sentence, or why there is none."""
        law = f"{self._law.value}'s law"
        if reason := self._why_no_fit():
            return None, f"{law} is not fitted: {reason}."
        assert self._samples is not None
        if self._above_ideal() is not None:
            at = self._points[self._above_ideal() or 0]
            return None, (
                f"{law} does not hold: at {self._at(at.size)} the efficiency is "
                f"{_ratio(at.efficiency)}, above 1 (data of a processor that fit into its cache "
                "do that)."
            )
        share = serial_share(self._law, self._samples)
        if share is None:
            return None, (
                f"{law} is not fitted: no serial share agrees with four numbers of "
                f"{self._request.over} or more, or the times vary too much to tell which."
            )
        fit = self._fit(share)
        return fit, f"{law} {self._agreement(fit)}"

    def _why_no_fit(self) -> str:
        if self._nothing or self._samples is None:
            return self._nothing
        if len(self._points) < FEWEST_SIZES:
            return (
                f"{len(self._points)} numbers of {self._request.over} are too few, as it comes "
                f"close to any three times; at least {FEWEST_SIZES} are needed"
            )
        if not rises(self._request.kind, self._samples):
            return f"no speed-up can be told from 1 at any number of {self._request.over}"
        return ""

    def _above_ideal(self) -> int | None:
        """The point that is most significantly above the ideal line through the smallest one."""
        assert self._samples is not None
        samples, grows = self._samples, self._request.kind is StudyKind.WEAK
        worst, found = 0.0, None
        for index, one in enumerate(samples[1:], 1):
            pair = [samples[0], one]
            ideal = 0.0 if grows else math.log(one.size / samples[0].size)
            gain = samples[0].log_time - one.log_time - ideal
            difference = weighted_sum([gain, 0.0], pair, [1.0, -1.0])
            over = gain / difference.limit(len(samples) - 1)
            if over > max(worst, 1.0):
                worst, found = over, index
        return found

    def _fit(self, share: SerialShare) -> LawFit:
        points = self._points
        stops = share.points < len(points)
        excess = None
        if share.excess is not None:
            middle, reach = share.excess.value, share.excess.limit()
            excess = Ratio(
                value=math.exp(middle),
                low=math.exp(middle - reach),
                high=math.exp(middle + reach),
                coverage=0.95,
            )
        return LawFit(
            law=self._law,
            serial=share.value,
            serial_low=share.low,
            serial_high=share.high,
            first=points[0].size,
            last=points[share.points - 1].size,
            points=share.points,
            stops_at=points[share.points].size if stops else None,
            contradiction=share.contradiction,
            excess=excess,
        )

    def _agreement(self, fit: LawFit) -> str:
        share = (
            f"a serial share of {_percent(fit.serial)} (95 % confidence interval "
            f"{_percent(fit.serial_low)} to {_percent(fit.serial_high)})"
        )
        text = f"agrees with the times from {self._at(fit.first)} to {fit.last:g}, with {share}"
        if fit.stops_at is None or fit.excess is None:
            return f"{text}. {self._contradiction(fit)}"
        return (
            f"{text}. It does not fit from {fit.stops_at:g} on: the time there is "
            f"{_ratio(fit.excess)} times what the law says."
        )

    def _contradiction(self, fit: LawFit) -> str:
        """How much the times would show."""
        if fit.contradiction is None:
            longer = f"{MOST_LONGER:g} times the time at {fit.last:g}"
            return f"That says little: {longer} would agree, too."
        return f"A time at {fit.last:g} that is {fit.contradiction:.2f} times as long would not."

    def best(self) -> tuple[float | None, list[float], str]:
        """The best number, those that cannot be told from it, and the sentence."""
        if self._nothing or self._samples is None:
            return None, [], f"The best number is not named: {self._nothing}."
        choice = best_choice(self._request.kind, self._samples)
        point = self._points[choice.index]
        alike = [self._points[index].size for index in choice.alike]
        text = f"The largest speed-up, {_ratio(point.speedup)}, is at {self._at(point.size)}"
        if not alike:
            return point.size, alike, f"{text}; all others are significantly lower."
        if len(alike) == len(self._points) - 1:
            return point.size, alike, f"{text}, but cannot be told from any other."
        least = min(*alike, point.size)
        hint = "" if least == point.size else f", and {least:g} is the smallest of these"
        return point.size, alike, f"{text}; not told apart from {_list(alike)}{hint}."

    def knee(self) -> tuple[float | None, list[float], str]:
        """The knee, what cannot be told from it, and the sentence."""
        points = self._points
        reach = f"from {self._at(points[0].size)} to {points[-1].size:g}"
        if self._nothing or self._samples is None:
            return None, [], f"The knee is not named: {self._nothing}."
        choice = knee_choice(self._request.kind, self._samples)
        if choice is None:
            why = (
                f"There is no knee {reach}: nowhere between is the product of speed-up and "
                "efficiency significantly larger than at both ends."
            )
            return None, [], why
        size = points[choice.index].size
        alike = [points[index].size for index in choice.alike]
        others = f"; not told apart from {_list(alike)}" if alike else ""
        text = (
            f"The knee is at {self._at(size)}, where the product of speed-up and efficiency is "
            f"largest{others}; beyond it, more {self._request.over} cost more than they bring."
        )
        return size, alike, text

    def _at(self, size: float) -> str:
        return f"{self._request.over} {size:g}"


def _list(sizes: Sequence[float]) -> str:
    *first, last = (f"{size:g}" for size in sizes)
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _ratio(ratio: Ratio) -> str:
    """A ratio with its interval: `1.82 (1.61 to 2.05)`."""
    if ratio.low == ratio.high:
        return f"{ratio.value:.3g}"
    return f"{ratio.value:.3g} ({ratio.low:.3g} to {ratio.high:.3g})"
