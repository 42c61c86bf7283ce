"""A workload's page: what it does to storage, and what was forecast of it beside what it took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from site_factory import result, store_of
from test_site_build import content, made, pages
from test_site_calibration import put_forecast, put_run, runs

from predict.test_calibrate import around, io_seconds, kept_for, phase
from venturi.report import quantity
from venturi.report.phase import phases
from venturi.store.result import RECORD_NAME

PAGE = "workload/checkpoint.html"


def origin(**more: Any) -> dict[str, Any]:
    """Where a derived workload comes from, as its record has it."""
    finding = {
        "id": "small-requests",
        "severity": "high",
        "what": "/scratch/somebody/out.#: most requests are small.",
        "evidence": "93 % of the writes to /scratch/somebody/out.#",
        "advice": "Collect data, <b>then</b> write it.",
    }
    observed = {
        "layer": "posix",
        "ranks": 64,
        "seconds": 120.0,
        "io_seconds": 30.0,
        "bytes_written": 7 * 2**30,
        "bytes_read": 2**20,
        "operations": {"write": 7168, "open": 64, "sync": 0},
        "request_sizes": [{"up_to_bytes": 2**20, "writes": 7168, "reads": 0}],
        "coverage_bytes": 0.98,
        "coverage_operations": 0.9,
    }
    source = "/logs/somebody_app.darshan"
    found = {"source": source, "method": "darshan", "findings": [finding, finding]}
    return {**found, "observed": observed, **more}


def test_a_derived_workload_has_the_account_of_its_application(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", []), tmp_path / "public"
    (run,) = runs(1, workload={"origin": origin()})
    put_run(store, run)
    made(place, store)
    page = content(place, PAGE)
    for said in (
        "As Darshan counted it in the application.",
        "7,168 write, 64 open",
        "98 % of its bytes, 90 % of its calls",
        "Most requests are small.",
        "in 2 groups of files",
        "Collect data, <b>then</b> write it.",
    ):
        assert said in page.text.replace("\u00a0", " "), said
    assert page.row("1 MiB")[1] == "7,168"
    assert not [tag for tag, _ in page.tags if tag == "b"]
    for path, data in pages(place).items():
        assert b"somebody" not in data, path


def test_any_workload_has_what_its_newest_run_did(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", []), tmp_path / "public"
    own = runs(2)
    put_run(store, own[0])
    made(place, store)
    page = content(place, PAGE)
    for one in phases(own[0]):
        row = page.row(one.path)
        moved = one.median_sample.bytes
        assert row[3] == (quantity.size(moved) if moved else "–")
        assert row[2] == quantity.seconds(one.median_sample.total_s)
    assert f"run/{own[0].id}.html" in (place / PAGE).read_text()
    put_run(store, own[1])
    made(place, store)
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")
    took = phases(own[1])[0].median_sample.total_s
    assert content(place, PAGE).row(phases(own[1])[0].path)[2] == quantity.seconds(took)


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_workload_without_a_record_has_no_account(tmp_path: Path, how: str) -> None:
    store = store_of(tmp_path / "store", [result(3)])
    (run,) = runs(1)
    put_run(store, run)
    record = store / "runs" / run.id / RECORD_NAME
    record.write_text("{") if how == "damaged" else record.unlink()
    made(tmp_path / "public", store)
    for path in (tmp_path / "public" / "workload").iterdir():
        assert "What it does to storage" not in path.read_text()


def test_forecasts_of_a_workload_stand_on_its_page(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", [result(3)]), tmp_path / "public"
    own = runs(3)
    for run in own:
        put_run(store, run)
    made(place, store)
    assert "Predicted, and then measured" not in content(place, PAGE).text
    put_forecast(store, kept_for(own[0], *(
        phase(path, around(io_seconds(own[0], path))) for path in ("checkpoint", "restart", "items")
    )))  # fmt: skip
    made(place, store)
    page = content(place, PAGE)
    assert "Predicted, and then measured" in page.text
    assert page.row("checkpoint", "alpha", "xfs")[3:5] == ["1", "3"]
    assert sum(row[0].startswith("2026-11-") and row[1] == "checkpoint" for row in page.rows) == 3
    assert "Predicted" not in content(place, "workload/quick.html").text
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")
