"""The page of forecasts: later runs beside them, what is left out, and nothing private."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from site_factory import store_of
from test_site_build import content, made, pages

import warm_start
from predict.test_calibrate import around, io_seconds, kept_for, phase
from profile_factory import curve, data, machine
from report.record_factory import record
from venturi.execute.target import file_system_of
from venturi.model.calibration import KeptForecast
from venturi.model.record import Record
from venturi.report.site import address
from venturi.store.result import RECORD_NAME, RESULT_NAME, result_of
from venturi.store.seal import seal


def put_run(store: Path, run: Record) -> None:
    """A run's folder as `venturi run` leaves it."""
    folder = store / "runs" / run.id
    folder.mkdir(parents=True)
    (folder / RECORD_NAME).write_text(run.to_json(), "utf-8")
    (folder / RESULT_NAME).write_text(result_of(run).to_json(), "utf-8")
    seal(folder)


def put_forecast(store: Path, kept: KeptForecast) -> Path:
    path = store / "forecast" / f"{kept.id}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(kept.to_json(), "utf-8")
    return path


def runs(count: int, **more: Any) -> list[Record]:
    return [
        record(
            seed=day,
            id=f"202611{day:02}-000000-checkpoint-{day:04}",
            started=f"2026-11-{day:02}T09:30:12Z",
            machine="alpha",
            **more,
        )
        for day in range(10, 10 + count)
    ]


def test_runs_stand_beside_the_forecast_before_them(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", []), tmp_path / "public"
    own = runs(6)
    seconds = io_seconds(own[0], "checkpoint", "restart", "items")
    put_forecast(store, kept_for(own[0], *(
        phase(path, around(io_seconds(own[0], path))) for path in ("checkpoint", "restart", "items")
    )))  # fmt: skip
    for run in own[:5]:
        put_run(store, run)
    made(place, store)
    page = content(place, address.CALIBRATION)
    inside = sum(
        seconds / 1.5 <= io_seconds(run, "checkpoint", "restart", "items") <= seconds * 1.5
        for run in own[:5]
    )
    assert f"{inside} of 5 I/O times measured after a forecast lie in its interval" in page.text
    row = page.row("checkpoint", "alpha", "xfs")
    assert row[3:6] == ["1", "5", f"{inside} of 5"]
    put_run(store, own[5])
    assert made(place, store).read == 1
    assert content(place, address.CALIBRATION).row("checkpoint", "alpha", "xfs")[4] == "6"
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")


def test_a_forecast_that_comes_later_takes_no_run_and_one_that_goes_leaves_none(
    tmp_path: Path,
) -> None:
    store, place = store_of(tmp_path / "store", []), tmp_path / "public"
    own = runs(3)
    for run in own:
        put_run(store, run)
    restart = phase("restart", around(1.0))
    late = kept_for(own[0], restart, id="late", made="2026-11-29T00:00:00+00:00")
    put_forecast(store, late)
    made(place, store)
    text = content(place, address.CALIBRATION).text
    assert "No forecast has been tested by a later run yet." in text
    early = put_forecast(store, kept_for(own[0], restart, id="early"))
    made(place, store)
    assert "1 forecast not tested yet" in content(place, address.CALIBRATION).text
    assert content(place, address.CALIBRATION).row("checkpoint", "alpha", "xfs")[4] == "3"
    early.unlink()
    made(place, store)
    assert "No forecast has been tested" in content(place, address.CALIBRATION).text
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")


def test_nothing_private_and_no_markup_comes_from_a_forecast(tmp_path: Path) -> None:
    store, place = store_of(tmp_path / "store", []), tmp_path / "public"
    hostile = "<script>alert(1)</script>"
    own = runs(2)
    rows = [row.model_copy(update={"path": hostile}) for row in own[0].phases if
            row.path == "restart"]  # fmt: skip
    bad = own[0].model_copy(update={"phases": rows})
    put_run(store, bad)
    put_forecast(store, kept_for(bad, phase(hostile, around(1.0)), id="hostile"))
    put_forecast(store, kept_for(bad, phase("/home/ana/x", around(1.0)), id="private"))
    (store / "forecast" / "cut.json").write_text("{", "utf-8")
    done = made(place, store)
    said = "\n".join(done.problems)
    assert "forecast/private.json: private" in said
    assert "forecast/cut.json: this is no forecast of this version" in said
    text = (place / address.CALIBRATION).read_text("utf-8")
    assert "&lt;script&gt;" in text
    assert hostile not in text
    for word in ("node17", "/scratch/ana", "/home/ana", "nvme0n1p2"):
        assert word not in text


def test_a_site_without_forecasts_says_how_to_make_one(tmp_path: Path) -> None:
    made(tmp_path / "public", store_of(tmp_path / "store", []))
    page = content(tmp_path / "public", address.CALIBRATION)
    assert "venturi predict WORKLOAD --on MACHINE.yaml" in page.text


def typed(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as a user types it."""
    line = [sys.executable, "-m", "venturi", *words]
    environment = {**os.environ, "VENTURI_STORE": str(store)}
    return warm_start.run(line, env=environment, capture_output=True, text=True, check=False)


def test_predict_run_and_build_as_typed(tmp_path: Path) -> None:
    here = tmp_path / "data"
    here.mkdir()
    names = ("create", "open", "close", "stat", "unlink", "mkdir", "rmdir")
    profiled = machine(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        data("read", lambda size, ranks: 1e-6 + 1e-9 * size, "cached"),
        *(curve(name, lambda size, ranks: 1e-6, sizes=(0, 4096)) for name in names),
        host=platform.node(),
        file_system=file_system_of(here),
    )
    (tmp_path / "m.yaml").write_text(profiled.to_json(), "utf-8")
    store = tmp_path / "store"
    words = ("mdtest-easy", "-n", "1")
    assert typed(store, "predict", *words, "--on", str(tmp_path / "m.yaml")).returncode == 0
    assert len(list((store / "forecast").iterdir())) == 1
    no_keep = ("--on", str(tmp_path / "m.yaml"), "--no-keep")
    assert typed(store, "predict", *words, *no_keep).returncode == 0
    assert len(list((store / "forecast").iterdir())) == 1
    kept = next((store / "forecast").iterdir())
    early = kept.read_text("utf-8").replace('"made": "2', '"made": "1')  # before the run's second
    kept.write_text(early, "utf-8")
    done = typed(store, "run", *words, "-d", str(here), "-q")
    assert done.returncode in (0, 3), done.stderr
    done = typed(store, "site", "build", "-o", str(tmp_path / "public"))
    assert done.returncode == 0, done.stderr
    page = content(tmp_path / "public", address.CALIBRATION)
    assert "measured after a forecast" in page.text
    assert any(row[:1] == ["mdtest-easy"] for row in page.rows)


def test_a_store_that_cannot_be_written_is_said_and_the_forecast_is_there(tmp_path: Path) -> None:
    profiled = machine(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        data("read", lambda size, ranks: 1e-6 + 1e-9 * size, "cached"),
        *(curve(name, lambda size, ranks: 1e-6, sizes=(0, 4096)) for name in ("create", "close")),
    )
    (tmp_path / "m.yaml").write_text(profiled.to_json(), "utf-8")
    (tmp_path / "store").write_text("a file", "utf-8")
    words = ("predict", "mdtest-easy", "-n", "1", "--on", str(tmp_path / "m.yaml"), "--json")
    done = typed(tmp_path / "store", *words)
    assert done.returncode == 0
    assert '"schema": "venturi.forecast/1"' in done.stdout
    assert "not kept for later" in done.stderr
