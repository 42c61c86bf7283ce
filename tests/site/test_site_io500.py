"""Lists of IO500 on a site: the right rows in the right order, and systems with their results."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from site_factory import io500_list, result, store_of
from test_site_build import content, made, pages

from venturi.compat.io500.list_csv import read_list
from venturi.model.output import Better
from venturi.model.published import Io500Result
from venturi.model.result import Measure, Result
from venturi.report.site import address
from venturi.report.site.io500 import csv_of, owner_of
from venturi.store.published import load_all, save


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Io500Result]]:
    """The site of 365 imported results, and the results."""
    home = tmp_path_factory.mktemp("listed")
    store = store_of(home / "store", [result(0)])
    for one in read_list(io500_list().encode(), "list.csv"):
        assert isinstance(one, Io500Result)
        save(store, one)
    made(home / "public", store)
    return home / "public", list(load_all(store))


@pytest.mark.parametrize(
    ("name", "kind", "nodes"),
    [
        ("production", "production", None),
        ("ten-node-production", "production", 10),
        ("research", "research", None),
        ("ten-node-research", "research", 10),
        ("historical", None, None),
    ],
)
def test_a_list_has_the_right_results_best_first(
    listed: tuple[Path, list[Io500Result]], name: str, kind: str | None, nodes: int | None
) -> None:
    place, results = listed
    wanted = [
        one for one in results if kind in (None, one.classification) and nodes in (None, one.nodes)
    ]
    scores = sorted((one.recomputed.score or 0.0 for one in wanted), reverse=True)
    rows = [row for row in content(place, f"io500/{name}.html").rows if row[0].isdigit()]
    assert len(rows) == len(wanted) > 10
    assert [row[0] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    assert [row[8] for row in rows] == [f"{score:.2f}" for score in scores]
    by_system = {one.system: one for one in wanted}
    for row in rows:
        one = by_system[row[3]]
        assert row[1:3] == [str(one.year), one.institution]
        assert row[4:8] == [one.filesystem, one.classification, str(one.nodes), str(one.procs)]
        assert row[9:11] == [f"{one.recomputed.bw:.2f}", f"{one.recomputed.md:.2f}"]


def test_the_page_of_a_system_has_its_phases_and_places(
    listed: tuple[Path, list[Io500Result]],
) -> None:
    place, results = listed
    best = max(results, key=lambda one: one.recomputed.score or 0.0)
    page = content(place, address.system(owner_of(best)))
    assert "1 in Full" in page.text
    for phase in best.phases:
        assert page.row(phase.name)[2] == phase.unit
    assert "follow from the phases" in page.text


def test_all_results_can_be_downloaded(listed: tuple[Path, list[Io500Result]]) -> None:
    place, results = listed
    rows = list(csv.DictReader(io.StringIO((place / "io500/results.csv").read_text("utf-8"))))
    assert {row["key"] for row in rows} == {one.key for one in results}
    by_key = {one.key: one for one in results}
    for row in rows:
        assert float(row["score"]) == by_key[row["key"]].recomputed.score
    data = json.loads((place / "io500/results.json").read_text("utf-8"))
    assert [one["key"] for one in data] == [one.key for one in results]


def test_a_cell_is_no_formula_of_a_spreadsheet(
    listed: tuple[Path, list[Io500Result]],
) -> None:
    one = listed[1][0].model_copy(update={"institution": "=cmd|' /C calc'!A0", "system": "-1"})
    row = next(csv.DictReader(io.StringIO(csv_of([one]))))
    assert row["institution"].startswith("'=")
    assert row["system"] == "'-1"


def test_a_result_that_a_flag_excludes_has_no_place(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(0)])
    found = list(read_list(io500_list(4).encode(), "list.csv"))
    for number, one in enumerate(found):
        assert isinstance(one, Io500Result)
        save(store, one.model_copy(update={"ranked": number != 1}))
    made(tmp_path / "public", store)
    rows = content(tmp_path / "public", "io500/historical.html").rows
    assert [row[0] for row in rows[1:]] == ["1", "2", "3", "–"]
    assert rows[4][3] == "System 001"


def test_lists_without_any_result_say_so(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(0)])
    made(tmp_path / "public", store)
    assert (
        "No imported result is in this list."
        in content(tmp_path / "public", "io500/full.html").text
    )


def test_a_new_list_changes_its_pages_alone(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(0)])
    found = [one for one in read_list(io500_list(8).encode(), "x") if isinstance(one, Io500Result)]
    for one in found[:7]:
        save(store, one)
    made(tmp_path / "public", store)
    before = pages(tmp_path / "public")
    save(store, found[7])
    done = made(tmp_path / "public", store)
    after = pages(tmp_path / "public")
    assert done.read == 0
    assert before["workload/quick.html"] == after["workload/quick.html"]
    made(tmp_path / "whole", store)
    assert after == pages(tmp_path / "whole")


def own_run(score: float, nodes: int) -> Result:
    """A run of IO500 on machine alpha."""
    units = {"bandwidth": "GiB/s", "metadata": "kIOPS", "score": ""}
    metrics = {
        name: Measure(unit=unit, better=Better.HIGHER, values=[score])
        for name, unit in units.items()
    }
    return result(9, "io500", nodes=nodes, metrics=metrics)


def of_size(results: list[Io500Result], least: int, most: int) -> list[float]:
    """The best scores of all systems of a size, best first."""
    best: dict[tuple[str, str, str], float] = {}
    for one in results:
        score = one.recomputed.score
        if one.ranked and score is not None and one.nodes and least <= one.nodes <= most:
            best[owner_of(one)] = max(score, best.get(owner_of(one), 0.0))
    return sorted(best.values(), reverse=True)


@pytest.mark.parametrize("score", [0.01, 100.0, 1e6])
def test_a_run_of_our_own_stands_among_published_results_of_its_size(
    listed: tuple[Path, list[Io500Result]], tmp_path: Path, score: float
) -> None:
    store = store_of(tmp_path / "store", [own_run(score, nodes=9)])
    for one in listed[1]:
        save(store, one)
    made(tmp_path / "public", store)
    page = content(tmp_path / "public", "machine/alpha.html")
    scores = of_size(listed[1], 5, 18)
    place = 1 + sum(one > score for one in scores)
    title = f"io500: place {place} beside {len(scores)} systems with 5 to 18 client nodes"
    assert title in page.text
    row = page.row(str(place), "io500 here (VALID)")
    assert row[2] == "9"
    near = [row for row in page.rows if len(row) == 5 and row[0].isdigit()]
    places = [int(row[0]) for row in near]
    assert places == list(range(max(place - 3, 1), places[-1] + 1))
    assert len(near) == 1 + min(place - 1, 3) + min(len(scores) - place + 1, 3)


def test_a_score_that_is_not_io500s_has_no_place_there(
    listed: tuple[Path, list[Io500Result]], tmp_path: Path
) -> None:
    score = {"score": Measure(unit="", better=Better.HIGHER, values=[3.0])}
    runs = [
        result(0, "game", metrics=score),
        own_run(3.0, 9).model_copy(update={"level": "INVALID"}),
    ]
    store = store_of(tmp_path / "store", runs)
    for one in listed[1][:5]:
        save(store, one)
    made(tmp_path / "public", store)
    assert "of its size" not in content(tmp_path / "public", "machine/alpha.html").text


def test_a_system_says_its_place_among_those_of_its_size(
    listed: tuple[Path, list[Io500Result]],
) -> None:
    one = next(one for one in listed[1] if one.ranked and one.nodes == 10)
    assert one.recomputed.score is not None
    scores = of_size(listed[1], 5, 20)
    place = 1 + sum(score > one.recomputed.score for score in scores)
    page = content(listed[0], address.system(owner_of(one)))
    assert f"{place} in {len(scores)} with 5 to 20 nodes" in page.text
