"""Many small files, each made, looked at, read or removed in one go, as a tree of items."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from venturi.derive.operation.attribute import item_verb_of
from venturi.derive.operation.linked import link_verb_of
from venturi.derive.operation.naming import Names
from venturi.derive.operation.pace import CALL_TO_CALL_NS, mean_ns
from venturi.derive.operation.run import seconds_text
from venturi.derive.operation.scene import Crew
from venturi.derive.operation.sizes import MOST_LISTED, MOST_WEIGHT, parts_of
from venturi.derive.operation.table import CREATES, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import KIND_CODES, Column, Kind
from venturi.model.plan import ItemKind, ItemVerb
from venturi.model.units import size_text
from venturi.model.verb import ATTRIBUTE_VERBS
from venturi.model.workload import EachStep, SizeSpec, StepSpec, TreeSpec, Value

LEAST_ITEMS = 8
"""With fewer files for each rank, a loop over files says it as well."""

_VERBS = {
    KIND_CODES[Kind.WRITE]: ItemVerb.WRITE,
    KIND_CODES[Kind.READ]: ItemVerb.READ,
    KIND_CODES[Kind.SYNC]: ItemVerb.SYNC,
    KIND_CODES[Kind.DATA_SYNC]: ItemVerb.SYNC,
    KIND_CODES[Kind.CLOSE]: ItemVerb.CLOSE,
    KIND_CODES[Kind.STAT]: ItemVerb.STAT,
    KIND_CODES[Kind.UNLINK]: ItemVerb.UNLINK,
    KIND_CODES[Kind.MKDIR]: ItemVerb.MKDIR,
    KIND_CODES[Kind.RMDIR]: ItemVerb.RMDIR,
    KIND_CODES[Kind.RENAME]: ItemVerb.RENAME,
}
_DIRECTORY = {ItemVerb.MKDIR, ItemVerb.RMDIR}
_DATA = {ItemVerb.WRITE, ItemVerb.READ}
_OPEN_ONLY = {*_DATA, ItemVerb.SYNC, ItemVerb.SET_XATTR}
"""What only an open item takes."""
_MAKING = {ItemVerb.CREATE, ItemVerb.MKDIR}
_REMOVING = {ItemVerb.UNLINK, ItemVerb.RMDIR}


@dataclass
class Tree:
    """A tree while it is written."""

    files: Column
    """Sorted numbers of the files, a column for each rank."""
    in_order: Column
    """The same in the order of their first pass."""
    sizes: Column
    """Bytes of each, in that order."""
    spec: TreeSpec
    exists: bool
    is_staged: bool
    is_alone: bool
    """Whether no directory holds files of two ranks."""


@dataclass(frozen=True)
class Pass:
    """One verb after the other on each of many files."""

    verbs: list[ItemVerb]
    files: Column
    """(items, ranks)."""
    sizes: Column
    """Bytes moved of each; 0 without data."""
    last: Column
    """The last token of each."""
    called: list[ItemVerb]
    """The verbs as the program called them: some leave a file open, or close it early."""

    @property
    def makes(self) -> bool:
        """Whether it makes what it uses."""
        return not _MAKING.isdisjoint(self.verbs)


@dataclass
class Trees:
    """The trees of a workload, by name."""

    table: Table
    tokens: Tokens
    names: Names
    trees: dict[str, Tree] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def pass_of(self, first: Column, count: int) -> Pass | None:
        """The pass of visits that begin with the tokens `first`, (items, ranks), if it is one."""
        if first.ndim != 2 or len(first) < LEAST_ITEMS:
            return None
        files = self.tokens.file[first]
        if len(np.unique(files)) != files.size:
            return None
        verbs: list[ItemVerb] = []
        sizes = np.zeros(files.shape, np.int64)
        for place in range(count):
            ids = first + place
            verb = self._verb(ids)
            if verb is None or (verb in _DATA and not _DATA.isdisjoint(verbs)):
                return None
            if verb in _DATA:
                if np.any(self.tokens.count[ids] != 1) or np.any(self.tokens.base[ids] > 0):
                    return None
                sizes = self.tokens.bytes[ids]
            verbs.append(verb)
        return _sound(Pass(verbs, files, sizes, first + count - 1, verbs))

    def _verb(self, ids: Column) -> ItemVerb | None:
        kind = int(self.tokens.kind[ids].flat[0])
        if kind == KIND_CODES[Kind.OPEN]:
            makes = bool(self.tokens.flags[ids].flat[0] & CREATES)
            return ItemVerb.CREATE if makes else ItemVerb.OPEN
        if kind == KIND_CODES[Kind.ATTRIBUTE]:
            return item_verb_of(int(self.tokens.flags[ids].flat[0]))
        link = link_verb_of(kind, int(self.tokens.flags[ids].flat[0]))
        return link or _VERBS.get(kind)

    def step(self, stream: int, done: Pass, crew: Crew) -> StepSpec | None:
        """The step of a pass; None where no tree says it exactly."""
        verbs = list(done.verbs)
        found = self._found(stream, done)
        if found is None:
            made = self._made(stream, done, crew)
            if made is None:
                return None
            found = (made, 0)
        name, shift = found
        tree = self.trees[name]
        if tree.exists:
            verbs = [ItemVerb.OPEN if verb is ItemVerb.CREATE else verb for verb in verbs]
        if tree.is_staged and not _REMOVING.isdisjoint(verbs) and not self._ends(tree, done):
            self.notes.append(f"{name}: files that were there before are not removed")
            verbs = [verb for verb in verbs if verb not in _REMOVING]
        if verbs == [ItemVerb.RENAME]:
            self.notes.append(f"{name}: what is renamed gets another one's name, with a call more")
        elif ItemVerb.CREATE not in verbs and ItemVerb.RENAME in verbs:
            self.notes.append(f"{name}: renaming over what was there before is left out")
            verbs.remove(ItemVerb.RENAME)
        if not verbs:
            return StepSpec(compute=0)
        if not _MAKING.isdisjoint(verbs):
            tree.exists = True
        if not _REMOVING.isdisjoint(verbs):
            tree.exists = False
        each = EachStep(on=name, do=verbs, **self._cut(tree, done))
        shifted: dict[str, Any] = {"from_": f"shift {shift}"} if shift else {}
        return StepSpec(each=each, **shifted)

    def with_computing(self, step: StepSpec, first: Column, done: Pass) -> StepSpec:
        """The step of a pass whose visits begin with the tokens `first`, with what is computed
        before each of its verbs."""
        count = int(done.last.flat[0] - first.flat[0]) + 1
        rows = self.tokens.rows[self.tokens.first[first[..., None] + np.arange(count)]]
        spent = [mean_ns(self.table.computing_ns[rows[..., at]].ravel()) for at in range(count)]
        if step.each is None or sum(spent) < CALL_TO_CALL_NS * count:
            return step
        told: dict[ItemVerb, deque[float]] = defaultdict(deque)
        for verb, ns in zip(done.called, spent, strict=True):
            told[_as_opened(verb)].append(ns)
        thinks_ns = [
            own.popleft() if (own := told[_as_opened(verb)]) else 0.0 for verb in step.each.do
        ]
        thinks_ns[-1] += sum(sum(own) for own in told.values())  # of verbs that are left out
        texts: list[Value] = [
            seconds_text(float(f"{ns:.2g}") / 1e9) if ns else 0 for ns in thinks_ns
        ]
        think: Value | list[Value] = texts if any(texts[1:]) else texts[0]
        return step.model_copy(update={"each": step.each.model_copy(update={"think": think})})

    def has_any(self, stream: int, files: Column) -> bool:
        """Whether a tree of the stream has some of these files."""
        return any(
            self.names.entries[name].stream == stream and bool(np.isin(files, tree.files).any())
            for name, tree in self.trees.items()
        )

    def _ends(self, tree: Tree, done: Pass) -> bool:
        """Whether a pass removes all items that were there before, and nobody uses them later."""
        return done.files.size == tree.files.size and self._ends_all(done)

    def _ends_all(self, done: Pass) -> bool:
        """Whether a pass removes what it uses, and nobody uses it later."""
        return done.verbs[-1] in _REMOVING and self.tokens.are_last(done.last)

    def _cut(self, tree: Tree, done: Pass) -> dict[str, Any]:
        size = int(done.sizes.flat[0])
        whole = int(tree.sizes.max())
        is_even = bool(np.all(done.sizes == size))
        return (
            {"bytes": size_text(size)}
            if size and size < whole and is_even and ItemVerb.READ in done.verbs
            else {}
        )

    def _found(self, stream: int, done: Pass) -> tuple[str, int] | None:
        """A tree of the same files with the same sizes, and the shift of ranks."""
        columns = np.sort(done.files, axis=0)
        ranks = columns.shape[1]
        for name, tree in self.trees.items():
            if self.names.entries[name].stream != stream or tree.files.shape != columns.shape:
                continue
            hits = np.flatnonzero(tree.files[0] == columns[0, 0])
            if not len(hits):
                continue
            shift = int(hits[0])
            owner = (np.arange(ranks) + shift) % ranks
            if not np.array_equal(tree.files[:, owner], columns):
                continue
            if tree.is_staged and not np.any(tree.sizes):
                self._sized(tree, done)
            if self._fits(tree, done):
                return name, shift
        return None

    def _sized(self, tree: Tree, done: Pass) -> None:
        """Gives a tree, which was only looked at so far, the sizes that a pass reads."""
        shape = self._shape(done) if np.any(done.sizes) else None
        if shape is not None and ItemVerb.READ in done.verbs:
            sizes = {key: getattr(shape[0], key) for key in ("size", "sizes")}
            tree.spec = tree.spec.model_copy(update=sizes)
            tree.in_order, tree.sizes = done.files, done.sizes

    def _fits(self, tree: Tree, done: Pass) -> bool:
        """Whether the tree's items are there, or are made, and have the sizes of the pass."""
        if not (tree.exists or done.makes):
            return False
        if _DATA.isdisjoint(done.verbs):
            return True
        size = done.sizes
        if np.all(size == size.flat[0]) and ItemVerb.READ in done.verbs:
            return bool(np.all(tree.sizes >= size.flat[0]))
        order_old, order_new = np.argsort(tree.in_order, None), np.argsort(done.files, None)
        return np.array_equal(tree.sizes.ravel()[order_old], size.ravel()[order_new])

    def _made(self, stream: int, done: Pass, crew: Crew) -> str | None:
        """A new tree for a pass."""
        shape = self._shape(done)
        if shape is None:
            return None
        staged = not done.makes or ItemVerb.READ in done.verbs
        is_directory = not _DIRECTORY.isdisjoint(done.verbs)
        if staged and is_directory and not self._ends_all(done):
            return None
        name = self.names.fresh((b"", stream, "0"))
        spec, alone = shape
        if is_directory:
            spec = spec.model_copy(update={"kind": ItemKind.DIRECTORY})
        self.trees[name] = Tree(
            np.sort(done.files, axis=0), done.files, done.sizes, spec, staged, staged, alone
        )
        del crew
        return name

    def _shape(self, done: Pass) -> tuple[TreeSpec, bool] | None:
        """Directories, items and sizes."""
        items, ranks = done.files.shape
        is_any = bool(np.any(done.sizes))
        parts, exact = parts_of(done.sizes.ravel(), MOST_LISTED) if is_any else ([], True)
        keys: dict[str, Any] = {}
        if len(parts) == 1 and parts[0][0]:
            keys["size"] = size_text(parts[0][0])
        elif len(parts) > 1:
            columns = np.sort(done.sizes, axis=0)
            if np.any(columns != columns[:, :1]) or (ranks > 1 and not exact):
                return None
            shares = [(size, count // ranks) for size, count in parts]
            common = int(np.gcd.reduce([count for _, count in shares]))
            if any(count // common > MOST_WEIGHT for _, count in shares):
                return None
            keys["sizes"] = [
                SizeSpec(bytes=size_text(size), weight=count // common) for size, count in shares
            ]
        branch, alone = self._directories(done.files)
        if branch > 1:
            keys |= {"depth": 1, "branch": branch, "leaves": True}
        return TreeSpec(items=items // branch, **keys), alone

    def _directories(self, files: Column) -> tuple[int, bool]:
        """Directories of each rank's files, and whether they are its own."""
        paths = [[self.table.paths[f].rpartition("/")[0] for f in column] for column in files.T]
        sets = [set(column) for column in paths]
        alone = sum(map(len, sets)) == len(set().union(*sets))
        count = len(sets[0])
        even = all(
            len(found) == count
            and all(column.count(path) * count == len(column) for path in list(found)[:64])
            for found, column in zip(sets, paths, strict=True)
        )
        return (count if even and len(files) // count >= 2 else 1), alone


def _is_named_at_last(verbs: list[ItemVerb]) -> bool:
    """Whether an item that was made aside is renamed when it is closed, and only then."""
    before = verbs[: verbs.index(ItemVerb.RENAME)]
    made = ItemVerb.CREATE in before and ItemVerb.CLOSE in before
    return made and verbs.count(ItemVerb.RENAME) == 1


def _is_of_directories(verbs: list[ItemVerb]) -> bool:
    """Whether directories can be used so: made first or removed last, and else only looked at."""
    beside = [verb for verb in verbs if verb.value not in ATTRIBUTE_VERBS]
    made, gone = ItemVerb.MKDIR in verbs[1:], ItemVerb.RMDIR in verbs[:-1]
    return not (made or gone) and {ItemVerb.STAT, *_DIRECTORY}.issuperset(beside)


def _as_opened(verb: ItemVerb) -> ItemVerb:
    """The same; of files that are there, what was made in the program is opened."""
    return ItemVerb.OPEN if verb is ItemVerb.CREATE else verb


def _sound(done: Pass) -> Pass | None:
    """The pass with what the engine needs around data; None where it makes no sense."""
    verbs = list(done.verbs)
    opens = [i for i, verb in enumerate(verbs) if verb in (ItemVerb.CREATE, ItemVerb.OPEN)]
    needs = any(verb in _OPEN_ONLY or verb is ItemVerb.CLOSE for verb in verbs)
    if len(opens) > 1 or (needs and not opens):
        return None
    if verbs.count(ItemVerb.CLOSE) > 1 or verbs.count(ItemVerb.UNLINK) > 1:
        return None
    if opens and ItemVerb.CLOSE not in verbs:
        verbs.append(ItemVerb.CLOSE)
    if opens:
        # A descriptor may be closed while a copy of it goes on.
        last = max(i for i, verb in enumerate(verbs) if verb in _OPEN_ONLY or i == opens[0])
        if verbs.index(ItemVerb.CLOSE) < last:
            verbs.insert(last + 1, ItemVerb.CLOSE)
            verbs.remove(ItemVerb.CLOSE)
    if not _DIRECTORY.isdisjoint(verbs) and not _is_of_directories(verbs):
        return None
    for verb in verbs[: opens[0]] if opens else []:
        if verb is not ItemVerb.STAT and verb.value not in ATTRIBUTE_VERBS:
            return None
    makes = ItemVerb.CREATE in verbs
    if ItemVerb.RENAME in verbs and verbs != [ItemVerb.RENAME] and not _is_named_at_last(verbs):
        return None
    if makes and verbs.index(ItemVerb.CREATE) > 0:
        return None
    return replace(done, verbs=verbs)
