"""Which file of its stream an act uses: the name of its entry in the workload, and its path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.fit import affine, linear_text
from venturi.derive.operation.scene import Crew, Scene
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.table import CREATES, TRUNCATES, Table
from venturi.derive.operation.token import Tokens
from venturi.model.operation import Column, Kind
from venturi.model.workload import (
    BareStep,
    CopyStep,
    DataStep,
    EachStep,
    RenameStep,
    StepSpec,
    SyncStep,
    TruncateStep,
)


@dataclass(frozen=True)
class Owners:
    """For each file of the table: whose it is, and the how many-th of its owner or stream."""

    owner: Column
    nth: Column
    given_away: frozenset[int] = frozenset()
    """Streams whose files one rank makes and others use: numbers name them, whoever does it."""


def owners_of(table: Table, tokens: Tokens, streams: Streams, private: set[int]) -> Owners:
    """A file belongs to the rank that used it first; shared ones are counted in their stream.

    Those of `private` streams are not given away where more than one rank asks for them to be made.
    """
    count = len(table.paths)
    order = np.argsort(tokens.start_ns, kind="stable")[::-1]
    owner = np.zeros(count, np.int64)
    owner[tokens.file[order]] = tokens.rank[order]
    first_use = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(first_use, tokens.file, tokens.start_ns)
    nth = np.zeros(count, np.int64)
    for stream in streams.kept:
        files = stream.files[np.argsort(first_use[stream.files], kind="stable")]
        if stream.is_shared:
            nth[files] = np.arange(len(files))
            continue
        by_owner = np.argsort(owner[files], kind="stable")
        sorted_owner = owner[files][by_owner]
        edges = np.flatnonzero(np.concatenate([[True], sorted_owner[1:] != sorted_owner[:-1]]))
        length = np.diff(np.append(edges, len(files)))
        nth[files[by_owner]] = np.arange(len(files)) - np.repeat(edges, length)
    return Owners(owner, nth, _given_away(tokens, streams, owner, private))


def _given_away(
    tokens: Tokens, streams: Streams, owner: Column, private: set[int]
) -> frozenset[int]:
    """Streams of files that all are made by one rank, of which others use some.

    Others may ask for a file to be made that is there; they do not begin it anew.
    """
    found = set()
    makes = tokens.is_kind(Kind.OPEN) & (tokens.flags & CREATES > 0)
    made = np.bincount(tokens.file[makes], minlength=len(owner)) > 0
    for number, stream in enumerate(streams.kept):
        makers = np.unique(owner[stream.files])
        if stream.is_shared or len(makers) > 1 or not np.all(made[stream.files]):
            continue
        own = streams.of_file[tokens.file] == number
        others = own & (tokens.rank != makers[0])
        anew = others & makes & (number in private or tokens.flags & TRUNCATES > 0)
        if np.any(others) and not np.any(anew):
            found.add(number)
    return frozenset(found)


Key = tuple[bytes, int, str]
"""Who has files of its own (nobody where they are shared), the stream, and the files' number in
it, as an expression over loops; "0" where there is one."""


@dataclass(frozen=True)
class Choice:
    """How loops and ranks choose the files of an act."""

    key: Key
    shift: int
    """Each rank uses the file of the one so many further."""
    note: str = ""
    strangers: int = 0
    """Of files that follow no rule, whose names stand for any so many: their number."""

    @property
    def names_all(self) -> bool:
        """Whether the names are those of these very files, if perhaps in another order."""
        return not self.strangers


@dataclass(frozen=True)
class Use:
    """The file of an act."""

    name: str
    shift: int


@dataclass
class Entry:
    """A file of the workload while it is written."""

    key: Key
    is_shared: bool
    home: str = ""
    """What the path begins with: its own name, or that of the entry that makes the files."""
    is_numbered: bool = False
    """The path has the number even where loops do not choose the file."""
    made_by: list[str] = field(default_factory=list)
    """The entries that make its files, if it does not."""
    is_aside: bool = False
    """Its files get the names of another entry's."""
    is_given_away: bool = False
    """One rank makes its files and others use them, so no rank adds its number to their names."""
    holds_others: bool = False
    """Its files are folders in which another entry's files lie."""

    @property
    def crew(self) -> bytes:
        """Who has files of its own in it; nobody where they are shared."""
        return self.key[0]

    @property
    def stream(self) -> int:
        """The number of its stream."""
        return self.key[1]

    @property
    def index(self) -> str:
        """The file's number in its stream."""
        return self.key[2]

    @property
    def path(self) -> str:
        """The template of its names."""
        if self.is_given_away:
            number = self.index if "rank" in self.index else f"{self.index} + 0 * rank"
            return f"{self.home}.{{{number}}}"
        if self.is_indexed:
            return f"{self.home}.{{{self.index}}}"
        return f"{self.home}.{self.index}" if self.is_numbered else self.home

    @property
    def is_indexed(self) -> bool:
        """Whether loops choose the file."""
        return not self.index.isdigit()


@dataclass
class Names:
    """Entries by name; the same files in the same order share one."""

    owners: Owners
    streams: Streams
    entries: dict[str, Entry] = field(default_factory=dict)
    _keys: dict[tuple[bool, Key, int], str] = field(default_factory=dict)
    """What files that follow no rule are called is no name of others, nor of more of them."""

    def choice(self, stream: int, file: Column, scene: Scene) -> Choice:
        """How files with an axis for each loop and a last one for ranks are chosen."""
        kept = self.streams.kept[stream]
        given = self._given(stream, file, scene)
        if given is not None:
            return given
        shift, note, strangers = 0, "", 0
        nth = self.owners.nth[file]
        if not kept.is_shared:
            shift = self._shift(file, scene)
        index = nth[..., 0]
        fitted = affine(index)
        if np.any(nth != index[..., None]) or fitted is None:
            note = "which of its files a rank takes follows no rule; assumed in order"
            text, strangers = _in_order(nth, scene)
        else:
            text = linear_text(fitted.constant, scene.terms(fitted.slopes), is_size=False)
        crew = b"" if kept.is_shared else scene.crew.ranks.tobytes()
        return Choice((crew, stream, text), shift, note, strangers)

    def _given(self, stream: int, file: Column, scene: Scene) -> Choice | None:
        """How files that another rank may have made are chosen, by loops and the rank; None where
        none have, or no rule says which."""
        fitted = affine(self.owners.nth[file])
        if fitted is None or stream not in self.owners.given_away:
            return None
        *slopes, by_rank = fitted.slopes
        terms = [*scene.terms(tuple(slopes)), (by_rank, scene.crew.place)]
        text = linear_text(fitted.constant, terms, is_size=False)
        return Choice((b"", stream, text), 0)

    def known(self, key: Key) -> str | None:
        """The entry that makes, or finds, the files of this key, if there is one."""
        return self._keys.get((False, key, 0))

    def use(self, chosen: Choice, is_again: bool = False) -> Use:
        """The entry for a choice of files; with `is_again`, of files that other entries make."""
        key = is_again, chosen.key, chosen.strangers
        if key not in self._keys:
            self._keys[key] = self.fresh(chosen.key)
        return Use(self._keys[key], chosen.shift)

    def fresh(self, key: Key) -> str:
        """A new entry of the key's stream."""
        _, stream, _ = key
        base = self.streams.kept[stream].name
        entries = self.entries.values()
        used = sum(1 for entry in entries if entry.stream == stream and not entry.is_aside)
        letters = "bcdefghijklmnopqrstuvwxyz"
        suffix = "" if not used else letters[used - 1] if used <= len(letters) else f"_{used}"
        name = base + suffix
        home = f"stream{_letters(stream)}{used + 1}"
        self.entries[name] = Entry(
            key,
            self.streams.kept[stream].is_shared,
            home=home,
            is_given_away=key[0] == b"" and stream in self.owners.given_away,
        )
        return name

    def aside(self, name: str) -> str:
        """The entry under which files of this one are made before they get its name."""
        aside = f"{name}_new"
        if aside not in self.entries:
            entry = self.entries[name]
            self.entries[aside] = Entry(
                entry.key, entry.is_shared, home=f"new-{entry.home}", is_aside=True
            )
        return aside

    def _shift(self, file: Column, scene: Scene) -> int:
        """How many ranks further the owner of each file is; 0 where that differs."""
        if not scene.crew.is_all or len(scene.crew) < 2:
            return 0
        owner = self.owners.owner[file]
        ranks = scene.crew.world
        shift = int(owner.flat[0])
        return shift if np.all(owner == (np.arange(ranks) + shift) % ranks) else 0


def _letters(stream: int) -> str:
    """A stream in letters: what differs in digits only is one stream to whoever looks at names."""
    head, last = divmod(stream, 26)
    return (_letters(head - 1) if head else "") + chr(ord("A") + last)


def _in_order(nth: Column, scene: Scene) -> tuple[str, int]:
    """Each file in its turn, again and again; how many they are if it is not these very ones."""
    of_ranks = [np.unique(mine) for mine in np.moveaxis(nth, -1, 0)]
    files = max(len(mine) for mine in of_ranks)
    low = int(of_ranks[0][0])
    are_all = all(np.array_equal(mine, low + np.arange(files)) for mine in of_ranks)
    if files == 1:
        return "0", int(not (are_all and low == 0))
    text = scene.turn
    if files < nth[..., 0].size:
        text = f"({text}) % {files}" if " " in text else f"{text} % {files}"
    return (f"{low} + {text}", 0) if low and are_all else (text, 0 if are_all else files)


def named_in(steps: Sequence[StepSpec | BareStep]) -> set[str]:
    """Entries that steps name."""
    names: set[str] = set()
    for step in steps:
        if not isinstance(step, StepSpec):
            continue
        verb = step.verb
        said = getattr(step, verb)
        if isinstance(said, str) and verb != "phase":
            names.add(said)
        elif isinstance(said, DataStep):
            names.add(str(said.to or said.from_).partition(".")[0])
        elif isinstance(said, EachStep | SyncStep | TruncateStep):
            names.add(said.on)
        elif isinstance(said, CopyStep):
            names |= {said.from_, said.to}
        elif isinstance(said, RenameStep):
            names |= {said.on, said.to}
        if isinstance(said, EachStep) and said.from_ is not None:
            names.add(said.from_)
        names |= named_in(step.inner)
    return names


def any_files(files: Column, turns: int, crew: Crew) -> Column:
    """Files in any order, with axes as an act of the scene would have."""
    shape = (turns, len(crew)) if turns > 1 else (len(crew),)
    return np.resize(files, shape)
