"""What a place is: the directory, the host, the engines and what they were built with."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from venturi.execute import host
from venturi.execute.build_tool import how_to_build
from venturi.execute.engine import describe, executable_name, find_engine
from venturi.execute.target import check_directory, file_system_of
from venturi.model.error import UserError, VenturiError
from venturi.model.machine import MpiLibrary

_NO_MPI = "no MPI"
_NEEDS_MPI = "works through MPI"
"""How the engine without MPI begins to say what it lacks."""
_TOOLS = {
    "mpirun.openmpi": "for --on openmpi",
    "mpirun.mpich": "for --on mpich",
    "srun": "for jobs under Slurm",
    "darshan-parser": "for Darshan logs that the Python library cannot read",
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
            {"name": name, "path": shutil.which(name), "use": use} for name, use in _TOOLS.items()
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
        need = how_to_build(mpi) if mpi else error.hint
        return {"name": name, "built": False, "reason": need}
    except VenturiError as error:
        return {"name": name, "built": False, "reason": error.message}
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
    short = [" ".join(text.replace(" Version:", " ").split()) for text in found if text]
    return list(dict.fromkeys(short))  # MPICH says `MPICH Version:      4.0.2`


def _interfaces() -> list[dict[str, Any]]:
    """All interfaces: whether some engine has each, and why which engine lacks it."""
    rows: dict[str, dict[str, tuple[bool, str]]] = {}
    abilities: dict[str, list[Mapping[str, Any]]] = {}
    for mpi in (None, *MpiLibrary):
        try:
            backends = describe(find_engine(mpi))["backends"]
        except VenturiError as error:
            if mpi is None:
                return [{"name": "all", "built": False, "reason": error.message, "engines": {}}]
            continue
        label = mpi.value if mpi else _NO_MPI
        for backend in backends:
            rows.setdefault(backend["name"], {})[label] = (backend["built"], backend["reason"])
            abilities.setdefault(backend["name"], []).append(backend)
    return [
        {**_interface(name, engines), **_abilities(abilities[name])}
        for name, engines in rows.items()
    ]


def _abilities(backends: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What one interface can do in any of the engines: one with MPI may have options of its own."""
    capabilities = [word for backend in backends for word in backend["capabilities"]]
    options = {option["name"]: option for backend in backends for option in backend["options"]}
    return {"capabilities": list(dict.fromkeys(capabilities)), "options": list(options.values())}


def _interface(name: str, engines: Mapping[str, tuple[bool, str]]) -> dict[str, Any]:
    """One interface, over the engines that there are."""
    lacking = {label: reason for label, (built, reason) in engines.items() if not built}
    having = [label for label in engines if label not in lacking]
    remarks = [_lack(label, reason, having) for label, reason in lacking.items()]
    if len(set(lacking.values())) == 1 and not having:
        remarks = [_lack("", next(iter(lacking.values())), having)]
    return {
        "name": name,
        "built": bool(having),
        "reason": "; ".join(remarks),
        "engines": {label: built for label, (built, _) in engines.items()},
    }


def _lack(label: str, reason: str, having: Sequence[str]) -> str:
    """Why an engine (empty: any) lacks an interface, beside those that have it."""
    if reason.startswith(_NEEDS_MPI):
        ways = " or ".join(f"--on {other}" for other in having)
        return f"needs MPI ranks: {ways}" if ways else "needs an engine with MPI"
    if not label:
        return reason
    return f"not {'without MPI' if label == _NO_MPI else f'with {label}'}: {reason}"
