"""Exploring in a browser: several machines, fixed parameters, tags, and files of what is chosen."""

from __future__ import annotations

import base64
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
import site_browsers
from site_factory import result, scaling_study, sessions, store_of
from test_site_build import made

from browser import Browser
from venturi.model.result import Result
from venturi.model.statistic import median
from venturi.store.result import tag

pytestmark = pytest.mark.needs("browser")
MACHINES = ("alpha", "beta", "gamma")
ROWS = "[...document.querySelectorAll('#explore tbody tr')].map(r => [...r.cells].map("
ROWS += "c => c.textContent))"
PARQUET = """(async () => {
  const made = [];
  URL.createObjectURL = (blob) => { made.push(blob); return "#"; };
  const link = [...document.querySelectorAll("#explore a[download]")].find(
    (one) => one.textContent === "Parquet");
  link.addEventListener("click", (event) => event.preventDefault());
  link.click();
  const bytes = new Uint8Array(await made[0].arrayBuffer());
  return [link.download, btoa(String.fromCharCode(...bytes))];
})()"""


def studied() -> list[Result]:
    """The scaling study on each machine, and one odd point that has another parameter."""
    odd = result(
        41, "scaling", ranks=4, session="odd", step="sweep", parameters={"Größe": "a few words"}
    )
    return [*(one for machine in MACHINES for one in scaling_study(machine)), odd]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("site")
    own = [*studied(), *sessions(20, 1000)]
    store = store_of(home / "store", own)
    quick = [one.id for one in own if one.name == "quick"]
    tag(store, "golden", quick[3:7])
    tag(store, "__proto__", quick[9:10])
    made(home / "public", store)
    return home / "public"


browser = site_browsers.chromium


def put_in(browser: Browser, name: str, value: str) -> None:
    """Sets a control by its name, as a person does."""
    found = browser.evaluate(
        f"(() => {{ const input = document.querySelector('[name=\"{name}\"]');"
        f"input.value = {json.dumps(value)}; input.dispatchEvent(new Event('input'));"
        "return input.value; })()"
    )
    assert found == value, name


def untick(browser: Browser, machine: str) -> None:
    """Leaves a machine out."""
    browser.evaluate(f"document.querySelector('[name=machine][value={machine}]').click()")


def test_some_machines_are_beside_each_other_with_parameters_fixed(
    browser: Browser, site: Path
) -> None:
    browser.open((site / "explore/scaling.html").as_uri())
    put_in(browser, "metric", "write")
    put_in(browser, "over", "ranks")
    put_in(browser, "by", "machine")
    put_in(browser, "is-transfer", "16 MiB")
    untick(browser, "gamma")
    rows = browser.evaluate(ROWS)
    points = {(machine, str(ranks)) for machine in MACHINES[:2] for ranks in (1, 2, 4, 8, 16, 32)}
    assert {(row[1], row[2]) for row in rows} == points
    assert len(rows) == len(points)
    assert "16 MiB" in rows[0]
    legend = browser.evaluate(
        "[...document.querySelectorAll('.chart text')].map(t => t.textContent)"
    )
    assert {"alpha", "beta"} <= set(legend)
    assert "gamma" not in legend
    where = browser.evaluate("location.href")
    browser.open("about:blank")
    browser.open(where)
    assert browser.evaluate(ROWS) == rows
    boxes = "[...document.querySelectorAll('[name=machine]')].map(b => b.checked)"
    assert browser.evaluate(boxes) == [True, True, False]
    for machine in MACHINES[:2]:
        untick(browser, machine)
    assert browser.evaluate("document.querySelector('#explore [role=status]').textContent") == (
        "No session is chosen."
    )
    assert browser.complaints() == []


@pytest.mark.parametrize(("name", "days"), [("golden", range(3, 7)), ("__proto__", range(9, 10))])
def test_sessions_of_a_tag_are_chosen(browser: Browser, site: Path, name: str, days: range) -> None:
    browser.open((site / "explore/quick.html").as_uri())
    assert len(browser.evaluate(ROWS)) == 20
    put_in(browser, "tag", name)
    started = [result(day).started[:10] for day in days]
    assert [row[0][:10] for row in browser.evaluate(ROWS)] == started
    assert f"tag={name}" in browser.evaluate("location.hash")


def parquet_rows(browser: Browser) -> tuple[str, Any]:
    """The name of the file that the page would save, and the table in it."""
    from pyarrow import parquet

    name, text = browser.evaluate(PARQUET)
    return name, parquet.read_table(io.BytesIO(base64.b64decode(text)))


def test_what_is_chosen_is_a_parquet_file_like_that_of_all_sessions(
    browser: Browser, site: Path
) -> None:
    from pyarrow import parquet

    browser.open((site / "explore/scaling.html").as_uri())
    put_in(browser, "metric", "write")
    name, table = parquet_rows(browser)
    assert name == "write.parquet"
    whole = parquet.read_table(site / "data/scaling.parquet")
    assert set(table.column_names) == set(whole.column_names) - {"condition"}
    wanted = [row for row in whole.to_pylist() if row["metric"] == "write"]
    found = table.to_pylist()
    assert len(found) == len(wanted) == len(MACHINES) * 18 + 1
    texts = (
        "machine",
        "step",
        "session",
        "started",
        "ranks",
        "parameter.transfer",
        "parameter.Größe",
    )
    key = [tuple(str(row[column]).removesuffix(".0") for column in texts) for row in found]
    assert sorted(key) == sorted(tuple(str(row[column]) for column in texts) for row in wanted)
    values = {
        (row["machine"], row["ranks"], row["parameter.transfer"]): row["value"] for row in found
    }
    points: dict[tuple[str, float, str], list[float]] = {}
    for one in studied():
        place = (one.machine, float(one.ranks), str(one.parameters.get("transfer", "")))
        points.setdefault(place, []).extend(one.metrics["write"].values)
    for place, own in points.items():
        assert values[place] == pytest.approx(median(own), rel=1e-6)


def test_few_and_no_rows_and_missing_numbers_are_parquet_files(
    browser: Browser, site: Path
) -> None:
    browser.open((site / "explore/quick.html").as_uri())
    put_in(browser, "to", "2020-01-01")
    assert parquet_rows(browser)[1].num_rows == 0
    columns = json.dumps([["n", [1.5, math.pi]], ["text", ["", "ü"]]])
    script = f"parquetOf(new Map({columns})).arrayBuffer().then(b => [...new Uint8Array(b)])"
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(bytes(browser.evaluate(script))))
    assert table.to_pydict() == {"n": [1.5, math.pi], "text": ["", "ü"]}
    wide = [[f"c{number}", [float(number)] * 70_000] for number in range(20)]
    script = (
        "(() => { const wide = new Map(); for (let i = 0; i < 20; i += 1) "
        "wide.set(`c${i}`, new Array(70000).fill(i)); return parquetOf(wide).arrayBuffer()"
        ".then(b => { const u = new Uint8Array(b); let t = ''; for (let i = 0; i < u.length;"
        " i += 30000) t += String.fromCharCode(...u.subarray(i, i + 30000));"
        " return btoa(t); }); })()"
    )
    table = parquet.read_table(io.BytesIO(base64.b64decode(browser.evaluate(script))))
    assert table.to_pydict() == dict(wide)
