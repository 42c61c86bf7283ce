"""Hints and stripes that only one side of a comparison asks for."""

from __future__ import annotations

import pytest

from venturi.model.error import TargetProblem
from venturi.model.operation import (
    KIND_CODES,
    LAYER_CODES,
    OPENED_HINTED,
    OPENED_TOGETHER,
    Kind,
    operations_of,
)
from venturi.model.trace import Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.predict.alike import check_alike, check_captured


def asking(words: str) -> Workload:
    text = (
        f"workload: 1\nname: alike\ngroups: {{g: {{ranks: 1}}}}\nfiles: {{f: {{path: f{words}}}}}\n"
        "program: {g: [{phase: p, do: [{create: f}, {close: f}]}]}\n"
    )
    return parse_yaml(text, "alike.yaml", Workload)


PLAIN = asking("")
HINTS = asking(", interface: mpiio, hints: {cb_nodes: 1}")
STRIPES = asking(", stripe: {count: 4}")
INHERITED = asking(", stripe: {count: 0}")


def opened(flags: int) -> Captured:
    """A run in which one file is opened through MPI-IO."""
    trace = Trace(
        schema_="venturi.trace/1",
        source=TraceSource(format="venturi", file="x"),
        job=TracedJob(ranks=1, seconds=1.0),
        layers=[Layer.MPIIO],
        processes=[Process(rank=0)],
        files=[TracedFile(path="/scratch/state.dat")],
        operation_count=1,
        record_count=0,
        records=[],
    )
    layer, kind = LAYER_CODES[Layer.MPIIO], KIND_CODES[Kind.OPEN]
    ops = operations_of(
        layer=[layer], kind=[kind], detail=[flags], file=[0], start_ns=[0], end_ns=[1]
    )
    return Captured(trace, ops)


BARE, HINTED = opened(OPENED_TOGETHER | 2), opened(OPENED_TOGETHER | OPENED_HINTED | 2)


@pytest.mark.parametrize(
    ("proxy", "other", "words"),
    [
        (HINTS, PLAIN, r"hints \(cb_nodes=1\), the other workload for none"),
        (PLAIN, STRIPES, "has no stripes, the other workload for count 4"),
        (HINTS, STRIPES, "cb_nodes=1.*; the proxy has no stripes"),
    ],
)
def test_one_of_two_workloads_alone_is_refused_or_said(
    proxy: Workload, other: Workload, words: str
) -> None:
    with pytest.raises(TargetProblem, match=words) as refused:
        check_alike(proxy, other, may_differ=False)
    assert "--unlike" in refused.value.hint
    assert check_alike(proxy, other, may_differ=True)


@pytest.mark.parametrize(
    ("proxy", "run", "words"),
    [
        (PLAIN, HINTED, "gives MPI-IO hints for state.dat, the proxy has none"),
        (HINTS, BARE, r"asks for hints \(cb_nodes=1\), the application gives none"),
        (STRIPES, BARE, r"asks for stripes \(count 4\); whether the application does"),
    ],
)
def test_an_application_that_asks_otherwise_is_refused_or_said(
    proxy: Workload, run: Captured, words: str
) -> None:
    with pytest.raises(TargetProblem, match=words) as refused:
        check_captured(proxy, run, may_differ=False)
    assert "--unlike" in refused.value.hint
    assert len(check_captured(proxy, run, may_differ=True)) == 1


def test_who_asks_for_the_same_is_alike() -> None:
    assert check_alike(PLAIN, INHERITED, may_differ=False) == []
    assert check_alike(HINTS, HINTS, may_differ=False) == []
    assert check_captured(PLAIN, BARE, may_differ=False) == []
    (said,) = check_captured(HINTS, HINTED, may_differ=False)
    assert "whether the same ones" in said
