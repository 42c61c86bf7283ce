"""The kernels of Shan, Antypas and Shalf (2008): totals of their scale, each rank's requests.

What is expected is computed here by other means than the workloads' own expressions.
"""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from cli.conftest import Cli, cli  # noqa: F401
from venturi import library
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

Request = tuple[str, int, int]


def requests_of(
    cli: Cli,  # noqa: F811
    name: str,
    ranks: int,
    machine: str = "local",
    **parameters: object,
) -> list[list[Request]]:
    """(operation, offset, bytes) of each rank's requests in their order, of a real run."""
    path = cli.target.parent / f"{name}.yaml"
    path.write_text(f"{library.text_of(name)}log_operations: true\n", "utf-8")
    words = [word for key, value in parameters.items() for word in ("--set", f"{key}={value}")]
    line = ("run", str(path), "-d", str(cli.target), "-n", str(ranks), "--repeat", "1", *words)
    record = cli.json(*line, "--set", "think=0", "-q", "--on", machine)
    found = np.load(cli.store / "runs" / record["id"] / "operations.npz")
    kinds = [str(found["kind_names"][kind]) for kind in found["kind"]]
    wanted = [[] for _ in range(ranks)]  # type: list[list[tuple[int, Request]]]
    for at, kind in enumerate(kinds):
        if kind in ("read", "write"):
            one = (kind, int(found["offset"][at]), int(found["bytes"][at]))
            wanted[int(found["rank"][at])].append((int(found["begin_ns"][at]), one))
    return [[request for _, request in sorted(rows, key=lambda row: row[0])] for rows in wanted]


def owned(length: int, width: int, process: int, processes: int) -> int:
    """Rows of a block-cyclic part, counted one by one."""
    return sum(1 for row in range(length) if row // width % processes == process)


def matrices(ranks: int, pixels: int, tile: int, align: int, shared: bool) -> list[list[Request]]:
    """MADBench2's requests: S writes 0 to 7, W reads one ahead of what it writes, C reads."""
    columns = int(ranks**0.5) if ranks % int(ranks**0.5) == 0 else 1
    rows = ranks // columns
    parts = [
        8 * owned(pixels, tile, r % columns, columns) * owned(pixels, tile, r // columns, rows)
        for r in range(ranks)
    ]
    slot = -(-parts[0] // align) * align
    order = [("write", b) for b in range(8)] + [("read", 0)]
    for b in range(1, 8):
        order += [("read", b), ("write", b - 1)]
    order += [("write", 7)] + [("read", b) for b in range(8)]
    starts = [rank * 8 * slot if shared else 0 for rank in range(ranks)]
    return [[(op, starts[r] + b * slot, parts[r]) for op, b in order] for r in range(ranks)]


@pytest.mark.parametrize(
    ("ranks", "pixels", "tile", "align", "shared"),
    [(4, 200, 8, 4096, False), (6, 201, 7, 1000, True), (3, 97, 5, 1, False)],
)
def test_the_matrices_of_madbench2(
    cli: Cli,  # noqa: F811
    ranks: int,
    pixels: int,
    tile: int,
    align: int,
    shared: bool,
) -> None:
    sizes = {"pixels": pixels, "tile": tile, "align": f"{align} B"}
    found = requests_of(cli, "madbench2", ranks, per_process=int(not shared), **sizes)
    assert found == matrices(ranks, pixels, tile, align, shared)


def test_madbench2_reads_pairs_where_it_computes(cli: Cli) -> None:  # noqa: F811
    [found] = requests_of(cli, "madbench2", 1, pixels=50, bins=4, triangle=1)
    slot = 2**20
    assert [offset // slot for _, offset, _ in found[-10:]] == [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("interface", "machine"), [("hdf5", "local"), ("posix", "local"), ("pnetcdf", "openmpi")]
)
def test_uneven_blocks_of_adaptive_flash(
    cli: Cli,  # noqa: F811
    interface: str,
    machine: str,
) -> None:
    ranks, zones = 5, 3
    blocks = [80, 81, 82, 80, 81]
    sizes = {"interface": interface, "zones": zones}
    found = requests_of(cli, "flash3-amr", ranks, machine, **sizes)
    for rank, requests in enumerate(found):
        sizes = []
        for copies, cells, width in ((24, zones**3, 8), (4, zones**3, 4), (4, (zones + 1) ** 3, 4)):
            sizes += [4, 4, 60, 3 * width, 3 * width, 6 * width, *[cells * width] * copies]
        assert [size for _, _, size in requests] == [blocks[rank] * size for size in sizes]
    if interface == "posix":
        ends: list[int] = [0]
        first = sorted((at, size) for rows in found for _, at, size in rows[:30])
        for at, size in first:  # the checkpoint is covered once, without a hole
            assert at == ends[-1]
            ends.append(at + size)


@pytest.mark.parametrize(
    ("name", "written", "read", "sizes"),
    [
        ("madbench2", 320_000_000_000, 320_000_000_000, {312300032, 312699904, 313100288}),
        ("madbench2-ior", 320_000_000_000, 320_000_000_000, {312_500_000}),
        ("vorpal", 10_800_000_000, 0, {168_750_000}),
        ("vorpal-ior", 10_800_000_000, 0, {168_750_000}),
        ("flash3-ior", 81_920_000_000, 0, {1_000_000}),
    ],
)
def test_the_scale_of_the_paper(name: str, written: int, read: int, sizes: set[int]) -> None:
    made = make_plan(library.load(name), RunSettings(scale="paper"))
    assert made.plan.ranks == 64
    assert (made.totals.bytes_written, made.totals.bytes_read) == (written, read)
    assert {size for _, size in made.totals.sizes} == sizes
    assert all(promise.holds for promise in made.expectations)


def test_a_variable_of_adaptive_flash_at_the_scale_of_the_paper() -> None:
    sizes = make_plan(library.load("flash3-amr"), RunSettings(scale="paper")).totals.sizes
    counts = [sizes["write", size] for size in (327680, 331776, 335872)]
    assert counts == [24 * 22, 24 * 21, 24 * 21]


@pytest.mark.parametrize(("chunked", "chunks"), [(1, (4, 5, 3, 2)), (0, None)])
def test_boxes_of_vorpal_in_their_file(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    chunked: int,
    chunks: tuple[int, ...] | None,
) -> None:
    path = tmp_path / "vorpal.yaml"
    text = library.text_of("vorpal").replace("interface: hdf5", "interface: hdf5\n    keep: true")
    path.write_text(text, "utf-8")
    words = "zones_x=4 zones_y=5 zones_z=3 components=2 parts_y=2 parts_z=1 dumps=1 think=0"
    sets = [word for pair in words.split() for word in ("--set", pair)]
    line = ("-d", str(cli.target), "-n", "6", "--repeat", "1", "-q", "--set", f"chunked={chunked}")
    record = cli.json("run", str(path), *line, *sets)
    assert record["phases"][0]["bytes"] == 6 * 4 * 5 * 3 * 2 * 8, json.dumps(record)[:200]
    [file] = cli.target.rglob("vorpal_0000.h5")
    with h5py.File(file) as opened:
        [dataset] = opened.values()
        assert (dataset.shape, dataset.chunks) == ((12, 10, 3, 2), chunks)
