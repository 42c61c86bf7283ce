"""Results that show themselves: a page in a notebook, text in a terminal."""

from __future__ import annotations

import io
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from html import escape

from rich.console import Console

from venturi.model.budget import MOST_BUDGET_S, is_budget
from venturi.model.error import UserError
from venturi.report.quantity import Units

_COLUMNS = 80
_HEIGHT_PX = 640


class View(ABC):
    """A document that a person looks at."""

    name: str = ""
    """By which commands know it: a path, or the id of a run; empty: it is nowhere but here."""

    @abstractmethod
    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """Print it as its command does."""

    def to_html(self, units: Units = Units.IEC) -> str | None:
        """Its page, a file of its own; None: only its text exists."""
        return None

    def to_text(self) -> str:
        """What its command prints, 80 columns wide, without colours."""
        text = io.StringIO()
        plain = Console(
            file=text, width=_COLUMNS, no_color=True, highlight=False, force_jupyter=False
        )
        self.draw(plain)
        return text.getvalue()

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """For Jupyter: the page in a frame of its own, which runs no script and loads nothing."""
        page = self.to_html()
        if page is None:
            return f"<pre>{escape(self.to_text())}</pre>"
        return (
            f'<iframe sandbox srcdoc="{escape(page)}" title="{escape(type(self).__name__)}" '
            f'style="width: 100%; height: {_HEIGHT_PX}px; border: 0"></iframe>'
        )


def name_of(thing: str | os.PathLike[str] | View) -> str:
    """What commands call it. Raises UserError for what is nowhere but in memory."""
    if not isinstance(thing, View):
        return os.fspath(thing)
    if not thing.name:
        raise UserError(f"this {type(thing).__name__} is in no file", "save it first")
    return thing.name


def checked_budget_s(budget_s: float) -> float:
    """The seconds that a search or a profile may take; UserError for what is no such time."""
    if not is_budget(budget_s):
        raise UserError(
            f"budget_s={budget_s:g}: from 1 to {MOST_BUDGET_S} seconds are needed",
            "such as 180 for three minutes",
        )
    return float(budget_s)


def progress_lines(quiet: bool) -> Callable[[str], None]:
    """What tells of progress, a line each on standard error, unless that is not wanted."""
    return (lambda line: None) if quiet else (lambda line: print(f" {line}", file=sys.stderr))
