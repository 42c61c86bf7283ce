"""The bench: runs a workload, with a change or as it is, and says how long its I/O took."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from venturi.analyse.io_time import io_seconds
from venturi.derive.yaml_text import to_yaml
from venturi.execute.stopping import Stopping
from venturi.model.error import RunFailed, VenturiError
from venturi.model.machine import Machine
from venturi.model.record import Record
from venturi.model.workload import Workload
from venturi.plan.setting import Settings
from venturi.store.run import Request, perform, prepare
from venturi.tune.search import Interrupted, Run, TrialFailed

_PATIENCE = 10
"""A change may take so many times what the workload takes as it is."""
_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Place:
    """Where and how everything runs."""

    directory: Path
    store: Path
    machine: Machine
    settings: Settings
    command: list[str]


class Bench:
    """Runs the workload as it is (None) and its changed forms, by name, once each time."""

    def __init__(
        self, place: Place, base: Workload, variants: Mapping[str, Workload], stopping: Stopping
    ) -> None:
        self._place = place
        self._base = base
        self._variants = variants
        self._stopping = stopping
        self._patience_s: float | None = None

    def measure(self, name: str | None) -> Run:
        """One run. Raises TrialFailed for a change, VenturiError for the workload as it is."""
        if self._stopping.asked:
            raise Interrupted
        begin_s = time.monotonic()
        try:
            record = self._run(self._base if name is None else self._guarded(self._variants[name]))
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
        if name is None and self._patience_s is None:
            self._patience_s = max(_PATIENCE_S, _PATIENCE * cost_s)
        return Run(io_seconds(record.phases), cost_s)

    def _guarded(self, workload: Workload) -> Workload:
        """A change that is much slower than the workload is not waited for."""
        if workload.deadline is not None or self._patience_s is None:
            return workload
        return workload.model_copy(update={"deadline": f"{self._patience_s:.0f} s"})

    def _run(self, workload: Workload) -> Record:
        """The record of one repetition, which is not kept."""
        request = Request(
            workload=workload,
            workload_text=to_yaml(workload),
            settings=replace(self._place.settings, repetitions=1),
            machine=self._place.machine,
            directory=self._place.directory,
            store=self._place.store,
            command=self._place.command,
        )
        record = perform(prepare(request), lambda event: None)
        shutil.rmtree(self._place.store / "runs" / record.id, ignore_errors=True)
        return record
