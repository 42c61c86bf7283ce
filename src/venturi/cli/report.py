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
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    help="Output file; the suffix selects the format. FOLDER/: index.html and whole pages.",
)
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
    page. Of several of these, and runs: one page on which each answers a question; with -o FOLDER/
    it is index.html, and leads to the whole page of each beside it.

    \b
    Examples:
      venturi report @last
      venturi report @last~1 @last -o both.html
      venturi report app.trace --format md
      venturi report app.trace app.prediction app.tune @last -o answers/
    """
    from venturi.model.error import UserError
    from venturi.report.render import render_document

    refuse_over_input(output, *runs, proxy)
    ending = Path(output).suffix.lstrip(".") if output and not _is_folder(output) else ""
    chosen = form or ("json" if as_json else ending or "html")
    if chosen not in _FORMATS:
        raise UserError(f"{output}: there is no format '{chosen}'", f"one of {', '.join(_FORMATS)}")
    documents = [open_document(run) for run in runs]
    captures = [
        run for run, known in zip(runs, documents, strict=True) if not known and is_capture(run)
    ]
    is_alike = len(captures) == len(runs) or not (captures or any(documents))
    if _is_folder(output) or (len(runs) > 1 and not is_alike):
        if proxy is not None:
            raise UserError("--proxy is for the report of one capture", "leave the others out")
        _of_several(runs, output, chosen, store, units)
        return
    known = documents[0]
    if known is not None:
        if chosen == "csv":
            raise UserError("such a document has no report as csv", "html, md or json")
        name, text = known[0], render_document(known[1], chosen, units)
    elif captures:
        name, text = _of_capture(runs, proxy, chosen, units)
    elif proxy is not None:
        raise UserError("--proxy stands beside a capture", "name one: NAME.trace")
    else:
        name, text = _of_runs(runs, store, chosen, units)
    _write(output, f"report-{name}.html", chosen, text)


def _write(output: str | None, name: str, form: str, text: str) -> None:
    """The text where it is wanted, else on standard output; of HTML, else in a file here."""
    if output == "-" or (output is None and form != "html"):
        click.echo(text, nl=False)
        return
    path = Path(output or name)
    write_text(path, text)
    click.echo(str(path))


def _is_folder(output: str | None) -> bool:
    """Whether pages go into a folder: it is one, or its name says so."""
    return output is not None and (output.endswith("/") or Path(output).is_dir())


def _of_several(
    names: tuple[str, ...], output: str | None, form: str, store: str | None, units: str
) -> None:
    """The page of answers; in a folder with the whole page of each beside it."""
    from venturi.api.answers import INDEX, opened, page_files, page_text
    from venturi.model.error import UserError
    from venturi.store.place import store_directory

    if form == "csv":
        raise UserError("documents of several kinds have no report as csv", "html, md or json")
    if form == "json" and _is_folder(output):
        raise UserError(f"{output}: a folder holds pages", "name a file: -o FILE.json")
    found = opened(names, store_directory(store))
    if output is None or not _is_folder(output):
        _write(output, "report.html", form, page_text(found, form, units))
        return
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{output}: {error.strerror}", "choose another folder with -o") from None
    for name, text in page_files(found, form, units).items():
        write_text(folder / name, text)
    click.echo(str(folder / f"{INDEX}.{form}"))


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
