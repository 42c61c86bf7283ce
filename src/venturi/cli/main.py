"""The command `venturi`: finds the command's file, and prints errors in one place."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import Any

import click

from venturi import __version__
from venturi.cli.help import SHOWS_ALL, help_all
from venturi.model.error import ExitCode, VenturiError

GROUPS = {
    "Measure storage": {
        "doctor": "Check a directory and this host: file system, MPI, interfaces.",
        "run": "Run a workload in a directory and store a record.",
        "compare": "Compare runs, captures, or two directories.",
        "report": "Write a report: HTML (one offline file), md, json, csv.",
        "library": "List and show the workloads that ship with Venturi.",
        "plan": "Show totals and operations of a workload, without any I/O.",
        "compat": "Run the command line of IOR, mdtest, md-workbench or fio.",
    },
    "Understand an application": {
        "capture": "Run an unmodified application and record its I/O.",
        "derive": "Derive a proxy workload from a log, with findings on its I/O.",
        "predict": "Predict I/O time from a proxy or a machine's profile.",
        "tune": "Change one thing at a time, measure, and rank the gains.",
        "anonymise": "Replace the names in a capture, to hand it to others.",
    },
    "Watch a machine": {
        "profile": "Measure a machine once, for predictions without running.",
        "build-engine": "Build the engine for an MPI of this machine.",
        "health": "Check memory, arithmetic, messages, links and the node.",
        "probe": "Measure the latency that users feel, each second, for months.",
    },
    "Keep many results": {
        "campaign": "Run a parameter space, here or under a scheduler.",
        "results": "List, tag, verify, share and import results.",
        "site": "Build pages of everything that was measured.",
    },
}
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}
OLD_NAMES = ("ior", "mdtest", "md-workbench", "fio")
"""Commands of `venturi compat` that scripts may call without it; no list shows them."""


class LazyGroup(click.Group):
    """Imports a command's file only when that command is used: `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and cmd_name not in OLD_NAMES:
            return None
        from venturi.cli.complete import taught

        module = importlib.import_module(f"venturi.cli.{cmd_name.replace('-', '_')}")
        return taught(module.command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), about) for name, about in group.items()])
        if ctx.meta.get(SHOWS_ALL):
            old = {name: f"compat {name}" for name in OLD_NAMES} | {"results compare": "compare"}
            with formatter.section("Old names, which go on working"):
                formatter.write_dl([(name, f"now: venturi {new}") for name, new in old.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and args[0] not in OLD_NAMES:
            import difflib

            close = difflib.get_close_matches(args[0], [*COMMANDS, *OLD_NAMES], n=1)
            hint = f"did you mean '{close[0]}'?" if close else "venturi --help lists them"
            raise click.UsageError(f"there is no command '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="venturi")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def venturi(debug: bool) -> None:
    """Measure, model and predict the I/O of high-performance computing.

    First result: venturi run quick -d DIR
    """


venturi.params.append(help_all("Show old names of commands, too."))


def main() -> None:
    """Run the command line and exit with the code that scripts rely on."""
    debug, output = "--debug" in sys.argv, sys.stdout
    try:
        outcome: Any = venturi.main(prog_name="venturi", standalone_mode=False)
    except VenturiError as error:
        _complain(error.message, error.hint)
        if debug:
            raise
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(ExitCode.USAGE)
    except click.ClickException as error:
        _complain(error.format_message(), _help_of(error))
        sys.exit(ExitCode.USAGE)
    except SystemExit:
        if sys.stdout is not output:  # Click puts another in its place at a closed pipe (`| head`)
            sys.exit(128 + signal.SIGPIPE)
        raise
    except (click.Abort, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C does not change the code
        sys.exit(ExitCode.INTERRUPTED)
    except Exception as error:
        code = _complain_of(error)
        if debug:
            raise
        sys.exit(code)
    sys.exit(outcome if isinstance(outcome, int) else ExitCode.FINE)


def _complain_of(error: Exception) -> ExitCode:
    """Say what is wrong where no command said it; return whose fault it is."""
    from venturi.model.limit import is_exhausted, low_limits

    if is_exhausted(error):
        what = error.strerror if isinstance(error, OSError) else str(error) or "no more memory"
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        limits = low_limits()
        allowed = f"allowed are {', '.join(limits)}" if limits else "ulimit -a shows the limits"
        _complain(f"{where}{what}", f"the limits of this shell or system are too low: {allowed}")
        return ExitCode.USAGE
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else "output: "
        _complain(f"{where}{error.strerror or error}", "check free space and permissions")
        return ExitCode.USAGE
    low = "".join(f"; allowed here are only {limit}" for limit in low_limits())
    _complain(
        f"internal error: {type(error).__name__}: {error}",
        f"please report it with the output of `venturi --debug ...`{low}",
    )
    return ExitCode.FAULT


def _help_of(error: click.ClickException) -> str:
    """Where help with wrong use is, unless the error says so itself."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None or "--help" in error.message:
        return ""
    return f"see {context.command_path} --help"


def _complain(message: str, hint: str) -> None:
    click.echo(f"venturi: {message}", err=True)
    if hint:
        click.echo(f"  {hint}", err=True)
