"""Parts of a probe's history, as people write them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from venturi.model.error import UserError

_FAR_NS = 2**62


@dataclass(frozen=True)
class Span:
    """From a moment on, up to another one; since 1970, UTC."""

    begin_ns: int = 0
    end_ns: int = _FAR_NS


def span_between(begin: str | None, end: str | None) -> Span:
    """Return the time between two texts. Raises UserError where one is no time."""
    span = Span(
        _moment_ns(begin, "--begin") if begin else 0, _moment_ns(end, "--end") if end else _FAR_NS
    )
    if span.begin_ns >= span.end_ns:
        raise UserError("--end is not later than --begin")
    return span


def _moment_ns(text: str, option: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"{option}: {text!r} is no time", "write it like 2026-11-25T08:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) * 10**9
