"""Folders of campaigns side by side: what is judged, and what is said of runs that are not done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import venturi as v
from cli.conftest import Cli, told


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Beside the store: `before` and `after`, of six runs each; the second is slower."""
    place = tmp_path_factory.mktemp("campaigns")
    made = Cli(place / "store", place / "target")
    made.target.mkdir()
    (place / "c.yaml").write_text(
        "campaign: 1\nname: nightly\nrepeat: 6\nsteps:\n  run:\n"
        "    command: echo rate $(($(cat {home}/rate) + {repetition}))\n"
        "    metrics: {rate: {regex: 'rate ([0-9]+)', unit: MB/s, better: higher}}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, rate in (("before", "400"), ("after", "100")):
            (place / "rate").write_text(rate)
            line = ("campaign", "run", "c.yaml", "-d", str(made.target), "-o", name, "-q")
            done = made(*line)
            assert done.returncode == 0, told(done)
        yield made


def test_what_came_to_its_end_is_judged(campaigns: Cli) -> None:
    worse = campaigns("compare", "before", "after", "--check", "--json")
    assert worse.returncode == 4, told(worse)
    found = json.loads(worse.stdout)
    assert found["incomplete"] == []
    assert [row["is_worse"] for row in found["parts"][0]["rows"]] == [True]
    better = campaigns("compare", "after", "before", "--check")
    assert better.returncode == 0, told(better)


def test_what_did_not_is_not_judged_and_that_is_said(campaigns: Cli) -> None:
    shutil.copytree("after", "part")
    for repetition in (5, 6):  # as if it had been interrupted before
        shutil.rmtree(Path("part", "tasks", "run-0001", f"r{repetition}"))
    missing = "2 of 6 runs of part are not done"
    done = campaigns("compare", "before", "part", "--check")
    assert done.returncode == 3, told(done)
    assert f"{missing}, so --check does not judge the comparison" in done.stderr
    assert "significantly lower" in done.stdout
    shown = campaigns("compare", "before", "part", "-o", "page.md")
    assert shown.returncode == 0, told(shown)
    assert f"- {missing}" in shown.stdout
    assert f"{missing}." in Path("page.md").read_text("utf-8")


def test_two_folders_of_results_are_compared_by_path(campaigns: Cli) -> None:
    """Runs of commands have a result and no record."""
    folders = sorted(str(path) for path in (campaigns.store / "runs").iterdir())[:2]
    assert not any(Path(folder, "record.json").exists() for folder in folders)
    done = campaigns("compare", *folders)
    assert done.returncode == 0, told(done)
    assert "Too few repetitions" in done.stdout
    assert [row["name"] for row in v.compare(*folders).rows.to_dicts()] == ["rate"]
    with pytest.raises(v.UserError, match="a run of command has no record of single phases"):
        v.open(folders[0])


def test_a_campaign_is_no_capture(campaigns: Cli) -> None:
    log = str(Path(__file__).parents[2] / "examples" / "darshan" / "dd" / "dd.darshan")
    done = campaigns("compare", "before", log)
    assert done.returncode == 2, told(done)
    assert f"'{log}' is a capture of an application and 'before' is the record" in done.stderr
