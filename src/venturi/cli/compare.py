"""`venturi compare`: two captures, or two runs of one workload, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from venturi.cli.option import is_capture, json_option, store_option, units_option

if TYPE_CHECKING:
    from venturi.model.comparison import ComparisonSet, RunComparison
    from venturi.model.fidelity_report import FidelityReport

    Comparison = FidelityReport | RunComparison | ComparisonSet


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
    from venturi.cli.option import refuse_over_input, write_text
    from venturi.model.error import ExitCode

    refuse_over_input(output, first, second)
    found = _compared(first, second, store)
    if output is not None:
        write_text(Path(output), _text(found, Path(output), units))
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        _print(found, units)
    return ExitCode.GATE if check and _is_off(found) else ExitCode.FINE


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


def _compared(first: str, second: str, store: str | None) -> Comparison:
    """The comparison of two of a kind; raises UserError where one is a capture and one a run."""
    from venturi.model.error import UserError

    if is_capture(first) and Path(second).suffix in (".yaml", ".yml") and Path(second).is_file():
        return _compared_with_plan(Path(first), Path(second))
    captures = [name for name in (first, second) if is_capture(name)]
    if len(captures) == 1:
        run = second if captures == [first] else first
        if not _is_run(run, store):
            raise UserError(
                f"'{run}' is neither a capture nor a run", "see venturi results ls for the runs"
            )
        raise UserError(
            f"'{captures[0]}' is a capture of an application and '{run}' is the record of a run: "
            "they do not hold the same figures",
            "capture the run too: venturi derive LOG --check -d DIR, or venturi capture",
        )
    if not captures:
        return _compared_runs(first, second, store)
    from venturi.analyse.fidelity_report import fidelity
    from venturi.sources.open import read_capture

    both = [read_capture(Path(name)) for name in (first, second)]
    return fidelity(both[0], both[1], (Path(first).name, Path(second).name))


def _compared_with_plan(capture: Path, workload: Path) -> Comparison:
    from venturi.analyse.planned_fidelity import planned_fidelity
    from venturi.model.workload import Workload
    from venturi.model.yaml_text import load_yaml
    from venturi.sources.open import read_capture

    proxy = load_yaml(workload, Workload)
    return planned_fidelity(read_capture(capture), proxy, (capture.name, workload.name))


def _compared_runs(first: str, second: str, store: str | None) -> Comparison:
    """Two runs of ours in every detail; other runs, and sets of them, by their results."""
    from venturi.analyse.run_comparison import compared_runs
    from venturi.analyse.set_comparison import compared_sets
    from venturi.store.archive import find, has_record, is_choice, load_record, results
    from venturi.store.place import store_directory
    from venturi.store.result import load_result

    place = store_directory(store)
    names = (first, second)
    if not any(is_choice(name) for name in names):
        folders = [find(place, name) for name in names]
        if all(has_record(folder) for folder in folders):
            one, other = (load_record(folder) for folder in folders)
            return compared_runs(one, other)
        both = [[load_result(folder)] for folder in folders]
    else:
        both = [
            results(place, name) if is_choice(name) else [load_result(find(place, name))]
            for name in names
        ]
    return compared_sets(both[0], both[1], names)


def _is_run(name: str, store: str | None) -> bool:
    from venturi.model.error import UserError
    from venturi.store.archive import find
    from venturi.store.place import store_directory

    try:
        find(store_directory(store), name)
    except UserError:
        return False
    return True


def _print(found: Comparison, units: str) -> None:
    from venturi.cli.console import stdout_console
    from venturi.model.comparison import ComparisonSet
    from venturi.model.fidelity_report import FidelityReport
    from venturi.report.fidelity_report import print_fidelity_report
    from venturi.report.quantity import Units
    from venturi.report.run_comparison import print_run_comparison, print_set_comparison

    if isinstance(found, FidelityReport):
        print_fidelity_report(found, stdout_console(), Units(units))
    elif isinstance(found, ComparisonSet):
        print_set_comparison(found, stdout_console(), Units(units))
    else:
        print_run_comparison(found, stdout_console(), Units(units))


def _is_off(found: Comparison) -> bool:
    """Whether a field of a proxy is off, or a metric of a run is significantly worse."""
    from venturi.model.comparison import ComparisonSet
    from venturi.model.fidelity_report import FidelityReport, Match

    if isinstance(found, FidelityReport):
        return found.match is Match.OFF
    parts = found.parts if isinstance(found, ComparisonSet) else [found]
    return any(row.is_worse for part in parts for row in part.rows)
