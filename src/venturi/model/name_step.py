"""Steps of the language that give a file another name, or cut it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from venturi.model.document import Document
from venturi.model.verb import CopyWay

Value = Annotated[int | float | str, Field(union_mode="left_to_right")]
"""A number, a number with a unit, or an expression."""


class RenameStep(Document):
    """A file gets the name of another entry; what the run made under that name before is gone."""

    on: str
    to: str


class CopyStep(Document):
    """A file is opened, copied whole to another entry's, which is made, and both are closed.

    Of trees: each item of the one to that of the other with the same number.
    """

    from_: str = Field(alias="from")
    to: str
    by: CopyWay = CopyWay.CLONE
    """What is tried first."""


class TruncateStep(Document):
    """The long form of `truncate`: an open file is cut, or extended, to a size."""

    on: str
    size: Value = 0
