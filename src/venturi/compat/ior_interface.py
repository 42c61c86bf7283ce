"""IOR's interfaces and their options as ours, or the reason why one cannot run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from venturi.compat.ior_key import BACKEND_OPTIONS, TOOL
from venturi.compat.ior_test import IorTest, Scalar
from venturi.compat.option import nearest
from venturi.model.error import UserError
from venturi.model.interface import Interface
from venturi.model.yaml_text import read_text

INTERFACES = {
    interface.entry.elsewhere.ior.lower(): interface.value
    for interface in Interface
    if interface.entry.elsewhere.ior
}
"""IOR's names in lower case, and ours."""

STORES = tuple(
    name
    for name in (
        *("DFS", "RADOS", "CEPHFS", "S3-libs3", "S3-4c", "S3-curl", "LIBNFS", "IME", "PMDK"),
        *("HDFS", "Gfarm", "CHFS", "FINCHFS"),
    )
    if name.lower() not in INTERFACES
)
"""Stores that IOR reaches and the engine does not."""

RADOS_POOL = "cephfs_data"
"""The pool that IOR's RADOS always takes."""

_HINT = "IOR_HINT__"
_DEFAULT_PENDING = 128
"""Requests in flight of IOR's AIO."""
_MOST_HINTS = 16
_US = 1e-6


@dataclass
class Reached:
    """How a test's file is reached: the keys of a file of a workload."""

    interface: str
    file_bytes: int = 0
    options: dict[str, str | int | float | bool] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    stripe: dict[str, int] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    depth: int = 1

    def file_keys(self) -> dict[str, Any]:
        """What a file of a workload says about it; nothing where it would be empty."""
        keys: dict[str, Any] = {"interface": self.interface}
        for name in ("options", "hints", "stripe", "faults"):
            if getattr(self, name):
                keys[name] = getattr(self, name)
        return keys


def reach(test: IorTest, file_bytes: int) -> Reached:
    """The interface of a test with its options; UserError names what cannot run and why.

    `file_bytes` is what each file of the test will hold.
    """
    ours = INTERFACES.get(test.interface)
    if ours is None:
        raise _no_such(test.api)
    reached = Reached(ours, file_bytes=file_bytes)
    if ours == "mmap" and test.writes:
        reached.options["size"] = file_bytes
    if ours == "rados":
        reached.options["pool"] = RADOS_POOL
    if ours == "uring":
        reached.depth = int(test.backend.get("aio.max-pending", _DEFAULT_PENDING))
    if Interface(ours).entry.takes_hints:
        reached.hints.update(hints_of_environment(os.environ))
    for name, value in test.backend.items():
        _apply(test, name, value, reached)
    if test.backend.get("mpiio.useFileView"):
        reached.options["view"] = "dataset" if strides(test) else "strided"
    if test.backend.get("mmap.madv_pattern") and "advice" not in reached.options:
        reached.options["advice"] = "random" if test.random else "sequential"
    if test.backend.get("dummy.delay-only-rank0"):
        reached.faults = [{**fault, "rank": 0} for fault in reached.faults]
    return reached


def strides(test: IorTest) -> bool:
    """Whether one call moves a transfer of every segment: IOR does so with file views only."""
    return bool(
        test.backend.get("mpiio.useFileView") and test.backend.get("mpiio.useStridedDatatype")
    )


def _no_such(api: str) -> UserError:
    stores = {name.lower(): name for name in STORES}
    if api.lower() in stores:
        return UserError(
            f"{TOOL}: -a {stores[api.lower()]} is refused: it speaks to a store through its own "
            "library, and the engine has none of them",
            f"interfaces: {', '.join(name.upper() for name in INTERFACES)}",
        )
    known = [name.upper() for name in INTERFACES] + list(STORES)
    return UserError(
        f"{TOOL}: IOR has no interface '{api}'",
        nearest(api, known) or f"interfaces: {', '.join(known[: len(INTERFACES)])}",
    )


_Apply = Callable[[Scalar, Reached], None]


def _option(name: str) -> _Apply:
    def apply(value: Scalar, reached: Reached) -> None:
        if value:
            reached.options[name] = True

    return apply


def _number(name: str) -> _Apply:
    def apply(value: Scalar, reached: Reached) -> None:
        reached.options[name] = value

    return apply


def _user(value: Scalar, reached: Reached) -> None:
    reached.options["user"] = f"client.{value}"


def _advice(word: str) -> _Apply:
    def apply(_value: Scalar, reached: Reached) -> None:
        reached.options["advice"] = word

    return apply


def _preallocate(_value: Scalar, reached: Reached) -> None:
    reached.options["preallocate"] = reached.file_bytes


def _stripe(name: str) -> _Apply:
    """Both file systems' options mean the same; which one the directory is on decides."""

    def apply(value: Scalar, reached: Reached) -> None:
        if reached.stripe.setdefault(name, int(value)) != int(value):
            raise UserError(f"{TOOL}: options for Lustre and for BeeGFS ask for different stripes")

    return apply


def _hints(value: Scalar, reached: Reached) -> None:
    reached.hints.update(read_hints(Path(str(value))))


def _nothing(_value: Scalar, _reached: Reached) -> None:
    """The option asks for what happens anyway."""


def _delay(*operations: str) -> _Apply:
    def apply(value: Scalar, reached: Reached) -> None:
        reached.faults += [
            {"kind": "delay", "operation": name, "every": 1, "seconds": float(value) * _US}
            for name in operations
            if value
        ]

    return apply


RUN_OPTIONS: dict[str, tuple[str, _Apply]] = {
    "posix.odirect": ("posix aio", _option("direct")),
    "lustre.stripecount": ("posix aio", _stripe("count")),
    "lustre.stripesize": ("posix aio", _stripe("size")),
    "beegfs.NumTargets": ("posix aio", _stripe("count")),
    "beegfs.ChunkSize": ("posix aio", _stripe("size")),
    "aio.max-pending": ("aio", _nothing),
    "aio.granularity": ("aio", _nothing),
    "mpiio.hintsFileName": ("mpiio", _hints),
    "mpiio.showHints": ("mpiio", _nothing),
    "mpiio.preallocate": ("mpiio", _preallocate),
    "mpiio.useFileView": ("mpiio", _nothing),
    "mpiio.useStridedDatatype": ("mpiio", _nothing),
    "hdf5.hintsFileName": ("hdf5", _hints),
    "hdf5.showHints": ("hdf5", _nothing),
    "hdf5.collectiveMetadata": ("hdf5", _option("collective_metadata")),
    "hdf5.setAlignment": ("hdf5", _number("alignment")),
    "hdf5.noFill": ("hdf5", _option("no_fill")),
    "hdf5.chunkSize": ("hdf5", _nothing),
    "ncmpi.hintsFileName": ("ncmpi", _hints),
    "ncmpi.showHints": ("ncmpi", _nothing),
    "username": ("rados", _user),
    "mmap.madv_dont_need": ("mmap", _advice("dontneed")),
    "mmap.madv_pattern": ("mmap", _nothing),
    "dummy.delay-create": ("dummy", _delay("create", "open")),
    "dummy.delay-close": ("dummy", _delay("close")),
    "dummy.delay-sync": ("dummy", _delay("sync")),
    "dummy.delay-xfer": ("dummy", _delay("write", "read")),
    "dummy.delay-only-rank0": ("dummy", _nothing),
}
"""Options that run: the interfaces that they belong to, and what they do."""

_NO_PLACES = "the engine chooses how many targets a file has, and not which; use the directory's"

REFUSED_OPTIONS = {
    "lustre.startost": _NO_PLACES,
    "lustre.pool": _NO_PLACES,
    "posix.rangelocks": "the engine takes no locks of its own around a transfer",
    "lustre.ignorelocks": "it needs a Lustre client's group-lock call, which the engine lacks",
    "gpfs.hintaccess": "it needs GPFS's own library (gpfs_fcntl)",
    "gpfs.releasetoken": "it needs GPFS's own library (gpfs_fcntl)",
    "gpfs.finegrainwritesharing": "it needs GPFS's own library (gpfs_fcntl)",
    "gpfs.finegrainreadsharing": "it needs GPFS's own library (gpfs_fcntl)",
    "gpfs.createsharing": "it needs GPFS's own library (gpfs_fcntl)",
    "hdf5.individualDataSets": "it is broken in IOR itself: its files cannot be read back",
    "ncmpi.preallocate": "IOR's NCMPI takes it and does nothing with it",
    "ncmpi.useStridedDatatype": "IOR's NCMPI takes it and does nothing with it",
    "ncmpi.useFileView": "IOR's NCMPI takes it and does nothing with it",
}
"""Options that do not run, and why."""

_STORE_MODULES = {"dfs": "DFS"}


def _apply(test: IorTest, name: str, value: Scalar, reached: Reached) -> None:
    assert name in BACKEND_OPTIONS
    module = name.split(".", 1)[0]
    if not value:  # asked not to do it
        return
    if module in _STORE_MODULES:
        raise _no_such(_STORE_MODULES[module])
    if name in REFUSED_OPTIONS:
        raise UserError(f"{TOOL}: --{name} is refused: {REFUSED_OPTIONS[name]}")
    interfaces, apply = RUN_OPTIONS[name]
    if test.interface not in interfaces.split():
        raise UserError(
            f"{TOOL}: --{name} has no meaning with -a {test.api}",
            f"it belongs to {interfaces.upper().replace(' ', ', ')}",
        )
    apply(value, reached)


def hints_of_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Hints in variables `IOR_HINT__MPI__key`, which those of a hints file replace."""
    named = {name: value for name, value in variables.items() if name.startswith(_HINT)}
    return _hints_in((name, name, value) for name, value in sorted(named.items()))


def _hints_in(entries: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Hints by their keys, from where each stands, its name and its value."""
    hints: dict[str, str] = {}
    for where, name, value in entries:
        layer, _, key = name.removeprefix(_HINT).partition("__")
        if not name.startswith(_HINT) or layer not in ("MPI", "GPFS") or not key or not value:
            raise UserError(f"{where}: '{name}={value}' is no hint", "IOR_HINT__MPI__key=value")
        if layer == "GPFS":
            raise UserError(f"{where}: hints for GPFS need GPFS's own library")
        hints[key] = value
    if len(hints) > _MOST_HINTS:
        raise UserError(f"{where}: {len(hints)} hints; IOR takes {_MOST_HINTS}")
    return hints


def read_hints(path: Path) -> dict[str, str]:
    """Hints of a file of lines `IOR_HINT__MPI__key=value`; others are for other layers."""
    entries = []
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line:
            name, _, value = line.partition("=")
            entries.append((f"{path}:{number}", name.strip(), value.strip()))
    return _hints_in(entries)
