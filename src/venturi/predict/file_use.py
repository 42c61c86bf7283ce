"""The files that steps of a plan use."""

from __future__ import annotations

from collections.abc import Iterator

from venturi.model import plan as p


def files_in(steps: list[p.Step]) -> Iterator[int]:
    """Yield the index of the file of every step, nested ones included, whichever rank runs it."""
    for step in steps:
        if isinstance(step, p.For | p.When | p.Phase | p.Repeat):
            yield from files_in(step.body)
        elif isinstance(step, p.Transfer | p.Items | p.Manage | p.Sync):
            yield step.file
