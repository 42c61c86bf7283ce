"""mdtest's own tables, as the programs that read them expect, from records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from venturi.compat.ior_parameter import FORM_VERSION
from venturi.compat.mdtest_option import MdtestArguments
from venturi.compat.mdtest_result import (
    DIRECTORY_ROWS,
    FILE_ROWS,
    TREE_ROWS,
    MdtestPhase,
    MdtestRow,
    has_verification_error,
    measured,
    spread,
)
from venturi.compat.validity import comment_lines
from venturi.model.record import FileSystem, Record

_GIB = 2**30


@dataclass(frozen=True)
class _Table:
    """What a table shows of each measurement: of all ranks, and of each."""

    title: str
    whole: Callable[[MdtestPhase], float]
    by_rank: Callable[[MdtestPhase], list[float]]


_RATES = _Table("rate (in ops/sec)", lambda m: m.rate, lambda m: m.rank_rates)
_TIMES = _Table(
    "time (in ms/op)",
    lambda m: m.ms_per_item,
    lambda m: [1e3 / rate if rate else 0.0 for rate in m.rank_rates],
)


def mdtest_text(
    records: Sequence[Record], arguments: MdtestArguments, words: Sequence[str], finished: datetime
) -> str:
    """The whole output for the records of one command line (one for each number of tasks)."""
    lines = list(_head(records[0], arguments, words))
    for record in records:
        lines += [_task_line(record, arguments)]
        if arguments.verbose:
            lines += _iterations(record, arguments)
        for table in _tables(arguments):
            lines += _per_process(record, arguments, table)
            lines += ["", *_summary(record, arguments, table)]
    if any(has_verification_error(record) for record in records):
        lines += ["", "ERROR: verifying the data read! Take the performance values with care!", ""]
    lines.append(
        f"# venturi {records[0].environment.venturi}, in the form of mdtest {FORM_VERSION}"
    )
    lines += comment_lines(records)
    lines.append(f"-- finished at {_moment(finished)} --")
    return "\n".join(lines) + "\n"


def _tables(arguments: MdtestArguments) -> list[_Table]:
    if arguments.rate_and_time:
        return [_RATES, _TIMES]
    return [_TIMES if arguments.time_only else _RATES]


def _moment(time: datetime) -> str:
    return time.astimezone().strftime("%m/%d/%Y %H:%M:%S")


def _head(record: Record, arguments: MdtestArguments, words: Sequence[str]) -> Iterator[str]:
    environment = record.environment
    yield f"-- started at {_moment(datetime.fromisoformat(record.started))} --"
    yield ""
    yield (
        f"mdtest-{FORM_VERSION} was launched with {record.ranks} total task(s) "
        f"on {len(environment.hosts)} node(s)"
    )
    quoted = " ".join(f"'{word}'" for word in words)
    yield f"Command line used: venturi mdtest -- {quoted}"
    if arguments.phases.read and arguments.on_files and arguments.read_bytes == 0:
        yield "WARNING: Read bytes is 0, thus, a read test will actually just open/close"
    for warning in record.warnings:
        yield f"WARNING: {warning}"
    if len(environment.hosts) == 1:
        yield f"Nodemap: {'1' * record.ranks}"
    yield f"Path                : {environment.directory}"
    yield f"FS                  : {_space(environment.file_system)}"


def _space(system: FileSystem) -> str:
    used = 1 - system.free_bytes / system.total_bytes if system.total_bytes else 0.0
    total, unit = system.total_bytes / _GIB, "GiB"
    if total > 1024:
        total, unit = total / 1024, "TiB"
    free_inodes = system.free_inodes / 2**20
    return f"{total:.1f} {unit}   Used FS: {100 * used:.1f}%   Free Inodes: {free_inodes:.1f} Mi"


def _task_line(record: Record, arguments: MdtestArguments) -> str:
    """`2 tasks, 1000 files/directories`: what all tasks make, or touch where nothing is made."""
    counts = [
        measure.items
        for row in (*FILE_ROWS, *DIRECTORY_ROWS)
        if row is not MdtestRow.DIRECTORY_RENAME
        for measure in measured(record, row)[:1]
    ]
    items = max(counts, default=0)
    both = arguments.on_files and arguments.on_directories
    word = "files/directories" if both else "files" if arguments.on_files else "directories"
    return f"{record.ranks} tasks, {items} {word}"


def _rows(arguments: MdtestArguments) -> list[MdtestRow]:
    rows: list[MdtestRow] = []
    if arguments.on_directories:
        rows += DIRECTORY_ROWS
    if arguments.on_files:
        rows += FILE_ROWS
    return rows + list(TREE_ROWS)


def _summary(record: Record, arguments: MdtestArguments, table: _Table) -> Iterator[str]:
    by_rank = arguments.rank_statistics
    yield f"SUMMARY {table.title}: (of {record.repetitions} iterations)"
    ranks = "per Rank: Max            Min           Mean      per Iteration:"
    marks = "         ---            ---           ----       "
    yield (
        "   Operation     "
        + (ranks if by_rank else " " * 15)
        + " Max            Min           Mean        Std Dev"
    )
    yield (
        "   ---------      "
        + (marks if by_rank else "")
        + "               ---            ---           ----        -------"
    )
    for row in _rows(arguments):
        yield _line(row, measured(record, row), table, by_rank)


def _line(row: MdtestRow, measures: list[MdtestPhase], table: _Table, by_rank: bool) -> str:
    text = f"   {row.value:<18} "
    if by_rank:
        values = [value for measure in measures for value in table.by_rank(measure)]
        if row in TREE_ROWS:
            values = [table.whole(measure) for measure in measures]
        ranks = spread(values)
        text += f"{ranks.largest:14.3f} {ranks.smallest:14.3f} {ranks.mean:14.3f}     "
    whole = spread([table.whole(measure) for measure in measures])
    return (
        f"{text}    {whole.largest:14.3f} {whole.smallest:14.3f} {whole.mean:14.3f} "
        f"{whole.deviation:14.3f}"
    )


def _iterations(record: Record, arguments: MdtestArguments) -> Iterator[str]:
    """What mdtest says with -v of each phase of each iteration: its time and its rate."""
    yield "V-1:    Operation               Duration              Rate"
    yield "V-1:    ---------               --------              ----"
    for iteration in range(record.repetitions):
        yield f"V-1: main: * iteration {iteration + 1} *"
        for row in _rows(arguments):
            for measure in measured(record, row)[iteration : iteration + 1]:
                yield (
                    f"V-1:   {row.value:<18}: {measure.seconds:14.3f} sec, "
                    f"{measure.rate:14.3f} ops/sec"
                )


def _per_process(record: Record, arguments: MdtestArguments, table: _Table) -> Iterator[str]:
    """The lines of --print-all-procs: each rank's figure of each phase and iteration."""
    if not arguments.all_processes:
        return
    yield ""
    yield f"Per process result ({table.title.partition(' ')[0]}):"
    for iteration in range(record.repetitions):
        yield f"iteration: {iteration}"
        for row in _rows(arguments):
            measures = measured(record, row)
            if iteration < len(measures):
                values = ",".join(f"{value:e}" for value in table.by_rank(measures[iteration]))
                yield f"Test {row.value} {values}"
