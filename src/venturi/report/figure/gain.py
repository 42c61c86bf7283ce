"""The ranking of gains: I/O time with each change relative to that without, with intervals."""

from __future__ import annotations

from typing import Any

from venturi.model.tuning import Durability, Effect, Trial
from venturi.report import quantity
from venturi.report.block import Column, Figure, TableBlock
from venturi.report.figure import marks, theme
from venturi.report.palette import BLUE, GREEN, MUTED, SHADE, VERMILLION

_VALUE_PX = 190
_MOST_ROWS = 24
_MARKS = {
    "helps": (GREEN, "circle"),
    "no gain": (MUTED, "square"),
    "harms": (VERMILLION, "triangle-up"),
    "too few pairs": (BLUE, "diamond"),
    "looked at only": (SHADE, "circle"),
}
_WORDS = {
    Effect.HELPS: "helps",
    Effect.NO_GAIN: "no gain",
    Effect.HARMS: "harms",
    Effect.UNJUDGED: "too few pairs",
}


def _rows(trials: list[Trial]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Marks with their intervals, and the single pairs behind them."""
    rows, dots = [], []
    for row, trial in enumerate(trials):
        gain = trial.gain
        ratio = gain.ratio if gain is not None else trial.measured_ratio
        assert ratio is not None
        final = [
            pair for pair in trial.pairs if (pair.stage.value == "final") == (gain is not None)
        ]
        dots += [{"y": row, "x": pair.ratio} for pair in final if pair.ratio > 0]
        rows.append(
            {
                "y": row,
                "x": ratio,
                "low": gain.low if gain is not None else ratio,
                "high": gain.high if gain is not None else ratio,
                "name": theme.shortened(trial.name),
                "word": _WORDS[trial.effect] if gain is not None else "looked at only",
                "text": f"{quantity.number(ratio)} x"
                + (" *" if trial.meaning.durability is Durability.WEAKER else ""),
            }
        )
    return rows, dots


def _spec(trials: list[Trial]) -> dict[str, Any]:
    rows, dots = _rows(trials)
    values = [row[key] for row in rows for key in ("low", "high", "x")] + [d["x"] for d in dots]
    domain = marks.domain_of(values, 0.8, 1.25)
    title = "I/O time relative to the workload as it is"
    return marks.spec(rows, dots, _MARKS, domain, title, _VALUE_PX)


def table(trials: list[Trial]) -> TableBlock:
    """Every change with its figures."""
    titles = (
        "Change",
        "What",
        "I/O time",
        "Interval",
        "Pairs",
        "Before",
        "After",
        "Whole run",
        "Persistence",
    )
    rows = tuple(_cells(trial) for trial in trials)
    columns = tuple(Column(title, 1 < i < 8) for i, title in enumerate(titles))
    return TableBlock("All changes that were measured", columns, rows, folded=True)


def _cells(trial: Trial) -> tuple[str, ...]:
    gain, whole = trial.gain, trial.whole
    ratio = gain.ratio if gain is not None else trial.measured_ratio
    last = f"{quantity.seconds(whole.after_s)}" if whole is not None else "unknown"
    return (
        trial.name,
        trial.what,
        "–" if ratio is None else f"{quantity.number(ratio)} x",
        "looked at only"
        if gain is None
        else f"{quantity.number(gain.low)} to {quantity.number(gain.high)}",
        str(gain.pairs if gain is not None else len(trial.pairs)),
        "–" if gain is None else quantity.seconds(gain.base_s),
        "–" if gain is None else quantity.seconds(gain.changed_s),
        "–" if gain is None else last,
        trial.meaning.durability.value,
    )


def _how(shown: list[Trial]) -> str:
    """Return what marks and lines stand for, and how what they show was measured."""
    afresh = [trial for trial in shown if trial.gain is not None]
    if not afresh:
        return (
            "Marks are medians, thin strokes single pairs. All changes were looked at only to "
            "choose, and a lucky one among them says nothing."
        )
    text = "Marks are medians, thick lines intervals, thin strokes single pairs. "
    if len(afresh) == len(shown):
        return f"{text}All changes were measured afresh after they were chosen."
    return (
        f"{text}Changes with an interval were measured afresh; the others were looked at only to "
        "choose, and a lucky one among them says nothing."
    )


def figure(trials: list[Trial], finding: str) -> Figure | None:
    """The picture; none where nothing was measured."""
    measured = [t for t in trials if t.gain is not None or t.measured_ratio]
    shown = [t for t in measured if (t.gain.ratio if t.gain else t.measured_ratio or 0) > 0]
    if not shown:
        return None
    shown = shown[:_MOST_ROWS]
    weak = any(trial.meaning.durability is Durability.WEAKER for trial in shown)
    return Figure(
        name="gain",
        title="What each change gains",
        finding=finding,
        reading=(
            f"Left of the dashed line a change is faster. {_how(shown)}"
            + (" A star: persists less than the workload as it is." if weak else "")
        ),
        spec=theme.whole(_spec(shown)),
        table=table(measured),
    )
