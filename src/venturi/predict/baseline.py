"""Simpler predictions beside the proxy's: bytes over peak, and the run copied call by call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from venturi.capture.proxy import ProxyRun
from venturi.derive.yaml_text import to_yaml
from venturi.model.document import parse_data
from venturi.model.error import VenturiError
from venturi.model.prediction import Baseline
from venturi.model.statistic import median
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import StepSpec, Workload
from venturi.predict.account import layers_of
from venturi.predict.cache import CachePreparation
from venturi.predict.cold import with_cold_input
from venturi.predict.conclude import Runs
from venturi.predict.replay import replay_of
from venturi.predict.subject import Proxy

TRANSFER_BYTES = 4 * 2**20
LEAST_BYTES = 64 * 2**20
"""Of each direction and all ranks: less would time the start."""
TIMES = 3
MOST_STEPS = 2000
"""A copy of more steps runs once: planning it takes its time."""


def peak_of(
    runs: Runs, like: ProxyRun, cache: CachePreparation, say: Callable[[str], None]
) -> list[Baseline]:
    """The baseline bytes / peak for the application of `runs`; none where it moves no bytes.

    The peak is that of our own engine on the same storage: as many ranks, a file for each, 4 MiB
    a request, as many bytes each way as the application moves (64 MiB at least); median of three.
    """
    first = runs.application[0][1]
    seconds = 0.0
    for key, moved in (
        ("write", first.activity.bytes_written),
        ("read", first.activity.bytes_read),
    ):
        if moved:
            say(f"baseline: large sequential {key}s")
            each = max(moved, LEAST_BYTES) // first.ranks
            workload = streaming(key, first.ranks, max(1, each // TRANSFER_BYTES))
            if cache is CachePreparation.DROP:
                workload = with_cold_input(workload)
            run = replace(like, workload=workload, text=to_yaml(workload), ranks=None)
            proxy = Proxy(replace(run, machine="local"), (Layer.POSIX,), cache)
            accounts = [proxy.run() for _ in range(TIMES)]
            rate = median([account.bytes_moved / account.seconds for account in accounts])
            seconds += moved / rate
    if seconds == 0.0:
        return []
    about = "the same bytes at the rate of sequential requests of 4 MiB, file per rank"
    return [_baseline("bytes / peak", about, seconds, runs)]


def replayed(
    captured: Captured,
    runs: Runs,
    like: ProxyRun,
    cache: CachePreparation,
    say: Callable[[str], None],
) -> list[Baseline]:
    """The baseline of the application's rehearsal, replayed; none where it cannot be.

    It has no loops and no guesses: what it misses is not the fault of the proxy's brevity.
    """
    workload = replay_of(captured, like.workload.name)
    if workload is None:
        return []
    layers = layers_of(workload)
    steps = sum(len(phase.do or []) for phase in phases_of(workload))
    if cache is CachePreparation.DROP:
        workload = with_cold_input(workload)
    run = replace(like, workload=workload, text=to_yaml(workload), ranks=None)
    say(f"baseline: call by call ({steps} steps)")
    proxy = Proxy(run, layers, cache)
    try:
        accounts = [proxy.run() for _ in range(TIMES if steps <= MOST_STEPS else 1)]
    except VenturiError as error:
        say(f"baseline: no replay: {error.message}")
        return []
    return [
        _baseline(
            "call by call",
            "a replay of one run of the application, each call a step of its own",
            median([account.seconds for account in accounts]),
            runs,
        )
    ]


def phases_of(workload: Workload) -> list[StepSpec]:
    """The phases at the top of a workload's programs."""
    return [
        step
        for steps in workload.program.values()
        for step in steps
        if not isinstance(step, str) and step.phase is not None
    ]


def _baseline(name: str, about: str, seconds: float, runs: Runs) -> Baseline:
    measured = median([account.seconds for _, account in runs.application])
    return Baseline(name=name, about=about, seconds=seconds, signed=seconds / measured - 1.0)


def streaming(key: str, ranks: int, count: int) -> Workload:
    """`count` requests of 4 MiB from each rank, one after the other, in a file of its own."""
    file: dict[str, Any] = {"path": "peak", "shared": "rank"}
    if key == "read":
        file["prestage"] = count * TRANSFER_BYTES
    first = {"create": "peak"} if key == "write" else {"open": "peak"}
    way = "to" if key == "write" else "from"
    move = {key: {way: "peak", "transfer": TRANSFER_BYTES, "count": count}}
    data = {
        "workload": 1,
        "name": f"peak-{key}",
        "groups": {"tasks": {"ranks": ranks}},
        "files": {"peak": file},
        "program": {"tasks": [{"phase": key, "do": [first, move, {"close": "peak"}]}]},
    }
    return parse_data(Workload, data)
