"""How long a search, a profile or a wait may be told to take."""

from __future__ import annotations

MOST_BUDGET_S = 10 * 24 * 3600
"""Ten days."""


def is_budget(seconds: float) -> bool:
    """Whether so many seconds are a time that something can be done in: from 1 s to ten days."""
    return 1 <= seconds <= MOST_BUDGET_S
