"""The files of a derived workload: what its steps name."""

from __future__ import annotations

from collections import Counter

from venturi.derive.known_name import known_name
from venturi.derive.operation.folder import path_of
from venturi.derive.operation.naming import named_in
from venturi.derive.operation.program import Program
from venturi.derive.operation.run import Steps
from venturi.model.units import size_text
from venturi.model.workload import FileSpec


def file_specs(program: Program, steps: Steps) -> dict[str, FileSpec]:
    """The files that these steps, the program's, use."""
    found = {}
    entries = program.names.entries
    several = Counter(entry.stream for entry in entries.values() if not entry.is_aside)
    for entry in entries.values():
        entry.is_numbered |= several[entry.stream] > 1
    used = named_in(steps)
    used |= {maker for name in used & entries.keys() for maker in entries[name].made_by}
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
        staged = program.staged.get(name)
        found[name] = FileSpec(
            path=path_of(program, entry),
            about=known_as,
            interface=stream.interface,
            options=_options(program, name),
            shared="all" if entry.is_shared else "rank",
            datasets=program.datasets.files.get(name, {}),
            prestage=None if staged is None else _prestage(program, entry.is_shared, staged),
            made_by=entry.made_by,
        )
    return found


def _options(program: Program, entry: str) -> dict[str, str | int | float | bool]:
    """What the interface must be told to treat these files as the application's library did."""
    caches = program.datasets.caches.get(entry)
    return {"chunk_cache": size_text(max(caches))} if caches else {}


def _prestage(program: Program, is_shared: bool, reach: int) -> str | int:
    each = -(-reach // program.table.ranks) if is_shared else reach
    return size_text(each) if each else 0
