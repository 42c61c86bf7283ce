"""`venturi compare`: two captures, or two runs of one workload, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from venturi.cli.option import json_option, store_option, units_option

if TYPE_CHECKING:
    from venturi.api.compare import Comparison


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("-o", "--output", metavar="FILE", help="Write an HTML or Markdown page, or JSON.")
@click.option(
    "--check",
    is_flag=True,
    help="Exit with 4 if a field is off or a metric is significantly worse.",
)
@store_option
@json_option
@units_option
def command(
    first: str,
    second: str,
    output: str | None,
    check: bool,
    store: str | None,
    as_json: bool,
    units: str,
) -> int:
    """Compare A and B: two captures, a capture and a workload, or two runs of one workload.

    Captures (NAME.trace, Darshan logs, strace's output ...): how well B, a proxy, stands for A.
    Bytes, operations, request sizes, order, shares of the ranks and phases are judged, in total
    and for each kind of files; times stand beside. Where one has counters only, counters are
    compared. A capture and a workload (NAME.yaml, not run): the operations that it would make,
    one by one, and the time between them. Runs (ids, @last, folders): which metrics differ
    significantly, with an error rate of 5 % for all of them together, and the change that could
    have been detected. Sets of runs (tag:T, machine:M, session:S, campaign:C, name:N): point by
    point.

    \b
    Examples:
      venturi compare @last~1 @last -o page.html
      venturi compare app.trace proxy.trace
      venturi compare app.trace edited.yaml --check
      venturi compare tag:before tag:after --check
    """
    from venturi.api.compare import ComparisonView, compared, is_off
    from venturi.cli.console import stdout_console
    from venturi.cli.option import refuse_over_input, write_text
    from venturi.model.error import ExitCode
    from venturi.report.quantity import Units

    refuse_over_input(output, first, second)
    found = compared(first, second, store)
    if output is not None:
        write_text(Path(output), _text(found, Path(output), units))
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        ComparisonView(found).draw(stdout_console(), Units(units))
    return ExitCode.GATE if check and is_off(found) else ExitCode.FINE


def _text(found: Comparison, path: Path, units: str) -> str:
    """The comparison in the form that the file's ending says; JSON where it says none."""
    from venturi.model.error import UserError
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
