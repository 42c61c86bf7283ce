"""`venturi library`: the workloads and campaigns that ship."""

from __future__ import annotations

import json

import click

from venturi.cli.group import WholeGroup
from venturi.cli.option import json_option


@click.group(cls=WholeGroup)
def command() -> None:
    """List and show the workloads and campaigns that ship with Venturi."""


@command.command("ls")
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Print the full description of each.")
def list_workloads(as_json: bool, verbose: bool) -> None:
    """List the workloads and the campaigns."""
    from venturi import library
    from venturi.model.campaign import Campaign
    from venturi.model.yaml_text import parse_yaml

    loaded = [library.load(name) for name in library.names()]
    campaigns = [
        parse_yaml(library.campaign_text(name), f"library/{name}", Campaign)
        for name in library.campaign_names()
    ]
    if as_json:
        rows = [{"name": w.name, "about": w.about} for w in loaded]
        rows += [{"name": c.name, "about": c.about, "kind": "campaign"} for c in campaigns]
        click.echo(json.dumps(rows))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.listing import print_library

    print_library(loaded, campaigns, stdout_console(), verbose)


@command.command("show")
@click.argument("name", metavar="SHIPPED")
@click.option("--readme", is_flag=True, help="Print its README instead.")
def show(name: str, readme: bool) -> None:
    """Print the workload or campaign SHIPPED as YAML."""
    from venturi import library
    from venturi.model.error import UserError

    if name in library.campaign_names() and not readme:
        click.echo(library.campaign_text(name), nl=False)
        return
    if name not in library.names():
        raise library.unknown(name)
    text = library.readme_of(name) if readme else library.text_of(name)
    if text is None:
        raise UserError(f"{name} has no readme", f"venturi library show {name}")
    click.echo(text, nl=False)
