"""`venturi doctor`: what is this place."""

from __future__ import annotations

import json
from pathlib import Path

import click

from venturi.cli.help import HelpCommand
from venturi.cli.option import json_option, units_option


@click.command(cls=HelpCommand)
@click.argument("directory", default=".")
@json_option
@units_option
def command(directory: str, as_json: bool, units: str) -> None:
    """Check a directory and this host: file system, memory, MPI, engines and interfaces.

    \b
    Examples:
      venturi doctor /scratch/me
    """
    from venturi.execute.doctor import examine

    findings = examine(Path(directory).absolute())
    if as_json:
        click.echo(json.dumps(findings, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.listing import print_doctor
    from venturi.report.quantity import Units

    print_doctor(findings, stdout_console(), Units(units))
