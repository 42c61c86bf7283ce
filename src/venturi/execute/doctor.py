"""What a place is: the directory, the host, the engines and what they were built with."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from venturi.execute import host
from venturi.execute.engine import describe, executable_name, find_engine
from venturi.execute.target import check_directory, file_system_of
from venturi.model.error import UserError, VenturiError
from venturi.model.machine import MpiLibrary

_MPI_PACKAGES = {
    MpiLibrary.OPENMPI: "openmpi-bin libopenmpi-dev",
    MpiLibrary.MPICH: "mpich libmpich-dev",
}


def examine(directory: Path) -> dict[str, Any]:
    """Facts as data: `directory`, `host`, `engines`, `interfaces`, `tools`."""
    engines = [_engine(mpi) for mpi in (None, *MpiLibrary)]
    return {
        "schema": "venturi.doctor/1",
        "directory": _directory(directory),
        "host": {
            "name": platform.node(),
            "system": host.system_name(),
            "kernel": platform.release(),
            "cpu": host.cpu_name(),
            "cores": os.cpu_count(),
            "memory_bytes": host.memory_bytes(),
            "load_average": os.getloadavg()[0],
        },
        "engines": engines,
        "interfaces": _interfaces(),
        "tools": [
            {"name": name, "path": shutil.which(name)}
            for name in ("mpirun.openmpi", "mpirun.mpich", "srun", "darshan-parser")
        ],
    }


def _directory(directory: Path) -> dict[str, Any]:
    """Whether runs may start there, and what it lies on."""
    try:
        check_directory(directory)
    except VenturiError as error:
        return {"path": str(directory), "usable": False, "problem": error.message}
    system = file_system_of(directory).to_data()
    return {"path": str(directory), "usable": True, "problem": "", "file_system": system}


def _engine(mpi: MpiLibrary | None) -> dict[str, Any]:
    name = executable_name(mpi)
    try:
        described = describe(find_engine(mpi))
    except UserError as error:
        need = f"install {_MPI_PACKAGES[mpi]} and build again" if mpi else error.hint
        return {"name": name, "built": False, "reason": need}
    return {
        "name": name,
        "built": True,
        "reason": "",
        "version": described["version"],
        "clock": described.get("clock"),
        "libraries": _libraries(described),
    }


def _libraries(described: Mapping[str, Any]) -> list[str]:
    """Names and versions of the libraries that an engine was built with, MPI first."""
    found = [described.get("mpi")] + [backend.get("library") for backend in described["backends"]]
    return list(dict.fromkeys(text for text in found if text))


def _interfaces() -> list[dict[str, Any]]:
    """All interfaces: whether some engine has each, and why which engine lacks it."""
    rows: dict[str, dict[str, tuple[bool, str]]] = {}
    abilities: dict[str, dict[str, Any]] = {}
    for mpi in (None, *MpiLibrary):
        try:
            backends = describe(find_engine(mpi))["backends"]
        except VenturiError as error:
            if mpi is None:
                return [{"name": "all", "built": False, "reason": error.message, "engines": {}}]
            continue
        label = mpi.value if mpi else "no MPI"
        for backend in backends:
            rows.setdefault(backend["name"], {})[label] = (backend["built"], backend["reason"])
            if backend["built"]:
                keys = ("capabilities", "options")
                abilities.setdefault(backend["name"], {key: backend[key] for key in keys})
    none: dict[str, Any] = {"capabilities": [], "options": []}
    return [
        {**_interface(name, engines), **abilities.get(name, none)} for name, engines in rows.items()
    ]


def _interface(name: str, engines: Mapping[str, tuple[bool, str]]) -> dict[str, Any]:
    lacking = {label: reason for label, (built, reason) in engines.items() if not built}
    if len(set(lacking.values())) == 1 and len(lacking) == len(engines):
        reason = next(iter(lacking.values()))
    else:
        reason = "; ".join(f"{label}: {why}" for label, why in lacking.items())
    return {
        "name": name,
        "built": len(lacking) < len(engines),
        "reason": reason,
        "engines": {label: built for label, (built, _) in engines.items()},
    }
