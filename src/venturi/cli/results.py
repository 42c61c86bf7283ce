"""`venturi results`: the archive."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from venturi.cli.option import json_option, store_option, units_option


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
