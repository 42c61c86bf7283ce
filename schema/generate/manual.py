"""Writes the manual page of each command from its own help: `man venturi-run`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from generate import roff
from generate.command import EXIT_STATUS, HelpParagraph, commands_of, paragraphs, whole_context
from generate.surroundings import FILES, VARIABLES, Surrounding
from venturi import __version__
from venturi.cli.main import COMMANDS, GROUPS

FOLDER = Path("packaging/man")
_DATE = "2026-11-28"
"""Set by hand with each release: man(7) wants a date, and a page is the same on every day."""
_NO_LIMIT = 1000
"""Characters of a command's first sentence; click would cut after 45."""


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the path of each page, relative to the project, and its text."""
    context = whole_context()
    for own, _ in ((context, context.command), *commands_of(context.command, context)):
        yield FOLDER / f"{_name(own)}.1", page(own)


def page(context: click.Context) -> str:
    """Return the page of the command of a context."""
    lines = [
        r".\" Generated from the command's help by `make gen`; do not edit.",
        *roff.head(_name(context), _DATE, f"venturi {__version__}"),
        ".SH NAME",
        *roff.filled(f"{roff.escaped(_name(context))} \\- {roff.escaped(_about(context))}"),
        *_synopsis(context),
        *_description(context),
        *_commands(context),
        *_options(context),
        *_exit_status(),
        *_surroundings("ENVIRONMENT", VARIABLES, context),
        *_surroundings("FILES", FILES, context),
        *_examples(context),
        *_see_also(context),
    ]
    return "\n".join(lines) + "\n"


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _about(context: click.Context) -> str:
    """Return what a command does, as a phrase: without a capital letter and a full stop."""
    _, *below = context.command_path.split()
    known = COMMANDS.get(below[0]) if len(below) == 1 else None
    about = (known or context.command.get_short_help_str(_NO_LIMIT)).rstrip(".")
    return about[:1].lower() + about[1:] if about[1:2].islower() else about


def _synopsis(context: click.Context) -> Iterator[str]:
    yield from (".SH SYNOPSIS", f'.SY "{roff.escaped(context.command_path)}"')
    words = " ".join(context.command.collect_usage_pieces(context))
    yield from (*roff.filled(roff.usage(words)), ".YS")


def _description(context: click.Context) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    kept = [one for one in paragraphs(context.command) if not _is_example(one)]
    for number, paragraph in enumerate(kept):
        yield from [".PP"] if number else []
        yield from roff.prose(paragraph.text)
        yield from (".PP", *roff.verbatim(paragraph.lines)) if paragraph.lines else ()


def _is_example(paragraph: HelpParagraph) -> bool:
    return bool(paragraph.lines) and paragraph.text.startswith("Example")


def _examples(context: click.Context) -> Iterator[str]:
    kept = [one for one in paragraphs(context.command) if _is_example(one)]
    for number, paragraph in enumerate(kept):
        yield ".PP" if number else ".SH EXAMPLES"
        if paragraph.text not in ("Example:", "Examples:"):
            yield from (*roff.prose(paragraph.text), ".PP")
        yield from roff.verbatim(paragraph.lines)


def _commands(context: click.Context) -> Iterator[str]:
    """Yield the commands below a group, each with the name of its page."""
    if not isinstance(context.command, click.Group):
        return
    yield ".SH COMMANDS"
    below = {own.info_name: own for own in _below(context)}
    groups = {title: list(names) for title, names in GROUPS.items()}
    if context.parent is not None:
        groups = {"": [str(name) for name in below]}
    for title, names in groups.items():
        yield from [f".SS {roff.escaped(title)}"] if title else []
        for name in names:
            about = _about(below[name])
            yield from roff.entry(
                _reference(below[name]), roff.prose(f"{about[:1].upper()}{about[1:]}.")
            )


def _below(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of the commands directly below one."""
    for own, _ in commands_of(context.command, context):
        if own.parent is context:
            yield own


def _options(context: click.Context) -> Iterator[str]:
    """Yield all options, those that only `--help-all` shows too."""
    yield ".SH OPTIONS"
    for option in context.command.get_params(context):
        if not isinstance(option, click.Option):
            continue
        shown = option.get_help_record(context)
        record = shown or click.Option.get_help_record(option, context)  # that of --help-all
        if record is not None:
            words, about = record
            yield from roff.entry(roff.usage(words), roff.prose(about))


def _exit_status() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_STATUS.items():
        yield from roff.entry(roff.bold(f"{code:d}"), roff.prose(f"{meaning.capitalize()}."))


def _surroundings(
    title: str, entries: tuple[Surrounding, ...], context: click.Context
) -> Iterator[str]:
    """Yield a section about what this command minds; nothing where that is nothing."""
    kept = [one for one in entries if one.is_for(context)]
    yield from [f".SH {title}"] if kept else []
    for one in kept:
        yield from roff.entry(roff.bold(one.name), roff.prose(one.about))


def _see_also(context: click.Context) -> Iterator[str]:
    """Yield the pages of the commands above and beside one."""
    yield ".SH SEE ALSO"
    above = context.parent
    if above is None:
        related = [*_below(context)]
    else:
        beside = [own for own in _below(above) if own.info_name != context.info_name]
        if above.parent is None:
            group = next(names for names in GROUPS.values() if context.info_name in names)
            beside = [own for own in beside if own.info_name in group]
        related = [*_chain(above), *beside]
    yield from roff.filled(", ".join(map(_reference, related)))


def _chain(context: click.Context) -> Iterator[click.Context]:
    """Yield a context and those above it, the highest first."""
    if context.parent is not None:
        yield from _chain(context.parent)
    yield context


def _reference(context: click.Context) -> str:
    return f"{roff.bold(_name(context))}(1)"
