"""Cryo-EM: published sizes, files that strangers read, a line that is never too fast."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mrcfile
import pytest
import tifffile

from cli.conftest import Cli, cli, settings_beside  # noqa: F401
from venturi import library
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

BOTH = ("cryoem-stream", "cryoem-batch")
SMALL = {
    "images": 3,
    "image": 120_001,
    "frames": 3,
    "width": 101,
    "columns": 51,
    "lines": 7,
    "ctf": 99,
    "motioncor2": 0,
    "gctf": 0,
    "latency": 0,
    "chunk": 4096,
    "link": 100_000_000,
}
ROWS = (120_001 - 8 - 114 * 3) // (101 * 3)


def planned(name: str, scale: str = "laptop", **assignments: object) -> PlanResult:
    words = {key: str(value) for key, value in assignments.items()}
    made = make_plan(library.load(name), RunSettings(scale=scale, assignments=words))
    for entry in made.expectations:
        assert entry.holds, entry
    return made


@pytest.mark.parametrize("name", BOTH)
def test_the_dataset_has_the_published_size(name: str) -> None:
    totals = planned(name, "paper").totals
    image = 117_600_000 + 273
    stages = 224 + 4 * 3838 * 3710 + 20_000
    gain = 224 + 4 * 3838 * 3710 if name == "cryoem-stream" else 0  # dm2mrc writes it once
    assert totals.bytes_written == 7551 * (2 * image + stages) + gain
    assert 7551 * image / 1e9 == pytest.approx(888, rel=1e-3)


@pytest.mark.parametrize("name", BOTH)
def test_it_counts_at_awkward_sizes(name: str) -> None:
    workers = {"np": 5} if name == "cryoem-batch" else {"gpus": 3}
    planned(name, **SMALL, **workers, streams=2)
    planned(name, **{**SMALL, "images": 1}, **workers, streams=2)


def kept(cli: Cli, name: str, *words: str) -> tuple[Path, Any]:  # noqa: F811
    """The directory of a run whose files stay, and its record."""
    workload = json.loads(library.load(name).model_dump_json(by_alias=True, exclude_none=True))
    for file in workload["files"].values():
        file["keep"] = True
    path = cli.target.parent / "kept.json"
    path.write_text(json.dumps(workload))
    small = settings_beside(SMALL, words)
    record = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "1", *small, *words)
    (place,) = cli.target.iterdir()
    return place, record


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cryoem-stream", ["--set", "interval=0", "--set", "streams=2", "--set", "gpus=2"]),
        ("cryoem-batch", ["-n", "2", "--set", "streams=2"]),
    ],
)
def test_strangers_read_every_file(cli: Cli, name: str, words: list[str]) -> None:  # noqa: F811
    place, record = kept(cli, name, *words)
    for number in range(3):
        for site in ("ceitec", "it4i"):
            image = place / site / f"frames_{number:06d}.tif"
            assert image.stat().st_size == 120_001
            with tifffile.TiffFile(image) as file:
                assert len(file.pages) == 3
                assert {page.shape for page in file.pages} == {(ROWS, 101)}
                assert file.pages[2].asarray().std() > 0
            lines = Path(f"{image}.mdoc").read_text().splitlines()
            assert "[FrameSet = 0]" in lines
            assert lines[-1] == f"Image = {number:08d}"
        average = place / "it4i" / f"average_{number:06d}.mrc"
        with mrcfile.open(average) as volume:
            assert volume.data.shape == (7, 51)
            assert volume.data.dtype == "float32"
        assert average.with_suffix(".ctf").stat().st_size == 99
    if name == "cryoem-stream":
        (reference,) = (place / "it4i").glob("gain*")
        with mrcfile.open(reference) as volume:
            assert (volume.data.shape, str(volume.data.dtype)) == ((7, 51), "float32")
        assert [row["path"] for row in record["phases"]].count("dm2mrc") == 1
    metrics = record["metrics"]
    assert 0 < metrics["link_share"]["value"] <= 100
    assert metrics["T_gctf"]["value"] > 0


def test_each_image_goes_on_as_soon_as_it_can(cli: Cli) -> None:  # noqa: F811
    """Of one image the stages follow each other; those of several overlap."""
    words = ("--set", "motioncor2=0.1", "--set", "interval=0", "--set", "gctf=1")
    small = settings_beside(SMALL, words)
    call = ["run", "cryoem-stream", "-d", str(cli.target), "--repeat", "1", *small, *words]
    record = cli.json(*call)
    stages = {
        path: sorted(
            (row["at_s"], row["at_s"] + row["seconds"]["total"])
            for row in record["phases"]
            if row["path"] == path
        )
        for path in ("transfer", "motioncor2", "gctf")
    }
    for image in range(3):
        assert stages["transfer"][image][1] <= stages["motioncor2"][image][0]
        assert stages["motioncor2"][image][1] <= stages["gctf"][image][0]
    assert stages["motioncor2"][1][0] < stages["gctf"][0][1]
    spans = [
        end[1] - begin[0] for begin, end in zip(stages["transfer"], stages["gctf"], strict=True)
    ]
    delay = record["metrics"]["latency_mean"]["value"]
    assert delay == pytest.approx(sum(spans) / 3, abs=1e-6)
