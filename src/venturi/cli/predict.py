"""`venturi predict`: how long a workload's I/O takes, beside its application or on a machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from venturi.api.source import open_or_derive
from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    SCALES,
    budget_seconds,
    json_option,
    parse_assignments,
    refuse_over_input,
    store_option,
    tell_if_elsewhere,
    units_option,
    write_text,
)
from venturi.model.error import ExitCode, UserError

_OF_AGAINST = ("prepare", "directory", "repeat", "budget", "unlike", "no_baselines")
_OF_ON = ("assignments", "scale", "scale_ranks")


@click.command(cls=HelpCommand)
@click.argument("workload")
@click.option("--against", metavar="COMMAND", help="Shell command that runs the application.")
@rare_option("--beside", metavar="WORKLOAD", help="Workload to run instead of an application.")
@click.option("--on", "machine", metavar="MACHINE.yaml", help="Machine file with a profile.")
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of ranks of the workload.",
)
@click.option("--set", "assignments", metavar="NAME=VALUE", multiple=True, help="Set a parameter.")
@rare_option("--scale", type=click.Choice(SCALES), default="laptop", help="Named scale.")
@rare_option("--scale-ranks", is_flag=True, help="Extrapolate to more ranks than profiled.")
@click.option("-d", "--dir", "directory", metavar="DIR", help="Directory for the I/O.")
@rare_option(
    "--prepare",
    metavar="COMMAND",
    default="",
    help="Shell command that creates the input before each run.",
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    metavar="N",
    default=6,
    help="Minimum number of runs of each (default: 6).",
)
@rare_option(
    "--budget",
    default="60s",
    metavar="TIME",
    help="Time budget for additional runs if the errors vary (default: 60s).",
)
@rare_option(
    "--cache",
    type=click.Choice(["drop", "keep"]),
    help="Page cache before each run (--against: drop, i.e. flush and drop; --on: "
    "keep, so that staged input is cached).",
)
@rare_option("--unlike", is_flag=True, help="Continue even if both move different amounts of data.")
@rare_option("--no-baselines", is_flag=True, help="Skip the simpler baseline predictions.")
@click.option("-o", "--output", metavar="PATH", help="Output folder (--against) or file (--on).")
@rare_option(
    "--no-keep", is_flag=True, help="Do not keep the answer in the store (venturi site shows it)."
)
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@store_option
@json_option
@units_option
def command(
    workload: str,
    against: str | None,
    beside: str | None,
    machine: str | None,
    **options: Any,
) -> int:
    """Predict the I/O time of WORKLOAD, by running it next to its application or from a profile.

    With --against, WORKLOAD and the application COMMAND run in turn below DIR, and their times in
    I/O are compared; COMMAND runs in a fresh folder of its own ({dir} stands for its path).
    With --beside, another workload stands in the application's stead, run by our engine.
    With --on, nothing runs: the time of each phase is read from a machine's profile.
    WORKLOAD is a file, a name from the library, or a log or capture that it is derived from; with
    --on it may be a folder of these, which gives one table.

    \b
    Examples:
      venturi predict app.trace --against './app input' -d /scratch/me
      venturi predict flash3 --on machine.yaml --set interface=posix
    """
    if sum(form is not None for form in (against, beside, machine)) != 1:
        raise UserError(
            "one of --against, --beside and --on is needed",
            "--against 'COMMAND' -d DIR runs both here; --on MACHINE.yaml runs nothing "
            "(venturi profile DIR makes one)",
        )
    if machine is not None:
        _refuse(_OF_AGAINST, "--against")
        return _on_machine(workload, machine, options)
    _refuse(_OF_ON, "--on")
    if beside is not None:
        _refuse(("prepare",), "--against")
        _against(workload, f"venturi run {beside}", {**options, "beside": beside})
    else:
        assert against is not None
        _against(workload, against, options)
    return ExitCode.FINE


def _refuse(names: tuple[str, ...], form: str) -> None:
    """Raise UserError for an option that belongs to the other form of the command."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in names and given:
            raise UserError(f"{parameter.opts[-1]} belongs to {form}", "leave it out")


def _on_machine(workload: str, name: str, options: dict[str, Any]) -> int:
    """Print, and keep where asked, the forecast for a profiled machine, or those of a folder."""
    from venturi.execute.launcher import machine_named
    from venturi.model.forecast import Forecast
    from venturi.plan.make import make_plan
    from venturi.predict.cold import with_cold_input
    from venturi.predict.keep import keep_forecast
    from venturi.predict.of_folder import forecast_each, is_folder_of_workloads
    from venturi.predict.on_machine import forecast
    from venturi.report.forecast import print_forecast
    from venturi.report.forecasts import print_forecasts
    from venturi.report.quantity import Units

    refuse_over_input(options["output"], workload, name)
    machine = machine_named(name)
    settings = _settings_on(machine, options)

    is_cold = options["cache"] == "drop"

    def one(path: str) -> Forecast:
        opened, _ = open_or_derive(path, options["store"])
        opened = with_cold_input(opened) if is_cold else opened
        made = make_plan(opened, settings)
        answer = forecast(made, machine, opened.about, options["scale_ranks"])
        _keep(options, lambda store: keep_forecast(store, opened, made, machine, answer))
        return answer

    units = Units(options["units"])
    if not is_folder_of_workloads(Path(workload)):
        found = one(workload)
        _show(found, options, lambda console: print_forecast(found, console, units))
        return ExitCode.FINE
    every = forecast_each(Path(workload), machine, one, _sayer(options))
    _show(every, options, lambda console: print_forecasts(every, console, units))
    refused = sum(bool(row.refused) for row in every.rows)
    if not refused:
        return ExitCode.FINE
    click.echo(f"venturi: {refused} of {len(every.rows)} workloads have no forecast", err=True)
    return ExitCode.USAGE


def _keep(options: dict[str, Any], keep: Callable[[Path], Path]) -> None:
    """Keep an answer in the store, to be held to it later; what cannot be kept is said."""
    from venturi.store.place import store_directory

    if options["no_keep"]:
        return
    try:
        keep(store_directory(options["store"]))
    except UserError as error:
        click.echo(f"venturi: not kept for later: {error.message}", err=True)


def _settings_on(machine: Any, options: dict[str, Any]) -> Any:
    """The settings of a workload whose I/O time is read from a profile."""
    from venturi.plan.setting import RunSettings

    return RunSettings(
        ranks=options["ranks"],
        scale=options["scale"],
        assignments=parse_assignments(options["assignments"]),
        most_ranks=max(machine.most_ranks, 1 << 20 if options["scale_ranks"] else 0),
        server_memory_bytes=machine.server_memory_bytes,
    )


def _show(found: Any, options: dict[str, Any], draw: Callable[[Any], None]) -> None:
    """Keep a document where asked, and print it, as JSON or as `draw` does."""
    output = options["output"]
    if output is not None:
        write_text(Path(output), found.to_json(indent=1) + "\n")
    if options["as_json"]:
        click.echo(found.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console

    draw(stdout_console())
    if output is not None:
        click.echo(f" report  venturi report {output}")


def _sayer(options: dict[str, Any]) -> Callable[[str], None]:
    """What tells of progress, on standard error, unless that is not wanted."""

    def say(line: str) -> None:
        if not options["quiet"]:
            click.echo(f" {line}", err=True)

    return say


def _against(workload: str, against: str, options: dict[str, Any]) -> None:
    """Run application and proxy in turn, write the prediction's folder, print it."""
    from venturi.predict.against import Experiment, predict_against
    from venturi.predict.cache import CachePreparation
    from venturi.predict.folder import place_for, write_prediction
    from venturi.predict.keep import keep_prediction

    if not against.strip():
        raise UserError("--against needs a command", "such as --against 'python3 app.py'")
    if options["directory"] is None:
        raise UserError("--against needs -d DIR", "the directory where both do their I/O")
    opened, text = open_or_derive(workload, options["store"])
    beside = options.get("beside")
    output = options["output"]
    folder = place_for(output, opened.name)
    wanted = Experiment(
        workload=opened,
        text=text,
        command=against,
        directory=Path(options["directory"]).absolute(),
        prepare=options["prepare"],
        ranks=options["ranks"],
        rounds=options["repeat"],
        budget_s=budget_seconds(options["budget"], may_be_none=True),
        cache=CachePreparation(options["cache"] or "drop"),
        unlike=options["unlike"],
        baselines=not options["no_baselines"],
        typed=("venturi", *sys.argv[1:]),
        beside=None if beside is None else open_or_derive(beside, options["store"]),
    )
    prediction = predict_against(wanted, _sayer(options))
    saved = tell_if_elsewhere(folder, write_prediction(folder, prediction))
    _keep(options, lambda store: keep_prediction(store, prediction))
    if options["as_json"]:
        click.echo(prediction.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.prediction import print_prediction
    from venturi.report.quantity import Units

    print_prediction(prediction, stdout_console(), Units(options["units"]))
    click.echo(f" report  venturi report {saved}")
