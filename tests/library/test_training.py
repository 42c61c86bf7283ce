"""Training and its checkpoints: requests as libraries make them, every sample once, idle time."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Cli, cli  # noqa: F401
from venturi import library
from venturi.model.error import UserError
from venturi.model.operation import NO_FILE, Kind
from venturi.model.plan import OperationKind
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import Operation, RequestStream
from venturi.sources.open import read_capture

LOAD = """import sys
import numpy
for path in sys.argv[1:]:
    numpy.load(path, allow_pickle=True)["x"][..., 0]
"""
BESIDE_SAMPLE = 498
"""Bytes of a NumPy archive that are not the sample: headers, the labels, and the directory."""


def operations_of_loaders(name: str, **assignments: int) -> dict[int, list[Operation]]:
    """What each loader of a workload does, by its number."""
    words = {key: str(value) for key, value in assignments.items()}
    plan = make_plan(library.load(name), RunSettings(assignments=words)).plan
    loaders = plan.groups[1]
    ranks = range(loaders.first, loaders.first + loaders.ranks * loaders.instances)
    return {rank: list(RequestStream(plan, rank).operations()) for rank in ranks}


def test_a_sample_is_read_as_numpy_reads_it(tmp_path: Path) -> None:
    (told,) = operations_of_loaders(
        "training-unet3d", threads=1, samples=5, batch=1, epochs=1, deviation=700000
    ).values()
    wanted: dict[str, list[tuple[int, int]]] = {}
    for one in told:
        if one.kind is OperationKind.READ:
            assert one.offset is not None
            assert one.bytes is not None
            wanted.setdefault(one.path.rsplit("/", 1)[-1], []).append((one.offset, one.bytes))
    for name, reads in wanted.items():
        length = max(offset + size for offset, size in reads)
        sample = np.zeros((length - BESIDE_SAMPLE, 1, 1), np.uint8)
        np.savez(tmp_path / name, x=sample, y=[0])
        assert (tmp_path / name).stat().st_size == length
    folder = tmp_path / "load.trace"
    files = [str(tmp_path / name) for name in wanted]
    command = [sys.executable, "-m", "venturi", "capture", "-o", str(folder), "--"]
    subprocess.run([*command, sys.executable, "-c", LOAD, *files], check=True, capture_output=True)
    captured = read_capture(folder)
    operations = captured.operations
    assert operations is not None
    found: dict[str, list[tuple[int, int]]] = {}
    is_read = operations.is_kind(Kind.READ) & (operations.bytes > 0) & (operations.file != NO_FILE)
    for row in np.flatnonzero(is_read).tolist():
        name = captured.trace.files[operations.file[row]].path.rsplit("/", 1)[-1]
        if name in wanted:
            place = int(operations.offset[row]), int(operations.bytes[row])
            found.setdefault(name, []).append(place)
    assert found == wanted


@pytest.mark.parametrize(
    ("name", "samples", "sizes"),
    [
        ("training-unet3d", 24, {"batch": 2}),
        ("training-cosmoflow", 24, {}),
        ("training-resnet50", 24, {"records": 30, "batch": 12}),
    ],
)
@pytest.mark.parametrize(("np_", "threads"), [(1, 4), (3, 2), (2, 1)])
def test_all_loaders_together_read_every_file_once_in_an_epoch(
    name: str, samples: int, sizes: dict[str, int], np_: int, threads: int
) -> None:
    files = "shards" if name == "training-resnet50" else "samples"
    sizes = {**sizes, files: samples, "np": np_, "threads": threads, "epochs": 3}
    loaders = operations_of_loaders(name, **sizes)
    opened = Counter(
        one.path for told in loaders.values() for one in told if one.kind is OperationKind.OPEN
    )
    assert len(opened) == samples
    assert set(opened.values()) == {3}
    if files == "samples":
        told = [one.path for one in loaders[np_] if one.kind is OperationKind.OPEN]
        each = len(told) // 3
        epochs = [told[begin : begin + each] for begin in range(0, len(told), each)]
        assert all(first != second for first, second in itertools.combinations(epochs, 2))


def test_accelerators_are_idle_as_long_as_storage_takes(cli: Cli) -> None:  # noqa: F811
    """One loader that reads no batch ahead of the next one: open, two requests, close."""
    calls, latency_s, computing_s = 4, 0.005, 0.008
    record = cli.json(
        "run",
        "training-cosmoflow",
        "-d",
        str(cli.target),
        "--repeat",
        "1",
        *("--set", "interface=simulated", "--set", f"interface.latency_s={latency_s}"),
        *("--set", "threads=1", "--set", "ahead=1", "--set", "samples=40"),
        *("--set", f"computing={computing_s}"),
    )
    metrics = {name: metric["value"] for name, metric in record["metrics"].items()}
    step_s = calls * latency_s
    assert metrics["samples_rate"] == pytest.approx(1 / step_s, rel=0.15)
    assert metrics["accelerator_use"] == pytest.approx(computing_s / step_s, rel=0.15)
    assert metrics["accelerator_idle"] == pytest.approx(1 - metrics["accelerator_use"])
    broken = {rule["name"]: rule["says"] for rule in record["rules"] if not rule["holds"]}
    assert set(broken) == {"accelerator_use", "memory", "iterations"}
    assert f"computed {metrics['accelerator_use']:.4g} of the time" in broken["accelerator_use"]
    assert broken["iterations"].startswith("accelerators make 80 steps")


@pytest.mark.parametrize(
    ("scale", "sizes", "weights", "ranks"),
    [
        ("paper", {}, 8_030_261_248, 8),
        (
            "",
            {
                "np": 64,
                "tensor": 8,
                "layers": 80,
                "hidden": 8192,
                "ffn": 28672,
                "heads": 64,
                "kv_heads": 8,
                "vocabulary": 128256,
            },
            70_553_706_496,
            64,
        ),
    ],
)
def test_a_checkpoint_holds_weights_and_three_moments(
    scale: str, sizes: dict[str, int], weights: int, ranks: int
) -> None:
    """Weights in 16 bits; they, momentum and variance in 32: 14 bytes of each in all."""
    words = {key: str(value) for key, value in sizes.items()} | {"writes": "1", "reads": "1"}
    settings = RunSettings(assignments=words, scale=scale or "laptop")
    made = make_plan(library.load("checkpoint-llama3"), settings)
    for moved in (made.totals.bytes_written, made.totals.bytes_read):
        assert moved == pytest.approx(14 * weights, rel=1e-3)
    assert made.totals.files == 2 * ranks


@pytest.mark.parametrize(
    ("name", "words", "parameter", "limit"),
    [
        ("training-unet3d", {"samples": "5"}, "steps", "least"),
        ("training-cosmoflow", {"samples": "1", "np": "2"}, "steps", "least"),
        ("training-resnet50", {"shards": "3"}, "turns", "least"),
        ("checkpoint-llama3", {"writes": "2", "reads": "5"}, "reads", "most"),
    ],
)
def test_what_would_train_or_read_nothing_is_refused(
    name: str, words: dict[str, str], parameter: str, limit: str
) -> None:
    with pytest.raises(UserError, match=f"parameter '{parameter}' .* but {limit} is"):
        make_plan(library.load(name), RunSettings(assignments=words))


def test_a_checkpoint_is_read_back_as_it_was_written(cli: Cli) -> None:  # noqa: F811
    workload = json.loads(
        library.load("checkpoint-llama3").model_dump_json(by_alias=True, exclude_none=True)
    )
    for file in workload["files"].values():
        file["content"] = {"verify": True}
    path = cli.target.parent / "verified.json"
    path.write_text(json.dumps(workload))
    record = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "1")
    loads = [phase for phase in record["phases"] if phase["path"] == "load"]
    assert sum(phase["bytes"] for phase in loads) > 200_000_000
    assert not any(phase["errors"] or phase["corrupt_bytes"] for phase in loads)
