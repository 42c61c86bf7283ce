"""What people ask of one large site, within three clicks, with the figures of the records."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import site_browsers
from site_factory import result, sessions, store_of
from test_site_build import content, made
from test_site_io500 import of_size
from whole_store import (
    FAILED,
    LAST_NIGHT_NS,
    MACHINES,
    NODES,
    PROBE_END_NS,
    SCORE,
    SLOW,
    SLOWER_FROM,
    TARGETS,
    probed,
    published,
    whole_store,
)

from browser import Browser
from firefox import Firefox
from venturi.analyse.left_out import is_invalid
from venturi.model.probe import OPERATIONS
from venturi.model.statistic import median
from venturi.report import quantity
from venturi.store.archive import results


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that has everything, and its site."""
    found = tmp_path_factory.mktemp("whole")
    build = made(found / "public", whole_store(found / "store"))
    assert not build.problems
    return found


browser = site_browsers.both


TEXTS = """(() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) found.push(walker.currentNode.data);
  return found.join(" ");
})()"""


def text_of(browser: Browser | Firefox) -> str:
    """What stands on the page, with a space between any two elements."""
    return " ".join(str(browser.evaluate(TEXTS)).split())


def click(browser: Browser | Firefox, *texts: str) -> None:
    """Follows one link after the other, from the first page of the site on."""
    assert len(texts) <= 3
    for text in texts:
        link = f"[...document.querySelectorAll('a')].find(a => a.textContent.includes('{text}'))"
        target = browser.evaluate(f"({link} || {{}}).href || ''")
        assert target, text
        browser.open(target)
    assert browser.complaints() == []


def shown(value: float, unit: str) -> str:
    """A figure as pages write it, with plain spaces."""
    return quantity.with_unit(value, unit).replace("\u00a0", " ")


def test_the_last_regression_and_what_may_have_caused_it(
    browser: Browser | Firefox, home: Path
) -> None:
    browser.open((home / "public/index.html").as_uri())
    runs = [one for one in results(home / "store")
            if (one.name, one.machine) == ("quick", "alpha") and not is_invalid(one)]  # fmt: skip
    days = [median(one.metrics["write"].values) for one in runs]
    before, after = median(days[:SLOWER_FROM]), median(days[SLOWER_FROM:])
    said = text_of(browser)
    since = runs[SLOWER_FROM].started[:10]
    figures = f"{shown(before, 'B/s')}, then {shown(after, 'B/s')}"
    assert f"Since {since} {figures}" in said
    assert quantity.signed_percent(after / before - 1) in said
    assert "Changed at that time kernel: 6.1.0-42 → 6.1.0-43" in said
    click(browser, "write of quick on alpha")
    assert "Last change" in text_of(browser)


def test_the_best_configuration_of_the_study(browser: Browser | Firefox, home: Path) -> None:
    points: dict[tuple[int, str], list[float]] = {}
    for one in results(home / "store"):
        if one.name == "scaling":
            point = (one.ranks, str(one.parameters["transfer"]))
            points.setdefault(point, []).extend(one.metrics["write"].values)
    assert len(points) == 18
    levels = {point: median(values) for point, values in points.items()}
    ranks, transfer = max(levels, key=lambda point: levels[point])
    best, worst = (shown(choose(levels.values()), "B/s") for choose in (max, min))
    browser.open((home / "public/index.html").as_uri())
    click(browser, "scaling")
    row = f"alpha sweep: write – {best} {ranks} ranks, transfer {transfer} 18 {worst}"
    assert row in text_of(browser)


def test_how_a_machine_stands_among_results_of_its_size(
    browser: Browser | Firefox, home: Path
) -> None:
    others = of_size(published(), NODES // 2, NODES * 2)
    place = 1 + sum(score > SCORE for score in others)
    browser.open((home / "public/index.html").as_uri())
    click(browser, "Machines", "alpha")
    said = f"place {place} beside {len(others)} systems with {NODES // 2} to {NODES * 2} client"
    assert said in text_of(browser)


def test_whether_the_file_system_was_slow_last_night(
    browser: Browser | Firefox, home: Path
) -> None:
    samples = probed("scratch")
    own = samples[samples["operation"] == OPERATIONS.index(SLOW)]
    due, felt = own["scheduled_ns"], own["response_ns"]
    usual = np.median(felt[due >= PROBE_END_NS - 30 * 86400 * 10**9])
    slowdown = np.median(felt[due >= LAST_NIGHT_NS]) / usual
    browser.open((home / "public/index.html").as_uri())
    words = rf"scratch slow: {SLOW.value} took ([0-9.]+) times its usual time in the night of "
    found = re.search(f"{words}2026-03-31", text_of(browser))
    assert found is not None
    assert float(found[1]) == pytest.approx(slowdown, rel=0.05)
    click(browser, "scratch slow")
    assert "Probe of scratch" in text_of(browser)
    browser.open((home / "public/index.html").as_uri())
    click(browser, "Machines", "alpha", "home")
    assert "Probe of home" in text_of(browser)
    for overview in ("Machines", "Workloads"):
        browser.open((home / "public/index.html").as_uri())
        click(browser, overview, "scratch")
        assert "Probe of scratch" in text_of(browser)


def test_counts_of_the_first_page_are_those_of_the_store(
    browser: Browser | Firefox, home: Path
) -> None:
    browser.open((home / "public/index.html").as_uri())
    said = text_of(browser)
    runs = results(home / "store")
    counts = (("Runs", len(runs)), ("Machines", len(MACHINES)), ("Results of IO500", 365))
    for title, count in counts:
        assert f"{title} {count} " in said
    machine = content(home / "public", "machine/alpha.html")
    own = sum((one.name, one.machine) == ("quick", "alpha") for one in runs)
    assert [str(own), str(FAILED)] in [row[2:4] for row in machine.rows if row[:1] == ["quick"]]
    for name in TARGETS:
        assert any(cells[:1] == [name] for cells in machine.rows)


def test_an_empty_store_has_every_page_and_says_what_is_missing(
    browser: Browser | Firefox, tmp_path: Path
) -> None:
    made(tmp_path / "public", store_of(tmp_path / "store", []))
    pages = [path.relative_to(tmp_path / "public").as_posix()
             for path in (tmp_path / "public").rglob("*.html")]  # fmt: skip
    assert {"index.html", "machines.html", "workloads.html", "runs.html", "explore.html",
            "compare.html", "calibration.html", "io500/index.html"} <= set(pages)  # fmt: skip
    for path in pages:
        browser.open((tmp_path / "public" / path).as_uri())
        assert browser.complaints() == [], path
        assert len(text_of(browser)) > 100, path


def test_a_damaged_store_shows_what_is_whole_and_counts_what_is_not(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [*sessions(6), result(9, machine="beta")])
    folders = sorted((store / "runs").iterdir())
    file = folders[0] / "result.json"
    file.write_text(file.read_text()[:-40])
    (folders[1] / "result.json").write_bytes(b"\xff\x00")
    (store / "probe" / "t").mkdir(parents=True)
    (store / "probe" / "t" / "target.json").write_text("{")
    (store / "published").mkdir()
    build = made(tmp_path / "public", store)
    assert build.runs == 5
    assert len(build.problems) == 3
    text = content(tmp_path / "public", "index.html").text
    assert "Not shown, because it is damaged: 2 runs." in text
    assert "beta" in text
