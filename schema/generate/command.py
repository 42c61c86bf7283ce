"""Writes the reference page of a command from its own help."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

import click

from venturi.cli.help import SHOWS_ALL
from venturi.cli.main import COMMANDS, venturi
from venturi.model.error import ExitCode

NAMES = tuple(COMMANDS)
"""The commands that have a page each."""

EXIT_STATUS = {
    ExitCode.FINE: "fine",
    ExitCode.FAULT: "internal error",
    ExitCode.USAGE: "wrong use or an invalid document",
    ExitCode.MEASUREMENT: "the measurement is invalid or failed",
    ExitCode.GATE: "a threshold was missed or something became worse",
    ExitCode.TARGET: "the target was refused before the first measured operation",
    ExitCode.INTERRUPTED: "interrupted",
}
"""What each exit code means."""

_VERBATIM = "\b"
"""What Click wants before a paragraph whose lines stay as they are."""


@dataclass(frozen=True)
class HelpParagraph:
    """A paragraph of help, and the lines below it that stay as they are typed."""

    text: str
    lines: tuple[str, ...] = ()


def text(name: str) -> str:
    """Return the page of one command and of the commands below it."""
    context = whole_context()
    command = venturi.get_command(context, name)
    if command is None:
        raise LookupError(f"there is no command '{name}'")
    own = click.Context(command, parent=context, info_name=name)
    parts = [
        f"# venturi {name}",
        "<!-- Generated from the command's help by `make gen`; do not edit. -->",
        *_described(command, own),
    ]
    for below, inner in commands_of(command, own):
        parts += [f"## {below.command_path}", *_described(inner, below)]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """Return the page that lists all commands."""
    codes = ", ".join(f"{code:d} {meaning}" for code, meaning in EXIT_STATUS.items())
    lines = [f"* [venturi {name}]({name}.md): {about}" for name, about in COMMANDS.items()]
    parts = [
        "# Commands",
        "<!-- Generated from the commands' help by `make gen`; do not edit. -->",
        "Each page is all of a command's help: what `--help-all` prints, or `--help` alone.",
        "\n".join(lines),
        textwrap.fill(f"Exit codes: {codes}.", 100),
    ]
    return "\n\n".join(parts) + "\n"


def whole_context() -> click.Context:
    """Return a context of the command itself, in which help shows all there is."""
    context = click.Context(venturi, info_name="venturi", **venturi.context_settings)
    context.meta[SHOWS_ALL] = True
    return context


def paragraphs(command: click.Command) -> Iterator[HelpParagraph]:
    """Yield the paragraphs of a command's help."""
    for block in inspect.cleandoc(command.help or "").split("\n\n"):
        if not block.startswith(_VERBATIM):
            yield HelpParagraph(" ".join(block.split()))
            continue
        title, *lines = block.removeprefix(_VERBATIM).lstrip("\n").splitlines()
        yield HelpParagraph(title, tuple(inspect.cleandoc("\n".join(lines)).splitlines()))


def commands_of(
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
            yield from commands_of(below, own)


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the blocks of one command: usage, help, options."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{context.command_path} {usage}\n```"
    yield from map(_paragraph, paragraphs(command))
    known = [one for one in command.params if isinstance(one, click.Option)]
    records = [one.get_help_record(context) for one in known]
    options = [_option(*record) for record in records if record is not None]
    if options:
        yield "\n".join(options)


def _option(words: str, about: str) -> str:
    return f"* `{words}`: {_escaped(about)}" if about else f"* `{words}`"


def _paragraph(paragraph: HelpParagraph) -> str:
    """Return a paragraph of help; examples stay as they are typed."""
    if not paragraph.lines:
        return _escaped(paragraph.text)
    typed = "\n".join(paragraph.lines)
    return f"{_escaped(paragraph.text)}\n\n```\n{typed}\n```"


def _escaped(line: str) -> str:
    """Return a text in which Markdown sees no markup."""
    return re.sub(r"([*_\[\]])", r"\\\1", " ".join(line.split())).replace("<", "&lt;")
