"""Files that the kernel copied whole: `copy` in the place of their reads and writes.

The stages before see a copy as a read of one file and a write of another. Where a program then
opens, reads and closes the one and makes, writes and closes the other, and all of that was copies
of the one to the other, it says so: what a copy costs is the storage's affair, which may share
blocks, move bytes, or leave that to the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.table import Table
from venturi.derive.operation.two_files import way_named
from venturi.model.operation import Column, Kind
from venturi.model.plan import CopyWay, ItemVerb
from venturi.model.workload import BareStep, CopyStep, DataStep, EachStep, StepSpec, Value

_READING = [ItemVerb.OPEN, ItemVerb.READ, ItemVerb.CLOSE]
_WRITING = [ItemVerb.CREATE, ItemVerb.WRITE, ItemVerb.CLOSE]


@dataclass(frozen=True)
class Copies:
    """Which files are copies, as a table of operations shows it."""

    source: Column
    """For each file the one that all of it was copied from, in order; -1: none."""
    way: Column
    bytes: Column
    """Of each file, as far as it was copied."""


def copies_in(table: Table) -> Copies:
    """The files that were copied from another one, and only so."""
    count = len(table.paths)
    source, way = np.full(count, -1), np.zeros(count, np.int64)
    sizes = np.zeros(count, np.int64)
    reads, writes = (_marked(table, kind) for kind in (Kind.READ, Kind.WRITE))
    # The two rows of a copy have the same rank and start.
    order = [rows[np.lexsort((table.start_ns[rows], table.rank[rows]))] for rows in (reads, writes)]
    if len(reads) != len(writes) or not len(reads):
        return Copies(source, way, sizes)
    one, other = table.file[order[0]], table.file[order[1]]
    first = np.full(count, count)
    np.minimum.at(first, other, one)
    last = np.full(count, -1)
    np.maximum.at(last, other, one)
    np.maximum.at(way, other, table.copied[order[1]])
    np.add.at(sizes, other, table.bytes[order[1]])
    whole = (first == last) & _only_copied(table, Kind.WRITE, count)
    whole &= (sizes == _ends(table, count)) & _only_copied(table, Kind.READ, count)[first % count]
    source[whole] = first[whole]
    return Copies(source, way, sizes)


def _marked(table: Table, kind: Kind) -> Column:
    return np.flatnonzero(table.is_kind(kind) & (table.copied > 0))


def _only_copied(table: Table, kind: Kind, count: int) -> Column:
    """Files of which every read, or write, was a copy."""
    other = table.is_kind(kind) & (table.copied == 0)
    only: Column = np.bincount(table.file[other], minlength=count) == 0
    return only


def _ends(table: Table, count: int) -> Column:
    """Where the copies of each source end, for the files that were written."""
    ends = np.zeros(count, np.int64)
    rows = _marked(table, Kind.WRITE)
    np.maximum.at(ends, table.file[rows], table.offset[rows] + table.bytes[rows])
    return ends


def with_copies(program: Program, steps: Steps, found: Copies) -> Steps:
    """The steps with copies said as such, where both sides of them stand together."""
    pairs = _pairs(program, found)
    if pairs:
        steps = _joined(steps, pairs, program.lengths)
    if _are_left(program, steps, found):
        program.notes[
            "copies within the kernel that are not of whole files are said as reads and writes"
        ] = 1
    return steps


def _are_left(program: Program, steps: Steps, found: Copies) -> bool:
    """Whether reads or writes that were copies are still said as such."""
    copied = {name for step in _all(steps) if step.copy_ for name in (step.copy_.from_,)}
    copied |= {step.each.from_ for step in _all(steps) if step.each and step.each.from_}
    streams = {program.names.entries[name].stream for name in copied}
    kept = program.streams.of_file[program.table.file[_marked(program.table, Kind.READ)]]
    return bool(set(np.unique(kept[kept >= 0]).tolist()) - streams)


def _all(steps: Sequence[StepSpec | BareStep]) -> list[StepSpec]:
    found = [step for step in steps if isinstance(step, StepSpec)]
    return found + [inner for step in found for inner in _all(step.do or [])]


@dataclass(frozen=True)
class _Pair:
    """An entry that is copied to another one."""

    source: str
    target: str
    way: CopyWay
    is_even: bool
    """Whether all files are equally long, or each entry is one file, or they are a tree."""


def _pairs(program: Program, found: Copies) -> list[_Pair]:
    entries, pairs = program.names.entries, []
    for name, entry in entries.items():
        for other, source in entries.items():
            alike = (entry.is_shared, entry.crew, _in_any_order(entry.index)) == (
                source.is_shared,
                source.crew,
                _in_any_order(source.index),
            )
            if name == other or not alike or entry.is_aside or source.is_aside:
                continue
            way = _way(program, found, name, other)
            if way is not None:
                pairs.append(_Pair(other, name, way, _is_even(program, found, name)))
    return pairs


def _in_any_order(index: str) -> list[list[str]]:
    """A sum of products such that equal ones written in another order are equal."""
    return sorted(sorted(term.split(" * ")) for term in index.split(" + "))


def _is_even(program: Program, found: Copies, name: str) -> bool:
    if name in program.trees.trees or not program.names.entries[name].is_indexed:
        return True
    return len(np.unique(found.bytes[_files_of(program, name)])) == 1


def _way(program: Program, found: Copies, name: str, other: str) -> CopyWay | None:
    """How the files of an entry were copied from those of another; None where they were not."""
    entries, streams = program.names.entries, program.streams.kept
    number, source = entries[name].stream, entries[other].stream
    entries_of = (streams[number].interface.entry, streams[source].interface.entry)
    plain = all(entry.can_copy for entry in entries_of)
    if not plain or name in program.staged or entries[name].made_by:
        return None
    made, read = program.trees.trees.get(name), program.trees.trees.get(other)
    if made is not None and read is not None:
        same = ("depth", "branch", "items", "leaves")
        if any(getattr(made.spec, key) != getattr(read.spec, key) for key in same):
            return None
        files, sources = made.in_order, read.in_order
    elif made is None and read is None:
        files = _files_of(program, name)
        sources = _files_of(program, other)
    else:
        return None
    # Whose number is which does not matter: names that follow no rule are taken in order.
    if not np.array_equal(np.sort(found.source[files], axis=None), np.sort(sources, axis=None)):
        return None
    ways = np.unique(found.way[files])
    return way_named(int(ways[0])) if len(ways) == 1 else None


def _files_of(program: Program, name: str) -> Column:
    """The files of an entry, in their order."""
    entry, owners = program.names.entries[name], program.names.owners
    files = program.streams.kept[entry.stream].files
    if not entry.is_indexed:
        files = files[owners.nth[files] == int(entry.index)]
    return files[np.lexsort((owners.nth[files], owners.owner[files]))]


# ---- the steps


Lengths = dict[str, Value]


def _joined(steps: Sequence[StepSpec | BareStep], pairs: list[_Pair], lengths: Lengths) -> Steps:
    """The steps of one level, and those within them."""
    out: Steps = []
    for step in steps:
        if isinstance(step, StepSpec) and step.do is not None:
            out.append(step.model_copy(update={"do": _joined(step.do, pairs, lengths)}))
        else:
            out.append(step)
    for pair in pairs:
        out = _of_pair(out, pair, lengths)
    return out


def _of_pair(steps: Steps, pair: _Pair, lengths: Lengths) -> Steps:
    """The steps with one pair's copies: within one list, or in a phase and the next one."""
    fused = _fused(steps, pair, lengths)
    if fused is not None:
        return fused
    for at in range(len(steps) - 1):
        one, other = steps[at], steps[at + 1]
        if not (isinstance(one, StepSpec) and isinstance(other, StepSpec)):
            continue
        if not (one.phase and other.phase):
            continue
        fused = _fused([*(one.do or []), *(other.do or [])], pair, lengths)
        if fused is not None:
            title = _title(one.phase, other.phase, steps)
            return [*steps[:at], StepSpec(phase=title, do=fused), *steps[at + 2 :]]
    return steps


def _title(one: str, other: str, steps: Steps) -> str:
    title = other.removesuffix(" write") + " copy" if other.endswith(" write") else other
    taken = {step.phase for step in steps if isinstance(step, StepSpec)} - {one, other}
    return other if title in taken else title


def _fused(steps: Sequence[StepSpec | BareStep], pair: _Pair, lengths: Lengths) -> Steps | None:
    """The steps with a copy in the place of what it did; None where that is not all there."""
    of_items = _fused_items(steps, pair)
    if of_items is not None:
        return of_items
    gone: dict[str, list[int]] = {}
    for at, step in enumerate(steps):
        verb = _on(step, pair) if isinstance(step, StepSpec) else ""
        if verb:
            gone.setdefault(verb, []).append(at)
    whole = {"open", "read", "close from", "create", "write", "close to"}
    if set(gone) != whole or any(len(gone[v]) > 1 for v in whole - {"read", "write"}):
        return None
    if not (gone["open"][0] < min(gone["read"]) <= max(gone["read"]) < gone["close from"][0]):
        return None
    if not (gone["create"][0] < min(gone["write"]) <= max(gone["write"]) < gone["close to"][0]):
        return None
    if not pair.is_even:
        length = _length(steps, gone["read"])
        if length is None or lengths.setdefault(pair.source, length) != length:
            return None
    skipped = {at for places in gone.values() for at in places}
    copy = CopyStep.model_validate({"from": pair.source, "to": pair.target, "by": pair.way})
    place = gone["create"][0]
    return [
        StepSpec.model_validate({"copy": copy}) if at == place else step
        for at, step in enumerate(steps)
        if at == place or at not in skipped
    ]


def _length(steps: Sequence[StepSpec | BareStep], reads: list[int]) -> Value | None:
    """How long a file is that is read whole by one step; None where that does not say."""
    step = steps[reads[0]]
    if len(reads) > 1 or not isinstance(step, StepSpec) or not isinstance(step.read, DataStep):
        return None
    said = step.read.model_fields_set
    return step.read.size if said <= {"from_", "size", "transfer", "think"} else None


def _on(step: StepSpec, pair: _Pair) -> str:
    """What a step does to the file that is copied or made; empty: something else."""
    source, name = pair.source, pair.target
    if step.from_ != "self":
        return ""
    if step.open == source or step.create == name:
        return "open" if step.open else "create"
    if step.close in (source, name):
        return "close from" if step.close == source else "close to"
    for verb, said, file in (("read", step.read, source), ("write", step.write, name)):
        there = isinstance(said, DataStep) and (said.from_ if verb == "read" else said.to) == file
        if there or said == file:
            return verb
    return ""


def _fused_items(steps: Sequence[StepSpec | BareStep], pair: _Pair) -> Steps | None:
    """The same for the items of trees; looks at items stay, each where they were."""
    source, name, way = pair.source, pair.target, pair.way
    read = _each(steps, source, _READING)
    made = _each(steps, name, _WRITING)
    if read is None or made is None or read > made:
        return None
    out: Steps = []
    for at, step in enumerate(steps):
        if at not in (read, made):
            out.append(step)
            continue
        assert isinstance(step, StepSpec)
        assert step.each is not None
        rest = [v for v in step.each.do if v not in (_READING if at == read else _WRITING)]
        if at == made and rest:
            each = {"on": name, "do": [ItemVerb.COPY, *rest], "from": source, "by": way}
            out.append(StepSpec.model_validate({"each": each}))
        elif at == made:
            out.append(StepSpec.model_validate({"copy": {"from": source, "to": name, "by": way}}))
        elif rest:
            out.append(StepSpec(each=EachStep(on=source, do=rest)))
    return out


def _each(steps: Sequence[StepSpec | BareStep], name: str, verbs: list[ItemVerb]) -> int | None:
    """Where the one step stands that does these verbs to each item, besides looks at them."""
    found = [
        at
        for at, step in enumerate(steps)
        if isinstance(step, StepSpec)
        and step.each is not None
        and step.each.on == name
        and step.from_ == "self"
        and step.each.bytes is None
        and [verb for verb in step.each.do if verb is not ItemVerb.STAT] == verbs
    ]
    return found[0] if len(found) == 1 else None
