"""`venturi compare`: captures, runs, published results, or two directories, side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    json_option,
    machine_option,
    nodes_option,
    parse_repeat,
    ranks_option,
    refuse_over_input,
    scale_option,
    seed_option,
    set_option,
    settings_of,
    store_option,
    units_option,
    write_text,
)
from venturi.model.error import ExitCode, UserError

if TYPE_CHECKING:
    from venturi.api.compare import Comparison
    from venturi.model.comparison import ComparisonSet

_NOT_JUDGED = ", so --check does not judge the comparison"
_OF_WITH = ("ranks", "nodes", "scale", "assignments", "repeat", "seed", "machine", "quiet")


@click.command(cls=HelpCommand)
@click.argument("first", metavar="A")
@click.argument("others", metavar="B...", nargs=-1, required=True)
@click.option("--with", "workload", metavar="WORKLOAD", help="Run this in the directories A and B.")
@click.option("-o", "--output", metavar="FILE", help="Write an HTML or Markdown page, or JSON.")
@click.option(
    "--check", is_flag=True, help="Exit with 4 if B is off, or significantly worse than A."
)
@rare_option("--io500", "as_io500", is_flag=True, help="Compare as results of IO500.")
@click.option("--repeat", metavar="N", help="--with: runs in each directory (default: 6).")
@ranks_option
@set_option
@scale_option
@nodes_option
@seed_option
@machine_option
@store_option
@json_option
@units_option
@rare_option("-q", "--quiet", is_flag=True, help="--with: do not show progress.")
def command(first: str, others: tuple[str, ...], **options: Any) -> int:
    """Compare A and B, which are of one kind.

    Two directories, --with a workload: which place is faster. The workload runs in both in turn,
    six times each unless --repeat says otherwise; each run is a record of the store.
    Two runs (ids, @last, folders) or sets of runs (tag:T, machine:M, session:S, campaign:C,
    name:N, folders of campaigns): which metrics differ significantly, and the change that could
    have been detected.
    Two captures (NAME.trace, Darshan logs ...), or a capture and a workload (NAME.yaml, not run):
    how well B, a proxy, stands for A. A run of io500 and published results that were imported:
    phase by phase.

    \b
    Examples:
      venturi compare /scratch/me /project/me --with quick
      venturi compare @last~1 @last -o page.html
      venturi compare app.trace proxy.trace --check
    """
    from venturi.api.published import names_published

    refuse_over_input(options["output"], first, *others)
    if options["workload"] is not None:
        return _show(_of_places(first, _second(others), options), options)
    _refuse_of_with()
    if (
        len(others) > 1
        or options["as_io500"]
        or names_published((first, *others), options["store"])
    ):
        return _published(first, others, options)
    from venturi.api.compare import compared

    return _show(compared(first, others[0], options["store"]), options)


def _second(others: tuple[str, ...]) -> str:
    if len(others) > 1:
        raise UserError("--with compares two directories", f"leave out {' '.join(others[1:])}")
    return others[0]


def _refuse_of_with() -> None:
    """Raise UserError for an option of runs that are to be made, where none is."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in _OF_WITH:
            raise UserError(
                f"{option.opts[-1]} is for runs of --with WORKLOAD",
                "venturi compare DIR1 DIR2 --with quick",
            )


def _of_places(first: str, second: str, options: dict[str, Any]) -> ComparisonSet:
    """Run the workload in two directories in turn."""
    from venturi.api.source import open_workload
    from venturi.campaign.places import ROUNDS, PlacesRequest, compare_places
    from venturi.execute.launcher import machine_named
    from venturi.probe.background import reader_beside
    from venturi.store.place import store_directory

    if options["as_io500"]:
        raise UserError("--io500 compares results that are there", "leave out --with")
    if options["repeat"] == "auto":
        raise UserError("--repeat auto: --with needs a number", "such as --repeat 12")
    opened, text = open_workload(options["workload"], options["store"])
    store = store_directory(options["store"])
    places = Path(first).absolute(), Path(second).absolute()
    request = PlacesRequest(
        workload=opened,
        workload_text=text,
        settings=settings_of(options),
        machine=machine_named(options["machine"]),
        directories=places,
        store=store,
        command=["venturi", *sys.argv[1:]],
        rounds=parse_repeat(options["repeat"]) or ROUNDS,
        backgrounds=(reader_beside(store, places[0]), reader_beside(store, places[1])),
    )

    def say(line: str) -> None:
        if not options["quiet"]:
            click.echo(f" {line}", err=True)

    return compare_places(request, say)


def _show(found: Comparison, options: dict[str, Any]) -> int:
    """Write and print a comparison; the exit code that says what was found."""
    from venturi.api.compare import ComparisonView
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units

    output = options["output"]
    if output is not None:
        write_text(Path(output), _text(found, Path(output), options["units"]))
    if options["as_json"]:
        click.echo(found.to_json(indent=1))
    else:
        ComparisonView(found).draw(stdout_console(), Units(options["units"]))
    return _code_of(found, options["check"])


def _code_of(found: Comparison, is_gate: bool) -> int:
    """The exit code of a comparison; says what did not come to its end, which is not judged."""
    from venturi.api.compare import is_off
    from venturi.model.comparison import ComparisonSet

    runs = found.in_turn if isinstance(found, ComparisonSet) else None
    missing = found.incomplete if isinstance(found, ComparisonSet) else []
    if runs is not None and runs.ended:
        click.echo(f"venturi: {runs.ended}{_NOT_JUDGED if is_gate else ''}", err=True)
        kept = f"venturi results ls session:{runs.session}"
        click.echo(f"  what was measured is kept: {kept}", err=True)
        return ExitCode.INTERRUPTED if runs.interrupted else ExitCode.MEASUREMENT
    if is_gate and missing:
        click.echo(f"venturi: {'; '.join(missing)}{_NOT_JUDGED}", err=True)
        click.echo("  venturi campaign status FOLDER shows which", err=True)
        return ExitCode.MEASUREMENT
    return ExitCode.GATE if is_gate and is_off(found) else ExitCode.FINE


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
