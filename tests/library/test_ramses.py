"""RAMSES's checkpoints: published sizes, shares of ranks, and records that a stranger reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.io import FortranEOFError, FortranFile

from cli.conftest import Cli, cli  # noqa: F401
from venturi import library
from venturi.plan.make import Made, make_plan
from venturi.plan.setting import Settings


def planned(name: str, **assignments: object) -> Made:
    words = {key: str(value) for key, value in assignments.items()}
    made = make_plan(library.load(name), Settings(assignments=words))
    for entry in made.expectations:
        assert entry.holds, entry
    return made


@pytest.mark.parametrize(
    "sizes",
    [
        {"np": 1, "skew_factor": 10},
        {"np": 3, "cells": 100, "nvar": 7, "dumps": 3},
        {"np": 7, "skew_factor": 10, "cells": 16},
        {"np": 5, "skew_factor": 3, "cells": 2, "benchmark_type": 0},
    ],
)
def test_the_legacy_checkpoint_at_awkward_sizes(sizes: dict[str, int]) -> None:
    planned("ramses-legacy", **sizes)


def kept(cli: Cli, name: str, *words: str) -> Path:  # noqa: F811
    """The directory of a run whose files stay."""
    workload = json.loads(library.load(name).model_dump_json(by_alias=True, exclude_none=True))
    for file in workload["files"].values():
        file["keep"] = True
    path = cli.target.parent / "kept.json"
    path.write_text(json.dumps(workload))
    cli.json("run", str(path), "-d", str(cli.target), "--repeat", "1", *words)
    (place,) = cli.target.iterdir()
    return place


def octs_of(path: Path, ranks: int, levels: int, nvar: int) -> dict[int, list[int]]:
    """The octs by domain, of each level, in a file of the gas, read as RAMSES does."""
    octs: dict[int, list[int]] = {domain: [] for domain in range(ranks)}
    with FortranFile(path) as file:
        header = [int(file.read_ints("i4")[0]) for _ in range(5)]
        assert header == [ranks, nvar, 3, levels, 0]
        assert file.read_reals("f8").tolist() == [1.4]
        for level in range(levels):
            for domain in range(ranks):
                assert file.read_ints("i4").tolist() == [level + 1]
                (count,) = file.read_ints("i4").tolist()
                octs[domain].append(count)
                for _ in range(8 * nvar if count else 0):
                    assert len(file.read_record("f8")) == count
        assert not file._fp.read(1)
    return octs


def lengths_of(path: Path) -> list[int]:
    """The bytes of every record of a file."""
    lengths = []
    with FortranFile(path) as file:
        while True:
            try:
                lengths.append(len(file.read_record("u1")))
            except FortranEOFError:
                return lengths


def test_a_stranger_reads_the_records_of_every_rank(cli: Cli) -> None:  # noqa: F811
    sizes = ("-n", "3", "--set", "cells=16", "--set", "skew_factor=10", "--set", "dumps=1")
    place = kept(cli, "ramses-legacy", *sizes) / "output_00001"
    own = []
    for rank in range(3):
        octs = octs_of(place / f"hydro_00001.out{rank + 1:05d}", 3, 4, 5)
        assert not any(sum(counts) for domain, counts in octs.items() if domain != rank)
        own.append(sum(octs[rank]))
        lengths = lengths_of(place / f"amr_00001.out{rank + 1:05d}")
        of_octs = [n * w for n in octs[rank] if n for w in [4] * 3 + [8] * 3 + [4] * 31]
        assert lengths[:8] == [4, 4, 12, 4, 4, 4, 4, 8]
        assert lengths[29:] == of_octs
    assert sum(own) == (8**4 - 1) // 7
    assert own[2] / own[0] == pytest.approx(10, rel=0.1)
