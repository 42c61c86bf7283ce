"""The history of targets for a page: every measurement, minutes, four hours, and what ran then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from venturi.analyse.change_point import change_points
from venturi.model.error import UserError
from venturi.model.probe import LEARNING_HOURS, OPERATIONS, ProbeKind, ProbeOperation
from venturi.model.probe_history import (
    PROBE_HISTORY_SCHEMA,
    ProbeChange,
    ProbeHistory,
    ProbePhase,
    ProbeSeries,
    ProbeSpan,
    ProbeTargetHistory,
    UsualSource,
)
from venturi.probe.baseline import Learned, learn
from venturi.probe.collector import LAST_NS, Collector, Phases, measured
from venturi.probe.columns import Array, read_facts
from venturi.probe.cost import operations_of
from venturi.probe.keep import (
    HOURS,
    MINUTES,
    day_files,
    open_samples,
    rows_between,
    samples_between,
)
from venturi.probe.place import target_of
from venturi.probe.rollup import DAY_NS, HOUR_NS, MINUTE_NS, quantile_of
from venturi.probe.run_phase import TimedPhase, TimedRun, is_on
from venturi.probe.span import Span
from venturi.probe.thin import Thinning

DAYS = 60
"""What is shown where nobody says since when."""
SPAN_NS = 4 * HOUR_NS
_FEWEST_CHANGED = 12
_MOST_CHANGED = 120
"""More parts than that are put together to days before they are searched for changes."""
_LEAST_CHANGE = math.log(1.25)


def extent_of(folders: Sequence[Path], span: Span) -> Span:
    """Return the part of a span for which there is anything; of an open one the last 60 days.

    Raises UserError where there is nothing.
    """
    ends = [
        one
        for folder in folders
        for kind in target_of(folder).kinds
        if (one := _ends(folder, kind))
    ]
    if not ends:
        raise UserError("nothing was measured yet", "venturi probe status shows what runs")
    end_ns = min(span.end_ns, max(end for _, end in ends) + 1)
    begin_ns = span.begin_ns or end_ns - DAYS * DAY_NS
    begin_ns = max(begin_ns, min(begin for begin, _ in ends))
    if begin_ns >= end_ns:
        raise UserError(
            "nothing was measured in that time",
            "venturi probe export NAME shows what there is; see --begin and --end",
        )
    return Span(begin_ns, end_ns)


def history_of(
    folders: Sequence[Path], span: Span, runs: Sequence[TimedRun], single_ns: int = 0
) -> ProbeHistory:
    """Return what pages draw of targets in a span that `extent_of` gave, and the runs beside.

    Single measurements are read from `single_ns` on: 30 million of them take a minute.
    """
    single = Span(min(max(span.begin_ns, single_ns), span.end_ns - 1), span.end_ns)
    phases = [(run, phase) for run in runs for phase in run.phases
              if phase.end_ns > span.begin_ns and phase.begin_ns < span.end_ns]  # fmt: skip
    return ProbeHistory(
        schema_=PROBE_HISTORY_SCHEMA,
        begin_ns=span.begin_ns,
        end_ns=span.end_ns,
        single_s=(single.begin_ns - span.begin_ns) / 1e9,
        targets=[_target(folder, span, single, phases) for folder in folders],
        phases=[
            ProbePhase(
                run=run.run,
                path=phase.path,
                repetition=phase.repetition,
                begin_s=(phase.begin_ns - span.begin_ns) / 1e9,
                end_s=(phase.end_ns - span.begin_ns) / 1e9,
                source=run.source,
            )
            for run, phase in phases
        ],
    )


def _ends(folder: Path, kind: ProbeKind) -> tuple[int, int] | None:
    """When the first and the last sample of a worker were due; None where there is none."""
    found = []
    if files := day_files(folder, HOURS, kind):
        found += [read_facts(files[0])["begin_ns"], read_facts(files[-1])["end_ns"]]
    samples = open_samples(folder, kind)
    if len(samples):
        due = samples["scheduled_ns"]
        found += [int(due.min()), int(due.max())]
    return (min(found), max(found)) if found else None


def _target(
    folder: Path, span: Span, single: Span, phases: Sequence[tuple[TimedRun, TimedPhase]]
) -> ProbeTargetHistory:
    target = target_of(folder)
    learned = learn(folder, target, span.end_ns)
    own = [
        (place, run, phase)
        for place, (run, phase) in enumerate(phases)
        if is_on(run, target.directory)
    ]
    hours = [hours for expected, hours in learned.values() if expected is None]
    return ProbeTargetHistory(
        name=target.name,
        node_class=target.node_class,
        interval_s=target.interval_s,
        learning_hours=min(*hours, LEARNING_HOURS) if hours else None,
        phases=[place for place, _, _ in own],
        series=[
            one
            for kind in target.kinds
            for one in _kind(_Source(folder, kind, span, single), learned, measured(own))
        ],
    )


@dataclass(frozen=True)
class _Source:
    """One worker's samples: all of a span rolled up, and singly in a part of it."""

    folder: Path
    kind: ProbeKind
    span: Span
    single: Span


def _kind(source: _Source, learned: Learned, phases: Phases) -> list[ProbeSeries]:
    """The series of one worker's operations."""
    folder, kind, span, single = source.folder, source.kind, source.span, source.single
    operations = operations_of([kind])
    collectors = {
        one: Collector(span, phases, wants_usual=learned[one][0] is None) for one in operations
    }
    for samples in samples_between(folder, kind, single.begin_ns, single.end_ns):
        for operation, collector in collectors.items():
            collector.add(samples[samples["operation"] == OPERATIONS.index(operation)])
    minute_ns = span.begin_ns // MINUTE_NS * MINUTE_NS
    minutes = rows_between(folder, MINUTES, kind, minute_ns, span.end_ns)
    hour_ns = span.begin_ns // HOUR_NS * HOUR_NS
    hours = rows_between(folder, HOURS, kind, hour_ns, span.end_ns)
    return [
        _series(operation, collectors[operation], learned, minutes, hours)
        for operation in operations
    ]


def _series(
    operation: ProbeOperation,
    collector: Collector,
    learned: Learned,
    minutes: dict[str, Array],
    hours: dict[str, Array],
) -> ProbeSeries:
    span = collector.span
    expected, hours_learned = learned[operation]
    usual_s = expected.value_s if expected is not None else collector.usual_s()
    source = UsualSource.BASELINE if expected is not None else UsualSource.SHOWN
    number = OPERATIONS.index(operation)
    means = Thinning()
    own = (minutes["operation"] == number) & (minutes["felt"] > 0)
    means.add(minutes["begin_ns"][own] + MINUTE_NS // 2, minutes["mean_ns"][own])
    mine = {name: values[hours["operation"] == number] for name, values in hours.items()}
    spans = _spans(mine, span, SPAN_NS)
    is_long = span.end_ns - span.begin_ns > 2 * LAST_NS
    return ProbeSeries(
        operation=operation,
        usual_s=usual_s or None,
        source=source if usual_s else UsualSource.NONE,
        learning_hours=None if expected is not None else min(hours_learned, LEARNING_HOURS),
        points=collector.done.points(span.begin_ns),
        missed=collector.missed.points(span.begin_ns),
        failed=collector.failed.points(span.begin_ns),
        last=(collector.last if is_long else Thinning()).points(span.begin_ns),
        minutes=means.points(span.begin_ns),
        spans=spans if len(spans) > 1 else [],
        during=collector.during_rows(usual_s),
        changes=_changes(mine, span, spans),
    )


def _spans(hours: dict[str, Array], span: Span, length_ns: int) -> list[ProbeSpan]:
    """Statistics of equal parts of the time, from histograms of hours: right within 1 %."""
    part = hours["begin_ns"] // length_ns
    found = []
    for number in np.unique(part):
        mine = part == number
        bins, counts = hours["bin"][mine], hours["felt"][mine]
        p50, p95 = (quantile_of(bins, counts, share) for share in (0.5, 0.95))
        if p50 is not None and p95 is not None:
            found.append(
                ProbeSpan(
                    begin_s=(int(number) * length_ns - span.begin_ns) / 1e9,
                    samples=int(counts.sum()),
                    p50_s=p50 / 1e9,
                    p95_s=p95 / 1e9,
                )
            )
    return found


def _changes(hours: dict[str, Array], span: Span, spans: Sequence[ProbeSpan]) -> list[ProbeChange]:
    """Where the medians of four hours, or of days in a long history, have another level."""
    parts = spans if len(spans) <= _MOST_CHANGED else _spans(hours, span, DAY_NS)
    if len(parts) < _FEWEST_CHANGED:
        return []
    levels = [math.log(max(one.p50_s, 1e-9)) for one in parts]
    places = change_points(levels, _LEAST_CHANGE)
    ends = [*places, len(parts)]
    found, before = [], 0
    for at, end in zip(places, ends[1:], strict=True):
        found.append(
            ProbeChange(
                at_s=max(0.0, parts[at].begin_s),
                before_s=math.exp(float(np.median(levels[before:at]))),
                after_s=math.exp(float(np.median(levels[at:end]))),
            )
        )
        before = at
    return found
