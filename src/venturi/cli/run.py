"""`venturi run`: from a workload to a record."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.api.source import open_workload
from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    aim_of,
    json_option,
    settings_of,
    store_option,
    units_option,
    until_options,
    workload_options,
)
from venturi.model.error import ExitCode, UserError
from venturi.model.record import Level

if TYPE_CHECKING:
    from venturi.compat.io500.ini import Chosen
    from venturi.model.record import Record
    from venturi.model.workload import Workload
    from venturi.store.run import Request


@click.command(cls=HelpCommand)
@click.argument("workload")
@click.option(
    "-d", "--dir", "directory", required=True, metavar="DIR", help="Directory for the I/O."
)
@workload_options
@until_options
@store_option
@json_option
@units_option
@rare_option(
    "--stonewall",
    type=float,
    metavar="S",
    help="io500: stonewall time of each write phase, in seconds.",
)
@rare_option(
    "--mode",
    type=click.Choice(["standard", "extended", "extended-2021", "quick"]),
    help="io500: the set of phases to run.",
)
@rare_option("--config", metavar="INI", help="io500: the official config.ini.")
@rare_option("--binary", metavar="PATH", help="io500-official: the site's own io500 program.")
@rare_option(
    "--prepare",
    metavar="SCRIPT",
    help="io500-official: script that sets up the directories (striping).",
)
@rare_option(
    "--at-least",
    metavar="METRIC=VALUE",
    multiple=True,
    help="Threshold: exit with 4 if the metric is below it.",
)
@rare_option(
    "--at-most",
    metavar="METRIC=VALUE",
    multiple=True,
    help="Threshold: exit with 4 if the metric is above it.",
)
@click.option(
    "--vary",
    "varied",
    metavar="NAME=A,B,C",
    multiple=True,
    help="Run every combination of these values.",
)
@rare_option("--time", metavar="TIME", help="--vary: time limit of one run (default: 1h).")
@rare_option(
    "-o", "--output", metavar="FOLDER", help="--vary: output folder (default: NAME.campaign)."
)
@click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it.")
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@rare_option("-v", "--verbose", is_flag=True, help="Print more details.")
def command(workload: str, directory: str, as_json: bool, **options: Any) -> int:
    """Run WORKLOAD in a new directory of its own below DIR; live progress; a record.

    With --vary it runs at every combination of the values, repetitions interleaved: a record each,
    and one table at the end. io500-official drives the site's own program instead, imports its
    result and packs it.

    \b
    Examples:
      venturi run quick -d /scratch/me
      venturi run ior -d /scratch/me -n 4 --on openmpi --set transfer="1 MiB"
      venturi run ior -d /scratch/me --vary transfer="64 KiB,1 MiB" -n 4
    """
    if options["varied"]:
        from venturi.cli.vary import run_varied

        _refuse_gates(options)
        return run_varied(workload, directory, {**options, "as_json": as_json})
    if options["time"] is not None:
        raise UserError("--time belongs to --vary", "a workload's 'deadline' ends a single run")
    if options["output"] is not None:
        raise UserError("-o belongs to --vary", "venturi report RUN -o FILE writes a page")
    if workload == "io500-official" or options["binary"] is not None:
        from venturi.cli.official import OfficialRunOptions, run_official

        _refuse_gates(options)
        names = ("store", "binary", "config", "stonewall", "mode", "dry_run", "prepare")
        words = OfficialRunOptions(workload, directory, *(options[name] for name in names))
        return run_official(words, options, as_json)
    if options["prepare"] is not None:
        raise UserError("--prepare belongs to io500-official", "set up the directory before")
    from venturi.compat.io500.arguments import Io500Arguments, chosen

    config = Path(options["config"]) if options["config"] else None
    asked = Io500Arguments(options["stonewall"], options["mode"], config)
    io500 = chosen(workload, asked, options["ranks"], options["nodes"])
    options["assignments"] = io500.settled + options["assignments"]
    if options["dry_run"]:
        return _plan(workload, io500, as_json, options)
    from venturi.compat.io500.adapt import adapted
    from venturi.compat.io500.arguments import refuse_obstacles
    from venturi.execute.launcher import machine_named
    from venturi.probe.background import reader_beside
    from venturi.store.place import store_directory
    from venturi.store.run import Request

    refuse_obstacles(io500, config)
    opened, text = adapted(*open_workload(workload, options["store"]), io500)
    opened = _gated(opened, options)
    request = Request(
        workload=opened,
        workload_text=text,
        settings=settings_of(options),
        machine=machine_named(options["machine"]),
        directory=Path(directory).absolute(),
        store=store_directory(options["store"]),
        command=["venturi", *sys.argv[1:]],
        warnings=tuple(io500.notes),
        aim=aim_of(options),
        background=reader_beside(store_directory(options["store"]), Path(directory)),
    )
    return _report(_perform(request, options), request.store, as_json, options)


def _refuse_gates(options: dict[str, Any]) -> None:
    """Raise UserError for thresholds where no single run of our engine is judged."""
    if options["at_least"] or options["at_most"]:
        raise UserError(
            "--at-least and --at-most belong to a single run of a workload",
            "a workload or a campaign's step has 'thresholds'",
        )


def _gated(workload: Workload, options: dict[str, Any]) -> Workload:
    """The workload with the thresholds of the command line in place of its own."""
    from venturi.model.verdict import Threshold

    found: dict[str, dict[str, str]] = {}
    for key in ("at_least", "at_most"):
        for text in options[key]:
            name, equals, value = text.partition("=")
            if not equals or not name or not value:
                option = f"--{key.replace('_', '-')}"
                raise UserError(
                    f"{option} {text}: this is not METRIC=VALUE", f"{option} write='1 GB/s'"
                )
            if key in found.setdefault(name, {}):
                raise UserError(f"--{key.replace('_', '-')} {name} stands twice", "keep one")
            found[name][key] = value
    own = {name: Threshold.model_validate(limits) for name, limits in found.items()}
    return workload.model_copy(update={"thresholds": {**workload.thresholds, **own}})


def _plan(workload: str, io500: Chosen, as_json: bool, options: dict[str, Any]) -> int:
    """The plan in place of a run, with what an ini asks for and why it could not run."""
    from venturi.cli.plan import is_own, show_plan
    from venturi.compat.io500.adapt import adapted
    from venturi.execute.launcher import check_nodes, machine_named

    for note in io500.notes:
        click.echo(f"note: {note}", err=True)
    for obstacle in io500.obstacles:
        click.echo(f"cannot run here: {obstacle}", err=True)
    machine = machine_named(options["machine"])
    check_nodes(machine, options["nodes"])
    opened, _ = adapted(*open_workload(workload, options["store"]), io500)
    words = {**options, "as_json": as_json, "is_own": is_own(workload)}
    return show_plan(_gated(opened, options), machine, machine.most_ranks, words)


def _perform(request: Request, options: dict[str, Any]) -> Record:
    """Does a run, with live progress unless it is to be quiet."""
    from venturi.report.live import LiveView, Setting
    from venturi.report.quantity import Units
    from venturi.store.run import perform, prepare

    prepared = prepare(request)
    made = prepared.made
    setting = Setting(
        made.plan.name,
        made.plan.repetitions,
        made.totals.bytes_by_phase,
        Units(options["units"]),
        is_open=request.aim is not None,
    )
    with contextlib.nullcontext() if options["quiet"] else LiveView(setting) as view:
        return perform(prepared, view.feed if view else lambda event: None)


def _report(record: Record, store: Path, as_json: bool, options: dict[str, Any]) -> int:
    """Prints a record; the exit code that says what it is worth."""
    if as_json:
        click.echo(record.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.quantity import Units
        from venturi.report.terminal import print_summary

        saved = str(store / "runs" / record.id) if options["verbose"] else None
        print_summary(record, stdout_console(), Units(options["units"]), saved)
        if options.get("mode") == "quick":
            from venturi.compat.io500.quick import error_in_words
            from venturi.report.printer import Printer
            from venturi.store.archive import results
            from venturi.store.result import result_of

            kept = results(store, f"name:{record.name}")
            Printer(stdout_console()).wrapped("", error_in_words(result_of(record), kept))
    if record.interrupted:
        return ExitCode.INTERRUPTED
    if record.verdict.level is Level.INVALID:
        return ExitCode.MEASUREMENT
    return ExitCode.GATE if record.verdict.failed_thresholds else ExitCode.FINE
