"""Use cases run small under every MPI; a dead group ends them; strangers read their files."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import netCDF4
import pytest

from cli.conftest import Cli, cli, engines_of  # noqa: F401
from venturi import library

SMALL = {
    "ecmwf": {"steps": 2, "levels": 3, "fields": 3, "field": 1000, "think": 0},
    "lqcd-a": {"extent": 3, "times": 5, "buffer": 777, "updates": 2, "generate": 0},
    "lqcd-bc": {"extent": 3, "times": 5, "buffer": 777, "props": 2, "solve": 0, "combine": 0},
    "ramses-legacy": {"cells": 8},
    "cryoem-stream": {
        "images": 2, "image": 100_000, "lines": 3, "columns": 30, "interval": 0, "motioncor2": 0,
        "gctf": 0, "latency": 0,
    },
    "cryoem-batch": {
        "images": 3, "image": 100_000, "lines": 3, "columns": 30, "motioncor2": 0, "gctf": 0,
        "latency": 0,
    },
    "tsmp-a": {
        "hours": 2, "nx": 3, "ny": 5, "nz": 2, "other": 100, "other_files": 2, "cosmo": 1000,
        "clm_r": 500, "clm_h0": 300, "cosmo_input": 400, "cosmo_gap": 0, "clm_gap": 0,
        "parflow_gap": 0, "cosmo_files": 2, "clm_r_files": 2, "clm_h0_files": 2,
        "parflow_files": 2, "clm_ranks": 1,
    },
}  # fmt: skip


def words_of(name: str) -> list[str]:
    return [word for key, value in SMALL[name].items() for word in ("--set", f"{key}={value}")]


def run(cli: Cli, workload: str, name: str, *words: str) -> Any:  # noqa: F811
    call = ["run", workload, "-d", str(cli.target), "--repeat", "1", *words_of(name), *words]
    return cli.json(*call)


CELLS = [(name, "openmpi" if name == "tsmp-a" else "local") for name in SMALL]
CELLS += [("ecmwf", "mpich"), ("lqcd-bc", "openmpi"), ("lqcd-bc", "mpich"), ("tsmp-a", "mpich")]
CELLS += [("ramses-legacy", "openmpi"), ("cryoem-stream", "mpich")]


@pytest.mark.parametrize(("name", "machine"), CELLS)
def test_a_use_case_runs(cli: Cli, name: str, machine: str) -> None:  # noqa: F811
    record = run(cli, name, name, "--on", machine)
    assert sum(row["errors"] for row in record["phases"]) == 0
    named = {entry.metric for entry in library.load(name).references}
    assert named <= set(record["metrics"])
    assert not list(cli.target.iterdir())


def test_a_cell_that_is_not_there_is_refused(cli: Cli) -> None:  # noqa: F811
    words = ["run", "tsmp-a", "-d", str(cli.target), "--set", "interface=pnetcdf"]
    done = cli(*words, *words_of("tsmp-a"))
    assert done.returncode == 2
    assert "works through MPI: start it under mpirun" in " ".join(done.stderr.split())


def test_products_begin_when_all_have_written_their_step(cli: Cli) -> None:  # noqa: F811
    record = run(cli, "ecmwf", "ecmwf")
    ends = {
        row["iteration"]["step"]: row["at_s"] + row["seconds"]["total"]
        for row in record["phases"]
        if row["path"] == "archive"
    }
    begins = {row["instance"]: row["at_s"] for row in record["phases"] if row["path"] == "generate"}
    assert sorted(begins) == sorted(ends) == [0, 1]
    assert all(begins[step] >= ends[step] for step in ends)
    page = cli.target.parent / "page.md"
    cli("report", "@last", "-o", str(page))
    assert "Groups over time" in page.read_text("utf-8")
    assert "Published beside ours: IO-SEA, table 6" in page.read_text("utf-8")


def test_strangers_read_what_the_models_wrote(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    workload = json.loads(library.load("tsmp-a").model_dump_json(by_alias=True, exclude_none=True))
    for file in workload["files"].values():
        file["keep"] = True
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(workload))
    run(cli, str(path), "tsmp-a")
    (place,) = cli.target.iterdir()
    for name, size in (("cosmo_0001.nc", 1000), ("clm.r.0000.nc", 500), ("clm.h0.0001.nc", 300)):
        with netCDF4.Dataset(place / name) as file:
            assert file.data_model == "NETCDF3_64BIT_OFFSET"
            assert file["f"].shape == (size // 4,)
            assert file["f"].dtype == "float32"
    for name in ("press.00000.pfb", "satur.00001.pfb"):
        assert (place / name).stat().st_size == 64 + 2 * 36 + 8 * 3 * 5 * 2
    assert sorted(f.stat().st_size for f in place.glob("other_*")) == [50, 50]


def test_a_group_that_dies_ends_the_run(cli: Cli) -> None:  # noqa: F811
    words = ["run", "tsmp-a", "-d", str(cli.target), *words_of("tsmp-a"), "--set", "clm_gap=30"]
    process = cli.start(*words, "--json")
    cli.journal()
    os.kill(engines_of(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == 3
    (record,) = cli.records()
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert "rank" in record["failure"]
    assert not list(cli.target.iterdir())
