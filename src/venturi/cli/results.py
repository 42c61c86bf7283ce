"""`venturi results`: the archive."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from venturi.cli.option import json_option, store_option, units_option
from venturi.model.error import UserError


@click.group()
def command() -> None:
    """The archive of results."""


@command.command("ls")
@store_option
@json_option
def list_results(store: str | None, as_json: bool) -> None:
    """List the runs, newest last. Runs whose command was killed are concluded first."""
    from venturi.store.archive import entries
    from venturi.store.journal import sweep
    from venturi.store.place import store_directory

    place = store_directory(store)
    concluded = sweep(place)
    listed = [asdict(entry) for entry in entries(place)]
    if as_json:
        click.echo(json.dumps(listed, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.listing import print_archive

    print_archive(listed, str(place), [f.name for f in concluded], stdout_console())


@command.command("show")
@click.argument("run", default="@last")
@store_option
@json_option
@units_option
def show(run: str, store: str | None, as_json: bool, units: str) -> None:
    """Show RUN (an id or @last)."""
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory

    folder = find(store_directory(store), run)
    record = load_record(folder)
    if as_json:
        click.echo(record.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.quantity import Units
    from venturi.report.terminal import print_summary

    print_summary(record, stdout_console(), Units(units), str(folder))


@command.command("rm")
@click.argument("run")
@click.option("--files", is_flag=True, help="Only the files that the run left on its target.")
@store_option
def remove(run: str, files: bool, store: str | None) -> None:
    """Remove RUN from the archive, with the files that it left on its target."""
    from venturi.store.archive import find_stored, remove_files, remove_record
    from venturi.store.place import store_directory

    folder = find_stored(store_directory(store), run)
    left = remove_files(folder) if files else remove_record(folder)
    click.echo(f"removed {'the files of ' if files else ''}{folder.name}", err=True)
    if left:
        click.echo(
            f"{len(left)} names stay, because they are not what the run made: {left[0]}", err=True
        )


@command.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@store_option
@json_option
def import_results(paths: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """Read results of IO500: summaries with what lies beside them, folders of them, lists as CSV.

    Scores and hashes are computed again, and what a reader must know is flagged. Importing a
    result twice keeps it once.
    """
    from pathlib import Path

    from venturi.field.io500.submission import Refused
    from venturi.field.io500.submission import import_results as read
    from venturi.model.published import Io500Result
    from venturi.store.place import store_directory
    from venturi.store.published import save

    found = [one for path in paths for one in read(Path(path))]
    results = [one for one in found if isinstance(one, Io500Result)]
    refused = [one.why for one in found if isinstance(one, Refused)]
    if not results:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise UserError(f"{refused[0]}{more}" if refused else f"{paths[0]}: no row with a phase")
    place = store_directory(store)
    new = sum(save(place, result) for result in results)
    if as_json:
        for sentence in refused:
            click.echo(f"refused: {sentence}", err=True)
        click.echo(json.dumps([result.to_data() for result in results], indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_import

    print_import(results, new, refused, stdout_console())


@command.command("rank")
@click.option("--by", default="score", metavar="NUMBER", help="score, bw, md, or a phase.")
@click.option("--per", type=click.Choice(["run", "process", "node"]), default="run")
@click.option("--nodes", type=click.IntRange(min=1), help="Only with so many client nodes (10).")
@click.option("--filesystem", default="", metavar="TEXT", help="Only with TEXT in its name.")
@click.option("--year", type=int, help="Only of that year.")
@click.option("--all", "every", is_flag=True, help="Also those that may not stand in a list.")
@click.option("--top", type=click.IntRange(min=1), help="Only the first so many.")
@click.option("--run", "runs", metavar="RUN", multiple=True, help="With this run of ours.")
@store_option
@json_option
def rank_results(
    by: str,
    per: str,
    nodes: int | None,
    filesystem: str,
    year: int | None,
    every: bool,
    top: int | None,
    runs: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    """List the imported results, best first; their own numbers are never used, only recomputed.

    A run of ours stands at the place that it would take, in brackets.
    """
    from venturi.field.io500.own import result_of
    from venturi.field.io500.ranking import Choice, rank, unit_of
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory
    from venturi.store.published import load_all

    choice = Choice(by, per, nodes, filesystem, year, every)
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


@command.command("compare")
@click.argument("first", metavar="RUN")
@click.argument("others", metavar="PUBLISHED...", nargs=-1)
@store_option
@json_option
def compare_results(first: str, others: tuple[str, ...], store: str | None, as_json: bool) -> None:
    """RUN beside imported results of IO500, phase by phase, in all and for each process.

    RUN is a run of ours (an id, @last, a folder) or an imported result, PUBLISHED are imported
    ones or runs: the start of a key, or words of institution, system and year, in quotes.
    """
    from venturi.field.io500.beside import beside, named
    from venturi.field.io500.own import result_of
    from venturi.model.published import Io500Result
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory
    from venturi.store.published import load_all

    place = store_directory(store)
    published = list(load_all(place))

    def opened(name: str) -> Io500Result:
        try:
            folder = find(place, name)
        except UserError:
            if name.startswith("@"):
                raise
            return named(published, name)
        return result_of(load_record(folder))

    if not others:
        raise UserError("name one or more results to set it beside", "venturi results rank --all")
    one = opened(first)
    pairs = [(other, beside(one, other)) for other in map(opened, others)]
    if as_json:
        data = [
            {"a": one.to_data(), "b": other.to_data(), "rows": [row.to_data() for row in rows]}
            for other, rows in pairs
        ]
        click.echo(json.dumps(data, indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_beside

    for other, rows in pairs:
        print_beside(one, other, rows, stdout_console())
