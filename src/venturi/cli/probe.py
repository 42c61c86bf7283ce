"""`venturi probe`: what users feel on a storage target, each second, for months."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from venturi.cli.ask import make_sure, yes_option
from venturi.cli.group import WholeGroup
from venturi.cli.help import rare_option
from venturi.cli.option import Decorator, json_option, store_option
from venturi.model.error import ExitCode, UserError

_STATISTICS = ("p50", "mean", "p95")
_UNSET: tuple[object, ...] = (None, ())
_REDRAW_S = 2.0
_SAY_S = 10.0

statistic_option = rare_option(
    "--statistic",
    type=click.Choice(_STATISTICS),
    default="p50",
    help="What is divided by the baseline.",
)


def _target_options(command: Any) -> Any:
    options: list[Decorator] = [
        rare_option("--config", metavar="FILE", help="Targets and their settings (YAML)."),
        click.option("--small", is_flag=True, help="1000 files and a data file of 64 MiB."),
        rare_option("--pool", "pool_files", type=int, metavar="N", help="Files in the pool."),
        rare_option("--data", metavar="SIZE", help="Size of the data file: 200 GB, 1.3 TB."),
        rare_option("--interval", "interval_s", type=float, metavar="S", help="Seconds (1)."),
        rare_option(
            "--each-server",
            is_flag=True,
            help="One target for each OST and MDT of a Lustre.",
        ),
        rare_option(
            "--kind",
            "kinds",
            type=click.Choice(["metadata", "data"]),
            multiple=True,
            help="Watch only this kind of operations.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=WholeGroup)
def command() -> None:
    """Measure the latency that users feel, each second, for months, and how it changes.

    \b
    Examples:
      venturi probe check /scratch
      venturi probe run --small /scratch /home
      venturi probe status
    """


@command.command()
@click.argument("directories", metavar="[DIR]...", nargs=-1)
@_target_options
@store_option
@json_option
def check(directories: tuple[str, ...], store: str | None, as_json: bool, **chosen: Any) -> int:
    """Show what watching costs: operations, bytes, space and exact system calls.

    Nothing is written.
    """
    from venturi.cli.console import stdout_console
    from venturi.model.probe import ProbeCheck
    from venturi.probe.cost import cost_of
    from venturi.probe.placement import placed
    from venturi.report.probe_text import print_check
    from venturi.store.place import store_directory

    chosen_targets = placed(_targets(directories, chosen))
    place = store_directory(store)
    costs = [cost_of(target, place) for target in chosen_targets.targets]
    found = ProbeCheck(
        schema_="venturi.probe-check/1", costs=costs, remarks=list(chosen_targets.remarks)
    )
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        print_check(found, stdout_console())
    _refuse_without_room(costs, place)
    return ExitCode.FINE


@command.command()
@click.argument("directories", metavar="[DIR]...", nargs=-1)
@_target_options
@click.option("--once", is_flag=True, help="Measure each operation once, print metrics, and end.")
@rare_option("--listen", metavar="HOST:PORT", help="Answer Prometheus at this address.")
@yes_option
@store_option
def run(
    directories: tuple[str, ...],
    once: bool,
    listen: str | None,
    yes: bool,
    store: str | None,
    **chosen: Any,
) -> int:
    """Watch directories until a signal asks for the end (Ctrl-C, SIGTERM).

    The pool stays for the next start; venturi probe remove takes it away. --once is for cron and
    for the textfile collector of node_exporter.

    \b
    Examples:
      venturi probe run --small /scratch /home
      venturi probe run --once --small /scratch
    """
    from venturi.execute.stopping import Stopping
    from venturi.probe.cost import cost_of
    from venturi.probe.placement import place as place_directory
    from venturi.probe.placement import placed
    from venturi.probe.session import Session
    from venturi.store.place import store_directory

    found = placed(_targets(directories, chosen))
    for remark in found.remarks:
        click.echo(f"venturi: {remark}", err=True)
    targets, place = found.targets, store_directory(store)
    costs = [cost_of(target, place) for target in targets]
    _refuse_without_room(costs, place)
    _ask_for_consent(costs, yes)
    for target in targets:
        place_directory(target)
    session = Session(place, targets, lambda text: click.echo(f"venturi: {text}", err=True))
    stopping = Stopping()
    with stopping.listening():
        hung = _watch(session, stopping, once, listen)
    for text in hung:
        click.echo(f"venturi: {text}", err=True)
    if once and not stopping.asked:
        click.echo(_metrics(session.folders, {}), nl=False)
    return ExitCode.FINE


def _watch(session: Any, stopping: Any, once: bool, listen: str | None) -> list[str]:
    """Run the session to its end; what could not be ended."""
    from venturi.probe.exporter import Exporter

    exporter = None
    try:
        if listen is not None:
            exporter = Exporter(listen, session.folders)
        session.open()
        if exporter is not None:
            exporter.start()
        if once:
            heads = session.heads()
            session.watch(stopping, lambda: session.has_measured_once(heads))
        else:
            names = ", ".join(target.name for target in session.targets)
            click.echo(f"venturi: watching {names}; venturi probe status shows it", err=True)
            session.watch(stopping)
    finally:
        hung: list[str] = session.close()
        if exporter is not None:
            exporter.close()
    return hung


@command.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--live", is_flag=True, help="Draw it anew every two seconds (Ctrl-C ends).")
@statistic_option
@store_option
@json_option
def status(
    names: tuple[str, ...], live: bool, statistic: str, store: str | None, as_json: bool
) -> int:
    """Show latencies, slowdowns, what hangs, and the last half hour."""
    from venturi.cli.console import stdout_console
    from venturi.model.probe import ProbeStatistic
    from venturi.probe.place import known_targets
    from venturi.probe.status import status_of
    from venturi.report.probe_text import print_status
    from venturi.store.place import store_directory

    folders = known_targets(store_directory(store), names)
    chosen = ProbeStatistic(statistic)
    if as_json:
        click.echo(status_of(folders, chosen).to_json(indent=1))
        return ExitCode.FINE
    console = stdout_console()
    print_status(status_of(folders, chosen), console)
    while live and sys.stdout.isatty():
        time.sleep(_REDRAW_S)
        found = status_of(folders, chosen)
        console.clear()
        print_status(found, console)
    return ExitCode.FINE


@command.command()
@click.argument("directory", metavar="DIR")
@click.option(
    "--slowdown",
    "most",
    type=click.FloatRange(min=0, min_open=True),
    default=1.5,
    help="Times the usual latency that no operation may take (1.5).",
)
@rare_option("--over", default="60s", metavar="TIME", help="Medians of the last TIME (60s).")
@click.option("--within", default="30m", metavar="TIME", help="Give up after TIME (30m).")
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
@store_option
def wait(
    directory: str, most: float, over: str, within: str, quiet: bool, store: str | None
) -> int:
    """Wait until DIR's file system is quiet, by the probes on it; exit with 4 if it stays busy.

    \b
    Example:
      venturi probe wait /scratch && venturi run quick -d /scratch/me
    """
    from venturi.cli.option import seconds_in
    from venturi.execute.stopping import Stopping
    from venturi.probe.background import probes_beside
    from venturi.probe.quiet import QuietCondition
    from venturi.store.place import store_directory

    over_s, within_s = seconds_in("--over", over), seconds_in("--within", within)
    folders = probes_beside(store_directory(store), Path(directory))
    if not folders:
        raise UserError(
            f"no probe measures on the file system of {directory}",
            f"venturi probe run {directory} starts one; --store says where it keeps its samples",
        )
    condition = QuietCondition(folders, most, over_s)
    stopping = Stopping()
    with stopping.listening():
        if condition.wait(within_s, _waiting_lines(quiet), lambda: stopping.asked):
            return ExitCode.FINE
    if stopping.asked:
        return ExitCode.INTERRUPTED
    slowest = condition.slowest(time.time())
    why = str(slowest) if slowest else f"there are too few measurements in the last {over}"
    click.echo(f"venturi: {directory} is not quiet after {within}: {why}", err=True)
    return ExitCode.GATE


def _waiting_lines(quiet: bool) -> Any:
    """What tells of the wait: a line at its start, and every ten seconds."""
    said_s = [0.0]

    def watch(slowest: Any, left_s: float) -> None:
        if not quiet and time.monotonic() - said_s[0] >= _SAY_S:
            said_s[0] = time.monotonic()
            why = str(slowest) if slowest else "too few measurements so far"
            click.echo(f"venturi: waiting, {left_s:.0f} s left: {why}", err=True)

    return watch


@command.group(cls=WholeGroup)
def baseline() -> None:
    """What operations usually take: the median of 30 days, and a frozen reference."""


@baseline.command("show")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@store_option
@json_option
def show_baseline(names: tuple[str, ...], store: str | None, as_json: bool) -> int:
    """Show expected values, from how many samples they are, and the reference."""
    from venturi.cli.console import stdout_console
    from venturi.probe.place import known_targets
    from venturi.probe.status import status_of
    from venturi.report.probe_text import print_baseline
    from venturi.store.place import store_directory

    found = status_of(known_targets(store_directory(store), names))
    if as_json:
        click.echo(found.to_json(indent=1))
    else:
        print_baseline(found, stdout_console())
    return ExitCode.FINE


@baseline.command("set")
@click.argument("name", metavar="NAME")
@store_option
def set_baseline(name: str, store: str | None) -> int:
    """Freeze the baseline of this moment as the reference that later ones are compared with."""
    from venturi.probe.baseline import freeze
    from venturi.probe.place import REFERENCE_NAME, known_targets
    from venturi.store.place import store_directory

    folder = known_targets(store_directory(store), (name,))[0]
    freeze(folder)
    click.echo(str(folder / REFERENCE_NAME))
    return ExitCode.FINE


@command.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet", "openmetrics"]),
    default="csv",
    help="Samples as CSV or Parquet, or this moment's metrics as OpenMetrics.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to (default: standard output).")
@click.option("--begin", metavar="TIME", help="From this time on (2026-11-25T08:00, UTC).")
@click.option("--end", metavar="TIME", help="Up to this time.")
@store_option
def export(
    name: str, form: str, output: str | None, begin: str | None, end: str | None, store: str | None
) -> int:
    """Write samples of a target for other programs."""
    from venturi.cli.option import write_text
    from venturi.probe.export import export_parquet, export_rows
    from venturi.probe.place import known_targets
    from venturi.probe.span import span_between
    from venturi.store.place import store_directory

    folder = known_targets(store_directory(store), (name,))[0]
    span = span_between(begin, end)
    if form == "openmetrics":
        text = _metrics([folder], {}, is_open_metrics=True)
        if output is None:
            click.echo(text, nl=False)
        else:
            write_text(Path(output), text)
    elif form == "parquet":
        export_parquet(folder, span, output)
    else:
        export_rows(folder, span, output)
    return ExitCode.FINE


@command.command()
@click.argument("targets", metavar="[TARGET]...", nargs=-1)
@click.option(
    "-o", "--output", metavar="FILE", help="HTML, Markdown or JSON (default: probe.html)."
)
@click.option("--run", "runs", metavar="RUN", multiple=True, help="Shade this run in any case.")
@click.option(
    "--shade",
    "paths",
    metavar="PATH",
    multiple=True,
    help="Shade what a file tells: output of sacct --parsable2, a Darshan log or a folder of them, "
    "result.txt of IO500, a table (CSV) with begin, end and label.",
)
@click.option("--slurm", is_flag=True, help="Shade the jobs that sacct shows you.")
@click.option(
    "--zone", metavar="ZONE", help="Zone of times in these files: Europe/Berlin (this host's)."
)
@click.option("--begin", metavar="TIME", help="From this time on (2026-11-25T08:00, UTC).")
@click.option("--end", metavar="TIME", help="Up to this time.")
@store_option
def plot(
    targets: tuple[str, ...],
    output: str | None,
    runs: tuple[str, ...],
    begin: str | None,
    end: str | None,
    store: str | None,
    **shading: Any,
) -> int:
    """Draw every measurement, means of 60 s and statistics of four hours as a page.

    TARGET is a name, or the path of a target's folder (STORE/probe/NAME); default: all of the
    store, the last 60 days. Shaded are the phases of the store's runs on the same file system.

    \b
    Examples:
      venturi probe plot scratch home -o night.html --begin 2026-11-25T20:00
      venturi probe plot scratch --run @last
      venturi probe plot scratch --slurm --shade results/2026-11-25/result.txt
    """
    from venturi.cli.option import write_text
    from venturi.probe.history import extent_of, history_of
    from venturi.probe.place import targets_at
    from venturi.probe.run_phase import runs_between
    from venturi.probe.shading import ShadingRequest, shaded_runs
    from venturi.probe.span import span_between
    from venturi.report.render import render_document
    from venturi.store.place import store_directory

    path = Path(output or "probe.html")
    form = path.suffix.lstrip(".")
    if form not in ("html", "md", "json"):
        raise UserError(f"{path}: there is no format '{form}'", "one of html, md, json")
    place = store_directory(store)
    folders = targets_at(place, targets)
    span = extent_of(folders, span_between(begin, end))
    others, remarks = shaded_runs(ShadingRequest(**shading), span)
    for remark in remarks:
        click.echo(f"venturi: {remark}", err=True)
    own = runs_between(place, span.begin_ns, span.end_ns, runs)
    found = history_of(folders, span, [*own, *others])
    write_text(path, render_document(found, form))
    click.echo(str(path))
    return ExitCode.FINE


@command.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@store_option
def keep(names: tuple[str, ...], store: str | None) -> int:
    """Move days that are over out of the rings, and forget what is too old.

    A probe that runs does this itself, once an hour.
    """
    from venturi.probe.keep import keep as keep_days
    from venturi.probe.place import known_targets
    from venturi.store.place import store_directory

    for folder in known_targets(store_directory(store), names):
        done = keep_days(folder)
        click.echo(f"{folder.name}: {done.days} days kept, {done.removed} old files removed")
    return ExitCode.FINE


@command.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@yes_option
@store_option
def remove(names: tuple[str, ...], yes: bool, store: str | None) -> int:
    """Remove the files of a probe from its target: those that bear its key, and nothing else.

    What was measured stays in the store.
    """
    from venturi.probe.place import known_targets, target_of
    from venturi.probe.placement import unplace
    from venturi.probe.remove import forget_rings, remove_made
    from venturi.store.place import store_directory

    folders = known_targets(store_directory(store), names)
    make_sure(f"Remove the probe's files of {', '.join(names)}?", yes)
    code = ExitCode.FINE
    for folder in folders:
        done = remove_made(folder)
        click.echo(f"{folder.name}: {done.files} files removed")
        for path in done.left:
            click.echo(f"venturi: {path}: still there (files of others stay)", err=True)
        if done.why:
            click.echo(f"venturi: {folder.name}: not all was removed: {done.why}", err=True)
        if done.why or done.left:
            code = ExitCode.TARGET
        else:
            forget_rings(folder)
            unplace(target_of(folder))
    return code


def _targets(directories: tuple[str, ...], chosen: dict[str, Any]) -> Any:
    from venturi.probe.plan import small_settings, targets_in

    config = chosen.pop("config")
    is_small = chosen.pop("small")
    given = {n: value for n, value in chosen.items() if value is not False and value not in _UNSET}
    if config is not None and not directories and (is_small or given):
        options = {one.name: one.opts[0] for one in click.get_current_context().command.params}
        name = "small" if is_small else next(iter(given))
        raise UserError(
            f"{options[name]} stands in the configuration file instead", f"write it into {config}"
        )
    settings = small_settings() if is_small else {}
    if "kinds" in given:
        given["kinds"] = list(given["kinds"])
    return targets_in(config, directories, settings | given)


def _refuse_without_room(costs: list[Any], store: Path) -> None:
    """Raise TargetProblem where files do not fit that are not there yet."""
    from venturi.probe.cost import check_room
    from venturi.probe.place import TARGET_NAME, probe_folder
    from venturi.probe.placement import check_room_together

    check_room_together([cost.target for cost in costs])
    for cost in costs:
        if not (probe_folder(store) / cost.target.name / TARGET_NAME).exists():
            check_room(cost)


def _ask_for_consent(costs: list[Any], yes: bool) -> None:
    """Print what it costs, and ask where the files take more than 1 % of the free space."""
    from venturi.cli.console import stderr_console
    from venturi.model.probe import ProbeCheck
    from venturi.report.probe_text import print_check

    print_check(ProbeCheck(schema_="venturi.probe-check/1", costs=costs), stderr_console())
    large = [cost.target.name for cost in costs if cost.needs_consent]
    if large:
        make_sure(f"{', '.join(large)}: use more than 1 % of the free space?", yes)


def _metrics(folders: list[Path], totals: Any, is_open_metrics: bool = False) -> str:
    from venturi.probe.metrics import metrics_text
    from venturi.probe.status import status_of

    return metrics_text(status_of(folders), totals, is_open_metrics)
