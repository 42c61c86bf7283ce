"""mdtest's arithmetic: how many directories and items, their names, whose items a task touches.

Pure functions of the options; the formulas are those that mdtest's own trees follow when they
are listed on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from venturi.model.document import INT64_MAX
from venturi.model.error import UserError

MOST_DIRECTORIES = 1_000_000_000


class StrideShift(IntEnum):
    """By how many strides (-N) a task's items lie from its own, phase by phase."""

    CREATE = 0
    STAT = 1
    RENAME = 1
    READ = 2
    REMOVE = 3


@dataclass(frozen=True)
class TreeShape:
    """The trees of one iteration; node 0 is the root, node m's children are b·m+1 ... b·m+b.

    `per_directory` items of each task lie in every directory that holds items, `trees` is the
    number of equal trees that all tasks share.
    """

    branch: int
    depth: int
    per_directory: int
    leaves_only: bool
    trees: int = 1

    @property
    def directories(self) -> int:
        """Directories of one tree, its root included: (b^(z+1) - 1) / (b - 1)."""
        return _directories(self.branch, self.depth)

    @property
    def leaves(self) -> int:
        """Directories of the lowest level: b^z."""
        return int(self.branch**self.depth)

    @property
    def first_item(self) -> int:
        """The number of the first item: leaf-only trees begin at the first leaf's."""
        return self.per_directory * (self.directories - self.leaves) if self.leaves_only else 0

    @property
    def items_of_tree(self) -> int:
        """Items of one task in one tree."""
        return self.per_directory * (self.leaves if self.leaves_only else self.directories)

    @property
    def items(self) -> int:
        """Items of one task in all trees."""
        return self.items_of_tree * self.trees

    def holder(self, item: int) -> int:
        """The node in whose directory an item lies."""
        return item // self.per_directory


def shape_of(
    *, branch: int, depth: int, items: int, per_directory: int, leaves_only: bool
) -> TreeShape:
    """The shape that -b, -z, -n, -I and -L ask for; -n alone is rounded down to full directories.

    With both -n and -I there are n / I trees of I items in each directory. UserError where no
    item is left.
    """
    branch = max(branch, 1)
    directories = _directories(branch, depth)
    holders = branch**depth if leaves_only else directories
    trees = 1
    if per_directory == 0:
        per_directory = items // holders
        if per_directory == 0 and items > 0:
            raise UserError(
                f"mdtest -n {items}: less than one item for each of {holders} directories",
                f"give at least -n {holders}, or -I",
            )
    elif items > 0:
        trees = items // per_directory
    shape = TreeShape(branch, depth, per_directory, leaves_only, trees)
    if shape.items > INT64_MAX:
        raise UserError("mdtest: more than 2^63 - 1 items for each task", "use smaller -b, -z, -I")
    return shape


def _directories(branch: int, depth: int) -> int:
    if branch == 1:
        return depth + 1
    # Beyond this depth the check below fails whatever the branching factor is.
    count = (branch ** (min(depth, 64) + 1) - 1) // (branch - 1)
    if count > MOST_DIRECTORIES:
        raise UserError(
            f"mdtest -b {branch} -z {depth}: a tree of more than {MOST_DIRECTORIES} directories",
            "use smaller -b or -z",
        )
    return int(count)


def node_path(shape: TreeShape, node: int, root: str, stem: str) -> str:
    """The path of a node below the test's directory: `root/stem.1/stem.4`."""
    names: list[str] = []
    while node > 0:
        names.insert(0, f"{stem}.{node}")
        node = (node - 1) // shape.branch
    return "/".join([root, *names])


def item_paths(shape: TreeShape, root: str, stem: str, name: str) -> Iterator[str]:
    """Paths of one task's items in one tree, in numeric order; `name` ends before the number."""
    first = shape.first_item
    for item in range(first, first + shape.items_of_tree):
        yield f"{node_path(shape, shape.holder(item), root, stem)}/{name}{item}"


def shifted(rank: int, turn: StrideShift, stride: int, ranks: int) -> int:
    """The task whose items a task touches in a phase."""
    return (rank + turn * stride) % ranks


def stride_over_nodes(stride: int, ranks: int, nodes: int) -> int:
    """-N in ranks: on several nodes, filled one after the other, it counts in nodes."""
    return stride * -(-ranks // nodes) if nodes > 1 else stride


def task_counts(first: int, last: int, step: int, ranks: int) -> list[int]:
    """The numbers of tasks of -f, -l and -s: without -l all tasks, else first, first+s ... last.

    From 1 with a stride of more than 1 the next is the stride itself: 1, 4, 8 ...
    """
    if last == 0:
        return [ranks]
    if last > ranks:
        raise UserError(f"mdtest -l {last}: there are only {ranks} tasks", "give more with -n")
    counts = list(range(first, last + 1, step))
    if first == 1 and step > 1:
        counts = [1, *range(step, last + 1, step)]
    return counts
