"""A tuning on a terminal: what it is doing, and the ranking at its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from venturi.model.tuning import Durability, Effect, Trial, Tuning, TuningStage
from venturi.report import quantity
from venturi.report.one_line import OneLine
from venturi.report.printer import Printer

if TYPE_CHECKING:
    from rich.console import Console

_MOST_SEEN = 8
_TITLES = ("I/O TIME", "INTERVAL", "PAIRS", "RUN", "SAYS")
_WORDS = {
    Effect.HELPS: "helps",
    Effect.NO_GAIN: "no gain",
    Effect.HARMS: "harms",
    Effect.UNJUDGED: "too few pairs",
}
_STYLES = {
    Effect.HELPS: "bold green",
    Effect.NO_GAIN: "",
    Effect.HARMS: "bold red",
    Effect.UNJUDGED: "bold yellow",
}


class TuningProgress(OneLine):
    """One line that says what runs now, of a search with a budget."""

    def __init__(
        self,
        budget_s: float,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, clock)
        self._budget_s = budget_s

    def show_run(self, runs: int, doing: str) -> None:
        """Say that so many runs are done, and what runs now."""
        budget = quantity.seconds(self._budget_s)
        self.show(f" {self.spent} of {budget}   run {runs + 1}   {doing}")


def print_tuning(tuning: Tuning, console: Console, saved: str) -> None:
    """The ranking, what each change asks for, and what to do next with the folder `saved`; empty:
    there is none."""
    out = Printer(console)
    out.line(
        (f" {tuning.name}", "bold"),
        f"   {quantity.counted(tuning.ranks, 'rank')}   {tuning.file_system.type} on "
        f"{tuning.host}   {quantity.counted(tuning.runs, 'run')} in "
        f"{quantity.seconds(tuning.spent_s)}",
    )
    out.line()
    out.wrapped("", tuning.headline)
    out.line()
    judged = [trial for trial in tuning.trials if trial.gain is not None]
    if judged:
        out.table(("CHANGE", *_TITLES), [_row(trial) for trial in judged], left=("SAYS",))
        if any(trial.meaning.durability is Durability.WEAKER for trial in judged):
            out.line("   * persists less than the workload as it is")
        out.line()
    for trial in judged:
        if trial.effect is Effect.HELPS:
            _print_advice(trial, out)
    if tuning.causes:
        out.line(" found in the capture:")
        for cause in tuning.causes:
            do = "" if cause.answers else f" {cause.advice}"
            out.wrapped("   - ", f"{cause.what} {cause.says}{do} ({cause.evidence})")
        out.line()
    _print_others(tuning, out)
    for remark in tuning.remarks:
        out.wrapped("- ", remark)
    if saved:
        out.unbroken(" saved   ", saved)
        out.unbroken(" report  ", f"venturi report {saved}")


def _row(trial: Trial) -> tuple[str, ...]:
    gain = trial.gain
    assert gain is not None
    return (
        trial.name,
        ratio_text(gain.ratio),
        f"{quantity.number(gain.low)} .. {quantity.number(gain.high)}",
        str(gain.pairs),
        whole_text(trial),
        _WORDS[trial.effect] + (" *" if trial.meaning.durability is Durability.WEAKER else ""),
    )


def ratio_text(ratio: float) -> str:
    """A ratio of I/O times: `0.25 x`."""
    return f"{quantity.number(ratio)} x"


def whole_text(trial: Trial) -> str:
    """What a change means for the whole run; a dash where its computing is not known."""
    if trial.whole is None or trial.whole.before_s <= 0:
        return "-"
    return ratio_text(trial.whole.after_s / trial.whole.before_s)


def effect_text(trial: Trial) -> str:
    """What a change does, in a word or two."""
    words = _WORDS[trial.effect]
    if trial.meaning.durability is Durability.WEAKER:
        words += ", persists less"
    return words


def _print_advice(trial: Trial, out: Printer) -> None:
    out.line((f" {trial.name}", _STYLES[trial.effect]), f"   {trial.what}")
    out.wrapped("   do:      ", trial.advice)
    if trial.meaning.durability is Durability.WEAKER:
        out.wrapped("   persists less: ", trial.meaning.assumes)
    elif trial.meaning.assumes:
        out.wrapped("   assumes: ", trial.meaning.assumes)
    out.line()


def _print_others(tuning: Tuning, out: Printer) -> None:
    seen = [t for t in tuning.trials if t.gain is None and t.measured_ratio is not None]
    if seen:
        texts = [f"{t.name} {ratio_text(t.measured_ratio or 0.0)}" for t in seen[:_MOST_SEEN]]
        more = f" and {len(seen) - _MOST_SEEN} more" if len(seen) > _MOST_SEEN else ""
        out.wrapped("looked at, not measured afresh: ", ", ".join(texts) + more)
    failed = [trial for trial in tuning.trials if trial.failure]
    for trial in failed:
        out.wrapped(f"{trial.name} failed: ", trial.failure)
    never = [t.name for t in tuning.trials if t.stage is TuningStage.NONE and not t.failure]
    if never:
        out.wrapped("no time for: ", ", ".join(never))
    if tuning.skipped:
        keys = dict.fromkeys(skipped.name for skipped in tuning.skipped)
        out.wrapped("do not apply (the report says why): ", ", ".join(keys))
    out.line()
