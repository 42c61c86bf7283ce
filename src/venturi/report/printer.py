"""Printing on a terminal: text that may hold anything, never taken for markup."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

from venturi.report.character import shown, speaks_utf8

if TYPE_CHECKING:
    from rich.console import Console


_SHORTEST_FIRST = 8


class Printer:
    """Prints text that may hold anything: no markup, no control codes, ASCII where needed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._utf8 = speaks_utf8(console.encoding)

    def line(self, *parts: str | tuple[str, str]) -> None:
        """One line of plain or (text, style) parts."""
        from rich.text import Text

        plain = [part if isinstance(part, tuple) else (part, "") for part in parts]
        text = Text.assemble(*((shown(text, self._utf8), style) for text, style in plain))
        self._console.print(text, soft_wrap=len(text) <= self._console.width)

    def unbroken(self, lead: str, text: str) -> None:
        """A line that is never wrapped, because a path or command in it is copied."""
        from rich.text import Text

        parts = ((lead, "dim"), (text, ""))
        line = Text.assemble(*((shown(part, self._utf8), style) for part, style in parts))
        self._console.print(line, soft_wrap=True)

    def wrapped(self, lead: str, text: str, style: str = "") -> None:
        """A paragraph whose lines begin below the first one's text, behind `lead` in a style."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid()
        if lead:
            grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        parts = (lead, text) if lead else (text,)
        cells = [Text(shown(part, self._utf8)) for part in parts]
        if lead:
            cells[0].stylize(style)
        grid.add_row(*cells)
        self._console.print(Padding(grid, (0, 0, 0, 1), expand=False))

    def fits(self, columns: Sequence[Sequence[str]]) -> bool:
        """Whether a table of these columns, titles among them, cuts nothing off."""
        return self.room(columns) >= 0

    def room(self, columns: Sequence[Sequence[str]]) -> int:
        """The characters that a table of these columns, titles among them, leaves in a line."""
        widths = [max(map(len, column)) for column in columns]
        return self._console.width - 1 - sum(widths) - len(widths)

    def table(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: Collection[str] = (),
        prose: bool = False,
    ) -> None:
        """A table without rules; columns but the first are set right, those in `left` left.

        Without any title there is no heading. If it is too wide, columns move together, then the
        first is cut, and then the last ones stand below, behind the first once more; with
        `prose`, the last one wraps instead.
        """
        count = len(titles) if prose else self._fitting((titles, *rows))
        if count < len(titles):
            self.table(titles[:count], [row[:count] for row in rows], left)
            below = [(row[0], *row[count:]) for row in rows]
            self.table((titles[0], *titles[count:]), below, left)
            return
        self._table(titles, rows, left, prose)

    def _fitting(self, cells: Sequence[Sequence[str]]) -> int:
        """How many columns fit beside each other with a short first one; 2 at least."""
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = self._console.width - 2 - min(widths[0], _SHORTEST_FIRST)
        count = 1
        while count < len(widths) and (count < 2 or widths[count] + 1 <= room):
            room -= widths[count] + 1
            count += 1
        return count

    def _table(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: Collection[str],
        prose: bool,
    ) -> None:
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        cells = [[shown(cell, self._utf8) for cell in row] for row in (titles, *rows)]
        widths = [max(len(row[index]) for row in cells) for index in range(len(titles))]
        room = self._console.width - 1
        gap = 2 if prose or sum(widths) + 2 * len(widths) <= room else 1
        first = room - sum(widths[1:]) - gap * len(widths)
        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, gap, 0, 0),
            header_style="dim",
            show_header=any(titles),
        )
        for index, title in enumerate(titles):
            justify: Literal["left", "right"] = "left" if not index or title in left else "right"
            wraps = prose and index == len(titles) - 1
            fixed = index > 0 and not wraps
            table.add_column(
                Text(cells[0][index]),
                justify=justify,
                no_wrap=not wraps,
                min_width=widths[index] if fixed else None,
                max_width=None if index or prose else max(first, _SHORTEST_FIRST),
                overflow="fold" if wraps else "ellipsis" if self._utf8 else "crop",
            )
        for row in cells[1:]:
            table.add_row(*(Text(cell) for cell in row))
        self._console.print(Padding(table, (0, 0, 0, 1), expand=False))
