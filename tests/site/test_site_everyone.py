"""The site without a mouse, without scripts, on paper, and on a very wide screen."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import site_browsers
from site_factory import io500_list, scaling_study, sessions, store_of
from test_site_build import made

from browser import Browser
from firefox import Firefox
from venturi.compat.io500.list_csv import read_list
from venturi.model.published import Io500Result
from venturi.store.published import save
from venturi.store.result import tag

PAGES = (
    "index.html",
    "machine/alpha.html",
    "workload/quick.html",
    "workload/scaling.html",
    "explore/scaling.html",
    "choose/quick.html",
    "io500/full.html",
    "runs-1.html",
)
MOST_STEPS = 700
CONTROLS = """[...document.querySelectorAll(
  'a[href], button, input, select, summary, [tabindex="0"]')].filter((one) =>
    one.getClientRects().length && one.checkVisibility({ checkVisibilityCSS: true }))"""
NUMBER = f"""(() => {{
  {CONTROLS}.forEach((one, index) => {{ one.dataset.number = index; }});
  window.seen = [];
  document.addEventListener('focusin', ({{ target }}) => {{
    window.seen.push([Number(target.dataset.number), getComputedStyle(target).outlineStyle]); }});
  return {CONTROLS}.length;
}})()"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machines, a study, tags, and a list of IO500."""
    home = tmp_path_factory.mktemp("site")
    own = [*sessions(24, 12), *sessions(8, 1000, machine="beta"), *scaling_study()]
    store = store_of(home / "store", own)
    tag(store, "golden", [one.id for one in own[:5]])
    for one in read_list(io500_list(12).encode(), "list.csv"):
        assert isinstance(one, Io500Result)
        save(store, one)
    made(home / "public", store)
    return home / "public"


browser = site_browsers.both


@pytest.mark.parametrize("path", PAGES)
def test_the_keyboard_comes_to_every_control_in_order_and_shows_where_it_is(
    browser: Browser | Firefox, site: Path, path: str
) -> None:
    browser.open((site / path).as_uri())
    count = browser.evaluate(NUMBER)
    assert count > 8
    for _ in range(MOST_STEPS):
        browser.press("Tab")
        if browser.evaluate(f"window.seen.length && window.seen.at(-1)[0] === {count - 1}"):
            break
    seen: list[Any] = browser.evaluate("window.seen")
    order = list(dict.fromkeys(number for number, _ in seen))
    assert order == list(range(count))
    assert {outline for _, outline in seen} <= {"solid", "auto"}


def focus_on(browser: Browser | Firefox, name: str) -> None:
    """Steps to a control by its name."""
    for _ in range(MOST_STEPS):
        browser.press("Tab")
        if browser.evaluate(f"document.activeElement.name === {json.dumps(name)}"):
            return
    raise AssertionError(name)


STATUS = "document.querySelector('#explore [role=status]').textContent"


def test_a_choice_is_made_by_keys_alone(browser: Browser | Firefox, site: Path) -> None:
    browser.open((site / "explore/scaling.html").as_uri())
    focus_on(browser, "over")
    browser.press("ArrowDown")
    assert browser.evaluate("document.querySelector('[name=over]').selectedIndex") == 1
    focus_on(browser, "is-transfer")
    before = browser.evaluate(STATUS)
    browser.press("ArrowDown")
    assert browser.evaluate(STATUS) != before
    browser.open((site / "explore/quick.html").as_uri())
    before = browser.evaluate(STATUS)
    focus_on(browser, "machine")
    browser.press(" ")
    assert browser.evaluate(STATUS) != before
    browser.open((site / "choose/quick.html").as_uri())
    before = browser.evaluate(STATUS)
    focus_on(browser, "second-tag")
    browser.press("ArrowDown")
    assert browser.evaluate(STATUS) != before
    assert browser.complaints() == []


@pytest.mark.parametrize("path", PAGES)
def test_a_very_wide_screen_and_a_narrow_one_show_all(
    browser: Browser | Firefox, site: Path, path: str
) -> None:
    for width in (320, 3840):
        browser.look(width)
        browser.open((site / path).as_uri())
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        lines = "[...document.querySelectorAll('p')].map(p => p.getBoundingClientRect().width)"
        assert max(browser.evaluate(lines)) < 1400
    browser.look(1280)


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[Browser]:
    found = Browser(tmp_path / "profile")
    found.look(794)
    yield found
    found.close()


@pytest.mark.needs("browser")
def test_without_scripts_tables_are_whole_and_pages_say_what_needs_them(
    chromium: Browser, site: Path
) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    for path in PAGES:
        chromium.open((site / path).as_uri())
        assert chromium.evaluate("document.querySelectorAll('.controls').length") == 0, path
        rows = "[...document.querySelectorAll('tbody tr')].every(r => !r.hidden)"
        assert chromium.evaluate(rows), path
        if path.startswith(("explore", "choose")):
            said = chromium.evaluate("document.getElementById('explore').textContent")
            assert "needs scripts" in said
            leads = "[...document.querySelectorAll('main a')].map(a => a.getAttribute('href'))"
            assert any("workload/" in one for one in chromium.evaluate(leads))
    chromium.open((site / "io500/full.html").as_uri())
    assert chromium.evaluate("document.querySelectorAll('tbody tr').length") == 12


@pytest.mark.needs("browser")
@pytest.mark.parametrize("path", PAGES)
def test_paper_is_white_and_has_no_controls(chromium: Browser, site: Path, path: str) -> None:
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    chromium.call("Emulation.setEmulatedMedia", media="print", features=[dark])
    chromium.open((site / path).as_uri())
    style = "getComputedStyle(document.body)"
    assert chromium.evaluate(f"{style}.backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    ink = chromium.evaluate(f"{style}.color.match(/\\d+/g).map(Number)")
    assert max(ink[:3]) < 64, ink
    boxes = "[...document.querySelectorAll('.controls, .skip')].map(c => c.getClientRects().length)"
    assert sum(chromium.evaluate(boxes)) == 0
    found = chromium.call("Page.printToPDF", printBackground=False)
    assert base64.b64decode(found["data"]).startswith(b"%PDF-")


@pytest.mark.needs("browser")
def test_pictures_fit_on_paper_and_a_long_legend_takes_room(chromium: Browser, site: Path) -> None:
    chromium.call("Emulation.setEmulatedMedia", media="print")
    chromium.open((site / "workload/scaling.html").as_uri())
    wide = "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().right)"
    edges = chromium.evaluate(wide)
    assert edges
    assert max(edges) <= 794
    chromium.open((site / "explore/scaling.html").as_uri() + "#by=ranks")
    tops = "[...document.querySelectorAll('.chart text')].map(t => Number(t.getAttribute('y')))"
    texts = "[...document.querySelectorAll('.chart text')].map(t => t.textContent)"
    places = dict(zip(chromium.evaluate(texts), chromium.evaluate(tops), strict=True))
    highest = next(place for text, place in places.items() if text.startswith("32."))
    assert places["32"] < highest - 10, "the last of six names stands above the axis"
