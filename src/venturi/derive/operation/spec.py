"""The files of a derived workload: what its steps name."""

from __future__ import annotations

import re
from collections import Counter

from venturi.derive.known_name import known_name
from venturi.derive.operation.folder import path_of
from venturi.derive.operation.manner import UNEVEN_NOTE, Option, opening_options
from venturi.derive.operation.naming import Entry, named_in
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.derive.operation.scene import VARIABLES
from venturi.model.units import size_text
from venturi.model.workload import FileSpec, Value

_LOOP = re.compile(rf"\b({'|'.join(VARIABLES)})\b")


def file_specs(program: Program, steps: Steps) -> dict[str, FileSpec]:
    """The files that these steps, the program's, use."""
    found = {}
    entries = program.names.entries
    several = Counter(entry.stream for entry in entries.values() if not entry.is_aside)
    for name, entry in entries.items():
        entry.is_numbered |= several[entry.stream] > 1
        entry.is_given_away &= name not in program.staged
    used = named_in(steps)
    used |= {maker for name in used & entries.keys() for maker in entries[name].made_by}
    paths = {name: path_of(program, entry) for name, entry in entries.items() if name in used}
    for name, entry in entries.items():
        if name not in used:
            continue
        stream = program.streams.kept[entry.stream]
        tree = program.trees.trees.get(name)
        known_as = known_name([program.table.paths[file] for file in stream.files])
        if tree is not None:
            total = int(tree.sizes[:, 0].sum())
            found[name] = FileSpec(
                path=name,
                about=known_as,
                interface=stream.interface,
                shared="rank" if tree.is_alone else "all",
                tree=tree.spec,
                prestage=(size_text(total) if total else 0) if tree.is_staged else None,
            )
            continue
        found[name] = FileSpec(
            path=paths[name],
            about=known_as,
            interface=stream.interface,
            options=_options(program, name),
            shared="all" if entry.is_shared or entry.holds_others else "rank",
            datasets=program.datasets.files.get(name, {}),
            prestage=_prestage(program, name, entry, paths[name]),
            made_by=entry.made_by,
        )
    return found


def _options(program: Program, name: str) -> dict[str, Option]:
    """What the interface must be told to treat these files as the application, or its library,
    did."""
    stream = program.names.entries[name].stream
    files = program.streams.kept[stream]
    caches = program.datasets.caches.get(name)
    found: dict[str, Option] = {"chunk_cache": size_text(max(caches))} if caches else {}
    are_exact = all(one.said.has_sizes for one in program.told if one.stream == stream)
    manners = [program.table.manners[file] for file in files.files]
    if manners[0].is_direct and not are_exact:
        program.notes[f"{files.name}: {UNEVEN_NOTE}"] = 1
    is_made = name not in program.staged
    return found | opening_options(manners, files.interface, are_exact, is_made)


def _prestage(program: Program, name: str, entry: Entry, path: str) -> Value | None:
    """What is there before the run; files that others make are staged as theirs."""
    if entry.made_by:
        return None
    reach = program.staged.get(name)
    if program.lengths.get(name) or reach is None:
        return program.lengths.get(name)
    length = program.turn_lengths.get(name, "")
    if length and all(f"{{{loop}}}" in path for loop in _LOOP.findall(length)):
        return length
    each = -(-reach // program.table.ranks) if entry.is_shared else reach
    return size_text(each) if each else 0
