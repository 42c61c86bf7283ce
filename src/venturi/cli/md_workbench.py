"""`venturi compat md-workbench -- ARGS`: md-workbench's command line, run by our engine."""

from __future__ import annotations

from pathlib import Path
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
    with_payload_of,
)
from venturi.cli.option import json_option, store_option, units_option


@click.command(cls=ToolCommand)
@field_options("md-workbench-text")
@store_option
@json_option
@units_option
@click.argument("arguments", nargs=-1)
def command(arguments: tuple[str, ...], **options: Any) -> int:
    """Run what md-workbench would do with ARGUMENTS.

    Options of venturi stand before `--`, md-workbench's behind it.
    docs/compatibility/md-workbench.md lists which of them are run, and why others are refused.

    \b
    Examples:
      venturi compat md-workbench -n 2 -- -o DIR
    """
    from dataclasses import replace
    from datetime import UTC, datetime

    from venturi.compat.ior_run import check_start
    from venturi.compat.md_workbench_file import at_position, outputs_after
    from venturi.compat.md_workbench_option import OPTIONS, read_arguments
    from venturi.compat.md_workbench_text import md_workbench_text
    from venturi.compat.md_workbench_workload import workbench_trial
    from venturi.compat.option import asks_for_help, option_list
    from venturi.compat.perform import exit_code_of, perform_trials
    from venturi.model.error import ExitCode

    check_start("md-workbench")
    if asks_for_help(arguments):
        click.echo(option_list("md-workbench", OPTIONS))
        return ExitCode.FINE
    asked_for = at_position(read_arguments(arguments))
    if options["directory"]:
        asked_for = replace(asked_for, directory=options["directory"])
    trials = with_payload_of([workbench_trial(asked_for, options["ranks"])], options)
    stage = run_context_of(Path(asked_for.directory).absolute(), options)
    if options["dry_run"]:
        return show_plans(trials, stage, options)
    records = perform_trials(trials, stage, watch_of(options))
    outputs_after(records[0], asked_for, stage.store)
    if options["output_format"]:
        text = md_workbench_text(records[0], asked_for, arguments, datetime.now(UTC))
        click.echo(text, nl=False)
        tell_validity(records)
    else:
        show_records(records, options)
    return exit_code_of(records)
