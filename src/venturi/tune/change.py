"""What a change is: a key, the values worth trying, and how a workload with it looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from venturi.model.error import UserError
from venturi.model.tuning import Durability, Meaning
from venturi.model.units import size_text, with_unit
from venturi.model.workload import Workload
from venturi.tune.evaluation_context import EvaluationContext

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kKMGT]?i?B)")
_SAME = Meaning()


@dataclass(frozen=True)
class Variant:
    """A workload with a change, and what it asks of whoever would make it."""

    workload: Workload
    what: str
    """A few words: what is other than before."""
    advice: str
    """One sentence that names the call or the setting to change."""
    meaning: Meaning = field(default=_SAME)
    reads_less: bool = False
    """What is read again may be missing; else it must move the same bytes as before."""


@dataclass(frozen=True)
class TuningChange:
    """One way in which an application, or a job, could do its I/O otherwise."""

    key: str
    """As in `--what-if key=value`."""
    form: str
    """How a value looks, for messages."""
    values: Callable[[EvaluationContext], Sequence[str]]
    """Those worth trying on a workload, the likeliest gain first; may be more than apply."""
    make: Callable[[EvaluationContext, str], Variant]
    """The workload with the change. Raises DoesNotApply, and UserError for what is no value."""


def size_of(text: str, key: str) -> int:
    """The bytes of a value such as `4MiB`; UserError for anything else."""
    found = _SIZE.fullmatch(text.strip())
    try:
        size = int(with_unit(found[1], found[2])) if found else 0
    except ValueError:
        size = 0
    if size < 1:
        raise UserError(f"{key}={text}: this is no size", f"for instance {key}=4MiB")
    return size


def count_of(text: str, key: str, least: int = 1) -> int:
    """The number of a value such as `4`; UserError for anything else."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) < least:
        raise UserError(f"{key}={text}: this is no number of {least} or more")
    return int(text)


def one_of(text: str, key: str, words: Sequence[str]) -> str:
    """The value, if it is one of the words; else UserError."""
    if text not in words:
        raise UserError(f"{key}={text}: no such value", f"one of {', '.join(words)}")
    return text


def size_value(size_bytes: int) -> str:
    """A size as the value of a change: `4MiB`."""
    return size_text(size_bytes).replace(" ", "")


def weaker(assumes: str) -> Meaning:
    """The meaning of a change after which a crash may take more."""
    return Meaning(durability=Durability.WEAKER, assumes=assumes)
