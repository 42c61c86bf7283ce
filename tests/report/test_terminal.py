"""What commands print: 80 columns, no markup from names, ASCII where there is no UTF-8."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_factory import Shape, invalid, record, substituted, workload
from rich.console import Console

from venturi.model.record import Record
from venturi.model.workload import Workload
from venturi.report import terminal
from venturi.report.character import shown
from venturi.report.phase import phases
from venturi.report.printer import Printer
from venturi.report.quantity import Units


def console(width: int = 80, encoding: str = "utf-8") -> Console:
    """A console without colour that keeps what it is told."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    return Console(file=stream, width=width, highlight=False)


def said(to: Console) -> str:
    """What was printed, decoded as the stream encodes."""
    stream = to.file
    assert isinstance(stream, io.TextIOWrapper)
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(stream.encoding)


@pytest.mark.parametrize("made", [record(), substituted(), invalid(), record(shapes=())])
def test_the_summary_fits_80_columns(made: Record) -> None:
    to = console()
    terminal.print_summary(made, to)
    lines = said(to).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:1] == [made.verdict.level.value] for line in lines)
    assert f"venturi report {made.id}" in said(to)


def test_the_summary_has_median_interval_and_range() -> None:
    to = console()
    terminal.print_summary(record(), to, saved="archive/r7k2m4q8")
    text = said(to)
    heading = next(line for line in text.splitlines() if "PHASE" in line)
    for title in ("MEDIAN", "95 % INTERVAL", "MIN..MAX", "FLUSHED"):
        assert title in heading
    phase = phases(record())[0]
    rows = [line for line in text.splitlines() if line.startswith(" checkpoint ")]
    row = next(line for line in rows if " .. " in line)
    assert phase.text(phase.rate.median, Units.IEC) in row
    assert phase.bounds(phase.rate.low, phase.rate.high, Units.IEC, " .. ") in row
    assert "archive/r7k2m4q8" in text


def test_a_heading_claims_no_more_than_the_intervals_below_it() -> None:
    """`substituted` has three repetitions, whose range covers the median in 75 % of cases."""
    to = console()
    terminal.print_summary(substituted(), to)
    assert "95 % INTERVAL" not in said(to)
    assert " INTERVAL " in said(to)
    assert said(to).count("(75 %)") >= len(phases(substituted()))


def test_what_is_wrong_is_noted() -> None:
    to = console()
    terminal.print_summary(invalid(), to)
    text = said(to)
    assert "1 error" in text
    assert "2 of 6 repetitions" in text
    assert "venturi results rm r7k2m4q8 --files" in text


def test_names_cannot_paint_or_move_the_cursor() -> None:
    name = "[red]x[/red]\x1b[2J"
    to = console()
    terminal.print_summary(record(name=name, shapes=(Shape(name, "write", 4, 4096, 1e8),)), to)
    text = said(to)
    assert "\x1b" not in text
    assert "[red]x" in text


def test_ascii_terminals_get_ascii() -> None:
    to = console(encoding="ascii")
    terminal.print_summary(invalid(), to)
    terminal.print_derived(Workload.model_validate_json(json.dumps(workload())), to)
    assert said(to).isascii()
    assert shown("1 µs − 2 ▁█ é", utf8=False) == "1 us - 2 .# ?"


def test_a_derived_workload_shows_streams_ior_and_findings_by_severity() -> None:
    to = console()
    terminal.print_derived(Workload.model_validate_json(json.dumps(workload())), to)
    text = said(to)
    assert "ior -a POSIX -w -r -t 1m -b 96m -s 1 -e" in text
    assert text.index("HIGH") < text.index("MEDIUM")
    assert "unknown" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("streams", [4, 6])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_what_is_said_of_streams_is_never_cut(streams: int, width: int) -> None:
    data = workload()
    told = data["origin"]["confidence"]
    data["origin"]["confidence"] = [
        {**entry, "stream": f"stream{number}"} for number in range(streams) for entry in told
    ]
    to = console(width=width)
    terminal.print_derived(Workload.model_validate_json(json.dumps(data)), to)
    text = said(to)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    assert "…" not in flat
    for number in range(streams):
        assert f"stream{number}" in flat.lower()
    for entry in told:
        assert flat.count(entry["value"]) >= streams


@pytest.mark.parametrize(("holds", "word"), [(True, "holds"), (False, "DIFFERS")])
def test_a_plan_says_whether_promises_hold(holds: bool, word: str) -> None:
    to = console()
    totals = {
        "bytes_written": 81_920_000_000,
        "bytes_read": 0,
        "files": 1,
        "operations": 1344,
        "operations_by_kind": {"write": 1280},
    }
    expected = {"name": "bytes_written", "expected": 1, "planned": 1, "holds": holds}
    summary = {
        "name": "flash3",
        "ranks": 64,
        "totals": totals,
        "expect": [expected],
        "substituted": [{"file": "chk", "wanted": "hdf5", "used": "posix"}],
        "warnings": ["the phase is short"],
    }
    terminal.print_workload_plan(summary, to)
    assert "81,920,000,000 B" in said(to)
    assert "76.3 GiB" in said(to)
    assert word in said(to)
    assert "chk: posix stands in for hdf5" in said(to)
    assert "warning: the phase is short" in said(to)


@pytest.mark.parametrize("width", [40, 45, 60, 80])
def test_what_is_beside_the_first_column_is_never_cut(width: int) -> None:
    titles = ("PHASE", "", "MEDIAN", "INTERVAL", "CHANCE", "FLUSHED")
    rows = [
        (
            "a phase with a long name",
            "first",
            "1.18 GiB/s",
            "695 MiB/s to 1.85 GiB/s",
            "0.02",
            "fsync",
        ),
        ("", "second", "1.55 GiB/s", "735 MiB/s to 2.14 GiB/s", "", "not flushed"),
    ]
    to = console(width=width)
    Printer(to).table(titles, rows, left=("",))
    text = said(to)
    assert max(map(len, text.splitlines())) <= width
    assert all(cell in text for row in (titles, *rows) for cell in row[1:])
    assert text.count("PHASE") == {40: 3, 45: 3, 60: 2, 80: 1}[width]


@given(widths=st.lists(st.integers(1, 30), min_size=2, max_size=6), width=st.integers(20, 100))
def test_a_table_that_fits_is_not_cut(widths: list[int], width: int) -> None:
    cells = [("x" * one for one in widths), ("y" * one for one in widths)]
    titles, row = (list(one) for one in cells)
    to = console(width=width)
    out = Printer(to)
    out.table(titles, [row])
    is_whole = all(cell in said(to).split() for cell in (*titles, *row))
    assert is_whole or not out.fits(list(zip(titles, row, strict=True)))


def test_a_table_that_is_too_wide_cuts_the_first_column_only() -> None:
    name = "a phase with a name that is much too long for a terminal of eighty columns"
    to = console()
    terminal.print_summary(record(shapes=(Shape(name, "create", 4, 0, 1e8),)), to)
    lines = said(to).splitlines()
    row = next(line for line in lines if line.startswith(" a phase"))
    assert len(row) <= 80
    assert "creates/s" in row
    assert "…" in row
