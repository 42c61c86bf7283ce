"""`venturi compat ior -- ARGS`: IOR's command line, run by our engine."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.field_tool import ToolCommand
from venturi.cli.help import rare_option
from venturi.cli.option import (
    json_option,
    machine_option,
    payload_option,
    seed_option,
    store_option,
    units_option,
)
from venturi.model.error import ExitCode, VenturiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from venturi.compat.ior_print import SummaryFormat
    from venturi.compat.ior_result import IorRun
    from venturi.compat.ior_run import Choices, Ready
    from venturi.compat.ior_test import IorTest
    from venturi.model.event import Event
    from venturi.plan.make import PlanResult


@click.command(cls=ToolCommand)
@click.option(
    "-d", "--dir", "directory", metavar="DIR", help="Directory to use instead of that of -o."
)
@click.option(
    "-n", "--ranks", type=click.IntRange(min=1), metavar="N", help="Number of ranks (default: 1)."
)
@rare_option(
    "-N", "--nodes", type=click.IntRange(min=1), metavar="N", default=1, help="Number of nodes."
)
@machine_option
@seed_option
@payload_option
@click.option(
    "--output-format",
    "form",
    type=click.Choice(["ior-text", "ior-json", "ior-csv"]),
    help="Print IOR's own output format instead of Venturi's.",
)
@store_option
@json_option
@units_option
@click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it.")
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- ARGS")
def command(arguments: tuple[str, ...], form: str | None, dry_run: bool, **options: Any) -> int:
    """Run IOR's options or script (-f FILE) with our engine; each test is a run.

    Options of venturi stand before `--`, IOR's behind it. docs/compatibility/ior.md lists which
    of IOR's options are run, and why the others are refused.

    \b
    Examples:
      venturi compat ior -n 4 -- -w -r -t 1m -b 64m -o DIR/file
      venturi compat ior --output-format ior-json -- -f script
    """
    from venturi.compat.ior_key import OPTIONS
    from venturi.compat.ior_run import check_start, make_ready
    from venturi.compat.ior_script import read_command_line
    from venturi.compat.option import asks_for_help, option_list

    check_start()
    if asks_for_help(arguments):
        click.echo(option_list("ior", OPTIONS))
        return ExitCode.FINE
    tests = read_command_line(arguments)
    choices = _choices(arguments, options)
    if dry_run or tests[0].dry_run:
        return _plan([make_ready(test, choices) for test in tests], options)
    return _run(tests, choices, form, options)


def _choices(arguments: Sequence[str], options: dict[str, Any]) -> Choices:
    from venturi.compat.ior_run import Choices
    from venturi.compat.payload import Payload
    from venturi.execute.launcher import machine_named
    from venturi.store.place import store_directory

    return Choices(
        machine=machine_named(options["machine"]),
        store=store_directory(options["store"]),
        command=["venturi", *sys.argv[1:]],
        arguments=["ior", *arguments],
        directory=options["directory"],
        ranks=options["ranks"],
        nodes=options["nodes"],
        seed=options["seed"],
        payload=Payload(options["payload"]),
    )


def _plan(tests: Sequence[Ready], options: dict[str, Any]) -> int:
    from venturi.compat.ior_run import plan_of
    from venturi.plan.summary import summary_of

    found = [summary_of(plan_of(ready)) for ready in tests]
    if options["as_json"]:
        click.echo(json.dumps(found[0] if len(found) == 1 else found, indent=1))
        return ExitCode.FINE
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units
    from venturi.report.terminal import print_workload_plan

    for summary in found:
        print_workload_plan(summary, stdout_console(), Units(options["units"]))
    return ExitCode.FINE


def _run(
    tests: Sequence[IorTest], choices: Choices, wanted: str | None, options: dict[str, Any]
) -> int:
    """Run the tests; what was measured is printed, also if a later one fails."""
    from venturi.compat.ior_print import form_of
    from venturi.compat.ior_run import complaints, exit_code, make_ready, run_test

    form = form_of(tests[-1], wanted)
    runs: list[IorRun] = []
    failure: VenturiError | None = None
    with contextlib.ExitStack() as stack:
        for test in tests:
            try:
                ready = make_ready(test, choices)
                runs.append(run_test(ready, choices, _watcher(stack, options)))
            except VenturiError as error:
                failure = error
                break
            finally:
                stack.close()
            if runs[-1].record.interrupted:
                break
    _print(runs, form, tests[-1], choices, failure, options)
    for run in runs:
        for line in complaints(run, shown=form is None and not options["as_json"]):
            click.echo(f"venturi: {line}", err=True)
    if failure is not None:
        raise failure
    return max((exit_code(run) for run in runs), default=ExitCode.FINE)


def _watcher(
    stack: contextlib.ExitStack, options: dict[str, Any]
) -> Callable[[PlanResult], Callable[[Event], None]]:
    def watch(made: PlanResult) -> Callable[[Event], None]:
        from venturi.report.live import LiveView, Setting
        from venturi.report.quantity import Units

        if options["quiet"]:
            return lambda event: None
        setting = Setting(
            made.plan.name,
            made.plan.repetitions,
            made.totals.bytes_by_phase,
            Units(options["units"]),
        )
        return stack.enter_context(LiveView(setting)).feed

    return watch


def _print(
    runs: Sequence[IorRun],
    form: SummaryFormat | None,
    test: IorTest,
    choices: Choices,
    failure: VenturiError | None,
    options: dict[str, Any],
) -> None:
    from venturi.compat.ior_print import render, write_rank_details, write_summary

    write_rank_details(runs)
    if form is not None:
        text = render(form, runs, choices.arguments, failure.message if failure else "")
        line = write_summary(test, text) if test.summary_file and text else text.rstrip("\n")
        if line and not options["as_json"]:
            click.echo(line)
    if options["as_json"] and runs:
        records = [json.loads(run.record.to_json()) for run in runs]
        click.echo(json.dumps(records[0] if len(records) == 1 else records, indent=1))
    elif form is None and runs:
        from venturi.cli.console import stdout_console
        from venturi.report.quantity import Units
        from venturi.report.terminal import print_summary

        for run in runs:
            print_summary(run.record, stdout_console(), Units(options["units"]), None)
