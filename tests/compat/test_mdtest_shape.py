"""mdtest's shapes: known cases of the real tool, and properties that hold for every tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.compat.mdtest_shape import (
    StrideShift,
    TreeShape,
    item_paths,
    shape_of,
    shifted,
    stride_over_nodes,
    task_counts,
)
from venturi.model.error import UserError

shapes = st.builds(
    TreeShape,
    branch=st.integers(1, 4),
    depth=st.integers(0, 3),
    per_directory=st.integers(1, 4),
    leaves_only=st.booleans(),
    trees=st.integers(1, 3),
)


def shape(branch: int, depth: int, items: int, per: int, leaves: bool) -> TreeShape:
    return shape_of(branch=branch, depth=depth, items=items, per_directory=per, leaves_only=leaves)


@pytest.mark.parametrize(
    ("options", "directories", "per_directory", "items", "trees"),
    [
        ((1, 0, 500, 0, False), 1, 500, 500, 1),
        ((2, 2, 0, 10, False), 7, 10, 70, 1),
        ((1, 3, 0, 10, False), 4, 10, 40, 1),
        ((3, 2, 10, 0, True), 13, 1, 9, 1),
        ((3, 2, 10, 0, False), 13, 0, 0, 1),
        ((3, 2, 27, 0, False), 13, 2, 26, 1),
        ((2, 3, 0, 5, True), 15, 5, 40, 1),
        ((1, 0, 100, 10, False), 1, 10, 100, 10),
        ((0, 0, 7, 0, False), 1, 7, 7, 1),
    ],
)
def test_numbers_of_directories_and_items_are_mdtests(
    options: tuple[int, int, int, int, bool],
    directories: int,
    per_directory: int,
    items: int,
    trees: int,
) -> None:
    if items == 0:
        with pytest.raises(UserError, match="less than one item"):
            shape(*options)
        return
    made = shape(*options)
    assert (made.directories, made.per_directory, made.items, made.trees) == (
        directories,
        per_directory,
        items,
        trees,
    )


@given(shapes)
def test_every_item_lies_in_one_directory_of_the_tree(made: TreeShape) -> None:
    holders = [made.holder(made.first_item + i) for i in range(made.items_of_tree)]
    lowest = made.directories - made.leaves
    wanted = range(lowest if made.leaves_only else 0, made.directories)
    assert sorted(set(holders)) == list(wanted)
    assert all(holders.count(node) == made.per_directory for node in wanted)


@given(shapes)
def test_names_are_unique_and_lie_below_the_root(made: TreeShape) -> None:
    paths = list(item_paths(made, "mdtest_tree.0", "mdtest_tree", "file.mdtest.1."))
    assert len(set(paths)) == len(paths) == made.items_of_tree
    deepest = max(path.count("/") for path in paths)
    assert deepest == made.depth + 1
    assert all(path.startswith("mdtest_tree.0/") for path in paths)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(1, 2000), st.booleans())
def test_items_are_rounded_down_to_full_directories(
    branch: int, depth: int, items: int, leaves: bool
) -> None:
    try:
        made = shape(branch, depth, items, 0, leaves)
    except UserError:
        holders = (
            max(branch, 1) ** depth
            if leaves
            else TreeShape(max(branch, 1), depth, 1, False).directories
        )
        assert items < holders
        return
    assert made.items <= items < made.items + made.items // made.per_directory


def test_known_names_of_a_branching_tree() -> None:
    made = shape(2, 2, 0, 1, False)
    assert list(item_paths(made, "mdtest_tree.0", "mdtest_tree", "file.mdtest.0.")) == [
        "mdtest_tree.0/file.mdtest.0.0",
        "mdtest_tree.0/mdtest_tree.1/file.mdtest.0.1",
        "mdtest_tree.0/mdtest_tree.2/file.mdtest.0.2",
        "mdtest_tree.0/mdtest_tree.1/mdtest_tree.3/file.mdtest.0.3",
        "mdtest_tree.0/mdtest_tree.1/mdtest_tree.4/file.mdtest.0.4",
        "mdtest_tree.0/mdtest_tree.2/mdtest_tree.5/file.mdtest.0.5",
        "mdtest_tree.0/mdtest_tree.2/mdtest_tree.6/file.mdtest.0.6",
    ]


@given(st.integers(1, 20), st.integers(0, 30), st.sampled_from(list(StrideShift)))
def test_a_stride_is_a_permutation_of_the_tasks(ranks: int, stride: int, turn: StrideShift) -> None:
    assert sorted(shifted(rank, turn, stride, ranks) for rank in range(ranks)) == list(range(ranks))


def test_a_stride_counts_in_nodes_where_there_are_several() -> None:
    assert stride_over_nodes(1, 8, 1) == 1
    assert stride_over_nodes(1, 8, 2) == 4
    assert stride_over_nodes(2, 7, 2) == 8


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ((1, 0, 1, 6), [6]),
        ((2, 6, 2, 6), [2, 4, 6]),
        ((1, 8, 4, 8), [1, 4, 8]),
        ((1, 3, 1, 4), [1, 2, 3]),
        ((3, 3, 5, 4), [3]),
    ],
)
def test_series_of_task_counts(options: tuple[int, int, int, int], counts: list[int]) -> None:
    assert task_counts(*options) == counts


def test_more_tasks_than_there_are_is_refused() -> None:
    with pytest.raises(UserError, match="only 4 tasks"):
        task_counts(1, 5, 1, 4)
