"""What the commands of the field's tools share: their options, progress, and what is printed."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import machine_option, payload_option

if TYPE_CHECKING:
    from venturi.compat.perform import PlannedRun, RunContext, Watch
    from venturi.model.event import Event
    from venturi.model.record import Record
    from venturi.plan.make import PlanResult

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ToolCommand(HelpCommand):
    """A command whose tool has options of its own, which stand behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse our options; one that is not ours is probably the tool's."""
        path = ctx.command_path
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(
                f"{path} has no option {error.option_name}; {ctx.info_name}'s own options "
                f"stand behind `--`: {path} -- {error.option_name} ...",
                ctx,
            ) from None


def field_options(*formats: str, has_ranks: bool = True) -> Decorator:
    """Ranks, machine, what is shown; `formats` are the tool's own outputs.

    Without `has_ranks` the tool's own words say how many there are, and what they write.
    """
    ranks: list[Decorator] = [
        click.option(
            "-n",
            "--ranks",
            type=click.IntRange(min=1),
            metavar="N",
            default=1,
            help="Number of ranks.",
        ),
    ]
    options: list[Decorator] = [
        click.option(
            "-d",
            "--dir",
            "directory",
            metavar="DIR",
            help="Directory to use instead of the tool's own.",
        ),
        *(ranks if has_ranks else []),
        rare_option(
            "-N",
            "--nodes",
            type=click.IntRange(min=1),
            metavar="N",
            default=1,
            help="Number of nodes.",
        ),
        machine_option,
        *([payload_option] if has_ranks else []),
        click.option(
            "--output-format",
            type=click.Choice(formats),
            help="Print the tool's own output format.",
        ),
        click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it."),
        rare_option("-q", "--quiet", is_flag=True, help="Do not show progress."),
    ]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def run_context_of(target: Path, options: dict[str, Any]) -> RunContext:
    """Where a command line's runs happen."""
    from venturi.compat.perform import RunContext
    from venturi.execute.launcher import machine_named
    from venturi.store.place import store_directory

    return RunContext(
        target=target,
        store=store_directory(options["store"]),
        machine=machine_named(options["machine"]),
        nodes=options["nodes"],
        command=["venturi", *sys.argv[1:]],
    )


def with_payload_of(trials: list[PlannedRun], options: dict[str, Any]) -> list[PlannedRun]:
    """The trials with the data that the command asks for."""
    from dataclasses import replace

    from venturi.compat.payload import Payload, with_payload

    payload = Payload(options["payload"])
    return [replace(trial, workload=with_payload(trial.workload, payload)) for trial in trials]


def tell_validity(records: list[Record]) -> None:
    """What the tool's own form of output has no place for, on stderr."""
    from venturi.compat.validity import validity_lines

    for record in records:
        for line in validity_lines(record):
            click.echo(f"venturi: {line}", err=True)


def watch_of(options: dict[str, Any]) -> Watch:
    """Live progress on stderr, or none with --quiet."""
    from venturi.compat.perform import silent

    if options["quiet"]:
        return silent

    @contextlib.contextmanager
    def watch(made: PlanResult) -> Iterator[Callable[[Event], None]]:
        from venturi.report.live import LiveView, Setting
        from venturi.report.quantity import Units

        setting = Setting(
            made.plan.name,
            made.plan.repetitions,
            made.totals.bytes_by_phase,
            Units(options["units"]),
        )
        with LiveView(setting) as view:
            yield view.feed

    return watch


def show_plans(trials: list[PlannedRun], stage: RunContext, options: dict[str, Any]) -> int:
    """What the trials would do, without any I/O."""
    from venturi.compat.perform import planned
    from venturi.plan.summary import summary_of

    summaries = [summary_of(planned(trial, stage), stage.machine.bounds) for trial in trials]
    if options["as_json"]:
        click.echo(json.dumps(summaries[0] if len(summaries) == 1 else summaries, indent=1))
        return 0
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units
    from venturi.report.terminal import print_workload_plan

    for summary in summaries:
        print_workload_plan(summary, stdout_console(), Units(options["units"]))
    return 0


def show_records(records: list[Record], options: dict[str, Any]) -> None:
    """Our own result: the summaries, or with --json one document (a list of several records)."""
    if options["as_json"]:
        documents = [json.loads(record.to_json()) for record in records]
        click.echo(json.dumps(documents[0] if len(documents) == 1 else documents, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units
    from venturi.report.terminal import print_summary

    for record in records:
        print_summary(record, stdout_console(), Units(options["units"]))
