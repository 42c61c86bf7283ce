"""`venturi results history`: what changed from session to session, and a gate."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    json_option,
    refuse_over_input,
    store_option,
    units_option,
    write_text,
)
from venturi.model.error import ExitCode, UserError

_KNOWN = "known-changes.yaml"
"""As in the archive, which a help text does not load."""


@click.command("history", cls=HelpCommand)
@click.argument("choice", metavar="[CHOICE]", required=False)
@click.option("--metric", metavar="NAME", default="", help="Show only this metric.")
@rare_option("--known", metavar="FILE", help=f"Known changes (default: {_KNOWN} in the store).")
@rare_option(
    "--least",
    type=float,
    default=5.0,
    metavar="%",
    help="Smallest change to report (default: 5 %).",
)
@click.option("--check", is_flag=True, help="Exit with 4 if a metric got worse.")
@click.option("-o", "--output", metavar="FILE", help="Write an HTML or Markdown page, or JSON.")
@store_option
@json_option
@units_option
def command(
    choice: str | None,
    metric: str,
    known: str | None,
    least: float,
    check: bool,
    output: str | None,
    store: str | None,
    as_json: bool,
    units: str,
) -> int:
    """Show each metric of similar runs over time, by session, with its change points.

    CHOICE as in `results ls`. Changes listed in the file of known changes do not fail --check.

    \b
    Examples:
      venturi results history name:quick -o history.html
      venturi results history machine:alpha --check
    """
    from venturi.analyse.history import history_of
    from venturi.store.archive import known_changes, results
    from venturi.store.place import store_directory

    refuse_over_input(output, known)
    place = store_directory(store)
    noted = known_changes(place, known)
    if not 0.0 < least < 1000.0:
        raise UserError(f"--least {least}: a change in percent is above 0", "for instance 5")
    found = history_of(results(place, choice), choice or "", noted, metric, least / 100)
    if output is not None:
        from venturi.report.render import render_document

        form = Path(output).suffix.lstrip(".")
        if form not in ("html", "md", "json"):
            raise UserError(f"{output}: there is no format '{form}'", "one of html, md, json")
        write_text(Path(output), render_document(found, form, units))
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.history_text import print_history
        from venturi.report.quantity import Units

        print_history(found, stdout_console(), Units(units))
    return ExitCode.GATE if check and found.worse else ExitCode.FINE
