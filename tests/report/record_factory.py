"""Records made up from a seed: realistic in shape, exact in their sums, the same every time."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from venturi.analyse.label import LabelFacts, labels_of, run_labels_of
from venturi.model.event import (
    CacheState,
    ClockFacts,
    ErrorDetail,
    Histogram,
    RankTimes,
    RequestSize,
    StoppedBy,
    TimeLine,
)
from venturi.model.plan import OperationKind
from venturi.model.record import (
    Environment,
    Fidelity,
    FidelityRow,
    FileSystem,
    LatencyNs,
    Level,
    OperationRow,
    PhaseRow,
    Record,
    Seconds4,
    Substitution,
    Verdict,
)
from venturi.model.statistic import bucket_of

MIB = 1024**2
GIB = 1024**3
OPEN_EDGE = 2**63 - 1
EDGES = (100, 1024, 10240, 102400, MIB, 4 * MIB, 10 * MIB, 100 * MIB, GIB, OPEN_EDGE)


@dataclass(frozen=True)
class Shape:
    """What a phase of a made-up record does on each rank."""

    path: str
    kind: str
    requests: int
    request_bytes: int
    rate_bytes_per_s: float
    """Of each rank."""
    cache: CacheState = CacheState.COLD
    names: tuple[str, ...] = ("open", "close")
    rank_factor: tuple[float, ...] = field(default=())


def histogram(values: list[int], bits: int = 10) -> Histogram:
    """The histogram of latencies in nanoseconds."""
    counts: dict[int, int] = {}
    for value in values:
        bucket = bucket_of(value, bits)
        counts[bucket] = counts.get(bucket, 0) + 1
    buckets = sorted(counts)
    return Histogram(
        bits=bits,
        bucket=buckets,
        count=[counts[bucket] for bucket in buckets],
        min_ns=min(values, default=0),
        max_ns=max(values, default=0),
    )


def operation(values: list[int], moved: int = 0, errors: int = 0) -> OperationRow:
    """All operations of one kind, from their latencies."""
    ordered = sorted(values) or [0]

    def at(share: float) -> int:
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    return OperationRow(
        bytes=moved,
        operations=len(values),
        errors=errors,
        seconds=sum(values) / 1e9,
        latency_ns=LatencyNs(
            min=ordered[0], p50=at(0.5), p90=at(0.9), p99=at(0.99), p99_9=at(0.999), max=ordered[-1]
        ),
        histogram=histogram(values),
    )


def _latencies(rng: random.Random, n: int, median_ns: float) -> list[int]:
    values = [int(median_ns * rng.lognormvariate(0, 0.35)) for _ in range(n)]
    return [value * (12 if rng.random() < 0.01 else 1) for value in values]


def phase_row(shape: Shape, repetition: int, ranks: int, at_s: float, seed: int = 7) -> PhaseRow:
    """One phase in one repetition."""
    rng = random.Random(f"{seed} {shape.path} {repetition}")
    pace = rng.lognormvariate(0, 0.06)
    each = shape.requests * shape.request_bytes
    rows: dict[str, list[int]] = {shape.kind: []}
    open_s, transfer_s, close_s, names_s = [], [], [], []
    median_ns = shape.request_bytes / shape.rate_bytes_per_s / pace * 1e9 or 40_000 / pace
    for rank in range(ranks):
        factor = shape.rank_factor[rank] if rank < len(shape.rank_factor) else 1.0
        own = [int(v * factor) for v in _latencies(rng, shape.requests, median_ns)]
        rows[shape.kind] += own
        spent = {}
        for name in shape.names:
            value = _latencies(rng, 1, 180_000)[0]
            rows.setdefault(name, []).append(value)
            spent[name] = value / 1e9
        open_s.append(spent.get("open", 0.0) + spent.get("create", 0.0))
        close_s.append(spent.get("close", 0.0))
        moved_s = sum(own) / 1e9 if shape.kind in ("write", "read") else 0.0
        transfer_s.append(moved_s + spent.get("sync", 0.0))
        names_s.append(0.0 if moved_s else sum(own) / 1e9)
    totals = [sum(parts) for parts in zip(open_s, transfer_s, close_s, names_s, strict=True)]
    total = max(totals) * 1.01 or 0.25
    done = sum(len(values) for values in rows.values())
    bins = 40
    weights = [rng.lognormvariate(0, 0.2) for _ in range(bins)]
    per_bin = [int(each * ranks * weight / sum(weights)) for weight in weights]
    per_bin[-1] += each * ranks - sum(per_bin)
    zeros = [0] * bins
    return PhaseRow(
        path=shape.path, group="application", instance=0, iteration={}, repetition=repetition,
        at_s=at_s, bytes=each * ranks, operations=done, errors=0, ranks=ranks,
        seconds=Seconds4(open=max(open_s), transfer=max(transfer_s), close=max(close_s),
                         total=total, compute=0.0),
        bytes_per_second=each * ranks / total,
        by_operation={
            kind: operation(values, each * ranks if kind == shape.kind else 0)
            for kind, values in rows.items()
        },
        stopped_by=StoppedBy.WORK, cache=shape.cache,
        cache_reason="pages dropped before the phase and checked",
        flushed="fsync" if shape.kind == "write" else "none",
        request_sizes=[
            RequestSize(kind=OperationKind(shape.kind), bytes=shape.request_bytes,
                        count=shape.requests * ranks)
        ] if each else [],
        other_requests=0,
        per_rank=RankTimes(
            bytes=[each] * ranks, operations=[done // ranks] * ranks, open_s=open_s,
            transfer_s=transfer_s, close_s=close_s, total_s=totals, start_s=[0.0] * ranks,
        ),
        time_line=TimeLine(
            bin_s=total / bins,
            bytes_written=per_bin if shape.kind == "write" else zeros,
            bytes_read=per_bin if shape.kind == "read" else zeros,
            operations=[done // bins] * bins,
        ),
        short_transfers=0, details=[],
    )  # fmt: skip


SHAPES = (
    Shape("checkpoint", "write", 96, MIB, 420e6, CacheState.NONE, ("create", "sync", "close"),
          (1.0, 1.0, 1.35, 1.0)),
    Shape("restart", "read", 96, MIB, 1300e6),
    Shape("items", "stat", 400, 0, 1.0, CacheState.UNKNOWN, ()),
)  # fmt: skip


def environment() -> Environment:
    """A small machine."""
    return Environment(
        host="node17", hosts=["node17"], kernel="6.1.0", system="Debian GNU/Linux 12",
        cpu="AMD EPYC 7763", cores=2, memory_bytes=8 * GIB, load_average=0.12,
        directory="/scratch/ana",
        file_system=FileSystem(type="xfs", source="/dev/nvme0n1p2", mount="/scratch",
                               total_bytes=500 * GIB, free_bytes=210 * GIB,
                               free_inodes=104_857_600, options="rw,noatime"),
        python="3.11.2", venturi="0.1.0", engine="0.1.0", comm="forked",
        clock=ClockFacts(source="tsc", resolution_ns=0.4, overhead_ns=18.0),
    )  # fmt: skip


def buckets(writes: dict[int, int], reads: dict[int, int]) -> list[dict[str, int]]:
    """Requests by the upper edge of their class."""
    return [
        {"up_to_bytes": edge, "writes": writes.get(edge, 0), "reads": reads.get(edge, 0)}
        for edge in EDGES
    ]


def origin() -> dict[str, Any]:
    """What derive would say of a small checkpointing code."""
    fields = (
        ("api", "POSIX", 1.0, "the highest layer with a record"),
        ("sharing", "one file for all ranks", 1.0, "reduced record of all ranks"),
        ("transfer", "1 MiB", 1.0, "most frequent access size, 97 % of requests"),
        ("block", "96 MiB", 0.8, "bytes of a rank over the segments"),
        ("fsync", "once at the end", 0.9, "one fsync for each rank and file"),
        ("O_DIRECT", "unknown", 0.0, "counters do not show open flags"),
    )
    return {
        "source": "checkpoint_id4711.darshan",
        "method": "darshan",
        "confidence": [
            {"stream": "stream1", "field": f, "value": v, "confidence": c, "rule": r}
            for f, v, c, r in fields
        ],
        "assumed": ["Ranks start each phase together"],
        "truncated": False,
        "observed": {
            "layer": "posix", "ranks": 4, "seconds": 41.2, "io_seconds": 2.31,
            "bytes_written": 384 * MIB, "bytes_read": 384 * MIB,
            "operations": {"write": 396, "read": 384, "open": 8},
            "request_sizes": buckets({1024: 12, MIB: 384}, {MIB: 384}),
            "bytes_per_rank": [192 * MIB] * 4,
            "coverage_bytes": 0.9995, "coverage_operations": 0.97,
        },
        "findings": [
            {"id": "shared-file-contention", "severity": "medium",
             "what": "All ranks write one file without collective calls",
             "evidence": "4 ranks, 384 independent writes to 1 file",
             "advice": "Use collective MPI-IO or stripe the file over more targets."},
            {"id": "misaligned", "severity": "high",
             "what": "Requests do not begin on file system blocks",
             "evidence": "378 of 396 writes (95 %) are not aligned to 4 KiB",
             "advice": "Pad the header to the block size."},
        ],
        "ior": "ior -a POSIX -w -r -t 1m -b 96m -s 1 -e",
    }  # fmt: skip


def workload(with_origin: bool = True) -> dict[str, Any]:
    """A workload in the language, as the record keeps it."""
    data: dict[str, Any] = {
        "workload": 1,
        "name": "checkpoint",
        "about": "A code that writes a checkpoint and reads it back",
        "parameters": {"np": {"default": 4, "role": "ranks"}},
        "files": {"stream1": {"path": "stream1", "shared": "all"}},
        "program": {
            "application": [
                {"phase": "checkpoint", "do": [
                    {"create": "stream1"},
                    {"write": {"to": "stream1", "size": "96 MiB", "transfer": "1 MiB"}},
                    {"close": "stream1"},
                ]},
            ]
        },
    }  # fmt: skip
    return data | ({"origin": origin()} if with_origin else {})


def fidelity() -> Fidelity:
    """A proxy that is nearly exact."""

    def row(what: str, unit: str, application: float, proxy: float) -> FidelityRow:
        error = (proxy - application) / application if application else None
        return FidelityRow(what=what, unit=unit, application=application, proxy=proxy, error=error)

    return Fidelity(
        layer="posix",
        rows=[
            row("bytes written", "B", 384.0 * MIB, 384.0 * MIB),
            row("bytes read", "B", 384.0 * MIB, 384.0 * MIB),
            row("writes", "", 396.0, 384.0),
            row("reads", "", 384.0, 384.0),
        ],
        size_distance=0.0154,
        rank_distance=0.0,
        unseen=["stat", "unlink"],
    )


def record(
    name: str = "checkpoint",
    shapes: tuple[Shape, ...] = SHAPES,
    repetitions: int = 6,
    ranks: int = 4,
    seed: int = 7,
    **changes: Any,
) -> Record:
    """A whole record; `changes` replace fields of it."""
    rows = []
    at_s = 0.05
    for repetition in range(repetitions):
        for shape in shapes:
            row = phase_row(shape, repetition, ranks, at_s, seed)
            rows.append(row)
            at_s += row.seconds.total + 0.01
    data: dict[str, Any] = {
        "id": "r7k2m4q8", "name": name,
        "about": "A code that writes a checkpoint and reads it back",
        "started": "2026-11-20T09:30:12Z", "command": ["venturi", "run", name, "-n", str(ranks)],
        "ranks": ranks, "seed": seed, "repetitions": repetitions,
        "repetitions_asked": max(repetitions, 1), "partial": False, "parameters": {"np": ranks},
        "verdict": Verdict(level=Level.VALID, reasons=[]), "phases": rows, "metrics": {},
        "substituted": [], "fidelity": fidelity(), "environment": environment(),
        "workload": workload(),
    }  # fmt: skip
    return relabelled(Record(**(data | changes)))


def relabelled(made: Record) -> Record:
    """The record with the labels that its phases, its files and its clock give."""
    files = made.workload.get("files") or {}
    instead = {entry.file: entry.used for entry in made.substituted}
    used = {instead.get(n, spec.get("interface", "posix")) for n, spec in files.items()}
    if made.environment.clock.source == "simulated":
        used = {"simulated"}
    facts = LabelFacts(made.environment.file_system.type, frozenset(used), made.substituted)
    labels, of_the_run = labels_of(made.phases, facts), run_labels_of(facts)
    metrics = {
        name: value.model_copy(update={"labels": [*labels.get(name, []), *of_the_run]})
        for name, value in made.metrics.items()
    }
    return made.model_copy(update={"labels": labels, "run_labels": of_the_run, "metrics": metrics})


def substituted() -> Record:
    """A proxy that ran on another interface."""
    data = workload()
    data["origin"]["observed"] |= {
        "layer": "mpiio",
        "bytes_written": 6400 * 47008, "bytes_read": 1024 * 4096,
        "operations": {"write": 6400, "read": 1024, "open": 8},
        "request_sizes": buckets({102400: 6400}, {10240: 1024}), "bytes_per_rank": None,
    }  # fmt: skip
    exact = fidelity().model_copy(
        update={"layer": "mpiio", "size_distance": 0.0, "rank_distance": None,
                "unseen": ["each rank's share of the bytes"], "rows": [
            FidelityRow(what=what, unit=unit, application=value, proxy=value, error=0.0)
            for what, unit, value in (
                ("bytes written", "B", 6400.0 * 47008), ("bytes read", "B", 1024.0 * 4096),
                ("write operations", "", 6400.0), ("read operations", "", 1024.0),
            )
        ]}
    )  # fmt: skip
    entry = Substitution(file="stream1", wanted="mpiio", used="posix", why="asked for by --set")
    return record(
        name="coupled-ocean",
        shapes=(
            Shape("history", "write", 1600, 47008, 55e6, CacheState.NONE, ("open", "close")),
            Shape("forcing", "read", 256, 4096, 20e6, CacheState.COLD),
        ),
        repetitions=3,
        seed=11,
        substituted=[entry],
        workload=data,
        fidelity=exact,
        verdict=Verdict(
            level=Level.INDICATIVE,
            reasons=["3 repetitions; 6 give an interval"],
        ),
    )


def invalid() -> Record:
    """A run with a failed verification, ended early."""
    made = record(name="particles", shapes=SHAPES[:2], repetitions=2, seed=3, fidelity=None)
    detail = ErrorDetail(rank=1, operation=OperationKind.READ, path="stream1", offset=4096, errno=0,
                         what="byte 4096 holds a block of generation 3, expected 4",
                         at_s=0.0123)  # fmt: skip
    bad = made.phases[-1].model_copy(update={"errors": 1, "details": [detail]})
    return made.model_copy(
        update={
            "phases": [*made.phases[:-1], bad],
            "verdict": Verdict(level=Level.INVALID, reasons=["1 read failed its verification."]),
            "partial": True,
            "repetitions_asked": 6,
            "failure": "verification failed in restart, rank 1",
            "workload": workload(with_origin=False),
            "left": ["stream1"],
            "left_command": "venturi results rm r7k2m4q8 --files",
        }
    )
