"""Progress while a run lasts: a live display on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import fill
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from venturi.model.event import Event, Remark, Warning
from venturi.report import quantity
from venturi.report.character import shown, speaks_utf8
from venturi.report.quantity import Units
from venturi.report.run_progress import Done, RunProgress

if TYPE_CHECKING:
    from rich.text import Text

_LINE_EVERY_S = 10.0
_COLUMNS = 80
_BAR = 28
_NAME = 22
_MOST_DONE = 8
_SPARKS = "▁▂▃▄▅▆▇█"
_REFRESHES_PER_S = 4


@dataclass(frozen=True)
class Setting:
    """What a display knows before the run starts."""

    name: str
    repetitions: int = 1
    expected_bytes: Mapping[str, int] | None = None
    """Bytes of each phase, by path, where the plan knows them; they give the bar its length."""
    units: Units = Units.IEC
    is_open: bool = False
    """There are as many repetitions as are needed, and no more than `repetitions`."""

    def place_of(self, repetition: int) -> str:
        """Which repetition this is, counted from 0, of how many."""
        return f"repetition {repetition + 1}" + ("" if self.is_open else f"/{self.repetitions}")


def _clock_text(elapsed_s: float) -> str:
    """`4:05` or `1:02:03`."""
    whole = int(elapsed_s)
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _rate_text(value: float, in_bytes: bool, units: Units) -> str:
    return quantity.rate(value, units) if in_bytes else quantity.operation_rate(value)


def sparkline(values: list[float]) -> str:
    """The values as blocks of eight heights, from 0 to the largest."""
    top = max(values, default=0.0)
    if top <= 0:
        return ""
    return "".join(_SPARKS[min(int(8 * value / top), 7)] for value in values)


class LiveView:
    """Shows the events of one run on stderr, and nothing on stdout.

    Use it as a context manager and `feed` it every event. On a terminal it redraws four times
    a second; elsewhere, and with TERM=dumb, it prints one line when ten seconds have passed.
    """

    def __init__(
        self,
        setting: Setting,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._setting = setting
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._progress = RunProgress(expected_bytes=setting.expected_bytes or {})
        self._utf8 = speaks_utf8(getattr(self._stream, "encoding", None))
        self._start_s = clock()
        self._last_line_s = self._start_s
        self._live: Any = None

    def __enter__(self) -> LiveView:
        if self._stream.isatty() and os.environ.get("TERM") != "dumb":
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, no_color="NO_COLOR" in os.environ or None)
            self._live = Live(
                get_renderable=self._picture,
                console=console,
                refresh_per_second=_REFRESHES_PER_S,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def feed(self, event: Event) -> None:
        """Take in one event and show what it changes."""
        self._progress.feed(event)
        if isinstance(event, Warning):
            self._say(f"warning: {event.what}")
        elif isinstance(event, Remark):
            self._say(event.what)
        elif self._live is None and self._clock() - self._last_line_s >= _LINE_EVERY_S:
            self._last_line_s = self._clock()
            self._say(self.line())

    def close(self) -> None:
        """Take the display away; what is printed afterwards begins on a clean line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: str) -> None:
        """One whole line, above the display where there is one."""
        clean = shown(text, self._utf8)
        if self._live is not None:
            self._live.console.print(clean, markup=False, highlight=False)
        else:
            print(fill(clean, _COLUMNS, subsequent_indent="  "), file=self._stream, flush=True)

    def line(self) -> str:
        """The state as one plain line, as a batch log shows it."""
        progress, setting = self._progress, self._setting
        elapsed = _clock_text(self._clock() - self._start_s)
        head = f"{elapsed} {setting.name} {setting.place_of(progress.repetition)}"
        if not progress.path:
            return f"{head} between phases"
        share = progress.share
        parts = [head, progress.path]
        if share is not None:
            parts.append(quantity.percent(share))
        for name, rate in (("now", progress.now_rate), ("avg", progress.mean_rate)):
            parts.append(f"{name} {_rate_text(rate, progress.in_bytes, setting.units)}")
        parts.append(f"ranks {progress.active}/{progress.ranks}")
        line = "  ".join(parts)
        return line if len(line) <= _COLUMNS else "  ".join(p for p in parts if p[:4] != "now ")

    def _picture(self) -> Text:
        """The display: finished phases, the running one, its rates and their course."""
        from rich.text import Text

        progress, setting = self._progress, self._setting
        text = Text(no_wrap=True, overflow="ellipsis")
        elapsed = _clock_text(self._clock() - self._start_s)

        def add(part: str, style: str = "") -> None:
            text.append(shown(part, self._utf8), style)

        add(f" {setting.name}", "bold")
        ranks = quantity.counted(progress.ranks, "rank")
        add(f"   {ranks}   {setting.place_of(progress.repetition)}")
        add(f"   elapsed {elapsed}", "dim")
        for path, done in list(progress.done.items())[-_MOST_DONE:]:
            if path != progress.path:
                text.append("\n")
                add(self._done_line(path, done))
        if progress.path:
            text.append("\n")
            add(f" ▸ {progress.path:<{_NAME}.{_NAME}} ", "bold")
            add(self._bar(progress.share), "cyan")
            now = _rate_text(progress.now_rate, progress.in_bytes, setting.units)
            mean = _rate_text(progress.mean_rate, progress.in_bytes, setting.units)
            text.append("\n")
            add(f"   now {now:<13} avg {mean:<13} ranks {progress.active}/{progress.ranks} active")
            if progress.history:
                text.append("\n")
                add("   rate ", "dim")
                add(sparkline(list(progress.history)), "cyan")
        text.append("\n")
        add("   Ctrl-C: stop after this repetition or 10 s; twice: now", "dim")
        return text

    def _done_line(self, path: str, done: Done) -> str:
        rate = _rate_text(done.rate, done.in_bytes, self._setting.units)
        return f" ✓ {path:<{_NAME}.{_NAME}} {rate:<14} n={done.times}"

    def _bar(self, share: float | None) -> str:
        if share is None:
            return f"{quantity.seconds(self._progress.at_s)} so far"
        full = round(share * _BAR)
        return f"{'█' * full}{'░' * (_BAR - full)} {quantity.percent(share)}"
