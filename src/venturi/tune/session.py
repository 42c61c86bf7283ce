"""One tuning from a workload to its document."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import venturi
from venturi.derive.yaml_text import to_yaml
from venturi.execute.engine import describe, find_engine
from venturi.execute.stopping import Stopping
from venturi.execute.target import check_directory, check_type, file_system_of
from venturi.model.record import FileSystem
from venturi.model.statistic import median
from venturi.model.tuning import (
    TUNING_SCHEMA,
    Cause,
    Computing,
    Effect,
    Skipped,
    Trial,
    Tuning,
)
from venturi.model.workload import Workload
from venturi.store.place import make_store
from venturi.tune.bench import Bench, BenchSetup
from venturi.tune.catalogue import LEFT_OUT, Candidate, applicable, causes, context_of, named
from venturi.tune.evaluation_context import EvaluationContext
from venturi.tune.pace import pauses_s
from venturi.tune.ranking import LEAST_GAIN, RULE, headline, ranked, weighed
from venturi.tune.search import PriorKnowledge, Search, SearchState

PROXY_ERROR = 0.1
"""What a proxy may be off its application: what validation aims at in the worst case."""
SHORT_S = 0.01
"""I/O of a shorter run says more of the machine's other work."""


@dataclass(frozen=True)
class TuningRequest:
    """What is to be tuned, and how long that may take."""

    workload: Workload
    place: BenchSetup
    budget_s: float
    what_if: str | None = None


def tune(request: TuningRequest, watch: Callable[[SearchState], None]) -> Tuning:
    """Measure what would make the workload's I/O faster in a directory.

    Whatever was made is removed. A Ctrl-C ends it with what is known. Raises UserError and
    TargetProblem before anything runs, VenturiError where the workload cannot be run.
    """
    place = request.place
    check_directory(place.directory)
    check_type(place.directory, place.machine.expect_fstype)
    file_system = file_system_of(place.directory)
    engine = describe(find_engine(place.machine.launcher.mpi))
    built = frozenset(entry["name"] for entry in engine["backends"] if entry["built"])
    has_mpi = place.machine.launcher.mpi is not None
    context = context_of(request.workload, place.settings, file_system.type, built, has_mpi)
    candidates, skipped = _candidates(request, context)
    make_store(place.store)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    stopping, begin_s = Stopping(), time.monotonic()
    variants = {candidate.name: candidate.variant.workload for candidate in candidates}
    found_bad = causes(context, candidates, skipped, _captured_io_s(request.workload))
    suspects = next((cause.answers for cause in found_bad if cause.answers), [])
    bench = Bench(place, context.workload, variants, stopping)
    search = Search(
        {candidate.name: candidate.key for candidate in candidates},
        bench.measure,
        lambda: time.monotonic() - begin_s,
        request.budget_s,
        place.settings.seed,
        watch,
        PriorKnowledge(pauses_s(context), suspects),
    )
    with stopping.listening():
        state = search.run()
    spent_s = time.monotonic() - begin_s
    found = _Candidates(candidates, skipped, found_bad, state)
    return _document(request, context, found, file_system, started, spent_s)


def _candidates(
    request: TuningRequest, context: EvaluationContext
) -> tuple[list[Candidate], list[Skipped]]:
    if request.what_if is not None:
        return [named(request.what_if, context, request.place.settings)], []
    return applicable(context, request.place.settings)


@dataclass(frozen=True)
class _Candidates:
    candidates: list[Candidate]
    skipped: list[Skipped]
    causes: list[Cause]
    state: SearchState


def _document(
    request: TuningRequest,
    context: EvaluationContext,
    found: _Candidates,
    file_system: FileSystem,
    started: str,
    spent_s: float,
) -> Tuning:
    computing = computing_of(request.workload, context)
    observed = request.workload.origin.observed if request.workload.origin else None
    untouched = 1 - observed.coverage_seconds if observed is not None else 0.0
    trials = ranked(found.candidates, found.state, computing, untouched)
    known = weighed(found.causes, trials)
    place = request.place
    return Tuning(
        schema_=TUNING_SCHEMA,
        name=request.workload.name,
        about=request.workload.about,
        started=started,
        command=place.command,
        headline=headline(trials, known, found.state, spent_s / max(1, found.state.runs)),
        rule=RULE,
        interrupted=found.state.interrupted,
        budget_s=request.budget_s,
        spent_s=spent_s,
        runs=found.state.runs,
        ranks=context.ranks,
        seed=place.settings.seed,
        base_s=found.state.base_s,
        computing=computing,
        trials=trials,
        causes=known,
        skipped=found.skipped,
        left_out=[] if request.what_if is not None else list(LEFT_OUT),
        remarks=[
            *_remarks(found.state),
            *_of_a_proxy(request.workload, trials),
            *_overlap(found.state, computing),
        ],
        host=platform.node(),
        directory=str(place.directory),
        file_system=file_system,
        venturi=venturi.__version__,
        workload_text=to_yaml(context.workload),
    )


def _captured_io_s(workload: Workload) -> float:
    """The time inside I/O calls that the capture saw; 0: not known."""
    observed = workload.origin.observed if workload.origin else None
    return (observed.io_seconds if observed is not None else None) or 0.0


def computing_of(workload: Workload, context: EvaluationContext) -> Computing:
    """The run's time that is not I/O: as the capture saw it, else what the workload computes."""
    observed = workload.origin.observed if workload.origin else None
    if observed is not None and observed.seconds is not None and observed.io_seconds is not None:
        seconds = max(0.0, observed.seconds - observed.io_seconds)
        return Computing(seconds=seconds, source="capture")
    planned = context.made.totals.seconds_computing
    return Computing(seconds=planned, source="workload" if planned else "unknown")


def _overlap(state: SearchState, computing: Computing) -> list[str]:
    """What I/O beside computing could bring at best; it is not measured."""
    if computing.source == "unknown" or not state.base_s:
        return []
    io_s = median(state.base_s)
    whole_s, best_s = computing.seconds + io_s, max(computing.seconds, io_s)
    if best_s > (1 - LEAST_GAIN) * whole_s:
        return []
    return [
        f"not measured: with I/O beside computing (a thread that writes, ADIOS2 or HDF5's async "
        f"connector) the run would take {best_s:.3g} s at best, now {whole_s:.3g} s"
    ]


def _of_a_proxy(workload: Workload, trials: Sequence[Trial]) -> list[str]:
    """How far the gains of a proxy are those of its application."""
    helps = any(trial.effect is Effect.HELPS for trial in trials)
    if not helps or workload.origin is None:
        return []
    return [
        f"gains and intervals are the proxy's: in the application they may be {PROXY_ERROR:.0%} "
        "off (venturi predict --against measures how far this proxy is)"
    ]


def _remarks(state: SearchState) -> list[str]:
    remarks = []
    if state.broken:
        remarks.append(f"ended early: {state.broken}")
    if state.in_haste:
        remarks.append(
            "changes were chosen by runs without pauses, since the budget has no time for those; "
            "what counts was measured with them"
        )
    if state.base_s and max(state.base_s) < SHORT_S:
        remarks.append(
            f"the workload's I/O takes under {1000 * SHORT_S:.0f} ms: what else the machine does "
            "may matter more; make it larger with --set or --scale"
        )
    return remarks
