"""What `--help` shows, and what `--help-all` adds: options that few people need."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

SHOWS_ALL = "venturi.shows_all_options"
"""In the meta data of a context: help shows all that there is."""
_FEWEST = 2
"""A single rare option takes no more room than `--help-all`."""


class RareOption(click.Option):
    """An option that `--help` leaves out; it works and is completed like any other."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """As of any option, where all of them are shown."""
        is_shown = ctx.meta.get(SHOWS_ALL) or not hides_options(ctx.command)
        return super().get_help_record(ctx) if is_shown else None


rare_option = partial(click.option, cls=RareOption)
"""Declares an option as `click.option` does."""


class HelpCommand(click.Command):
    """A command that has `--help-all` where it has rare options."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        if hides_options(self):
            self.params.append(help_all(f"Show {_rare(self)} more options."))


def hides_options(command: click.Command) -> bool:
    """Whether a command's `--help` leaves out options, which `--help-all` shows."""
    return _rare(command) >= _FEWEST


def _rare(command: click.Command) -> int:
    return sum(isinstance(option, RareOption) for option in command.params)


class _HelpAll(click.Option):
    """The option that shows all others, which need not be told of it then."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        return None if ctx.meta.get(SHOWS_ALL) else super().get_help_record(ctx)


def help_all(about: str) -> click.Option:
    """An option that shows all of a command's help; `about` says what it adds."""

    def show(context: click.Context, option: click.Parameter, is_wanted: bool) -> None:
        if is_wanted and not context.resilient_parsing:
            context.meta[SHOWS_ALL] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return _HelpAll(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=about,
    )
