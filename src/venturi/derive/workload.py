"""Derives a workload from a trace: the order of the rules, and nothing else."""

from __future__ import annotations

import re

import numpy as np

from venturi.derive.confidence import blind_spots, confidence_of, doubted
from venturi.derive.counted_sync import with_counted_syncs
from venturi.derive.counts import bytes_of, requests_of
from venturi.derive.file_view import FileView, files_of
from venturi.derive.finding import Case, findings_of, merged
from venturi.derive.grouping import Selection, groups_of, select
from venturi.derive.ior import ior_line
from venturi.derive.layout import FlowLayout, LayoutKind, layout_of
from venturi.derive.noise import without_noise
from venturi.derive.observed import io_seconds, observed_of
from venturi.derive.operation.scene import RANKS
from venturi.derive.operation.workload import GROUP, derive_operations
from venturi.derive.program import Draft, add_stream
from venturi.derive.remainder import gaps_left_out
from venturi.derive.stream import DerivedStream, stream_of
from venturi.model.error import UserError
from venturi.model.operation import LAYERS, Kind
from venturi.model.plan import Direction
from venturi.model.trace import Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import GroupSpec, Method, Origin, Parameter, Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

IOR_SHARE = 0.8
"""The largest stream alone is given as an IOR line if it holds this share of the bytes."""

_METHODS = {"darshan": Method.DARSHAN, "darshan-parser": Method.DARSHAN}

_LIBRARIES = (
    {Layer.HDF5_FILE, Layer.HDF5_DATASET},
    {Layer.PNETCDF_FILE, Layer.PNETCDF_VARIABLE},
)

MOST_PLANNED_RANKS = 4096
"""A workload of more ranks is not planned to see whether it can run: that follows every rank."""

COVERED_SHARE = 0.9
"""Operations that hold less of the bytes than counters do are a part of the run only."""


def derive(captured: Captured | Trace, name: str, simplify: bool = False) -> Workload:
    """A compact proxy of the run that was captured, called `name`.

    From its operations where there are any and the counters know of no more, else from counters.
    With `simplify` it is text alone: no table keeps numbers that follow no rule.
    A pure function: the stored command line is not part of a trace, and names of files serve
    only to group them and to drop noise. Raises UserError where there is no I/O of the
    application, and where no workload was found that can be planned (of up to 4096 ranks).
    """
    workload = _derived(captured, name, simplify)
    trace = captured if isinstance(captured, Trace) else captured.trace
    is_planned = workload.origin is not None and workload.origin.likeness is not None
    if not is_planned and trace.job.ranks <= MOST_PLANNED_RANKS:
        _refuse_unplanned(workload)
    return workload


def _refuse_unplanned(workload: Workload) -> None:
    """Raise UserError where a run of the workload would be refused: it is no proxy then."""
    try:
        make_plan(workload, RunSettings(most_ranks=2**31))
    except UserError as error:
        source = workload.origin.source if workload.origin else workload.name
        raise UserError(
            f"no workload was found for '{source}': the best candidate cannot run: {error.message}",
            "please report it, with this capture if you may",
        ) from None


def _derived(captured: Captured | Trace, name: str, simplify: bool) -> Workload:
    """A proxy by the route that knows most."""
    if isinstance(captured, Trace):
        return derive_counters(captured, name)
    if captured.operations is None or not len(captured.operations):
        return derive_counters(captured.trace, name)
    if _counted_more(captured) or _counted_higher(captured):
        return derive_counters(captured.trace, name)
    line = _line_of(captured.trace)
    if line is not None and captured.trace.source.format in _METHODS:
        # What IOR can say is in the counters, with both directions apart.
        return derive_counters(captured.trace, name)
    completed = with_counted_syncs(captured)
    workload = derive_operations(completed.captured, workload_name(name), line, simplify)
    return _with_counted(workload, captured.trace, completed.assumed)


def _with_counted(workload: Workload, trace: Trace, assumed: list[str]) -> Workload:
    """The workload of a log's operations, with the time and the findings that only its counters
    have."""
    origin = workload.origin
    if trace.source.format not in _METHODS or origin is None or origin.observed is None:
        return workload
    try:
        _, cases = _cases_of(trace)
    except UserError:
        return workload
    counted_s = io_seconds([case.stream for case in cases]) or 0.0
    observed = origin.observed
    update = {
        "observed": observed.model_copy(
            update={"io_seconds": max(counted_s, observed.io_seconds or 0.0)}
        ),
        "findings": merged(origin.findings, findings_of(trace, cases)),
        "assumed": origin.assumed + assumed,
    }
    return workload.model_copy(update={"origin": origin.model_copy(update=update)})


def _line_of(trace: Trace) -> str | None:
    """IOR's command line, which has no more words than counters have; none if they are empty."""
    try:
        _, cases = _cases_of(trace)
    except UserError:
        return None
    return _ior(cases)[0]


def _counted_higher(captured: Captured) -> bool:
    """Whether the counters know a library above the layers of the operations."""
    assert captured.operations is not None
    seen = {LAYERS[code] for code in np.unique(captured.operations.layer).tolist()}
    counted = {record.layer for record in captured.trace.records}
    return any(family & counted and not family & seen for family in _LIBRARIES)


def _counted_more(captured: Captured) -> bool:
    """Whether the counters of the lowest layers hold clearly more than the operations: bytes, or
    requests."""
    assert captured.operations is not None
    low = (Layer.POSIX, Layer.STDIO)
    own = [view for view in without_noise(files_of(captured.trace))]
    records = [record for view in own for layer in low for record in view.records.get(layer, [])]
    both = [(record, direction) for record in records for direction in Direction]
    operations = captured.operations
    data = operations.is_kind(Kind.READ, Kind.WRITE)
    if int(operations.bytes[data].sum()) < COVERED_SHARE * sum(bytes_of(*one) for one in both):
        return True
    data &= operations.is_layer(*low)
    calls = sum(requests_of(*one)[0] for one in both)
    return bool(np.any(data)) and int(np.count_nonzero(data)) < COVERED_SHARE * calls


def _cases_of(trace: Trace) -> tuple[Selection, list[Case]]:
    """The groups of files that matter, and what happens to each. Raises UserError if none does."""
    views = without_noise(files_of(trace))
    groups = groups_of(views, trace.job.ranks)
    if not groups:
        raise UserError(_nothing(trace, views), "capture a job that reads, writes or opens files")
    selection = select(groups)
    streams = [
        stream_of(group, f"stream{number}", trace.job.ranks)
        for number, group in enumerate(selection.groups, start=1)
    ]
    return selection, [
        Case(stream, {flow.direction: layout_of(stream, flow) for flow in stream.flows})
        for stream in streams
    ]


def derive_counters(trace: Trace, name: str) -> Workload:
    """The proxy from counters alone."""
    selection, cases = _cases_of(trace)
    draft = Draft()
    for case in cases:
        add_stream(draft, case.stream, case.layouts, alone=len(cases) == 1)
    return Workload(
        workload=1,
        name=workload_name(name),
        about=_about(trace, [case.stream for case in cases]),
        origin=_origin(trace, cases, selection, draft),
        parameters={RANKS: Parameter(default=trace.job.ranks, role="ranks")},
        groups={GROUP: GroupSpec(ranks=RANKS)},
        files=draft.files,
        program={GROUP: draft.program()},
    )


def workload_name(text: str) -> str:
    """The text as a legal name of a workload."""
    cleaned = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-._")
    return cleaned or "derived"


def _nothing(trace: Trace, views: list[FileView]) -> str:
    where = f"'{trace.source.file}'"
    del views
    if trace.records:
        text = (
            f"{where} holds {len(trace.records)} records, but none of them is I/O of the "
            "application (only systems, libraries, standard streams and side files)"
        )
    else:
        text = f"{where} holds no records of I/O, so there is nothing to derive"
    lacking = "; ".join(entry.what for entry in gaps_left_out(trace))
    return f"{text}; part of it could not be read: {lacking}" if lacking else text


def _about(trace: Trace, streams: list[DerivedStream]) -> str:
    count = len(streams)
    words = f"{count} stream{'s' if count > 1 else ''} of files"
    ranks = trace.job.ranks
    return f"Proxy of a run on {ranks} rank{'s' if ranks > 1 else ''}: {words}, from its counters"


def _origin(trace: Trace, cases: list[Case], selection: Selection, draft: Draft) -> Origin:
    streams = [case.stream for case in cases]
    line, notes = _ior(cases)
    confidence = [entry for c in cases for entry in confidence_of(c.stream, c.layouts)]
    confidence = doubted(confidence, trace)
    return Origin(
        source=trace.source.file,
        method=_METHODS.get(trace.source.format, Method.TRACE),
        confidence=confidence + blind_spots(),
        assumed=draft.assumed + _assumptions(cases, selection) + notes,
        truncated=bool(trace.gaps),
        observed=observed_of(trace, streams, selection),
        findings=findings_of(trace, cases),
        ior=line,
    )


def _ior(cases: list[Case]) -> tuple[str | None, list[str]]:
    """The IOR line of the largest stream, and what it leaves out or why there is none."""
    all_bytes = sum(case.stream.group.bytes for case in cases)
    first = cases[0]
    if first.stream.group.bytes < IOR_SHARE * all_bytes:
        return None, ["no IOR line: no stream holds most of the bytes"]
    line, why = ior_line(first.stream, first.layouts)
    if line is None:
        return None, [f"no IOR line: {why}"]
    notes = []
    if len(cases) > 1:
        share = first.stream.group.bytes / all_bytes
        notes.append(f"the IOR line is {first.stream.name} only, {share:.0%} of the bytes")
    if any(layout.kind is LayoutKind.RANDOM for layout in first.layouts.values()):
        notes.append("the block of the IOR line is all of a rank: random order hides the true one")
    return line, notes


def _assumptions(cases: list[Case], selection: Selection) -> list[str]:
    """What the proxy does because the counters do not say."""
    texts = []
    if selection.left_out:
        count = len(selection.left_out)
        texts.append(f"{count} small group{'s' if count > 1 else ''} of files left out")
    for case in cases:
        texts += _stream_assumptions(case.stream, case.layouts)
    return texts


def _stream_assumptions(stream: DerivedStream, layouts: dict[Direction, FlowLayout]) -> list[str]:
    texts = []
    for flow in stream.flows:
        layout = layouts[flow.direction]
        what = f"{stream.name} {flow.direction.value}"
        if flow.mix.empty:
            texts.append(f"{what}: {flow.mix.empty} requests of 0 bytes are left out")
        if layout.kind is LayoutKind.SIZES:
            texts.append(f"{what}: sizes come one after the other; order and places were not seen")
        if flow.mix.known_share < 0.995:
            share = 1.0 - flow.mix.known_share
            texts.append(f"{what}: {share:.0%} of the bytes in requests of mean size")
        if layout.kind is LayoutKind.RANDOM:
            texts.append(f"{what}: each place once; whether places repeat was not seen")
        if flow.active < len(stream.group.owners):
            movers = "rank 0 stands" if flow.active == 1 else f"ranks 0 to {flow.active - 1} stand"
            texts.append(f"{what}: {movers} for the ranks that moved data")
    if not stream.flows:
        texts.append(f"{stream.name}: the first open makes the file; counters do not say so")
    if stream.is_interleaved:
        texts.append(f"{stream.name}: reads and writes alternate in the run, not in the proxy")
    return texts
