"""The files that steps of a plan use."""

from __future__ import annotations

from collections.abc import Iterator

from venturi.model import plan as p
from venturi.plan.walk import leaves


def files_in(steps: list[p.Step]) -> Iterator[int]:
    """Yield the index of the file of every step, nested ones included, whichever rank runs it."""
    for step, _ in leaves(steps):
        if isinstance(step, p.Transfer | p.Items | p.Manage | p.Sync):
            yield step.file
