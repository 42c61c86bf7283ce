"""Derives a workload from operations: the order of the stages, and nothing else."""

from __future__ import annotations

from venturi.derive.finding import operation_findings
from venturi.derive.operation.account import confidence_of, observed_of
from venturi.derive.operation.program import Program
from venturi.derive.operation.stream import Streams, streams_of
from venturi.derive.operation.table import Table, table_of
from venturi.derive.operation.token import tokens_of
from venturi.derive.operation.visit import acts_of
from venturi.model.error import UserError
from venturi.model.trace_folder import Captured
from venturi.model.workload import GroupSpec, Method, Origin, Parameter, Workload

GROUP = "application"
RANKS = "np"
"""The parameter that `-n` sets; `ranks` itself is a reserved name."""

_METHODS = {"darshan": Method.DXT, "darshan-dxt-parser": Method.DXT, "dxt": Method.DXT}
_MOST_TRIALS = 8


def derive_operations(captured: Captured, name: str, ior: str | None = None) -> Workload:
    """A proxy of the run whose operations were captured, called `name`, a legal name.

    `ior` is the command line of IOR that does the same, where there is one.
    Raises UserError where they hold no I/O of the application.
    """
    table = table_of(captured)
    tokens = tokens_of(table)
    streams = streams_of(table, tokens)
    parts, acts = acts_of(table, tokens, streams)
    staged: dict[str, int] = {}
    for _ in range(_MOST_TRIALS):
        before = dict(staged)
        program = Program(table, tokens, streams, parts, acts, staged)
        steps = program.write()
        if staged == before:
            break
    trace = captured.trace
    if not steps:
        raise UserError(
            f"'{trace.source.file}' holds no operation that a workload could repeat",
            "capture a job that reads, writes or opens files",
        )
    return Workload(
        workload=1,
        name=name,
        about=_about(table, streams),
        origin=Origin(
            source=trace.source.file,
            method=_METHODS.get(trace.source.format, Method.TRACE),
            confidence=confidence_of(table, streams, program),
            assumed=_assumed(table, streams, program),
            truncated=bool(trace.gaps),
            observed=observed_of(trace, table, streams),
            findings=operation_findings(captured),
            ior=ior,
        ),
        parameters={RANKS: Parameter(default=table.ranks, role="ranks")},
        groups={GROUP: GroupSpec(ranks=RANKS)},
        files=program.files(steps),
        program={GROUP: steps},
    )


def _about(table: Table, streams: Streams) -> str:
    count, ranks = len(streams.kept), table.ranks
    words = f"{count} stream{'s' if count > 1 else ''} of files"
    return f"Proxy of a run on {ranks} rank{'s' if ranks > 1 else ''}: {words}, from its operations"


def _assumed(table: Table, streams: Streams, program: Program) -> list[str]:
    texts = list(table.assumed)
    if streams.dropped:
        texts.append(
            f"{streams.dropped} small stream{'s are' if streams.dropped > 1 else ' is'} left out; "
            "the others hold "
            f"{streams.coverage_bytes:.1%} of the bytes and "
            f"{streams.coverage_operations:.1%} of the operations"
        )
    if table.left:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(table.left.items()))
        texts.append(f"left out, because the language has no word for it: {counts}")
    for entry in program.staged:
        if entry in program.names.entries:
            texts.append(f"{entry}: was there before the run, or is read beyond what was written")
    for text, times in program.notes.items():
        texts.append(f"{text} ({times} times)" if times > 1 else text)
    return texts + program.trees.notes
