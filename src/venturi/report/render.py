"""Records to the text of a report in one of its forms."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.forecast import Forecast
from venturi.model.machine import Machine
from venturi.model.portrait import Portrait
from venturi.model.prediction import Prediction
from venturi.model.record import Record
from venturi.report.block import Page
from venturi.report.quantity import Units


def render(records: Sequence[Record], form: str, units: str = "iec") -> str:
    """The report as `html`, `md`, `json` or `csv` text; `units` is `iec` or `si`."""
    if form == "html":
        from venturi.report.html import render_html

        return render_html(records, Units(units))
    if form == "md":
        from venturi.report.markdown import render_markdown

        return render_markdown(records, Units(units))
    if form == "csv":
        from venturi.report.csv_text import render_csv

        return render_csv(records)
    from venturi.report.json_text import render_json

    return render_json(records)


def render_portrait(portrait: Portrait, form: str, units: str = "iec") -> str:
    """The page of a captured application as `html`, `md` or `json` text."""
    if form == "json":
        return portrait.to_json(indent=1) + "\n"
    from venturi.report.portrait import page_of

    return _text_of(page_of(portrait, Units(units)), form)


def render_machine(machine: Machine, form: str, units: str = "iec") -> str:
    """The page of a machine that was profiled as `html`, `md` or `json` text."""
    if form == "json":
        return machine.to_json(indent=1) + "\n"
    from venturi.report.machine import page_of

    return _text_of(page_of(machine, Units(units)), form)


def render_forecast(forecast: Forecast, form: str, units: str = "iec") -> str:
    """The page of a forecast as `html`, `md` or `json` text."""
    if form == "json":
        return forecast.to_json(indent=1) + "\n"
    from venturi.report.forecast import page_of

    return _text_of(page_of(forecast, Units(units)), form)


def render_prediction(prediction: Prediction, form: str, units: str = "iec") -> str:
    """The page of an application beside its proxy as `html`, `md` or `json` text."""
    if form == "json":
        return prediction.to_json(indent=1) + "\n"
    from venturi.report.prediction import page_of

    return _text_of(page_of(prediction, Units(units)), form)


def _text_of(page: Page, form: str) -> str:
    if form == "md":
        from venturi.report.markdown import markdown_of

        return markdown_of(page)
    from venturi.report.html import html_of

    return html_of(page)
