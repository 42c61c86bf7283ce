"""Fidelity: what a proxy did beside what the application's log counted."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.record import Fidelity, FidelityRow, PhaseRow
from venturi.model.workload import Observed, request_class


def fidelity_of(observed: Observed, phases: Sequence[PhaseRow]) -> Fidelity | None:
    """The comparison over the first repetition; every repetition does the same work.

    `size_distance` and `rank_distance` are total variation distances of shares.
    """
    rows = [row for row in phases if row.repetition == 0]
    if not rows:
        return None
    done = _operations(rows)
    compared = [
        _row("bytes written", "B", observed.bytes_written, _bytes(rows, "write")),
        _row("bytes read", "B", observed.bytes_read, _bytes(rows, "read")),
    ]
    compared += [
        _row(f"{kind} operations", "", count, done.get(kind, 0))
        for kind, count in observed.operations.items()
    ]
    ranks = _rank_distance(observed.bytes_per_rank, rows)
    unseen = [f"{kind} operations" for kind in sorted(done) if kind not in observed.operations]
    if ranks is None:
        unseen.append("each rank's share of the bytes")
    return Fidelity(
        layer=observed.layer,
        rows=compared,
        size_distance=_size_distance(observed, rows),
        rank_distance=ranks,
        unseen=unseen,
    )


def _row(what: str, unit: str, application: int, proxy: int) -> FidelityRow:
    error = (proxy - application) / application if application else None
    return FidelityRow(what=what, unit=unit, application=application, proxy=proxy, error=error)


def _bytes(rows: Sequence[PhaseRow], kind: str) -> int:
    return sum(row.by_operation[kind].bytes for row in rows if kind in row.by_operation)


def _operations(rows: Sequence[PhaseRow]) -> dict[str, int]:
    """Operations by kind; a create counts as an open, as in the logs that we compare with."""
    done: dict[str, int] = {}
    for row in rows:
        for kind, operation in row.by_operation.items():
            counted = "open" if kind == "create" else kind
            done[counted] = done.get(counted, 0) + operation.operations
    return done


def _size_distance(observed: Observed, rows: Sequence[PhaseRow]) -> float:
    theirs = observed.request_classes()
    ours = {kind: [0] * len(counts) for kind, counts in theirs.items()}
    for row in rows:
        for request in row.request_sizes:
            if request.kind.value in ours:
                ours[request.kind.value][request_class(request.bytes)] += request.count
    return _distance(theirs["write"] + theirs["read"], ours["write"] + ours["read"])


def _rank_distance(shares: list[int] | None, rows: Sequence[PhaseRow]) -> float | None:
    ranks = max(row.ranks for row in rows)
    if shares is None or len(shares) != ranks:
        return None
    moved = [0] * ranks
    for row in rows:
        for rank, count in enumerate(row.per_rank.bytes):
            moved[rank] += count
    return _distance(shares, moved)


def _distance(left: Sequence[int], right: Sequence[int]) -> float:
    """Total variation distance of two lists of counts, as shares of their sums."""
    total_left, total_right = sum(left), sum(right)
    if total_left == 0 or total_right == 0:
        return 0.0 if total_left == total_right else 1.0
    pairs = zip(left, right, strict=True)
    return sum(abs(a / total_left - b / total_right) for a, b in pairs) / 2
