"""IOR's text: header, options, one row for each phase, the summary of all tests."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.ior_parameter import (
    VERSION,
    began,
    capacity,
    finished_text,
    machine,
    moment,
    options,
    parameters,
    path,
)
from venturi.compat.ior_result import (
    MB,
    MIB,
    REMOVE,
    IorRun,
    IorSummary,
    ResultRow,
    largest_rates,
    result_rows,
    summaries,
    wrong_data,
)
from venturi.compat.validity import comment_lines

_LABEL = 20
_COLUMN = 10
_HEAD = (
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
    "close(s)   total(s)   iter"
)
_RULE = (
    "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
    "--------   --------   ----"
)
_SUMMARY_HEAD = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)"
    "     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff "
    "reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum"
)
_SMALL, _LARGE = 1.0, 3600.0
_ACCESSES = ("write", "read")
_WITHOUT_SIZES = ("hdf5", "ncmpi")
"""Interfaces whose files are larger than what is written, so that IOR compares nothing."""
_TELLS_BEGIN = 3
"""The verbosity from which on IOR says when a phase begins."""


def ior_text(runs: Sequence[IorRun]) -> str:
    """The whole text of a command's tests."""
    first, last = runs[0], runs[-1]
    lines = [
        f"IOR-{VERSION}: MPI Coordinated Test of Parallel I/O",
        _labelled("Began", began(first)),
        _labelled("Command line", " ".join(first.arguments or first.record.command)),
        _labelled("Machine", machine(first)),
    ]
    for run in runs:
        lines += _test(run)
        if run.test.summary_always:
            lines += ["", *_summary_table([run])]
    lines += ["", *_summary_table(runs), _labelled("Finished", finished_text(last))]
    return "\n".join(lines) + "\n"


def _labelled(label: str, value: object) -> str:
    return f"{label:<{_LABEL}}: {value}"


def _test(run: IorRun) -> list[str]:
    room = capacity(run)
    lines = [
        _labelled("TestID", run.test.number),
        _labelled("StartTime", began(run)),
        _labelled("Path", path(run)),
        _labelled(
            "FS",
            f"{room['Capacity']}   Used FS: {room['Used Capacity']}   "
            f"Inodes: {room['Inodes']}   Used Inodes: {room['Used Inodes']}",
        ),
    ]
    if run.test.verbose > 2:
        lines += ["", "Parameters: "]
        lines += [_labelled(name, value) for name, value in parameters(run).items()]
    lines += ["", "Options: "]
    lines += [_labelled(name, value) for name, value in options(run).items()]
    lines += ["", "Results: ", "", _HEAD, _RULE]
    for row in result_rows(run):
        lines += _before(run, row)
        lines.append(_row(run, row))
    return lines + _damage(run) + _best(run) + comment_lines([run.record])


def _before(run: IorRun, row: ResultRow) -> list[str]:
    """What IOR says of a phase before its row: when it began, and bytes that are not all."""
    lines = []
    if run.test.verbose >= _TELLS_BEGIN and row.access in _ACCESSES:
        lines.append(f"Commencing {row.access} performance test: {moment(run, row.at_s)}")
    expected = run.layout.ranks * run.test.block_bytes * run.test.segments
    with_sizes = row.access in _ACCESSES and run.test.interface not in _WITHOUT_SIZES
    if with_sizes and row.bytes != expected:
        lines += [
            f"WARNING: Expected aggregate file size       = {expected}",
            f"WARNING: Using actual aggregate bytes moved = {row.bytes}",
        ]
        if run.test.stonewall_s:
            lines.append("WARNING: Maybe caused by deadlineForStonewalling")
    return lines


def _damage(run: IorRun) -> list[str]:
    """IOR's own words for data that differ from what was written."""
    return [f"WARNING: {line}" for line in wrong_data(run)]


def _best(run: IorRun) -> list[str]:
    """The lines that parsers look for; IOR prints them with -v only."""
    best = largest_rates(run)
    lines = []
    for access, label in (("write", "Max Write: "), ("read", "Max Read:  ")):
        if access in best:
            rate = best[access]
            lines.append(f"{label}{rate:.2f} MiB/sec ({rate * MIB / MB:.2f} MB/sec)")
    return lines


def _number(value: float) -> str:
    """Six digits behind the point below 1, two below 3600, none above."""
    digits = 6 if value < _SMALL else 2 if value < _LARGE else 0
    return f"{value:<{_COLUMN}.{digits}f}"


def _row(run: IorRun, row: ResultRow) -> str:
    lead = f"{row.access:<10}"
    if row.access == REMOVE:
        blank = [f"{'-':<{_COLUMN}}"] * 8
        cells = [*blank, _number(row.total_s)]
    else:
        values = (
            row.rate_mib_per_s,
            row.iops,
            row.latency_s,
            run.test.block_bytes / 1024,
            run.test.transfer_bytes / 1024,
            row.open_s,
            row.transfer_s,
            row.close_s,
            row.total_s,
        )
        cells = [_number(value) for value in values]
    gaps = [" ", " ", "  ", " ", " ", " ", " ", " ", " "]
    body = "".join(cell + gap for cell, gap in zip(cells, gaps, strict=True))
    return f"{lead}{body}{row.iteration:<4d}"


def _summary_table(runs: Sequence[IorRun]) -> list[str]:
    lines = ["Summary of all tests:", _SUMMARY_HEAD]
    return lines + [_summary_line(run, line) for run in runs for line in summaries(run)]


def _summary_line(run: IorRun, line: IorSummary) -> str:
    test, layout = run.test, run.layout
    rate, operations = line.rate_mib_per_s, line.operations_per_s
    numbers = (
        rate.most,
        rate.least,
        rate.mean,
        rate.deviation,
        operations.most,
        operations.least,
        operations.mean,
        operations.deviation,
    )
    wall_s = "NA" if line.wall_s is None else f"{line.wall_s:.2f}"
    wall = "NA" if line.wall_mib_per_s is None else f"{line.wall_mib_per_s:.2f}"
    flags = (
        f"{test.number:5d} {layout.ranks:6d} {layout.ranks_per_node:3d} {test.repetitions:4d} "
        f"{int(test.file_per_process):3d} {int(test.reorder):5d} {test.node_offset:8d} "
        f"{test.reorder_random:9d} {test.reorder_seed:4d} {test.segments:6d} "
        f"{test.block_bytes:8d} {test.transfer_bytes:8d} {line.bytes / MIB:9.1f} "
        f"{test.api.upper():<6} {test.reference:5d}"
    )
    body = "".join(f"{number:10.2f} " for number in numbers)
    return f"{line.access:<9} {body}{line.mean_s:10.5f} {wall_s:>10} {wall:>13} {flags}"
