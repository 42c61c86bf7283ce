"""Records to the text of a report in one of its forms."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from venturi.model.campaign import CampaignResult
from venturi.model.characterization import Characterization
from venturi.model.comparison import ComparisonSet, RunComparison
from venturi.model.document import Document
from venturi.model.forecast import Forecast
from venturi.model.forecasts import Forecasts
from venturi.model.health import Health
from venturi.model.history import History
from venturi.model.machine import Machine
from venturi.model.prediction import Prediction
from venturi.model.probe_history import ProbeHistory
from venturi.model.record import Record
from venturi.model.review import Io500Review
from venturi.model.tuning import Tuning
from venturi.model.validation import Validation
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.report.answers import AnsweringDocument
    from venturi.report.block import Page

_PAGES: Final[dict[type[Document], str]] = {
    CampaignResult: "campaign",
    ComparisonSet: "comparison",
    Forecast: "forecast",
    Forecasts: "forecasts",
    Health: "health",
    History: "history",
    Machine: "machine",
    Characterization: "characterization",
    Prediction: "prediction",
    ProbeHistory: "probe_history",
    RunComparison: "comparison",
    Tuning: "tuning",
    Validation: "validation",
}


def render(
    records: Sequence[Record],
    form: str,
    units: str = "iec",
    reviews: Mapping[str, Io500Review] | None = None,
) -> str:
    """The report as `html`, `md`, `json` or `csv` text; `units` is `iec` or `si`.

    Runs of io500 are shown with their reviews, by the run's id.
    """
    if form == "html":
        from venturi.report.html import render_html

        return render_html(records, Units(units), reviews)
    if form == "md":
        from venturi.report.markdown import render_markdown

        return render_markdown(records, Units(units), reviews)
    if form == "csv":
        from venturi.report.csv_text import render_csv

        return render_csv(records)
    from venturi.report.json_text import render_json

    return render_json(records)


def render_document(document: Document, form: str, units: str = "iec") -> str:
    """The page of a document that is not a record, as `html`, `md` or `json` text.

    Each kind has a module of its name here, whose `page_of` lays it out.
    """
    if form == "json":
        return document.to_json(indent=1) + "\n"
    return _text_of(page_of(document, Units(units)), form)


def render_answers(answers: Sequence[AnsweringDocument], form: str, units: str = "iec") -> str:
    """The page of answers that several documents give, as `html` or `md` text."""
    from venturi.report.answers import page_of_answers

    return _text_of(page_of_answers(answers, page_of, Units(units)), form)


def page_of(document: Document, units: Units) -> Page:
    """The page of a document that is not a record."""
    layout = importlib.import_module(f"venturi.report.{_PAGES[type(document)]}")
    page: Page = layout.page_of(document, units)
    return page


def _text_of(page: Page, form: str) -> str:
    if form == "md":
        from venturi.report.markdown import markdown_of

        return markdown_of(page)
    from venturi.report.html import html_of

    return html_of(page)
