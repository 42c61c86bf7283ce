"""The bench: runs a workload, with a change or as it is, and says how long its I/O took.

Where starting takes longer than the work, a run does the work several times and says the median:
one stall of a busy machine is none of it then.
"""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from venturi.analyse.io_time import io_seconds
from venturi.derive.yaml_text import to_yaml
from venturi.execute.stopping import Stopping
from venturi.model.error import RunFailed, VenturiError
from venturi.model.machine import Machine
from venturi.model.record import PhaseRow, Record
from venturi.model.statistic import median
from venturi.model.workload import Workload
from venturi.plan.setting import RunSettings
from venturi.store.run import Request, perform, prepare
from venturi.tune.pace import hurried
from venturi.tune.search import Interrupted, TrialFailed, TrialRun

_PATIENCE = 10
"""A change may take so many times what the workload takes as it is."""
_PATIENCE_S = 30.0
_MOST_TIMES = 5
"""Repetitions of a run at most."""


@dataclass(frozen=True)
class BenchSetup:
    """Where and how everything runs."""

    directory: Path
    store: Path
    machine: Machine
    settings: RunSettings
    command: list[str]


class Bench:
    """Runs the workload as it is (None) and its changed forms, by name."""

    def __init__(
        self,
        place: BenchSetup,
        base: Workload,
        variants: Mapping[str, Workload],
        stopping: Stopping,
    ) -> None:
        self._place = place
        self._base = base
        self._variants = variants
        self._stopping = stopping
        self._patience_s: float | None = None
        self._times: dict[bool, int] = {}

    def measure(self, name: str | None, in_haste: bool = False) -> TrialRun:
        """One run, in haste without pauses.

        Raises TrialFailed for a change, VenturiError for the workload as it is.
        """
        if self._stopping.asked:
            raise Interrupted
        begin_s = time.monotonic()
        try:
            record = self._run(self._form(name, in_haste), self._times.get(in_haste, 1))
        except KeyboardInterrupt:  # before the run had begun: there is no record
            raise Interrupted from None
        except VenturiError as error:
            if self._stopping.asked:
                raise Interrupted from None
            if name is None:
                raise
            raise TrialFailed(error.message) from None
        cost_s = time.monotonic() - begin_s
        if record.interrupted:
            raise Interrupted
        if record.failure is not None or any(row.errors for row in record.phases):
            why = record.failure or "; ".join(record.verdict.reasons)
            if name is None:
                raise RunFailed(f"the workload as it is failed: {why}")
            raise TrialFailed(why)
        if name is None:
            self._times.setdefault(in_haste, repetitions_for(_end_s(record), cost_s))
            if self._patience_s is None:
                self._patience_s = max(_PATIENCE_S, _PATIENCE * cost_s)
        return TrialRun(_io_seconds(record), cost_s, _io_seconds_each(record)[0])

    def _form(self, name: str | None, in_haste: bool) -> Workload:
        form = self._base if name is None else self._guarded(self._variants[name])
        return hurried(form) if in_haste else form

    def _guarded(self, workload: Workload) -> Workload:
        """A change that is much slower than the workload is not waited for."""
        if workload.deadline is not None or self._patience_s is None:
            return workload
        return workload.model_copy(update={"deadline": f"{self._patience_s:.0f} s"})

    def _run(self, workload: Workload, times: int) -> Record:
        """The record of so many repetitions, which is not kept."""
        request = Request(
            workload=workload,
            workload_text=to_yaml(workload),
            settings=replace(self._place.settings, repetitions=times),
            machine=self._place.machine,
            directory=self._place.directory,
            store=self._place.store,
            command=self._place.command,
        )
        record = perform(prepare(request), lambda event: None)
        shutil.rmtree(self._place.store / "runs" / record.id, ignore_errors=True)
        return record


def repetitions_for(once_s: float, cost_s: float) -> int:
    """How often a run does work that takes `once_s` of the `cost_s` of a run: an odd number.

    The work with its staging, and as long again for removing it, takes no longer than the rest.
    """
    if once_s <= 0:
        return _MOST_TIMES
    fits = min(_MOST_TIMES, int((cost_s - once_s) / (2 * once_s)))
    return max(1, fits - 1 + fits % 2)


def _end_s(record: Record) -> float:
    """When the last phase ended, from the engine's start."""
    return max((row.at_s + row.seconds.total for row in record.phases), default=0.0)


def _io_seconds(record: Record) -> float:
    """The median over the repetitions."""
    return median(_io_seconds_each(record))


def _io_seconds_each(record: Record) -> list[float]:
    """Of every repetition, in their order; 0 where nothing was measured."""
    by_repetition: dict[int, list[PhaseRow]] = defaultdict(list)
    for row in record.phases:
        by_repetition[row.repetition].append(row)
    return [io_seconds(by_repetition[number]) for number in sorted(by_repetition)] or [0.0]
