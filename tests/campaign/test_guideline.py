"""Guidelines for scaling benchmarks: what a study kept, from where it ran and what it measured."""

from __future__ import annotations

import pytest

from venturi.analyse.scaling import CurveRequest, SizedMetric, curve_of
from venturi.campaign.guideline import Placement, guidelines_of
from venturi.model.campaign import MetricSummary
from venturi.model.output import Better
from venturi.model.scaling import ScalingCurve, Study, StudyKind

HERE = Placement(nodes=[1], per_node=[1, 2], cores=2, is_workload=True, scales=["laptop"])


def curve(sizes: tuple[int, ...], runs: int, unit: str, **others: str) -> ScalingCurve:
    better = Better.LOWER if unit == "s" else Better.HIGHER
    measured = [
        SizedMetric(
            n,
            f"p{n}",
            MetricSummary(
                name="m",
                unit=unit,
                better=better,
                values=[1.0] * runs,
                median=1.0,
                low=1.0,
                high=1.0,
                coverage=0.0,
            ),
        )
        for n in sizes
    ]
    found = curve_of(
        CurveRequest(StudyKind.STRONG, "ranks", sizes[0], "run", dict(others)), measured
    )
    assert isinstance(found, ScalingCurve)
    return found


def kept(
    curves: list[ScalingCurve], placement: Placement = HERE, problem: str = ""
) -> list[tuple[str, str]]:
    """State and words of each guideline, in their order."""
    study = Study(kind=StudyKind.STRONG, problem=problem)
    return [(one.state.value, one.says) for one in guidelines_of(study, "ranks", curves, placement)]


@pytest.mark.parametrize(
    ("sizes", "state"), [((1, 99), "partly"), ((1, 100), "met"), ((2, 19), "not met")]
)
def test_sizes_over_orders_of_magnitude(sizes: tuple[int, ...], state: str) -> None:
    assert kept([curve(sizes, 6, "s")])[0][0] == state


@pytest.mark.parametrize(("runs", "state"), [(1, "not met"), (5, "partly"), (6, "met")])
def test_several_runs_of_the_size_that_has_fewest(runs: int, state: str) -> None:
    assert kept([curve((1, 2), 9, "s"), curve((1, 2), runs, "s")])[2][0] == state


def test_the_clock_of_a_command_is_not_known() -> None:
    command = Placement(nodes=[], per_node=[], cores=0, is_workload=False, scales=[])
    assert kept([curve((1, 2), 6, "s")])[1][0] == "met"
    state, says = kept([curve((1, 2), 6, "B/s")], command)[1]
    assert state == "not known"
    assert says.startswith("rates are those that the command prints")


@pytest.mark.parametrize(
    ("nodes", "per_node", "cores", "state", "says"),
    [
        ([1], [1, 2], 2, "met", "1 to 2 ranks on a node, 1 node of 2 cores"),
        ([1], [1, 4], 2, "not met", "beyond 2 ranks they share 2 cores"),
        ([1], [1], 0, "not known", "its cores are not known"),
        ([1, 4], [8], 16, "partly", "8 ranks on a node, 1 to 4 nodes; interconnect"),
        ([1, 4], [2, 8], 16, "partly", "are mixed"),
        ([], [], 0, "not known", "is not said"),
    ],
)
def test_ranks_nodes_and_cores(
    nodes: list[int], per_node: list[int], cores: int, state: str, says: str
) -> None:
    found = kept([curve((1, 2), 6, "s")], Placement(nodes, per_node, cores, True, []))[3]
    assert found[0] == state
    assert says in found[1]


def test_other_factors_and_production() -> None:
    assert kept([curve((1, 2), 6, "s")])[4][0] == "not met"
    assert kept([curve((1, 2), 6, "s", way="own")])[4] == (
        "partly",
        "one system; varied beside: way",
    )
    assert kept([curve((1, 2), 6, "s")])[5][0] == "not known"
    state, says = kept([curve((1, 2), 6, "s")], problem="a dump of 4 TiB")[5]
    assert state == "stated"
    assert says == "the campaign's file says: a dump of 4 TiB (scale laptop)"


def test_nothing_measured_keeps_nothing() -> None:
    states = [state for state, _ in kept([])]
    assert states[:3] == ["not met", "not known", "not met"]
