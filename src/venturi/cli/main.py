"""The command `venturi`: finds the command's file, and prints errors in one place."""

from __future__ import annotations

import importlib
import signal
import sys
from typing import Any

import click

from venturi import __version__
from venturi.model.error import ExitCode, VenturiError

COMMANDS = {
    "doctor": "What is this place: file system, memory, MPI, backends built or why not.",
    "library": "Workloads that ship with Venturi: ls, show.",
    "plan": "Totals, files, operations and time of a workload, without any I/O.",
    "run": "Run a workload; live progress; a record.",
    "ior": "IOR's command line and scripts, run by our engine.",
    "capture": "Run an application, unchanged, and record its I/O.",
    "derive": "A compact proxy workload from a log, and what the application does badly.",
    "profile": "Measure a machine once, for predictions without running.",
    "predict": "How long an application's I/O takes: its proxy beside it, or a machine's profile.",
    "tune": "Change one thing at a time, measure each, rank what it gains.",
    "campaign": "Many runs over a space of parameters: run, status, resume, cancel.",
    "compare": "Two captures, two runs, or two sets of runs (tags, machines) side by side.",
    "report": "HTML (one offline file), md, json, csv of runs, or of an application's capture.",
    "results": "The archive: ls, show, tag, verify, push, import, history, rank, compare, rm.",
    "mdtest": "mdtest's own command line, run by our engine: venturi mdtest -- ARGS.",
    "md-workbench": "md-workbench's own command line: venturi md-workbench -- ARGS.",
}


class LazyGroup(click.Group):
    """Imports a command's file only when that command is used: `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from venturi.cli.complete import taught

        module = importlib.import_module(f"venturi.cli.{cmd_name.replace('-', '_')}")
        return taught(module.command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            import difflib

            close = difflib.get_close_matches(args[0], list(COMMANDS), n=1)
            hint = f"did you mean '{close[0]}'?" if close else "venturi --help lists them"
            raise click.UsageError(f"there is no command '{args[0]}'; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="venturi")
@click.option("--debug", is_flag=True, help="Show tracebacks of errors.")
def venturi(debug: bool) -> None:
    """Measure, model and predict the I/O of high-performance computing.

    First result: venturi run quick -d DIR
    """


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
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "what was to be written: "
        _complain(f"{where}{error.strerror or error}", "check the space and rights there")
        if debug:
            raise
        sys.exit(ExitCode.USAGE)
    except Exception as error:
        _complain(f"a fault of ours: {type(error).__name__}: {error}", "repeat it with --debug")
        if debug:
            raise
        sys.exit(ExitCode.FAULT)
    sys.exit(outcome if isinstance(outcome, int) else ExitCode.FINE)


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
