"""A command with sub-commands whose list says each one's first sentence as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import click

from venturi.cli.help import SHOWS_ALL, HelpCommand, help_all, hides_options

_NO_LIMIT = 1000
"""Characters; click would cut sentences after 45."""


class WholeGroup(click.Group):
    """A group whose help wraps what it says of its commands and cuts nothing off.

    It has `--help-all` where it has a hidden command or one whose own `--help` hides options.
    """

    command_class = HelpCommand

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its options; `--help` stays the last."""
        *own, last = super().get_params(ctx)
        if any(below.hidden or hides_options(below) for _, below in _commands_of(self, ctx)):
            own.append(help_all("Show all options of its commands, too."))
        return [*own, last]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shows_all = ctx.meta.get(SHOWS_ALL)
        names = self.list_commands(ctx)
        commands = {name: found for name in names if (found := self.get_command(ctx, name))}
        rows = [
            (name, command.get_short_help_str(_NO_LIMIT))
            for name, command in commands.items()
            if shows_all or not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        if shows_all:
            for below, command in _commands_of(self, ctx):
                _write_options(below, command, formatter)


def _commands_of(
    group: click.Group, context: click.Context
) -> Iterator[tuple[click.Context, click.Command]]:
    """Each command below a group that is no group itself, and its context."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        below = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands_of(command, below)
        else:
            yield below, command


def _write_options(
    context: click.Context, command: click.Command, formatter: click.HelpFormatter
) -> None:
    """Write a command's own options, below how it is used; nothing where it has none."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    rows = [row for one in options if (row := one.get_help_record(context)) is not None]
    if rows:
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        with formatter.section(usage):
            formatter.write_dl(rows)
