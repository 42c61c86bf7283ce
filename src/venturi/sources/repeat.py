"""What was understood of a line, kept for lines that differ from it in times and places alone."""

from __future__ import annotations

from typing import TypeVar

Meaning = TypeVar("Meaning")

MOST_KEPT = 16_384


class Repeats(dict[str, Meaning]):
    """Meanings by what is constant in a line. When it is full it forgets all and begins anew:

    a program does other things later, and one that never repeats itself must cost no memory.
    """

    def keep(self, key: str, meaning: Meaning) -> None:
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = meaning
