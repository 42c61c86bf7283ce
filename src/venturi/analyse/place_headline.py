"""Which of two directories is faster, by the metrics that differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from venturi.model.comparison import ComparisonRow, MetricChange, faster_side, times_faster

_MUCH = 1.0
"""Changes, as shares, that are told as factors when they are larger."""
_MOST_TOLD = 100.0


def place_headline(
    rows: Sequence[ComparisonRow], names: tuple[str, str], labels: Mapping[str, str]
) -> str:
    """What a reader must know first: which place is faster, in how many metrics, and how much.

    `labels` belong to the names of metrics.
    """
    won = [[row for row in rows if faster_side(row) == side] for side in (0, 1)]
    parts = [
        f"{name} is faster in {len(own)} of {len(rows)} metrics{_most(own, labels)}"
        for name, own in zip(names, won, strict=True)
        if own
    ]
    if parts:
        return "; ".join(parts) + "."
    return _neither(rows)


def _most(rows: Sequence[ComparisonRow], labels: Mapping[str, str]) -> str:
    """The metric in which a place is most ahead."""
    known = [(times, row) for row in rows if (times := times_faster(row)) is not None]
    if not known:
        return ""
    times, row = max(known, key=lambda pair: pair[0][0])
    label = f", {labels[row.name]}" if row.name in labels else ""
    return f", most in {row.name} ({times[0]:.3g} times as fast{label})"


def _neither(rows: Sequence[ComparisonRow]) -> str:
    """Why no place is faster, and what would have been found."""
    judged = [row for row in rows if row.p_adjusted is not None]
    if not judged:
        alike = [row for row in rows if row.change is not MetricChange.UNLIKE]
        if not alike:
            return "Not decided: no metric was measured alike in both places."
        few = f"{alike[0].first.n} and {alike[0].second.n}"
        return f"Not decided: {few} runs are too few for any verdict; four in each place can do."
    apart = [row for row in rows if row.change is MetricChange.APART]
    if apart:
        said = " and ".join(row.name for row in apart[:2])
        return (
            f"Not decided: all values of {said} differ one way, but with {judged[0].first.n} and "
            f"{judged[0].second.n} runs this is not significant. Repeat more often."
        )
    small = [row for row in judged if row.change is MetricChange.SMALL]
    told = "by 5 % or more" if small else "significantly"
    none = f"none of the {len(judged)} metrics differs" if len(judged) > 1 else "they do not differ"
    could = _detectable([row.detectable for row in judged if row.detectable])
    return f"Neither place is faster: {none} {told}{could}."


def _detectable(changes: Sequence[float]) -> str:
    """What would have been found, from the steadiest metric to the one that varies most."""
    if not changes:
        return ""
    least, most = min(changes), max(changes)
    if most <= _MUCH:
        return f"; this comparison could have detected changes of at least {100 * most:.0f} %"
    factor = min(1 + most, _MOST_TOLD)
    best = f" (in the steadiest metric, of {1 + least:.2g})" if least < most else ""
    return f"; the runs vary so much that a factor of {factor:.0f} could have been missed{best}"
