"""Reads the text that `darshan-parser` prints: the route that needs no C library."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from venturi.model.error import UserError
from venturi.model.trace import CounterRecord, Gap, Trace, TracedJob, TraceSource
from venturi.sources.counter import (
    INCOMPLETE,
    LAYERS,
    OWNER_COUNTER,
    damage,
    is_plausible,
    known_counters,
    known_times,
    layers_of,
    unread_modules,
)

MAX_TEXT_BYTES = 2**30
FIRST_LINE = "# darshan log version:"

_HEADER = re.compile(
    r"# (darshan log version|nprocs|run time|start_time|metadata|jobid|exe): *(.*)"
)
_MODULE = re.compile(r"# (\S+) module: \d+ bytes \(compressed\)")
_MOUNT = re.compile(r"# mount entry:\t(.*)\t(\S+)$")
_PARTIAL = re.compile(r"The (\S+) module contains incomplete data")
_SUMMARY = re.compile(r"\w+(: .*|\[\d+\].*)$")
"""Lines such as `total_POSIX_OPENS: 2`, which the options for totals add."""

_COLUMNS = 6
"""Module, rank, record id, counter, value, file name; mount point and file system follow."""


@dataclass
class _RecordDraft:
    """One record while its lines come in."""

    file: str
    within: str = ""
    counters: list[tuple[str, int]] = field(default_factory=list)
    times: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class Parsed:
    """All that the text has said so far."""

    header: dict[str, str] = field(default_factory=dict)
    library_version: str = ""
    modules: dict[str, None] = field(default_factory=dict)
    partial: dict[str, None] = field(default_factory=dict)
    unread: dict[str, None] = field(default_factory=dict)
    """Modules with rows that are not read."""
    mounts: dict[str, str] = field(default_factory=dict)
    drafts: dict[tuple[str, int, str], _RecordDraft] = field(default_factory=dict)


def read_text(path: Path) -> Trace:
    """The trace of a file with the output of `darshan-parser`.

    Raises UserError where the file is missing, larger than 1 GiB, or not such a text.
    """
    where = f"darshan-parser text '{path}'"
    try:
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise UserError(f"{where} is larger than {MAX_TEXT_BYTES} bytes")
        with path.open(encoding="utf-8", errors="replace") as lines:
            parsed = _parse(lines)
        return _trace(parsed, path.name)
    except OSError as error:
        raise UserError(f"{where} cannot be opened: {error.strerror}") from None
    except (ValueError, KeyError, OverflowError) as error:
        what = "impossible values" if isinstance(error, ValidationError) else str(error)
        raise UserError(
            f"{where} is damaged or incomplete ({what})", "print it again with `darshan-parser LOG`"
        ) from None


def _parse(lines: Iterable[str]) -> Parsed:
    parsed = Parsed()
    for line in lines:
        if line.startswith("#"):
            read_comment(parsed, line.rstrip("\n"))
        elif line.strip() and not _SUMMARY.match(line):
            _read_row(parsed, line.rstrip("\n").split("\t"))
    return parsed


def read_comment(parsed: Parsed, line: str) -> None:
    if found := _HEADER.match(line):
        if found[1] == "metadata" and found[2].startswith("lib_ver = "):
            parsed.library_version = found[2].removeprefix("lib_ver = ")
        else:
            parsed.header.setdefault(found[1], found[2])
    elif found := _MODULE.match(line):
        parsed.modules[found[1]] = None
    elif found := _MOUNT.match(line):
        parsed.mounts[found[1]] = found[2]
    elif found := _PARTIAL.search(line):
        parsed.partial[found[1]] = None


def _read_row(parsed: Parsed, row: list[str]) -> None:
    if len(row) < _COLUMNS:
        raise ValueError(f"a row of {len(row)} columns: '{' '.join(row)[:60]}'")
    module, rank, identity, counter, value = row[:5]
    if module not in LAYERS:
        parsed.unread[module] = None
        return
    draft = parsed.drafts.setdefault((module, int(rank), identity), _RecordDraft(file=row[5]))
    if counter.endswith(OWNER_COUNTER):
        draft.within = value
    elif counter.startswith(LAYERS[module][1] + "F_"):
        draft.times.append((counter, float(value)))
    else:
        draft.counters.append((counter, int(value)))


def _trace(parsed: Parsed, name: str) -> Trace:
    ranks = int(parsed.header["nprocs"])
    records: list[CounterRecord] = []
    damaged: Counter[str] = Counter()
    for (module, rank, identity), draft in parsed.drafts.items():
        counters = known_counters(module, draft.counters, rank, ranks)
        if not is_plausible(rank, ranks, counters):
            damaged[module] += 1
            continue
        records.append(
            CounterRecord(
                layer=LAYERS[module][0],
                file=draft.file,
                identity=identity,
                within=draft.within,
                rank=rank,
                counters=counters,
                times=known_times(module, draft.times),
            )
        )
    gaps = unread_modules(dict.fromkeys([*parsed.modules, *parsed.unread]))
    gaps += [Gap(layer=m, what=INCOMPLETE) for m in parsed.partial if m in LAYERS]
    gaps += [damage(module, count) for module, count in damaged.items()]
    started = datetime.fromtimestamp(int(parsed.header["start_time"]), UTC)
    return Trace(
        source=TraceSource(
            format="darshan-parser",
            file=name,
            library_version=parsed.library_version,
            log_version=parsed.header["darshan log version"],
        ),
        job=TracedJob(
            ranks=ranks,
            seconds=max(0.0, float(parsed.header["run time"])),
            started=started.isoformat(),
            number=parsed.header.get("jobid", ""),
            command=parsed.header.get("exe", "").strip(),
        ),
        layers=layers_of(parsed.modules or {module: None for module, _, _ in parsed.drafts}),
        records=records,
        mounts=parsed.mounts,
        gaps=gaps,
        record_count=len(records),
    )
