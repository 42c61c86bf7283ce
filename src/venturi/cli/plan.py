"""`venturi plan`: what a workload will do, without doing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.api.source import open_workload
from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    json_option,
    settings_of,
    store_option,
    units_option,
    workload_options,
)
from venturi.model.error import ExitCode, UserError

if TYPE_CHECKING:
    from venturi.model.machine import Machine
    from venturi.model.workload import Workload

_MOST_RANKS = 1_000_000


@click.command(cls=HelpCommand)
@click.argument("workload")
@workload_options
@store_option
@json_option
@units_option
@click.option(
    "--vary",
    "varied",
    metavar="NAME=A,B,C",
    multiple=True,
    help="Plan every combination of these values.",
)
@rare_option(
    "--requests",
    "requests_of",
    metavar="RANK",
    type=click.IntRange(0),
    help="Print every operation of this rank instead, one a line.",
)
def command(
    workload: str,
    store: str | None,
    as_json: bool,
    units: str,
    requests_of: int | None,
    **options: Any,
) -> int:
    """Show totals, files, operations and time of WORKLOAD, without any I/O.

    With --vary: the bytes written and read for every combination of the values. With --requests:
    phase, operation, offset, bytes and path of each operation of one rank in its first repetition,
    separated by tabs.

    \b
    Examples:
      venturi plan flash3 --scale paper
      venturi plan own.yaml -n 64 --set part="1 GiB"
      venturi plan ior -n 4 --requests 2
    """
    if options.get("varied"):
        if requests_of is not None:
            raise UserError("--requests follows one workload, and --vary makes several", "drop one")
        from venturi.cli.vary import plan_varied

        return plan_varied(
            workload, {**options, "store": store, "as_json": as_json, "units": units}
        )
    from venturi.execute.launcher import machine_named

    opened, _ = open_workload(workload, store)
    machine = machine_named(options["machine"])
    # What is only planned may be for another machine.
    most_ranks = max(machine.most_ranks, _MOST_RANKS)
    if requests_of is not None:
        return _show_requests(opened, requests_of, most_ranks, {**options, "as_json": as_json})
    words = {**options, "as_json": as_json, "units": units, "is_own": is_own(workload)}
    return show_plan(opened, machine, most_ranks, words)


def is_own(workload: str) -> bool:
    """Whether a workload is a file; those that ship and those of runs were looked through."""
    return Path(workload).is_file()


def _show_requests(workload: Workload, rank: int, most_ranks: int, options: dict[str, Any]) -> int:
    """Print what one rank does, line by line as it is worked out."""
    from dataclasses import replace

    from venturi.cli.requests import print_as_json, print_as_lines
    from venturi.plan.make import make_plan
    from venturi.plan.stream import RequestStream

    settings = replace(settings_of(options), most_ranks=most_ranks)
    stream = RequestStream(make_plan(workload, settings).plan, rank, nodes=settings.nodes)
    if options["as_json"]:
        print_as_json(rank, stream.operations())
    else:
        print_as_lines(stream.operations())
    return ExitCode.FINE


def show_plan(
    workload: Workload, machine: Machine, most_ranks: int, options: dict[str, Any]
) -> int:
    """Print what a workload will do; the exit code says whether its promises hold."""
    from dataclasses import replace

    from venturi.analyse.metric import check_metrics
    from venturi.plan.effect import keys_without_effect
    from venturi.plan.make import make_plan
    from venturi.plan.summary import summary_of
    from venturi.report.one_line import OneLine

    settings = replace(settings_of(options), most_ranks=most_ranks)
    line = OneLine()

    def watch(group: str, rank: int, ranks: int) -> None:
        if line.is_late:
            line.show(f" {line.spent}   {group}: {rank} of {ranks} ranks counted")

    def watch_keys(place: str) -> None:
        if line.is_late:
            line.show(f" {line.spent}   effect of {place}")

    idle = []
    try:
        made = make_plan(workload, settings, watch)
        if options["is_own"]:
            idle = keys_without_effect(workload, settings, watch_keys)
    finally:
        if line.is_late:
            line.close()
    check_metrics(workload, made.totals.phases, made.totals.bytes_by_phase)
    summary = summary_of(made, machine.bounds)
    summary["warnings"] += [f"{place}: has no effect" for place in idle]
    if options["as_json"]:
        click.echo(json.dumps(summary, indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.quantity import Units
        from venturi.report.terminal import print_workload_plan

        print_workload_plan(summary, stdout_console(), Units(options["units"]))
    broken = not all(expectation.holds for expectation in made.expectations)
    return ExitCode.USAGE if broken else ExitCode.FINE
