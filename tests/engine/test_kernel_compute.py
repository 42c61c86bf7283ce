"""Kernels that compute: sizes that fit no block, and the numbers that are known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.running import Engine
from engine.test_kernel_form import failed, result, run


def facts(kernel: dict[str, Any]) -> dict[str, str]:
    return {fact["name"]: fact["value"] for fact in kernel["facts"]}


@pytest.mark.parametrize("n", [1, 7, 24, 241, 300])
def test_product_of_any_size_is_exact(engine: Engine, tmp_path: Path, n: int) -> None:
    """The kernel's own check is exact; with one wrong entry it fails (see `damage`)."""
    [series] = result(run(engine, tmp_path, "alone", 1, "compute_dgemm", n=str(n)))["series"]
    assert [point["at"] for point in series["points"]] == [[n]]


@pytest.mark.parametrize(
    ("n", "block", "ranks"), [(1, 16, 1), (64, 16, 2), (97, 16, 3), (50, 64, 2), (130, 8, 5)]
)
def test_equations_are_solved_on_any_grid(
    engine: Engine, tmp_path: Path, n: int, block: int, ranks: int
) -> None:
    sizes = {"n": str(n), "block": str(block), "samples": "1"}
    known = facts(result(run(engine, tmp_path, "forked", ranks, "compute_lu", **sizes)))
    assert known["grid"] == f"1 x {ranks}"
    assert float(known["scaled residual"]) < 1.0


def test_gradients_do_what_hpcg_does(engine: Engine, tmp_path: Path, mpi: str) -> None:
    """What HPCG 3.1 prints for 64 x 64 x 64 on each of two ranks, to its last digit."""
    side = {"nx": "64", "ny": "64", "nz": "64"}
    known = facts(result(run(engine, tmp_path, mpi, 2, "compute_cg", **side)))
    assert float(known["scaled residual after 50 iterations"]) == pytest.approx(7.76155e-09, 1e-6)
    assert known["iterations of the spectral test"] == "11 and 2"


@pytest.mark.parametrize(("ranks", "grid"), [(3, "3 x 1 x 1"), (4, "2 x 2 x 1"), (8, "2 x 2 x 2")])
def test_layers_come_from_all_neighbours(
    engine: Engine, tmp_path: Path, ranks: int, grid: str
) -> None:
    """The exact solution is 1 on every grid: a lost layer would not leave a residual this small."""
    side = {"nx": "16", "ny": "16", "nz": "16"}
    known = facts(result(run(engine, tmp_path, "forked", ranks, "compute_cg", **side)))
    assert known["grid of ranks"] == grid
    assert float(known["scaled residual after 50 iterations"]) < 1e-13
    assert known["iterations of the spectral test"] == "11 and 2"


def test_wrong_sizes_are_refused(engine: Engine, tmp_path: Path) -> None:
    found = run(engine, tmp_path, "alone", 1, "compute_cg", nx="20")
    assert found.code == 2
    assert "nx" in found.failed["message"]
    found = failed(run(engine, tmp_path / "memory", "alone", 1, "compute_lu", n="1000000"))
    assert "of memory on this node" in found["failure"]
