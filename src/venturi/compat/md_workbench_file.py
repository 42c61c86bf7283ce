"""Files that md-workbench's options write and read: its position, and tables of latencies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from venturi.compat.md_workbench_option import TOOL, MdWorkbenchArguments
from venturi.compat.md_workbench_text import (
    BENCHMARK,
    CLEANUP,
    PRECREATE,
    PREPARATION,
    waiting_factor,
)
from venturi.compat.tool_file import write_tool_file
from venturi.model.error import UserError
from venturi.model.record import Record
from venturi.store.archive import find_stored
from venturi.store.place import OPERATIONS_NAME

_POSITION = re.compile(r"pos: ([0-9]{1,18})\s*")
_NS_PER_S = 1e9
_LAST_OF = {"stat": "stat", "unlink": "delete"}
"""Calls that are a step of md-workbench by themselves."""
_BEGINS = {"open": "read", "create": "create"}
"""Calls with which a step begins that ends with `close`."""

Sample = tuple[int, int]
"""Begin and end, in ns."""


def at_position(arguments: MdWorkbenchArguments) -> MdWorkbenchArguments:
    """Return the arguments with the position at which an earlier command ended.

    It counts where objects are not precreated and --start-item says nothing. Raises UserError
    for a file that is not there or has no position.
    """
    a = arguments
    if not a.info_file or a.precreate or a.first_item:
        return a
    try:
        found = _POSITION.fullmatch(Path(a.info_file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{TOOL} --run-info-file {a.info_file}: it cannot be read ({error})",
            "a command with -1 or -2, and without -3, writes it",
        ) from None
    if found is None:
        raise UserError(f"{TOOL} --run-info-file {a.info_file}: there is no 'pos: NUMBER' in it")
    return replace(a, first_item=int(found[1]))


def outputs_after(record: Record, arguments: MdWorkbenchArguments, store: Path) -> None:
    """Write the files that the options ask for."""
    a = arguments
    if a.info_file and not a.cleanup:
        position = a.first_item + _moved(record, a)
        words = f"{TOOL} --run-info-file {a.info_file}"
        write_tool_file(words, a.info_file, f"pos: {position}\n")
    if a.latency_prefix:
        log = find_stored(store, record.id) / OPERATIONS_NAME
        if log.exists():
            for path, text in latency_tables(a, log):
                write_tool_file(f"{TOOL} -L {path}", path, text)


def _moved(record: Record, arguments: MdWorkbenchArguments) -> int:
    """By how many objects of a dataset the working set moved on."""
    if arguments.read_only:
        return 0
    phases = [row for row in record.phases if row.path.startswith(BENCHMARK)]
    made = sum(row.by_operation["create"].operations for row in phases)
    return -(-made // (record.ranks * arguments.datasets))


def latency_tables(arguments: MdWorkbenchArguments, log: Path) -> Iterator[tuple[Path, str]]:
    """Yield the tables of a record: `PREFIX-FACTOR-ITERATION-STEP.csv` and its text.

    A step is stat, read (open, read, close), delete, or create (create, write, close); of the
    first rank, or with --latency-all of all ranks.
    """
    import numpy as np

    with np.load(log, allow_pickle=False) as columns:
        data = {name: columns[name] for name in ("begin_ns", "end_ns", "kind", "phase", "rank")}
        kinds = [str(name) for name in columns["kind_names"]]
        started = [str(name) for name in columns["phase_names"]]
    first_ns = int(data["begin_ns"].min()) if len(data["begin_ns"]) else 0
    seen: Counter[str] = Counter()
    for serial, path in enumerate(started, start=1):
        samples = _samples(data, kinds, serial, arguments.latency_all)
        for step, own in samples.items() if path != PREPARATION else ():
            yield _path(path, seen[path], step, arguments), _text(own, first_ns)
        seen[path] += 1


def _samples(
    data: dict[str, Any], kinds: Sequence[str], serial: int, of_all: bool
) -> dict[str, list[Sample]]:
    """The samples of each step of one execution of a phase, rank after rank."""
    import numpy as np

    found: dict[str, list[Sample]] = {}
    here = np.flatnonzero(data["phase"] == serial)
    for rank in np.unique(data["rank"][here]):
        if rank and not of_all:
            break
        mine = here[data["rank"][here] == rank]
        ordered = mine[np.argsort(data["begin_ns"][mine], kind="stable")]
        calls = (
            (kinds[data["kind"][i]], int(data["begin_ns"][i]), int(data["end_ns"][i]))
            for i in ordered
        )
        for step, sample in _steps(calls):
            found.setdefault(step, []).append(sample)
    return found


def _steps(calls: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, Sample]]:
    """The steps that calls of one rank belong to, with the time from the first call to the last."""
    step, first = "", 0
    for kind, begin, end in calls:
        if kind in _LAST_OF:
            yield _LAST_OF[kind], (begin, end)
        elif kind in _BEGINS:
            step, first = _BEGINS[kind], begin
        elif kind == "close" and step:
            yield step, (first, end)
            step = ""


def _path(phase: str, number: int, step: str, arguments: MdWorkbenchArguments) -> Path:
    name = phase.partition(" ")[0]
    factor = waiting_factor(phase, arguments) if name == BENCHMARK else arguments.factors[0]
    step = name if name in (PRECREATE, CLEANUP) else step
    every = "-all" if arguments.latency_all else ""
    return Path(f"{arguments.latency_prefix}-{factor:.2f}-{number}-{step}{every}.csv")


def _text(samples: Sequence[Sample], begin_ns: int) -> str:
    lines = ["time,runtime"]
    for begin, end in samples:
        lines.append(f"{(begin - begin_ns) / _NS_PER_S:.7f},{(end - begin) / _NS_PER_S:.4e}")
    return "\n".join(lines) + "\n"
