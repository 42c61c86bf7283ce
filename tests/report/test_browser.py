"""The page in a real browser: it is not blank, in light and in dark, and nothing complains."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from record_factory import invalid, record, substituted

from accessibility import violations
from browser import HEADLESS, PROGRAM, Browser
from venturi.model.record import Record
from venturi.report.html import render_html

WIDTH, HEIGHT = 900, 1400
OPTIONS = (*HEADLESS, "--enable-logging=stderr", f"--window-size={WIDTH},{HEIGHT}")


def grey_rows(png: bytes) -> list[bytes]:
    """The red channel of an 8-bit RGB or RGBA picture, row by row (PNG, sections 9 and 11)."""
    width, _, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert depth == 8
    step = {2: 3, 6: 4}[colour]
    at, data = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(data)
    before, rows = bytearray(width * step), []
    for start in range(0, len(raw), width * step + 1):
        line = bytearray(raw[start + 1 : start + 1 + width * step])
        _unfilter(raw[start], line, before, step)
        rows.append(bytes(line[::step]))
        before = line
    return rows


def _unfilter(kind: int, line: bytearray, above: bytearray, step: int) -> None:
    for i in range(len(line)):
        a = line[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        paeth = a if pa <= pb and pa <= pc else b if pb <= pc else c
        line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 0xFF


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.mark.needs("browser", "axe")
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("records", [[record()], [record(), substituted(), invalid()]])
def test_no_rule_of_accessibility_is_broken(
    opened: Browser, tmp_path: Path, records: list[Record], width: int
) -> None:
    """With one chapter, and with several; narrow ones scroll."""
    page = tmp_path / "page.html"
    page.write_text(render_html(records), "utf-8")
    for dark in (False, True):
        opened.look(width, dark)
        opened.open(page.as_uri())
        assert violations(opened) == []


@pytest.mark.needs("browser")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_draws_the_page(dark: bool, tmp_path: Path) -> None:
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    text = render_html([record(), substituted(), invalid()])
    if dark:
        text = text.replace("(prefers-color-scheme: dark)", "(min-width: 1px)")
    page.write_text(text, "utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(PROGRAM), *OPTIONS, profile, f"--screenshot={shot}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "CONSOLE" not in done.stderr
    rows = grey_rows(shot.read_bytes())
    paper = rows[2][2]
    assert (paper < 0x40) is dark
    drawn = sum(1 for row in rows if min(row) != max(row))
    assert drawn > HEIGHT // 2
