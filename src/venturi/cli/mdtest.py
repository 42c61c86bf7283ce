"""`venturi mdtest -- ARGS`: mdtest's command line, run by our engine."""

from __future__ import annotations

from typing import Any

import click

from venturi.cli.field_tool import field_options, show_plans, show_records, stage_of, watch_of
from venturi.cli.option import json_option, store_option, units_option


@click.command()
@field_options("mdtest-text")
@click.option("--limit", metavar="TIME", help="End every measured phase after this time.")
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
      venturi mdtest -n 2 -- -n 1000 -d DIR
      venturi mdtest --output-format mdtest-text -- -n 1000 -F -d DIR
    """
    from dataclasses import replace
    from datetime import UTC, datetime

    from venturi.field.ior_run import check_start
    from venturi.field.mdtest_option import read_arguments
    from venturi.field.mdtest_output import outputs_after, seconds_of, status_items
    from venturi.field.mdtest_place import place_of
    from venturi.field.mdtest_text import mdtest_text
    from venturi.field.mdtest_workload import Asked, trials_of
    from venturi.field.perform import exit_code_of, perform_trials

    check_start("mdtest")
    asked_for = read_arguments(arguments)
    if options["directory"]:
        asked_for = replace(asked_for, directories=(options["directory"],))
    asked = Asked(options["ranks"], options["nodes"], seconds_of(limit), status_items(asked_for))
    trials = trials_of(asked_for, asked)
    stage = stage_of(place_of(asked_for.directories).target, options)
    if options["dry_run"]:
        return show_plans(trials, stage, options)
    records = perform_trials(trials, stage, watch_of(options))
    outputs_after(records, asked_for, stage.store)
    if options["output_format"]:
        click.echo(mdtest_text(records, asked_for, arguments, datetime.now(UTC)), nl=False)
    else:
        show_records(records, options)
    return exit_code_of(records, asked_for.warnings_are_errors)
