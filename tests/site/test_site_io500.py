"""Lists of IO500 on a site: the right rows in the right order, and systems with their results."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from site_factory import io500_list, result, store_of
from test_site_build import content, made, pages

from venturi.compat.io500.list_csv import read_list
from venturi.model.output import Better
from venturi.model.published import Io500Result, Io500Score
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
    assert [row[10] for row in rows] == [f"{score:.2f}" for score in scores]
    by_system = {one.system: one for one in wanted}
    for row in rows:
        one = by_system[row[4]]
        assert row[1:4] == [one.release, str(one.year), one.institution]
        assert row[5:10] == [
            one.storage_vendor, one.filesystem, one.classification, str(one.nodes), str(one.procs)
        ]  # fmt: skip
        assert one.release == f"ISC{one.year % 100}" if one.year else not one.release
        means = [f"{one.recomputed.bw:.2f}", f"{one.recomputed.md:.2f}"]
        assert row[11:15] == ["", *means, one.reproducibility]
    assert len({row[14] for row in rows}) == 3


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


@pytest.mark.parametrize("name", ["full", "ten-node-research", "historical"])
def test_a_list_can_be_downloaded(listed: tuple[Path, list[Io500Result]], name: str) -> None:
    place, results = listed
    page = content(place, f"io500/{name}.html")
    assert f'href="../io500/{name}.csv"' in (place / f"io500/{name}.html").read_text("utf-8")
    shown = [row for row in page.rows if row[0].isdigit()]
    rows = list(csv.DictReader(io.StringIO((place / f"io500/{name}.csv").read_text("utf-8"))))
    by_key = {one.key: one for one in results}
    assert [row["place"] for row in rows] == [row[0] for row in shown]
    for row, cells in zip(rows, shown, strict=True):
        one = by_key[row["key"]]
        assert float(row["score"]) == one.recomputed.score
        assert [row["release"], row["storage_vendor"]] == [cells[1], cells[5]]
        assert row["reproducibility"] == cells[14] == one.reproducibility
        assert float(row["find"]) == next(p.value for p in one.phases if p.name == "find")


def repeated(system: str, scores: Sequence[float], **more: Any) -> list[Io500Result]:
    """Results of one system, of which the files say these scores."""
    return [
        Io500Result(
            key=f"{system}-{number}".lower().replace(" ", "-"),
            source="list.csv",
            format="list",
            institution="A Lab",
            system=system,
            filesystem="Lustre",
            phases=[],
            published=Io500Score(),
            recomputed=Io500Score(bw=score, md=score, score=score),
            match=True,
            ranked=True,
            **{"nodes": 10, "procs": 80, "year": 2024, "classification": "production"} | more,
        )
        for number, score in enumerate(scores)
    ]


def test_places_are_shared_where_intervals_overlap(tmp_path: Path) -> None:
    results = [
        *repeated("One", [30.0]),
        *repeated("Noisy", [14.0, 20.0]),
        *repeated("Between", [19.0]),
        *repeated("Like it", [13.0, 15.0, 18.0]),
        *repeated("Apart", [12.0, 12.5]),
    ]
    store = store_of(tmp_path / "store", [result(0)])
    for one in results:
        save(store, one)
    made(tmp_path / "public", store)
    page = content(tmp_path / "public", "io500/production.html")
    assert [(row[0], row[4], row[11]) for row in page.rows[1:]] == [
        ("1", "One", ""),
        ("2=", "Noisy", "14.00 to 20.00 (2 results, 50 %)"),
        ("2=", "Between", ""),
        ("2=", "Like it", "13.00 to 18.00 (3 results, 75 %)"),
        ("5", "Apart", "12.00 to 12.50 (2 results, 50 %)"),
    ]
    assert "no difference of rank is claimed" in page.text
    assert "One result has no interval." in page.text
    table = (tmp_path / "public/io500/production.csv").read_text("utf-8")
    row = next(row for row in csv.DictReader(io.StringIO(table)) if row["system"] == "Like it")
    assert [row[name] for name in ("place", "shared", "interval_low", "repetitions")] == [
        "2", "1", "13.0", "3"
    ]  # fmt: skip
    single = content(tmp_path / "public", "io500/historical.html")
    assert [row[0] for row in single.rows[1:]] == [str(n) for n in range(1, len(results) + 1)]
    assert "no difference of rank" not in single.text
    system = content(tmp_path / "public", address.system(owner_of(results[1])))
    assert "2= in Production" in system.text


def test_of_each_system_the_best_result_stands_in_a_list(tmp_path: Path) -> None:
    results = [
        *repeated("Grown", [5.0], nodes=10),
        *(
            one.model_copy(update={"key": "grown-b"})
            for one in repeated("Grown", [50.0], nodes=100)
        ),
    ]
    store = store_of(tmp_path / "store", [result(0)])
    for one in results:
        save(store, one)
    made(tmp_path / "public", store)
    for name, scores in (
        ("production", ["50.00"]),
        ("ten-node-production", ["5.00"]),
        ("historical", ["50.00", "5.00"]),
    ):
        rows = content(tmp_path / "public", f"io500/{name}.html").rows[1:]
        assert [row[10] for row in rows] == scores


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
    assert rows[4][4] == "System 001"


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


def test_lists_of_a_class_say_how_many_results_name_none(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(0)])
    for number, one in enumerate(read_list(io500_list(12).encode(), "list.csv")):
        assert isinstance(one, Io500Result)
        save(store, one.model_copy(update={"classification": ""}) if number < 5 else one)
    made(tmp_path / "public", store)
    said = "Results that name no class (5) are only in the full and the historical list."
    for name in ("production", "ten-node-production", "research", "ten-node-research"):
        assert said in content(tmp_path / "public", f"io500/{name}.html").text
    for name in ("full", "historical"):
        assert "name no class" not in content(tmp_path / "public", f"io500/{name}.html").text
