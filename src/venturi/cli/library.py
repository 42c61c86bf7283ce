"""`venturi library`: the workloads that ship."""

from __future__ import annotations

import json

import click

from venturi.cli.group import WholeGroup
from venturi.cli.option import json_option


@click.group(cls=WholeGroup)
def command() -> None:
    """List and show the workloads that ship with Venturi."""


@command.command("ls")
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Print the full description of each.")
def list_workloads(as_json: bool, verbose: bool) -> None:
    """List the workloads."""
    from venturi import library

    loaded = [library.load(name) for name in library.names()]
    if as_json:
        click.echo(json.dumps([{"name": w.name, "about": w.about} for w in loaded]))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.listing import print_library

    print_library(loaded, stdout_console(), verbose)


@command.command("show")
@click.argument("name", metavar="WORKLOAD")
@click.option("--readme", is_flag=True, help="Print its README instead.")
def show(name: str, readme: bool) -> None:
    """Print WORKLOAD as YAML."""
    from venturi import library
    from venturi.model.error import UserError

    if name not in library.names():
        raise library.unknown(name)
    text = library.readme_of(name) if readme else library.text_of(name)
    if text is None:
        raise UserError(f"{name} has no readme", f"venturi library show {name}")
    click.echo(text, nl=False)
