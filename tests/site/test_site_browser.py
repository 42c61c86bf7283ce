"""The site in real browsers: from disk, by keyboard, narrow and wide, light and dark, in peace."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
import site_browsers
from site_factory import io500_list, result, scaling_study, sessions, store_of
from test_site_build import made
from test_site_calibration import put_forecast, put_run, runs
from test_site_io500 import own_run, repeated
from test_site_io500_system import described, hostile, io500_pages, site_of

from accessibility import violations
from browser import Browser
from firefox import Firefox
from predict.test_calibrate import around, kept_for, phase
from probe.conftest import Place
from probe.history import BEGIN_NS, put, samples_of
from venturi.analyse.set_comparison import compared_sets
from venturi.compat.io500.list_csv import read_list
from venturi.model.published import Io500Result
from venturi.model.statistic import median, median_interval
from venturi.report.site import address
from venturi.report.site.io500 import owner_of
from venturi.store.archive import results
from venturi.store.published import save


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with every kind of page."""
    home = tmp_path_factory.mktemp("site")
    failed = result(20, minute=30, level="INVALID", metrics={}, session="failed")
    own = [*sessions(24, 12), *sessions(8, 1000, machine="beta"), *scaling_study(), failed]
    own.append(own_run(50.0, nodes=10))
    store = store_of(home / "store", own)
    for one in read_list(io500_list(40).encode(), "list.csv"):
        assert isinstance(one, Io500Result)
        save(store, one)
    save(store, described())
    for one in [*repeated("Noisy", [14.0, 20.0]), *repeated("Like it", [13.0, 18.0])]:
        save(store, one)
    (home / "target").mkdir()
    probe = Place(store, home / "target", {"interval_s": 60.0, "kinds": ["metadata"]})
    put(probe, samples_of(0, 2 * 5760, BEGIN_NS, 15 * 10**9, 1e6))
    tested = runs(4)
    for one in tested:
        put_run(store, one)
    put_forecast(store, kept_for(tested[0], phase("restart", around(0.1))))
    made(home / "public", store)
    return home / "public"


browser = site_browsers.both


def test_what_a_page_must_not_do_is_seen(browser: Browser | Firefox, tmp_path: Path) -> None:
    """Else the tests below could not fail."""
    policy = "default-src 'none'; script-src 'self'"
    head = f'<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="{policy}">'
    (tmp_path / "bad.html").write_text(f"{head}<script>document.title = 'ran'</script>")
    (tmp_path / "loud.html").write_text("<!DOCTYPE html><script>throw new Error('oh')</script>")
    (tmp_path / "leaving.html").write_text('<!DOCTYPE html><img src="http://127.0.0.1:18999/x">')
    browser.look(360)
    browser.open((tmp_path / "bad.html").as_uri())
    assert browser.complaints()
    assert browser.evaluate("document.title") == ""
    browser.open((tmp_path / "loud.html").as_uri())
    assert browser.complaints()
    browser.open((tmp_path / "leaving.html").as_uri())
    assert "http://127.0.0.1:18999/x" in browser.requests()


def kinds(site: Path) -> list[str]:
    """A page of each kind."""
    folders = ("run", "compare", "explore", "choose", "machine", "workload", "probe")
    some = [next((site / name).glob("*.html")).relative_to(site).as_posix() for name in folders]
    system = address.system(owner_of(described()))
    top = [path.name for path in site.glob("*.html")]
    return sorted([*top, *some, system, "io500/index.html", "io500/full.html"])


@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_open_from_disk_without_a_complaint_or_a_request_that_leaves(
    browser: Browser | Firefox, site: Path, width: int, dark: bool
) -> None:
    browser.look(width, dark)
    for path in kinds(site):
        browser.open((site / path).as_uri())
        assert browser.complaints() == [], path
        own = (site.as_uri(), "data:")  # the browser's own icons of controls
        assert all(one.startswith(own) for one in browser.requests()), path
        room = browser.evaluate("document.documentElement.scrollWidth")
        assert room <= width, f"{path} is {room} px wide"
        paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(21, 24, 28)") is dark, path


def test_styles_and_the_script_work_under_the_policy(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "io500/full.html").as_uri())
    assert browser.evaluate("document.querySelectorAll('.controls input').length") > 10
    assert browser.evaluate("getComputedStyle(document.querySelector('table')).borderCollapse") == (
        "collapse"
    )


def test_pictures_are_drawn_with_a_name_and_a_table(browser: Browser | Firefox, site: Path) -> None:
    browser.look(1280)
    paths = ("workload/quick.html", "workload/scaling.html", "machine/alpha.html")
    for path in (*paths, "calibration.html"):
        browser.open((site / path).as_uri())
        count = browser.evaluate("document.querySelectorAll('figure').length")
        assert count > 0, path
        named = "[...document.querySelectorAll('figure')].filter(f => f.querySelector('table') && "
        named += "f.querySelector('svg[role=img]').getAttribute('aria-label').length > 20 && "
        named += "f.querySelector('svg').getBoundingClientRect().height > 50).length"
        assert browser.evaluate(named) == count, path


SHOWN = "[...document.querySelectorAll('tbody tr')].filter(r => !r.hidden)"


def choose(browser: Browser | Firefox, label: str, value: str) -> None:
    """Sets a control by its label."""
    found = browser.evaluate(
        "(() => { const label = [...document.querySelectorAll('.controls label')]"
        f".find(l => l.firstChild.textContent === '{label}');"
        f"const input = label.querySelector('input, select'); input.value = '{value}';"
        "input.dispatchEvent(new Event('input')); return input.value; })()"
    )
    assert found == value


def test_filters_choose_rows_and_the_choice_is_in_the_address(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "io500/historical.html").as_uri())
    everything = browser.evaluate(f"{SHOWN}.length")
    assert everything == 45
    choose(browser, "Nodes, at least", "10")
    choose(browser, "Nodes, at most", "10")
    cells = browser.evaluate(f"{SHOWN}.map(r => r.cells[8].textContent)")
    assert set(cells) == {"10"}
    address_now = browser.evaluate("location.href")
    assert address_now.endswith("#least=10&most=10")
    browser.open("about:blank")
    browser.open(address_now)
    assert browser.evaluate(f"{SHOWN}.length") == len(cells) < everything
    assert browser.complaints() == []


def test_columns_are_hidden_and_rows_are_sorted(browser: Browser | Firefox, site: Path) -> None:
    browser.look(1280)
    browser.open((site / "io500/historical.html").as_uri())
    browser.evaluate("document.querySelectorAll('.controls fieldset input')[2].click()")
    hidden = "[...document.querySelectorAll('tr')].every(r => r.cells[2].hidden)"
    assert browser.evaluate(hidden) is True
    browser.evaluate("document.querySelectorAll('th button')[12].click()")
    values = browser.evaluate(f"{SHOWN}.map(r => Number(r.cells[12].textContent))")
    assert values == sorted(values)
    assert browser.evaluate("document.querySelectorAll('th')[12].ariaSort") == "ascending"
    where = browser.evaluate("location.href")
    assert where.endswith("#hide=2")
    browser.open("about:blank")
    browser.open(where)
    assert browser.evaluate(hidden) is True
    browser.evaluate("document.querySelectorAll('.controls fieldset input')[2].click()")
    assert browser.evaluate(hidden) is False
    assert browser.complaints() == []


@pytest.mark.parametrize(
    ("label", "value", "column", "fits"),
    [
        ("BoF", "ISC20", 1, lambda text: text == "ISC20"),
        ("Vendor", "DDN", 5, lambda text: text == "DDN"),
        ("File system", "DAOS", 6, lambda text: text == "DAOS"),
        ("Class", "research", 7, lambda text: text == "research"),
        ("Ten nodes", "ten", 8, lambda text: text == "10"),
        ("Ten nodes", "other", 8, lambda text: text != "10"),
        ("Repetition interval", "with", 11, lambda text: "results" in text),
        ("Repetition interval", "without", 11, lambda text: text == ""),
        ("Place", "shared", 0, lambda text: text.endswith("=")),
        ("Place", "alone", 0, lambda text: text.isdigit()),
        ("Reproducibility", "Limited", 14, lambda text: text == "Limited"),
    ],
)
def test_each_filter_of_a_list_keeps_what_it_says(
    browser: Browser | Firefox,
    site: Path,
    label: str,
    value: str,
    column: int,
    fits: Callable[[str], bool],
) -> None:
    browser.look(1280)
    browser.open((site / "io500/full.html").as_uri())
    cells = f"{SHOWN}.map(r => r.cells[{column}].textContent)"
    every = browser.evaluate(cells)
    choose(browser, label, value)
    kept = browser.evaluate(cells)
    assert kept == [text for text in every if fits(text)]
    assert 0 < len(kept) < len(every)


def test_hostile_submissions_neither_run_nor_break_a_page(
    browser: Browser | Firefox, tmp_path: Path
) -> None:
    chance = random.Random(25)
    place = site_of(tmp_path, [hostile(chance, number) for number in range(3)])
    for width in (360, 1280):
        browser.look(width)
        for path in io500_pages(place):
            browser.open(path.as_uri())
            assert browser.complaints() == [], path
            assert browser.evaluate("document.title") != "ran"
            assert all(one.startswith((place.as_uri(), "data:")) for one in browser.requests())
            room = browser.evaluate("document.documentElement.scrollWidth")
            assert room <= width, f"{path} is {room} px wide"


def test_exploring_groups_by_a_parameter_and_the_state_is_in_the_address(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "explore/scaling.html").as_uri())
    choose(browser, "Over", "ranks")
    choose(browser, "Lines for each", "transfer")
    cells = browser.evaluate(
        "[...document.querySelectorAll('#explore tbody tr')].map(r => [...r.cells].map("
        "c => c.textContent))"
    )
    runs = [run for run in results(site.parent / "store") if run.name == "scaling"]
    points = {(run.ranks, str(run.parameters["transfer"])) for run in runs}
    assert {(int(row[2]), row[3]) for row in cells} == points
    marks = "document.querySelectorAll('.chart circle, .chart rect').length"
    assert browser.evaluate(marks) == len(points) + 3  # and the squares of the legend
    where = browser.evaluate("location.href")
    browser.open("about:blank")
    browser.open(where)
    assert browser.evaluate("document.querySelector('[name=over]').value") == "ranks"
    assert browser.evaluate(marks) == len(points) + 3
    assert browser.complaints() == []


LINKS = ("CSV", "JSON", "SVG")
TAKEN = """(() => {
  const made = [];
  URL.createObjectURL = (blob) => { made.push(blob); return "#"; };
  document.addEventListener("click", (event) => event.preventDefault(), {capture: true});
  [...document.querySelectorAll("#explore a[download]")].find(
    (link) => link.textContent === "WANTED").click();
  return made[0].text();
})()"""
"""What a link of the page would save."""


def test_what_is_chosen_can_be_taken_along(browser: Browser | Firefox, site: Path) -> None:
    browser.look(1280)
    browser.open((site / "explore/scaling.html").as_uri())
    choose(browser, "Over", "ranks")
    choose(browser, "Metric", "write")
    runs = [run for run in results(site.parent / "store") if run.name == "scaling"]
    sessions: dict[tuple[int, str, str], list[float]] = {}
    for run in runs:
        key = (run.ranks, str(run.parameters), run.session)
        sessions.setdefault(key, []).extend(run.metrics["write"].values)
    expected = sorted((key[0], median(values)) for key, values in sessions.items())
    saved = {name: str(browser.evaluate(TAKEN.replace("WANTED", name))) for name in LINKS}
    rows = list(csv.DictReader(io.StringIO(saved["CSV"])))
    assert all(row["repetitions"] and row["unit"] and row["started"] for row in rows)
    of_csv = sorted((int(row["ranks"]), float(row["write"])) for row in rows)
    of_json = sorted((row["fields"]["ranks"], row["value"]) for row in json.loads(saved["JSON"]))
    for ours in (of_csv, of_json):
        assert [ranks for ranks, _ in ours] == [ranks for ranks, _ in expected]
        assert [value for _, value in ours] == pytest.approx([v for _, v in expected], rel=1e-6)
    picture = ElementTree.fromstring(saved["SVG"])
    kinds = [one.tag.rpartition("}")[2] for one in picture]
    assert kinds[:2] == ["style", "rect"], "colours of the page, and paper below them"
    assert kinds.count("circle") + kinds.count("rect") >= len(sessions)


def test_lines_join_sessions_that_differ_in_time_alone(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "explore/scaling.html").as_uri())
    choose(browser, "Over", "")
    choose(browser, "Lines for each", "")
    runs = [run for run in results(site.parent / "store") if run.name == "scaling"]
    alike = {(run.ranks, str(run.parameters)) for run in runs}
    assert browser.evaluate("document.querySelectorAll('.chart polyline').length") == len(alike)


def test_intervals_in_the_browser_are_those_of_every_page(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "choose/quick.html").as_uri())
    chance = random.Random(3)
    for count in (*range(1, 45), 300, 1500):
        values = [chance.lognormvariate(0, 1) for _ in range(count)]
        found = browser.evaluate(f"contrast.interval({json.dumps(values)})")
        wanted = median_interval(values)
        assert (found["median"], found["low"], found["high"]) == (
            pytest.approx(wanted.median), wanted.low, wanted.high
        ), count  # fmt: skip
        assert found["coverage"] == pytest.approx(wanted.coverage, abs=1e-9)


CELLS = "[...document.querySelectorAll('#explore tbody tr')].map(r => [...r.cells].map("
CELLS += "c => c.textContent))"


def put_in(browser: Browser | Firefox, name: str, value: str) -> None:
    """Sets a control by its name."""
    browser.evaluate(
        f"(() => {{ const input = document.querySelector('[name={name}]'); input.value = '{value}';"
        "input.dispatchEvent(new Event('input')); return 0; })()"
    )


def test_any_two_sides_are_beside_each_other_and_the_choice_is_in_the_address(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    browser.open((site / "choose/quick.html").as_uri())
    put_in(browser, "first-from", "")
    put_in(browser, "second-machine", "alpha")
    put_in(browser, "first-to", "2026-01-12")
    put_in(browser, "second-from", "2026-01-13")
    runs = [r for r in results(site.parent / "store")
            if (r.name, r.machine) == ("quick", "alpha")]  # fmt: skip
    sides = [
        [r for r in runs if (r.started >= "2026-01-13") is is_late] for is_late in (False, True)
    ]
    wanted = compared_sets(*sides, ("first", "second"))
    text = browser.evaluate("document.querySelector('#explore [role=status]').textContent")
    assert text == wanted.headline
    row = next(row for row in browser.evaluate(CELLS) if row[0] == "write")
    (write,) = (own for own in wanted.parts[0].rows if own.name == "write")
    assert float(row[8]) == pytest.approx(write.ratio, rel=0.01)
    assert (row[4], row[7]) == tuple(f"{one.n} sessions" for one in (write.first, write.second))
    assert row[11] == "significantly lower: WORSE"
    assert "venturi compare tag:ONE tag:OTHER" in browser.evaluate("document.body.textContent")
    where = browser.evaluate("location.href")
    browser.open("about:blank")
    browser.open(where)
    assert next(row for row in browser.evaluate(CELLS) if row[0] == "write") == row
    put_in(browser, "first-to", "")
    put_in(browser, "second-from", "")
    put_in(browser, "first-session", runs[0].session)
    put_in(browser, "second-session", runs[-1].session)
    text = browser.evaluate("document.body.textContent")
    assert f"session:{runs[0].session},machine:alpha,name:quick" in text
    row = next(row for row in browser.evaluate(CELLS) if row[0] == "write")
    assert row[4] == row[7] == "3 repetitions"
    assert browser.complaints() == []


def test_any_two_runs_are_chosen_by_name_from_the_page_of_one(
    browser: Browser | Firefox, site: Path
) -> None:
    runs = [r for r in results(site.parent / "store")
            if (r.name, r.machine) == ("scaling", "alpha")]  # fmt: skip
    first = runs[0]
    second = next(r for r in runs if r.key == first.key and r.id != first.id)
    browser.look(1280)
    browser.open((site / address.run(first.id)).as_uri())
    link = "[...document.querySelectorAll('a')].find(a => a.textContent === 'any other run').href"
    target = browser.evaluate(link)
    browser.open(target)
    assert browser.evaluate("document.querySelector('[name=first-run]').value") == first.id
    options = browser.evaluate("[...document.querySelectorAll('#second-runs option')]"
                               ".map(o => o.value)")  # fmt: skip
    assert sorted(options) == sorted(run.id for run in runs)
    put_in(browser, "second-run", second.id)
    row = next(row for row in browser.evaluate(CELLS) if row[0] == "write")
    (write,) = (own for own in compared_sets([first], [second], ("a", "b")).parts[0].rows
                if own.name == "write")  # fmt: skip
    assert float(row[8]) == pytest.approx(write.ratio, rel=0.01)
    assert row[4] == row[7] == "3 repetitions"
    assert f"venturi compare {first.id} {second.id}" in browser.evaluate(
        "document.body.textContent"
    )
    where = browser.evaluate("location.href")
    browser.open("about:blank")
    browser.open(where)
    assert next(row for row in browser.evaluate(CELLS) if row[0] == "write") == row
    put_in(browser, "second-run", "none-of-them")
    text = browser.evaluate("document.querySelector('#explore').innerText")
    assert "The second side has no run that measured anything" in text
    assert browser.complaints() == []


@pytest.mark.parametrize(
    ("clicks", "answer"),
    [
        ((), "Since 2026-01-13"),
        (("write of quick on alpha",), "Last change"),
        (("scaling",), "32 ranks, transfer 16 MiB"),
        (("Machines", "alpha"), "client nodes"),
        (("IO500", "Full", "System 003"), " nodes"),
        ((), "probes"),
        (("t normal",), "Probe of t"),
    ],
    ids=["regression", "its series", "best", "standing", "a system", "night", "the night"],
)
def test_what_a_new_user_asks_is_three_clicks_from_the_first_page(
    browser: Browser | Firefox, site: Path, clicks: tuple[str, ...], answer: str
) -> None:
    browser.look(1280)
    browser.open((site / "index.html").as_uri())
    for text in clicks:
        link = f"[...document.querySelectorAll('a')].find(a => a.textContent.includes('{text}'))"
        target = browser.evaluate(f"({link} || {{}}).href || ''")
        assert target, text
        browser.open(target)
    assert len(clicks) <= 3
    assert answer in browser.evaluate("document.body.innerText").replace("\u00a0", " ")
    assert browser.complaints() == []


def focus(browser: Browser | Firefox) -> str:
    """What the keyboard is at."""
    found = browser.evaluate("document.activeElement.textContent")
    return str(found)


def test_the_keyboard_alone_leads_to_the_regression(browser: Browser | Firefox, site: Path) -> None:
    browser.look(1280)
    browser.open((site / "index.html").as_uri())
    browser.press("Tab")
    assert focus(browser) == "To the content"
    for _ in range(40):
        browser.press("Tab")
        if "WORSE by" in focus(browser) or "of quick on alpha" in focus(browser):
            break
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter")
    browser.evaluate("new Promise(done => setTimeout(done, 0))")
    for _ in range(200):
        if browser.evaluate("document.title").startswith("quick"):
            break
    assert browser.evaluate("document.querySelector('h1').textContent") == "quick"


def test_the_reader_s_clock_tells_that_everything_stopped(
    browser: Browser | Firefox, site: Path, tmp_path: Path
) -> None:
    browser.look(360)
    browser.open((site / "index.html").as_uri())
    said = "document.querySelector('#main > [role=status]')?.textContent ?? ''"
    assert browser.evaluate(said).startswith("Everything stopped by the clock of this browser: ")
    now = datetime.now(UTC)
    fresh = [result(day, started=(now - timedelta(days=4 - day)).isoformat()) for day in range(5)]
    made(tmp_path / "public", store_of(tmp_path / "store", fresh))
    browser.open((tmp_path / "public" / "index.html").as_uri())
    assert browser.evaluate("document.querySelectorAll('[data-filter=due] tbody tr').length") == 1
    assert browser.evaluate(said) == ""
    assert browser.complaints() == []


def test_every_control_and_link_has_a_name_and_headings_do_not_skip(
    browser: Browser | Firefox, site: Path
) -> None:
    browser.look(1280)
    unnamed = "[...document.querySelectorAll('a, button, input, select, summary')].filter(e => "
    unnamed += "!(e.textContent.trim() || (e.labels && e.labels[0]?.textContent.trim()))).length"
    levels = "[...document.querySelectorAll('h1, h2, h3, h4')].map(e => Number(e.tagName[1]))"
    for path in kinds(site):
        browser.open((site / path).as_uri())
        assert browser.evaluate(unnamed) == 0, path
        assert browser.evaluate("document.documentElement.lang") == "en"
        found = browser.evaluate(levels)
        assert found[0] == 1, path
        assert found.count(1) == 1, path


@pytest.mark.needs("axe")
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_rule_of_accessibility_is_broken(
    browser: Browser | Firefox, site: Path, width: int, dark: bool
) -> None:
    browser.look(width, dark)
    for path in kinds(site):
        browser.open((site / path).as_uri())
        assert violations(browser) == [], path


@pytest.mark.needs("axe")
def test_a_rule_that_is_broken_is_found(browser: Browser | Firefox, tmp_path: Path) -> None:
    browser.look(1280)
    pale = '<!DOCTYPE html><html lang="en"><title>t</title><main><h1>t</h1><p style="color:#ccc">'
    (tmp_path / "pale.html").write_text(pale + "hardly seen</p></main>")
    browser.open((tmp_path / "pale.html").as_uri())
    (found,) = violations(browser)
    assert found.startswith("serious: color-contrast: ")


def test_an_invalid_run_shows_no_figure(browser: Browser | Firefox, site: Path) -> None:
    failed = next(run for run in results(site.parent / "store") if run.level == "INVALID")
    browser.look(360)
    browser.open((site / address.run(failed.id)).as_uri())
    text = browser.evaluate("document.body.innerText")
    assert "INVALID" in text
    assert "no figure of it counts" in text
