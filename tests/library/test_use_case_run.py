"""Use cases run small under every MPI; a dead group ends them; strangers read their files."""

from __future__ import annotations

import json
import os
import signal
import struct
from pathlib import Path
from typing import Any

import eccodes
import netCDF4
import numpy as np
import pytest

from cli.conftest import Cli, cli, engines_of, settings_beside  # noqa: F401
from venturi import library

SMALL = {
    "ecmwf": {"steps": 2, "levels": 3, "fields": 3, "field": 1000, "think": 0},
    "madbench2": {"pixels": 50, "bins": 2, "think": 0},
    "vorpal": {"zones_x": 3, "zones_y": 4, "zones_z": 5, "dumps": 1, "think": 0},
    "flash3": {"zones": 3, "variables": 2, "dumps": 1, "think": 0},
    "flash3-amr": {"room": 10, "variables": 3, "plotted": 2, "think": 0},
    "lqcd-a": {"extent": 3, "times": 5, "buffer": 777, "updates": 2, "generate": 0},
    "lqcd-bc": {"extent": 3, "times": 5, "buffer": 777, "props": 2, "solve": 0, "combine": 0},
    "ramses-legacy": {"cells": 8},
    "ramses-hprot": {"cells": 8, "partition": 20_000},
    "ramses-hdep": {"cells": 8, "partition": 20_000},
    "cryoem-stream": {
        "images": 2,
        "image": 100_000,
        "lines": 3,
        "columns": 30,
        "interval": 0,
        "motioncor2": 0,
        "gctf": 0,
        "latency": 0,
    },
    "cryoem-batch": {
        "images": 3,
        "image": 100_000,
        "lines": 3,
        "columns": 30,
        "motioncor2": 0,
        "gctf": 0,
        "latency": 0,
    },
    "tsmp-a": {
        "hours": 2,
        "nx": 3,
        "ny": 5,
        "nz": 2,
        "other": 100,
        "other_files": 2,
        "cosmo": 1000,
        "clm_r": 500,
        "clm_h0": 300,
        "cosmo_input": 400,
        "cosmo_gap": 0,
        "clm_gap": 0,
        "parflow_gap": 0,
        "cosmo_files": 2,
        "clm_r_files": 2,
        "clm_h0_files": 2,
        "parflow_files": 2,
        "clm_ranks": 1,
    },
}
SMALL["tsmp-b"] = SMALL["tsmp-a"]


def run(cli: Cli, workload: str, name: str, *words: str) -> Any:  # noqa: F811
    call = ["run", workload, "-d", str(cli.target), "--repeat", "1"]
    call += [*settings_beside(SMALL[name], words), *words]
    return cli.json(*call)


CELLS = [
    *(f"{name} own {'openmpi' if name == 'tsmp-a' else 'local'}" for name in SMALL),
    *("ecmwf own mpich", "ecmwf posix local", "lqcd-bc own openmpi", "lqcd-bc own mpich"),
    *(
        "tsmp-a own mpich",
        "madbench2 own openmpi",
        "madbench2 mpiio mpich",
        "madbench2 uring local",
        "madbench2 hdf5 local",
    ),
    *("vorpal own openmpi", "flash3 netcdf local", "flash3 hdf5 mpich", "flash3 posix local"),
    *("ramses-legacy own openmpi", "cryoem-stream own mpich"),
    *("ramses-hprot own openmpi", "ramses-hprot mpiio mpich", "ramses-hdep own mpich"),
    *("ramses-hprot fieldstore openmpi", "ramses-hdep hdf5 local", "cryoem-batch mpiio mpich"),
    *("flash3-amr pnetcdf openmpi", "flash3-amr own mpich"),
]
"""Use case, interface and how ranks run."""


@pytest.mark.parametrize("cell", CELLS)
def test_a_use_case_runs(cli: Cli, cell: str) -> None:  # noqa: F811
    name, interface, machine = cell.split()
    words = [] if interface == "own" else ["--set", f"interface={interface}"]
    record = run(cli, name, name, "--on", machine, *words)
    assert sum(row["errors"] for row in record["phases"]) == 0
    assert {entry["used"] for entry in record["substituted"]} <= {interface}
    known = {*record["metrics"], "prediction_error"}  # that of IOR's copy of it
    assert {entry.metric for entry in library.load(name).references} <= known
    assert not list(cli.target.iterdir())


REFUSED = {
    "tsmp-a pnetcdf local": "works through MPI: start it under mpirun",
    "ecmwf mpiio local": "works through MPI: start it under mpirun",
    "flash3-amr pnetcdf mpich": "PnetCDF is installed for openmpi only",
    "lqcd-a fieldstore local": "a field store has neither 'tree' nor 'prestage'",
    "tsmp-a hdf5 local": "hdf5 without MPI moves data of a shared file with all its ranks at once",
    "lqcd-a hdf5 local": "'open' under a condition on the rank would wait for ever",
    "vorpal lime openmpi": "a file of lime holds one row of bytes, no datasets",
    "ecmwf hdf5 openmpi": "a file of hdf5 can be read only when it is closed",
    "ramses-legacy posix local": "its records follow each other and have no places, which posix",
    "cryoem-stream bundle local": "a bundle has neither 'tree' nor 'prestage'",
}


@pytest.mark.parametrize("cell", REFUSED)
def test_a_cell_that_is_not_there_is_refused(cli: Cli, cell: str) -> None:  # noqa: F811
    name, interface, machine = cell.split()
    settings = settings_beside(SMALL[name], [])
    words = ["run", name, "-d", str(cli.target), *settings, "--on", machine]
    done = cli(*words, "--set", f"interface={interface}")
    assert done.returncode == 2
    assert REFUSED[cell] in " ".join(done.stderr.split())
    assert not list(cli.target.iterdir())
    assert not cli.records()


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
    pauses = {(one["group"], one["instance"]): one["pauses"] for one in record["pauses"]}
    for step in ends:
        (wait,) = pauses["product", step]
        assert wait["waits"]
        assert wait["at_s"] < wait["at_s"] + wait["seconds"] <= begins[step]
    page = cli.target.parent / "page.md"
    cli("report", "@last", "-o", str(page))
    assert "Groups over time" in page.read_text("utf-8")
    assert "Published beside ours: IO-SEA, table 6" in page.read_text("utf-8")


@pytest.mark.parametrize("interface", ["hdf5", "posix"])
def test_flash_packs_its_cells_first(cli: Cli, interface: str) -> None:  # noqa: F811
    packed = ["--set", f"interface={interface}", "--set", "zones=8"]
    straight = [*packed, "--set", "guard=0", "--set", "together=1"]
    computed = []
    for words in (packed, straight):
        (row,) = run(cli, "flash3", "flash3", *words)["phases"]
        assert row["bytes"] == 2 * 2 * 8 * 8**3
        computed.append(row["seconds"]["compute"])
    assert computed[0] > 0
    assert computed[1] == 0


def read_pfb(path: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Cells of a file of ParFlow by z, y, x, read as its manual describes the format.

    The header, then subgrids of a header and their cells, x fastest; all numbers big-endian. The
    file beside it names where the part of each rank begins.
    """
    text = path.read_bytes()
    *corner, nx, ny, nz, _, _, _, subgrids = struct.unpack_from(">3d3i3di", text)
    assert corner == [0, 0, 0]
    cells = np.full((nz, ny, nx), np.nan)
    at, begins = 64, [0]
    for _ in range(subgrids):
        ix, iy, iz, mx, my, mz, rx, ry, rz = struct.unpack_from(">9i", text, at)
        assert (rx, ry, rz) == (1, 1, 1)
        at += 36
        part = np.frombuffer(text, ">f8", mx * my * mz, at).reshape(mz, my, mx)
        cells[iz : iz + mz, iy : iy + my, ix : ix + mx] = part
        at += part.nbytes
        begins.append(at)
    assert at == len(text)
    assert np.isfinite(cells).all()
    said = path.with_name(f"{path.name}.dist").read_text().split()
    assert [int(line) for line in said] == begins[:-1]
    return cells


def test_strangers_read_what_the_models_wrote(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    workload = json.loads(library.load("tsmp-a").model_dump_json(by_alias=True, exclude_none=True))
    for file in workload["files"].values():
        file["keep"] = True
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(workload))
    metrics = run(cli, str(path), "tsmp-a")["metrics"]
    assert metrics["number"]["values"] == [2 + 2 + 2 + 4 * 2 + 2]
    assert metrics["other_number"]["values"] == [2 + 2 * 2]
    assert metrics["other_size"]["values"] == [100 + 2 * 2 * 2 * 13]
    (place,) = cli.target.iterdir()
    for name, size in (("cosmo_0001.nc", 1000), ("clm.r.0000.nc", 500), ("clm.h0.0001.nc", 300)):
        with netCDF4.Dataset(place / name) as file:
            assert file.data_model == "NETCDF3_64BIT_OFFSET"
            assert file["f"].shape == (size // 4,)
            assert file["f"].dtype == "float32"
    for hour in range(2):
        for kind, values in (("press", (hour, hour + 1 / 4)), ("satur", (1 / 3, 2 / 3))):
            cells = read_pfb(place / f"{kind}.{hour:05d}.pfb")
            assert cells.shape == (2, 5, 3)
            assert (cells[:, :3] == values[0]).all()  # rows of the first rank
            assert (cells[:, 3:] == values[1]).all()
    assert sorted(f.stat().st_size for f in place.glob("other_*")) == [50, 50]


@pytest.mark.parametrize("field", [822_289, 1000])
def test_ecmwf_s_fields_are_grib_messages(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    field: int,
) -> None:
    workload = json.loads(library.load("ecmwf").model_dump_json(by_alias=True, exclude_none=True))
    workload["files"]["store"]["keep"] = True
    path = tmp_path / "kept.json"
    path.write_text(json.dumps(workload))
    sizes = {"members": 1, "levels": 2, "fields": 3, "steps": 1, "field": field, "think": 0}
    sets = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    cli.json("run", str(path), "-d", str(cli.target), "--repeat", "1", *sets)
    (place,) = cli.target.iterdir()
    levels = []
    for data in place.glob("fdb/*.data"):
        assert data.stat().st_size == 3 * field
        with data.open("rb") as file:
            while (message := eccodes.codes_grib_new_from_file(file)) is not None:
                assert eccodes.codes_get(message, "shortName") == "t"
                assert eccodes.codes_get(message, "totalLength") == field
                values = eccodes.codes_get_values(message)
                truncation = eccodes.codes_get(message, "J")
                assert len(values) == (truncation + 1) * (truncation + 2)
                assert np.isfinite(values).all()
                assert (truncation == 639) == (field == 822_289)
                levels.append(eccodes.codes_get(message, "level"))
                eccodes.codes_release(message)
    assert sorted(levels) == list(range(6))


@pytest.mark.parametrize(("name", "slow"), [("tsmp-a", "clm_gap=30"), ("ecmwf", "think=3")])
def test_a_group_that_dies_ends_the_run(cli: Cli, name: str, slow: str) -> None:  # noqa: F811
    """The last rank is one of ParFlow's, or a reader that waits for the last step."""
    settings = settings_beside(SMALL[name], ["--set", slow])
    words = ["run", name, "-d", str(cli.target), *settings, "--set", slow]
    process = cli.start(*words, "--json")
    cli.journal()
    os.kill(engines_of(process.pid)[-1], signal.SIGKILL)
    process.communicate(timeout=600)
    assert process.returncode == 3
    (record,) = cli.records()
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert "rank" in record["failure"]
    assert not list(cli.target.iterdir())
