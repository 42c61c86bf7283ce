"""Progress: the course of a run from its events, plain lines, and a live terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from venturi.model.event import (
    CacheState,
    ClockFacts,
    Event,
    Hello,
    PhaseFinished,
    PhaseSeconds,
    PhaseStarted,
    Progress,
    RankTimes,
    Remark,
    StoppedBy,
    TimeLine,
    Warning,
)
from venturi.model.plan import SyncMode
from venturi.report.live import LiveView, Setting, sparkline
from venturi.report.run_progress import RunProgress

BYTES = 800
STEPS = 8


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


def finished(path: str, repetition: int) -> PhaseFinished:
    """A phase of 800 bytes in 2 seconds."""
    ranks = RankTimes(
        bytes=[], operations=[], open_s=[], transfer_s=[], close_s=[], total_s=[], start_s=[]
    )
    return PhaseFinished(
        path=path,
        group="a",
        instance=0,
        repetition=repetition,
        iteration=[],
        at_s=0.0,
        bytes=BYTES,
        operations=8,
        errors=0,
        ranks=4,
        seconds=PhaseSeconds(open=0.0, transfer=2.0, close=0.0, compute=0.0, total=2.0),
        by_operation=[],
        request_sizes=[],
        per_rank=ranks,
        time_line=TimeLine(bin_s=0.0, bytes_written=[], bytes_read=[], operations=[]),
        stopped_by=StoppedBy.WORK,
        cache=CacheState.COLD,
        cache_reason="",
        flushed=SyncMode.NONE,
        details=[],
    )


def events(repetitions: int = 2) -> Iterator[Event]:
    """A run of one phase, in eight steps of a quarter of a second."""
    clock = ClockFacts(source="tsc", resolution_ns=1.0, overhead_ns=1.0)
    yield Hello(
        run="x",
        engine="1",
        comm="forked",
        ranks=4,
        hosts=["a"],
        node_of_rank=[0] * 4,
        clock=clock,
        time="",
    )
    for repetition in range(repetitions):
        yield PhaseStarted(
            path="dump", group="a", instance=0, repetition=repetition, iteration=[], at_s=0.0
        )
        for step in range(1, STEPS + 1):
            yield Progress(
                path="dump",
                repetition=repetition,
                at_s=step / 4,
                bytes=step * BYTES // STEPS,
                operations=step,
                active=4 if step < STEPS else 3,
            )
        yield finished("dump", repetition)


def test_the_course_knows_rates_and_shares() -> None:
    progress = RunProgress()
    stream = list(events())
    for event in stream[:5]:
        progress.feed(event)
    assert (progress.path, progress.bytes, progress.ranks, progress.active) == ("dump", 300, 4, 4)
    assert progress.now_rate == pytest.approx(400)
    assert progress.mean_rate == pytest.approx(400)
    assert progress.share is None
    for event in stream[5:14]:
        progress.feed(event)
    assert progress.repetition == 1
    assert progress.share == pytest.approx(progress.bytes / BYTES)
    assert progress.done["dump"].rate == pytest.approx(400)


def test_a_limit_or_the_plan_gives_the_bar_its_length() -> None:
    progress = RunProgress(expected_bytes={"dump": 1600})
    for event in list(events())[:6]:
        progress.feed(event)
    assert progress.share == pytest.approx(0.25)
    progress.feed(
        PhaseStarted(
            path="free", group="a", instance=0, repetition=0, iteration=[], at_s=0.0, limit_s=10.0
        )
    )
    progress.feed(Progress(path="free", repetition=0, at_s=4.0, bytes=0, operations=7, active=4))
    assert progress.share == pytest.approx(0.4)
    assert progress.mean_rate == pytest.approx(7 / 4)


def test_elsewhere_one_line_in_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    stream = io.StringIO()
    with LiveView(Setting("flash", 2), stream, clock=lambda: now[0]) as view:
        for event in events():
            view.feed(event)
            now[0] += 2.5
    lines = stream.getvalue().splitlines()
    assert len(lines) == int((now[0] - 2.5) // 10)
    assert lines[0].startswith("0:10 flash repetition 1/2  dump  now 400 B/s")
    assert "\x1b" not in stream.getvalue()
    assert capsys.readouterr().out == ""


def test_warnings_are_said_at_once_and_cannot_move_the_cursor() -> None:
    stream = io.StringIO()
    with LiveView(Setting("flash"), stream) as view:
        view.feed(Warning(what="the disk\x1b[2J is nearly full"))
        view.feed(Remark(what="still removing"))
    assert stream.getvalue() == "warning: the disk [2J is nearly full\nstill removing\n"


def test_a_terminal_shows_phase_rates_and_ranks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    out = sys.stdout
    with LiveView(Setting("flash", 2), stream) as view:
        for event in list(events())[:8]:
            view.feed(event)
    text = stream.getvalue()
    for words in ("flash", "repetition 1/2", "dump", "ranks 4/4 active", "Ctrl-C"):
        assert words in text
    assert sys.stdout is out
    assert capsys.readouterr().out == ""


def test_no_color_paints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    with LiveView(Setting("flash"), stream) as view:
        view.feed(next(events()))
    assert "\x1b[36m" not in stream.getvalue()


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    now = [0.0]
    with LiveView(Setting("flash"), stream, clock=lambda: now[0]) as view:
        for event in events():
            view.feed(event)
            now[0] += 6.0
    assert "\x1b" not in stream.getvalue()
    assert "dump" in stream.getvalue()


def test_sparklines() -> None:
    assert sparkline([0, 1, 2, 4, 8]) == "▁▂▃▅█"
    assert sparkline([0, 0]) == ""
