"""`venturi compare`: two captures, field by field."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.option import json_option, units_option


@click.command()
@click.argument("application")
@click.argument("proxy")
@click.option("-o", "--output", metavar="FILE", help="Write the card there (JSON).")
@click.option("--check", is_flag=True, help="Exit with 4 where a field is off.")
@json_option
@units_option
def command(
    application: str, proxy: str, output: str | None, check: bool, as_json: bool, units: str
) -> int:
    """How well PROXY stands for APPLICATION: the captures of both, side by side.

    Bytes, operations, request sizes, order, shares of the ranks and phases are judged, in total
    and for each kind of files; times stand beside.
    """
    from venturi.analyse.fidelity_card import fidelity
    from venturi.cli.console import stdout_console
    from venturi.cli.option import write_text
    from venturi.model.card import Match
    from venturi.model.error import ExitCode
    from venturi.report.card import print_card
    from venturi.report.quantity import Units
    from venturi.sources.open import read_capture

    both = [read_capture(Path(path)) for path in (application, proxy)]
    card = fidelity(both[0], both[1], (Path(application).name, Path(proxy).name))
    if output is not None:
        write_text(Path(output), card.to_json(indent=1) + "\n")
    if as_json:
        click.echo(card.to_json(indent=1))
    else:
        print_card(card, stdout_console(), Units(units))
    return ExitCode.GATE if check and card.match is Match.OFF else ExitCode.FINE
