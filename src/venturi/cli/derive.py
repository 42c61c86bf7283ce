"""`venturi derive`: a proxy workload from a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import json_option, refuse_over_input, shown_path, write_text
from venturi.model.error import UserError

if TYPE_CHECKING:
    from venturi.model.trace_folder import Captured
    from venturi.model.workload import Workload


@click.command(cls=HelpCommand)
@click.argument("log", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Write the workload to this file (YAML).")
@rare_option("--name", help="Name of the workload (default: from the log).")
@rare_option(
    "--scale-ranks",
    "other",
    metavar="LOG",
    help="Log of the same program with another number of ranks, to derive how sizes scale.",
)
@click.option(
    "--simplify",
    is_flag=True,
    help="Text alone: no table for calls that follow no rule; says what that gives up.",
)
@click.option("--check", is_flag=True, help="Run the proxy under capture and compare.")
@click.option("-d", "--dir", "directory", metavar="DIR", help="Directory for the I/O of --check.")
@rare_option(
    "--on",
    metavar="MACHINE",
    help="Where --check runs: local, openmpi, mpich or a machine file "
    "(default: an MPI where ranks share files of MPI-IO, HDF5 or PnetCDF, else local).",
)
@json_option
def command(
    log: tuple[str, ...],
    output: str | None,
    name: str | None,
    other: str | None,
    simplify: bool,
    check: bool,
    directory: str | None,
    on: str | None,
    as_json: bool,
) -> None:
    """Derive a compact proxy workload from LOG (a trace, Darshan, DXT or strace log).

    Without -o the workload goes to stdout and the findings to stderr. With --check, the proxy
    runs once below DIR, captured as the application was, and both are compared field by field.

    \b
    Examples:
      venturi derive app.trace -o app.yaml
      venturi derive app.darshan --check -d /scratch/me
    """
    from venturi.sources.open import get_ready, read_capture

    get_ready(log[0])
    from venturi.derive.workload import derive
    from venturi.derive.yaml_text import to_yaml

    if check and directory is None:
        raise UserError("--check does I/O", "say where with -d DIR")
    if on is not None and not check:
        raise UserError("--on says where --check runs", "add --check -d DIR")
    refuse_over_input(output, *log, other)
    title = name or Path(log[0]).name.split(".")[0]
    captured = read_capture(log[0], *log[1:])
    workload = derive(captured, title, simplify)
    if other is not None:
        from venturi.derive.scale import scaled

        workload = scaled(workload, derive(read_capture(other), title, simplify))
    text = to_yaml(workload)
    if output is not None:
        _write(workload, Path(output))
    if as_json:
        data = json.loads(workload.to_json())
        origin = data["origin"] or {}
        data |= {"ior": origin.get("ior"), "findings": origin.get("findings", [])}
        click.echo(json.dumps(data, indent=1))
    else:
        if output is None:
            click.echo(text, nl=False)
        from venturi.cli.console import stderr_console
        from venturi.report.terminal import print_derived

        print_derived(workload, stderr_console())
        if output is not None and not check:
            click.echo(f" next    venturi run {shown_path(Path(output))} -d DIR", err=True)
    if check:
        _check(captured, workload, text, Path(str(directory)), Path(log[0]), on)


def _write(workload: Workload, path: Path) -> None:
    """Writes the workload, and its tables beside it."""
    from venturi.derive.yaml_text import to_yaml
    from venturi.library.table import beside

    named, tables = beside(workload, path)
    for file, text in tables.items():
        write_text(file, text)
        click.echo(f" table   {shown_path(file)}", err=True)
    write_text(path, to_yaml(named))


def _check(
    captured: Captured, workload: Workload, text: str, directory: Path, log: Path, on: str | None
) -> None:
    """Captures the proxy beside the log, and prints the comparison."""
    from venturi.analyse.fidelity_report import fidelity
    from venturi.capture.proxy import capture_proxy, machine_for
    from venturi.capture.run import place_for
    from venturi.cli.console import stderr_console
    from venturi.derive.counted_sync import with_counted_syncs
    from venturi.execute.target import check_directory
    from venturi.report.fidelity_report import print_fidelity_report

    check_directory(directory)
    folder = place_for(None, (f"{workload.name}-proxy",))
    machine = on or machine_for(workload, captured.trace)
    proxy = capture_proxy(workload, text, directory, folder, machine)
    application = with_counted_syncs(captured).captured
    report = fidelity(application, proxy, (workload.name, folder.name))
    print_fidelity_report(report, stderr_console())
    click.echo(f" next    venturi report {log} --proxy {folder.name}", err=True)
