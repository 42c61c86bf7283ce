"""One workload in two directories: runs in turn, each with its record, then one comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from venturi.analyse.label import IN_MEMORY
from venturi.analyse.paired import interleaved
from venturi.analyse.place_headline import place_headline
from venturi.analyse.set_comparison import compared_sets
from venturi.execute.stopping import Stopping
from venturi.model.comparison import ComparisonSet, RunsInTurn
from venturi.model.error import RunFailed, TargetProblem, UserError, VenturiError
from venturi.model.machine import Machine
from venturi.model.record import Level, Record
from venturi.model.result import Result, RunOf
from venturi.model.workload import Workload
from venturi.plan.setting import RunSettings
from venturi.store.background import BackgroundReader
from venturi.store.place import new_id
from venturi.store.result import result_of
from venturi.store.run import Request, perform, prepare

Say = Callable[[str], None]
ROUNDS = 6
"""Runs in each directory where nobody says how many."""
_LETTERS = "AB"
_IN_A_WORD = 4
"""Letters of an order that stand together: a round there, a round back."""


@dataclass(frozen=True)
class PlacesRequest:
    """What runs, in which two directories, and how often in each."""

    workload: Workload
    workload_text: str
    settings: RunSettings
    machine: Machine
    directories: tuple[Path, Path]
    store: Path
    command: list[str]
    rounds: int
    backgrounds: tuple[BackgroundReader | None, BackgroundReader | None] = (None, None)
    """What was felt on the file system of each directory meanwhile."""


@dataclass
class _Progress:
    """What ran so far."""

    records: list[Record]
    order: str = ""
    ended: str = ""
    interrupted: bool = False


@dataclass
class _Comparable:
    """The results of both places as they are compared."""

    first: Sequence[Result]
    second: Sequence[Result]
    labels: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def compare_places(request: PlacesRequest, say: Say) -> ComparisonSet:
    """Run the workload in both directories in turn, and compare them metric by metric.

    Every run is an ordinary record of the store. Both directories are checked before anything
    runs: UserError or TargetProblem, and nothing is left. A Ctrl-C or a run that fails ends it,
    and what was measured by then is compared: RunFailed or KeyboardInterrupt where that is not
    enough.
    """
    session = new_id(request.workload.name)
    for side in (0, 1):
        _check(_run_request(request, side, session, 1))
    progress = _Progress([])
    stopping = Stopping()
    with stopping.listening():
        _measure(request, session, stopping, progress, say)
    return _compared(request, session, progress, say)


def _check(wanted: Request) -> None:
    """Raise UserError or TargetProblem where a run cannot start."""
    try:
        prepare(wanted).journal.discard()
    except TargetProblem as problem:
        problem.hint = problem.hint.replace(" with -d DIR", "")
        raise


def _measure(
    request: PlacesRequest, session: str, stopping: Stopping, progress: _Progress, say: Say
) -> None:
    """Do the runs in turn, until all are done, one fails, or the user ends it."""
    order = interleaved(request.rounds)
    for number, side in enumerate(order):
        if stopping.asked:
            progress.interrupted = True
            break
        where = request.directories[side]
        say(f"run {number + 1} of {len(order)}: {where}")
        wanted = _run_request(request, side, session, number // 2 + 1)
        try:
            record = perform(prepare(wanted), lambda event: None)
        except KeyboardInterrupt:
            progress.interrupted = True
            break
        except VenturiError as error:
            if stopping.asked:
                progress.interrupted = True
            else:
                progress.ended = f"run {number + 1} in {where} failed: {error.message}"
            break
        progress.records.append(record)
        progress.order += _LETTERS[side]
        if record.interrupted:
            progress.interrupted = True
            break
        if record.failure is not None:
            progress.ended = f"run {number + 1} in {where} failed: {record.failure}"
            break
    if progress.interrupted:
        count = len(progress.records)
        progress.ended = f"interrupted after {count} of {len(order)} runs"


def _run_request(request: PlacesRequest, side: int, session: str, repetition: int) -> Request:
    """One run of one repetition in one of the directories."""
    directory = request.directories[side]
    return Request(
        workload=request.workload,
        workload_text=request.workload_text,
        settings=replace(request.settings, repetitions=1),
        machine=request.machine,
        directory=directory,
        store=request.store,
        command=request.command,
        background=request.backgrounds[side],
        run_of=RunOf(
            session=session,
            campaign="",
            step="",
            point=_LETTERS[side],  # results are shared with their point, and paths are private
            repetition=repetition,
            parameters={},
        ),
    )


def _compared(request: PlacesRequest, session: str, progress: _Progress, say: Say) -> ComparisonSet:
    """The comparison of what is whole; KeyboardInterrupt or RunFailed where a side has nothing."""
    names = (str(request.directories[0]), str(request.directories[1]))
    whole = [
        (letter, record)
        for letter, record in zip(progress.order, progress.records, strict=True)
        if not record.interrupted and record.verdict.level is not Level.INVALID
    ]
    sides = [[result_of(record) for own, record in whole if own == letter] for letter in _LETTERS]
    hint = f"what was measured is kept: venturi results ls session:{session}"
    if not all(sides):
        if progress.interrupted:
            say(f"{progress.ended}; {hint}")
            raise KeyboardInterrupt
        raise RunFailed(progress.ended or _why_none(progress.records), hint)
    comparable = _with_memory(sides[0], sides[1], names)
    try:
        found = compared_sets(comparable.first, comparable.second, names)
    except UserError as error:
        raise RunFailed(error.message, hint) from None
    in_turn = RunsInTurn(
        workload=request.workload.name,
        session=session,
        order=_in_words(progress.order),
        runs=[record.id for record in progress.records],
        one_file_system=_device(request.directories[0]) == _device(request.directories[1]),
        labels=comparable.labels,
        remarks=_about_one(request.directories) + comparable.remarks,
        ended=progress.ended,
        interrupted=progress.interrupted,
    )
    [part] = found.parts  # one workload with the same parameters is one point
    headline = place_headline(part.rows, names, comparable.labels)
    part = part.model_copy(update={"headline": headline})
    return found.model_copy(update={"headline": headline, "in_turn": in_turn, "parts": [part]})


def _why_none(records: Sequence[Record]) -> str:
    """Why no run of a side can be compared, by the last one that is INVALID."""
    last = next((r for r in reversed(records) if r.verdict.level is Level.INVALID), records[-1])
    why = last.verdict.reasons[0] if last.verdict.reasons else "it has no metrics"
    return f"the runs in {last.environment.directory} are INVALID: {why}"


def _with_memory(
    first: Sequence[Result], second: Sequence[Result], names: tuple[str, str]
) -> _Comparable:
    """The results, comparable where a place is memory.

    A label says how a number was made, and numbers that were made in another way are not
    compared. That files are in memory only is no such thing here: it is what the place is. How the
    numbers of the other place were made stays with them.
    """
    sides = (first, second)
    conditions = [_conditions(side) for side in sides]
    memory = [any(IN_MEMORY in text for text in own.values()) for own in conditions]
    if not any(memory):
        return _Comparable(first, second)
    bare = [[_without_conditions(result) for result in side] for side in sides]
    found = _Comparable(bare[0], bare[1])
    for name, own, is_memory in zip(names, conditions, memory, strict=True):
        if is_memory:
            found.remarks.append(f"{name} keeps files in memory only: nothing there is on storage")
        else:
            found.labels |= {metric: f"{text} in {name}" for metric, text in own.items() if text}
    return found


def _conditions(results: Sequence[Result]) -> dict[str, str]:
    """By metric: the conditions under which its values were made."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for name, measure in result.metrics.items():
            found.setdefault(name, {})[measure.condition] = None
    return {name: " or ".join(filter(None, texts)) for name, texts in found.items()}


def _without_conditions(result: Result) -> Result:
    metrics = {
        name: measure.model_copy(update={"condition": ""})
        for name, measure in result.metrics.items()
    }
    return result.model_copy(update={"metrics": metrics})


def _about_one(directories: tuple[Path, Path]) -> list[str]:
    """A sentence where both names are of one directory."""
    first, second = directories
    return ["both names are of one directory"] if first.samefile(second) else []


def _device(directory: Path) -> int:
    return directory.stat().st_dev


def _in_words(order: str) -> str:
    """`ABBA BAAB ...`: a space after every two rounds."""
    return " ".join(order[start : start + _IN_A_WORD] for start in range(0, len(order), _IN_A_WORD))
