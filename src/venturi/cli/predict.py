"""`venturi predict`: how well a proxy foretells the time of an application's I/O."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.option import json_option, open_or_derive, store_option, units_option
from venturi.model.error import UserError


@click.command()
@click.argument("workload")
@click.option("--against", metavar="COMMAND", default="", help="The application, for a shell.")
@click.option("--prepare", metavar="COMMAND", default="", help="Makes its input before each run.")
@click.option("-d", "--dir", "directory", required=True, metavar="DIR", help="Where to do I/O.")
@click.option("-n", "--ranks", type=click.IntRange(min=1), help="Ranks of the proxy.")
@click.option("--repeat", type=click.IntRange(min=1), default=6, help="Runs of each (default: 6).")
@click.option(
    "--cache",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    help="Page cache before each run of either (default: written out and dropped).",
)
@click.option("--unlike", is_flag=True, help="Go on where both move different amounts.")
@click.option("--no-baselines", is_flag=True, help="No simpler predictions beside it.")
@click.option("-o", "--output", metavar="FOLDER", help="Default: NAME.prediction here.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@store_option
@json_option
@units_option
def command(
    workload: str,
    against: str,
    prepare: str,
    directory: str,
    ranks: int | None,
    repeat: int,
    cache: str,
    unlike: bool,
    no_baselines: bool,
    output: str | None,
    quiet: bool,
    store: str | None,
    as_json: bool,
    units: str,
) -> None:
    """Run WORKLOAD and the application COMMAND in turn below DIR; compare their time in I/O.

    WORKLOAD is a file, a name from the library, or a log or capture that it is derived from.
    COMMAND runs in a fresh folder of its own below DIR ({dir} stands for its path).
    """
    from venturi.predict.against import Experiment, predict_against
    from venturi.predict.cache import CachePolicy
    from venturi.predict.folder import place_for, write_prediction

    if not against.strip():
        raise UserError("--against needs a command", "such as --against 'python3 app.py'")
    opened, text = open_or_derive(workload, store)
    folder = place_for(output, opened.name)
    wanted = Experiment(
        workload=opened,
        text=text,
        command=against,
        directory=Path(directory).absolute(),
        prepare=prepare,
        ranks=ranks,
        rounds=repeat,
        cache=CachePolicy(cache),
        unlike=unlike,
        baselines=not no_baselines,
    )

    def say(line: str) -> None:
        if not quiet:
            click.echo(f" {line}", err=True)

    prediction = predict_against(wanted, say)
    write_prediction(folder, prediction)
    if as_json:
        click.echo(prediction.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.prediction import print_prediction
    from venturi.report.quantity import Units

    print_prediction(prediction, stdout_console(), Units(units))
    click.echo(f" report  venturi report {folder.name if output is None else output}")
