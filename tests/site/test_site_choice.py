"""What a reader chooses is judged in the browser as `venturi compare` judges it."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import site_browsers
from site_factory import result, scaling_study, sessions, store_of
from test_site_build import made

from browser import Browser
from probe.conftest import hold
from venturi.analyse.set_comparison import compared_sets
from venturi.model.comparison import ComparisonSet
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.result import Measure, Result
from venturi.report.html import choose_script
from venturi.report.site import address
from venturi.site.data_script import run_script
from venturi.store.result import tag

pytestmark = pytest.mark.needs("browser")
EXACT = ("change", "is_worse", "unit", "of")
CLOSE = ("ratio", "low", "high", "superiority")
DRAWS = 4000
SIDES = """(() => {
  const read = (scripts) => {
    globalThis.venturiRuns = [];
    for (const text of scripts) (0, eval)(text);
    return venturiRuns.flatMap(({ points, metrics, sessions, runs }) => runs.map(
      ([id, started, point, session, measures]) => ({ id, started, title: points[point][0],
        ranks: points[point][1], parameters: points[point][2], key: points[point][3],
        session: sessions[session], isInvalid: measures === null,
        metrics: new Map((measures || []).map(([index, ...values]) => {
          const [name, unit, better, condition, of] = metrics[index];
          return [name, { unit, better, condition, of, values }]; })) })));
  };
  return setComparison.compare(read([FIRST]), read([SECOND]));
})()"""


browser = site_browsers.chromium


@pytest.fixture(scope="module")
def judging(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A page that has the site's own scripts, and nothing to choose."""
    home = tmp_path_factory.mktemp("page")
    (home / "choose.js").write_text(choose_script())
    (home / "page.html").write_text('<!DOCTYPE html><script src="choose.js"></script>')
    browser.open((home / "page.html").as_uri())
    return browser


def in_browser(browser: Browser, first: Sequence[Result], second: Sequence[Result]) -> Any:
    """What the script of the site says of two sides."""
    texts = [json.dumps(run_script("m", own)) for own in (first, second)]
    return browser.evaluate(SIDES.replace("FIRST", texts[0]).replace("SECOND", texts[1]))


def plain(text: str) -> str:
    """A text without the digits of very large changes: the last ones may differ."""
    return re.sub(r"\b\d{4,} %", "very much", text)


def agree(found: Any, wanted: ComparisonSet) -> None:
    """The headline, each verdict, and each figure are the same."""
    assert plain(found["headline"]) == plain(wanted.headline)
    headlines = [plain(part.headline) for part in wanted.parts]
    assert [plain(part["headline"]) for part in found["parts"]] == headlines
    serial = wanted.parts[0].serial
    assert (found["serial"] is None) == (serial is None)
    for part, own in zip(found["parts"], wanted.parts, strict=True):
        assert [row["name"] for row in part["rows"]] == [row.name for row in own.rows]
        for row, one in zip(part["rows"], own.rows, strict=True):
            assert [row[name] for name in EXACT] == [getattr(one, name) for name in EXACT]
            for name in CLOSE:
                expected = getattr(one, name)
                close = None if expected is None else pytest.approx(expected, rel=1e-4, abs=1e-9)
                assert row[name] == close, (name, row, one)
            assert (row["detectable"] is None) == (one.detectable is None)
            if one.detectable is not None:  # a logarithm, of which the formula is the exponential
                found_log, wanted_log = map(math.log1p, (row["detectable"], one.detectable))
                assert found_log == pytest.approx(wanted_log, rel=1e-3)
            assert (row["p_adjusted"] is None) == (one.p_adjusted is None)
            if one.p_adjusted is not None:
                assert row["p_adjusted"] == pytest.approx(one.p_adjusted, abs=2.5 / DRAWS)
            for side in ("first", "second"):
                interval = getattr(one, side)
                assert row[side]["n"] == interval.n
                for name in ("median", "low", "high"):
                    assert row[side][name] == pytest.approx(getattr(interval, name), rel=1e-6)


KINDS = {"write": ("B/s", Better.HIGHER), "open": ("s", Better.LOWER), "count": ("1", Better.NONE)}


def side_of(chance: random.Random, factor: float, points: int) -> list[Result]:
    """Runs of some points, of one session or of several, some INVALID, with noise of any kind."""
    found = []
    count, repetitions = chance.choice([(1, 3), (1, 6), (1, 12), (4, 1), (7, 3), (30, 3)])
    spread = chance.choice([0.003, 0.02, 0.2])
    memory = chance.choice([0.0, 0.0, 0.8])
    drift = 0.0
    for point in range(points):
        for day in range(count):
            metrics = {}
            for name, (unit, better) in list(KINDS.items())[: 1 + (point + points) % 3]:
                values = []
                for _ in range(repetitions):
                    drift = memory * drift + spread * chance.gauss(0, 1)
                    wild = 4.0 if chance.random() < 0.02 else 1.0
                    values.append(1e6 * math.exp(drift) * factor * wild)
                metrics[name] = Measure(unit=unit, better=better, values=values)
            more: dict[str, Any] = {"metrics": metrics, "parameters": {"block": point}}
            if chance.random() < 0.05:
                more |= {"metrics": {}, "level": "INVALID"}
            minute = chance.randrange(600)
            found.append(result(day, minute=minute, session=f"s{day}", **more))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_choice_is_judged_as_at_a_terminal(judging: Browser, seed: int) -> None:
    chance = random.Random(seed)
    points = chance.choice([1, 1, 2, 3, 6])
    factor = chance.choice([1.0, 1.03, 1.08, 0.8, 3.0])
    first, second = side_of(chance, 1.0, points), side_of(chance, factor, points)
    found = in_browser(judging, first, second)
    try:
        wanted = compared_sets(first, second, ("first", "second"))
    except UserError:
        assert found is None
        return
    agree(found, wanted)


def test_the_cases_above_hold_every_verdict(judging: Browser) -> None:
    """Else what agrees might be one verdict again and again."""
    seen = set()
    for seed in range(60):
        chance = random.Random(seed)
        points = chance.choice([1, 1, 2, 3, 6])
        factor = chance.choice([1.0, 1.03, 1.08, 0.8, 3.0])
        found = in_browser(judging, side_of(chance, 1.0, points), side_of(chance, factor, points))
        for part in found["parts"] if found else ():
            seen |= {row["change"] for row in part["rows"]}
            seen |= {"serial"} if found["serial"] else set()
    assert seen >= {"higher", "lower", "not significant", "apart", "too few repetitions", "serial"}


def test_values_of_zero_and_equal_ones_are_judged_alike(judging: Browser) -> None:
    def runs(values: Sequence[float], condition: str = "") -> list[Result]:
        kinds = {
            "idle": Measure(unit="s", better=Better.LOWER, values=values, condition=condition),
            "same": Measure(unit="s", better=Better.LOWER, values=[2.0] * len(values)),
            "signed": Measure(unit="K", better=Better.NONE, values=[v - 1 for v in values]),
        }
        return [result(1, metrics=kinds)]

    for values in ([0.0, 1.0, 2.0, 0.5, 0.2], [5.0, 6.0, 7.0, 8.0, 9.0, 11.0, 6.5]):
        for condition in ("", "cold"):
            sides = runs([0.0, 0.5, 0.6, 0.1, 0.3]), runs(values, condition)
            agree(in_browser(judging, *sides), compared_sets(*sides, ("first", "second")))
    assert in_browser(judging, runs([1.0]), [result(1, "other")]) is None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machines and two tags of a workload, and a scaling study."""
    home = tmp_path_factory.mktemp("site")
    own = [*sessions(40, 30), *sessions(40, 1000, machine="beta"), *scaling_study()]
    store = store_of(home / "store", own)
    alpha = [one for one in own if (one.name, one.machine) == ("quick", "alpha")]
    tag(store, "golden", [one.id for one in alpha[:12]])
    tag(store, "candidate", [one.id for one in alpha[32:]])
    made(home / "public", store)
    return home / "public"


CELLS = "[...document.querySelectorAll('#explore tbody tr')].map(r => [...r.cells].map("
CELLS += "c => c.textContent))"
HEADLINE = "document.querySelector('#explore [role=status]').textContent"


def put_in(browser: Browser, **values: str) -> None:
    """Sets controls by their names, in which `_` is `-`, as a person does."""
    for name, value in values.items():
        found = browser.evaluate(
            f"(() => {{ const input = document.querySelector('[name={name.replace('_', '-')}]');"
            f"input.value = {json.dumps(value)}; input.dispatchEvent(new Event('input'));"
            "return input.value; })()"
        )
        assert found == value, name


def own_runs(machine: str, first_day: int, last_day: int) -> list[Result]:
    """The runs of a machine from one day to another one, both included."""
    slower = 30 if machine == "alpha" else 1000
    return [result(day, machine=machine, slower_from=slower)
            for day in range(first_day, last_day + 1)]  # fmt: skip


def test_tags_are_judged(browser: Browser, site: Path) -> None:
    browser.open((site / "choose/quick.html").as_uri())
    nothing = {f"{side}_{name}": "" for side in ("first", "second")
               for name in ("machine", "from", "to")}  # fmt: skip
    put_in(browser, **nothing, first_tag="golden", second_tag="candidate")
    sides = own_runs("alpha", 0, 11), own_runs("alpha", 32, 39)
    wanted = compared_sets(*sides, ("tag golden", "tag candidate"))
    assert "significantly lower" in wanted.headline or "significantly higher" in wanted.headline
    assert browser.evaluate(HEADLINE) == wanted.headline
    rows = browser.evaluate(CELLS)
    assert [row[0] for row in rows] == [row.name for row in wanted.parts[0].rows]
    assert [row[11].endswith("WORSE") for row in rows] == [r.is_worse for r in wanted.parts[0].rows]
    text = browser.evaluate("document.body.textContent")
    assert "venturi compare tag:golden,name:quick tag:candidate,name:quick" in text
    where = browser.evaluate("location.href")
    browser.open("about:blank")
    browser.open(where)
    assert browser.evaluate(CELLS) == rows
    assert browser.complaints() == []


def test_weeks_and_machines_are_judged(browser: Browser, site: Path) -> None:
    browser.open((site / "choose/quick.html").as_uri())
    put_in(browser, second_machine="alpha", first_week="2026-01-05", second_week="2026-02-02")
    sides = own_runs("alpha", 4, 10), own_runs("alpha", 32, 38)
    wanted = compared_sets(*sides, ("first", "second"))
    assert browser.evaluate(HEADLINE) == wanted.headline
    assert browser.evaluate(CELLS)[0][4] == "7 sessions"
    put_in(browser, second_machine="beta", second_week="2026-01-05")
    sides = own_runs("alpha", 4, 10), own_runs("beta", 4, 10)
    assert browser.evaluate(HEADLINE) == compared_sets(*sides, ("first", "second")).headline
    put_in(browser, first_tag="candidate")
    assert "The first side has no run that measured anything" in browser.evaluate(HEADLINE)
    assert browser.complaints() == []


def test_single_runs_are_judged_by_their_repetitions(browser: Browser, site: Path) -> None:
    runs = [one for one in scaling_study() if one.ranks == 4]
    first = runs[0]
    second = next(one for one in runs if one.key == first.key and one.id != first.id)
    browser.open(f"{site.as_uri()}/{address.choose_run('scaling', first.id)}")
    put_in(browser, second_run=second.id)
    wanted = compared_sets([first], [second], (first.id, second.id))
    assert browser.evaluate(HEADLINE) == wanted.headline
    assert browser.evaluate(CELLS)[0][4] == "3 repetitions"


def test_many_runs_are_judged_once_the_page_stands(browser: Browser, tmp_path: Path) -> None:
    own = [*sessions(310, 200), *sessions(310, 1000, machine="beta")]
    made(tmp_path / "public", store_of(tmp_path / "store", own))
    browser.open((tmp_path / "public" / "choose/quick.html").as_uri())
    put_in(browser, first_from="", second_from="")
    at_once = (
        "(() => { document.querySelector('[name=second-to]').dispatchEvent(new Event('input'));"
    )
    assert browser.evaluate(f"{at_once} return {HEADLINE}; }})()") == "Judging 620 runs …"
    sides = sessions(310, 200), sessions(310, 1000, machine="beta")
    wanted = compared_sets(*sides, ("alpha", "beta")).headline
    assert hold(lambda: browser.evaluate(HEADLINE) == wanted or None)
    assert browser.complaints() == []
