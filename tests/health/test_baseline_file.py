"""Baselines in the store: a file for each series, whatever its length."""

from __future__ import annotations

from pathlib import Path

from venturi.health.keep import FOLDER, baseline_of, baseline_path

KERNELS = [f"kernel_of_long_name_{index} 1" for index in range(20)]


def written(store: Path, series: str) -> Path:
    path = baseline_path(store, series)
    path.parent.mkdir(exist_ok=True)
    text = f'{{"schema": "venturi.health-baseline/1", "series": "{series}", "sessions": 5,'
    path.write_text(text + ' "references": {}}')
    return path


def test_short_series_is_the_name(tmp_path: Path) -> None:
    path = written(tmp_path, "quick, vm, 2 ranks, compute_lu 1")
    assert path == tmp_path / FOLDER / "baseline-quick-vm-2-ranks-compute-lu-1.json"


def test_long_series_have_names_that_differ(tmp_path: Path) -> None:
    """They differ in the version of the last kernel alone."""
    one = ", ".join(["quick", "vm", *KERNELS])
    other = one.removesuffix("1") + "2"
    paths = [written(tmp_path, series) for series in (one, other)]
    assert len({path.name for path in paths}) == 2
    for series in (one, other):
        found = baseline_of(tmp_path, series)
        assert found is not None
        assert found.series == series
    assert all(path.name.startswith("baseline-quick-vm-kernel-of-long-name-0-1-") for path in paths)
