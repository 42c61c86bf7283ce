"""`venturi tune`: what would make a workload's I/O faster here, by measurement."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.option import (
    json_option,
    open_or_derive,
    parse_assignments,
    store_option,
    units_option,
)
from venturi.model.error import ExitCode, UserError

if TYPE_CHECKING:
    from venturi.model.tuning import Tuning
    from venturi.tune.search import State

_BUDGET = re.compile(r"(\d+(?:\.\d+)?) ?(s|min|m|h)")
_UNITS_S = {"s": 1, "m": 60, "min": 60, "h": 3600}
_ENDING = ".tune"


@click.command()
@click.argument("workload")
@click.option("-d", "--dir", "directory", required=True, metavar="DIR", help="Where to do I/O.")
@click.option("--budget", default="10m", metavar="TIME", help="The most it may take (10m).")
@click.option("--what-if", "what_if", metavar="KEY=VALUE", help="Measure this change only.")
@click.option("-n", "--ranks", type=int, help="Number of ranks.")
@click.option(
    "--scale",
    type=click.Choice(["laptop", "paper", "small", "large"]),
    default="laptop",
    help="Named scale.",
)
@click.option("--set", "assignments", metavar="NAME=VALUE", multiple=True, help="Set a parameter.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Of all randomness.")
@click.option("--on", "machine", metavar="MACHINE", default="local", help="Where to run.")
@click.option("-o", "--output", metavar="FOLDER", help="Where the result goes (NAME.tune).")
@store_option
@json_option
@units_option
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(workload: str, directory: str, **options: Any) -> int:
    """Change WORKLOAD one thing at a time, measure each change, and rank what it gains.

    WORKLOAD is a file, a name from the library, a Darshan log or a capture. Each change runs
    beside the workload as it is, below DIR; the best are measured afresh. Ctrl-C ends it with
    what is known by then.
    """
    from venturi.execute.launcher import machine_named
    from venturi.execute.result_folder import folder_for
    from venturi.plan.setting import Settings
    from venturi.store.place import store_directory
    from venturi.tune.bench import Place
    from venturi.tune.session import Wish, tune

    budget_s = parse_budget(options["budget"])
    opened, _ = open_or_derive(workload, options["store"])
    folder = folder_for(options["output"], opened.name, _ENDING)
    place = Place(
        directory=Path(directory).absolute(),
        store=store_directory(options["store"]),
        machine=machine_named(options["machine"]),
        settings=Settings(
            ranks=options["ranks"],
            scale=options["scale"],
            seed=options["seed"],
            assignments=parse_assignments(options["assignments"]),
        ),
        command=["venturi", *sys.argv[1:]],
    )
    with _watching(budget_s, quiet=options["quiet"]) as watch:
        tuning = tune(Wish(opened, place, budget_s, options["what_if"]), watch)
    _save(folder, tuning)
    if options["as_json"]:
        click.echo(tuning.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.tuning_text import print_tuning

        print_tuning(tuning, stdout_console(), folder.name)
    return ExitCode.INTERRUPTED if tuning.interrupted else ExitCode.FINE


def parse_budget(text: str) -> float:
    """The seconds of a budget such as `10m`; UserError for anything else."""
    found = _BUDGET.fullmatch(text.strip())
    seconds = float(Fraction(found[1]) * _UNITS_S[found[2]]) if found else 0.0
    if not 0 < seconds <= 1e6:
        raise UserError(f"--budget {text}: this is no time", "for instance --budget 10m")
    return seconds


def _save(folder: Path, tuning: Tuning) -> None:
    """The document, the workload, and those changes that came to the final, as files to run."""
    folder.mkdir()
    (folder / "tuning.json").write_text(tuning.to_json(indent=1) + "\n", "utf-8")
    (folder / "workload.yaml").write_text(tuning.workload_text, "utf-8")
    for trial in tuning.trials:
        if trial.workload_text:
            name = re.sub(r"[^A-Za-z0-9_.=-]", "-", trial.name)
            (folder / f"{name}.yaml").write_text(trial.workload_text, "utf-8")


@contextlib.contextmanager
def _watching(budget_s: float, quiet: bool) -> Iterator[Callable[[State], None]]:
    """What is told of every run."""
    from venturi.report.tuning_text import Progress

    if quiet:
        yield lambda state: None
        return
    progress = Progress(budget_s)
    try:
        yield lambda state: progress.show_run(state.runs, state.doing)
    finally:
        progress.close()
