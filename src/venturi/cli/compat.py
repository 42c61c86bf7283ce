"""`venturi compat`: command lines of IOR, mdtest, md-workbench and fio, run by our engine."""

from __future__ import annotations

import click

from venturi.cli.fio import command as fio
from venturi.cli.group import WholeGroup
from venturi.cli.ior import command as ior
from venturi.cli.md_workbench import command as md_workbench
from venturi.cli.mdtest import command as mdtest

TOOLS = {"ior": ior, "mdtest": mdtest, "md-workbench": md_workbench, "fio": fio}


@click.group(cls=WholeGroup)
def command() -> None:
    """Run the command line of another benchmark with Venturi's engine.

    Options of venturi stand before `--`, those of the tool behind it: venturi compat ior -- ARGS.
    """


for _name, _tool in TOOLS.items():
    command.add_command(_tool, _name)
