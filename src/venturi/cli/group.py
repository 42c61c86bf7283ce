"""A command with sub-commands whose list says each one's first sentence as a whole."""

from __future__ import annotations

import click

_NO_LIMIT = 1000
"""Characters; click would cut sentences after 45."""


class WholeGroup(click.Group):
    """A group whose help wraps what it says of its commands and cuts nothing off."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        rows = [
            (command.name or "", command.get_short_help_str(_NO_LIMIT))
            for command in commands
            if command is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
