"""What goes over the line before a page's first picture: little, and nothing that makes it wait.

At 10 Mbit/s a hundred kilobytes take 80 ms. bench/site_paint.py measures when pictures stand.
"""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest
from site_factory import scaling_study, sessions, store_of
from test_site_build import made

from browser import Browser
from probe.conftest import hold
from venturi.model.history import Series, SessionValue, Trend
from venturi.model.output import Better
from venturi.model.site import SiteWorkload
from venturi.site.data_script import session_script

DAYS, MACHINES, METRICS = 500, 5, 14
_LOADED = re.compile(r"<(script|link|img|iframe|source)\b([^>]*)>")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    made(home / "public", store_of(home / "store", [*sessions(40, 20), *scaling_study()]))
    return home / "public"


def large_workload(days: int = DAYS) -> SiteWorkload:
    """A workload with a session each day on each machine, and figures as runs have them."""
    chance = random.Random(1)
    series = [
        Series(
            name="quick",
            machine=f"machine-{machine}",
            metric=f"phase-{metric}",
            unit="B/s",
            better=Better.HIGHER,
            ranks=4,
            parameters={"transfer": "1 MiB"},
            condition="",
            sessions=[
                SessionValue(
                    session=f"session-{day}",
                    started=f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T02:15:00+00:00",
                    value=2.0**31 * chance.gauss(1, 0.02),
                    repetitions=3,
                )
                for day in range(days)
            ],
            changes=[],
            detectable=None,
            seen_after=None,
            trend=Trend.SHORT,
        )
        for machine in range(MACHINES)
        for metric in range(METRICS)
    ]
    return SiteWorkload(name="quick", subjects=[], series=series, best=[])


def sent_bytes(path: Path) -> int:
    """As a web server sends it."""
    return len(gzip.compress(path.read_bytes(), 6))


def test_no_page_waits_for_more_than_a_style_and_scripts_that_come_later(site: Path) -> None:
    for page in sorted(site.rglob("*.html")):
        text = page.read_text()
        total = sent_bytes(page)
        for kind, attributes in _LOADED.findall(text):
            assert kind in ("script", "link"), f"{page.name} loads a {kind}"
            where = re.search(r'(?:src|href)="([^"]+)"', attributes)
            assert where is not None, page.name
            assert kind == "link" or "defer" in attributes, f"{page.name} waits for {where[1]}"
            total += sent_bytes((page.parent / where[1]).resolve())
        assert len(_LOADED.findall(text)) <= 4, page.name
        assert total < 60_000, f"{page.name} takes {total} bytes"


def test_figures_of_many_sessions_take_few_bytes_each() -> None:
    script = session_script(large_workload(), {}).encode()
    count = DAYS * MACHINES * METRICS
    assert len(gzip.compress(script, 6)) < 5.5 * count
    assert len(gzip.compress(script, 6)) < 250_000


@pytest.mark.needs("browser")
def test_of_many_sessions_the_picture_stands_before_the_table(site: Path, tmp_path: Path) -> None:
    place = site / "data" / "quick.js"
    before = place.read_text()
    browser = Browser(tmp_path)
    try:
        place.write_text(session_script(large_workload(), {}))
        browser.look(1280)
        watch = """
            requestAnimationFrame(function look() {
              const dots = document.querySelectorAll('.chart path').length;
              if (!dots) { requestAnimationFrame(look); return; }
              window.rowsWithPicture = document.querySelectorAll('#explore tbody tr').length;
            });"""
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=watch)
        browser.open((site / "explore/quick.html").as_uri())
        rows = "document.querySelectorAll('#explore tbody tr').length"
        assert hold(lambda: browser.evaluate(rows)) == DAYS
        assert browser.evaluate("window.rowsWithPicture") == 0
        dots = "[...document.querySelectorAll('.chart path')].map(p => p.getAttribute('d'))"
        assert [path.count("M") for path in browser.evaluate(dots)] == [DAYS] * MACHINES
        caption = browser.evaluate("document.querySelector('#explore caption').textContent")
        assert caption == f"Sessions, the first {DAYS} of {DAYS * MACHINES}"
        assert browser.complaints() == []
    finally:
        browser.close()
        place.write_text(before)
