"""Programs with a planted problem among decoys: captured, derived, and the cause comes first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tune.slow_storage import slowed
from venturi.derive.workload import derive
from venturi.execute.launcher import machine_named
from venturi.model.plan import Interface
from venturi.model.tuning import Effect
from venturi.model.workload import Workload
from venturi.plan.setting import RunSettings
from venturi.sources.open import read_capture
from venturi.tune import search
from venturi.tune.bench import BenchSetup
from venturi.tune.catalogue import applicable, context_of
from venturi.tune.session import TuningRequest, tune

PLANTED = Path(__file__).parents[2] / "bench" / "planted"
DECOYS = 15
_ATTEMPTS = 5


def derived(
    cause: str, where: Path, numbers: dict[str, int], compiler: str, start: str
) -> Workload:
    """The proxy of one run of a planted program, which is compiled first."""
    numbers = {"COMPUTE_MS": 20, "DECOYS": DECOYS, "MENDED": 0, **numbers}
    defines = [f"-D{key}={value}" for key, value in numbers.items()]
    source, trace = str(PLANTED / f"{cause}.c"), where / "app.trace"
    subprocess.run(
        [*compiler.split(), *defines, source, "-o", "program"],
        cwd=where,
        check=True,
        timeout=600,
        stdout=subprocess.DEVNULL,
    )
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run(
        [
            sys.executable,
            "-m",
            "venturi",
            "capture",
            "-q",
            "-o",
            str(trace),
            "--",
            *start.split(),
            "./program",
        ],
        cwd=where,
        check=True,
        timeout=100,
        env={**os.environ, **allowed},
    )
    return derive(read_capture(trace), "app")


@pytest.mark.parametrize(
    ("cause", "count", "key", "slow", "file"),
    [
        ("stat_storm", 2000, "stats", "stat", "mesh.in"),
        ("many_opens", 1000, "opens", "open", "table.bin"),
    ],
)
def test_the_cause_comes_first_and_the_decoys_do_not(
    cause: str,
    count: int,
    key: str,
    slow: str,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "_MOST_ROUNDS", 4)
    workload = derived(cause, tmp_path, {"COUNT": count, "BYTES": 100}, "gcc -O1", "")
    workload = slowed(workload, slow, every=20)
    target = tmp_path / "target"
    target.mkdir()
    place = BenchSetup(
        target, tmp_path / "store", machine_named("local"), RunSettings(), ["venturi"]
    )
    first = tune(TuningRequest(workload, place, 3600), lambda state: None).trials[0]
    assert first.key == key
    assert first.effect is Effect.HELPS
    assert f"/{file} " in first.advice


@pytest.mark.parametrize(
    ("cause", "numbers", "compiler", "start", "change", "file"),
    [
        (
            "serial_gather",
            {"COUNT": 20, "BYTES": 100_000},
            "mpicc.openmpi -O1",
            "mpirun.openmpi --oversubscribe -np 2",
            "spread=rank",
            "state.dat",
        ),
        (
            "small_strided",
            {"COUNT": 20_000, "BYTES": 16},
            "h5pcc.mpich -shlib -O1",
            "mpirun.mpich -np 2",
            "collective=on",
            "field.h5",
        ),
        (
            "wrong_chunks",
            {"COUNT": 24, "BYTES": 8192},
            "h5cc -shlib -O1",
            "",
            "chunks=call",
            "series.h5",
        ),
    ],
)
def test_the_change_that_mends_a_parallel_program_is_looked_at_first(
    cause: str,
    numbers: dict[str, int],
    compiler: str,
    start: str,
    change: str,
    file: str,
    tmp_path: Path,
) -> None:
    # A stall of a busy machine in the middle of a loop makes two of it, which hides the cause.
    advice = ""
    for attempt in range(_ATTEMPTS):
        place = tmp_path / str(attempt)
        place.mkdir()
        advice = _first_advice(derived(cause, place, numbers, compiler, start), change)
        if f"/{file}" in advice:
            return
    pytest.fail(f"{change} does not name {file}: {advice or 'it is not looked at first'}")


def _first_advice(workload: Workload, change: str) -> str:
    """What a change says to do, if it is the one that is looked at first; else empty."""
    built = frozenset(interface.value for interface in Interface)
    candidates, _ = applicable(context_of(workload, RunSettings(), "ext4", built), RunSettings())
    return candidates[0].variant.advice if candidates[0].name == change else ""
