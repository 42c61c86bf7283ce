"""Files that an application treats alike become one group, and the groups that matter stay."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from venturi.derive.file_view import FileView
from venturi.derive.known_name import numbered
from venturi.model.plan import Interface

COVERED_SHARE = 0.95
"""Groups are kept until they hold this share of the bytes and of the operations."""

MOST_CLASSES = 3
"""A group is split by the amounts that its ranks or files move if there are at most so many."""


@dataclass(frozen=True)
class FileGroup:
    """Files with the same name but for digits, the same interface, shared by the same ranks."""

    interface: Interface
    is_shared: bool
    owners: Sequence[int]
    """The ranks that use these files, in rising order; a range where that is all of them."""
    views: tuple[FileView, ...]
    directory_per_rank: bool | None = None
    """Whether no directory holds files of two ranks; None where files are shared."""

    @cached_property
    def bytes(self) -> int:
        """Bytes of both directions."""
        return sum([view.both_bytes for view in self.views])

    @cached_property
    def operations(self) -> int:
        """Requests and opens."""
        return sum([view.operations for view in self.views])


@dataclass(frozen=True)
class Selection:
    """The groups that a proxy reproduces."""

    groups: tuple[FileGroup, ...]
    left_out: tuple[FileGroup, ...]


def groups_of(views: list[FileView], ranks: int) -> list[FileGroup]:
    """All groups, the one with most bytes first; `ranks` is the size of the job."""
    piles: dict[tuple[str, str, bool], list[FileView]] = defaultdict(list)
    for view in views:
        pattern = numbered(view.path)
        piles[pattern, view.interface.value, _is_shared(view)].append(view)
    groups = []
    for (_, interface, is_shared), pile in _merged(piles).items():
        group = FileGroup(Interface(interface), is_shared, _owners(pile, ranks), tuple(pile))
        groups += _by_amount(group) if is_shared else _by_class(_with_directories(group))
    return sorted(groups, key=lambda group: (-group.bytes, -group.operations))


_Piles = dict[tuple[str, str, bool], list[FileView]]


def _merged(piles: _Piles) -> _Piles:
    """Joins piles in which every file is treated exactly like every file of the other.

    So files whose names have no pattern (hashed, random suffixes) still are one group.
    """
    merged: _Piles = {}
    leader: dict[tuple[object, ...], tuple[str, str, bool]] = {}
    for key in sorted(piles):
        pile = piles[key]
        kinds = {(view.path.count("/"), view.opens, *view.amounts) for view in pile}
        home = leader.setdefault((*key[1:], *kinds), key) if len(kinds) == 1 else key
        merged.setdefault(home, []).extend(pile)
    return merged


def select(groups: list[FileGroup]) -> Selection:
    """The fewest groups, by bytes and then by operations, that cover 95 % of both."""
    all_bytes = sum(group.bytes for group in groups)
    all_operations = sum(group.operations for group in groups)
    kept: list[FileGroup] = []
    for amount, whole in (("bytes", all_bytes), ("operations", all_operations)):
        covered = sum(getattr(group, amount) for group in kept)
        for group in sorted(groups, key=lambda group: -int(getattr(group, amount))):
            if covered >= COVERED_SHARE * whole:
                break
            if not any(group is one for one in kept):
                kept.append(group)
                covered += getattr(group, amount)
    kept.sort(key=lambda group: (-group.bytes, -group.operations))
    chosen = {id(group) for group in kept}
    left_out = tuple(group for group in groups if id(group) not in chosen)
    return Selection(tuple(kept), left_out)


def _is_shared(view: FileView) -> bool:
    return -1 in view.ranks or len(view.ranks) > 1


def _owners(views: list[FileView], ranks: int) -> Sequence[int]:
    used = frozenset[int]().union(*(view.ranks for view in views))
    if -1 in used:
        return range(ranks)
    return sorted(rank for rank in used if rank < ranks) or [0]


def _with_directories(group: FileGroup) -> FileGroup:
    """Notes whether each rank keeps to directories of its own."""
    ranks_in: dict[str, set[int]] = defaultdict(set)
    for view in group.views:
        ranks_in[view.path.rpartition("/")[0]] |= view.ranks
    alone = all(len(ranks) == 1 for ranks in ranks_in.values())
    return replace(group, directory_per_rank=alone)


def _by_amount(group: FileGroup) -> list[FileGroup]:
    """Splits shared files with few different amounts: a large output and its small companion."""
    alike: dict[tuple[int, ...], list[FileView]] = defaultdict(list)
    for view in group.views:
        alike[view.amounts].append(view)
    if len(alike) > MOST_CLASSES:
        return [group]
    return [replace(group, views=tuple(views)) for views in alike.values()]


def _by_class(group: FileGroup) -> list[FileGroup]:
    """Splits a group where few different amounts per rank show that ranks have roles."""
    of_rank: dict[int, list[FileView]] = defaultdict(list)
    for view in group.views:
        of_rank[min(view.ranks)].append(view)
    ranks_of: dict[tuple[tuple[tuple[int, ...], int], ...], list[int]] = defaultdict(list)
    for rank, views in of_rank.items():
        amounts = Counter(view.amounts for view in views)
        ranks_of[tuple(sorted(amounts.items()))].append(rank)
    if len(ranks_of) == 1 or len(ranks_of) > MOST_CLASSES:
        return [group]
    return [
        replace(
            group,
            owners=sorted(ranks),
            views=tuple(view for rank in ranks for view in of_rank[rank]),
        )
        for ranks in ranks_of.values()
    ]
