"""Phase rows with the few numbers that a test cares about."""

from __future__ import annotations

from typing import Any

from venturi.model.event import CacheState, Histogram, RankTimes, RequestSize, StoppedBy, TimeLine
from venturi.model.plan import OperationKind
from venturi.model.record import LatencyNs, OperationRow, PhaseRow, Seconds4


def phase(
    path: str,
    seconds: float,
    repetition: int = 0,
    kinds: dict[str, tuple[int, int]] | None = None,
    **changes: Any,
) -> PhaseRow:
    """A phase on one rank; `kinds` maps a kind to (operations, bytes of each)."""
    kinds = kinds or {}
    latency = LatencyNs(min=1, p50=1, p90=1, p99=1, p99_9=1, max=1)
    row = PhaseRow(
        path=path,
        group="g",
        instance=0,
        iteration={},
        repetition=repetition,
        at_s=0.0,
        bytes=sum(n * size for n, size in kinds.values()),
        operations=sum(n for n, _ in kinds.values()),
        errors=0,
        ranks=1,
        seconds=Seconds4(open=0, transfer=seconds, close=0, total=seconds, compute=0),
        bytes_per_second=0.0,
        by_operation={
            kind: OperationRow(
                bytes=n * size,
                operations=n,
                errors=0,
                seconds=seconds,
                latency_ns=latency,
                histogram=Histogram(),
            )
            for kind, (n, size) in kinds.items()
        },
        stopped_by=StoppedBy.WORK,
        cache=CacheState.COLD,
        cache_reason="dropped",
        flushed="fsync",
        request_sizes=[
            RequestSize(kind=OperationKind(kind), bytes=size, count=n)
            for kind, (n, size) in kinds.items()
            if size
        ],
        other_requests=0,
        per_rank=RankTimes(
            bytes=[sum(n * size for n, size in kinds.values())],
            operations=[1],
            open_s=[0],
            transfer_s=[seconds],
            close_s=[0],
            total_s=[seconds],
            start_s=[0],
        ),
        time_line=TimeLine(bin_s=0.01, bytes_written=[], bytes_read=[], operations=[]),
        short_transfers=0,
        details=[],
    )
    return row.model_copy(update=changes)
