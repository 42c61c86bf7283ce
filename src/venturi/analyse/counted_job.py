"""What a log of counters says of its job, its layers and its files, without any judgement.

This is what readers of Darshan logs look at first. Nothing is left out here: standard streams and
files of the system stand in these tables as in the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from venturi.derive.counts import KEPT_VALUES, bytes_of, common_of, requests_of, total
from venturi.model.characterization_data import CountedCalls, CountedJob, CountedSize
from venturi.model.plan import Direction
from venturi.model.trace import CounterRecord, Layer, Trace

MOST_FILES = 200
_FORMATS = ("darshan", "darshan-parser", "darshan-dxt-parser")
_OPENS = ("OPENS", "INDEP_OPENS", "COLL_OPENS")
_SYNCS = ("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES")


def counted_job_of(trace: Trace) -> CountedJob | None:
    """The tables of a Darshan log; None for any other capture."""
    if trace.source.format not in _FORMATS or not trace.records:
        return None
    by_layer: dict[Layer, list[CounterRecord]] = {}
    by_file: dict[tuple[Layer, str], list[CounterRecord]] = {}
    for record in trace.records:
        by_layer.setdefault(record.layer, []).append(record)
        by_file.setdefault((record.layer, record.identity), []).append(record)
    ranks = trace.job.ranks
    layers = [_layer(layer, records, ranks) for layer, records in by_layer.items()]
    files = [_counted(records[0].file, records, ranks) for records in by_file.values()]
    files.sort(key=lambda file: (-file.bytes_read - file.bytes_written, file.name))
    return CountedJob(
        number=trace.job.number,
        command=trace.job.command,
        started=trace.job.started,
        library=trace.source.library_version,
        layers=layers,
        files=files[:MOST_FILES],
        left_out=max(0, len(files) - MOST_FILES),
    )


def _layer(layer: Layer, records: Sequence[CounterRecord], ranks: int) -> CountedCalls:
    """The sums of a whole layer, with its most frequent sizes; of equal ones the larger first."""
    sizes = common_of(records).accesses
    most = sorted(sizes.items(), key=lambda one: (-one[1], -one[0]))[:KEPT_VALUES]
    common = [CountedSize(bytes=size, count=count) for size, count in most]
    return _counted(layer.value, records, ranks).model_copy(update={"common_sizes": common})


def _counted(name: str, records: Sequence[CounterRecord], ranks: int) -> CountedCalls:
    """The sums of records of one layer."""
    is_shared = any(record.rank < 0 for record in records)
    return CountedCalls(
        name=name,
        layer=records[0].layer.value,
        files=len({record.identity for record in records}),
        ranks=ranks if is_shared else len({record.rank for record in records}),
        opens=total(records, *_OPENS),
        reads=_requests(records, Direction.READ),
        writes=_requests(records, Direction.WRITE),
        seeks=total(records, "SEEKS"),
        stats=total(records, "STATS"),
        syncs=total(records, *_SYNCS),
        bytes_read=sum(bytes_of(record, Direction.READ) for record in records),
        bytes_written=sum(bytes_of(record, Direction.WRITE) for record in records),
        sequential_reads=_known(records, "SEQ_READS"),
        sequential_writes=_known(records, "SEQ_WRITES"),
        consecutive_reads=_known(records, "CONSEC_READS"),
        consecutive_writes=_known(records, "CONSEC_WRITES"),
        read_s=_seconds(records, "F_READ_TIME"),
        write_s=_seconds(records, "F_WRITE_TIME"),
        names_s=_seconds(records, "F_META_TIME"),
    )


def _requests(records: Iterable[CounterRecord], direction: Direction) -> int:
    return sum(requests_of(record, direction)[0] for record in records)


def _known(records: Sequence[CounterRecord], name: str) -> int | None:
    """The sum of a counter; None where no record has it."""
    if not any(name in record.counters for record in records):
        return None
    return total(records, name)


def _seconds(records: Iterable[CounterRecord], name: str) -> float:
    return sum(max(0.0, record.times.get(name, 0.0)) for record in records)
