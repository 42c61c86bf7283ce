"""Results in a store: of our own records, of other commands, of what was imported."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from venturi.model.error import UserError
from venturi.model.record import Level, MetricValue, Record
from venturi.model.result import (
    Measure,
    Result,
    ResultSource,
    RunOf,
    SourceKind,
    digest_of,
    direction_of,
)
from venturi.store.seal import REMOVED_NAME, SEAL_NAME, altered, seal, sha256_of
from venturi.store.version import read_versioned

RECORD_NAME = "record.json"
RESULT_NAME = "result.json"
TAGS = "tags"
_ALIKE = ("files", "groups", "program")
"""Parts of a workload that say what is done."""


def result_of(record: Record, run_of: RunOf | None = None) -> Result:
    """A record in short; `run_of` is for one that does not say so itself."""
    place = record.run_of or run_of
    used = {item.file: item.used for item in record.substituted}
    return Result(
        id=record.id,
        name=record.name,
        started=record.started,
        machine=record.machine or "local",
        session=place.session if place else record.id,
        campaign=place.campaign if place else "",
        step=place.step if place else "",
        point=place.point if place else "",
        repetition=place.repetition if place else 0,
        parameters={**record.parameters, **(place.parameters if place else {})},
        ranks=record.ranks,
        nodes=max(len(record.environment.hosts), 1),
        work=work_of(record.workload, used),
        source=ResultSource(
            kind=SourceKind.RUN, tool="venturi", version=record.environment.venturi
        ),
        level=record.verdict.level.value,
        reasons=record.verdict.reasons,
        metrics={name: _measure(value) for name, value in record.metrics.items() if value.values},
        facts=facts_of(record),
    )


def work_of(workload: Mapping[str, Any], used: Mapping[str, str]) -> str:
    """A digest of what a workload does; `used`: by file, the interface that ran in its stead."""
    return digest_of([workload.get(part) for part in _ALIKE], used)


def _measure(value: MetricValue) -> Measure:
    return Measure(
        unit=value.unit,
        better=direction_of(value.unit),
        values=value.values,
        of=value.of,
        condition=", ".join(value.labels),
    )


def facts_of(record: Record) -> dict[str, str]:
    """The surroundings of a run that may make a difference, in words."""
    here = record.environment
    facts = {
        "host": here.host,
        "directory": here.directory,
        "file system": here.file_system.type,
        "file system's source": here.file_system.source,
        "mount options": here.file_system.options,
        "kernel": here.kernel,
        "CPU": here.cpu,
        "cores": str(here.cores),
        "memory, bytes": str(here.memory_bytes),
        "ranks started by": here.comm,
        "engine": here.engine,
        "Venturi": here.venturi,
    }
    return facts | {f"${name}": value for name, value in here.variables.items()}


def has_record(folder: Path) -> bool:
    """Whether a run of ours is in this folder; any other has a result only."""
    return (folder / RECORD_NAME).exists() or not (folder / RESULT_NAME).exists()


def load_record(folder: Path) -> Record:
    """The record in a run's folder, INVALID if it is not as it was sealed.

    Raises UserError if it cannot be read, or if there is none.
    """
    path = folder / RECORD_NAME
    if not has_record(folder):
        tool = load_result(folder).source.tool
        raise UserError(
            f"{folder.name}: a run of {tool} has no record of single phases",
            f"venturi results show {folder.name}",
        )
    record = read_versioned(path, Record)
    if faults := _altered(folder):
        record = record.model_copy(update={"verdict": record.verdict.invalid_for(faults)})
    if record.left and (folder / REMOVED_NAME).exists():
        return record.model_copy(update={"left": [], "left_command": None})
    return record


def load_result(folder: Path) -> Result:
    """The result in a run's folder, INVALID if the folder is not as it was sealed.

    Made from the record where an early version wrote no result.
    """
    path = folder / RESULT_NAME
    if not path.exists():
        if not (folder / RECORD_NAME).exists():
            raise UserError(f"{folder}: there is neither a record nor a result in it")
        return result_of(load_record(folder))
    result = read_versioned(path, Result)
    if faults := _altered(folder):
        reasons = [*faults, *result.reasons]
        return result.model_copy(update={"level": Level.INVALID.value, "reasons": reasons})
    return result


def _altered(folder: Path) -> list[str]:
    """What of the documents that are shown is not as it was sealed, one sentence each.

    A run counts as a whole: whoever changed one of them may have changed the other. An early
    version wrote a record alone, without digests.
    """
    if not ((folder / RESULT_NAME).exists() or (folder / SEAL_NAME).exists()):
        return []
    return altered(folder, (RECORD_NAME, RESULT_NAME))


def keep(store: Path, result: Result, files: Mapping[str, Path]) -> bool:
    """Puts a result into a store, with copies of `files` under these names; False: it was there.

    Raises UserError where the store cannot be written.
    """
    final = store / "runs" / result.id
    if final.exists():
        return False
    temporary = final.with_name(f".{result.id}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        try:
            for name, path in files.items():
                (temporary / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(path, temporary / name)
            (temporary / RESULT_NAME).write_text(result.to_json(indent=1), "utf-8")
            seal(temporary)
            temporary.rename(final)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        if final.exists():
            return False
        raise UserError(
            f"{final}: cannot be written: {error.strerror}", "choose another with --store"
        ) from None
    return True


def archived(folder: Path, result: Result, tags: list[str]) -> Result:
    """A result with what the store knows about it beside its folder."""
    path = folder / SEAL_NAME
    return result.model_copy(
        update={"archive_sha256": sha256_of(path) if path.exists() else "", "tags": tags}
    )


def tag(store: Path, name: str, ids: list[str]) -> int:
    """Gives runs a tag; how many did not have it."""
    if not name or not all(c.isalnum() or c in "._-" for c in name) or name.startswith("."):
        raise UserError(f"'{name}' is no tag", "letters, digits, '.', '_' and '-'")
    known = set(tagged(store, name))
    new = [run for run in ids if run not in known]
    try:
        (store / TAGS).mkdir(parents=True, exist_ok=True)
        with (store / TAGS / name).open("a", encoding="utf-8") as file:
            file.write("".join(f"{run}\n" for run in new))
    except OSError as error:
        raise UserError(f"{store / TAGS / name}: {error.strerror}") from None
    return len(new)


def tagged(store: Path, name: str) -> list[str]:
    """The runs with a tag."""
    try:
        return (store / TAGS / name).read_text("utf-8").split()
    except OSError:
        return []


def tags_by_run(store: Path) -> dict[str, list[str]]:
    """All tags of each run that has some."""
    found: dict[str, list[str]] = {}
    for path in sorted((store / TAGS).glob("[!.]*")):
        for run in tagged(store, path.name):
            found.setdefault(run, []).append(path.name)
    return found


def read_run_of(text: str | None) -> RunOf | None:
    """What a campaign says of a run in the environment."""
    if not text:
        return None
    try:
        return RunOf.model_validate_json(text)
    except ValueError:
        raise UserError(
            "VENTURI_RUN_OF is set, and not by a campaign", "unset it; only campaigns set it"
        ) from None


def shared(folder: Path) -> Iterator[Path]:
    """The files of a results repository's checkout."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(top, name) for name in sorted(names) if name.endswith(".json"))


def is_result(path: Path) -> bool:
    """Whether a file of JSON is a result."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and str(data.get("schema", "")).startswith("venturi.result/")
