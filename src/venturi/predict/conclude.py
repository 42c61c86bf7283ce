"""From the runs of both sides to the document: medians, errors with intervals, the headline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi import __version__
from venturi.analyse import paired
from venturi.analyse.fidelity_report import counterparts
from venturi.model.characterization_data import StreamCharacterization
from venturi.model.prediction import (
    PREDICTION_SCHEMA,
    Baseline,
    MeasuredSystem,
    Prediction,
    PredictionPart,
    PredictionRun,
    Side,
    SignedError,
    Sort,
)
from venturi.model.statistic import median
from venturi.predict.account import Account

LARGE_BYTES = 2**20
"""From this mean request on, bandwidth is what a proxy predicts, too."""

LEAST_SHARE = 0.005
"""Of the time of all ranks: streams with less on both sides are not listed."""

CALL_COST_S = 0.17e-6
"""What recording adds to a call, in CPU (bench/tracer_cost.py, full trace); an upper bound of what
falls between the two readings of the clock."""
CAPTURE = (
    "both under the same tracer, call by call into memory, so that what the engine does for itself "
    "can be left out"
)

Numbered = tuple[int, Account]
"""A run's place in the sequence, and its account."""


@dataclass(frozen=True)
class Runs:
    """The runs of both sides, in the order of time."""

    application: list[Numbered]
    proxy: list[Numbered]


@dataclass(frozen=True)
class PredictionFacts:
    """What is known without the runs; as in `Prediction`."""

    name: str
    command: str
    typed: list[str]
    prepare: str
    started: str
    cache: str
    remarks: list[str]
    enough: str
    place: MeasuredSystem
    workload_text: str


def conclude(facts: PredictionFacts, runs: Runs, baselines: Sequence[Baseline]) -> Prediction:
    """The prediction that the runs make."""
    application, proxy = side_of(runs.application), side_of(runs.proxy)
    error = _error([t.seconds for t in application.runs], [t.seconds for t in proxy.runs])
    assert error is not None
    spans = [[t.span_seconds for t in side.runs] for side in (application, proxy)]
    requests = max(application.requests, 1)
    is_large = (application.bytes_written + application.bytes_read) / requests >= LARGE_BYTES
    within = abs(error.signed) <= application.spread
    return Prediction(
        schema_=PREDICTION_SCHEMA,
        name=facts.name,
        command=facts.command,
        typed=facts.typed,
        prepare=facts.prepare,
        started=facts.started,
        venturi=__version__,
        repetitions=len(application.runs),
        enough=facts.enough,
        application=application,
        proxy=proxy,
        error=error,
        span_error=_error(*spans),
        within_spread=within,
        headline=headline(error.signed, application.spread, within),
        bandwidth_error=_error(_rates(runs.application), _rates(runs.proxy)) if is_large else None,
        sorts=[_sort(sort, application, proxy) for sort in Sort],
        phases=_phases(runs),
        streams=_streams(runs),
        baselines=list(baselines),
        cache=facts.cache,
        capture=CAPTURE,
        capture_share=_capture_share(application),
        remarks=facts.remarks,
        place=facts.place,
        workload_text=facts.workload_text,
    )


def side_of(runs: Sequence[Numbered]) -> Side:
    """One side's medians."""
    accounts = [account for _, account in runs]
    first = accounts[0]
    seconds = median([account.seconds for account in accounts])
    return Side(
        seconds=seconds,
        seconds_by={
            sort.value: median([account.seconds_by[sort.value] for account in accounts])
            for sort in Sort
        },
        bytes_per_second=median(_rates(runs)),
        spread=paired.spread_of([account.seconds for account in accounts]),
        bytes_written=first.activity.bytes_written,
        bytes_read=first.activity.bytes_read,
        requests=first.requests,
        calls=first.calls,
        ranks=first.ranks,
        run_seconds=median([account.run_seconds for account in accounts]),
        span_seconds=median([account.span_seconds for account in accounts]),
        runs=[
            PredictionRun(
                place=place,
                seconds=account.seconds,
                seconds_by=account.seconds_by,
                run_seconds=account.run_seconds,
                span_seconds=account.span_seconds,
            )
            for place, account in runs
        ],
    )


def _rates(runs: Sequence[Numbered]) -> list[float]:
    """Bytes of all ranks over I/O time, run by run."""
    return [account.bytes_moved / account.seconds for _, account in runs]


def _error(base: Sequence[float], other: Sequence[float]) -> SignedError | None:
    """The signed error; None where the base is 0 in some run."""
    if min(base) <= 0.0:
        return None
    found = paired.signed_error(base, other)
    return SignedError(
        signed=found.signed, low=found.low, high=found.high, confidence=found.confidence
    )


def _sort(sort: Sort, application: Side, proxy: Side) -> PredictionPart:
    ours, theirs = ([turn.seconds_by[sort.value] for turn in s.runs] for s in (application, proxy))
    return PredictionPart(
        name=sort.value,
        application=median(ours),
        proxy=median(theirs),
        error=_error(ours, theirs),
    )


def _phases(runs: Runs) -> list[PredictionPart]:
    """Phase by phase; none where some run has other phases than the others."""
    both = [
        [account.activity.phases for _, account in side] for side in (runs.application, runs.proxy)
    ]
    kinds = [phase.kind for phase in both[0][0]]
    if any([phase.kind for phase in phases] != kinds for side in both for phases in side):
        return []
    parts = []
    for at, kind in enumerate(kinds):
        base, other = ([phases[at].busy_s for phases in side] for side in both)
        parts.append(
            PredictionPart(
                name=f"{at + 1} {kind}",
                application=median(base),
                proxy=median(other),
                error=_error(base, other),
            )
        )
    return parts


def _streams(runs: Runs) -> list[PredictionPart]:
    """Streams with their counterparts, the longest first; those that hardly count are left out."""
    pairs, only_proxy = counterparts(
        runs.application[0][1].activity.streams, runs.proxy[0][1].activity.streams
    )
    names: list[tuple[str, str]] = []
    for ours, theirs in pairs:
        if theirs is not None and _moves(ours) == _moves(theirs):
            names.append((ours.name, theirs.name))
        else:
            names += [(ours.name, ""), ("", theirs.name)] if theirs else [(ours.name, "")]
    names += [("", name) for name in only_proxy]
    parts = [_stream(runs, *both) for both in names]
    least = LEAST_SHARE * max(sum(p.application for p in parts), sum(p.proxy for p in parts))
    kept = [part for part in parts if max(part.application, part.proxy) >= least]
    return sorted(kept, key=lambda part: -part.application)


def _moves(stream: StreamCharacterization) -> bool:
    """Whether data move in it."""
    return stream.bytes_written + stream.bytes_read > 0


def _stream(runs: Runs, ours: str, theirs: str) -> PredictionPart:
    """A stream of both sides; empty names: it is one of the other side only."""
    base = [_stream_seconds(account, ours) for _, account in runs.application]
    other = [_stream_seconds(account, theirs) for _, account in runs.proxy]
    return PredictionPart(
        name=ours or f"the proxy's {theirs.partition('/')[2] or theirs}",
        application=median(base),
        proxy=median(other),
        error=_error(base, other) if ours and theirs else None,
    )


def _stream_seconds(account: Account, name: str) -> float:
    """Of all ranks; 0 where the run has no such stream."""
    streams: list[StreamCharacterization] = account.activity.streams
    return sum(sum(stream.seconds.values()) for stream in streams if stream.name == name)


def _capture_share(application: Side) -> float:
    """Of the ranks' calls each costs the same; the slowest rank is taken to make its share."""
    calls = application.calls / application.ranks
    return CALL_COST_S * calls / application.seconds if application.seconds > 0 else 0.0


def headline(signed: float, spread: float, within: bool) -> str:
    """The finding in one sentence: the error and the application's spread, both as shares, and
    whether the error is within it."""
    share = f"{abs(signed):.1%}".replace("%", " %")
    how = f"{share} {'more' if signed > 0 else 'less'} time in I/O than"
    if share == "0.0 %":
        how = "as much time in I/O as"
    text = f"The proxy spends {how} the application"
    width = f"{spread:.1%}".replace("%", " %")
    if within:
        return f"{text}: within the {width} by which the application's own runs spread."
    return f"{text}, whose own runs spread by {width}."
