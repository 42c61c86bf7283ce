"""In which folders the files of a stream lie: a folder of a thousand names is not twenty of fifty.

File systems look names up folder by folder, and some place the files of each folder apart, so a
proxy whose files all lie in one has other work with names, and reads from other places.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from venturi.derive.operation.naming import Entry
from venturi.derive.operation.program import Program
from venturi.model.operation import KIND_CODES, Kind

LEAST_EACH = 4
"""With fewer files in each, folders are names as files are, and the files name them well enough."""
MOST_UNEVEN = 2.0
"""The fullest folder holds at most so many times the files of the mean one."""


def path_of(program: Program, entry: Entry) -> str:
    """The template of an entry's names: below folders where its files lie in several, which are
    those that another entry makes, where the application made them."""
    each = 0 if entry.is_given_away else files_in_each(_homes(program, entry))
    if not each or not (entry.is_indexed or entry.is_numbered):
        return entry.path
    if entry.is_indexed:
        number = f"({entry.index})" if " " in entry.index else entry.index
        folder, name = f"{{{number} // {each}}}", f"{{{entry.index}}}"
    else:
        folder, name = str(int(entry.index) // each), entry.index
    maker = _maker(program, entry, each)
    if maker is None:
        return f"{entry.home}/{folder}/{name}"
    maker.holds_others = True  # so no rank adds its number to the folders' names
    return f"{maker.home}.{folder}/{entry.home}.{name}"


def files_in_each(homes: list[list[str]]) -> int:
    """How many files, one after the other, each folder holds; 0: one folder, or no rule.

    `homes` are the folders of each owner's files, in the order of their numbers.
    """
    found = set()
    for own in homes:
        runs = [len(list(group)) for _, group in groupby(own)]
        if len(runs) < 2 or len(runs) > len(set(own)):
            return 0
        each = -(-len(own) // len(runs))
        found.add(each if max(runs) <= MOST_UNEVEN * each else 0)
    each = found.pop() if len(found) == 1 else 0
    return each if each >= LEAST_EACH else 0


def _homes(program: Program, entry: Entry) -> list[list[str]]:
    """The folders of the stream's files by owner, in the order of their numbers."""
    stream, owners = program.streams.kept[entry.stream], program.names.owners
    paths, files = program.table.paths, stream.files[np.argsort(owners.nth[stream.files])]
    owner = np.zeros(len(files), np.int64) if stream.is_shared else owners.owner[files]
    return [
        [paths[file].rpartition("/")[0] for file in files[owner == one].tolist()]
        for one in np.unique(owner)
    ]


def _maker(program: Program, entry: Entry, each: int) -> Entry | None:
    """The entry that makes these folders in the order of their files, before any of them."""
    table, tokens, names = program.table, program.tokens, program.names
    if table.ranks > 1 or not program.is_ordered:
        return None
    homes = next(own[::each] for own in _homes(program, entry))
    for number, stream in enumerate(program.streams.kept):
        files = stream.files[np.argsort(names.owners.nth[stream.files])]
        if [table.paths[file] for file in files.tolist()] != homes:
            continue
        kinds = tokens.kind[np.isin(tokens.file, files)]
        entries = [one for one in names.entries.values() if one.stream == number]
        makes = KIND_CODES[Kind.MKDIR] in kinds and KIND_CODES[Kind.RMDIR] not in kinds
        if makes and len(entries) == 1 and entries[0].is_indexed:
            return entries[0]
    return None
