"""Reads Darshan logs with the C library; its own process, because bad logs crash it.

Takes one path per line (JSON) on stdin. The library is loaded once; each log is then read in a
fork of this process, so that one that crashes or corrupts the library's memory harms no other.
Answers with a line of JSON (exit code, bytes that follow, what was said on stderr) and the trace.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import struct
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from venturi.model.trace import CounterRecord, Gap, Trace, TracedJob, TraceSource
from venturi.sources.counter import (
    BROKEN,
    INCOMPLETE,
    LAYERS,
    NAMES_BROKEN,
    damage,
    is_plausible,
    known_counters,
    known_times,
    layers_of,
    unmapped,
    unread_modules,
)
from venturi.sources.darshan_container import Container, ContainerError

EXIT_UNREADABLE = 3
EXIT_NO_LIBRARY = 4
MEMORY_LIMIT_BYTES = 8 * 2**30
UINT64 = 2**64


def main() -> int:
    """Serve until stdin ends; see the file's first lines."""
    answers = os.dup(1)
    os.dup2(2, 1)  # the C library may print on stdout
    warnings.simplefilter("ignore")
    library: Any = None
    why = ""
    try:
        from darshan.backend import cffi_backend

        library = cffi_backend
    except Exception as error:  # anything here means: not usable on this machine
        why = f"{type(error).__name__}: {error}"
    for line in sys.stdin.buffer:
        found, said = os.memfd_create("trace"), os.memfd_create("errors")
        child = os.fork()
        if child == 0:
            os.close(answers)
            os.dup2(said, 1)
            os.dup2(said, 2)
            os._exit(_serve_one(library, why, json.loads(line), found))
        _, status = os.waitpid(child, 0)
        _answer(answers, os.waitstatus_to_exitcode(status), found, said)
    return 0


def _answer(into: int, code: int, found: int, said: int) -> None:
    """One line of JSON about what follows, then the trace."""
    errors = os.pread(said, 2000, 0).decode("utf-8", "replace")
    size = os.fstat(found).st_size
    head = json.dumps({"code": code, "bytes": size, "errors": errors}) + "\n"
    with os.fdopen(os.dup(into), "wb") as out, os.fdopen(found, "rb") as trace:
        out.write(head.encode())
        trace.seek(0)
        shutil.copyfileobj(trace, out)
    os.close(said)


def _serve_one(library: Any, why: str, path: str, into: int) -> int:
    """Reads one log in a process that may die of it; the exit code."""
    if library is None:
        print(why, file=sys.stderr, flush=True)
        return EXIT_NO_LIBRARY
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    try:
        text = read(library, path).to_json()
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in detail["loc"])
        print(f"impossible value of {place}: {detail['input']}", file=sys.stderr, flush=True)
        return EXIT_UNREADABLE
    except Exception as error:  # whatever the library trips over, the log is not readable
        print(f"{type(error).__name__}: {error}".splitlines()[0], file=sys.stderr, flush=True)
        return EXIT_UNREADABLE
    with os.fdopen(into, "w", encoding="utf-8") as out:
        out.write(text)
    return 0


def read(library: Any, path: str) -> Trace:
    """The trace of the log at `path`; `library` is PyDarshan's C binding."""
    log = library.log_open(path)
    job = library.log_get_job(log)
    modules: dict[str, Any] = library.log_get_modules(log)
    names: dict[int, str] = library.log_get_name_records(log)
    ranks = int(job["nprocs"])
    records: list[CounterRecord] = []
    gaps = unread_modules(modules)
    container = _container(path)
    if container is None or not container.are_names_whole():
        gaps.append(Gap(layer="names", what=NAMES_BROKEN))
    if container is not None and (lost := container.unmapped_bytes()):
        gaps.append(Gap(layer="modules", what=unmapped(lost)))
    for module, about in modules.items():
        if module not in LAYERS:
            continue
        if about["partial_flag"]:
            gaps.append(Gap(layer=module, what=INCOMPLETE))
        found = list(records_of(library, log, module, names, ranks))
        if container is None or not container.is_whole(module):
            gaps.append(Gap(layer=module, what=BROKEN))
            log = library.log_open(path)  # behind an error the library reads no other module
        whole = [r for r in found if is_plausible(r.rank, ranks, r.counters)]
        if len(whole) < len(found):
            gaps.append(damage(module, len(found) - len(whole)))
        records += whole
    return Trace(
        source=TraceSource(
            format="darshan",
            file=os.path.basename(path),
            library_version=str(job["metadata"].get("lib_ver", "")),
            log_version=str(job["log_ver"]),
        ),
        job=TracedJob(
            ranks=ranks,
            seconds=max(0.0, float(job["run_time"])),
            started=datetime.fromtimestamp(job["start_time_sec"], UTC).isoformat(),
            number=str(job["jobid"]),
            command=_command(library, log),
        ),
        layers=layers_of(modules),
        records=records,
        mounts={str(point): str(kind) for point, kind in library.log_get_mounts(log)},
        gaps=gaps,
        record_count=len(records),
    )


def _command(library: Any, log: Any) -> str:
    """The program and its arguments; empty where they are no text."""
    try:
        return str(library.log_get_exe(log)).strip()
    except UnicodeDecodeError:
        return ""


def _container(path: str) -> Container | None:
    """What says of a module whether all of it can be unpacked; None where the log's map is damaged.

    The library does not say it: it ends the records of a module alike at its end and at an error.
    """
    try:
        with open(path, "rb") as file:
            return Container(file.read())
    except (ContainerError, OSError, struct.error):
        return None


def records_of(
    library: Any, log: Any, module: str, names: dict[int, str], ranks: int
) -> Iterator[CounterRecord]:
    """All records of one module. Ids stay integers: they do not fit a double."""
    counter_names = library.counter_names(module)
    time_names = library.fcounter_names(module)
    while (record := library.log_get_generic_record(log, module)) is not None:
        identity = int(record["id"]) % UINT64
        owner = record.get("file_rec_id")
        rank = max(-1, int(record["rank"]))
        yield CounterRecord(
            layer=LAYERS[module][0],
            file=names.get(identity, ""),
            identity=str(identity),
            within=str(int(owner) % UINT64) if owner else "",
            rank=rank,
            counters=known_counters(
                module, zip(counter_names, record["counters"].tolist(), strict=False), rank, ranks
            ),
            times=known_times(module, zip(time_names, record["fcounters"].tolist(), strict=False)),
        )


if __name__ == "__main__":
    sys.exit(main())
