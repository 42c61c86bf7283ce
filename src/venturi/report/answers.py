"""A page of several documents: each answers a question in brief and leads to its whole page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from venturi.model.characterization import Characterization
from venturi.model.characterization_data import CharacterizationData
from venturi.model.document import Document
from venturi.model.prediction import Prediction
from venturi.model.record import Record
from venturi.model.review import Io500Review
from venturi.model.tuning import Trial, Tuning
from venturi.model.workload import Severity
from venturi.report import page, quantity, service
from venturi.report.block import Block, Cell, Chapter, Code, Facts, Page, Section
from venturi.report.figure import rate
from venturi.report.phase import phases
from venturi.report.quantity import Units

_MOST_RATES = 3
_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class AnsweringDocument:
    """A document, and where more of it is."""

    document: Document
    address: str = ""
    """Of its whole page, as the page of answers leads there; empty: it is nowhere."""
    review: Io500Review | None = None
    """Of a run of io500."""


@dataclass(frozen=True)
class _Brief:
    """What this page has of a kind of document."""

    question: Callable[[Any], str]
    sections: tuple[str, ...]
    """By their names on the document's own page."""
    typed: Callable[[Any], Sequence[str]]
    """The command line that made it; empty: it is not known."""


_BRIEFS: Final[dict[type[Document], _Brief]] = {
    Characterization: _Brief(
        lambda found: f"What does {found.activity.name} do to storage?",
        ("did", "findings"),
        lambda found: _captured(found.activity),
    ),
    Prediction: _Brief(
        lambda found: f"How long will the I/O of {found.name} take on {_system(found)}?",
        ("runs",),
        lambda found: found.typed,
    ),
    Tuning: _Brief(
        lambda found: f"What would make {found.name} faster?",
        ("gains", "advice"),
        lambda found: found.command,
    ),
    Record: _Brief(
        lambda found: (
            f"How long does {found.name} take?"
            if found.commands
            else f"How good is this storage, by {found.name}?"
        ),
        ("rates",),
        lambda found: found.command,
    ),
}


def page_of_answers(
    answers: Sequence[AnsweringDocument], page_of: Callable[[Document, Units], Page], units: Units
) -> Page:
    """The page with a chapter for each document, in their order.

    `page_of` lays out the whole page of a document that is not the record of a run.
    """
    built = [
        _of_run(answer, units)
        if isinstance(answer.document, Record)
        else _of_document(answer.document, page_of(answer.document, units))
        for answer in answers
    ]
    promised = _promised([answer.document for answer in answers])
    chapters = []
    for at, (answer, one) in enumerate(zip(answers, built, strict=True), 1):
        chapter = _chapter(answer, one, f"part-{at}")
        if isinstance(answer.document, Prediction):
            chapter = _with_times(answer.document, promised, chapter)
        chapters.append(replace(chapter, answer=chapter.about))
    names = [
        one.document.activity.name for one in answers if isinstance(one.document, Characterization)
    ]
    return Page(
        title=f"{names[0]}: what was measured" if names else "What was measured",
        lead="Each part answers a question, and says which command measured the answer.",
        chapters=tuple(chapters),
    )


def _promised(documents: Sequence[Document]) -> dict[str, Trial]:
    """The changes that tunings judged, by the workload with each."""
    trials = [trial for one in documents if isinstance(one, Tuning) for trial in one.trials]
    return {trial.workload_text: trial for trial in trials if trial.gain is not None}


def _with_times(found: Prediction, promised: Mapping[str, Trial], chapter: Chapter) -> Chapter:
    """The chapter of a prediction with its times, and, of a changed workload, what was promised."""
    program, proxy = (quantity.seconds(one.seconds) for one in (found.application, found.proxy))
    trial = promised.get(found.workload_text)
    if trial is None or trial.gain is None:
        about = f"{proxy}, says its proxy; the program itself, run in turn there, took {program}."
        return replace(chapter, about=f"{about} {found.headline}")
    gain = trial.gain
    low, high = (quantity.seconds(ratio * gain.base_s) for ratio in (gain.low, gain.high))
    about = (
        f"Promised were {quantity.seconds(gain.changed_s)} of I/O ({low} to {high}) in place of "
        f"{quantity.seconds(gain.base_s)}. The program that was mended so takes {program}; the "
        f"changed proxy, run in turn with it, {proxy}."
    )
    return replace(
        chapter, title=f"Does the mended program keep the promise of {trial.name}?", about=about
    )


def _system(found: Prediction) -> str:
    """A file system, and what a reader may not know of it."""
    name = found.place.file_system
    return f"{name}, which is memory" if name in _MEMORY else name


def _of_document(document: Document, whole: Page) -> Chapter:
    """The chapter of a document's own page, with the sentence that stands above it."""
    about = whole.lead
    if isinstance(document, Characterization):
        worst = document.findings[:1]
        about += "".join(f" {one.what}" for one in worst if one.severity is not Severity.NOTE)
    return replace(whole.chapters[0], about=about)


def _of_run(answer: AnsweringDocument, units: Units) -> Chapter:
    """The chapter of a run: its first numbers in a sentence, and the rates of its phases."""
    record = answer.document
    assert isinstance(record, Record)
    whole = page.chapter(record, units, "run", record.name, answer.review)
    return replace(whole, about=_sentence(whole), sections=(_rates(record, units),))


def _sentence(whole: Chapter) -> str:
    """The first numbers of a run; a label that all of them have is said once."""
    first = whole.headlines[:_MOST_RATES]
    labels = {one.name.partition(" (")[2].removesuffix(")") for one in first}
    alike = f" ({labels.pop()})" if len(labels) == 1 and "" not in labels else ""
    numbers = [f"{one.name.removesuffix(alike)} {one.value}" for one in first]
    return f"{', '.join(numbers)}{alike}: {whole.level}." if numbers else whole.withheld


def _chapter(answer: AnsweringDocument, whole: Chapter, name: str) -> Chapter:
    """What this page has of a chapter: under a question, and with where there is more."""
    brief = _BRIEFS.get(type(answer.document))
    if brief is None:
        sections = (*whole.sections[:1], *_more(answer.address, ()))
        return replace(whole, name=name, sections=sections)
    kept = (one for one in whole.sections if one.name in brief.sections)
    sections = (*kept, *_more(answer.address, brief.typed(answer.document)))
    return replace(whole, name=name, title=brief.question(answer.document), sections=sections)


def _more(address: str, typed: Sequence[str]) -> tuple[Section, ...]:
    """Where the whole of it is, and how to measure it again."""
    blocks: list[Block] = []
    if address:
        blocks.append(Facts((("The whole page", Cell(address, address)),)))
    if typed:
        blocks.append(Code("The command that made it", shlex.join(typed), "sh"))
    return (Section("more", "More", "", tuple(blocks)),) if blocks else ()


def _captured(found: CharacterizationData) -> tuple[str, ...]:
    """The command that captured it, if it was one of ours and no log of another tool."""
    if not found.command or found.source not in ("venturi", "strace"):
        return ()
    return ("venturi", "capture", "--", *shlex.split(found.command))


def _rates(record: Record, units: Units) -> Section:
    """The rates of a run's phases."""
    found = [phase for phase in phases(record) if not phase.measures_machine]
    drawn = rate.figure(found, units)
    blocks: list[Block] = [service.phase_table(found, units)]
    lead = f"{quantity.counted(record.ranks, 'rank')} in {record.environment.directory}."
    return Section("rates", "Its rates", lead, (*blocks, *([drawn] if drawn else [])))
