"""`venturi report`: what a person looks at."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.option import json_option, store_option, units_option

_FORMATS = ("html", "md", "json", "csv")


@click.command()
@click.argument("runs", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="The file to write; its ending says the form.")
@click.option("--format", "form", type=click.Choice(_FORMATS), help="html, md, json or csv.")
@store_option
@json_option
@units_option
def command(
    runs: tuple[str, ...],
    output: str | None,
    form: str | None,
    store: str | None,
    as_json: bool,
    units: str,
) -> None:
    """A report of RUNS: ids, @last, or folders. Default: report-ID.html here."""
    from venturi.model.error import UserError
    from venturi.report.render import render
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory

    place = store_directory(store)
    records = [load_record(find(place, run)) for run in runs]
    ending = Path(output).suffix.lstrip(".") if output else ""
    chosen = form or ("json" if as_json else ending or "html")
    if chosen not in _FORMATS:
        raise UserError(f"{output}: there is no format '{chosen}'", f"one of {', '.join(_FORMATS)}")
    text = render(records, chosen, units)
    if output == "-" or (output is None and chosen != "html"):
        click.echo(text, nl=False)
        return
    path = Path(output or f"report-{records[-1].id}.html")
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "choose another file with -o") from None
    click.echo(str(path))
