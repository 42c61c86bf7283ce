"""The page of a captured application: whole, offline, in a real browser, and said in words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from test_browser import HEIGHT, OPTIONS, grey_rows
from test_html import cells, outline

from browser import PROGRAM
from capture_factory import MIB, CaptureFactory, shared_file
from venturi.analyse.characterization import characterization_of
from venturi.model.characterization import Characterization
from venturi.model.document import parse_json
from venturi.model.operation import Kind
from venturi.report.characterization import ordering, sharing
from venturi.report.render import render_document


def two_streams() -> CaptureFactory:
    """Dumps of all ranks, a log that is synced line by line, and a table that all read."""
    made = shared_file(ranks=4, dumps=3)
    for rank in range(4):
        made.run(rank, Kind.READ, "/scratch/table", MIB, 10, s=0.2)
    for i in range(30):
        made.call(0, Kind.WRITE, "/scratch/log", 80, i * 80)
        made.call(0, Kind.SYNC, "/scratch/log", s=0.05)
    return made


def characterization(made: CaptureFactory, proxy: CaptureFactory | None = None) -> Characterization:
    """Its characterization, with the proxy's capture where there is one."""
    return characterization_of(made.captured(), "app", proxy.captured() if proxy else None)


def test_the_page_says_what_was_done_and_what_hurts() -> None:
    text = render_document(characterization(two_streams(), shared_file()), "html")
    parsed = outline(text)
    names = (
        "did",
        "timeline",
        "findings",
        "streams",
        "sizes",
        "phases",
        "proxy",
        "fidelity-report",
    )
    assert {f"application-{name}" for name in names} <= set(parsed.ids)
    shown = cells(text)
    assert "/scratch/dump.#" in shown
    assert "3 files, each of 4 ranks" in shown
    assert "writes all 80 B" in shown
    plain = text.replace("\u00a0", " ")
    for words in (
        "4 ranks wrote 192 MiB and read 40 MiB in 5 files",
        "each is made persistent at once",
        "Try (developer)",
        "phases of I/O",
        "The proxy lacks",
    ):
        assert words in plain, words
    assert text.count("<svg") == 2


def test_the_gravest_finding_comes_first_and_notes_are_folded() -> None:
    text = render_document(characterization(two_streams()), "html")
    grades = [text.find(f">{word}</span>") for word in ("high", "medium", "low")]
    found = [place for place in grades if place >= 0]
    assert found == sorted(found)
    assert ">note</span>" not in text


def test_markdown_and_json_say_the_same() -> None:
    made = characterization(two_streams(), two_streams())
    text = render_document(made, "md")
    assert "The proxy equals the application in all" in text
    assert "**: " not in text[: text.index("## ")]
    assert parse_json(Characterization, render_document(made, "json")) == made


@pytest.mark.parametrize("case", ["names only", "one call", "programs", "many ranks"])
def test_sparse_and_large_captures_have_a_page(case: str) -> None:
    made = CaptureFactory(1)
    if case == "names only":
        for i in range(50):
            made.call(0, Kind.STAT, f"/home/u/{i}")
    elif case == "one call":
        made.call(0, Kind.READ, "/home/u/f", 0, 0, s=0.0)
    elif case == "programs":
        made = CaptureFactory(1, programs=("tar", "gzip"))
        made.whole(1, Kind.WRITE, "/home/u/<b>&x", MIB, 3)
    else:
        made = CaptureFactory(500)
        for rank in range(500):
            made.whole(rank, Kind.WRITE, f"/s/f{rank}", MIB, 4)
    text = render_document(characterization(made), "html")
    outline(text)
    assert "<b>&x" not in text
    assert len(text.encode()) < 2_000_000


def test_words_for_streams() -> None:
    made = CaptureFactory(3)
    for rank in range(3):
        made.whole(rank, Kind.WRITE, f"/s/own.{rank}", MIB, 4)
        made.run(rank, Kind.READ, "/s/shared", MIB, 9, first=9 * MIB, stride=-MIB)
    found = {stream.name: stream for stream in characterization(made).activity.streams}
    assert sharing(found["/s/own.#"]) == "3 files, one for each rank"
    assert ordering(found["/s/own.#"]) == "sequential writes"
    assert sharing(found["/s/shared"]) == "one file of 3 ranks"
    assert ordering(found["/s/shared"]) == "reads with backward jumps"


@pytest.mark.needs("browser")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_draws_the_page_of_a_capture(dark: bool, tmp_path: Path) -> None:
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    text = render_document(characterization(two_streams(), shared_file()), "html")
    if dark:
        text = text.replace("(prefers-color-scheme: dark)", "(min-width: 1px)")
    page.write_text(text, "utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(PROGRAM), *OPTIONS, profile, f"--screenshot={shot}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "CONSOLE" not in done.stderr
    rows = grey_rows(shot.read_bytes())
    assert (rows[2][2] < 0x40) is dark
    assert sum(1 for row in rows if min(row) != max(row)) > HEIGHT // 3
