"""`venturi capture`: an application's I/O as a trace."""

from __future__ import annotations

from typing import Any

import click

from venturi.cli.option import units_option
from venturi.model.error import ExitCode


@click.command()
@click.option("-o", "--output", metavar="FOLDER", help="The trace (default: PROGRAM.trace here).")
@click.option("--counters", is_flag=True, help="Counters per file only, no single operations.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50_000_000,
    help="Operations per process (default: 50 million); later ones are only counted.",
)
@click.option("--only", multiple=True, metavar="GLOB", help="Files whose path matches, no others.")
@click.option("--skip", multiple=True, metavar="GLOB", help="No files whose path matches.")
@click.option("--all-paths", is_flag=True, help="Also system directories, pipes and sockets.")
@click.option(
    "--with",
    "tool",
    type=click.Choice(["tracer", "strace"]),
    default="tracer",
    help="strace sees static programs and io_uring, and makes I/O many times slower.",
)
@click.option("-q", "--quiet", is_flag=True, help="Nothing but errors.")
@units_option
@click.argument("command_line", nargs=-1, required=True, metavar="-- COMMAND...")
def command(command_line: tuple[str, ...], **options: Any) -> int:
    """Run COMMAND unchanged and record its I/O: venturi capture -- mpirun -n 4 ./app.

    COMMAND needs no change and no rights; its processes on this host, and on others that share
    this directory and its environment, are recorded together. Talk goes to standard error.
    """
    from venturi.capture.run import capture, capture_by_strace, place_for
    from venturi.capture.tracer import Settings

    folder = place_for(options["output"], command_line)
    settings = Settings(
        counters_only=options["counters"],
        limit=options["limit"],
        only=options["only"],
        skip=options["skip"],
        all_paths=options["all_paths"],
    )
    record = capture if options["tool"] == "tracer" else capture_by_strace
    outcome = record(command_line, folder, settings)
    if not options["quiet"]:
        from venturi.capture.summary import summary_of
        from venturi.cli.console import stderr_console
        from venturi.report.capture import print_capture
        from venturi.report.quantity import Units

        print_capture(summary_of(outcome), stderr_console(), Units(options["units"]))
    if outcome.finished.interrupted:
        return ExitCode.INTERRUPTED
    if outcome.finished.code != 0:
        click.echo(f"venturi: {outcome.finished.how}; what it did till then is kept", err=True)
        return ExitCode.MEASUREMENT
    return ExitCode.FINE
