"""Times of day that other programs wrote, most of them without saying in which time zone.

A zone's clock shows some times twice in a year and some never. What a program says besides (how
long it took, what came before) tells which one is meant; where nothing does, there is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from venturi.model.error import UserError

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
_EPOCH = re.compile(r"\d{9,11}(\.\d+)?")
_SLACK_NS = 2 * 10**9
"""Programs write whole seconds: by so much the parts of an interval may disagree."""


class TwoTimesError(ValueError):
    """A time that a zone's clocks showed twice, and nothing tells which one is meant."""


@dataclass(frozen=True)
class LocalZone:
    """The zone of times that bear none; `zone` None is this host's."""

    zone: tzinfo | None = None

    @property
    def name(self) -> str:
        """How a message calls it."""
        return "this host's time zone" if self.zone is None else str(self.zone)

    def moments_ns(self, text: str) -> list[int]:
        """Return what a text may mean, in ns since 1970: two moments where clocks went back.

        Seconds since 1970 and times with an offset are exact. None: the zone's clocks were put
        forward over it. Raises ValueError where the text is no time.
        """
        text = text.strip()
        if _EPOCH.fullmatch(text):
            return [round(float(text) * 1e9)]
        said = datetime.fromisoformat(text)
        if said.tzinfo is not None:
            return [_ns(said)]
        return sorted({_ns(moment) for moment in self._instants(said)})

    def _instants(self, said: datetime) -> Iterator[datetime]:
        for fold in (0, 1):
            local = said.replace(fold=fold)
            moment = local.astimezone() if self.zone is None else local.replace(tzinfo=self.zone)
            back = moment.astimezone(UTC).astimezone(self.zone)
            if back.replace(tzinfo=None, fold=0) == said.replace(fold=0):
                yield moment.astimezone(UTC)


def zone_of(text: str | None) -> LocalZone:
    """Return the zone that a user names: `Europe/Berlin`, `UTC`, `+02:00`; None: this host's.

    Raises UserError where there is no such zone.
    """
    if text is None:
        return LocalZone()
    if found := _OFFSET.fullmatch(text):
        sign = -1 if found[1] == "-" else 1
        offset = sign * timedelta(hours=int(found[2]), minutes=int(found[3]))
        if abs(offset) < timedelta(hours=24):
            return LocalZone(timezone(offset))
    try:
        return LocalZone(ZoneInfo(text))
    except (ValueError, OSError, KeyError):
        raise UserError(
            f"--zone: there is no time zone {text!r}", "for example Europe/Berlin, UTC or +02:00"
        ) from None


def interval_ns(
    zone: LocalZone,
    begin: str,
    end: str,
    seconds: float | None = None,
    not_before_ns: int | None = None,
) -> tuple[int, int]:
    """Return begin and end of an interval, in ns since 1970.

    `seconds` is how long it took and `not_before_ns` when what came before it ended, where that is
    known. Raises ValueError, with what is wrong, where the texts are no interval, and TwoTimesError
    where they may be two.
    """
    begins, ends = _moments(zone, begin), _moments(zone, end)
    pairs = [(a, b) for a in begins for b in ends if a <= b]
    if not pairs:
        raise ValueError(f"ends ({end}) before it begins ({begin})")
    if seconds is not None:
        fitting = [(a, b) for a, b in pairs if abs(b - a - seconds * 1e9) <= _SLACK_NS]
        pairs = fitting or pairs
    if not_before_ns is not None:
        behind = [pair for pair in pairs if pair[0] >= not_before_ns - _SLACK_NS]
        return min(behind or pairs)
    if len(pairs) > 1:
        raise TwoTimesError(
            f"{begin} to {end} may be two times in {zone.name}: its clocks went back"
        )
    return pairs[0]


def moment_ns(zone: LocalZone, text: str) -> int:
    """Return the moment that a text means. Raises ValueError where it is none, or may be two."""
    found = _moments(zone, text)
    if len(found) > 1:
        raise TwoTimesError(f"{text} may be two times in {zone.name}: its clocks went back")
    return found[0]


def _moments(zone: LocalZone, text: str) -> list[int]:
    try:
        found = zone.moments_ns(text)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time") from None
    if not found:
        raise ValueError(f"there was no {text} in {zone.name}: its clocks went forward")
    return found


def _ns(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
