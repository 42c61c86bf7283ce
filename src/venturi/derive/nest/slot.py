"""Files that a program uses one after the other by one name: families, and who is which in one."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.known_name import numbered
from venturi.model.operation import KIND_CODES, Column, Kind

_DIGITS = re.compile(r"\d+")
LEAST_ALIKE = 4
"""So many files without a common name, but used alike, are a family."""
MOST_NUMBERS = 4
"""In names, that differ among files of one family; more are no loops' numbers."""


@dataclass
class FileFamily:
    """Files that a program calls by one name."""

    files: list[int]
    """All of them; of a family that ranks share, in the order of their names."""
    is_shared: bool
    """Whether ranks use the same files; else each has its own."""
    is_aside: bool
    """Whether they are renamed, and are here under the name that they had before."""
    turns: int = 0
    """The most of them that one rank uses."""


@dataclass(frozen=True)
class FileUse:
    """The files of calls, by family."""

    slot: Column
    """Of each call the number of its file's family,"""
    ordinal: Column
    """and which of its rank's files of the family it is."""
    to_slot: Column
    to_ordinal: Column
    """The same of the names that files get, of calls that rename; else 0."""
    families: list[FileFamily]


def slots_of(
    rank: Column,
    kind: Column,
    file: Column,
    is_aside: Column,
    paths: list[str],
    known_as: Sequence[str],
    by_use: bool = False,
) -> FileUse:
    """The families of files, each of one stream, whose name `known_as` has for each file. The calls
    of each rank stand together, in order.

    Files whose names differ in digits are one family, unless they are open at the same time.
    Families of different ranks are one where their names differ in digits only. Under the names
    that they had before they were renamed (`is_aside`), files are others than under their last.
    With `by_use` files without such a name that begin alike are a family, too: objects that are
    called by their hash, sources of a program.
    """
    renames = np.flatnonzero(kind == KIND_CODES[Kind.RENAME])
    named = np.where(is_aside, file + len(paths), file)
    # Behind a call that renames stands the file under its new name.
    slot, ordinal, families = _by_family(
        np.insert(rank, renames + 1, rank[renames]),
        np.insert(kind, renames + 1, kind[renames]),
        np.insert(named, renames + 1, file[renames]),
        paths,
        known_as,
        by_use,
    )
    for family in families:
        family.files = [which % len(paths) for which in family.files]
    places = np.arange(len(kind)) + np.searchsorted(renames, np.arange(len(kind)))
    to_slot, to_ordinal = np.zeros((2, len(kind)), np.int64)
    to_slot[renames], to_ordinal[renames] = slot[places[renames] + 1], ordinal[places[renames] + 1]
    return FileUse(slot[places], ordinal[places], to_slot, to_ordinal, families)


def _by_family(
    rank: Column,
    kind: Column,
    file: Column,
    paths: list[str],
    known_as: Sequence[str],
    by_use: bool,
) -> tuple[Column, Column, list[FileFamily]]:
    """The family of each call's file, which of its rank's files of the family it is, and the
    families. Numbers from that of `paths` on are the same files under another name.
    """
    masks = [f"{numbered(path)} of {known}" for path, known in zip(paths, known_as, strict=True)]
    masks += [f"{mask} aside" for mask in masks]
    paths, known_as = [*paths, *paths], [*known_as, *known_as]
    users: dict[int, set[int]] = defaultdict(set)
    for who, which in zip(rank.tolist(), file.tolist(), strict=True):
        users[which].add(who)
    is_shared = np.array([len(users[which]) > 1 for which in file.tolist()], bool)
    families: list[FileFamily] = []
    place: dict[tuple[str, int, bool], int] = {}
    known: dict[int, tuple[int, int]] = {}
    """Of each file its family, and which of it it is."""
    for rows, one_shares in _parts(rank, is_shared):
        numbers: Counter[str] = Counter()
        found = _families(kind[rows], file[rows], paths, masks)
        if by_use:
            found = _joined(found, kind[rows], file[rows], paths, known_as, masks)
        for files in found:
            if one_shares:
                files.sort(key=lambda which: _natural(paths[which]))
            name = masks[files[0]]
            slot = place.setdefault((name, numbers[name], one_shares), len(families))
            numbers[name] += 1
            if slot == len(families):
                families.append(FileFamily([], one_shares, files[0] >= len(paths) // 2))
            families[slot].files += files
            families[slot].turns = max(families[slot].turns, len(files))
            known |= {which: (slot, number) for number, which in enumerate(files)}
    both = np.array([known[which] for which in file.tolist()], np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1], families


def _parts(rank: Column, is_shared: Column) -> Iterator[tuple[Column, bool]]:
    """The calls on files that ranks share, then for each rank those on files of its own."""
    if np.any(is_shared):
        yield np.flatnonzero(is_shared), True
    for who in np.unique(rank[~is_shared]).tolist():
        yield np.flatnonzero(~is_shared & (rank == who)), False


def _families(kind: Column, file: Column, paths: list[str], masks: list[str]) -> list[list[int]]:
    """Files by family, each in the order of first use."""
    spans = _open_spans(kind, file)
    of_mask: dict[str, list[int]] = defaultdict(list)
    first_use = {which: place for place, which in reversed(list(enumerate(file.tolist())))}
    for which in sorted(first_use, key=first_use.__getitem__):
        of_mask[masks[which]].append(which)
    found = [family for files in of_mask.values() for family in _parted(files, paths, spans)]
    return sorted(found, key=lambda family: first_use[family[0]])


def _joined(
    families: list[list[int]],
    kind: Column,
    file: Column,
    paths: list[str],
    known_as: Sequence[str],
    masks: list[str],
) -> list[list[int]]:
    """The same with families that begin alike as one: in folders that are alike, with one ending,
    by the same first call. `masks` get a name for them."""
    spans = _open_spans(kind, file)
    first = {which: place for place, which in reversed(list(enumerate(file.tolist())))}
    below: dict[str, str] = {}
    """Of folders what is the same of those that are alike."""
    groups: dict[str, list[list[int]]] = defaultdict(list)
    for family in sorted(families, key=lambda one: min(paths[which].count("/") for which in one)):
        keys = set()
        for which in family:
            folder, _, name = paths[which].rpartition("/")
            ending = name[name.rfind(".") :] if "." in name else ""
            keys.add(f"{below.get(folder, folder)}/*{ending} {kind[first[which]]}")
        key = keys.pop() if len(keys) == 1 else masks[family[0]]
        key += f" of {known_as[family[0]]}" + " aside" * (family[0] >= len(paths) // 2)
        groups[key].append(family)
        below |= {paths[which]: key for which in family if which < len(paths) // 2}
    found: list[list[int]] = []
    for key, parts in groups.items():
        whole = sorted(itertools.chain.from_iterable(parts), key=first.__getitem__)
        lonely = sum(len(part) == 1 for part in parts)
        if lonely >= LEAST_ALIKE and not _overlap(whole, spans):
            masks[whole[0]] = key
            found.append(whole)
        else:
            found += parts
    return sorted(found, key=lambda family: first[family[0]])


_Spans = dict[int, list[tuple[int, int]]]
"""Of each file from when to when it is open."""


def _open_spans(kind: Column, file: Column) -> _Spans:
    found: _Spans = defaultdict(list)
    opened: dict[int, list[int]] = defaultdict(list)
    for place, (what, which) in enumerate(zip(kind.tolist(), file.tolist(), strict=True)):
        if what == KIND_CODES[Kind.OPEN]:
            opened[which].append(place)
        elif what == KIND_CODES[Kind.CLOSE] and opened[which]:
            found[which].append((opened[which].pop(), place))
    for which, places in opened.items():
        found[which] += [(place, len(kind)) for place in places]
    return found


def _parted(files: list[int], paths: list[str], spans: _Spans) -> list[list[int]]:
    """Files whose names differ in numbers only, as families: the fewest in which some numbers are
    the same for a whole family, and the others rise as those of loops do."""
    numbers = np.array([[int(one) for one in _DIGITS.findall(paths[which])] for which in files])
    varying = [place for place in range(numbers.shape[1]) if len(np.unique(numbers[:, place])) > 1]
    if not varying or len(varying) > MOST_NUMBERS:
        return [[which] for which in files]
    ways = []
    for length in range(len(varying)):
        for fixed in itertools.combinations(varying, length):
            free = [place for place in varying if place not in fixed]
            groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
            for row, of_row in enumerate(numbers.tolist()):
                groups[tuple(of_row[place] for place in fixed)].append(row)
            ways.append((len(groups), free, list(groups.values())))
    for _, free, of_rows in sorted(ways, key=lambda way: way[0]):
        families = [[files[row] for row in rows] for rows in of_rows]
        if not any(_overlap(family, spans) for family in families) and all(
            _rises(numbers[np.ix_(rows, free)]) for rows in of_rows
        ):
            return families
    return _taking_turns(files, numbers, spans)


def _overlap(family: list[int], spans: _Spans) -> bool:
    """Whether two files are open at the same time."""
    both = sorted((*span, which) for which in family for span in spans[which])
    last: dict[int, int] = {}
    for begin, end, which in both:
        if any(until > begin for other, until in last.items() if other != which):
            return True
        last[which] = max(end, last.get(which, 0))
        last = {other: until for other, until in last.items() if until > begin}
    return False


def _rises(numbers: Column) -> bool:
    """Whether rows are in the order of nested loops over their columns, whichever is around which;
    of one column, in any order."""
    if numbers.shape[1] == 1 or len(numbers) == 1:
        return True
    return any(
        np.array_equal(np.lexsort(numbers[:, order].T), np.arange(len(numbers)))
        for order in itertools.permutations(range(numbers.shape[1]))
    )


def _taking_turns(files: list[int], numbers: Column, spans: _Spans) -> list[list[int]]:
    """Files that are open while others of them are, such that those of one family never are at the
    same time, and differ in one number."""
    families: list[list[int]] = []
    for row, which in enumerate(files):
        for family in families:
            rows = [files.index(one) for one in family] + [row]
            varies = sum(
                len(np.unique(numbers[rows, place])) > 1 for place in range(numbers.shape[1])
            )
            if varies == 1 and not _overlap([*family, which], spans):
                family.append(which)
                break
        else:
            families.append([which])
    return families


def _natural(path: str) -> list[tuple[int, str]]:
    """A key by which names are sorted with their numbers as numbers."""
    words = re.split(r"(\d+)", path)
    return [(int(word), "") if word.isdigit() else (-1, word) for word in words]
