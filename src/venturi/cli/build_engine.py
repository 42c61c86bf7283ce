"""`venturi build-engine`: an engine for this machine's MPI and libraries."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

_MPIS = ("openmpi", "mpich")


@click.command()
@click.option(
    "--mpi", type=click.Choice(_MPIS), help="For this MPI, by the mpicxx in PATH (default: none)."
)
@click.option(
    "--prefix",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Install into DIR/bin (default: the user's data directory).",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="Compilers at a time (one per core)."
)
def command(mpi: str | None, prefix: Path | None, jobs: int | None) -> None:
    """Build an engine on this machine, from the sources that Venturi carries.

    For an MPI, or without MPI for libraries that the package leaves out: HDF5, netCDF, zlib,
    libcurl, librados. Each interface is built where its library is found. Needs a C++20 compiler,
    and CMake with Ninja or make (pip install cmake ninja); takes minutes.

    \b
    Examples:
      module load openmpi && venturi build-engine --mpi openmpi
      venturi build-engine --mpi mpich --prefix /opt/venturi
    """
    from venturi.execute.build_engine import build_engine
    from venturi.model.machine import MpiLibrary

    began = time.monotonic()
    library = MpiLibrary(mpi) if mpi else None
    cores = len(os.sched_getaffinity(0))
    try:
        built = build_engine(library, prefix, jobs or cores, _show)
    finally:
        _show(None)
    click.echo(f"{built.path}")
    click.echo(
        f"  built in {time.monotonic() - began:.0f} s{f', {built.mpi}' if built.mpi else ''}"
    )
    click.echo(f"  interfaces: {' '.join(built.interfaces)}")
    if not built.is_found:
        click.echo(f"  to use it: export VENTURI_ENGINE_DIR={built.path.parent}")
    else:
        click.echo(f"  to use it: venturi run quick -d DIR{f' --on {mpi}' if mpi else ''}")


def _show(part: float | None) -> None:
    """The part that is done, on a line that the next one replaces; None removes it."""
    if sys.stderr.isatty():
        click.echo("\r\x1b[K" if part is None else f"\rbuilding: {part:4.0%}", err=True, nl=False)
