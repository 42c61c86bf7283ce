"""Findings on names: opens, stats, many files, and what programs look up when they start.

Thresholds without another source are our own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from venturi.derive.finding_counter import METADATA_SECONDS, METADATA_SHARE, OPENS_EACH
from venturi.derive.finding_rule import FindingRule, RuleMatch, amount_text
from venturi.derive.footprint import Footprint
from venturi.derive.noise import is_code
from venturi.derive.stream_rows import StreamRows
from venturi.model.operation import NO_FILE, Column, Kind
from venturi.model.workload import Audience

STATS_EACH = 8
"""Stats of one file by one rank."""
MANY_FILES = 100
TINY_BYTES = 64 * 2**10
"""Files that hold less than this in the mean are tiny."""
FILES_AT_SCALE = 512
"""Files of one rank each, from which on creating them in one moment hurts a metadata server."""
LOOKUPS = 200
"""Lookups of code or of names that are not there, by one rank."""
MISSES_SHARE = 0.5
NO_ENTRY = 2
"""ENOENT."""
CREATE_FLAG = 0o100
"""O_CREAT of open(2) on Linux."""


def _repeated(rows: StreamRows, calls: Column, least: int) -> tuple[Column, str] | None:
    """The calls on files that one rank names at least so often, and the worst as text."""
    pairs, inverse, counts = np.unique(rows.pairs(calls), return_inverse=True, return_counts=True)
    if not len(pairs) or counts.max() < least:
        return None
    worst = int(counts.argmax())
    path = rows.found.path(int(pairs[worst] // len(rows.found.lanes)))
    files = len(np.unique(pairs[counts >= least] // len(rows.found.lanes)))
    by = f"by one {rows.found.who}"
    text = f"{counts[worst]} times {path} {by}; {files} file{'s' if files > 1 else ''}"
    return calls[(counts >= least)[inverse]], text


def _opens(rows: StreamRows) -> Iterator[RuleMatch]:
    """Files that are opened often: in one layer, for a stream that is made of a descriptor
    (`fdopen`) is no opening of its own."""
    opens = rows.names_of_kind(Kind.OPEN)
    # What is made under a name and renamed is another file each time.
    makes = (rows.found.ops.detail[opens] & CREATE_FLAG) != 0
    opens = opens[~(makes & np.isin(rows.found.root[opens], rows.found.renamed))]
    layers = rows.found.ops.layer[opens]
    each = [_repeated(rows, opens[layers == layer], OPENS_EACH) for layer in np.unique(layers)]
    found = max((one for one in each if one is not None), key=lambda one: len(one[0]), default=None)
    if found is not None:
        opens, text = found
        closes = rows.names_of_kind(Kind.CLOSE)
        closes = closes[np.isin(rows.found.root[closes], rows.found.root[opens])]
        yield RuleMatch(
            f"{rows.name}: files are opened again and again.",
            f"{text} at least {OPENS_EACH} times, {len(opens)} opens in all",
            at_stake_s=rows.longest_s(np.concatenate((opens, closes))),
        )


def _stats(rows: StreamRows) -> Iterator[RuleMatch]:
    found = _repeated(rows, rows.names_of_kind(Kind.STAT, Kind.ATTRIBUTE), STATS_EACH)
    if found is not None:
        stats, text = found
        yield RuleMatch(
            f"{rows.name}: files are asked for their state again and again.",
            f"{text} at least {STATS_EACH} times, {len(stats)} stats in all",
            at_stake_s=rows.longest_s(stats),
        )


def _metadata(rows: StreamRows) -> Iterator[RuleMatch]:
    names_s = rows.longest_s(rows.names)
    share = float(rows.found.seconds[rows.names].sum())
    share /= max(float(rows.found.seconds[rows.own].sum()), 1e-12)
    if names_s > METADATA_SECONDS or (share > METADATA_SHARE and len(rows.data)):
        yield RuleMatch(
            f"{rows.name}: work on names is a large part of the time.",
            f"{share:.0%} of the time in calls on these files (own threshold "
            f"{METADATA_SHARE:.0%}): {len(rows.names)} calls on {len(rows.files)} names",
            at_stake_s=names_s,
        )


def _tiny_files(rows: StreamRows) -> Iterator[RuleMatch]:
    if len(rows.files) < MANY_FILES or not len(rows.data):
        return
    used = len(np.unique(rows.found.root[rows.data]))
    mean = rows.bytes(rows.data) // used
    if used >= MANY_FILES and mean < TINY_BYTES:
        yield RuleMatch(
            f"{rows.name}: the data lie in many tiny files.",
            f"{used} files with {amount_text(mean)} moved in the mean; {len(rows.names)} calls on "
            f"names for {len(rows.data)} on data",
            at_stake_s=rows.longest_s(np.concatenate((rows.names, rows.data))),
        )


def _file_per_process(rows: StreamRows) -> Iterator[RuleMatch]:
    if len(rows.writes) == 0 or len(rows.files) < FILES_AT_SCALE or len(rows.shared):
        return
    lanes = len(np.unique(rows.found.lane[rows.writes]))
    if lanes >= FILES_AT_SCALE:
        opens = rows.names_of_kind(Kind.OPEN, Kind.CLOSE)
        yield RuleMatch(
            f"{rows.name}: each of {lanes} ranks writes files of its own.",
            f"{len(rows.files)} files (own threshold {FILES_AT_SCALE}); opens and closes count",
            at_stake_s=rows.longest_s(opens),
        )


def _import_storm(found: Footprint) -> Iterator[RuleMatch]:
    """Code that is looked up and read while programs start."""
    code = np.array([is_code(file) for file in found.files] + [False])
    file = np.where(found.ops.file == NO_FILE, len(found.files), found.ops.file)
    calls = found.kind(Kind.OPEN, Kind.STAT, Kind.LIST) & code[file]
    by_lane = np.bincount(found.lane[calls], minlength=len(found.lanes))
    if by_lane.max(initial=0) < LOOKUPS:
        return
    missed = int(np.count_nonzero(found.ops.error[calls] == NO_ENTRY))
    lanes = int(np.count_nonzero(by_lane >= LOOKUPS))
    who = f"{lanes} ranks or programs do so" if lanes > 1 else f"{found.lanes[by_lane.argmax()]}"
    yield RuleMatch(
        "Starting the program looks up a great many files of code.",
        f"{int(calls.sum())} lookups of modules and libraries, {missed} of them in vain; {who}",
        at_stake_s=found.longest_s(calls),
    )


def _misses(found: Footprint) -> Iterator[RuleMatch]:
    lookups = found.names & found.kind(Kind.OPEN, Kind.STAT)
    missed = lookups & (found.ops.error == NO_ENTRY)
    by_lane = np.bincount(found.lane[missed], minlength=len(found.lanes))
    if by_lane.max(initial=0) < LOOKUPS or missed.sum() < MISSES_SHARE * lookups.sum():
        return
    yield RuleMatch(
        "Most names that are looked up are not there.",
        f"{int(missed.sum())} of {int(lookups.sum())} opens and stats end with ENOENT",
        at_stake_s=found.longest_s(missed),
    )


def _walks(found: Footprint) -> Iterator[RuleMatch]:
    """Folders that are listed, and names in them that are looked at and used in no other way."""
    lists = found.names & found.kind(Kind.LIST) & (found.ops.error == 0)
    listed = np.unique(found.root[lists])
    stats = found.names & found.kind(Kind.STAT, Kind.ATTRIBUTE)
    used = np.unique(found.root[found.own & ~stats])
    folders = {found.path(root) for root in listed.tolist()}
    asked = np.setdiff1d(found.root[stats], used).tolist()
    looked_at = [root for root in asked if found.path(root).rpartition("/")[0] in folders]
    if max(len(listed), len(looked_at)) < MANY_FILES:
        return
    calls = found.names & np.isin(found.root, np.append(listed, looked_at).astype(np.int64))
    yield RuleMatch(
        "The program looks through folders, name by name.",
        f"{len(listed)} folder{'' if len(listed) == 1 else 's'} listed {int(lists.sum())} times, "
        f"{len(looked_at)} names in them asked for their state and not used otherwise",
        at_stake_s=found.longest_s(calls),
    )


NAME_RULES: tuple[FindingRule[StreamRows], ...] = (
    FindingRule(
        "too-many-opens",
        _opens,
        "Open each file once, keep the descriptor, and close it at the end.",
        is_gain=True,
    ),
    FindingRule(
        "repeated-stats",
        _stats,
        "Ask once and remember the answer; poll with inotify or at longer intervals; fstat on an "
        "open descriptor does not look up the name again.",
        is_gain=True,
    ),
    FindingRule(
        "metadata-heavy",
        _metadata,
        "Do more with each open file: larger files, fewer of them, and no stat before each open.",
    ),
    FindingRule(
        "tiny-files",
        _tiny_files,
        "Pack them into one file (HDF5, a tar or zip archive, an SQLite table), or stage them "
        "as an archive and unpack it on the node.",
        Audience.USER,
    ),
    FindingRule(
        "file-per-process",
        _file_per_process,
        "Write one file for each node or for all ranks (MPI-IO, HDF5, ADIOS2 with aggregators), "
        "or spread files over folders with metadata targets of their own (lfs mkdir -c).",
        Audience.USER,
    ),
)

LOOKUP_RULES: tuple[FindingRule[Footprint], ...] = (
    FindingRule(
        "import-storm",
        _import_storm,
        "Put the environment where lookups are cheap: a container or squashfs image, a copy on "
        "the node (sbcast), or a zip of the packages; shorten PYTHONPATH and LD_LIBRARY_PATH.",
        Audience.USER,
    ),
    FindingRule(
        "failed-lookups",
        _misses,
        "Shorten search paths, or name files by their full path.",
        Audience.USER,
        is_gain=True,
    ),
    FindingRule(
        "folder-walk",
        _walks,
        "Ask for names alone where they will do (find -name and ls -U need no state of each), keep "
        "a list of what there is, or let the file system search (lfs find).",
        Audience.USER,
    ),
)
