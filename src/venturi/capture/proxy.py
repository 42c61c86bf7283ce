"""The closure test's second half: a proxy runs under the same capture as its application did.

What the engine does for itself (the run's directory, looks at caches, checks that a name is
still the file it made, files that are there before the program begins, removal at the end) is
not the program's, and is left out.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from venturi.capture.run import capture
from venturi.capture.tracer import Settings
from venturi.execute.engine import find_engine
from venturi.model.error import RunFailed, UserError
from venturi.model.machine import MpiLibrary
from venturi.model.operation import KIND_CODES, LAYER_CODES, Column, Kind, Operations
from venturi.model.plan import Interface
from venturi.model.trace import Layer, Process, TracedFile
from venturi.model.trace_folder import Captured, write_trace
from venturi.model.workload import Workload

ENGINE = "venturi-engine"
LOCAL = "local"
_OF_MPI = (Interface.MPIIO, Interface.HDF5, Interface.PNETCDF)
_CREATE_FLAG = 0o100
_LOOK_FLAG = 0o4000
"""O_NONBLOCK: with it the engine opens files to look at them, never for a program."""
_DATASET_LAYERS = [LAYER_CODES[layer] for layer in (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)]
_RUN_FOLDER = re.compile(r"/venturi-[^/]+(/(.*))?$")
_FAILED = 3
"""From this exit code on (but for an invalid measurement) nothing was run."""


def machine_for(workload: Workload) -> str:
    """A built-in machine on which the workload's ranks can share its files as they are meant to.

    Without MPI one rank would write and read HDF5 for all; MPI-IO and PnetCDF need it anyway.
    """
    shared = any(f.interface in _OF_MPI and f.shared != "rank" for f in workload.files.values())
    if not shared and all(f.interface is not Interface.MPIIO for f in workload.files.values()):
        return LOCAL
    for mpi in MpiLibrary:
        try:
            find_engine(mpi)
        except UserError:
            continue
        return mpi.value
    return LOCAL


def capture_proxy(
    workload: Workload, text: str, directory: Path, folder: Path, on: str | None = None
) -> Captured:
    """Runs `workload`, whose text is `text`, once below `directory`, and writes its trace.

    It runs `on` a machine, by default the one that `machine_for` chooses. The trace holds what
    the program of the workload did, by rank. Raises RunFailed where the
    proxy cannot be run, and UserError where `folder` cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="venturi-check-") as place:
        written = Path(place, f"{workload.name}.yaml")
        written.write_text(text, "utf-8")
        command = (
            sys.executable, "-m", "venturi", "run", str(written), "-d", str(directory),
            "--repeat", "1", "--store", str(Path(place, "store")), "-q", "--json",
            "--on", on or machine_for(workload),
        )  # fmt: skip
        raw = Path(place, "raw.trace")
        settings = Settings(only=(f"{directory.resolve()}/venturi-*",))
        with _quiet(Path(place, "output")) as said:
            outcome = capture(command, raw, settings)
        operations = outcome.captured.operations
        if operations is None or not len(operations):
            last = said.read_text("utf-8", "replace").strip().splitlines()
            why = next((line for line in last if line.startswith("venturi: ")), "no I/O was seen")
            raise RunFailed(f"the proxy did not run: {why.removeprefix('venturi: ')}")
        found = program_only(outcome.captured, workload)
        kept = Captured(found.trace, _in_memory(found.operations))
    write_trace(folder, kept)
    return kept


class _quiet:  # noqa: N801
    """Standard output and error of processes go into a file for a while."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._kept: list[int] = []

    def __enter__(self) -> Path:
        sys.stdout.flush()
        sys.stderr.flush()
        self._kept = [os.dup(1), os.dup(2)]
        with self._place.open("wb") as file:
            for target in (1, 2):
                os.dup2(file.fileno(), target)
        return self._place

    def __exit__(self, *_: object) -> None:
        for target, kept in zip((1, 2), self._kept, strict=True):
            os.dup2(kept, target)
            os.close(kept)


def program_only(captured: Captured, workload: Workload) -> Captured:
    """The capture of an engine without what it did for itself, its processes as ranks."""
    ops, trace = captured.operations, captured.trace
    assert ops is not None
    processes = _as_ranks(trace.processes)
    root = np.append([i if f.within is None else f.within for i, f in enumerate(trace.files)], -1)
    names = [_below(trace.files[own]) for own in root[:-1].tolist()]
    known = np.append(np.array([bool(name) and name != ".venturi" for name in names]), False)
    file = np.minimum(ops.file.astype(np.int64), len(names))
    ranks = np.array([process.rank for process in processes])[ops.process]
    kept = known[file] & (ranks >= 0)
    staged = [_is_staged(name, workload) for name in names]
    is_root = np.append(np.array([name == "" for name in names]), False)[file]
    holder = root[file].astype(ops.file.dtype)
    for process in np.unique(ops.process[kept]):
        mine = np.flatnonzero(ops.process == process)
        kept[mine] &= ~_housekeeping(ops, holder, mine, is_root[mine], staged)
    chosen = ops.take(kept)
    changed = trace.model_copy(
        update={
            "processes": processes,
            "files": [
                file.model_copy(update={"path": name}) if name and file.within is None else file
                for file, name in zip(trace.files, names, strict=True)
            ],
            "operation_count": len(chosen),
            "records": [],
            "record_count": 0,
            "job": trace.job.model_copy(update={"ranks": max(1, int(ranks.max(initial=0)) + 1)}),
        }
    )
    return Captured(changed, _from_zero(chosen))


def _as_ranks(processes: list[Process]) -> list[Process]:
    """Forked ranks get the numbers in which they were made; those of MPI have theirs."""
    if any(process.rank >= 0 for process in processes):
        return processes
    engines = {process.process for process in processes if process.program == ENGINE}
    forked = sorted(
        (p.process, i) for i, p in enumerate(processes) if p.program == ENGINE
        and p.parent in engines
    )  # fmt: skip
    rank_of = {i: rank for rank, (_, i) in enumerate(forked)}
    return [
        p.model_copy(update={"rank": rank_of.get(i, -1)}) for i, p in enumerate(processes)
    ]  # fmt: skip


def _below(file: TracedFile) -> str | None:
    """A file's name below the run's directory; None elsewhere."""
    found = _RUN_FOLDER.search(file.path)
    return (found.group(2) or "") if found else None


def _is_staged(name: str | None, workload: Workload) -> bool:
    """Whether a file is there before the program begins."""
    for spec in workload.files.values():
        if name and spec.prestage is not None:
            template = re.sub(r"\\\{[^}]*\\\}", "[^/]*", re.escape(str(spec.path)))
            if re.fullmatch(rf"{template}(\.\d+)?", name):
                return True
    return False


def _housekeeping(
    ops: Operations, holder: Column, mine: Column, is_root: Column, staged: list[bool]
) -> Column:
    """Of one process's rows, those of the engine itself; `holder` is each row's file."""
    kind, file, detail = ops.kind[mine], holder[mine], ops.detail[mine]
    is_whole = ~np.isin(ops.layer[mine], _DATASET_LAYERS)
    opens, stats = is_whole & (kind == KIND_CODES[Kind.OPEN]), kind == KIND_CODES[Kind.STAT]
    closes = is_whole & (kind == KIND_CODES[Kind.CLOSE])
    drop = np.zeros(len(mine), bool)
    drop[1:] |= stats[1:] & opens[:-1] & (file[1:] == file[:-1])
    seen: set[int] = set()
    for at in np.flatnonzero(opens & ~is_root):
        name = int(file[at])
        is_first = name < len(staged) and staged[name] and name not in seen
        is_staging = is_first and bool(detail[at] & _CREATE_FLAG)
        seen.add(name)
        if not is_staging and not detail[at] & _LOOK_FLAG:
            continue
        ends = np.flatnonzero(closes[at:] & (file[at:] == name))
        last = at + int(ends[0]) if len(ends) else len(mine) - 1
        drop[at : last + 1] |= file[at : last + 1] == name
    used = np.flatnonzero(~is_root & ~drop & (opens | closes | _is_data(kind)))
    after = np.flatnonzero(is_root & opens)
    after = after[after > (used[-1] if len(used) else -1)]
    if len(after) and len(used):
        drop[after[0] :] = True
    return drop


def _is_data(kind: Column) -> Column:
    codes = [KIND_CODES[k] for k in (Kind.READ, Kind.WRITE, Kind.SYNC, Kind.DATA_SYNC)]
    return np.isin(kind, codes)


def _from_zero(ops: Operations) -> Operations:
    """The clock begins with the first call of the program."""
    first = int(ops.start_ns.min()) if len(ops) else 0
    columns = {name: getattr(ops, name) for name in ops.__dataclass_fields__}
    columns["start_ns"] = ops.start_ns - first
    columns["end_ns"] = ops.end_ns - first
    return Operations(**columns)


def _in_memory(ops: Operations | None) -> Operations | None:
    """Columns that do not need their files any more."""
    if ops is None:
        return None
    return Operations(**{n: np.array(getattr(ops, n)) for n in ops.__dataclass_fields__})
