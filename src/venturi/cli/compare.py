"""`venturi compare`: two captures, or two runs of one workload, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from venturi.cli.option import is_capture, json_option, store_option, units_option

if TYPE_CHECKING:
    from venturi.model.card import FidelityCard
    from venturi.model.comparison import RunComparison


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("-o", "--output", metavar="FILE", help="Write the comparison there (JSON).")
@click.option("--check", is_flag=True, help="Exit with 4 where a field is off, or a rate is worse.")
@store_option
@json_option
@units_option
def command(
    first: str, second: str, output: str | None, check: bool, store: str | None, as_json: bool,
    units: str,
) -> int:  # fmt: skip
    """A and B side by side: two captures, or two runs of one workload.

    Captures (NAME.trace, Darshan logs, strace's output ...): how well B, a proxy, stands for A.
    Bytes, operations, request sizes, order, shares of the ranks and phases are judged, in total
    and for each kind of files; times stand beside. Where one has counters only, counters are
    compared. Runs (ids, @last, folders): the metrics of their phases with intervals.
    """
    from venturi.cli.option import write_text
    from venturi.model.error import ExitCode

    found = _compared(first, second, store)
    if output is not None:
        write_text(Path(output), found.to_json(indent=1) + "\n")
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        _print(found, units)
    return ExitCode.GATE if check and _is_off(found) else ExitCode.FINE


def _compared(first: str, second: str, store: str | None) -> FidelityCard | RunComparison:
    """The comparison of two of a kind; raises UserError where one is a capture and one a run."""
    from venturi.model.error import UserError

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
        from venturi.analyse.run_comparison import compared_runs
        from venturi.store.archive import find, load_record
        from venturi.store.place import store_directory

        place = store_directory(store)
        return compared_runs(*(load_record(find(place, name)) for name in (first, second)))
    from venturi.analyse.fidelity_card import fidelity
    from venturi.sources.open import read_capture

    both = [read_capture(Path(name)) for name in (first, second)]
    return fidelity(both[0], both[1], (Path(first).name, Path(second).name))


def _is_run(name: str, store: str | None) -> bool:
    from venturi.model.error import UserError
    from venturi.store.archive import find
    from venturi.store.place import store_directory

    try:
        find(store_directory(store), name)
    except UserError:
        return False
    return True


def _print(found: FidelityCard | RunComparison, units: str) -> None:
    from venturi.cli.console import stdout_console
    from venturi.model.card import FidelityCard
    from venturi.report.card import print_card
    from venturi.report.quantity import Units
    from venturi.report.run_comparison import print_run_comparison

    if isinstance(found, FidelityCard):
        print_card(found, stdout_console(), Units(units))
    else:
        print_run_comparison(found, stdout_console(), Units(units))


def _is_off(found: FidelityCard | RunComparison) -> bool:
    """Whether a field of a proxy is off, or a run surely is worse."""
    from venturi.model.card import FidelityCard, Match

    if isinstance(found, FidelityCard):
        return found.match is Match.OFF
    return any(row.is_worse for row in found.rows)
