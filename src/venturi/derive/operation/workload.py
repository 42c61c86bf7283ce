"""Derives a workload from operations: the order of the stages, and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from venturi.derive.cost import BITS_PER_CHARACTER, LEAST_SECONDS, cost_bits
from venturi.derive.finding import operation_findings
from venturi.derive.known_name import known_name
from venturi.derive.nest.bound import least_characters
from venturi.derive.nest.call import RankCalls, calls_of
from venturi.derive.nest.call_table import tabled
from venturi.derive.nest.induce import MOST_SPENT
from venturi.derive.nest.table_calls import CallsInParts
from venturi.derive.nest.workload import nested
from venturi.derive.operation.account import (
    confidence_of,
    confidence_of_calls,
    nothing_observed,
    observed_of,
    with_walks_observed,
)
from venturi.derive.operation.again import used_too_soon
from venturi.derive.operation.below import Below, below_of, below_where_beside
from venturi.derive.operation.brief import brief
from venturi.derive.operation.copy import Copies, copies_in, with_copies
from venturi.derive.operation.likeness import Judgement, judged
from venturi.derive.operation.naming import Key
from venturi.derive.operation.pause import without_pauses
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import RANKS
from venturi.derive.operation.spec import file_specs
from venturi.derive.operation.stream import Streams, streams_of
from venturi.derive.operation.table import Table, table_of
from venturi.derive.operation.token import tokens_of
from venturi.derive.operation.view import View, view_of, views_of
from venturi.derive.operation.walk import Walk, ranks_in, walks_in
from venturi.derive.operation.walk_step import NOTE, with_walks
from venturi.derive.operation.weave import woven
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.operation import KINDS, Column, Kind
from venturi.model.trace_folder import Captured
from venturi.model.workload import (
    Confidence,
    GroupSpec,
    Method,
    Origin,
    Parameter,
    RowTable,
    Workload,
)

GROUP = "application"
_METHODS = {"darshan": Method.DXT, "darshan-dxt-parser": Method.DXT, "dxt": Method.DXT}
_MOST_TRIALS = 12
NEARLY_ALL = 0.95
MOST_SPENT_BESIDE_TABLE = 2
"""Searches for loops that come to no end, where a table tells nearly all: some seconds each. What
people could read is found in the first ones."""


def derive_operations(
    captured: Captured, name: str, ior: str | None = None, simplify: bool = False
) -> Workload:
    """A proxy of the run whose operations were captured, called `name`, a legal name.

    `ior` is the command line of IOR that does the same, where there is one. With `simplify` no
    table keeps what has no rule.
    Raises UserError where they hold no I/O of the application.
    """
    try:
        table = table_of(captured)
    except UserError:
        return _only_walked(captured, name)
    found = _best(captured, table)
    table, streams, program, steps = found.table, found.streams, found.program, found.steps
    walks = walks_in(found.captured, set(table.paths))
    trace = captured.trace
    if not steps:
        raise UserError(
            f"'{trace.source.file}' holds no operation that a workload could repeat",
            "capture a job that reads, writes or opens files",
        )
    origin = Origin(
        source=trace.source.file,
        method=_METHODS.get(trace.source.format, Method.TRACE),
        confidence=found.confided(confidence_of(table, streams, program)),
        assumed=found.notes + _assumed(table, streams, program, walks),
        truncated=bool(trace.gaps),
        observed=with_walks_observed(observed_of(found.captured, table, streams, walks), walks),
        findings=operation_findings(captured),
        ior=ior,
    )
    workload = _workload(table, program, steps, name, _about(table, streams))
    judgement = judged(table, workload)
    is_chance = program.view.tasks is not None  # which rank took which task
    is_settled = is_chance or not _may_be_better(judgement)
    ways = [] if is_settled else _exactly(table, streams, workload)
    exact = _cheapest(ways)
    bits = cost_bits(workload, judgement, exact.pauses if exact else 0)
    given_up = []
    if simplify and exact is not None and exact.workload.tables:
        given_up = [_exchange(exact)]
        exact = _cheapest([way for way in ways if not way.workload.tables])
    if exact is not None and exact.bits < bits:
        origin = origin.model_copy(
            update={
                "confidence": found.confided(confidence_of_calls(table, streams)),
                "assumed": [
                    *found.notes,
                    *_left_out(table, walks, ~exact.told),
                    *_of_these_calls(table, exact),
                    *given_up,
                ],
                "observed": with_walks_observed(
                    observed_of(found.captured, table, streams, walks, exact.told), walks
                ),
                "likeness": exact.judgement.likeness,
            }
        )
        return _walked(exact.workload, walks, table.ranks).model_copy(update={"origin": origin})
    if judgement.fault:
        raise UserError(
            f"no workload was found for '{trace.source.file}': the best candidate would fail: "
            f"{judgement.fault}",
            "please report it, with this capture if you may",
        )
    beyond = [f"a run may fail: {judgement.beyond}"] if judgement.beyond else []
    update = {"likeness": judgement.likeness, "assumed": origin.assumed + beyond + given_up}
    origin = origin.model_copy(update=update)
    return _walked(workload, walks, table.ranks, program).model_copy(update={"origin": origin})


def _walked(
    workload: Workload, walks: list[Walk], ranks: int, program: Program | None = None
) -> Workload:
    """The same workload with walks through folders."""
    walked = with_walks(walks, ranks, workload.program[GROUP], program)
    files = workload.files | walked.files
    return workload.model_copy(update={"program": {GROUP: walked.steps}, "files": files})


def _may_be_better(judgement: Judgement) -> bool:
    """Whether another program may be nearer to the application, or run where this one would not."""
    likeness = judgement.likeness
    if likeness is None or judgement.fault or judgement.beyond:
        return bool(judgement.fault or judgement.beyond)
    missed = abs(likeness.proxy_seconds_between - likeness.seconds_between)
    is_equal = likeness.is_equal and likeness.requests_alike == likeness.requests
    return not is_equal or missed > max(LEAST_SECONDS, 0.05 * likeness.seconds_between)


@dataclass(frozen=True)
class _Exact:
    """A program that makes the calls one by one, and how far it does."""

    workload: Workload
    judgement: Judgement
    pauses: int
    bits: float
    told: Column
    """Which operations of the table it makes."""

    @property
    def is_near(self) -> bool:
        """Whether nearly all operations are as they were, and in order."""
        likeness = self.judgement.likeness
        return likeness is not None and likeness.ordered >= NEARLY_ALL * likeness.application


def _exchange(exact: _Exact) -> str:
    """What was given up for a simpler workload."""
    tables = [one for one in exact.workload.tables.values() if isinstance(one, RowTable)]
    likeness = exact.judgement.likeness
    assert likeness is not None
    kib = -(-sum(one.bytes_packed for one in tables) // 1024)
    first = "" if likeness.is_whole else "the first "
    return (
        f"simplified: a table of {sum(one.rows for one in tables)} calls ({kib} KiB) would keep "
        f"{likeness.ordered} of {first}{likeness.application} operations in their order"
    )


def _cheapest(ways: list[_Exact]) -> _Exact | None:
    return min(ways, key=lambda way: way.bits, default=None)


def _exactly(table: Table, streams: Streams, workload: Workload) -> list[_Exact]:
    """The same workload with programs that make the calls one by one: of loops, and by a table, as
    far as they are known."""
    known_as = [""] * len(table.paths)
    for stream in streams.kept:
        name = known_name([table.paths[file] for file in stream.files])
        for file in stream.files.tolist():
            known_as[file] = name
    by_table = _by_table(table, workload, known_as)
    ways = _call_by_call(table, workload, known_as, by_table), by_table
    return [way for way in ways if way is not None]


def _if_sound(table: Table, exact: Workload, pauses: int, told: Column) -> _Exact | None:
    """A workload with what it costs, of an application that computed for long `pauses` times; None
    where a run of it would fail, or nobody knows what it does."""
    judgement = judged(table, exact)
    if judgement.likeness is None or judgement.fault or judgement.beyond:
        return None
    return _Exact(exact, judgement, pauses, cost_bits(exact, judgement, pauses), told)


def _by_table(table: Table, workload: Workload, known_as: list[str]) -> _Exact | None:
    """The same workload with a program that takes the calls out of tables; None where that cannot
    be."""
    calls = CallsInParts.of(table)
    if calls is None:
        return None
    told = tabled(table, calls, known_as)
    program = {GROUP: list(told.steps)}
    update = {"files": told.files, "program": program, "tables": told.tables}
    return _if_sound(table, workload.model_copy(update=update), 0, told.told)


def _call_by_call(
    table: Table, workload: Workload, known_as: list[str], by_table: _Exact | None
) -> _Exact | None:
    """The same workload with a program of loops that makes the calls; None: none is known, or each
    must cost more than that by a table, or takes longer to find than it is worth beside that."""
    by_use = calls_of(table, known_as, by_use=True)
    if by_use is None:
        return None
    most_spent = MOST_SPENT
    if by_table is not None:
        most_spent = MOST_SPENT_BESIDE_TABLE if by_table.is_near else MOST_SPENT
        if BITS_PER_CHARACTER * least_characters(by_use) > by_table.bits:
            return None
    found = _first_sound(table, workload, by_use, known_as, most_spent)
    by_name = calls_of(table, known_as) if found is None else None
    if by_name is None or np.array_equal(by_use.slot, by_name.slot):
        return found
    return _first_sound(table, workload, by_name, known_as, most_spent)


def _first_sound(
    table: Table, workload: Workload, calls: RankCalls, known_as: list[str], most_spent: int
) -> _Exact | None:
    for told in nested(table, calls, known_as, most_spent):
        program = {GROUP: told.steps}
        exact = workload.model_copy(update={"files": told.files, "program": program})
        told_rows = np.isin(np.arange(len(table)), calls.row)
        found = _if_sound(table, exact, calls.pauses, told_rows)
        if found is not None:
            return found
    return None


def _of_these_calls(table: Table, exact: _Exact) -> list[str]:
    """What a program that makes each rank's calls does not say: of copies, and of other numbers of
    ranks."""
    notes = []
    if np.any(table.copied[exact.told]):
        notes.append("copies within the kernel are told as reads and writes")
    if table.ranks > 1 and exact.workload.tables:
        notes.append(
            f"made for {table.ranks} ranks: on more, the others only wait; on fewer, the calls of "
            "those that are missing are left out, and a read of what they wrote may fail"
        )
    elif table.ranks > 1:
        notes.append(
            f"made for {table.ranks} ranks: on another number, conditions and offsets stay the "
            "same, except offsets that grow by what all ranks move together"
        )
    return notes


def _only_walked(captured: Captured, name: str) -> Workload:
    """A proxy of a run that only looked through folders; UserError where it did not even that."""
    trace = captured.trace
    walks = walks_in(captured, set())
    if not walks:
        table_of(captured)  # says what is wrong
    ranks = ranks_in(captured)
    walked = with_walks(walks, ranks, [])
    return Workload(
        workload=1,
        name=name,
        about=f"Proxy of a run that looks through folders, on {ranks} rank{'s'[: ranks > 1]}",
        origin=Origin(
            source=trace.source.file,
            method=_METHODS.get(trace.source.format, Method.TRACE),
            confidence=[],
            assumed=[NOTE],
            truncated=bool(trace.gaps),
            observed=with_walks_observed(nothing_observed(trace, ranks, walks), walks),
            findings=operation_findings(captured),
        ),
        parameters={RANKS: Parameter(default=ranks, role="ranks")},
        groups={GROUP: GroupSpec(ranks=RANKS)},
        files=walked.files,
        program={GROUP: walked.steps},
    )


@dataclass(frozen=True)
class Known:
    """How a workload derived from a capture says that the application knows its files."""

    streams: list[str]
    """For each file of the trace, the files of its stream; empty where it is left out."""
    is_listed: list[bool]
    """Whether it is a folder of which a workload says that it is listed."""


def known_streams(captured: Captured) -> Known:
    """What is known of each file of a trace. Raises UserError as `derive_operations`."""
    names: dict[str, str] = {}
    told: set[str] = set()
    try:
        table = table_of(captured)
    except UserError:
        if not walks_in(captured, told):
            raise
    else:
        told = set(table.paths)
        for stream in streams_of(table, tokens_of(table)).kept:
            paths = [table.paths[file] for file in stream.files]
            names |= dict.fromkeys(paths, known_name(paths))
    walks = walks_in(captured, told)
    listed = {path for walk in walks for path in walk.paths}
    for walk in walks:
        names |= dict.fromkeys(walk.files, known_name(walk.paths))
    paths = [file.path for file in captured.trace.files]
    return Known([names.get(path, "") for path in paths], [path in listed for path in paths])


@dataclass(frozen=True)
class _Candidate:
    """A capture in the layers that tell it best, and its program."""

    captured: Captured
    table: Table
    streams: Streams
    program: Program
    steps: Steps
    below: Below | None

    @property
    def notes(self) -> list[str]:
        """Which files are told by a lower layer, and why."""
        return self.below.notes if self.below else []

    def confided(self, entries: list[Confidence]) -> list[Confidence]:
        """Confidence, with why the layer is not the highest."""
        return self.below.confided(entries, self.streams, self.table) if self.below else entries


def _best(captured: Captured, table: Table) -> _Candidate:
    """The program of a capture, in which the layer below tells files whose datasets follow no
    rule, or that were also used beside their library."""
    below = below_where_beside(captured)
    if below is not None:
        captured, table = below.captured, table_of(below.captured)
    while True:
        streams = streams_of(table, tokens_of(table))
        program, steps = _written(table, streams)
        more = below_of(captured, table, streams, program.flat, program.datasets.sized)
        if more is None:
            return _Candidate(captured, table, streams, program, steps, below)
        below = below.with_more(more) if below else more
        captured = more.captured
        table = table_of(captured)


def _written(table: Table, streams: Streams) -> tuple[Program, Steps]:
    """The shortest program, weighed against what its view tells."""
    copies = copies_in(table)
    written = [_in_view(view, streams, copies) for view in views_of(table, streams)]
    sound = [one for one in written if one[0].is_sound]
    return min(sound or written, key=lambda one: _lines(table, *one) - one[0].view.worth_lines)


def _lines(table: Table, program: Program, steps: Steps) -> int:
    """How many lines there are to read."""
    data = _workload(table, program, steps, "lines", "")
    return len(to_yaml(data).splitlines())


def _workload(table: Table, program: Program, steps: Steps, name: str, about: str) -> Workload:
    return Workload(
        workload=1,
        name=name,
        about=about,
        parameters={RANKS: Parameter(default=table.ranks, role="ranks")},
        groups={GROUP: GroupSpec(ranks=RANKS)},
        files=file_specs(program, steps),
        program={GROUP: steps},
    )


def _in_view(view: View, streams: Streams, copies: Copies) -> tuple[Program, Steps]:
    """The program of a view, tried until it knows what must be there before and what datasets can
    say.

    Pauses that cut datasets in two are given up first, then the datasets themselves.
    """
    staged: dict[str, int] = {}
    flat: dict[int, set[int]] = {}
    joined: set[int] = set()
    apart: set[Key] = set()
    lasting: set[int] = set()
    plain: set[int] = set()
    private: set[int] = set()
    for _ in range(_MOST_TRIALS):
        before, found = dict(staged), set(flat)
        others = len(apart) + len(lasting) + len(plain) + len(private)
        program = Program(view, streams, staged, flat, apart, lasting, plain, private)
        steps = program.write()
        apart |= used_too_soon(steps, program.names)
        new = flat.keys() - found
        if new or len(apart) + len(lasting) + len(plain) + len(private) > others:
            staged.clear()
        elif staged == before:
            break
        if new - joined:
            for number in new - joined:
                del flat[number]
            joined |= new
            of_joined = np.isin(streams.of_file, list(joined))
            whole = without_pauses(view.table, of_joined)
            cut = view_of(whole, streams, view.are_names_apart)
            view = replace(view, table=cut.table, tokens=cut.tokens, parts=cut.parts, acts=cut.acts)
    for number in joined - flat.keys():
        program.notes[f"{streams.kept[number].name}: pauses while it is open are left out"] = 1
    return program, brief(program, woven(program, with_copies(program, steps, copies)))


def _about(table: Table, streams: Streams) -> str:
    count, ranks = len(streams.kept), table.ranks
    words = f"{count} stream{'s' if count > 1 else ''} of files"
    return f"Proxy of a run on {ranks} rank{'s' if ranks > 1 else ''}: {words}, from its operations"


def _left_out(table: Table, walks: list[Walk], lost: Column | None = None) -> list[str]:
    """What is assumed of the table, and what has no word: of it, those that are `lost`, too."""
    texts = list(table.assumed)
    if walks:
        texts.append(NOTE)
    left = table.left - Counter({Kind.LIST.value: sum(walk.lists for walk in walks)})
    undone: Counter[str] = Counter()
    if lost is not None:
        undone += Counter(KINDS[kind].value for kind in table.kind[lost].tolist())
        left += Counter({Kind.LINK.value: undone.pop(Kind.LINK.value, 0)})
    for why, counts in (
        ("the language has no word for it", left),
        (
            "it needs what is left out, cannot be repeated, or gives a name that is lost again",
            undone,
        ),
    ):
        if counts:
            said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
            texts.append(f"left out, because {why}: {said}")
    return texts


def _assumed(table: Table, streams: Streams, program: Program, walks: list[Walk]) -> list[str]:
    texts = _left_out(table, walks)
    if streams.dropped:
        are = "s are" if streams.dropped > 1 else " is"
        texts.append(f"{streams.dropped} small stream{are} left out")
    tasks = program.view.tasks
    if tasks is not None:
        what = f"with a file of {streams.kept[tasks.stream].name}"
        if tasks.are_processes:
            what = "a process with those that it started"
        texts.append(
            f"{tasks.count} tasks, each {what}, are dealt to {tasks.workers} workers in turn, as "
            "they came; who took which is not kept"
        )
    for number in sorted(program.flat):
        texts.append(
            f"{streams.kept[number].name}: its datasets follow no rule; they lie behind each other "
            "in one of bytes"
        )
    for entry in program.staged:
        if entry in program.names.entries:
            texts.append(f"{entry}: was there before the run, or is read beyond what was written")
    for text, times in program.notes.items():
        texts.append(f"{text} ({times} times)" if times > 1 else text)
    return texts + program.trees.notes
