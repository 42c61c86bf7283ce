"""Datasets of self-describing formats, opened by independent readers, under every kind of group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest

from engine.running import Engine, Outcome, kinds, meddled, traced
from venturi.model.error import UserError
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

RANKS = {"alone": 1, "forked": 4, "openmpi": 4, "mpich": 4}
FORMATS = {
    "hdf5": "interface: hdf5",
    "cdf5": "interface: netcdf",
    "netcdf4": "interface: netcdf, options: {format: netcdf4}",
}


def planned(place: Path, ranks: int, file: str, steps: str, **settings: Any) -> Plan:
    """The plan of a workload with one file; `steps` are its program."""
    text = (
        f"workload: 1\nname: t\nparameters: {{np: {{default: {ranks}, role: ranks}}}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  f: {{path: data/f, {file}}}\n"
        f"program:\n  g:\n{steps}"
    )
    journal = place / "journal"
    journal.mkdir(exist_ok=True)
    chosen = RunSettings(
        repetitions=settings.pop("repetitions", 1),
        run_directory=str(place / "run"),
        journal=str(journal),
        **settings,
    )
    made = make_plan(parse_yaml(text, "t.yaml", Workload), chosen).plan
    (journal / "plan.json").write_text(made.to_json())
    return made


def phases(write: str, read: str | None = None) -> str:
    """A phase that writes a new file and, if given, one that reads it."""
    text = (
        "    - phase: write\n      do:\n        - create: f\n"
        f"        - write: {write}\n        - close: f\n"
    )
    if read is not None:
        text += (
            "    - phase: read\n      do:\n        - open: f\n"
            f"        - read: {read}\n        - close: f\n"
        )
    return text


def fine(outcome: Outcome) -> Outcome:
    """A run without any error."""
    assert outcome.code == 0, (outcome.stderr, outcome.events[-1])
    for event in outcome.of("phase_finished"):
        assert event["errors"] == 0, event["details"]
    return outcome


def kept(made: Plan) -> Path:
    return Path(made.directory) / "data" / "f"


def variables_of(path: Path, kind: str) -> dict[str, np.ndarray]:
    """All arrays of a file as an independent library reads them."""
    if kind == "hdf5":
        with h5py.File(path) as opened:
            return {name: opened[name][...] for name in opened}
    with netCDF4.Dataset(path) as opened:
        opened.set_auto_mask(False)
        return {name: variable[...] for name, variable in opened.variables.items()}


@pytest.mark.parametrize("kind", FORMATS)
def test_what_was_written_is_read_in_another_shape(
    engine: Engine, tmp_path: Path, comm: str, kind: str
) -> None:
    ranks = RANKS[comm]
    file = (
        f"{FORMATS[kind]}, content: {{verify: true}}, datasets: {{"
        "u: {count: 3, type: f64, shape: [8, 12, 5], split: [np, 1, 1]}, "
        "v: {type: i32, shape: [np, 6], split: [np, 1]}}"
    )
    steps = phases("{to: f.u, transfer: 200}", "{from: f.u, split: [1, np, 1]}")
    made = planned(tmp_path, ranks, file, steps)
    outcome = fine(engine.run(made, comm))
    size = 3 * 8 * 12 * 5 * 8
    wrote, read = outcome.phase("write"), outcome.phase("read")
    assert (wrote["bytes"], read["bytes"]) == (size, size)
    assert kinds(read)["read"] == 3 * ranks
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("kind", FORMATS)
def test_an_independent_reader_finds_the_datasets(
    engine: Engine, tmp_path: Path, comm: str, kind: str
) -> None:
    ranks = RANKS[comm]
    file = (
        f"{FORMATS[kind]}, keep: true, datasets: {{"
        "u: {count: 2, type: i64, shape: [np, 3, 4], split: [np, 1, 1]}, "
        "w: {type: f32, shape: [np, 10], split: [np, 1], individual: true}}"
    )
    made = planned(tmp_path, ranks, file, phases("{to: f.u, collective: true}"))
    fine(engine.run(made, comm))
    found = variables_of(kept(made), kind)
    assert {"u_0000", "u_0001"} <= found.keys()
    for name in ("u_0000", "u_0001"):
        assert found[name].shape == (ranks, 3, 4)
        assert found[name].dtype == np.dtype("<i8")
        assert np.count_nonzero(found[name]) == found[name].size


@pytest.mark.parametrize("file", [*FORMATS.values(), "interface: posix", "interface: stdio"])
def test_a_new_file_is_made_and_not_emptied(engine: Engine, tmp_path: Path, file: str) -> None:
    """Some file systems write out at its closing what was emptied before."""
    has_parts = file in FORMATS.values()
    rest = (
        ", shared: rank"
        + ", datasets: {u: {type: f64, shape: [64, 64], split: [1, 1]}}" * has_parts
    )
    step = "{to: f.u}" if has_parts else "{to: f, transfer: 4 KiB, count: 8}"
    made = planned(tmp_path, 1, file + rest, phases(step))
    calls = traced(engine, made, "open,openat,openat2,creat,truncate,ftruncate")
    done = [line for line in calls if " = -1 " not in line]
    assert any("O_CREAT|O_EXCL" in line and "/f.00000000" in line for line in done), calls
    emptied = [line for line in done if "O_TRUNC" in line and ("/f." in line or "/fd/" in line)]
    assert not emptied + [line for line in done if "truncate(" in line and ", 0)" in line]


@pytest.mark.parametrize("interface", ["posix", "stdio"])
def test_a_file_that_is_open_is_asked_by_its_descriptor(
    engine: Engine, tmp_path: Path, interface: str
) -> None:
    steps = (
        "    - phase: look\n      do:\n        - create: f\n        - stat: f\n"
        "        - stat: f\n        - close: f\n        - stat: f\n"
    )
    made = planned(tmp_path, 1, f"interface: {interface}, shared: rank", steps)
    calls = traced(engine, made, "openat2,close,fstat,newfstatat")
    begin = next(
        at for at, line in enumerate(calls) if "O_CREAT|O_EXCL" in line and " = -1" not in line
    )
    end = next(at for at, line in enumerate(calls) if at > begin and " close(" in line)
    by_descriptor = [line for line in calls[begin:end] if "fstat(" in line or ', "", ' in line]
    assert len(by_descriptor) == 2, calls[begin:]
    assert len([line for line in calls if "newfstatat(" in line and "f.00000000" in line]) == 1


@pytest.mark.parametrize("kind", FORMATS)
def test_elements_stand_where_their_offset_says(
    engine: Engine, tmp_path: Path, comm: str, kind: str
) -> None:
    """The stamps of one dataset, row by row, are those of the same bytes in a plain file."""
    ranks = RANKS[comm]
    datasets = "datasets: {u: {type: i64, shape: [np, 4, 6], split: [np, 1, 1]}}"
    step = phases("{to: f.u, transfer: 96}")
    arrays = []
    for place, interface in (("a", FORMATS[kind]), ("b", "interface: posix")):
        (tmp_path / place).mkdir()
        file = f"{interface}, keep: true, content: {{verify: true}}, {datasets}"
        made = planned(tmp_path / place, ranks, file, step)
        fine(engine.run(made, comm))
        if place == "a":
            arrays.append(variables_of(kept(made), kind)["u"].reshape(-1))
        else:
            arrays.append(np.fromfile(kept(made), "<i8"))
    assert np.array_equal(arrays[0].astype("<i8"), arrays[1])


@pytest.mark.parametrize("kind", ["hdf5", "netcdf4"])
def test_chunks_and_filters_are_in_the_file(
    engine: Engine, tmp_path: Path, comm: str, kind: str
) -> None:
    file = (
        f"{FORMATS[kind]}, keep: true, datasets: {{u: {{type: f32, shape: [8, 32], "
        "split: [np, 1], chunks: [2, 16], deflate: 4, shuffle: true}}"
    )
    made = planned(tmp_path, RANKS[comm], file, phases("{to: f.u, collective: true}"))
    fine(engine.run(made, comm))
    with h5py.File(kept(made)) as opened:
        dataset = opened["u"]
        assert dataset.chunks == (2, 16)
        assert (dataset.compression, dataset.compression_opts) == ("gzip", 4)
        assert dataset.shuffle


@pytest.mark.parametrize(
    ("cache", "least", "most"), [("1 MiB", 64, 64), ("8 KiB", 1024, 2048), ("0 B", 0, 0)]
)
def test_chunks_that_the_cache_does_not_hold_are_read_again(
    engine: Engine, tmp_path: Path, cache: str, least: int, most: int
) -> None:
    """64 chunks of 2 KiB, in rows of 8: read once, or with each of 128 rows; or never whole."""
    file = (
        f"interface: hdf5, options: {{chunk_cache: {cache}}}, content: {{verify: true}}, "
        "datasets: {u: {type: f64, shape: [128, 128], split: [1, 1], chunks: [16, 16]}}"
    )
    made = planned(
        tmp_path, 1, file, phases("{to: f.u, transfer: 1024}", "{from: f.u, transfer: 1024}")
    )
    reads = [line for line in traced(engine, made, "pread64") if line.endswith("= 2048")]
    of_chunks = [line for line in reads if ", 2048, " in line]
    assert least <= len(of_chunks) <= most


@pytest.mark.parametrize("kind", FORMATS)
def test_plain_bytes_go_into_one_dataset(
    engine: Engine, tmp_path: Path, comm: str, kind: str
) -> None:
    step = "{%s: f, pattern: segmented, transfer: 48, block: 480, segments: 3}"
    file = f"{FORMATS[kind]}, keep: true, content: {{verify: true}}"
    made = planned(tmp_path, RANKS[comm], file, phases(step % "to", step % "from"))
    outcome = fine(engine.run(made, comm))
    assert outcome.phase("read")["bytes"] == RANKS[comm] * 1440
    assert variables_of(kept(made), kind)["data"].nbytes == RANKS[comm] * 1440


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_for_each_rank(engine: Engine, tmp_path: Path, comm: str, kind: str) -> None:
    file = (
        f"{FORMATS[kind]}, shared: rank, content: {{verify: true}}, "
        "datasets: {u: {type: i16, shape: [100], split: [1]}}"
    )
    made = planned(tmp_path, RANKS[comm], file, phases("{to: f.u, transfer: 64}", "f.u"))
    outcome = fine(engine.run(made, comm))
    assert outcome.phase("write")["bytes"] == RANKS[comm] * 200


def test_one_rank_writes_for_all_where_it_is_asked_to(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    file = (
        "interface: hdf5, options: {gather: true}, content: {verify: true}, "
        "datasets: {u: {shape: [np, 1000], split: [np, 1]}}"
    )
    made = planned(tmp_path, RANKS[comm], file, phases("{to: f.u, transfer: 800}", "f.u"))
    outcome = fine(engine.run(made, comm))
    assert outcome.phase("write")["bytes"] == RANKS[comm] * 8000


@pytest.mark.parametrize("collective", ["true", "false"])
@pytest.mark.parametrize(("operation", "kind"), [("write", "eio"), ("create", "enospc")])
def test_a_fault_on_one_rank_ends_all(
    engine: Engine, tmp_path: Path, comm: str, operation: str, kind: str, collective: str
) -> None:
    ranks = RANKS[comm]
    hit = ranks - 1 if operation == "write" else 0
    file = (
        "interface: hdf5, datasets: {u: {count: 4, shape: [np, 50], split: [np, 1]}}, "
        f"faults: [{{kind: {kind}, operation: {operation}, rank: {hit}}}]"
    )
    made = planned(
        tmp_path, ranks, file, phases(f"{{to: f.u, transfer: 80, collective: {collective}}}")
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    assert f"{operation} of data/f failed on rank {hit}" in outcome.failed["message"]
    assert not Path(made.directory).exists()


def test_a_flipped_bit_is_found(engine: Engine, tmp_path: Path, comm: str) -> None:
    file = (
        "interface: hdf5, content: {verify: true}, "
        "datasets: {u: {shape: [np, 64], split: [np, 1]}}, "
        "faults: [{kind: flip, operation: write, rank: 0}]"
    )
    made = planned(tmp_path, RANKS[comm], file, phases("f.u", "f.u"))
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    (detail,) = outcome.phase("read")["details"]
    assert detail["what"].startswith("flipped bit")


def test_somebody_s_file_is_left_alone(engine: Engine, tmp_path: Path, comm: str) -> None:
    """A name that another program makes meanwhile is neither truncated nor opened."""
    steps = "    - phase: wait\n      do:\n        - exec: {command: hold}\n" + phases("f.u")
    file = "interface: hdf5, datasets: {u: {shape: [np, 4], split: [np, 1]}}"
    made = planned(tmp_path, RANKS[comm], file, steps)
    other = kept(made)

    def meddle() -> None:
        other.parent.mkdir()
        other.write_text("mine")

    outcome = meddled(engine, made, '"phase_started","path":"wait"', meddle, comm)
    assert outcome.code == 3
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("interface: netcdf, options: {format: hdf}", "format: must be cdf5, cdf2 or netcdf4"),
        ("interface: hdf5, options: {chunk: 3}", "chunk: hdf5 has no such option"),
        ("interface: hdf5, options: {chunk_cache: much}", "chunk_cache: must be"),
    ],
)
def test_options_are_refused_by_the_planner(tmp_path: Path, file: str, message: str) -> None:
    with pytest.raises(UserError, match=f"files.f.options.{message}"):
        planned(tmp_path, 2, file, phases("{to: f, size: 8}"))


def test_one_rank_cannot_fill_for_others(engine: Engine, tmp_path: Path) -> None:
    file = "interface: hdf5, prestage: 100, datasets: {u: {type: f64, shape: [8], split: [np]}}"
    outcome = engine.run(planned(tmp_path, 2, file, phases("{to: f.u}")), "forked")
    assert outcome.code == 2
    assert "one rank writes for all here" in outcome.failed["message"]
