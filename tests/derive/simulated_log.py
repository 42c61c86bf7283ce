"""What Darshan would count for a program whose every request is known.

Follows the rules of darshan-posix.c: SEQ counts offsets beyond the last byte, CONSEC those right
behind it, the last byte starts at 0, strides are gaps between requests, and four frequent sizes
and strides are kept. A file that all ranks used becomes one reduced record.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from venturi.derive.counts import BUCKETS
from venturi.model.trace import CounterRecord, Layer, Trace, TracedJob, TraceSource
from venturi.model.workload import request_class

WORDS = {"write": ("WRITES", "WRITTEN", "WRITE"), "read": ("READS", "READ", "READ")}


@dataclass
class RankLog:
    """One rank's counters for one file."""

    sums: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    sizes: Counter[int] = field(default_factory=Counter)
    strides: Counter[int] = field(default_factory=Counter)
    times: dict[str, float] = field(default_factory=dict)
    switches_from: str = ""

    def open(self, at_s: float) -> None:
        """One open."""
        self.sums["OPENS"] += 1
        self.times.setdefault("F_OPEN_START_TIMESTAMP", at_s)

    def run(self, kind: str, requests: list[tuple[int, int]], at_s: float) -> None:
        """Requests of one direction, as (offset, bytes), in order."""
        plural, past, word = WORDS[kind]
        last = 0
        for offset, size in requests:
            self.sums[plural] += 1
            self.sums[f"BYTES_{past}"] += size
            self.sums[f"SIZE_{word}_{BUCKETS[request_class(size)][0]}"] += 1
            self.sizes[size] += 1
            self.sums[f"SEQ_{plural}"] += offset > last
            self.sums[f"CONSEC_{plural}"] += offset == last + 1
            if last and offset > last + 1:
                self.strides[offset - last - 1] += 1
            last = offset + size - 1
            self.most[f"MAX_BYTE_{past}"] = max(self.most[f"MAX_BYTE_{past}"], last)
        self.sums["RW_SWITCHES"] += bool(self.switches_from) and self.switches_from != kind
        self.switches_from = kind
        self.times.setdefault(f"F_{word}_START_TIMESTAMP", at_s)
        self.times[f"F_{word}_END_TIMESTAMP"] = at_s + 0.5


def reduced(logs: list[RankLog]) -> RankLog:
    """The sum over ranks."""
    whole = RankLog(times=dict(logs[0].times))
    for log in logs:
        whole.sums += log.sums
        whole.sizes += log.sizes
        whole.strides += log.strides
        whole.most |= log.most
    return whole


def record_of(log: RankLog, name: str, rank: int) -> CounterRecord:
    """The record as the trace would hold it."""
    counters = dict(log.sums) | dict(log.most)
    for what, values in (("ACCESS", log.sizes), ("STRIDE", log.strides)):
        for place, (value, count) in enumerate(values.most_common(4), start=1):
            counters[f"{what}{place}_{what}"] = value
            counters[f"{what}{place}_COUNT"] = count
    return CounterRecord(
        layer=Layer.POSIX,
        file=f"/scratch/{name}",
        identity=str(sum(map(ord, name)) * 1000 + max(rank, 0)),
        rank=rank,
        counters=counters,
        times=log.times,
    )


def trace_of_files(files: list[tuple[str, dict[int, RankLog]]], ranks: int) -> Trace:
    """A trace of files and the ranks that used each."""
    records = []
    for name, logs in files:
        if len(logs) == ranks and ranks > 1:
            records.append(record_of(reduced(list(logs.values())), name, -1))
        else:
            records += [record_of(log, name, rank) for rank, log in logs.items()]
    return Trace(
        source=TraceSource(format="darshan", file="simulated.darshan"),
        job=TracedJob(ranks=ranks, seconds=9.0),
        layers=[Layer.POSIX],
        records=records,
        record_count=len(records),
    )
