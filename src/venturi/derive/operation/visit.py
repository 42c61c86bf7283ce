"""Visits: what a rank does to a file in one go, and which visits of all ranks are the same act.

A visit is an opening with all that follows until the file is closed, or calls on a name alone. It
ends where everybody pauses. The k-th visits of all ranks to a stream are one act, if all ranks make
the same kinds of visits; ranks that do other things form a class of their own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import CREATES, TOGETHER, TRUNCATES, Table
from venturi.derive.operation.token import Tokens, mixed_hash
from venturi.model.operation import KIND_CODES, Column, Kind

MANY_FILES = 8
"""With so many files for each rank, calls beside each other belong to one item."""
MOST_CLASSES = 4
"""Ranks in more classes than this are taken together, as if they shared one work."""
LEAST_OPENINGS = 3
"""A stream's only file that is opened so often is not told apart by which opening made it."""
_FIRST_NAME = 2**62


@dataclass(frozen=True)
class Part:
    """A stream as a class of ranks uses it."""

    stream: int
    ranks: Column
    """In rising order."""
    acts: int
    """How many visits each of the ranks makes; 0: they differ, all are dealt together."""
    tokens: Column
    """All tokens of the part, in their order."""


@dataclass(frozen=True)
class Acts:
    """The acts of all parts, in the order of time."""

    part: Column
    first: Column
    """The first token of each rank's visit; those of one act stand together."""
    at: Column
    """For each act, where its visits begin in `first`."""
    count: Column
    """Tokens in each visit."""
    strict: Column
    """Hash of kinds, counts and bytes over all ranks."""
    near: Column
    """Hash of kinds, and of whether requests jump."""
    loose: Column
    """Hash of kinds alone."""
    bytes: Column
    """Moved by all ranks."""
    start_ns: Column
    end_ns: Column
    pause_ns: Column
    """The pause of all ranks just before; 0: none, or another act stands behind it too."""

    def __len__(self) -> int:
        return len(self.part)

    def visits(self, acts: Column, ranks: int) -> Column:
        """First tokens of the visits of some acts of one part, with a last axis for the ranks."""
        return self.first[self.at[acts][..., None] + np.arange(ranks)]


def acts_of(
    table: Table, tokens: Tokens, streams: Streams, are_names_apart: bool = False
) -> tuple[list[Part], Acts]:
    """The parts and their acts; with `are_names_apart` each call on a name alone is one."""
    stream = streams.of_file[tokens.file]
    long = np.cumsum(table.pauses_ns > 0)[tokens.stretch]
    begins = _begins(tokens, stream, _are_many(streams, table.ranks, are_names_apart), long)
    first = np.flatnonzero(begins & (stream >= 0))
    group = _groups(table, tokens, stream, begins)
    first = first[np.lexsort((tokens.start_ns[first], tokens.rank[first], group[first]))]
    length = np.diff(np.append(np.flatnonzero(begins), len(tokens)))
    of_begin = np.cumsum(begins) - 1
    count = length[of_begin[first]]
    loose, near, strict, manner = (
        hashes[of_begin[first]]
        for hashes in _hashes(tokens, begins, _first_of_many(tokens, streams))
    )
    owner = group[first].astype(np.int64) * table.ranks + tokens.rank[first]
    edges = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    ends = np.append(edges[1:], len(owner))
    nth = np.arange(len(owner)) - np.repeat(edges, ends - edges)
    ordinal = mixed_hash(mixed_hash(nth.astype(np.uint64)) + manner)
    sequence = np.add.reduceat(ordinal, edges)
    return _assembled(
        table, tokens, _Visits(first, count, loose, near, strict), group, edges, ends, sequence
    )


@dataclass(frozen=True)
class _Visits:
    """Sorted by stream, rank and start."""

    first: Column
    count: Column
    loose: Column
    near: Column
    strict: Column


def _are_many(streams: Streams, ranks: int, are_names_apart: bool) -> Column:
    """For each stream whether its files are so many that calls beside each other are one visit."""
    files = np.array([len(s.files) for s in streams.kept] or [0])
    shared = np.array([s.is_shared for s in streams.kept] or [False])
    many: Column = (files / np.where(shared, 1, ranks) >= MANY_FILES) & (not are_names_apart)
    return many


def _begins(tokens: Tokens, stream: Column, are_many: Column, long: Column) -> Column:
    """The tokens with which visits begin; `long` numbers the stretches between pauses."""
    begins = np.ones(len(tokens), bool)
    same = (tokens.file[1:] == tokens.file[:-1]) & (tokens.rank[1:] == tokens.rank[:-1])
    same &= tokens.stretch[1:] == tokens.stretch[:-1]
    opens, closes = tokens.is_kind(Kind.OPEN), tokens.is_kind(Kind.CLOSE)
    within = tokens.is_kind(
        Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC, Kind.CLOSE, Kind.RENAME, Kind.TRUNCATE
    )
    new_owner = np.ones(len(tokens), bool)
    new_owner[1:] = (tokens.file[1:] != tokens.file[:-1]) | (tokens.rank[1:] != tokens.rank[:-1])
    depth = np.cumsum(opens.astype(np.int64) - closes) - opens + closes
    start = np.maximum.accumulate(np.where(new_owner, np.arange(len(tokens)), 0))
    depth = depth - depth[start]  # openings before the token, within its file and rank
    many = are_many[np.maximum(stream, 0)]
    named = np.concatenate([[False], ~(opens | within)[:-1]])  # a call on the name came before
    joins = np.zeros(len(tokens), bool)
    joins |= within
    joins |= ~opens & (depth > 0)
    joins |= many & tokens.follows & (named | ~opens)
    joins |= tokens.follows & tokens.is_kind(Kind.ATTRIBUTE)
    joins &= ~_alone(long, opens, closes, new_owner)
    joins &= ~_cuts_together(tokens, opens, closes)
    begins[1:] = ~(same & joins[1:])
    return begins


def _are_together(tokens: Tokens) -> Column:
    """Mask: requests that all ranks made together."""
    together: Column = tokens.is_kind(Kind.READ, Kind.WRITE) & (tokens.flags & TOGETHER > 0)
    return together


def _is_cut_together(tokens: Tokens) -> Column:
    """Mask: tokens of files in which some ranks make requests by themselves beside those that all
    make together: a head that the first rank writes."""
    together = _are_together(tokens)
    if not np.any(together):
        return together
    files, ranks = int(tokens.file.max()) + 1, int(tokens.rank.max()) + 1
    own = tokens.is_kind(Kind.READ, Kind.WRITE) & ~together
    pair = tokens.file.astype(np.int64) * ranks + tokens.rank
    counts = [
        np.bincount(pair[mask], minlength=files * ranks).reshape(files, ranks)
        for mask in (own, together)
    ]
    takes_part = counts[1] > 0
    differs = (np.where(takes_part, counts[0], -1).max(axis=1) > 0) & (
        np.where(takes_part, counts[0], np.iinfo(np.int64).max).min(axis=1) == 0
    )
    cut: Column = differs[tokens.file]
    return cut


def _cuts_together(tokens: Tokens, opens: Column, closes: Column) -> Column:
    """Where a file is cut at the requests that all ranks make together: there, behind them, behind
    the opening, and at the closing."""
    cut = _is_cut_together(tokens)
    if not np.any(cut):
        return cut
    together = _are_together(tokens)
    change = np.zeros(len(tokens), bool)
    change[1:] = (together[1:] != together[:-1]) | opens[:-1]
    cuts: Column = cut & (change | closes)
    return cuts


def _alone(long: Column, opens: Column, closes: Column, new_owner: Column) -> Column:
    """What begins anew where a file stays open over long pauses: what follows the opening, and
    the closing, so that all turns between them are alike."""
    ended = np.concatenate([[False], closes[:-1]])
    starts = np.flatnonzero(opens | new_owner | ended)
    length = np.diff(np.append(starts, len(long)))
    low = np.minimum.reduceat(long, starts)
    high = np.maximum.reduceat(long, starts)
    lasts = np.repeat(high > low, length)
    after = np.concatenate([[False], opens[:-1]])
    alone: Column = lasts & (closes | after)
    return alone


def _groups(table: Table, tokens: Tokens, stream: Column, begins: Column) -> Column:
    """Eight times the stream's number, plus four for requests of all ranks together where others
    are cut off from them, plus two for the last tasks that were dealt, plus one for visits that
    move data.

    Calls on names alone stand apart: often one rank makes them for all. So do tasks that are too
    few for all ranks.
    """
    first = np.flatnonzero(begins)
    data = tokens.is_kind(Kind.READ, Kind.WRITE)
    moves = np.logical_or.reduceat(data, first)
    length = np.diff(np.append(first, len(tokens)))
    group: Column = stream * 8 + np.repeat(moves, length)
    together = np.logical_or.reduceat(_is_cut_together(tokens) & _are_together(tokens), first)
    group += 4 * np.repeat(together, length)
    if table.dealt is not None:
        is_last = table.dealt[tokens.rows[tokens.first[first]]] > 1
        group += 2 * np.repeat(is_last, length)
    return group


def _first_of_many(tokens: Tokens, streams: Streams) -> Column:
    """Openings that make a stream's only file, where the same rank opens it often later on.

    A log to which every step of a program adds a line is made by the first of them.
    """
    opens = tokens.is_kind(Kind.OPEN)
    makes = opens & (tokens.flags & CREATES > 0)
    owner = tokens.file.astype(np.int64) * (int(tokens.rank.max(initial=0)) + 1) + tokens.rank
    often = np.bincount(owner[opens], minlength=int(owner.max(initial=0)) + 1) >= LEAST_OPENINGS
    once = np.bincount(owner[makes], minlength=len(often)) == 1
    alone = np.array([len(stream.files) == 1 for stream in streams.kept] + [False])
    found: Column = makes & often[owner] & once[owner] & alone[streams.of_file[tokens.file]]
    return found


def _hashes(
    tokens: Tokens, begins: Column, is_first: Column
) -> tuple[Column, Column, Column, Column]:
    """For each visit a hash of its kinds and flags, one of whether requests jump as well, one of
    counts and bytes as well, and one of kinds whoever makes the file.

    Only the one of counts and bytes tells apart openings that are the `is_first` of many.
    """
    first = np.flatnonzero(begins)
    place = np.arange(len(tokens)) - np.repeat(first, np.diff(np.append(first, len(tokens))))
    manner = tokens.kind.astype(np.uint64) * np.uint64(256) + tokens.flags
    places = place.astype(np.uint64) << np.uint64(20)
    strict = mixed_hash(manner + places)
    strict = mixed_hash(
        strict + mixed_hash(tokens.count) + (mixed_hash(tokens.bytes) << np.uint64(1))
    )
    # Of a file that is made, it says nothing that it is emptied, too.
    made = np.where(is_first, tokens.flags & (CREATES | TRUNCATES), 0)
    loose = mixed_hash(manner - made.astype(np.uint64) + places)
    near = mixed_hash(loose + (tokens.jumps > 0))
    kinds = tokens.kind.astype(np.uint64) * np.uint64(256) + (tokens.flags & TOGETHER)
    each = (loose, near, strict, mixed_hash(kinds + places))
    return tuple(np.add.reduceat(values, first) for values in each)  # type: ignore[return-value]


def _assembled(
    table: Table,
    tokens: Tokens,
    visits: _Visits,
    group: Column,
    edges: Column,
    ends: Column,
    sequence: Column,
) -> tuple[list[Part], Acts]:
    by_stream: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, edge in enumerate(edges.tolist()):
        where = int(group[visits.first[edge]])
        by_stream[where][int(sequence[number])].append(number)
    parts: list[Part] = []
    collected: list[tuple[int, Column, Column]] = []
    for place in sorted(by_stream):
        classes = by_stream[place]
        where = place // 8
        if len(classes) > MOST_CLASSES:
            chosen = np.flatnonzero(group == place)
            ranks = np.unique(tokens.rank[chosen])
            parts.append(Part(where, ranks, 0, chosen))
            continue
        for members in classes.values():
            spans = [np.arange(edges[m], ends[m]) for m in members]
            matrix = np.stack(spans)
            ranks = tokens.rank[visits.first[matrix[:, 0]]]
            parts.append(Part(where, ranks, matrix.shape[1], _all(visits, matrix)))
            collected.append((len(parts) - 1, matrix, ranks))
            if _are_items(tokens, parts[-1]):
                visits.strict[matrix] = visits.near[matrix] = visits.loose[matrix]
    return parts, _ordered(table, tokens, visits, collected)


def _are_items(tokens: Tokens, part: Part) -> bool:
    """Whether a part uses many files, each in one request at most: sizes are then no structure."""
    files = np.unique(tokens.file[part.tokens])
    if len(files) < MANY_FILES * len(part.ranks):
        return False
    data = part.tokens[tokens.is_kind(Kind.READ, Kind.WRITE)[part.tokens]]
    return not np.any(tokens.count[data] > 1) and not np.any(tokens.base[data] > 0)


def _all(visits: _Visits, matrix: Column) -> Column:
    first, count = visits.first[matrix.ravel()], visits.count[matrix.ravel()]
    return np.sort(np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum())))


def _ordered(
    table: Table, tokens: Tokens, visits: _Visits, collected: list[tuple[int, Column, Column]]
) -> Acts:
    part, first, at, count, strict = [], [], [], [], []
    near, loose, size, start, end, stretch = [], [], [], [], [], []
    before = 0
    begins_ns = _begins_ns(tokens, visits)
    cut_together = _is_cut_together(tokens) & _are_together(tokens)
    moved = np.concatenate([[0], np.cumsum(tokens.bytes)])
    for number, matrix, ranks in collected:
        salt = mixed_hash(ranks.astype(np.uint64))[:, None]
        # Far from what calls are made of: part 3 with call 9 is not part 9 with call 3.
        name = mixed_hash(np.array([_FIRST_NAME + number]))[0]
        begin = visits.first[matrix]
        finish = begin + visits.count[matrix] - 1
        part.append(np.full(matrix.shape[1], number))
        first.append(begin.T.ravel())
        at.append(before + np.arange(matrix.shape[1]) * len(ranks))
        before += begin.size
        count.append(visits.count[matrix[0]])
        strict.append(mixed_hash(visits.strict[matrix] + salt).sum(axis=0) + name)
        near.append(mixed_hash(visits.near[matrix] + salt).sum(axis=0) + name)
        loose.append(visits.loose[matrix[0]] + name)
        size.append((moved[finish + 1] - moved[begin]).sum(axis=0))
        is_together = np.all(cut_together[begin])
        start.append(begins_ns[begin].max(axis=0) if is_together else begins_ns[begin].min(axis=0))
        end.append(tokens.end_ns[finish].max(axis=0))
        stretch.append(tokens.stretch[begin].min(axis=0))
    if not collected:
        none = np.zeros(0, np.int64)
        return Acts(*[none] * 11)
    starts = np.concatenate(start)
    order = np.argsort(starts, kind="stable")
    stretches = np.concatenate(stretch)[order]
    is_new = np.concatenate([[True], stretches[1:] > np.maximum.accumulate(stretches)[:-1]])
    return Acts(
        part=np.concatenate(part)[order],
        first=np.concatenate(first),
        at=np.concatenate(at)[order],
        count=np.concatenate(count)[order],
        strict=np.concatenate(strict)[order],
        near=np.concatenate(near)[order],
        loose=np.concatenate(loose)[order],
        bytes=np.concatenate(size)[order],
        start_ns=starts[order],
        end_ns=np.concatenate(end)[order],
        pause_ns=np.where(is_new, table.pauses_ns[stretches], 0),
    )


def _begins_ns(tokens: Tokens, visits: _Visits) -> Column:
    """When visits begin, at their first tokens: who reads what another rank writes begins when data
    comes, however long the file has been open."""
    found = tokens.start_ns.copy()
    reads = np.flatnonzero(tokens.is_kind(Kind.READ))
    writes = tokens.is_kind(Kind.WRITE)
    if not len(reads) or not np.any(writes):
        return found
    least = np.full(int(tokens.file.max()) + 1, np.iinfo(np.int64).max)
    most = np.full(len(least), -1)
    np.minimum.at(least, tokens.file[writes], tokens.rank[writes])
    np.maximum.at(most, tokens.file[writes], tokens.rank[writes])
    file, rank = tokens.file[visits.first], tokens.rank[visits.first]
    by_others = (most[file] >= 0) & ((least[file] != rank) | (most[file] != rank))
    after = reads[np.minimum(np.searchsorted(reads, visits.first), len(reads) - 1)]
    is_own = (after >= visits.first) & (after < visits.first + visits.count)
    chosen = by_others & is_own
    found[visits.first[chosen]] = tokens.start_ns[after[chosen]]
    return found


__all__ = ["CREATES", "KIND_CODES", "Acts", "Part", "acts_of"]
