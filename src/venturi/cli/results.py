"""`venturi results`: the archive."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.ask import make_sure, yes_option
from venturi.cli.group import WholeGroup
from venturi.cli.help import rare_option
from venturi.cli.history import command as history_command
from venturi.cli.option import json_option, store_option, units_option
from venturi.model.error import ExitCode, TargetProblem, UserError

if TYPE_CHECKING:
    from pathlib import Path

    from venturi.store.index import IndexEntry

_SHOWN = 40


@click.group(cls=WholeGroup)
def command() -> None:
    """List, show, compare and share stored results."""


command.add_command(history_command)


@command.command("ls")
@click.argument("choice", metavar="[CHOICE]", required=False)
@click.option("--all", "every", is_flag=True, help="Include older runs.")
@store_option
@json_option
def list_results(choice: str | None, every: bool, store: str | None, as_json: bool) -> None:
    """List the runs, newest last. Runs whose command was killed are concluded first.

    CHOICE leaves out others: tag:T, machine:M, session:S, campaign:C, name:N; joined by commas,
    all must hold.
    """
    from venturi.store.index import entries
    from venturi.store.place import store_directory

    place = store_directory(store)
    concluded = _concluded(place)
    found = _chosen(place, choice) if choice else entries(place)
    listed = [asdict(entry) for entry in found]
    if as_json:
        click.echo(json.dumps(listed, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.listing import print_archive

    shown = listed if every else listed[-_SHOWN:]
    older = len(listed) - len(shown)
    print_archive(shown, str(place), [f.name for f in concluded], stdout_console(), older)


def _concluded(place: Path) -> list[Path]:
    """Runs whose command was killed; what knows of running ones is only read if there are some."""
    running = place / "running"
    if not running.is_dir() or not any(running.iterdir()):
        return []
    from venturi.store.journal import sweep

    return sweep(place)


def _chosen(place: Path, choice: str) -> list[IndexEntry]:
    from venturi.store.archive import chosen

    return chosen(place, choice)


@command.command("show")
@click.argument("run", default="@last")
@store_option
@json_option
@units_option
def show(run: str, store: str | None, as_json: bool, units: str) -> None:
    """Show RUN (an id or @last)."""
    from venturi.model.result import Result
    from venturi.store.archive import find, has_record, load_record
    from venturi.store.place import store_directory
    from venturi.store.result import load_result

    folder = find(store_directory(store), run)
    document = load_record(folder) if has_record(folder) else load_result(folder)
    if as_json:
        click.echo(document.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units
    from venturi.report.result_text import print_result
    from venturi.report.terminal import print_summary

    if isinstance(document, Result):
        print_result(document, stdout_console(), Units(units), str(folder))
    else:
        print_summary(document, stdout_console(), Units(units), str(folder))


@command.command("rm")
@click.argument("run")
@click.option(
    "--files", is_flag=True, help="Remove only the files that the run left on its target."
)
@yes_option
@store_option
def remove(run: str, files: bool, yes: bool, store: str | None) -> None:
    """Remove RUN from the archive, with the files that it left on its target."""
    from venturi.store.archive import find_stored, has_files, remove_files, remove_record
    from venturi.store.place import store_directory

    folder = find_stored(store_directory(store), run)
    make_sure(f"Remove {'the files of ' if files else ''}{folder.name}?", yes)
    had_files = has_files(folder)
    left = remove_files(folder) if files else remove_record(folder)
    if files and left.doubt:
        raise TargetProblem(f"no file of {folder.name} was removed: {left.doubt}")
    if not files:
        click.echo(f"removed {folder.name}", err=True)
    elif left.removed:
        click.echo(f"removed the files of {folder.name}", err=True)
    elif had_files:
        click.echo(f"no file of {folder.name} is there any more, so none was removed", err=True)
    else:
        click.echo(f"{folder.name} left no files, so none was removed", err=True)
    if left.doubt:
        click.echo(f"its files stay: {left.doubt}", err=True)
    elif left.names:
        click.echo(
            f"{left.count} names stay, because they are not what the run made: {left.names[0]}",
            err=True,
        )


@command.command("tag")
@click.argument("name", metavar="TAG")
@click.argument("choices", metavar="RUN...", nargs=-1, required=True)
@store_option
def tag_results(name: str, choices: tuple[str, ...], store: str | None) -> None:
    """Give runs a TAG, by which compare, history and push choose them. RUN as in `results ls`.

    \b
    Examples:
      venturi results tag golden @last
      venturi results tag spring campaign:nightly,machine:alpha
    """
    from venturi.store.archive import chosen
    from venturi.store.place import store_directory
    from venturi.store.result import tag

    place = store_directory(store)
    ids = [entry.id for choice in choices for entry in chosen(place, choice)]
    new = tag(place, name, list(dict.fromkeys(ids)))
    click.echo(f"{new} run{'s' if new != 1 else ''} tagged {name}", err=True)


@command.command("verify")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@rare_option("--seal", "sealing", is_flag=True, help="Seal runs of early versions.")
@store_option
@json_option
def verify_results(runs: tuple[str, ...], sealing: bool, store: str | None, as_json: bool) -> int:
    """Verify every byte of the runs against their digests. Exit code 3 if one has changed."""
    from venturi.report.one_line import OneLine
    from venturi.store.archive import verify
    from venturi.store.place import store_directory
    from venturi.store.seal import seal

    place = store_directory(store)
    line, count, unsealed = OneLine(), 0, 0
    changed: dict[str, list[str]] = {}
    for run, faults in verify(place, list(runs)):
        count += 1
        line.show(f" {line.spent}   {count} runs")
        if faults is None:
            unsealed += 1
            if sealing:
                seal(place / "runs" / run)
        elif faults:
            changed[run] = list(faults)
            line.close()
            for fault in faults:
                click.echo(f"{run}: {fault}", err=as_json)
    line.close()
    if as_json:
        click.echo(json.dumps({"runs": count, "unsealed": unsealed, "changed": changed}, indent=1))
    click.echo(f"{count} run{'s' if count != 1 else ''}, {len(changed)} changed", err=True)
    if unsealed:
        done = "sealed now" if sealing else "not sealed; --seal does it"
        click.echo(f"{unsealed} of an early version: {done}", err=True)
    return ExitCode.MEASUREMENT if changed else ExitCode.FINE


@command.command("push")
@click.argument("repository", metavar="REPO")
@click.argument("choices", metavar="[RUN]...", nargs=-1)
@click.option(
    "--machine", metavar="NAME", default="", help="Name of the machine in the repository."
)
@store_option
@json_option
def push_results(
    repository: str, choices: tuple[str, ...], machine: str, store: str | None, as_json: bool
) -> int:
    """Add runs to a git repository of results: one new file per run that is not yet there.

    Default: all runs. A run goes with the forecast that it tests (`venturi predict`). Only what may
    be public goes: figures, parameters, and facts that do not say who or where; host names, paths
    and logs stay. Where the repository does not answer, the runs wait in the store, and the next
    push sends them (exit code 5).

    \b
    Examples:
      venturi results push git@host:results.git tag:golden --machine alpha
    """
    from venturi.predict.share import ForecastSharing
    from venturi.store.archive import results
    from venturi.store.place import store_directory
    from venturi.store.push import push

    place = store_directory(store)
    found = [r for c in choices for r in results(place, c)] if choices else results(place)
    sharing = ForecastSharing(place)
    done = push(place, repository, found, machine, sharing.of_run)
    done = replace(done, left_out=[*sharing.problems, *done.left_out])
    if as_json:
        click.echo(json.dumps(asdict(done), indent=1))
    else:
        click.echo(f"{done.added} added, {done.waiting} waiting", err=True)
        if done.forecasts:
            more = "s" if done.forecasts != 1 else ""
            click.echo(f"{done.forecasts} forecast{more} added beside the runs", err=True)
        for sentence in done.left_out:
            click.echo(f"not sent: {sentence}", err=True)
        if done.withheld:
            click.echo(f"kept back, because they hold paths or names: {done.withheld}", err=True)
    if done.problem:
        click.echo(f"venturi: {done.problem}\n  the next push sends them", err=True)
        return ExitCode.TARGET
    return ExitCode.FINE


@command.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--machine",
    metavar="NAME",
    default="",
    help="Machine on which another tool's output was measured.",
)
@rare_option(
    "--requested",
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting that the tool was to run with; a run with another one is INVALID.",
)
@store_option
@json_option
def import_results(
    paths: tuple[str, ...],
    machine: str,
    requested: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """Import results into the store; importing one twice keeps it once.

    A campaign's folder; a checkout of shared results; what other tools wrote, as runs that say
    so: IOR (JSON, text), mdtest, md-workbench (text), fio, hyperfine, ReFrame (JSON), elbencho
    (JSON, CSV), folders of JUBE, and benchmarks of the machine itself: OSU, LinkTest, HPL, HPCG,
    HPCC, STREAM (text), iperf3 (JSON). Published results of IO500 (summaries with what lies beside
    them, folders of them, packed submissions, lists as CSV): scores and hashes are computed again,
    the files are compared with each other, and what a reader must know is flagged.

    \b
    Examples:
      venturi results import ior.json --machine alpha
      venturi results import HPL.out --requested N=50000 --requested NB=384
      venturi results import published.csv
    """
    from pathlib import Path

    from venturi.importers.import_path import ImportRequest, import_path
    from venturi.store.place import store_directory

    place = store_directory(store)
    origin = ImportRequest(machine, _requested(requested))
    others, rows = [], []
    for path in map(Path, paths):
        taken = import_path(place, path, origin)
        if taken is None:
            others.append(path)
        else:
            click.echo(f"{path}: {taken} new run{'s' if taken != 1 else ''}", err=True)
            _take_forecasts(place, path)
            rows.append({"source": str(path), "format": "runs", "new_runs": taken})
    if others:
        rows += _import_io500(others, place, as_json)
    if as_json:
        click.echo(json.dumps(rows, indent=1))


def _take_forecasts(place: Path, path: Path) -> None:
    """Takes the forecasts that stand beside shared runs, and says what was left out."""
    from venturi.predict.share import take_forecasts

    new, problems = take_forecasts(place, path)
    if new:
        click.echo(f"{path}: {new} new forecast{'s' if new != 1 else ''} beside them", err=True)
    for sentence in problems:
        click.echo(f"left out: {sentence}", err=True)


def _requested(words: tuple[str, ...]) -> dict[str, str]:
    """The settings of --requested. UserError for a word that is none."""
    pairs = [word.partition("=") for word in words]
    for word, (name, _, value) in zip(words, pairs, strict=True):
        if not name or not value:
            raise UserError(f"--requested {word}: this is no setting", "--requested N=50000")
    return {name: value for name, _, value in pairs}


def _import_io500(paths: list[Path], place: Path, as_json: bool) -> list[dict[str, Any]]:
    """Keeps published results, and prints them without --json, for which it returns them."""
    from venturi.compat.io500.submission import Refused
    from venturi.compat.io500.submission import import_results as read
    from venturi.model.published import Io500Result
    from venturi.store.published import save

    found = [one for path in paths for one in read(path)]
    results = [one for one in found if isinstance(one, Io500Result)]
    refused = [one.why for one in found if isinstance(one, Refused)]
    if not results:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        said = f"{refused[0]}{more}" if refused else f"{paths[0]}: no row with a phase"
        raise UserError(said, "`venturi results import --help` says what can be taken in")
    new = sum(save(place, result) for result in results)
    if as_json:
        for sentence in refused:
            click.echo(f"refused: {sentence}", err=True)
        return [result.to_data() for result in results]
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_import

    print_import(results, new, refused, stdout_console())
    return []


@command.command("rank")
@click.option("--by", default="score", metavar="NUMBER", help="Sort by score, bw, md or a phase.")
@rare_option(
    "--per",
    type=click.Choice(["run", "process", "node"]),
    default="run",
    help="Show the figure of a whole run, or its share for each process or node.",
)
@rare_option(
    "--nodes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show only results with this number of client nodes (10).",
)
@rare_option(
    "--list",
    "lists",
    multiple=True,
    type=click.Choice(["production", "research", "ten-node", "best"]),
    help="Show only results of this list (of all of them if repeated).",
)
@rare_option(
    "--filesystem",
    default="",
    metavar="TEXT",
    help="Show only file systems whose name contains TEXT.",
)
@rare_option("--year", type=int, metavar="YEAR", help="Show only results of this year.")
@click.option(
    "--all", "every", is_flag=True, help="Include results that are not eligible for a list."
)
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", help="Show only the first N results."
)
@rare_option("--run", "runs", metavar="RUN", multiple=True, help="Include this run of Venturi.")
@store_option
@json_option
def rank_results(
    by: str,
    per: str,
    nodes: int | None,
    lists: tuple[str, ...],
    filesystem: str,
    year: int | None,
    every: bool,
    top: int | None,
    runs: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """List imported results, best first. All scores are recomputed; published ones are not used.

    production, research: the class that the owner gave. ten-node: exactly 10 client nodes. best:
    one result for each institution, system and file system. A run of Venturi is shown in brackets,
    at the rank it would have.
    """
    from venturi.compat.io500.own import result_of
    from venturi.compat.io500.ranking import RankingFilter, rank, unit_of
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory
    from venturi.store.published import load_all

    choice = RankingFilter(by, per, nodes, filesystem, year, lists, every)
    store_place = store_directory(store)
    own = [result_of(load_record(find(store_place, run))) for run in runs]
    rows = rank([*load_all(store_place), *own], choice)[:top]
    if as_json:
        data = [{"place": r.place, "value": r.value, "result": r.result.to_data()} for r in rows]
        click.echo(json.dumps({"by": by, "unit": unit_of(choice), "rows": data}, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_ranking

    shown = [(row.place, row.value, row.result) for row in rows]
    print_ranking(shown, unit_of(choice), by, stdout_console())


@command.command("compare", hidden=True)
@click.argument("first", metavar="RUN")
@click.argument("others", metavar="PUBLISHED...", nargs=-1)
@store_option
@json_option
def compare_results(first: str, others: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """RUN beside imported results of IO500: the old name of `venturi compare`."""
    from venturi.cli.compare import show_published

    show_published(first, others, store, as_json)
