"""The report as one HTML file: no network, no scripts, figures as static SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from venturi.model.record import Record
from venturi.report import page
from venturi.report.block import Figure, Page
from venturi.report.figure.svg import draw
from venturi.report.palette import DARK
from venturi.report.quantity import Units


@cache
def _template(name: str) -> str:
    return files("venturi.report").joinpath("template", name).read_text(encoding="utf-8")


def _dark_rules() -> str:
    """Figures keep their light colours in the file; on a dark screen each has its dark twin."""
    rules = [
        f'.plot svg [{attribute}="{light}" i] {{ {attribute}: {dark}; }}'
        for light, dark in DARK.items()
        for attribute in ("fill", "stroke")
    ]
    body = "\n  ".join(rules)
    return f"@media screen and (prefers-color-scheme: dark) {{\n  {body}\n}}\n"


_UNIT = re.compile(
    r"(?<=\d) (?:%|[kKMGTPE]?i?B\b|(?:[nmµ]?s|min|h|k?IOPS)\b|[kMGTPE]? ?[a-z]+s/s\b)"
)


def _bound(value: object) -> object:
    """A number stays with its unit when a line breaks."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _UNIT.sub(lambda found: found.group().replace(" ", "\u00a0"), value)


def _svg(figure: Figure, prefix: str) -> Markup | None:
    """The picture; its text is escaped by the drawing library, its label by `draw`."""
    drawn = draw(figure.spec, f"{prefix}-{figure.name}", f"{figure.title}. {figure.finding}")
    return None if drawn is None else Markup(drawn)


def render_html(
    records: Sequence[Record], units: Units = Units.IEC, reviews: page.Reviews | None = None
) -> str:
    """The page for one or several records; several begin with their comparison."""
    return html_of(page.build(records, units, reviews))


def html_of(built: Page) -> str:
    """A page as HTML."""
    environment = Environment(autoescape=True, finalize=_bound)
    template = environment.from_string(_template("report.html.jinja"))
    return template.render(
        page=built,
        css=Markup(_template("report.css") + _dark_rules()),
        svg=_svg,
    )
