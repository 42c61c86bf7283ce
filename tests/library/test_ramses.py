"""RAMSES's checkpoints: published sizes, shares of ranks, and records that a stranger reads."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from scipy.io import FortranEOFError, FortranFile

from cli.conftest import Cli, cli  # noqa: F401
from engine.test_bundle import pieces_of
from venturi import library
from venturi.model.error import UserError
from venturi.plan.make import PlanResult, make_plan, promised_totals
from venturi.plan.setting import RunSettings


def planned(name: str, **assignments: object) -> PlanResult:
    words = {key: str(value) for key, value in assignments.items()}
    made = make_plan(library.load(name), RunSettings(assignments=words))
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


OCTS = (8**11 - 1) // 7
"""Of 2048 cells in each direction and all levels above them."""


def test_hercule_at_the_published_size() -> None:
    """That the plans keep these promises is tested with those of all use cases."""
    paper = RunSettings(scale="paper")
    checkpoint = promised_totals(library.load("ramses-hprot"), paper)
    assert checkpoint["bytes_written"] == OCTS * (160 + 5 * 64) == 589_024_086_240
    assert checkpoint["bytes_read"] == checkpoint["bytes_written"]
    assert checkpoint["files"] == 512
    dump = promised_totals(library.load("ramses-hdep"), paper)
    assert dump["bytes_written"] == OCTS * (2 + 5 * 64)
    assert dump["files"] == 256


@pytest.mark.parametrize("contrib", [1, 2, 4, 8, 16, 32])
def test_n_ranks_have_m_files(contrib: int) -> None:
    """Of a group's bytes over the partition, as many files as it takes."""
    sizes = {"np": 64, "cells": 256, "contrib": contrib, "dumps": 1, "partition": 20_000_000}
    group_bytes = contrib * (8**8 - 1) // 7 * 480 / 64
    files = planned("ramses-hprot", **sizes).totals.files
    assert files == 64 // contrib * math.ceil(group_bytes / 20e6)


@pytest.mark.parametrize("name", ["ramses-hprot", "ramses-hdep"])
@pytest.mark.parametrize(
    "sizes",
    [
        {"np": 1, "skew_factor": 10},
        {"np": 3, "cells": 100, "nvar": 7, "dumps": 3},
        {"np": 7, "contrib": 3, "skew_factor": 10, "cells": 16, "partition": 10_000},
        {"np": 13, "contrib": 32, "skew_factor": 3, "cells": 2},
        {"np": 5, "contrib": 4, "cells": 33, "partition": 1_000_003},
    ],
)
def test_hercule_at_awkward_sizes(name: str, sizes: dict[str, int]) -> None:
    planned(name, **sizes)


@pytest.mark.parametrize("nvars", [0, 1, 7])
def test_a_dump_has_the_fields_that_were_asked_for(nvars: int) -> None:
    made = planned("ramses-hdep", nvar=7, hdep_nvars=nvars, cells=16, dumps=1)
    assert made.totals.bytes_written == 585 * (2 + 64 * nvars)
    with pytest.raises(UserError, match="hdep_nvars"):
        planned("ramses-hdep", hdep_nvars=6)


def test_a_partition_too_small_for_anything_is_refused() -> None:
    with pytest.raises(UserError, match="file_octs"):
        planned("ramses-hprot", partition=1000)


@pytest.mark.parametrize("compression", [0, 1])
def test_no_file_is_larger_than_the_partition_and_all_is_there(
    cli: Cli,  # noqa: F811
    compression: int,
) -> None:
    """Five ranks, three groups, the last one small; the last rank has ten times the first's."""
    words = ["np=5", "contrib=2", "partition=150000", "cells=32", "skew_factor=10", "dumps=1"]
    words += ["hdep_nvars=3", f"hdep_compression={compression}"]
    sets = [word for key in words for word in ("--set", key)]
    files = sorted((kept(cli, "ramses-hdep", *sets) / "output_00001").iterdir())
    assert {path.name[:10] for path in files} == {f"hdep_{group:05d}" for group in (1, 2, 3)}
    sizes: dict[str, int] = {}
    for path in files:
        assert path.stat().st_size <= 150_000
        pieces, stored = pieces_of(path)
        data = sum(map(len, pieces.values()))
        assert (stored < 0.9 * data) == bool(compression)
        sizes[path.name[:10]] = sizes.get(path.name[:10], 0) + data
    assert len(files) > 2 * len(sizes)
    assert sum(sizes.values()) == 4681 * (2 + 3 * 64)
    first, second, third = (size / sum(sizes.values()) for _, size in sorted(sizes.items()))
    # Loads 1, 3.25, 5.5, 7.75 and 10 of 27.5.
    assert (first, second, third) == pytest.approx((4.25 / 27.5, 13.25 / 27.5, 10 / 27.5), rel=0.02)


def test_fields_are_read_as_they_were_written(cli: Cli) -> None:  # noqa: F811
    workload = json.loads(
        library.load("ramses-hprot").model_dump_json(by_alias=True, exclude_none=True)
    )
    workload["files"]["hprot"]["content"] = {"verify": True}
    path = cli.target.parent / "checked.json"
    path.write_text(json.dumps(workload))
    words = ["cells=16", "partition=50000", "skew_factor=10", "np=3"]
    sets = [word for key in words for word in ("--set", key)]
    record = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "1", *sets)
    (read,) = (row for row in record["phases"] if row["path"] == "checkpoint_read")
    assert read["bytes"] == 585 * 480
    assert (read["errors"], read["corrupt_bytes"]) == (0, 0)
    assert not list(cli.target.iterdir())


@pytest.mark.parametrize(
    ("sizes", "checkpoints", "dumps", "fields"),
    [
        ({}, 2, 6, 2),
        ({"np": 7, "skew_factor": 10, "contrib": 4, "cells": 100}, 2, 6, 2),
        ({"np": 3, "hprot_every": 0, "hdep_savevars": 21}, 0, 6, 3),
        ({"np": 3, "hdep_every": 4, "hdep_savevars": 16, "steps": 9, "contrib": 32}, 3, 2, 1),
    ],
)
def test_both_kinds_of_dump_have_frequencies_of_their_own(
    sizes: dict[str, int], checkpoints: int, dumps: int, fields: int
) -> None:
    made = planned("ramses-both", **sizes)
    own = made.parameters
    assert (own["hprot_dumps"], own["hdep_dumps"], own["hdep_nvars"]) == (
        checkpoints,
        dumps,
        fields,
    )
    groups = math.ceil(own["np"] / own["contrib"])
    assert made.totals.files == groups * (checkpoints + dumps)
    written = made.totals.bytes_by_phase
    assert written.get("hdep_write", 0) == dumps * own["octs"] * (64 * fields + 2)
    assert written.get("checkpoint_write", 0) == checkpoints * own["octs"] * (64 * 5 + 160)


def test_no_more_fields_are_dumped_than_there_are() -> None:
    with pytest.raises(UserError, match="hdep_nvars"):
        planned("ramses-both", hdep_savevars=63)
