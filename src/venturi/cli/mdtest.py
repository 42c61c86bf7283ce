"""`venturi compat mdtest -- ARGS`: mdtest's command line, run by our engine."""

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
    with_payload_of,
)
from venturi.cli.help import rare_option
from venturi.cli.option import json_option, store_option, units_option


@click.command(cls=ToolCommand)
@field_options("mdtest-text")
@rare_option("--limit", metavar="TIME", help="Time limit of every measured phase.")
@store_option
@json_option
@units_option
@click.argument("arguments", nargs=-1)
def command(arguments: tuple[str, ...], limit: str | None, **options: Any) -> int:
    """Run what mdtest would do with ARGUMENTS.

    Options of venturi stand before `--`, mdtest's behind it. docs/compatibility/mdtest.md lists
    which of mdtest's options are run, and why the others are refused.

    \b
    Examples:
      venturi compat mdtest -n 2 -- -n 1000 -d DIR
      venturi compat mdtest --output-format mdtest-text -- -n 1000 -F -d DIR
    """
    from dataclasses import replace
    from datetime import UTC, datetime

    from venturi.compat.ior_run import check_start
    from venturi.compat.mdtest_option import OPTIONS, read_arguments
    from venturi.compat.mdtest_output import outputs_after, seconds_of, status_items
    from venturi.compat.mdtest_place import place_of
    from venturi.compat.mdtest_text import mdtest_text
    from venturi.compat.mdtest_workload import MdtestRunSettings, trials_of
    from venturi.compat.option import asks_for_help, option_list
    from venturi.compat.perform import exit_code_of, perform_trials
    from venturi.model.error import ExitCode

    check_start("mdtest")
    if asks_for_help(arguments):
        click.echo(option_list("mdtest", OPTIONS))
        return ExitCode.FINE
    asked_for = read_arguments(arguments)
    if options["directory"]:
        asked_for = replace(asked_for, directories=(options["directory"],))
    asked = MdtestRunSettings(
        options["ranks"], options["nodes"], seconds_of(limit), status_items(asked_for)
    )
    trials = with_payload_of(trials_of(asked_for, asked), options)
    stage = run_context_of(place_of(asked_for.directories).target, options)
    if options["dry_run"]:
        return show_plans(trials, stage, options)
    records = perform_trials(trials, stage, watch_of(options))
    outputs_after(records, asked_for, stage.store)
    if options["output_format"]:
        click.echo(mdtest_text(records, asked_for, arguments, datetime.now(UTC)), nl=False)
        tell_validity(records)
    else:
        show_records(records, options)
    return exit_code_of(records, asked_for.warnings_are_errors)
