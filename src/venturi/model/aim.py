"""How well medians are to be known: repetitions go on until they are."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from venturi.model.document import Document, Positive, Seconds

Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]

MOST_REPETITIONS = 100


class Aim(Document):
    """When repetitions are enough: by how well medians are known, never by what they are.

    There are six in any case that time allows: fewer have no interval of 95 %.
    """

    within: Share = 0.05
    """Every median's interval reaches no further than this share of it to either side."""
    detect: Share | None = None
    """In place of that: two such runs would detect a change of this share, in at least nine of ten
    comparisons."""
    budget_s: Seconds = 600.0
    """What all repetitions may take; one that is under way comes to its end."""
    most: Positive = MOST_REPETITIONS
    """Repetitions at most."""
