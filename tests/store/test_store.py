"""The store: sealed folders, an index, versions, tags, and the runs of a campaign in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_start
from report.record_factory import record
from venturi.campaign.estimate import estimate_of, spanning
from venturi.campaign.session import CampaignRequest, planned
from venturi.importers.import_path import import_path
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.record import Record
from venturi.model.result import Measure, Result, ResultSource, SourceKind
from venturi.model.verdict import Level, UseKind
from venturi.store.archive import (
    chosen,
    entries,
    find,
    find_stored,
    folders,
    load_record,
    remove_files,
    remove_record,
    results,
    verify,
)
from venturi.store.index import INDEX_NAME
from venturi.store.result import RECORD_NAME, RESULT_NAME, keep, load_result, result_of, tag
from venturi.store.seal import SEAL_NAME
from venturi.store.version import read_versioned


def result(name: str = "20260101-000000-tool-aaaa", **more: Any) -> Result:
    """A run of somebody's tool with six values of a rate."""
    facts = {
        "id": name,
        "name": "tool",
        "started": "2026-01-01T00:00:00+00:00",
        "machine": "alpha",
        "session": name,
        "parameters": {"tasks": 4},
        "ranks": 4,
        "work": "",
        "source": ResultSource(kind=SourceKind.IMPORT, tool="tool"),
        "level": "INDICATIVE",
        "metrics": {
            "write": Measure(unit="B/s", better=Better.HIGHER, values=[1e9 + i for i in range(6)])
        },
    }
    return Result(**{**facts, **more})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run of ours and one of a tool, with the file that it came from."""
    output = tmp_path / "tool.out"
    output.write_text("write 1.0 GB/s\n")
    place = tmp_path / "store"
    assert keep(place, result(), {"source/tool.out": output})
    path = tmp_path / RECORD_NAME
    one = record(id="20260102-000000-ours-bbbb")
    path.write_text(one.to_json(indent=1))
    assert keep(place, result_of(one), {RECORD_NAME: path})
    assert not keep(place, result(), {})
    return place


def test_any_changed_byte_is_found(store: Path) -> None:
    assert all(faults == [] for _, faults in verify(store, []))
    for folder in sorted((store / "runs").iterdir()):
        for path in [p for p in folder.rglob("*") if p.is_file()]:
            whole = path.read_bytes()
            for at in {0, len(whole) // 3, len(whole) - 1}:
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
                [(_, faults)] = verify(store, [folder.name])
                assert faults, f"{path.name}: byte {at}"
            path.write_bytes(whole)
        (folder / "more").touch()
        assert [faults for _, faults in verify(store, [folder.name])] == [["more was added"]]
        (folder / "more").unlink()
        (folder / RESULT_NAME).rename(folder / "gone")
        [(_, faults)] = verify(store, [folder.name])
        assert faults == ["gone was added", f"{RESULT_NAME} is gone"]
        (folder / "gone").rename(folder / RESULT_NAME)
        listed = subprocess.run(["sha256sum", "-c", "--quiet", SEAL_NAME], cwd=folder, check=True)
        assert listed.returncode == 0


def test_a_run_without_its_list_of_digests_was_changed(store: Path) -> None:
    """Only a record alone is of an early version."""
    for folder in sorted((store / "runs").iterdir()):
        (folder / SEAL_NAME).unlink()
        assert [bool(faults) for _, faults in verify(store, [folder.name])] == [True]
        (folder / RESULT_NAME).unlink()
        early = (folder / RECORD_NAME).exists()
        assert [faults is None for _, faults in verify(store, [folder.name])] == [early]
        for path in list(folder.iterdir()):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert [bool(faults) for _, faults in verify(store, [folder.name])] == [True]


def test_a_run_that_was_changed_is_invalid_wherever_it_is_read(store: Path) -> None:
    for folder in sorted((store / "runs").iterdir()):
        level = load_result(folder).level
        for path in [p for p in folder.iterdir() if p.name.endswith(".json")]:
            whole = path.read_text()
            path.write_text(whole + " ")
            found = load_result(folder)
            assert level != found.level == "INVALID"
            assert found.reasons[0] == f"{path.name} was changed after the run"
            if (folder / RECORD_NAME).exists():
                verdict = load_record(folder).verdict
                assert verdict.level is Level.INVALID
                assert not any(verdict.may(what) for what in UseKind)
            path.write_text(whole)
        assert load_result(folder).level == level
        (folder / SEAL_NAME).unlink()
        assert load_result(folder).level == "INVALID"


def test_a_name_that_is_empty_means_no_run(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of `rm "$RUN"` where the variable is not set; also with one run, and within a run."""
    shutil.rmtree(store / "runs" / result().id)
    [only] = folders(store)
    monkeypatch.chdir(only)
    for look in (find, find_stored, chosen):
        with pytest.raises(UserError, match="the name of the run is empty"):
            look(store, "")


def test_nothing_is_removed_through_a_link(store: Path, tmp_path: Path) -> None:
    """A run of another store that somebody has linked into this one stays whole there."""
    own = store / "runs" / result().id
    there = tmp_path / "other" / own.name
    shutil.copytree(own, there)
    shutil.rmtree(own)
    own.symlink_to(there)
    before = sorted(path.relative_to(there) for path in there.rglob("*"))
    for remove in (remove_files, remove_record):
        with pytest.raises(UserError, match="this is a link"):
            remove(find_stored(store, own.name))
    assert own.is_symlink()
    assert sorted(path.relative_to(there) for path in there.rglob("*")) == before


def test_a_run_is_removed_whole_from_a_store_that_is_a_link(store: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(store)
    remove_record(find_stored(link, result().id))
    assert result().id not in [path.name for path in (store / "runs").iterdir()]


def test_a_listing_opens_only_what_is_new(store: Path) -> None:
    first = entries(store)
    assert [entry.name for entry in first] == ["tool", record().name]
    assert first[0].repetitions == 6
    for folder in (store / "runs").iterdir():
        (folder / RESULT_NAME).chmod(0)
        (folder / RESULT_NAME).write_text("{")
    assert entries(store) == first, "from the index"
    (store / INDEX_NAME).write_text("[]")
    assert {entry.level for entry in entries(store)} == {"UNREADABLE"}


def test_versions_are_read_brought_forward_or_refused(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    data = result().to_data()
    data["benchmark"] = data.pop("name")
    data["schema"] = "venturi.result/0"
    path.write_text(json.dumps(data))

    def renamed(old: dict[str, Any]) -> dict[str, Any]:
        return {
            **{k: v for k, v in old.items() if k != "benchmark"},
            "name": old["benchmark"],
            "schema": "venturi.result/1",
        }

    assert read_versioned(path, Result, {"venturi.result/0": renamed}) == result()
    with pytest.raises(UserError, match=r"cannot bring to venturi.result/1"):
        read_versioned(path, Result)
    path.write_text(json.dumps({**data, "schema": "venturi.result/7"}))
    with pytest.raises(UserError, match=r"version venturi.result/7, and this Venturi knows"):
        read_versioned(path, Result)
    path.write_text(json.dumps({**result().to_data(), "ranks": 0}))
    with pytest.raises(UserError, match="damaged: ranks"):
        read_versioned(path, Result)
    with pytest.raises(UserError, match="no record of this version"):
        read_versioned(path, Record)


def test_runs_are_chosen_by_what_they_are(store: Path) -> None:
    tag(store, "golden", [entries(store)[0].id])
    assert tag(store, "golden", [entries(store)[0].id]) == 0
    assert [entry.name for entry in chosen(store, "tag:golden")] == ["tool"]
    assert [entry.name for entry in chosen(store, "machine:alpha,name:tool")] == ["tool"]
    assert [found.name for found in results(store, "@last")] == [record().name]
    for word, said in (("tag:none", "no run in"), ("tag:golden,x", "'x' chooses nothing")):
        with pytest.raises(UserError, match=said):
            chosen(store, word)
    with pytest.raises(UserError, match="has no record of single phases"):
        load_record(store / "runs" / result().id)


CAMPAIGN = """
campaign: 1
name: landing
space: {product: {n: [1, 2]}}
repeat: 2
steps:
  ours:
    workload: ior
    ranks: n
    repeat: 1
    set: {transfer: 64 KiB, block: 64 KiB, interface: simulated}
  theirs:
    command: "test {n} = 1 || exit 7; echo rate={n}"
    metrics: {rate: {regex: "rate=(.*)", unit: B/s, better: higher}}
"""


def venturi(place: Path, *words: str, code: int = 0) -> str:
    """The command as typed, with a store in `place`."""
    done = warm_start.venturi(
        *words,
        folder=place,
        environment={**os.environ, "VENTURI_STORE": str(place / "store"), "NO_COLOR": "1"},
        limit_s=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_runs_of_a_campaign_land_once(tmp_path: Path) -> None:
    """Each has a folder, failed ones too; another store gets the same."""
    (tmp_path / "c.yaml").write_text(CAMPAIGN)
    (tmp_path / "data").mkdir()
    venturi(tmp_path, "campaign", "run", "c.yaml", "-d", "data", "-q", code=3)
    store = tmp_path / "store"
    found = results(store)
    assert len(found) == 6
    assert len({one.session for one in found}) == 1
    assert {one.campaign for one in found} == {"landing"}
    ours = [one for one in found if one.step == "ours"]
    assert {(one.parameters["n"], one.ranks) for one in ours} == {(1, 1), (2, 2)}
    assert len({one.key for one in ours}) == 2
    failed = [one for one in found if one.level == "INVALID"]
    assert [one.reasons for one in failed] == [["failed: exit code 7"]] * 2
    good = [one for one in found if "rate" in one.metrics]
    assert [one.metrics["rate"].values for one in good] == [[1.0]] * 2
    assert {one.repetition for one in good} == {1, 2}
    venturi(tmp_path, "results", "import", "landing.campaign")
    assert len(results(store)) == 6
    assert import_path(tmp_path / "other", tmp_path / "landing.campaign") == 6
    assert results(tmp_path / "other") == found
    shown = json.loads(venturi(tmp_path, "results", "ls", "campaign:landing", "--json"))
    assert len(shown) == 6
    assert "rate" in venturi(tmp_path, "results", "show", good[0].id)
    (store / "runs" / good[0].id / "source" / "stdout").write_text("rate=2\n")
    assert "source/stdout was changed" in venturi(tmp_path, "results", "verify", code=3)
    remove_record(store / "runs" / good[0].id)
    assert len(results(store)) == 5


def test_a_large_campaign_is_counted_by_what_its_workload_promises(tmp_path: Path) -> None:
    """Planning every point brings the same bytes; some points are planned, all pairs of two."""
    (tmp_path / "c.yaml").write_text(
        "campaign: 1\nname: big\nspace: {product: {n: [1, 2, 3, 4, 5], "
        "s: [1, 2, 3, 4, 5], t: [64 KiB, 128 KiB, 1 MiB]}}\nrepeat: 2\nsteps:\n  run:\n"
        "    workload: ior\n    ranks: n\n"
        '    set: {segments: "{s}", transfer: "{t}", block: 1 MiB, interface: simulated}\n'
    )
    wish = CampaignRequest(tmp_path / "c.yaml", tmp_path, tmp_path / "store", "local")
    made = planned(wish, tmp_path / "x")
    campaign, tasks, points = made.campaign, made.tasks, made.points
    found = estimate_of(campaign, tasks, points, tmp_path)
    assert (found.points, found.runs) == (75, 150)
    mib = 2**20
    assert found.bytes_written == 2 * 3 * mib * sum(n * s for n in range(1, 6) for s in range(1, 6))
    planned_ones = spanning([task for task in tasks if task.repetition == 1])
    assert 25 <= len(planned_ones) <= 64
    wrong = wish.file.read_text().replace("[64 KiB, 128 KiB, 1 MiB]", "[64 KiB, 128 KiB, 3 B]")
    wish.file.write_text(wrong.replace("block: 1 MiB", 'block: 1 MiB, nonsense: "{t}"'))
    with pytest.raises(UserError, match="nonsense"):
        planned(wish, tmp_path / "x")
