"""A workload whose program makes exactly the calls of a capture, where one is known."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.nest.call import DATA, RankCalls, sessions
from venturi.derive.nest.fit import Cells, fit_numbers
from venturi.derive.nest.induce import MOST_SPENT, induced
from venturi.derive.nest.position import PositionMove, positions_of
from venturi.derive.nest.price import LoopScope, price
from venturi.derive.nest.slot import FileFamily
from venturi.derive.nest.tree import LoopNode, Node, statements
from venturi.derive.nest.write import StepWriter, Unsaid
from venturi.derive.operation.folder import files_in_each
from venturi.derive.operation.manner import opening_options
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import VARIABLES
from venturi.derive.operation.table import Table
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.units import size_text
from venturi.model.workload import RESERVED_NAMES, FileSpec, StepSpec, Value

MOST_ROUNDS = 20
"""Times that what moves a file's position is decided anew, until nothing changes."""
_WORD = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Nested:
    """Steps and files of a workload."""

    steps: Steps
    files: dict[str, FileSpec]


def nested(
    table: Table, calls: RankCalls, known_as: Sequence[str], most_spent: int = MOST_SPENT
) -> Iterator[Nested]:
    """Programs of a table's calls, the cheapest first; none where these words cannot say it.

    `known_as` holds for each file of the table what its stream is called; `most_spent` how many
    searches may come to no end.
    """
    before = calls.move.copy(), calls.position.copy()
    try:
        told = _Families.of(table, calls)
    except Unsaid:  # by any program of these calls
        return
    for nodes in induced(calls, most_spent):
        entries = _Entries(table, calls, known_as, told)
        writer = StepWriter(calls, table, entries.name)
        found = None
        try:
            if _settled(nodes, calls):
                found = Nested(_phases(nodes, writer, calls), entries.specs())
        except Unsaid:
            pass
        # The next ones are found in the calls as they were.
        calls.move[:], calls.position[:] = before
        if found is not None:
            yield found


def _settled(nodes: list[Node], calls: RankCalls) -> bool:
    """Decides for each statement whether its requests go on at the position, and follows the
    positions that come of it, in the cheaper of two ways; False where both come to no end."""
    before = calls.move.copy(), calls.position.copy()
    ways: list[tuple[float, Column, Column]] = []
    outermost = LoopScope.outermost(calls.ranks)
    places = list(sessions(calls.kind, calls.handle))
    for otherwise in (PositionMove.STAY, PositionMove.JUMP):
        calls.move[:], calls.position[:] = before
        if _follows(nodes, calls, places, otherwise):
            bits = price(nodes, outermost, calls)
            ways.append((bits, calls.move.copy(), calls.position.copy()))
    if not ways:
        return False
    _, calls.move[:], calls.position[:] = min(ways, key=lambda way: way[0])
    return True


def _follows(
    nodes: list[Node], calls: RankCalls, places: list[Column], otherwise: PositionMove
) -> bool:
    """One way: statements of which some requests go on, and others do not, all do `otherwise`.

    `places` are the requests of each opening of a file.
    """
    data = [
        rows
        for statement in statements(nodes)
        if int(calls.kind[(rows := statement.calls)[0]]) in DATA and not calls.appends[rows[0]]
    ]
    has_place: set[int] = set()
    """Statements that are told by their places from now on."""
    for _ in range(MOST_ROUNDS):
        for number, rows in enumerate(data):
            goes_on = np.array_equal(calls.offset[rows], calls.position[rows])
            if goes_on and number not in has_place:
                calls.move[rows] = PositionMove.GO_ON
            elif number not in has_place:
                has_place.add(number)
                moves = np.unique(calls.move[rows])
                calls.move[rows] = moves[0] if len(moves) == 1 and moves[0] else otherwise
        before = calls.position.copy()
        for rows in places:
            calls.position[rows] = positions_of(
                calls.offset[rows], calls.size[rows], calls.move[rows]
            )
        if np.array_equal(before, calls.position):
            return True
    return False


@dataclass(frozen=True)
class _Families:
    """What is known of the files of each family, by its slot."""

    lengths: dict[int, dict[int, int | None]]
    """How long each file must be before the run, by its number in the family; None: it is made."""
    each: dict[int, int]
    """How many of them lie in each of several folders; 0: there is no such number."""

    @staticmethod
    def of(table: Table, calls: RankCalls) -> _Families:
        """Those of all calls. Raises Unsaid where no program can say it."""
        slots = {*calls.slot[calls.slot >= 0].tolist()}
        slots |= {*calls.to_slot[calls.kind == KIND_CODES[Kind.RENAME]].tolist()}
        lengths, each = {}, {}
        for slot in sorted(slots):
            family = calls.families[slot]
            if len({table.manners[file] for file in family.files}) > 1:
                raise Unsaid("files that are opened in several ways")
            lengths[slot] = _lengths(table, calls, slot)
            each[slot] = _in_each_folder(table, family) if family.turns > 1 else 0
        return _Families(lengths, each)


@dataclass
class _Entries:
    """The files of the workload, by family and by the expression that says which of it."""

    table: Table
    calls: RankCalls
    known_as: Sequence[str]
    told: _Families
    names: dict[tuple[int, str], str] = field(default_factory=dict)
    makers: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Of each family, the entries by which its files are made."""
    words: dict[int, str] = field(default_factory=dict)
    """Of each family, what its names have in common."""
    bases: dict[int, str] = field(default_factory=dict)
    """What the names of a family's files begin with: the first of its entries."""

    def name(self, slot: int, ordinal: str, makes: bool) -> str:
        """The entry of a family for one expression, in a call that `makes` the file or not."""
        key = (slot, ordinal)
        if key not in self.names:
            family = self.calls.families[slot]
            if slot not in self.words:
                self.words[slot] = self._common_name(family)
            word = _WORD.sub("_", self.words[slot]).strip("_").lower() or "file"
            word = word if word[0].isalpha() else f"f_{word}"
            word += "_new" * family.is_aside
            taken = set(self.names.values())
            name, number = word, 2
            while name in taken or name in _RESERVED:
                name, number = f"{word}_{number}", number + 1
            self.names[key] = name
            self.bases.setdefault(slot, name)
        name = self.names[key]
        if makes and name not in self.makers[slot]:
            self.makers[slot].append(name)
        return name

    def _common_name(self, family: FileFamily) -> str:
        """What the names of files have in common, or else the folder that all are in."""
        paths = [self.table.paths[one] for one in family.files]
        names = {path.rpartition("/")[2] for path in paths}
        if len(names) > 1:
            names = {re.sub(r"\d+", "", name) for name in names}
        name = names.pop()
        if not names:
            return name
        return os.path.commonpath([path.rpartition("/")[0] for path in paths]).rpartition("/")[2]

    def _path(self, base: str, which: str, each: int) -> str:
        """The template of a family's names, with so many in each folder; 0: it has no folders."""
        number = which if which.isdigit() else f"{{{which}}}"
        if not each:
            return f"{base}_{number}"
        if which.isdigit():
            return f"{base}/{int(which) // each}/{which}"
        folder = f"({which})" if " " in which else which
        return f"{base}/{{{folder} // {each}}}/{number}"

    def specs(self) -> dict[str, FileSpec]:
        """The files. Raises Unsaid."""
        found = {}
        for (slot, which), name in self.names.items():
            family = self.calls.families[slot]
            files = family.files
            interface = self.table.interfaces[files[0]]
            base = self.bases[slot]
            path = base if family.turns == 1 else self._path(base, which, self.told.each[slot])
            size = _staged(family, self.told.lengths[slot], self.calls.ranks, which)
            ways = [self.table.manners[file] for file in files]
            makers = self.makers[slot]
            made_by = makers[:1] if size is None and name not in makers else []
            found[name] = FileSpec(
                path=path,
                about=self.known_as[files[0]],
                interface=interface,
                options=opening_options(ways, interface, True, size is None),
                shared="all" if family.is_shared else "rank",
                made_by=made_by,
                prestage=size,
            )
        return found


_NUMBER = "file"
"""Stands for a file's number in its family."""
_RESERVED = frozenset({*RESERVED_NAMES, *VARIABLES})


def _in_each_folder(table: Table, family: FileFamily) -> int:
    """How many of a rank's files of a family lie in each of several folders that were there
    before; 0: there is no such number. Raises Unsaid."""
    paths, files = table.paths, family.files
    homes: dict[int, list[str]] = defaultdict(list)
    for one in files:
        whose = 0 if family.is_shared else int(table.rank[table.file == one][0])
        homes[whose].append(paths[one].rpartition("/")[0])
    made = np.unique(table.file[table.is_kind(Kind.MKDIR)])
    each = files_in_each(list(homes.values()))
    if not each or np.all(np.isin(files, made)):
        return 0
    if set(homes[min(homes)]) & {paths[one] for one in made.tolist()}:
        raise Unsaid("folders that the program makes")
    return each


def _lengths(table: Table, calls: RankCalls, slot: int) -> dict[int, int | None]:
    """How long each file of a family, by its number, must be before the run; None for those that
    the program makes. Raises Unsaid."""
    family = calls.families[slot]
    mine = np.flatnonzero(calls.row >= 0)
    mine = mine[np.isin(table.file[calls.row[mine]], family.files)]
    mine = mine[np.argsort(table.start_ns[calls.row[mine]], kind="stable")]
    file = table.file[calls.row[mine]]
    sizes: dict[int, int | None] = {}
    for one in family.files:
        rows = mine[file == one]
        named = rows[calls.slot[rows] == slot]
        got = rows[(calls.to_slot[rows] == slot) & (calls.kind[rows] == KIND_CODES[Kind.RENAME])]
        number = int(calls.ordinal[named[0]] if len(named) else calls.to_ordinal[got[0]])
        size = _missing_bytes(calls, rows)
        if sizes.setdefault(number, size) != size:
            raise Unsaid("inputs whose lengths differ from rank to rank")
    return sizes


def _staged(
    family: FileFamily, sizes: dict[int, int | None], ranks: int, which: str
) -> Value | None:
    """How long each rank's part of a family's files of these lengths must be before the run, where
    `which` says which of them it is; None where the program makes them. Raises Unsaid."""
    if None in sizes.values():
        if set(sizes.values()) > {None}:
            raise Unsaid("files of which the program makes some")
        return None
    parts = ranks if family.is_shared else 1
    found = np.array([-(-(sizes[number] or 0) // parts) for number in sorted(sizes)], np.int64)
    fit = fit_numbers(found, Cells((_NUMBER,), (np.arange(len(found)),), (len(found),)))
    if fit is None:
        raise Unsaid("lengths of inputs")
    if fit.is_constant or which.isdigit():
        size = int(found[int(which) if which.isdigit() else 0])
        return size_text(size) if size else 0
    return re.sub(rf"\b{_NUMBER}\b", which if which.isidentifier() else f"({which})", fit.text)


def _missing_bytes(calls: RankCalls, rows: Column) -> int | None:
    """How long a file with these calls, in the order of time, must be before the first of them;
    None where the first makes it. Raises Unsaid where only a run could tell."""
    rows = rows[calls.kind[rows] != KIND_CODES[Kind.MISS]]
    if not len(rows) or calls.kind[rows[0]] == KIND_CODES[Kind.MKDIR]:
        return None
    if KIND_CODES[Kind.RMDIR] in calls.kind[rows]:
        raise Unsaid("folders that were there before")
    if calls.makes[rows[0]]:
        _check_lengths(calls, rows)
        return None
    written, need = 0, 0
    for row in rows.tolist():
        if calls.makes[row]:
            break
        end = int(calls.offset[row] + calls.size[row])
        if calls.kind[row] == KIND_CODES[Kind.READ]:
            need = max(need, end) if end > written or need else need
        elif calls.kind[row] == KIND_CODES[Kind.WRITE] and calls.offset[row] <= written:
            written = max(written, end)
    return need


def _check_lengths(calls: RankCalls, rows: Column) -> None:
    """Raises Unsaid where a file that the program makes is read beyond what was written."""
    length = 0
    for row in rows.tolist():
        end = int(calls.offset[row] + calls.size[row])
        if calls.makes[row]:
            length = 0
        elif calls.kind[row] == KIND_CODES[Kind.WRITE]:
            length = max(length, end)
        elif calls.kind[row] == KIND_CODES[Kind.TRUNCATE]:
            length = int(calls.offset[row])
        elif calls.kind[row] == KIND_CODES[Kind.READ] and end > length:
            raise Unsaid("reads beyond what was written")


def _phases(nodes: list[Node], writer: StepWriter, calls: RankCalls) -> Steps:
    """The program, each loop that no other is around a phase, with the calls beside it; loops that
    some ranks were in before others had left the one before are one phase."""
    parts: list[list[Node]] = [[]]
    has_loop = False
    for node in nodes:
        is_work = isinstance(node, LoopNode) and _moves([node], calls)
        if has_loop and is_work and _is_apart(parts[-1], node, writer.table, calls):
            parts.append([])
        has_loop |= is_work
        parts[-1].append(node)
    titles = [_title(part, calls) for part in parts]
    several = {title for title, times in Counter(titles).items() if times > 1}
    steps: Steps = []
    number: Counter[str] = Counter()
    for part, title in zip(parts, titles, strict=True):
        number[title] += 1
        name = f"{title} {number[title]}" if title in several else title
        outermost = LoopScope.outermost(calls.ranks)
        steps.append(StepSpec(phase=name, do=writer.steps(part, outermost)))
    return steps


def _is_apart(before: list[Node], after: Node, table: Table, calls: RankCalls) -> bool:
    """Whether all ranks had done what stands before when the first came to what is after it."""
    first, last = (
        np.concatenate([calls.row[one.calls] for one in statements(part)])
        for part in (before, [after])
    )
    first, last = first[first >= 0], last[last >= 0]
    return bool(table.end_ns[first].max() <= table.start_ns[last].min())


def _moves(nodes: list[Node], calls: RankCalls) -> bool:
    return any(int(calls.kind[one.calls[0]]) in DATA for one in statements(nodes))


def _title(nodes: list[Node], calls: RankCalls) -> str:
    kinds = [int(calls.kind[one.calls[0]]) for one in statements(nodes)]
    words = [kind.value for kind in (Kind.WRITE, Kind.READ) if KIND_CODES[kind] in kinds]
    return " and ".join(words) or "names"
