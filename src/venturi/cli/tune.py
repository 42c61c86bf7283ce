"""`venturi tune`: what would make a workload's I/O faster here, by measurement."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from venturi.api.source import open_or_derive
from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    budget_seconds,
    json_option,
    machine_option,
    parse_assignments,
    seed_option,
    store_option,
    tell_if_elsewhere,
    units_option,
)
from venturi.model.error import ExitCode

_ENDING = ".tune"


@click.command(cls=HelpCommand)
@click.argument("workload")
@click.option(
    "-d", "--dir", "directory", required=True, metavar="DIR", help="Directory for the I/O."
)
@click.option("--budget", default="10m", metavar="TIME", help="Total time budget (default: 10m).")
@click.option("--what-if", "what_if", metavar="KEY=VALUE", help="Measure this change only.")
@click.option("-n", "--ranks", type=int, metavar="N", help="Number of ranks.")
@rare_option(
    "--scale",
    type=click.Choice(["laptop", "paper", "small", "large"]),
    default="laptop",
    help="Named scale.",
)
@click.option("--set", "assignments", metavar="NAME=VALUE", multiple=True, help="Set a parameter.")
@seed_option
@machine_option
@click.option("-o", "--output", metavar="FOLDER", help="Output folder (default: NAME.tune).")
@store_option
@json_option
@units_option
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def command(workload: str, directory: str, **options: Any) -> int:
    """Change WORKLOAD one thing at a time, measure each change and rank the gains.

    WORKLOAD is a file, a name from the library, a Darshan log or a capture. Each change runs
    beside the workload as it is, below DIR; the best are measured afresh. Ctrl-C ends it with
    what is known by then.

    \b
    Examples:
      venturi tune app.trace -d /scratch/me --budget 10m
      venturi tune app.trace -d /scratch/me --what-if transfer=4MiB
    """
    from venturi.api.tune import files_of, watching
    from venturi.execute.launcher import machine_named
    from venturi.execute.result_folder import folder_for, write_folder
    from venturi.plan.setting import RunSettings
    from venturi.store.place import store_directory
    from venturi.tune.bench import BenchSetup
    from venturi.tune.session import TuningRequest, tune

    budget_s = budget_seconds(options["budget"])
    opened, _ = open_or_derive(workload, options["store"])
    folder = folder_for(options["output"], opened.name, _ENDING)
    place = BenchSetup(
        directory=Path(directory).absolute(),
        store=store_directory(options["store"]),
        machine=machine_named(options["machine"]),
        settings=RunSettings(
            ranks=options["ranks"],
            scale=options["scale"],
            seed=options["seed"],
            assignments=parse_assignments(options["assignments"]),
        ),
        command=["venturi", *sys.argv[1:]],
    )
    with watching(budget_s, quiet=options["quiet"]) as watch:
        tuning = tune(TuningRequest(opened, place, budget_s, options["what_if"]), watch)
    saved = tell_if_elsewhere(folder, write_folder(folder, files_of(tuning)))
    if options["as_json"]:
        click.echo(tuning.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.tuning_text import print_tuning

        print_tuning(tuning, stdout_console(), saved)
    return ExitCode.INTERRUPTED if tuning.interrupted else ExitCode.FINE
