"""Launch lines: how the engine's ranks are started on a machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from venturi.execute.engine import find_engine, first_mpi
from venturi.model.error import UserError
from venturi.model.machine import (
    Launcher,
    LauncherKind,
    Machine,
    MpiLibrary,
    Scheduler,
    SchedulerKind,
)
from venturi.model.yaml_text import load_yaml

_MPIRUN = {
    MpiLibrary.OPENMPI: ["mpirun.openmpi", "--oversubscribe", "-n", "{ranks}"],
    MpiLibrary.MPICH: ["mpirun.mpich", "-n", "{ranks}"],
}
_MOST_FORKED = 1024
"""More take minutes to start on a few cores; a machine file may allow them."""
BUILT_IN = ("local", "openmpi", "mpich")
SLURM = "slurm:"
_SRUN_MPI = {MpiLibrary.OPENMPI: "pmix", MpiLibrary.MPICH: "pmi2"}
"""How ranks started by srun find each other."""
_MPI_PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")


def is_built_in(name: str) -> bool:
    """Whether a machine needs no file."""
    return name in BUILT_IN or name.startswith(SLURM)


def machine_named(name: str) -> Machine:
    """A built-in machine (local, openmpi, mpich, slurm:PARTITION) or the one in a YAML file."""
    if name == "local":
        about = "forked processes on this host, without MPI"
        return Machine(name="local", about=about, most_ranks=_MOST_FORKED)
    if name in BUILT_IN:
        launcher = Launcher(kind=LauncherKind.MPIRUN, mpi=MpiLibrary(name))
        return Machine(name=name, about=f"this host, started by {name}'s mpirun", launcher=launcher)
    if name.startswith(SLURM):
        return _partition(name.removeprefix(SLURM))
    if Path(name).suffix in (".yaml", ".yml") or Path(name).exists():
        return load_yaml(Path(name), Machine)
    known = ", ".join(BUILT_IN)
    raise UserError(f"--on {name}: no such machine", f"use {known}, {SLURM}PARTITION or a file")


def _partition(name: str) -> Machine:
    """A partition of this host's Slurm: srun waits for nodes and starts the ranks on them."""
    if not name:
        raise UserError(f"--on {SLURM}: the partition is missing", "sinfo lists them")
    mpi = first_mpi()
    command = [
        "srun",
        f"--partition={name}",
        f"--mpi={_SRUN_MPI[mpi]}",
        "--ntasks={ranks}",
        "--nodes={nodes}",
    ]
    return Machine(
        name=f"{SLURM}{name}",
        about=f"partition {name}, started by srun with {mpi.value}",
        launcher=Launcher(kind=LauncherKind.MPIRUN, mpi=mpi, command=command),
        scheduler=Scheduler(kind=SchedulerKind.SLURM, queue=name),
    )


def check_nodes(machine: Machine, nodes: int) -> None:
    """Raise UserError for more nodes than the machine has."""
    if nodes > 1 and machine.launcher.kind is LauncherKind.LOCAL:
        raise UserError(
            f"-N {nodes}: machine {machine.name} is one node",
            "leave -N away, or name a machine with --on",
        )


def launch_line(machine: Machine, ranks: int, plan: Path, nodes: int = 1) -> list[str]:
    """The command that starts the engine on `ranks` ranks; UserError if it cannot be started."""
    launcher = machine.launcher
    if launcher.kind is LauncherKind.LOCAL:
        _refuse_unused_command(machine)
        return [str(find_engine()), "run", str(plan)]
    return [*start_line(machine, ranks, nodes), str(find_engine(launcher.mpi)), "run", str(plan)]


def start_line(machine: Machine, ranks: int, nodes: int = 1) -> list[str]:
    """What starts `ranks` ranks of a program; empty where the program is started by itself.

    UserError where the launcher is not there.
    """
    launcher = machine.launcher
    if launcher.kind is LauncherKind.LOCAL:
        _refuse_unused_command(machine)
        return []
    if launcher.mpi is None:
        raise UserError(f"machine {machine.name}: the launcher needs 'mpi': openmpi or mpich")
    start = _filled(launcher, ranks, nodes)
    if shutil.which(start[0]) is None:
        raise UserError(
            f"machine {machine.name}: {start[0]} is not installed",
            "install it, or give the 'command' in a machine file",
        )
    return start


def _refuse_unused_command(machine: Machine) -> None:
    """Raise UserError for a launch line of ranks that would be forked without it."""
    if machine.launcher.command:
        raise UserError(
            f"machine {machine.name}: launcher.command starts ranks of an MPI, and launcher.mpi "
            "does not say which",
            "add 'mpi: openmpi' or 'mpi: mpich', or leave 'command' away: ranks are then forked",
        )


def start_words(machine: Machine, ranks: int, nodes: int) -> list[str]:
    """What a machine puts before a command to start it on ranks; UserError if it cannot.

    Without a launcher one rank needs nothing.
    """
    launcher = machine.launcher
    if launcher.mpi is None and not launcher.command:
        if ranks == 1:
            return []
        raise UserError(
            f"machine {machine.name}: it has no launch line for {ranks} ranks",
            "give launcher.mpi or launcher.command in a machine file, or --on openmpi",
        )
    return _filled(launcher, ranks, nodes)


def _filled(launcher: Launcher, ranks: int, nodes: int) -> list[str]:
    """The launcher's words for so many ranks and nodes."""
    values = {"{ranks}": ranks, "{nodes}": nodes, "{ranks_per_node}": -(-ranks // nodes)}
    words = launcher.command or _start_of(launcher)
    for name, value in values.items():
        words = [word.replace(name, str(value)) for word in words]
    is_open_mpi_s = launcher.mpi is MpiLibrary.OPENMPI and Path(words[0]).name.startswith(
        _MPI_PROGRAMS
    )
    if is_open_mpi_s and os.geteuid() == 0:
        words.insert(1, "--allow-run-as-root")
    return words


def _start_of(launcher: Launcher) -> list[str]:
    """The launcher's own line, or the default of its MPI."""
    assert launcher.mpi is not None
    if launcher.command:
        return launcher.command
    default = _MPIRUN[launcher.mpi]
    return default if shutil.which(default[0]) else ["mpirun", *default[1:]]
