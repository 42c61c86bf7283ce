"""Kernels: what they measure has the right form everywhere, and a wrong value is never a number."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from engine.plans import ClockKind, phase, plan
from engine.running import Engine, Outcome, parse
from venturi.model.kernel import KERNELS
from venturi.model.plan import Kernel, Option

SMALL = {
    "memory_sweep": {"most": "64 KiB", "sizes": "3", "samples": "3", "sample_s": "0.0005"},
    "memory_triad": {"array": "64 KiB"},
    "memory_chase": {"most": "64 KiB", "sizes": "3", "samples": "3", "loads": "1000"},
    "compute_dgemm": {"n": "65", "samples": "2"},
    "compute_lu": {"n": "100", "block": "16", "samples": "2"},
    "compute_cg": {"nx": "16", "ny": "16", "nz": "16"},
    **{
        name: {"records": "300"}
        for name, entry in KERNELS.items()
        if any(option.name == "records" for option in entry.options)
    },
    "data_components": {"scale": "7"},
    "data_fft": {"n": "32"},
    "data_matrix": {"n": "33"},
    "message_pairs": {"most": "4 KiB", "size_s": "0.001", "window": "4"},
    "message_collectives": {"most": "1 KiB", "size_s": "0.001"},
    "links": {"size": "1 KiB", "messages": "4", "warmup": "1", "slowest": "2"},
    "tcp_pairs": {"samples": "2", "sample_s": "0.01", "messages": "5"},
}
WITHOUT_MPI = [
    name for name, entry in KERNELS.items() if not entry.needs_mpi and entry.least_ranks == 1
]
WITH_MPI = [name for name, entry in KERNELS.items() if entry.needs_mpi]


def run(
    engine: Engine, tmp_path: Path, comm: str, count: int, name: str, **options: str
) -> Outcome:
    """Runs one kernel in one phase, and reads what went into the journal as well."""
    chosen = {**SMALL.get(name, {}), **options}
    step = Kernel(name=name, options=[Option(name=k, value=v) for k, v in chosen.items()])
    tmp_path.mkdir(exist_ok=True)
    made = plan(tmp_path, [], [phase("machine", step)], ranks=count)
    found = engine.run(made, comm)
    own = Path(made.journal) / "events.0.jsonl"
    more = parse(own.read_text()) if own.exists() else []
    return Outcome(found.code, [*more, *found.events], found.stderr)


def result(found: Outcome) -> dict[str, Any]:
    assert found.code == 0, found
    [kernel] = found.phase("machine")["kernels"]
    return dict(kernel)


def failed(found: Outcome) -> dict[str, Any]:
    """A kernel that gives no number, only its reason."""
    assert found.code == 0, found
    [kernel] = found.phase("machine")["kernels"]
    assert kernel["failure"]
    assert kernel["series"] == []
    return dict(kernel)


def series(kernel: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in kernel["series"]}


def figures(kernel: dict[str, Any]) -> dict[str, str]:
    """The unit of every figure that some point is."""
    points = ((one, point) for one in kernel["series"] for point in one["points"])
    return {point["figure"]: one["unit"] for one, point in points if point["figure"]}


def check_form(kernel: dict[str, Any], name: str) -> None:
    assert kernel["name"] == name
    assert kernel["version"] == KERNELS[name].version
    declared = {figure.name: figure.unit for figure in KERNELS[name].figures}
    assert figures(kernel).items() <= declared.items()
    for one in kernel["series"]:
        for point in one["points"]:
            assert len(point["at"]) == len(one["axes"])
            assert min(point["samples"]) > 0.0


@pytest.mark.parametrize("name", WITHOUT_MPI)
def test_kernel_runs_in_every_kind_of_group(
    engine: Engine, tmp_path: Path, comm: str, name: str
) -> None:
    kernel = result(run(engine, tmp_path, comm, 1 if comm == "alone" else 2, name))
    check_form(kernel, name)
    assert set(figures(kernel)) == {figure.name for figure in KERNELS[name].figures}


@pytest.mark.parametrize("name", WITH_MPI)
def test_kernel_of_messages_runs_under_each_mpi(
    engine: Engine, tmp_path: Path, mpi: str, name: str
) -> None:
    check_form(result(run(engine, tmp_path, mpi, 2, name)), name)


@pytest.mark.parametrize("name", WITH_MPI)
def test_kernel_of_messages_says_that_it_needs_mpi(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    found = run(engine, tmp_path, "forked", 2, name)
    assert found.code == 2
    assert "--on openmpi or --on mpich" in found.failed["message"]


@pytest.mark.parametrize("name", WITHOUT_MPI)
def test_wrong_value_is_no_number(engine: Engine, tmp_path: Path, name: str) -> None:
    for ranks in ("all", "one"):
        kernel = failed(
            run(engine, tmp_path / ranks, "forked", 2, name, damage="true", ranks=ranks)
        )
        assert kernel["failure"].startswith(name)


@pytest.mark.parametrize("name", WITH_MPI)
def test_wrong_payload_is_no_number(engine: Engine, tmp_path: Path, mpi: str, name: str) -> None:
    kernel = failed(run(engine, tmp_path, mpi, 3, name, damage="true"))
    assert name in kernel["failure"]


def test_what_comes_after_a_failed_kernel_is_measured(engine: Engine, tmp_path: Path) -> None:
    """Failed on one rank, it ends on all, and all go on with the next phase together."""
    wrong = [Option(name="damage", value="true"), Option(name="array", value="64 KiB")]
    program = [
        phase("wrong", Kernel(name="memory_triad", options=wrong)),
        phase("sound", Kernel(name="compute_fma", options=[Option(name="samples", value="2")])),
    ]
    found = engine.run(plan(tmp_path, [], program, ranks=3, repetitions=2), "forked")
    assert found.code == 0, found
    for repetition in range(2):
        [kernel] = found.phase("wrong", repetition)["kernels"]
        assert "memory_triad" in kernel["failure"]
        [kernel] = found.phase("sound", repetition)["kernels"]
        assert kernel["failure"] == ""
        assert figures(kernel) == {"multiply-add": "flop/s"}


def test_times_of_each_rank_are_kept(engine: Engine, tmp_path: Path) -> None:
    """The slowest of a sample is the one that its figure is made of."""
    for name in ("memory_triad", "compute_fma", "compute_dgemm"):
        kernel = result(run(engine, tmp_path / name, "forked", 3, name))
        found = series(kernel)
        taken = found["time of each rank"]["points"]
        assert [point["at"] for point in taken] == [[0], [1], [2]]
        had = found["processor time of each rank"]["points"]
        [figure] = [
            point["samples"]
            for one in kernel["series"]
            for point in one["points"]
            if point["figure"] in ("triad", "multiply-add", "multiply")
        ]
        slowest = [max(times) for times in zip(*(p["samples"] for p in taken), strict=True)]
        assert len(slowest) == len(figure)
        work = [time * rate for time, rate in zip(slowest, figure, strict=True)]
        assert max(work) == pytest.approx(min(work))
        for one, other in zip(taken, had, strict=True):
            assert len(one["samples"]) == len(other["samples"])
        facts = {fact["name"]: fact["value"] for fact in kernel["facts"]}
        assert facts["node of each rank"] == "0 0 0"
        assert len(facts["processor of each rank"].split()) == 3
    alone = result(run(engine, tmp_path / "one", "forked", 2, "memory_triad", ranks="one"))
    assert "time of each rank" not in series(alone)


def test_sizes_are_those_that_were_asked_for(engine: Engine, tmp_path: Path) -> None:
    kernel = result(run(engine, tmp_path, "alone", 1, "memory_sweep"))
    for one in series(kernel).values():
        places = [point["at"][0] for point in one["points"]]
        assert places == [4096, 16384, 65536]
        assert [len(point["samples"]) for point in one["points"]] == [3, 3, 3]


def test_one_rank_measures_alone(engine: Engine, tmp_path: Path) -> None:
    assert result(run(engine, tmp_path, "forked", 3, "memory_triad", ranks="one"))["ranks"] == 1
    assert result(run(engine, tmp_path / "all", "forked", 3, "memory_triad"))["ranks"] == 3


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_links_meet_each_pair_once(engine: Engine, tmp_path: Path, ranks: int) -> None:
    for mode in ("parallel", "serial"):
        found = run(engine, tmp_path / mode, "openmpi", ranks, "links", mode=mode)
        times = series(result(found))["time"]["points"]
        pairs = [tuple(point["at"]) for point in times]
        assert pairs == list(itertools.combinations(range(ranks), 2))
        assert {len(point["samples"]) for point in times} == {4}


def test_slow_link_is_measured_again(engine: Engine, tmp_path: Path) -> None:
    slow = {"slow_from": "1", "slow_to": "3", "slow_s": "0.2", "slowest": "1", "messages": "2"}
    found = series(result(run(engine, tmp_path, "openmpi", 4, "links", mode="serial", **slow)))
    [again] = found["retest"]["points"]
    assert again["at"] == [1, 3]
    assert min(again["samples"]) > 0.05


def test_wrong_use_is_refused(engine: Engine, tmp_path: Path) -> None:
    refused = {
        "there is no kernel": run(engine, tmp_path / "name", "alone", 1, "nothing"),
        "sizes must be 1 to 256": run(
            engine, tmp_path / "value", "alone", 1, "memory_sweep", sizes="0"
        ),
        "there is no option": run(engine, tmp_path / "key", "alone", 1, "memory_sweep", other="1"),
        "needs at least 2 ranks": run(engine, tmp_path / "few", "openmpi", 1, "links"),
    }
    for words, found in refused.items():
        assert found.code == 2
        assert words in found.failed["message"]


def test_simulated_clock_has_no_machine(engine: Engine, tmp_path: Path) -> None:
    program = [phase("machine", Kernel(name="memory_triad"))]
    found = engine.run(plan(tmp_path, [], program, clock=ClockKind.SIMULATED), "alone")
    assert found.code == 2
    assert "simulated clock" in found.failed["message"]


def test_long_events_go_into_the_journal(engine: Engine, tmp_path: Path) -> None:
    many = {"samples": "10000", "loads": "100", "sizes": "4"}
    [loads] = result(run(engine, tmp_path, "alone", 1, "memory_chase", **many))["series"]
    assert [len(point["samples"]) for point in loads["points"]] == [10000] * 4
    assert (tmp_path / "journal" / "events.0.jsonl").exists()
