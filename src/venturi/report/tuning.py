"""The page of a tuning: the ranking of gains, what to change, and how it was measured."""

from __future__ import annotations

import statistics

from venturi.model.tuning import Durability, Effect, Trial, Tuning
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Code,
    Column,
    Facts,
    Headline,
    Note,
    Notes,
    Page,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import gain
from venturi.report.quantity import Units
from venturi.report.tuning_text import effect_text, ratio_text

_TONES: dict[Effect, Tone] = {
    Effect.HELPS: "good",
    Effect.NO_GAIN: "plain",
    Effect.HARMS: "bad",
    Effect.UNJUDGED: "fair",
}
_SOURCES = {
    "capture": "as the capture saw it",
    "workload": "from the workload's own steps",
    "unknown": "not known, so nothing is said of the whole run",
}


def page_of(tuning: Tuning, units: Units) -> Page:
    """The whole page."""
    del units
    sections = (_gains(tuning), _advice(tuning), _causes(tuning), _others(tuning), _making(tuning))
    chapter = Chapter(
        name="tuning",
        title=tuning.name,
        about=tuning.headline,
        headlines=_headlines(tuning),
        remarks=tuple(Paragraph(f"{remark}.", "fair") for remark in _remarks(tuning)),
        sections=tuple(section for section in sections if section is not None),
        facts=f"{quantity.counted(tuning.ranks, 'rank')} · {tuning.file_system.type} · "
        f"{tuning.host} · {tuning.started[:16].replace('T', ' ')}",
    )
    title = f"What would make {tuning.name} faster"
    return Page(title, tuning.headline, (chapter,), None, f"Venturi {tuning.venturi}")


def _remarks(tuning: Tuning) -> list[str]:
    ended = ["Interrupted: this is what was measured till then"] if tuning.interrupted else []
    return [*ended, *(remark[:1].upper() + remark[1:] for remark in tuning.remarks)]


def _headlines(tuning: Tuning) -> tuple[Headline, ...]:
    base = Headline(
        "I/O as it is",
        quantity.seconds(statistics.median(tuning.base_s)) if tuning.base_s else "unknown",
        f"median of {quantity.counted(len(tuning.base_s), 'run')}, "
        f"{quantity.seconds(min(tuning.base_s))} to {quantity.seconds(max(tuning.base_s))}"
        if tuning.base_s
        else "",
    )
    helps = [trial for trial in tuning.trials if trial.effect is Effect.HELPS and trial.gain]
    return (base, *(_headline(trial) for trial in helps[:3]))


def _headline(trial: Trial) -> Headline:
    assert trial.gain is not None
    whole = ""
    if trial.whole is not None and trial.whole.before_s > 0:
        share = trial.whole.after_s / trial.whole.before_s
        whole = f"; the whole run {ratio_text(share)}"
    weak = trial.meaning.durability is Durability.WEAKER
    return Headline(
        trial.name,
        ratio_text(trial.gain.ratio),
        f"of the I/O time, {quantity.seconds(trial.gain.changed_s)}{whole}",
        "persists less" if weak else "",
    )


def _gains(tuning: Tuning) -> Section | None:
    figure = gain.figure(tuning.trials, _finding(tuning))
    if figure is None:
        return None
    return Section("gains", "The ranking", "", (figure,))


def _finding(tuning: Tuning) -> str:
    """How many changes were tried, judged and found good."""
    judged = [trial for trial in tuning.trials if trial.gain is not None]
    helps = sum(trial.effect is Effect.HELPS for trial in judged)
    tried = sum(bool(trial.pairs) for trial in tuning.trials)
    return (
        f"{quantity.counted(tried, 'change')} measured, {len(judged)} of them afresh: "
        f"{helps or 'none'} of these {'helps' if helps == 1 else 'help'}."
    )


def _advice(tuning: Tuning) -> Section | None:
    judged = [trial for trial in tuning.trials if trial.gain is not None]
    if not judged:
        return None
    notes = tuple(
        Note(
            effect_text(trial),
            _TONES[trial.effect],
            f"{trial.name}: {trial.what}",
            (
                ("Do" if trial.effect is Effect.HELPS else "Was changed", trial.advice),
                ("Takes for granted", trial.meaning.assumes),
            ),
        )
        for trial in judged
    )
    blocks: list[Block] = [Notes(notes)]
    best = judged[0]
    if best.effect is Effect.HELPS:
        blocks.append(Code(f"The workload with {best.name}", best.workload_text, folded=True))
    title = "What to change" if best.effect is Effect.HELPS else "What was tried"
    return Section("advice", title, "Changes that were measured afresh.", tuple(blocks))


def _causes(tuning: Tuning) -> Section | None:
    if not tuning.causes:
        return None
    notes = tuple(
        Note(
            cause.finding,
            "plain",
            cause.what,
            (
                ("Evidence", cause.evidence),
                ("Costs here", cause.says),
                ("Do", cause.advice),
                ("Measured as", ", ".join(cause.answers)),
            ),
        )
        for cause in tuning.causes
    )
    about = "What looks bad in the capture, also where mending it gains nothing here."
    return Section("causes", "What the capture shows", about, (Notes(notes),))


def _others(tuning: Tuning) -> Section | None:
    rows = [(trial.name, "failed", trial.failure) for trial in tuning.trials if trial.failure]
    rows += [
        (trial.name, "no time", "the budget was spent")
        for trial in tuning.trials
        if not trial.failure and not trial.pairs
    ]
    rows += [(skipped.name, "does not apply", skipped.why) for skipped in tuning.skipped]
    rows += [("–", "cannot be said", text) for text in tuning.left_out]
    if not rows:
        return None
    columns = (Column("Change"), Column("State"), Column("Because"))
    table = TableBlock("Changes that were not measured", columns, tuple(rows), folded=True)
    return Section("others", "What was not measured", "", (table,))


def _making(tuning: Tuning) -> Section:
    computing = tuning.computing
    facts = Facts(
        (
            ("Rule", tuning.rule),
            ("I/O time", "the slowest rank's time inside I/O calls; start-up and computing apart"),
            ("Pairs", "each run with a change beside one without, in ABBA blocks in the final"),
            (
                "Interval",
                "also holds the ratio of first repetitions, since an application does its "
                "work once, and files that the workload leaves out",
            ),
            (
                "Computing",
                f"{quantity.seconds(computing.seconds)}, {_SOURCES[computing.source]}"
                if computing.source != "unknown"
                else _SOURCES["unknown"],
            ),
            (
                "Runs",
                f"{tuning.runs} in {quantity.seconds(tuning.spent_s)} of "
                f"{quantity.seconds(tuning.budget_s)}",
            ),
            (
                "Directory",
                f"{tuning.directory} ({tuning.file_system.type}, {tuning.file_system.source})",
            ),
            ("Seed", str(tuning.seed)),
            ("Command", " ".join(tuning.command)),
        )
    )
    text = Code("The workload as it is", tuning.workload_text, folded=True)
    return Section("making", "How it was measured", "", (facts, text))
