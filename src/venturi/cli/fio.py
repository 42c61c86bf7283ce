"""`venturi compat fio -- ARGS`: fio's job files and command line, run by our engine."""

from __future__ import annotations

from typing import Any

import click

from venturi.cli.field_tool import (
    ToolCommand,
    field_options,
    run_context_of,
    show_plans,
    show_records,
    tell_validity,
    watch_of,
)
from venturi.cli.help import rare_option
from venturi.cli.option import json_option, store_option, units_option


@click.command(cls=ToolCommand)
@field_options("fio-json", has_ranks=False)
@rare_option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    metavar="N",
    help="Seed of jobs with randrepeat=0 (default: another one in each run).",
)
@store_option
@json_option
@units_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- ARGS")
def command(arguments: tuple[str, ...], **options: Any) -> int:
    """Run fio's job files, or jobs given by its options, with our engine.

    Options of venturi stand before `--`, fio's behind it. docs/compatibility/fio.md lists which
    of fio's options are run, and why the others are refused.

    \b
    Examples:
      venturi compat fio -- JOBFILE
      venturi compat fio -- --name=a --rw=randread --size=1g --directory=DIR
    """
    from venturi.compat.fio_command import read_command
    from venturi.compat.fio_json import fio_json, hand_out
    from venturi.compat.fio_option import fio_option_list
    from venturi.compat.fio_place import can_reserve
    from venturi.compat.fio_workload import fio_run
    from venturi.compat.ior_run import check_start
    from venturi.compat.option import asks_for_help
    from venturi.compat.perform import exit_code_of, perform_trials
    from venturi.model.error import ExitCode

    check_start("fio")
    if asks_for_help(arguments):
        click.echo(fio_option_list())
        return ExitCode.FINE
    asked_for = read_command(arguments)
    only_planned = options["dry_run"] or asked_for.plan_only
    reserves = (lambda target: True) if only_planned else can_reserve
    run = fio_run(asked_for, options["directory"], options["seed"], reserves)
    stage = run_context_of(run.directory, options)
    if only_planned:
        return show_plans([run.trial], stage, options)
    records = perform_trials([run.trial], stage, watch_of(options))
    if asked_for.as_json or options["output_format"]:
        hand_out(fio_json(records[0], run.jobs), asked_for.output)
        tell_validity(records)
    else:
        show_records(records, options)
    return exit_code_of(records)
