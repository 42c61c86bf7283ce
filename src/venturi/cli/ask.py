"""Asking before what cannot be undone, where somebody is there to answer."""

from __future__ import annotations

import sys

import click

from venturi.model.error import UserError

yes_option = click.option("--yes", is_flag=True, help="Answer every question with yes.")


def make_sure(question: str, yes: bool) -> None:
    """Asks on a terminal, unless the answer was given; UserError for a no.

    Elsewhere nobody can answer, and what a script says it means.
    """
    if yes or not sys.stdin.isatty():
        return
    if not click.confirm(question, err=True):
        raise UserError("nothing was done", "--yes answers beforehand")
