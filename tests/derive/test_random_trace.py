"""Whatever a trace says, derive gives a workload that adds up, or one sentence."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_ours import check_totals

from venturi.derive.counts import BUCKETS
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.trace import CounterRecord, Gap, Layer, Trace, TracedJob, TraceSource
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

_LAYERS = [layer for layer in Layer if layer is not Layer.LUSTRE]
_COUNTERS = [
    "OPENS",
    "READS",
    "WRITES",
    "INDEP_READS",
    "INDEP_WRITES",
    "COLL_READS",
    "COLL_WRITES",
    "BYTES_READ",
    "BYTES_WRITTEN",
    "MAX_BYTE_READ",
    "MAX_BYTE_WRITTEN",
    "CONSEC_READS",
    "CONSEC_WRITES",
    "SEQ_READS",
    "SEQ_WRITES",
    "RW_SWITCHES",
    "FSYNCS",
    "FDSYNCS",
    "SYNCS",
    "FLUSHES",
    "FILE_NOT_ALIGNED",
    "FILE_ALIGNMENT",
    "IS_RECORD_VAR",
    "NPOINTS",
    "DATATYPE_SIZE",
    "USE_MPIIO_COLLECTIVE",
    "SLOWEST_RANK_BYTES",
    "FASTEST_RANK_BYTES",
    *(f"ACCESS{i}_{what}" for i in range(1, 5) for what in ("ACCESS", "COUNT")),
    *(f"STRIDE{i}_{what}" for i in range(1, 5) for what in ("STRIDE", "COUNT")),
    *(
        f"SIZE_{way}{agg}_{name}"
        for way in ("READ", "WRITE")
        for agg in ("", "_AGG")
        for name, _ in BUCKETS
    ),
]
_TIMES = [
    "F_OPEN_START_TIMESTAMP",
    "F_CLOSE_END_TIMESTAMP",
    "F_READ_START_TIMESTAMP",
    "F_WRITE_START_TIMESTAMP",
    "F_READ_END_TIMESTAMP",
    "F_WRITE_END_TIMESTAMP",
    "F_META_TIME",
    "F_READ_TIME",
    "F_WRITE_TIME",
    "F_SLOWEST_RANK_TIME",
    "F_FASTEST_RANK_TIME",
    "F_VARIANCE_RANK_BYTES",
]
_PATHS = ["/a/out", "/a/out.1", "/a/out.2", "/a/b/log", "/a/d:/v", "/usr/lib/x.so", "<STDOUT>", ""]

_numbers = st.one_of(
    st.integers(0, 12), st.sampled_from([16, 100, 4096, 47008, 65536, 2**20, 2**31, 2**40, 2**56])
)


@st.composite
def _counters(draw: st.DrawFn, layer: Layer) -> dict[str, int]:
    """Counters of a record: regular requests, then anything on top of them."""
    counters: dict[str, int] = {"OPENS": draw(st.integers(0, 9))}
    plural = "COLL_{}" if layer in (Layer.MPIIO, Layer.PNETCDF_VARIABLE) else "{}"
    for past, word in (("WRITTEN", "WRITES"), ("READ", "READS")):
        requests = draw(st.sampled_from([0, 0, 1, 7, 16, 100, 1000]))
        size = draw(st.sampled_from([1, 80, 4096, 47008, 2**20, 2**31]))
        counters[plural.format(word)] = requests
        counters[f"BYTES_{past}"] = requests * size
        counters[f"MAX_BYTE_{past}"] = draw(st.sampled_from([requests * size, size, 2**30])) - 1
        counters[f"SEQ_{word}"] = requests * draw(st.integers(0, 4)) // 4
        counters[f"CONSEC_{word}"] = counters[f"SEQ_{word}"] * draw(st.integers(0, 4)) // 4
        counters["ACCESS1_ACCESS"], counters["ACCESS1_COUNT"] = size, requests
    stride = draw(st.sampled_from([0, 4096, 47008, 2**20]))
    counters["STRIDE1_STRIDE"], counters["STRIDE1_COUNT"] = stride, draw(st.integers(0, 200))
    noise = draw(st.dictionaries(st.sampled_from(_COUNTERS), _numbers, max_size=6))
    return {k: v for k, v in (counters | noise).items() if v >= 0}


@st.composite
def _records(draw: st.DrawFn, ranks: int) -> CounterRecord:
    layer = draw(st.sampled_from(_LAYERS))
    return CounterRecord(
        layer=layer,
        file=draw(st.sampled_from(_PATHS)),
        identity=str(draw(st.integers(0, 5))),
        within=draw(st.sampled_from(["", "1", "9"])),
        rank=draw(st.integers(-1, ranks - 1)),
        counters=draw(_counters(layer)),
        times=draw(
            st.dictionaries(st.sampled_from(_TIMES), st.floats(0, 1e6), max_size=len(_TIMES))
        ),
    )


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces whose counters contradict each other as they like."""
    ranks = draw(st.integers(1, 9))
    records = draw(st.lists(_records(ranks), max_size=8))
    return Trace(
        source=TraceSource(format="darshan", file="random.darshan"),
        job=TracedJob(ranks=ranks, seconds=1.0),
        layers=list(Layer),
        records=records,
        gaps=draw(st.lists(st.just(Gap(layer="POSIX", what="lost")), max_size=1)),
        record_count=len(records),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(traces())
def test_random_traces_never_crash_derive(trace: Trace) -> None:
    refusal = ""
    try:
        workload = derive(trace, "random")
    except UserError as error:
        refusal = error.message
    if refusal:
        assert "random.darshan" in refusal
        return
    assert parse_yaml(to_yaml(workload), "random", Workload) == workload
    check_totals(workload)


def test_a_job_of_a_billion_ranks_takes_no_time() -> None:
    ranks = 10**9
    record = CounterRecord(
        layer=Layer.POSIX,
        file="/a/out",
        identity="1",
        rank=-1,
        counters={"OPENS": ranks, "WRITES": ranks, "BYTES_WRITTEN": 4096 * ranks},
        times={},
    )
    trace = Trace(
        source=TraceSource(format="darshan", file="wide.darshan"),
        job=TracedJob(ranks=ranks, seconds=1.0),
        layers=[Layer.POSIX],
        records=[record, record.model_copy(update={"identity": "2", "rank": 7})],
        record_count=2,
    )
    workload = derive(trace, "wide")
    assert workload.origin is not None
    assert workload.origin.observed is not None
    assert workload.origin.observed.bytes_written == 2 * 4096 * ranks
