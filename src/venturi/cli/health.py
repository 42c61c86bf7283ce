"""`venturi health`: is the machine itself well?"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import json_option, store_option, write_text
from venturi.model.error import ExitCode

_SUITES = ("quick", "standard", "full")


@click.command(cls=HelpCommand)
@click.argument("what", metavar="SUITE", type=click.Choice((*_SUITES, "baseline")), default="quick")
@click.option(
    "--on", "machine", metavar="MACHINE", help="Where to run (default: an MPI if there is one)."
)
@click.option(
    "-n", "--ranks", type=click.IntRange(min=1), metavar="N", help="Ranks (default: one a core)."
)
@rare_option(
    "-N", "--nodes", type=click.IntRange(min=1), default=1, metavar="N", help="Number of nodes."
)
@rare_option(
    "--skip",
    multiple=True,
    metavar="PART",
    help="Leave out memory, compute, solvers, messages, tcp or data.",
)
@click.option("-o", "--output", metavar="FILE", help="The page (default: health-ID.html).")
@rare_option("-q", "--quiet", is_flag=True, help="No live progress.")
@store_option
@json_option
def command(
    what: str,
    machine: str | None,
    ranks: int | None,
    nodes: int,
    skip: tuple[str, ...],
    output: str | None,
    quiet: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Measure the machine itself by a SUITE of kernels, and audit the node that starts it.

    Suites: quick (less than two minutes), standard (less than fifteen), full. A session is kept in
    the store and compared with those before it; the first five only learn, and a session during
    which others use the machine says so in place of a verdict. baseline keeps what the sessions of
    the last suite gave as references, which later sessions are held against.

    \b
    Examples:
      venturi health quick
      venturi health standard --on openmpi -n 8 --skip compute
      venturi health baseline
    """
    from venturi.store.place import store_directory

    place = store_directory(store)
    if what == "baseline":
        return _learn(place)
    from venturi.execute.launcher import machine_named
    from venturi.health.session import HealthRequest, run_session
    from venturi.report.live import LiveView, Setting
    from venturi.report.quantity import Units
    from venturi.report.render import render_document

    request = HealthRequest(
        suite=what,
        machine=machine_named(machine or _default_machine()),
        ranks=ranks,
        nodes=nodes,
        store=place,
        command=["venturi", *sys.argv[1:]],
        skip=dict.fromkeys(skip, "left out by --skip"),
    )
    setting = Setting(f"health-{what}", 1, {}, Units.IEC, is_open=True)
    live = contextlib.nullcontext() if quiet or as_json else LiveView(setting)
    with live as view:
        health = run_session(request, view.feed if view else lambda event: None)
    if as_json:
        click.echo(health.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.health_text import print_health

        path = Path(output or f"health-{health.id}.html")
        write_text(path, render_document(health, "html"))
        print_health(health, stdout_console(), str(path))
    from venturi.model.health import HealthState
    from venturi.report.health import state_of

    state = state_of(health)
    if state is HealthState.FAILED:
        return ExitCode.MEASUREMENT
    return ExitCode.GATE if state is HealthState.FAIL else ExitCode.FINE


def _default_machine() -> str:
    """An MPI that there is an engine and a launcher for, else none."""
    import shutil

    from venturi.execute.engine import find_engine
    from venturi.model.error import VenturiError
    from venturi.model.machine import MpiLibrary

    for mpi in MpiLibrary:
        with contextlib.suppress(VenturiError):
            find_engine(mpi)
            if shutil.which(f"mpirun.{mpi.value}") or shutil.which("mpirun"):
                return mpi.value
    return "local"


def _learn(store: Path) -> int:
    """Learn references from the sessions that are comparable to the newest one."""
    from venturi.health.keep import learn, newest_series, sessions

    click.echo(str(learn(store, sessions(store, newest_series(store)))))
    return ExitCode.FINE
