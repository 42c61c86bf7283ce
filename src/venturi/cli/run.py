"""`venturi run`: from a workload to a record."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from venturi.cli.option import (
    json_option,
    open_workload,
    settings_of,
    store_option,
    units_option,
    workload_options,
)
from venturi.model.error import ExitCode
from venturi.model.record import Level


@click.command()
@click.argument("workload")
@click.option("-d", "--dir", "directory", required=True, metavar="DIR", help="Where to do I/O.")
@workload_options
@store_option
@json_option
@units_option
@click.option(
    "--stonewall", type=float, metavar="S", help="io500: a writing phase goes on so long."
)
@click.option(
    "--mode", type=click.Choice(["standard", "extended", "quick"]), help="io500: which phases."
)
@click.option("--config", metavar="INI", help="io500: the official config.ini.")
@click.option("--binary", metavar="PATH", help="io500-official: the site's own io500 program.")
@click.option("--dry-run", is_flag=True, help="Print what would be done.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.option("-v", "--verbose", is_flag=True, help="Say more.")
def command(
    workload: str,
    directory: str,
    store: str | None,
    as_json: bool,
    units: str,
    stonewall: float | None,
    mode: str | None,
    config: str | None,
    binary: str | None,
    dry_run: bool,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> int:
    """Run WORKLOAD in a new directory of its own below DIR; live progress; a record.

    io500-official drives the site's own program instead, imports its result and packs it.
    """
    if workload == "io500-official" or binary is not None:
        from venturi.cli.official import Asked, run_official

        words = Asked(workload, directory, store, binary, config, stonewall, mode, dry_run)
        return run_official(words, options, as_json)
    from venturi.field.io500.arguments import Arguments, chosen

    asked = Arguments(stonewall, mode, Path(config) if config else None)
    io500 = chosen(workload, asked, options["ranks"], options["nodes"])
    options["assignments"] = io500.settled + options["assignments"]
    if dry_run:
        from venturi.cli.plan import command as plan_command

        wanted = {"workload": workload, "store": store, "as_json": as_json, "units": units}
        return int(click.get_current_context().invoke(plan_command, **wanted, **options))
    from venturi.execute.launcher import machine_named
    from venturi.field.io500.adapt import adapted
    from venturi.report.live import LiveView, Setting
    from venturi.report.quantity import Units
    from venturi.store.place import store_directory
    from venturi.store.run import Request, perform, prepare

    opened, text = adapted(*open_workload(workload, store), io500)
    request = Request(
        workload=opened,
        workload_text=text,
        settings=settings_of(options),
        machine=machine_named(options["machine"]),
        directory=Path(directory).absolute(),
        store=store_directory(store),
        command=["venturi", *sys.argv[1:]],
        warnings=tuple(io500.notes),
    )
    prepared = prepare(request)
    made = prepared.made
    setting = Setting(
        made.plan.name, made.plan.repetitions, made.totals.bytes_by_phase, Units(units)
    )
    with contextlib.nullcontext() if quiet else LiveView(setting) as view:
        record = perform(prepared, view.feed if view else lambda event: None)
    if as_json:
        click.echo(record.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.terminal import print_summary

        saved = str(request.store / "runs" / record.id) if verbose else None
        print_summary(record, stdout_console(), Units(units), saved)
    if record.interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.MEASUREMENT if record.verdict.level is Level.INVALID else ExitCode.FINE
