"""`venturi report`: what a person looks at."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.api.document import open_document
from venturi.api.source import is_capture
from venturi.cli.help import HelpCommand, rare_option
from venturi.cli.option import (
    json_option,
    refuse_over_input,
    store_option,
    units_option,
    write_text,
)

_FORMATS = ("html", "md", "json", "csv")


@click.command(cls=HelpCommand)
@click.argument("runs", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Output file; the suffix selects the format.")
@rare_option(
    "--format", "form", type=click.Choice(_FORMATS), help="Output format: html, md, json or csv."
)
@click.option(
    "--proxy", metavar="TRACE", help="Capture of the proxy, compared with the application's."
)
@store_option
@json_option
@units_option
def command(
    runs: tuple[str, ...],
    proxy: str | None,
    output: str | None,
    form: str | None,
    store: str | None,
    as_json: bool,
    units: str,
) -> None:
    """A report of RUNS: ids, @last, or folders. Default: report-ID.html here.

    Of one capture (NAME.trace, a Darshan log, strace's output ...): what the application did, what
    hurts, and its proxy. Of one prediction (NAME.prediction): application and proxy in turn, and
    the error. Of one validation (NAME.validation): such errors by application and file system.
    Of one tuning (NAME.tune): what would make it faster. Of one machine that was
    profiled (YAML), of one forecast (JSON), or of one target of a probe (STORE/probe/NAME): its
    page.

    \b
    Examples:
      venturi report @last
      venturi report @last~1 @last -o both.html
      venturi report app.trace --format md
    """
    from venturi.model.error import UserError
    from venturi.report.render import render_document

    refuse_over_input(output, *runs, proxy)
    ending = Path(output).suffix.lstrip(".") if output else ""
    chosen = form or ("json" if as_json else ending or "html")
    if chosen not in _FORMATS:
        raise UserError(f"{output}: there is no format '{chosen}'", f"one of {', '.join(_FORMATS)}")
    document = open_document(runs[0])
    captures = [run for run in runs if is_capture(run)]
    if document is not None:
        if len(runs) > 1 or chosen == "csv":
            raise UserError("a report holds one such document, as html, md or json")
        name, text = document[0], render_document(document[1], chosen, units)
    elif captures:
        name, text = _of_capture(runs, proxy, chosen, units)
    elif proxy is not None:
        raise UserError("--proxy stands beside a capture", "name one: NAME.trace")
    else:
        name, text = _of_runs(runs, store, chosen, units)
    if output == "-" or (output is None and chosen != "html"):
        click.echo(text, nl=False)
        return
    path = Path(output or f"report-{name}.html")
    write_text(path, text)
    click.echo(str(path))


def _of_runs(runs: tuple[str, ...], store: str | None, form: str, units: str) -> tuple[str, str]:
    """The last run's id, and the text."""
    from venturi.api.run import report_of
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory

    place = store_directory(store)
    records = [load_record(find(place, run)) for run in runs]
    return records[-1].id, report_of(records, form, place, units)


def _of_capture(
    captures: tuple[str, ...], proxy: str | None, form: str, units: str
) -> tuple[str, str]:
    """The capture's name, and the text."""
    from venturi.analyse.characterization import characterization_of
    from venturi.model.error import UserError
    from venturi.report.render import render_document
    from venturi.sources.open import read_capture

    if len(captures) > 1:
        raise UserError("a report holds one capture", "venturi compare A B sets two side by side")
    if form == "csv":
        raise UserError("a capture has no report as csv", "html, md or json")
    path = Path(captures[0])
    name = path.resolve().name.removesuffix(".trace").removesuffix(".darshan")
    beside = read_capture(Path(proxy)) if proxy is not None else None
    return name, render_document(characterization_of(read_capture(path), name, beside), form, units)
