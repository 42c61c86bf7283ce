"""The closure test's second half: a proxy runs under the same capture as its application did.

What the engine does for itself is not the program's, and is left out. Where the program begins and
ends it says itself, by a look at a name (engine/execute/tracer_mark.hpp): files that are there
before, and removal at the end, stand outside. Looks at caches, and checks that a name is still the
file it made, stand inside.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from venturi.capture.quiet import last_line, quiet
from venturi.capture.run import capture
from venturi.capture.tracer import TracerSettings
from venturi.execute.engine import first_mpi
from venturi.model.error import RunFailed
from venturi.model.machine import MpiLibrary
from venturi.model.operation import KIND_CODES, LAYER_CODES, Column, Kind, Operations
from venturi.model.trace import Layer, Process, Trace, TracedFile
from venturi.model.trace_folder import Captured, write_trace
from venturi.model.workload import FileSpec, Workload

ENGINE = "venturi-engine"
_MOST_WORDS = 400
_LAUNCHERS = {
    MpiLibrary.OPENMPI: frozenset({"orterun", "orted", "prterun", "prte", "prted"}),
    MpiLibrary.MPICH: frozenset({"mpiexec.hydra", "hydra_pmi_proxy"}),
}
"""Programs by which a trace tells the MPI of its ranks; `mpirun` is one of them by its own name."""

_BEGIN_MARK = ".program-begins"
_END_MARK = ".program-ends"
_MAKE_FLAGS = 0o300
"""O_CREAT and O_EXCL: with these the engine tries to make a file that may be there."""
_LOOK_FLAGS = 0o4000 | 0o10000000
"""O_NONBLOCK and O_PATH: with these the engine opens names to look at them, never for a program."""
_DIRECTORY_FLAG = 0o200000
_FIND_FLAGS = 0o10000000 | _DIRECTORY_FLAG
"""O_PATH and O_DIRECTORY."""
_DATASET_LAYERS = [LAYER_CODES[layer] for layer in (Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE)]


@dataclass(frozen=True)
class ProxyRun:
    """A proxy and where it runs."""

    workload: Workload
    text: str
    """The workload as YAML."""
    directory: Path
    ranks: int | None = None
    """None: as many as the workload says."""
    machine: str = "local"


def machine_for(workload: Workload, application: Trace | None) -> str:
    """The machine on which the proxy runs: with the MPI of its application where it needs one.

    Without MPI one rank would write and read a shared file of HDF5 for all. Where the trace does
    not tell that MPI, or there is none, it is the first for which an engine was built.
    """
    files = workload.files.values()
    entries = [(file.interface.entry, file.shared != "rank") for file in files]
    if not any(entry.needs_mpi or (entry.shares_by_mpi and shared) for entry, shared in entries):
        return "local"
    programs = {process.program for process in application.processes} if application else set()
    for mpi, launchers in _LAUNCHERS.items():
        if programs & launchers:
            return mpi.value
    return first_mpi().value


def capture_proxy(
    workload: Workload, text: str, directory: Path, folder: Path, machine: str = "local"
) -> Captured:
    """Runs `workload`, whose text is `text`, once below `directory`, and writes its trace.

    `machine` is where it runs, as for `venturi run --on`. The trace holds what the program of the
    workload did, by rank. Raises RunFailed where the proxy cannot be run, and UserError where
    `folder` cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="venturi-check-") as place:
        kept = run_proxy(ProxyRun(workload, text, directory, machine=machine), Path(place))
    write_trace(folder, kept)
    return kept


def run_proxy(run: ProxyRun, place: Path) -> Captured:
    """What the program of a proxy did in one run, by rank; files meanwhile go into `place`.

    Raises RunFailed where the proxy cannot be run.
    """
    written = place / f"{run.workload.name}.yaml"
    written.write_text(run.text, "utf-8")
    ranks = () if run.ranks is None else ("-n", str(run.ranks))
    command = (
        sys.executable,
        "-m",
        "venturi",
        "run",
        str(written),
        "-d",
        str(run.directory),
        *ranks,
        "--on",
        run.machine,
        "--repeat",
        "1",
        "--store",
        str(place / "store"),
        "-q",
        "--json",
    )
    raw = place / "raw.trace"
    settings = TracerSettings(only=(f"{run.directory.resolve()}/venturi-*",))
    with quiet(place / "output") as said:
        outcome = capture(command, raw, settings)
    if outcome.finished.interrupted:
        raise KeyboardInterrupt
    operations = outcome.captured.operations
    if operations is None or not len(operations):
        why = last_line(said, "venturi: ") or "no I/O was seen"
        raise RunFailed(f"the proxy did not run: {why}")
    if outcome.finished.code == RunFailed.exit_code:
        why = last_line(said, "venturi: ") or _failure_in(said)
        if why:
            raise RunFailed(f"the proxy did not come to its end: {why}")
    found = program_only(outcome.captured, run.workload, run.directory.resolve())
    return Captured(found.trace, _in_memory(found.operations))


def _failure_in(said: Path) -> str:
    """What failed in the run whose record was printed; empty where that only is no valid benchmark,
    for instance with a phase that is too short for the engine's clock."""
    _, brace, rest = said.read_text("utf-8", "replace").partition("{")
    try:
        record, _ = json.JSONDecoder().raw_decode(brace + rest)
        if not record["failure"] and not any(phase["errors"] for phase in record["phases"]):
            return ""
        return "; ".join(map(str, record["verdict"]["reasons"]))
    except (ValueError, KeyError, TypeError):
        return last_line(said)[:_MOST_WORDS]


def program_only(captured: Captured, workload: Workload, directory: Path) -> Captured:
    """The capture of an engine that ran below `directory`, without what it did for itself, its
    processes as ranks."""
    ops, trace = captured.operations, captured.trace
    assert ops is not None
    processes = _as_ranks(trace.processes)
    run = re.compile(rf"{re.escape(str(directory))}/venturi-[^/]+(/(.*))?$")
    root = np.append([i if f.within is None else f.within for i, f in enumerate(trace.files)], -1)
    names = [_below(trace.files[own], run) for own in root[:-1].tolist()]
    known = np.append(np.array([bool(name) and name != ".venturi" for name in names]), False)
    file = np.minimum(ops.file.astype(np.int64), len(names))
    ranks = np.array([process.rank for process in processes])[ops.process]
    kept = known[file] & (ranks >= 0) & _between_marks(ops, file, names)
    known_as = _known_as(names, workload)
    is_root = np.append(np.array([name == "" for name in names]), False)[file]
    holder = root[file].astype(ops.file.dtype)
    single = ~np.append(_are_in_trees(names, workload), True)[file]
    kept &= ~(finds := _finds_folders(ops, holder) & ~is_root)
    for process in np.unique(ops.process[kept]):
        mine = np.flatnonzero((ops.process == process) & ~finds)
        kept[mine] &= ~_housekeeping(ops, holder, mine, single[mine])
    lists = ops.is_kind(Kind.LIST)
    kept &= lists | ~np.append(_are_of_trees(names, workload), False)[file]
    chosen = _with_own_syncs(ops.take(kept & ~_of_mappings(ops, holder)))
    changed = trace.model_copy(
        update={
            "processes": processes,
            "files": [
                file.model_copy(update={"path": name, "stands_for": known})
                if name and file.within is None
                else file
                for file, name, known in zip(trace.files, names, known_as, strict=True)
            ],
            "operation_count": len(chosen),
            "records": [],
            "record_count": 0,
            "job": trace.job.model_copy(update={"ranks": max(1, int(ranks.max(initial=0)) + 1)}),
        }
    )
    return Captured(changed, _from_zero(chosen))


def _between_marks(ops: Operations, file: Column, names: list[str | None]) -> Column:
    """Mask: each process's calls from where its program begins to where it ends; to the last one
    where it did not come to its end."""
    found = np.zeros(len(ops), bool)
    marks = [
        np.isin(file, [number for number, name in enumerate(names) if name == mark])
        for mark in (_BEGIN_MARK, _END_MARK)
    ]
    for process in np.unique(ops.process[marks[0]]).tolist():
        mine = ops.process == process
        begins, ends = (ops.start_ns[mine & mark] for mark in marks)
        found |= mine & (ops.start_ns > begins.max())
        if len(ends):
            found &= ~mine | (ops.start_ns < ends.max())
    return found


def _of_mappings(ops: Operations, holder: Column) -> Column:
    """Mask: the msync with which the engine begins an fsync of a file that it maps."""
    order = np.lexsort((np.arange(len(ops)), ops.thread, ops.process))
    place, kind = holder[order], ops.kind[order]
    found = np.zeros(len(ops), bool)
    begins = (kind[:-1] == KIND_CODES[Kind.DATA_SYNC]) & (kind[1:] == KIND_CODES[Kind.SYNC])
    mapped = np.unique(holder[ops.is_kind(Kind.MAP)])
    same = (place[1:] == place[:-1]) & (ops.process[order][1:] == ops.process[order][:-1])
    found[order[:-1]] = begins & same & np.isin(place[:-1], mapped)
    return found


def _with_own_syncs(ops: Operations) -> Operations:
    """Syncs of files that the program reaches through MPI-IO count there.

    The engine makes such a file persistent by an fsync beside the library, because
    MPI_File_sync is collective and a step is each rank's own.
    """
    through = LAYER_CODES[Layer.MPIIO]
    is_sync = ops.is_kind(Kind.SYNC, Kind.DATA_SYNC)
    files = np.setdiff1d(
        ops.file[(ops.layer == through) & ops.is_kind(Kind.READ, Kind.WRITE)],
        ops.file[(ops.layer == through) & is_sync],
    )
    layer = np.where(is_sync & np.isin(ops.file, files), through, ops.layer).astype("u1")
    return replace(ops, layer=layer)


def _as_ranks(processes: list[Process]) -> list[Process]:
    """Forked ranks get the numbers in which they were made; those of MPI have theirs."""
    if any(process.rank >= 0 for process in processes):
        return processes
    engines = {process.process for process in processes if process.program == ENGINE}
    forked = sorted(
        (p.process, i)
        for i, p in enumerate(processes)
        if p.program == ENGINE and p.parent in engines
    )
    rank_of = {i: rank for rank, (_, i) in enumerate(forked)}
    return [p.model_copy(update={"rank": rank_of.get(i, -1)}) for i, p in enumerate(processes)]


def _below(file: TracedFile, run: re.Pattern[str]) -> str | None:
    """A file's name below the run's directory; None elsewhere."""
    found = run.match(file.path)
    return (found.group(2) or "") if found else None


def _known_as(names: list[str | None], workload: Workload) -> list[str]:
    """How the application knows the files for which those of these names stand."""
    patterns = [
        (re.compile(_names_of(spec)), spec.about) for spec in workload.files.values() if spec.about
    ]
    return [
        next((about for pattern, about in patterns if pattern.fullmatch(name or "")), "")
        for name in names
    ]


def _names_of(spec: FileSpec) -> str:
    """A pattern for the names of a workload's file, and of the items below it."""
    return rf"{template_of(spec.path)}(\.\d+)?{'(/.*)?' if spec.tree else ''}"


def _are_of_trees(names: list[str | None], workload: Workload) -> Column:
    """Mask: the directories of trees, which the engine makes before their items."""
    found = [
        re.compile(rf"{template_of(spec.path)}(\.\d+)?(/d\.\d+)*")
        for spec in workload.files.values()
        if spec.tree is not None
    ]
    return np.array([any(one.fullmatch(name or "") for one in found) for name in names], bool)


def _are_in_trees(names: list[str | None], workload: Workload) -> Column:
    """Mask: items of trees, and directories of these."""
    found = [re.compile(_names_of(spec)) for spec in workload.files.values() if spec.tree]
    return np.array([any(one.fullmatch(name or "") for one in found) for name in names], bool)


def template_of(path: str) -> str:
    """A pattern for the names that a workload's path stands for."""
    return re.sub(r"\\\{[^}]*\\\}", r"\\d+", re.escape(path))


def _finds_folders(ops: Operations, holder: Column) -> Column:
    """Mask: the engine opens and closes the folder of a name before a call on it, which is no more
    than a step of the path: calls that stood side by side without folders still do."""
    opens = ops.is_kind(Kind.OPEN)
    finds = opens & (ops.detail & _FIND_FLAGS == _FIND_FLAGS)
    others = np.unique(holder[opens & ~finds])
    found: Column = (finds | ops.is_kind(Kind.CLOSE)) & np.isin(holder, holder[finds])
    return found & ~np.isin(holder, others)


def _housekeeping(
    ops: Operations,
    holder: Column,
    mine: Column,
    single: Column,
) -> Column:
    """Of one process's rows, those of the engine itself; `holder` is each row's file, `single`
    those on no item of a tree."""
    kind, file, detail = ops.kind[mine], holder[mine], ops.detail[mine]
    is_whole = ~np.isin(ops.layer[mine], _DATASET_LAYERS)
    opens, stats = is_whole & (kind == KIND_CODES[Kind.OPEN]), kind == KIND_CODES[Kind.STAT]
    closes = is_whole & (kind == KIND_CODES[Kind.CLOSE])
    opened = opens & (ops.error[mine] == 0)
    drop = np.zeros(len(mine), bool)
    makes = opens | (kind == KIND_CODES[Kind.MKDIR])
    drop[1:] |= stats[1:] & makes[:-1] & (file[1:] == file[:-1])
    gone = kind == KIND_CODES[Kind.UNLINK]
    drop[:-1] |= stats[:-1] & gone[1:] & (file[1:] == file[:-1])
    drop[:-1] |= stats[:-1] & _looked_at(kind, opened, closes, file, single)[1:]
    drop |= _begun_anew(opens, kind, file, ops.error[mine], detail)
    drop |= _around_renames(kind, file, detail)
    looks = opens & (detail & _LOOK_FLAGS != 0)
    for at in np.flatnonzero(looks):
        drop[at] = True
        if ops.error[mine[at]]:  # what is not there yet, or its directory: nothing follows
            continue
        ends = np.flatnonzero(closes[at:] & (file[at:] == file[at]))
        last = at + int(ends[0]) if len(ends) else len(mine) - 1
        drop[at : last + 1] |= file[at : last + 1] == file[at]
    return drop


def _looked_at(kind: Column, opens: Column, closes: Column, file: Column, single: Column) -> Column:
    """Mask: attributes of a single file that is not open; the engine looks at its name before."""
    order = np.argsort(file, kind="stable")
    begins = np.concatenate([[True], file[order][1:] != file[order][:-1]])
    turns = begins | (opens | closes)[order]
    latest = np.maximum.accumulate(np.where(turns, np.arange(len(order)), 0))
    is_open = np.empty(len(kind), bool)
    # What is opened in two layers may be closed in one: the latest of both tells.
    is_open[order] = opens[order][latest]
    found: Column = (kind == KIND_CODES[Kind.ATTRIBUTE]) & ~is_open & single
    found[1:] &= file[1:] == file[:-1]
    return found


def _begun_anew(opens: Column, kind: Column, file: Column, error: Column, detail: Column) -> Column:
    """Mask: how the engine begins a file of its own anew, beside the opening itself.

    It tries to make the file, opens the one that is there, looks whether that is its own, and cuts
    it, where a program says all that with O_TRUNC.
    """
    found = np.zeros(len(kind), bool)
    others = np.isin(kind, [KIND_CODES[Kind.STAT], KIND_CODES[Kind.TRUNCATE]])
    in_vain = opens & (error != 0) & (detail & _MAKE_FLAGS == _MAKE_FLAGS)
    for at in np.flatnonzero(in_vain).tolist():
        if not np.any(kind[at : at + 5] == KIND_CODES[Kind.TRUNCATE]):
            continue
        found[at] = True
        near = slice(at, at + 5)
        found[near] |= others[near] & (file[near] == file[at])
    return found


def _around_renames(kind: Column, file: Column, detail: Column) -> Column:
    """Mask: the looks at both names before the engine renames a file, and at the new one after."""
    found = np.zeros(len(kind), bool)
    stats = kind == KIND_CODES[Kind.STAT]
    at = np.flatnonzero(kind == KIND_CODES[Kind.RENAME])
    at = at[at > 1]
    at = at[
        stats[at - 1] & (file[at - 1] == file[at]) & stats[at - 2] & (file[at - 2] == detail[at])
    ]
    found[at - 1] = found[at - 2] = True
    after = at[at + 1 < len(kind)]
    found[after + 1] = stats[after + 1] & (file[after + 1] == detail[after])
    return found


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
