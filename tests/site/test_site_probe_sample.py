"""The shipped sample of a probe: two months on every page, and everywhere called made up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from site_factory import result, store_of
from test_site_build import content, made, pages

from venturi.model.error import UserError
from venturi.model.machine import Machine
from venturi.site.build import SiteRequest, build
from venturi.site.source import Source

SCRIPT = Path(__file__).parents[2] / "packaging" / "probe-sample"
NAME = "made-up-sample"


def sample(place: Path, end: str = "2026-03-01") -> Path:
    """The sample, as the script writes it."""
    line = [sys.executable, str(SCRIPT), str(place), "--end", end]
    subprocess.run(line, check=True, env=os.environ)
    return place


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of a store with a run, and of the sample."""
    found = tmp_path_factory.mktemp("sample")
    store = store_of(found / "store", [result(58)])
    sample(found / "sample")
    build(SiteRequest((store, found / "sample"), found / "public"))
    return found


def test_the_sample_is_a_machine_of_its_own_that_is_called_made_up(home: Path) -> None:
    first = content(home / "public", "index.html")
    heads = next(row for row in first.rows if row[:1] == ["Subject"])
    cells = dict(zip(heads, first.row("probes"), strict=True))
    assert cells["alpha"] == "–", "a sample must not stand for a machine that somebody has"
    assert cells[NAME].startswith(f"{NAME} ")
    assert "in the night of 2026-02-28" in cells[NAME]
    page = next(path for path in pages(home / "public") if path.startswith("probe/"))
    assert content(home / "public", page).text.count(NAME) >= 2


def test_its_days_have_a_slow_one_and_its_history_has_sixty(home: Path) -> None:
    shown = content(home / "public", f"machine/{NAME}.html")
    slow = [row for row in shown.rows if row[:2] == ["2026-02-17", NAME]]
    assert len(slow) == 1
    assert slow[0][3] == "slow"
    days = next(row for row in shown.rows if row[0] == f"probe {NAME}")
    assert days[3:5] == ["2025-12-31", "2026-03-01"]


def test_the_sample_is_the_same_each_time(home: Path, tmp_path: Path) -> None:
    again = sample(tmp_path / "again")
    one, other = (
        {path.relative_to(place).as_posix(): path.read_bytes()
         for path in sorted(place.rglob("*")) if path.is_file()}
        for place in (home / "sample", again)
    )  # fmt: skip
    assert one == other


def test_a_store_without_runs_has_its_probes_on_its_only_machine_file(tmp_path: Path) -> None:
    store = sample(tmp_path / "sample")
    file = store / "machines" / f"{NAME}.yaml"
    assert Source(store).is_store
    made(tmp_path / "public", store)
    assert f"machine/{NAME}.html" in pages(tmp_path / "public")
    (store / "machines" / "other.yaml").write_text(Machine(name="other").to_json(), "utf-8")
    made(tmp_path / "public", store)
    first = content(tmp_path / "public", "index.html")
    assert NAME not in next(row for row in first.rows if row[:1] == ["Subject"])
    file.unlink()
    made(tmp_path / "public", store)
    first = content(tmp_path / "public", "index.html")
    assert "other" in next(row for row in first.rows if row[:1] == ["Subject"])


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        sample(tmp_path / "mine")
    assert not list((tmp_path / "mine").iterdir())
    with pytest.raises(UserError):
        Source(tmp_path / "none")
