"""Forecasts that go with the runs that test them: into a repository, and into another store."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from predict.test_calibrate import around, kept_for, phase
from report.record_factory import record
from store.test_push import git
from venturi.model.calibration import KeptForecast
from venturi.model.record import Record
from venturi.model.result import Result
from venturi.model.shared_forecast import SharedForecast
from venturi.predict.share import ForecastSharing, take_forecasts
from venturi.store.archive import results
from venturi.store.push import Pushed, push
from venturi.store.result import RECORD_NAME, keep, result_of

RUN = "20261110-000000-checkpoint-0010"
PLACE = f"alpha/checkpoint/2026-11/{RUN}.json"


def run_of(**more: Any) -> Record:
    return record(id=RUN, started="2026-11-10T09:30:12Z", machine="alpha", **more)


def put(store: Path, run: Record, *kept: KeptForecast) -> Path:
    """A store with a run, and forecasts."""
    text = store.with_suffix(".record.json")
    text.write_text(run.to_json(), "utf-8")
    assert keep(store, result_of(run), {RECORD_NAME: text})
    (store / "forecast").mkdir()
    for one in kept:
        (store / "forecast" / f"{one.id}.json").write_text(one.to_json(), "utf-8")
    return store


def pushed(store: Path, repository: Path, machine: str = "") -> tuple[Pushed, ForecastSharing]:
    sharing = ForecastSharing(store)
    return push(store, str(repository), results(store), machine, sharing.of_run), sharing


def names(repository: Path) -> list[str]:
    return git(repository, "ls-tree", "-r", "--name-only", "HEAD").split()


def checkout(repository: Path, place: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(repository), str(place)], check=True)
    return place


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository of results."""
    folder = tmp_path / "results.git"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    return folder


def test_a_forecast_goes_with_the_run_that_tests_it_and_names_nobody(
    tmp_path: Path, repository: Path
) -> None:
    run = run_of()
    store = put(
        tmp_path / "store",
        run,
        kept_for(run, phase("restart", around(1.0))),
        kept_for(run, phase("restart", around(1.0)), id="later", made="2026-11-29T00:00:00+00:00"),
    )
    done, sharing = pushed(store, repository)
    assert (done.added, done.forecasts, done.left_out, sharing.problems) == (1, 1, [], [])
    assert names(repository) == [f"forecasts/{PLACE}", f"results/{PLACE}"]
    text = git(repository, "show", f"HEAD:forecasts/{PLACE}")
    found = SharedForecast.model_validate_json(text, by_alias=True)
    assert [one.phase for one in found.trials] == ["", "restart"]
    assert {one.forecast for one in found.trials} == {"20261101-000000-f-0001"}
    for word in ("node17", "/scratch/ana", "nvme0n1p2", "host", "source", "directory"):
        assert word not in text
    assert pushed(store, repository)[0] == Pushed(0, 0, [])
    assert git(repository, "rev-list", "--count", "HEAD").strip() == "1"


def test_a_forecast_that_is_kept_later_follows_its_run(tmp_path: Path, repository: Path) -> None:
    run = run_of()
    store = put(tmp_path / "store", run)
    assert pushed(store, repository)[0] == Pushed(1, 0, [])
    kept = kept_for(run, phase("restart", around(1.0)))
    (store / "forecast" / "f.json").write_text(kept.to_json(), "utf-8")
    done, _ = pushed(store, repository, "beta")
    assert (done.added, done.forecasts) == (1, 1)
    beta = git(repository, "show", f"HEAD:forecasts/{PLACE.replace('alpha', 'beta')}")
    assert {one["machine"] for one in json.loads(beta)["trials"]} == {"beta"}
    done, _ = pushed(store, repository)
    assert (done.added, done.forecasts) == (0, 1)


def test_forecasts_wait_with_their_runs(tmp_path: Path, repository: Path) -> None:
    run = run_of()
    store = put(tmp_path / "store", run, kept_for(run, phase("restart", around(1.0))))
    gone = repository.rename(tmp_path / "away.git")
    offline, _ = pushed(store, repository)
    assert (offline.added, offline.waiting, offline.forecasts) == (0, 1, 0)
    assert offline.problem
    gone.rename(repository)
    done = push(store, str(repository), [])
    assert (done.added, done.waiting, done.forecasts) == (1, 0, 1)
    assert pushed(store, repository)[0] == Pushed(0, 0, [])


def test_what_is_damaged_or_private_stays_and_the_run_goes(
    tmp_path: Path, repository: Path
) -> None:
    run = run_of()
    secret = "/home/ana/x"
    rows = [
        row.model_copy(update={"path": secret if row.path == "restart" else row.path})
        for row in run.phases
    ]
    hidden = run.model_copy(update={"phases": rows})
    store = put(tmp_path / "store", hidden, kept_for(hidden, phase(secret, around(1.0))))
    (store / "forecast" / "cut.json").write_text("{", "utf-8")
    done, sharing = pushed(store, repository)
    assert sharing.problems == ["forecast/cut.json: this is no forecast of this version"]
    assert done.left_out == [f"the forecast of {RUN}: it names a host, a user or a path"]
    assert (done.added, done.forecasts) == (1, 0)
    assert names(repository) == [f"results/{PLACE}"]


def test_another_store_takes_forecasts_once_and_hands_them_on(
    tmp_path: Path, repository: Path
) -> None:
    run = run_of()
    store = put(tmp_path / "store", run, kept_for(run, phase("restart", around(1.0))))
    pushed(store, repository)
    place = checkout(repository, tmp_path / "checkout")
    for name, text in (("cut", "{"), ("alone", (place / f"forecasts/{PLACE}").read_text("utf-8"))):
        (place / "forecasts" / f"{name}.json").write_text(text.replace(RUN, "elsewhere"), "utf-8")
    other = tmp_path / "other"
    shared = Result.model_validate_json((place / f"results/{PLACE}").read_text("utf-8"),
                                        by_alias=True)  # fmt: skip
    assert keep(other, shared, {})
    new, problems = take_forecasts(other, place)
    assert new == 1
    assert sorted(problems) == [
        "forecasts/alone.json: its run is not beside it",
        "forecasts/cut.json: this is no shared forecast of this version",
    ]
    assert [path.name for path in (other / "trial").iterdir()] == [f"{RUN}.json"]
    assert take_forecasts(other, place)[0] == 0
    second = tmp_path / "second.git"
    git(tmp_path, "init", "-q", "--bare", str(second))
    done, _ = pushed(other, second)
    assert (done.added, done.forecasts) == (1, 1)
    assert git(second, "show", f"HEAD:forecasts/{PLACE}") == git(
        repository, "show", f"HEAD:forecasts/{PLACE}"
    )
    (other / "trial" / f"{RUN}.json").write_text("[]", "utf-8")
    sharing = ForecastSharing(other)
    assert sharing.of_run(shared) is None
    assert sharing.problems == [f"trial/{RUN}.json: this is no shared forecast of this version"]


@pytest.mark.parametrize(
    ("change", "why"), [({"run": "other"}, "another run"), ({"measured": 0.0}, "no ratio")]
)
def test_a_shared_forecast_is_of_its_run_and_has_ratios(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    run = run_of()
    store = put(tmp_path / "store", run, kept_for(run, phase("restart", around(1.0))))
    found = ForecastSharing(store).of_run(result_of(run))
    assert found is not None
    data = json.loads(found.to_json())
    data["trials"][1] |= change
    with pytest.raises(ValueError, match=why):
        SharedForecast.model_validate_json(json.dumps(data), by_alias=True)
