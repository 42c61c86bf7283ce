"""Figures of kernels are metrics: one value for each repetition, by the kernel's own statistic."""

from __future__ import annotations

import pytest

from analyse.phase import phase
from venturi.analyse.kernel import figure_units
from venturi.analyse.label import LabelFacts, labelled, labels_of
from venturi.analyse.metric import check_metrics, metrics_of
from venturi.model.error import UserError
from venturi.model.event import (
    KernelAxis,
    KernelPoint,
    KernelResult,
    KernelSeries,
    KernelStatistic,
)
from venturi.model.output import Better
from venturi.model.record import PhaseRow
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml

TEXT = """
workload: 1
name: memory
program:
  main:
    - phase: triad
      do:
        - kernel: {name: memory_triad}
metrics:
  twice: {value: "2 * sample(triad at 32 KiB, triad)", unit: B/s}
"""


def workload(text: str = TEXT) -> Workload:
    return parse_yaml(text, "memory.yaml", Workload)


def row(repetition: int, samples: list[float]) -> PhaseRow:
    series = KernelSeries(
        name="triad",
        unit="B/s",
        better=Better.HIGHER,
        statistic=KernelStatistic.MAX,
        axes=[KernelAxis(name="array", unit="B")],
        points=[KernelPoint(at=[32768], samples=samples, figure="triad")],
    )
    result = KernelResult(name="memory_triad", version=1, ranks=1, facts=[], series=[series])
    return phase("triad", 1.0, repetition).model_copy(update={"kernels": [result]})


def test_figure_has_a_value_for_each_repetition() -> None:
    metrics = metrics_of(workload(), {}, [row(0, [1.0, 3.0]), row(1, [5.0, 2.0])])
    assert metrics["triad: triad"].values == [3.0, 5.0]
    assert metrics["triad: triad"].unit == "B/s"
    assert metrics["twice"].values == [6.0, 10.0]
    assert "triad" not in metrics


def test_executions_in_one_repetition_are_one_set_of_samples() -> None:
    metrics = metrics_of(workload(), {}, [row(0, [1.0]), row(0, [4.0]), row(0, [2.0])])
    assert metrics["triad: triad"].values == [4.0]


def test_kernel_has_no_label_of_storage() -> None:
    rows = [row(0, [1.0])]
    labels = labels_of(rows, LabelFacts(file_system="tmpfs"))
    metrics = labelled(metrics_of(workload(), {}, rows), workload(), labels)
    assert [value.labels for value in metrics.values()] == [[], []]


def test_threshold_may_stand_on_a_figure() -> None:
    text = TEXT + 'thresholds:\n  "triad: triad": {at_least: 1 GB/s}\n'
    check_metrics(workload(text), ["triad"])
    with pytest.raises(UserError, match="no such metric"):
        check_metrics(workload(text.replace('"triad: triad"', '"triad: tried"')), ["triad"])


def test_two_kernels_of_a_phase_have_no_figure_in_common() -> None:
    line = "        - kernel: {name: memory_triad}\n"
    with pytest.raises(UserError, match="two kernels in it measure 'copy'"):
        figure_units(workload(TEXT.replace(line, 2 * line)))
