"""Files that are used alike are one stream: the same name but for digits, layer and sharing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from venturi.derive.known_name import numbered
from venturi.derive.operation.random_name import without_random
from venturi.derive.operation.table import CREATES, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import Column, Kind
from venturi.model.plan import Interface

MOST_STREAMS = 8
"""With more streams than this, those that matter least are left out ..."""
COVERED_SHARE = 0.95
"""... as long as the others hold this share of the bytes and of the operations."""
NOISE_SHARE = 0.01
"""Streams with less of the bytes, of the operations and of the time are left out, too ..."""
NOISE_TOGETHER = 0.05
"""... as long as all of them together have less than this of each."""
LEAST_OPERATIONS = 2000
"""Shares of fewer operations count as if there were so many: 20 calls are noise anyway."""
LEAST_ALIKE = 4
"""So many files without a common name, but used alike, are one stream."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Files that are used alike."""

    name: str
    interface: Interface
    is_shared: bool
    files: Column
    """Their numbers in the table, in the order of first use."""
    bytes: int
    operations: int
    seconds: float
    """Inside its calls, of all ranks."""
    pattern: str
    """Their common name, digits as #."""
    directory: str


@dataclass(frozen=True)
class Streams:
    """The streams that a proxy reproduces."""

    kept: list[Stream]
    of_file: Column
    """The stream's number in `kept` for each file; -1: left out."""
    dropped: int
    coverage_seconds: float
    """Of the time inside calls, of all ranks."""


def streams_of(table: Table, tokens: Tokens) -> Streams:
    """The streams with most bytes and operations, the one with most bytes first."""
    moved = _sums(table, table.bytes)
    used = _sums(table, np.ones(len(table), np.int64))
    spent = _sums(table, table.end_ns - table.start_ns)
    first_use = np.full(len(table.paths), np.iinfo(np.int64).max)
    np.minimum.at(first_use, tokens.file, tokens.start_ns)
    shared = _shared(tokens, len(table.paths))
    piles = _piles(table, tokens, shared)
    found = []
    for (pattern, interface, is_shared, _), pile in piles.items():
        files = np.array(pile)
        files = files[np.argsort(first_use[files], kind="stable")]
        found.append(
            Stream(
                name="",
                interface=Interface(interface),
                is_shared=is_shared,
                files=files,
                bytes=int(moved[files].sum()),
                operations=int(used[files].sum()),
                seconds=float(spent[files].sum()) / 1e9,
                pattern=pattern,
                directory=table.paths[files[0]].rpartition("/")[0],
            )
        )
    return _selected(found, len(table.paths))


def _sums(table: Table, values: Column) -> Column:
    return np.bincount(table.file, weights=values, minlength=len(table.paths)).astype(np.int64)


def _shared(tokens: Tokens, count: int) -> Column:
    """Files that more than one rank writes, or that more than one rank reads."""
    shared = np.zeros(count, bool)
    for kinds in ((Kind.WRITE,), (Kind.READ,), (Kind.OPEN, Kind.CLOSE, Kind.STAT, Kind.UNLINK)):
        mask = tokens.is_kind(*kinds)
        if len(kinds) > 1:
            data = tokens.is_kind(Kind.READ, Kind.WRITE)
            mask &= (np.bincount(tokens.file[data], minlength=count) == 0)[tokens.file]
            mask &= tokens.is_kind(Kind.OPEN)
        file, rank = tokens.file[mask], tokens.rank[mask]
        low, high = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
        np.minimum.at(low, file, rank)
        np.maximum.at(high, file, rank)
        shared |= high > low
    return shared


_Key = tuple[str, str, bool, str]


def _piles(table: Table, tokens: Tokens, shared: Column) -> dict[_Key, list[int]]:
    piles: dict[_Key, list[int]] = defaultdict(list)
    made = tokens.is_kind(Kind.MKDIR, Kind.RMDIR)
    is_directory = np.bincount(tokens.file[made], minlength=len(table.paths)) > 0
    names = without_random(table.paths)
    for index, path in enumerate(names):
        name = numbered(path) + ("/" if is_directory[index] else "")
        way = table.manners[index].way
        key = (name, table.interfaces[index].value, bool(shared[index]), way)
        piles[key].append(index)
    if len(piles) <= LEAST_ALIKE:
        return piles
    return _alike(piles, _manners(tokens, len(table.paths)))


def _manners(tokens: Tokens, count: int) -> Column:
    """What is done to each file at all: bits of made, written, read, removed, looked at."""
    manner = np.zeros(count, np.int64)
    made = tokens.is_kind(Kind.OPEN) & (tokens.flags & CREATES > 0)
    masks = [made, *(tokens.is_kind(kind) for kind in (Kind.WRITE, Kind.READ, Kind.MKDIR))]
    for bit, mask in enumerate(masks):
        manner[tokens.file[mask]] |= 1 << bit
    return manner


def _alike(piles: dict[_Key, list[int]], manner: Column) -> dict[_Key, list[int]]:
    """Joins files without a common name that are treated alike: sources, objects of a store."""
    lonely: dict[tuple[int, str, bool, str], list[_Key]] = defaultdict(list)
    for key, pile in piles.items():
        if len(pile) < LEAST_ALIKE:
            kinds = {int(manner[file]) for file in pile}
            if len(kinds) == 1:
                lonely[kinds.pop(), *key[1:]].append(key)
    joined = dict(piles)
    for keys in lonely.values():
        if len(keys) < LEAST_ALIKE * 2:
            continue
        home: list[int] = []
        for key in keys:
            home += joined.pop(key)
        joined[keys[0]] = home
    return joined


def _selected(found: list[Stream], count: int) -> Streams:
    all_bytes = sum(stream.bytes for stream in found)
    all_operations = sum(stream.operations for stream in found)
    all_seconds = sum(stream.seconds for stream in found)
    found.sort(key=lambda stream: (-stream.bytes, -stream.operations, stream.pattern))
    kept = _without_noise(found)
    if len(kept) > MOST_STREAMS:
        kept = _covering(found, all_bytes, all_operations)
    named = [
        Stream(**{**vars(stream), "name": f"stream{number}"})
        for number, stream in enumerate(kept, start=1)
    ]
    of_file = np.full(count, -1)
    for number, stream in enumerate(named):
        of_file[stream.files] = number
    return Streams(
        kept=named,
        of_file=of_file,
        dropped=len(found) - len(kept),
        coverage_seconds=_share(sum(s.seconds for s in kept), all_seconds),
    )


def _without_noise(found: list[Stream]) -> list[Stream]:
    """Streams that matter in bytes, operations or time: no start scripts, no configuration."""
    fields = ("bytes", "operations", "seconds")
    totals = [sum(getattr(stream, name) for stream in found) for name in fields]
    totals[1] = max(totals[1], LEAST_OPERATIONS)
    together = [0.0] * len(fields)
    noise: set[int] = set()
    for stream in sorted(found, key=lambda s: (s.bytes, s.operations, s.seconds, s.pattern)):
        own = [
            getattr(stream, name) / total if total else 0.0
            for name, total in zip(fields, totals, strict=True)
        ]
        after = [sum(pair) for pair in zip(together, own, strict=True)]
        if max(own) < NOISE_SHARE and max(after) < NOISE_TOGETHER:
            together = after
            noise.add(id(stream))
    return [stream for stream in found if id(stream) not in noise]


def _covering(found: list[Stream], all_bytes: int, all_operations: int) -> list[Stream]:
    kept: list[Stream] = []
    for name, whole in (("bytes", all_bytes), ("operations", all_operations)):
        for stream in sorted(found, key=lambda s: -int(getattr(s, name))):
            if sum(getattr(s, name) for s in kept) >= COVERED_SHARE * whole:
                break
            if stream not in kept:
                kept.append(stream)
    return sorted(kept, key=lambda stream: (-stream.bytes, -stream.operations))


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole else 1.0
