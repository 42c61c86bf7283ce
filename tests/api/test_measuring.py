"""Profiles and tunings in Python: measured, shown, kept, opened again, and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import venturi as v

SMALL_WRITES = """
workload: 1
name: small-writes
groups: {g: {ranks: 1}}
files: {f: {path: f}}
program:
  g:
    - phase: write
      do:
        - create: f
        - write: {to: f, transfer: 512 B, size: 8 MiB}
        - close: f
"""


def test_a_tuning_ranks_changes_and_hands_them_out(tmp_path: Path) -> None:
    workload = v.Workload.from_yaml(SMALL_WRITES)
    store = str(tmp_path / "store")
    found = v.tune(workload, tmp_path, budget_s=8, what_if="transfer=1MiB", store=store, quiet=True)
    assert [row["change"] for row in found.changes] == ["transfer=1MiB"]
    best = found.changes[0]
    assert best["low"] <= best["ratio"] <= best["high"]
    assert best["pairs"] == found.document.trials[0].gain.pairs
    plan = v.plan(found.changed("transfer=1MiB"))
    assert plan.totals.operations["write"] == 8
    with pytest.raises(v.UserError, match="was not measured afresh"):
        found.changed("transfer=2MiB")
    assert "saved" not in repr(found)
    kept = found.save(tmp_path / "kept")
    assert f"venturi report {kept.name}" in repr(kept)
    again = v.open(tmp_path / "kept")
    assert isinstance(again, v.Tuning)
    assert again.document == found.document
    assert "transfer=1MiB" in (again.to_html() or "")
    with pytest.raises(v.UserError, match="exists already"):
        found.save(tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "store"]


def test_a_profile_is_a_machine_to_predict_on(tmp_path: Path) -> None:
    path = tmp_path / "machine.yaml"
    found = v.profile(tmp_path, path, budget_s=8, ranks=1, interfaces=["posix"], quiet=True)
    assert "1 x 4 KiB" in repr(found)
    assert f"venturi predict WORKLOAD --on {path}" in repr(found)
    forecast = v.predict(v.Workload.from_yaml(SMALL_WRITES), on=path)
    assert forecast.document.to_data()["ranks"] == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["machine.yaml"]


@pytest.mark.parametrize("budget_s", [0, -3, float("nan"), 10**9])
def test_a_time_that_is_none_is_refused_before_anything_runs(
    tmp_path: Path, budget_s: float
) -> None:
    with pytest.raises(v.UserError, match="seconds are needed"):
        v.tune("quick", tmp_path, budget_s=budget_s)
    with pytest.raises(v.UserError, match="seconds are needed"):
        v.profile(tmp_path, tmp_path / "machine.yaml", budget_s=budget_s)
    assert not list(tmp_path.iterdir())


def test_two_places_are_compared_by_runs_in_turn(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    places = tmp_path / "one", tmp_path / "other"
    for place in places:
        place.mkdir()
    workload = v.Workload.from_yaml(SMALL_WRITES)
    with pytest.raises(v.UserError, match="repeat=0"):
        v.compare_places(*places, workload, repeat=0, store=store)
    with pytest.raises(v.TargetProblem, match="none"):
        v.compare_places(places[0], tmp_path / "none", workload, store=store)
    found = v.compare_places(*places, workload, repeat=2, store=store, quiet=True)
    data = found.document.to_data()
    assert (data["first"], data["second"]) == tuple(map(str, places))
    assert data["in_turn"]["order"] == "ABBA"
    assert {row["name"] for row in found.rows} == {"write"}
    assert "Not decided: 2 and 2 runs are too few" in " ".join(repr(found).split())
    folders = [Path(store, "runs", run) for run in data["in_turn"]["runs"]]
    again = v.compare(folders[0], folders[1])
    assert [row["name"] for row in again.rows] == ["write"]
    assert not [name for place in places for name in place.iterdir()]
