"""Pages as HTML: a report as one file, a site's page beside its styles; figures as static SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup, escape

from venturi.model.record import Record
from venturi.report import page
from venturi.report.block import Cell, Figure, Page, TableBlock
from venturi.report.figure.drawing_process import DrawingProcess
from venturi.report.figure.svg import draw, why_not_drawn
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
    if not isinstance(value, str) or isinstance(value, Markup) or " " not in value:
        return value
    return _UNIT.sub(lambda found: found.group().replace(" ", "\u00a0"), value)


def _svg(figure: Figure, prefix: str, process: DrawingProcess | None = None) -> Markup | None:
    """The picture; its text is escaped by the drawing library, its label by `draw`."""
    label = f"{figure.title}. {figure.finding}"
    drawn = draw(figure.spec, f"{prefix}-{figure.name}", label, process)
    return None if drawn is None else Markup(drawn)


def render_html(
    records: Sequence[Record], units: Units = Units.IEC, reviews: page.Reviews | None = None
) -> str:
    """The page for one or several records; several begin with their comparison."""
    return html_of(page.build(records, units, reviews))


def html_of(built: Page) -> str:
    """A page as HTML."""
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            page=built,
            css=Markup(_template("report.css") + _dark_rules()),
            svg=_svg,
            inline=partial(_inline, ""),
            body=partial(_body, ""),
        )
    )


@dataclass(frozen=True)
class Frame:
    """What surrounds a page of a site."""

    site: str
    """The site's title."""
    links: tuple[tuple[str, str], ...]
    """The pages that every page leads to: address and name."""
    here: str
    """The address of the page itself, from the root of the site."""
    scripts: tuple[str, ...] = ()
    without_scripts: str = ""
    """What stands where a script draws, until it does; empty: none draws."""
    drawing: DrawingProcess | None = None
    """Draws the figures; None: this process does."""


STYLE_NAME = "style.css"


def site_html(built: Page, frame: Frame) -> str:
    """A page of a site: styles and scripts are files of the site, and nothing is loaded else."""
    root = "../" * frame.here.count("/")
    return (
        _environment()
        .get_template("site.html.jinja")
        .render(
            page=built,
            frame=frame,
            root=root,
            style=STYLE_NAME,
            svg=partial(_styleless, frame.drawing),
            inline=partial(_inline, root),
            body=partial(_body, root),
        )
    )


def site_css() -> str:
    """The styles of a site's pages, a file of its own."""
    return _template("report.css") + _dark_rules() + _template("site.css")


def site_script() -> str:
    """The script of a site's pages that filter tables."""
    return _template("site.js")


def status_script() -> str:
    """The script of a site's first page, which says what is late by the reader's clock."""
    return _template("element.js") + _template("status.js")


def live_script() -> str:
    """The script that a preview adds to each page, so that it is as new as the sources."""
    return _template("live.js")


def explore_script() -> str:
    """The script of a site's pages on which people choose what is drawn."""
    return "".join(map(_template, ("element.js", "parquet.js", "explore.js")))


def choose_script() -> str:
    """The script of a site's pages on which people choose what is compared."""
    names = ("element.js", "chance.js", "contrast.js", "set_comparison.js", "choose.js")
    return "".join(map(_template, names))


@cache
def _environment() -> Environment:
    """The templates, compiled once."""
    environment = Environment(
        autoescape=True, finalize=_bound, loader=FunctionLoader(_template), auto_reload=False
    )
    environment.globals["not_drawn"] = why_not_drawn
    return environment


_STYLE = re.compile(r'^(<svg [^>]*?) style="width:([\d.]+)px"')


def _styleless(process: DrawingProcess | None, figure: Figure, prefix: str) -> Markup | None:
    """The picture without styles of its own, which a site's policy does not allow."""
    drawn = _svg(figure, prefix, process)
    return None if drawn is None else Markup(_STYLE.sub(r'\1 width="\2"', str(drawn)))


def _body(root: str, table: TableBlock) -> Markup:
    """The rows of a table; a template takes five times as long for them."""
    numeric = [column.numeric for column in table.columns]
    labels = [
        f' data-label="{escape(column.title)}"' if table.stacked else "" for column in table.columns
    ]
    rows = []
    for row in table.rows:
        cells = [
            f"<td{_class_of(text, is_number)}{label}>{escape(_bound(_inline(root, text)))}</td>"
            for text, is_number, label in zip(row, numeric, labels, strict=True)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    return Markup("".join(rows))


def _class_of(text: str, is_number: bool) -> str:
    if is_number:
        return ' class="num"'
    return ' class="unknown"' if text == "unknown" else ""


def _inline(root: str, value: str) -> str:
    """The text of a cell with its link, its tone and its line."""
    if not isinstance(value, Cell):
        return value
    shown = escape(_bound(str(value)))
    if value.tone != "plain":
        shown = Markup('<span class="{}">{}</span>').format(value.tone, shown)
    if value.href:
        shown = Markup('<a href="{}">{}</a>').format(root + value.href, shown)
    return shown + spark(value.line) if value.line else shown


_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_EDGE = 96, 22, 3


def spark(values: Sequence[float]) -> Markup:
    """A line of values, oldest at the left, with a mark on the last: beside a text that says it."""
    low, high = min(values), max(values)
    room = _SPARK_HEIGHT - 2 * _SPARK_EDGE
    step = (_SPARK_WIDTH - 2 * _SPARK_EDGE) / max(len(values) - 1, 1)
    at = [
        (
            _SPARK_EDGE + index * step,
            _SPARK_EDGE + room * ((high - value) / (high - low) if high > low else 0.5),
        )
        for index, value in enumerate(values)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    x, y = at[-1]
    return Markup(
        f'<svg class="spark" width="{_SPARK_WIDTH}" height="{_SPARK_HEIGHT}" aria-hidden="true">'
        f'<polyline points="{points}"/><circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></svg>'
    )
