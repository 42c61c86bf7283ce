"""Completion in shells: what a word may be is told by its metavar."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from venturi.model.error import UserError

_Words = Callable[[click.Context], Iterable[str]]


def _workloads(_context: click.Context) -> Iterable[str]:
    from venturi import library

    return library.names()


def _campaigns(_context: click.Context) -> Iterable[str]:
    from venturi import library

    return library.campaign_names()


def _shipped(context: click.Context) -> Iterable[str]:
    return [*_workloads(context), *_campaigns(context)]


def _machines(_context: click.Context) -> Iterable[str]:
    from venturi.execute.launcher import BUILT_IN

    return BUILT_IN


def _runs(context: click.Context) -> Iterable[str]:
    from venturi.store.archive import folders
    from venturi.store.place import store_directory

    try:
        kept = folders(store_directory(_store_of(context)))
    except (UserError, OSError):  # it will be said when the command runs
        kept = []
    return ["@last", *(folder.name for folder in kept)]


def _store_of(context: click.Context) -> str | None:
    chosen = context.params.get("store")
    return chosen if isinstance(chosen, str) else None


_DIRECTORY = "dir"
_FILE = "file"
_MEANINGS: dict[str, tuple[str, _Words | None]] = {
    "DIR": (_DIRECTORY, None),
    "DIRECTORY": (_DIRECTORY, None),
    "FOLDER": (_DIRECTORY, None),
    "REPO": (_DIRECTORY, None),
    "FILE": (_FILE, None),
    "INI": (_FILE, None),
    "LOG": (_FILE, None),
    "OUT": (_FILE, None),
    "PATH": (_FILE, None),
    "TRACE": (_FILE, None),
    "WORKLOAD": (_FILE, _workloads),
    "SHIPPED": ("", _shipped),
    "CAMPAIGN": (_FILE, _campaigns),
    "MACHINE": (_FILE, _machines),
    "MACHINE.yaml": (_FILE, None),
    "RUN": (_FILE, _runs),
    "RUNS": (_FILE, _runs),
    "A": (_FILE, _runs),
    "B": (_FILE, _runs),
    "CHOICE": ("", _runs),
}
"""By metavar: paths of which kind, and words beside them."""


class _Word(click.types.StringParamType):
    """Any text, with what it probably will be."""

    def __init__(self, kind: str, words: _Words | None) -> None:
        self._kind = kind
        self._words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Words that begin so; the shell adds the paths where none does."""
        words = self._words(ctx) if self._words is not None else ()
        paths = [CompletionItem(incomplete, type=self._kind)] if self._kind else []
        return paths + [CompletionItem(word) for word in words if word.startswith(incomplete)]


def taught(command: click.Command) -> click.Command:
    """The command, with all of its parameters (and its sub-commands') able to be completed."""
    if isinstance(command, click.Group):
        for below in command.commands.values():
            taught(below)
    for parameter in command.params:
        name = (parameter.metavar or parameter.name or "").strip("[].")
        if isinstance(parameter, click.Argument) and parameter.metavar is None:
            name = name.upper()
        meaning = _MEANINGS.get(name)
        if meaning is not None and isinstance(parameter.type, click.types.StringParamType):
            parameter.type = _Word(*meaning)
    return command
