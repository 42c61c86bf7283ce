"""`venturi capture`: an application's I/O as a trace."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import json_option, units_option

if TYPE_CHECKING:
    from venturi.capture.run import CaptureOutcome

_STDERR = 2
_OF_CAPTURES = ("counters", "only", "skip", "all_paths", "spool")


@click.command(cls=HelpCommand)
@click.option("-o", "--output", metavar="FOLDER", help="Trace folder (default: ./PROGRAM.trace).")
@rare_option("--counters", is_flag=True, help="Record counters per file, no single operations.")
@rare_option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=50_000_000,
    help="Operations recorded per process (default: 50 million); later ones are only counted.",
)
@click.option("--only", multiple=True, metavar="GLOB", help="Record only files whose path matches.")
@click.option("--skip", multiple=True, metavar="GLOB", help="Exclude files whose path matches.")
@rare_option("--all-paths", is_flag=True, help="Include system directories, pipes and sockets.")
@rare_option(
    "--with",
    "tool",
    type=click.Choice(["tracer", "strace"]),
    default="tracer",
    help="strace also records static programs and raw system calls; I/O is many times slower.",
)
@rare_option(
    "--spool",
    metavar="DIR",
    help="Directory for the records of the processes (default: next to -o).",
)
@rare_option("--recover", metavar="FOLDER", help="Recover the trace of a killed capture.")
@rare_option("-q", "--quiet", is_flag=True, help="Print errors only.")
@json_option
@units_option
@click.argument("command_line", nargs=-1, metavar="-- COMMAND...")
def command(command_line: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND unchanged and record its I/O.

    COMMAND needs no change and no rights; its processes on this host, and on others that share
    this directory and its environment, are recorded together. Talk goes to standard error; with
    --json also what COMMAND says on standard output. The exit code is COMMAND's own, 128 and
    the signal's number where one ended it.

    \b
    Examples:
      venturi capture -- mpirun -n 4 ./app input
      venturi capture -o app.trace --skip "/tmp/*" -- ./app input
    """
    if bool(command_line) == bool(options["recover"]):
        raise click.UsageError("give either a COMMAND or --recover FOLDER")
    chosen = [name for name in _OF_CAPTURES if options[name]]
    if options["recover"] and chosen:
        word = chosen[0].replace("_", "-")
        raise click.UsageError(f"--{word}: the capture that was killed has chosen what is recorded")
    outcome = _recovered(options) if options["recover"] else _captured(command_line, options)
    _show(outcome, options)
    if outcome.finished.code:
        click.echo(f"venturi: {outcome.finished.how}; what it did till then is kept", err=True)
    return outcome.finished.shell_code


def _recovered(options: dict[str, Any]) -> CaptureOutcome:
    from venturi.capture.run import recover

    return recover(Path(options["recover"]), options["output"])


def _captured(command_line: tuple[str, ...], options: dict[str, Any]) -> CaptureOutcome:
    from venturi.capture.run import CaptureContext, capture, capture_by_strace, place_for
    from venturi.capture.spool import left_behind
    from venturi.capture.tracer import TracerSettings
    from venturi.capture.untraced import warning_before

    folder = place_for(options["output"], command_line)
    spool = Path(options["spool"]).absolute() if options["spool"] else None
    settings = TracerSettings(
        counters_only=options["counters"],
        limit=options["limit"],
        only=options["only"],
        skip=options["skip"],
        all_paths=options["all_paths"],
    )
    if not options["quiet"]:
        for left in left_behind(spool or folder.parent):
            text = "venturi: an earlier capture was killed: venturi capture --recover"
            click.echo(f"{text} {shlex.quote(os.path.relpath(left))}", err=True)
        warning = None if options["tool"] == "strace" else warning_before(command_line[0])
        if warning is not None:
            click.echo(f"venturi: {warning}", err=True)
    record = capture if options["tool"] == "tracer" else capture_by_strace
    around = CaptureContext(spool, _STDERR if options["as_json"] else None)
    return record(command_line, folder, settings, around)


def _show(outcome: CaptureOutcome, options: dict[str, Any]) -> None:
    """What was captured: as JSON on standard output, or for a person on standard error."""
    from venturi.capture.summary import summary_of

    if options["as_json"]:
        click.echo(json.dumps(summary_of(outcome), indent=1))
    elif not options["quiet"]:
        from venturi.cli.console import stderr_console
        from venturi.report.capture import print_capture
        from venturi.report.quantity import Units

        print_capture(summary_of(outcome), stderr_console(), Units(options["units"]))
    elif outcome.elsewhere is not None:
        click.echo(f"venturi: {outcome.elsewhere}", err=True)
