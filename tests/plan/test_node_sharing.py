"""Files that the ranks of a node share: planned for any nodes, counted for full ones in order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.test_issue_mode import made_with
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Number, evaluate
from venturi.plan.make import PlanResult

BY_NODE = "{path: f, shared: node}"
PATTERNS = {
    "contiguous": "transfer: 10, size: 25",
    "dealt": "transfer: 10, total: 7",
    "segmented": "pattern: segmented, transfer: 5, block: 10, segments: 3",
    "strided": "pattern: strided, transfer: 10, count: 3",
    "random": "pattern: random, transfer: 10, size: 30",
    "mixed": "mix: [{bytes: 4, weight: 1}, {bytes: 9, weight: 1}], count: 4",
}


def slots_on(made: PlanResult, nodes: list[int], rank: int) -> list[Number]:
    """What expressions read on a rank, where each rank's node is given."""
    own = nodes[rank]
    words: dict[str, Number] = {
        "rank": rank,
        "ranks": len(nodes),
        "world": len(nodes),
        "node": own,
        "node_rank": nodes[:rank].count(own),
        "node_ranks": nodes.count(own),
    }
    return [words.get(name, 0) for name in made.plan.slots]


def places_of(step: p.Transfer, slots: list[Number]) -> list[int]:
    """The bytes that a nest of requests touches."""
    pattern = step.pattern
    assert isinstance(pattern, p.Nest)
    starts = [int(evaluate(pattern.base, slots))]
    for loop in pattern.loops:
        stride = int(evaluate(loop.stride, slots))
        starts = [s + i * stride for s in starts for i in range(int(evaluate(loop.count, slots)))]
    size = int(evaluate(step.size, slots))
    return [start + i for start in starts for i in range(size)]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
@pytest.mark.parametrize("pattern", ["contiguous", "dealt", "segmented", "strided"])
def test_the_ranks_of_a_node_fill_its_file(pattern: str, nodes: list[int]) -> None:
    made = made_with(f"w | | write: {{to: f, {PATTERNS[pattern]}}}", len(nodes), BY_NODE)
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    steps = [step for step in phase.body if isinstance(step, p.Transfer)]
    for node in set(nodes):
        touched: Counter[int] = Counter()
        for rank in (rank for rank, own in enumerate(nodes) if own == node):
            for step in steps:
                touched.update(places_of(step, slots_on(made, nodes, rank)))
        assert sorted(touched) == list(range(len(touched)))
        assert set(touched.values()) == {1}
        whole = 70 if pattern == "dealt" else nodes.count(node) * (25 if len(steps) > 1 else 30)
        assert len(touched) == whole


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_every_pattern_is_counted(pattern: str) -> None:
    made = made_with(f"w | | write: {{to: f, {PATTERNS[pattern]}}}", 5, BY_NODE, nodes=2)
    each = {"contiguous": 25, "mixed": 26}.get(pattern, 30)
    assert made.totals.bytes_written == (140 if pattern == "dealt" else 5 * each)
    assert made.totals.files == 2
    assert made.totals.operations["create"] == 2
    assert made.totals.operations["open"] == 3


def test_nodes_are_full_one_behind_the_other() -> None:
    steps = "compute: 1 s if node == 1 and node_rank == 0 and node_ranks == 2 else 0"
    made = made_with(f"w | | {steps}", 5, BY_NODE, nodes=2)
    assert made.totals.seconds_computing == 1


def test_one_rank_of_each_node() -> None:
    made = made_with(
        "w | | {when: node_rank == 0, do: [{create: f}, {write: {to: f, transfer: 9, size: 9}}]}",
        6,
        "{path: f, shared: rank}",
        nodes=3,
    )
    assert (made.totals.files, made.totals.bytes_written) == (3, 27)


def test_a_file_of_each_node_is_in_place_before_the_run() -> None:
    made = made_with(
        "r | | read: {from: f, transfer: 10, size: 10}",
        6,
        "{path: f, shared: node, prestage: 10}",
        nodes=3,
    )
    assert (made.totals.bytes_prestaged, made.totals.files) == (60, 3)


def test_a_library_s_file_is_as_long_as_the_largest_node_needs() -> None:
    made = made_with(
        "w | | write: {to: f, transfer: 10, size: 10}",
        5,
        "{path: f, shared: node, interface: hdf5}",
        nodes=2,
    )
    assert made.plan.files[0].datasets[0].shape == [30]


def test_reads_among_writes_of_a_node() -> None:
    program = (
        "w | | write: {to: f, transfer: 10, size: 40}\n"
        "m | | write: {to: f, pattern: random, transfer: 10, size: 40, reads: 0.5}"
    )
    assert made_with(program, 6, BY_NODE, nodes=2).totals.bytes_read == 120


@pytest.mark.parametrize(
    ("program", "file", "message"),
    [
        (
            "w | | write: {to: f, transfer: 9, size: 9}",
            "{path: 'f{rank}', shared: node}",
            "not shared by the ranks of a node",
        ),
        (
            "w | | write: {to: f, pattern: tiled, shape: [4], tile: [2], element: 1}",
            BY_NODE,
            "known only in a run",
        ),
        (
            "w | | write: {to: f, transfer: 9, size: 9 + node_rank}",
            BY_NODE,
            "need an 'at'",
        ),
        (
            "w | | write: {to: f, transfer: 9, size: 9 + node_ranks}",
            "{path: f}",
            "need an 'at'",
        ),
        (
            "w | | {when: node_rank == 0, do: [{create: f}]}",
            BY_NODE,
            "under a condition on the rank",
        ),
        (
            "w | | {create: f}; {write: {to: f, transfer: 9, size: 9}, from: next node}",
            BY_NODE,
            "file of each node",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(program: str, file: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        made_with(program, 4, file)
