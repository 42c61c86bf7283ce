"""Writes the reference page of a command from its own help."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from venturi.cli.help import SHOWS_ALL
from venturi.cli.main import COMMANDS, venturi

NAMES = tuple(COMMANDS)
"""The commands that have a page each."""

EXIT_CODES = """\
Exit codes: 0 fine, 1 internal error, 2 wrong use or an invalid document, 3 the measurement is
invalid or failed, 4 a threshold was missed or something became worse, 5 the target was refused
before the first measured operation, 130 interrupted."""

_VERBATIM = "\b"
"""What Click wants before a paragraph whose lines stay as they are."""


def text(name: str) -> str:
    """Return the page of one command and of the commands below it."""
    context = click.Context(venturi, info_name="venturi")
    context.meta[SHOWS_ALL] = True
    command = venturi.get_command(context, name)
    if command is None:
        raise LookupError(f"there is no command '{name}'")
    own = click.Context(command, parent=context, info_name=name)
    parts = [
        f"# venturi {name}",
        "<!-- Generated from the command's help by `make gen`; do not edit. -->",
        *_described(command, own),
    ]
    for below, inner in _commands_of(command, own):
        parts += [f"## {below.command_path}", *_described(inner, below)]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """Return the page that lists all commands."""
    lines = [f"* [venturi {name}]({name}.md): {about}" for name, about in COMMANDS.items()]
    parts = [
        "# Commands",
        "<!-- Generated from the commands' help by `make gen`; do not edit. -->",
        "Each page is all of a command's help: what `--help-all` prints, or `--help` alone.",
        "\n".join(lines),
        EXIT_CODES,
    ]
    return "\n\n".join(parts) + "\n"


def _commands_of(
    command: click.Command, context: click.Context
) -> Iterator[tuple[click.Context, click.Command]]:
    """Yield the commands below one, with those below them behind each."""
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is not None and not below.hidden:
            own = click.Context(below, parent=context, info_name=name)
            yield own, below
            yield from _commands_of(below, own)


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the blocks of one command: usage, help, options."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{context.command_path} {usage}\n```"
    yield from map(_paragraph, inspect.cleandoc(command.help or "").split("\n\n"))
    known = [one for one in command.params if isinstance(one, click.Option)]
    records = [one.get_help_record(context) for one in known]
    options = [_option(*record) for record in records if record is not None]
    if options:
        yield "\n".join(options)


def _option(words: str, about: str) -> str:
    return f"* `{words}`: {_escaped(about)}" if about else f"* `{words}`"


def _paragraph(block: str) -> str:
    """Return a paragraph of help; examples stay as they are typed."""
    if not block.startswith(_VERBATIM):
        return _escaped(" ".join(block.split()))
    title, *lines = block.removeprefix(_VERBATIM).lstrip("\n").splitlines()
    if not lines:
        return _escaped(title)
    return f"{_escaped(title)}\n\n```\n{inspect.cleandoc(chr(10).join(lines))}\n```"


def _escaped(line: str) -> str:
    """Return a text in which Markdown sees no markup."""
    return re.sub(r"([*_\[\]])", r"\\\1", " ".join(line.split())).replace("<", "&lt;")
