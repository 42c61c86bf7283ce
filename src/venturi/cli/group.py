"""A command with sub-commands whose list says each one's first sentence as a whole."""

from __future__ import annotations

import click

from venturi.cli.help import HelpCommand

_NO_LIMIT = 1000
"""Characters; click would cut sentences after 45."""


class WholeGroup(click.Group):
    """A group whose help wraps what it says of its commands and cuts nothing off."""

    command_class = HelpCommand

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_NO_LIMIT))
            for name, command in commands
            if command is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
