"""`venturi report`: what a person looks at."""

from __future__ import annotations

from pathlib import Path

import click

from venturi.cli.option import json_option, store_option, units_option, write_text

_FORMATS = ("html", "md", "json", "csv")
_DOCUMENTS = (".yaml", ".yml", ".json")


@click.command()
@click.argument("runs", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="The file to write; its ending says the form.")
@click.option("--format", "form", type=click.Choice(_FORMATS), help="html, md, json or csv.")
@click.option("--proxy", metavar="TRACE", help="The proxy's capture, beside the application's.")
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

    Of one capture (NAME.trace): what the application did, what hurts, and its proxy. Of one
    prediction (NAME.prediction): application and proxy in turn, and the error.
    Of one machine that was profiled (YAML), or one forecast (JSON): its page.
    """
    from venturi.model import prediction
    from venturi.model.error import UserError
    from venturi.model.trace_folder import DOCUMENT

    ending = Path(output).suffix.lstrip(".") if output else ""
    chosen = form or ("json" if as_json else ending or "html")
    if chosen not in _FORMATS:
        raise UserError(f"{output}: there is no format '{chosen}'", f"one of {', '.join(_FORMATS)}")
    captures = [run for run in runs if Path(run, DOCUMENT).is_file()]
    documents = [run for run in runs if Path(run).suffix in _DOCUMENTS and Path(run).is_file()]
    if documents:
        name, text = _of_document(runs, chosen, units)
    elif any(Path(run, prediction.DOCUMENT).is_file() for run in runs):
        name, text = _of_prediction(runs, chosen, units)
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
    from venturi.report.render import render
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory

    place = store_directory(store)
    records = [load_record(find(place, run)) for run in runs]
    return records[-1].id, render(records, form, units)


def _of_prediction(runs: tuple[str, ...], form: str, units: str) -> tuple[str, str]:
    """The prediction's name, and the text."""
    from venturi.model.error import UserError
    from venturi.predict.folder import SUFFIX, read_prediction
    from venturi.report.render import render_prediction

    if len(runs) > 1:
        raise UserError("a report holds one prediction", "make one report of each")
    if form == "csv":
        raise UserError("a prediction has no report as csv", "html, md or json")
    path = Path(runs[0])
    name = path.resolve().name.removesuffix(SUFFIX)
    return name, render_prediction(read_prediction(path), form, units)


def _of_capture(
    captures: tuple[str, ...], proxy: str | None, form: str, units: str
) -> tuple[str, str]:
    """The capture's name, and the text."""
    from venturi.analyse.portrait import portrait_of
    from venturi.model.error import UserError
    from venturi.report.render import render_portrait
    from venturi.sources.open import read_capture

    if len(captures) > 1:
        raise UserError("a report holds one capture", "venturi compare A B sets two side by side")
    if form == "csv":
        raise UserError("a capture has no report as csv", "html, md or json")
    path = Path(captures[0])
    name = path.resolve().name.removesuffix(".trace")
    beside = read_capture(Path(proxy)) if proxy is not None else None
    return name, render_portrait(portrait_of(read_capture(path), name, beside), form, units)


def _of_document(documents: tuple[str, ...], form: str, units: str) -> tuple[str, str]:
    """The name and the text of a machine's page, or of a forecast's."""
    from venturi.model.document import parse_json
    from venturi.model.error import UserError
    from venturi.model.forecast import Forecast
    from venturi.model.machine import Machine
    from venturi.model.yaml_text import load_yaml, read_text
    from venturi.report.render import render_forecast, render_machine

    if len(documents) > 1:
        raise UserError("a report holds one machine or one forecast", "name one file")
    if form == "csv":
        raise UserError("a machine or forecast has no report as csv", "html, md or json")
    path = Path(documents[0])
    if path.suffix == ".json":
        forecast = parse_json(Forecast, read_text(path))
        return f"{forecast.name}-on-{forecast.machine}", render_forecast(forecast, form, units)
    machine = load_yaml(path, Machine)
    if machine.profile is None:
        raise UserError(
            f"{path}: the machine has no profile", "venturi profile DIR -o machine.yaml measures it"
        )
    return machine.name, render_machine(machine, form, units)
