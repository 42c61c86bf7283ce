"""`venturi profile`: measure a machine once, for predictions without running."""

from __future__ import annotations

import json
from pathlib import Path

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import budget_seconds, json_option, machine_option
from venturi.model.error import ExitCode


@click.command(cls=HelpCommand)
@click.argument("directory", metavar="DIR")
@click.option("-o", "--output", metavar="FILE", default="machine.yaml", help="The machine file.")
@click.option("--budget", default="3m", metavar="TIME", help="Time to spend: 90s, 3m, 1h.")
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Maximum number of ranks (default: number of cores).",
)
@rare_option(
    "--interfaces",
    default="posix,stdio",
    metavar="A,B",
    help="Interfaces to measure besides posix: stdio, hdf5, mpiio, ...",
)
@machine_option
@rare_option("--resume", is_flag=True, help="Resume an interrupted profile.")
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@json_option
def command(
    directory: str,
    output: str,
    budget: str,
    ranks: int | None,
    interfaces: str,
    machine: str,
    resume: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Measure the time of each kind of operation in DIR and write it to a machine file.

    \b
    Examples:
      venturi profile /scratch/me -o machine.yaml --budget 3m
      venturi profile /scratch/me --on openmpi --interfaces mpiio,hdf5
    """
    from venturi.execute.launcher import machine_named
    from venturi.profile.into_file import measure_into_file
    from venturi.profile.measure import ProfileRequest, check_interfaces

    place = machine_named(machine)
    request = ProfileRequest(
        directory=Path(directory).absolute(),
        output=Path(output).absolute(),
        budget_s=budget_seconds(budget),
        machine=place,
        ranks=ranks,
        interfaces=check_interfaces([word for word in interfaces.split(",") if word], place),
        resume=resume,
    )
    outcome = measure_into_file(request, (lambda line: None) if quiet else _tell)
    written = outcome.machine
    if outcome.interrupted:
        click.echo(
            f"  --resume goes on: venturi profile {directory} -o {output} --resume", err=True
        )
    if as_json:
        click.echo(json.dumps(written.to_data(), indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.machine_text import print_profile

        print_profile(written, output, stdout_console())
    return ExitCode.INTERRUPTED if outcome.interrupted else ExitCode.FINE


def _tell(line: str) -> None:
    click.echo(line, err=True)
