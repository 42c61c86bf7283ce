"""What was felt on a run's file system meanwhile: asked for when the run is over, and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from venturi.model.background import Background
from venturi.model.event import Event, Hello, PhaseFinished
from venturi.model.host_sample import HostSample
from venturi.model.statistic import median

BACKGROUND_NAME = "background.jsonl"
"""In a journal: what each probe felt, a line each."""


@dataclass(frozen=True)
class RepetitionTime:
    """When a repetition went on, in seconds after hello: first start to last end of its phases."""

    repetition: int
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class RunTimes:
    """When a run went on."""

    hello_s: float
    """The wall clock at hello, in seconds since 1970."""
    repetitions: Sequence[RepetitionTime]


BackgroundReader = Callable[[RunTimes, Callable[[], bool]], Sequence[Background]]
"""Returns what was felt. It may wait some seconds for what comes after the run, until the second
argument says that the user is in a hurry."""


def hello_s(samples: Sequence[HostSample], started: str) -> float:
    """Return the wall clock at the moment from which a run's times count.

    `started` (ISO 8601) stands in where the host was not sampled; it is some moments early.
    """
    if samples:
        return median([one.wall_s - one.at_s for one in samples])
    return datetime.fromisoformat(started).timestamp()


def times_of(events: Iterable[Event], samples: Sequence[HostSample]) -> RunTimes | None:
    """Return when a run went on; None where no phase came to its end."""
    said = ""
    spans: dict[int, tuple[float, float]] = {}
    for event in events:
        if isinstance(event, Hello):
            said = event.time
        elif isinstance(event, PhaseFinished):
            begin_s, end_s = event.at_s, event.at_s + event.seconds.total
            old = spans.get(event.repetition, (begin_s, end_s))
            spans[event.repetition] = (min(old[0], begin_s), max(old[1], end_s))
    if not spans or not said:
        return None
    return RunTimes(
        hello_s=hello_s(samples, said),
        repetitions=[RepetitionTime(number, *spans[number]) for number in sorted(spans)],
    )


def lines_of(backgrounds: Iterable[Background]) -> str:
    """What is kept in a journal."""
    return "".join(f"{one.to_json()}\n" for one in backgrounds)


def read_backgrounds(folder: Path) -> Iterator[Background]:
    """What a journal has; a line that was cut off by a kill is left out."""
    path = folder / BACKGROUND_NAME
    for line in path.read_text("utf-8", "replace").splitlines() if path.exists() else ():
        try:
            yield Background.model_validate_json(line)
        except ValidationError:
            continue
