"""`venturi compare`: captures, runs, published results, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from venturi.api.compare import Comparison


@click.command(cls=HelpCommand)
@click.argument("first", metavar="A")
@click.argument("others", metavar="B...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Write an HTML or Markdown page, or JSON.")
@click.option(
    "--check", is_flag=True, help="Exit with 4 if B is off, or significantly worse than A."
)
@rare_option("--io500", "as_io500", is_flag=True, help="Compare as results of IO500.")
@store_option
@json_option
@units_option
def command(first: str, others: tuple[str, ...], **options: Any) -> int:
    """Compare A and B, which are of one kind.

    Two runs (ids, @last, folders) or sets of runs (tag:T, machine:M, session:S, campaign:C,
    name:N): which metrics differ significantly, and the change that could have been detected.
    Two captures (NAME.trace, Darshan logs ...), or a capture and a workload (NAME.yaml, not run):
    how well B, a proxy, stands for A. A run of io500 and published results that were imported:
    phase by phase.

    \b
    Examples:
      venturi compare @last~1 @last -o page.html
      venturi compare app.trace proxy.trace --check
    """
    from venturi.api.published import names_published

    refuse_over_input(options["output"], first, *others)
    if (
        len(others) > 1
        or options["as_io500"]
        or names_published((first, *others), options["store"])
    ):
        return _published(first, others, options)
    from venturi.api.compare import compared

    return _show(compared(first, others[0], options["store"]), options)


def _show(found: Comparison, options: dict[str, Any]) -> int:
    """Write and print a comparison; the exit code that says what was found."""
    from venturi.api.compare import ComparisonView, is_off
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units

    output = options["output"]
    if output is not None:
        write_text(Path(output), _text(found, Path(output), options["units"]))
    if options["as_json"]:
        click.echo(found.to_json(indent=1))
    else:
        ComparisonView(found).draw(stdout_console(), Units(options["units"]))
    return ExitCode.GATE if options["check"] and is_off(found) else ExitCode.FINE


def _text(found: Comparison, path: Path, units: str) -> str:
    """The comparison in the form that the file's ending says; JSON where it says none."""
    from venturi.model.fidelity_report import FidelityReport
    from venturi.report.render import render_document

    form = path.suffix.lstrip(".")
    if form not in ("html", "md"):
        return found.to_json(indent=1) + "\n"
    if isinstance(found, FidelityReport):
        raise UserError(
            f"{path}: captures side by side are a page of the application's report",
            "venturi report A --proxy B -o PAGE.html",
        )
    return render_document(found, form, units)


def _published(first: str, others: tuple[str, ...], options: dict[str, Any]) -> int:
    """A run beside published results, which have no verdict and no page of their own."""
    if options["check"] or options["output"] is not None:
        option = "--check" if options["check"] else "-o"
        raise UserError(
            f"{option}: published results have one value each, so nothing is judged",
            "venturi report RUN -o PAGE.html shows where a run stands among them",
        )
    show_published(first, others, options["store"], options["as_json"])
    return ExitCode.FINE


def show_published(first: str, others: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Print a run of io500 beside imported results, or one of these beside others."""
    from venturi.api.published import beside_published

    pairs = beside_published(first, others, store)
    if as_json:
        click.echo(json.dumps([pair.to_data() for pair in pairs], indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_beside

    for pair in pairs:
        print_beside(pair.first, pair.second, pair.rows, stdout_console())
