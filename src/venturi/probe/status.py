"""What users feel on each target now: read from rings and kept files, never from the storage."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from venturi.model.probe import (
    LEARNING_HOURS,
    OPERATIONS,
    ProbeExpected,
    ProbeOperation,
    ProbeRow,
    ProbeStatistic,
    ProbeStatus,
    ProbeTarget,
    ProbeTargetStatus,
    ProbeWindow,
    ProbeWorkerState,
)
from venturi.probe.baseline import DRIFTED, Learned, baseline_of, reference_of
from venturi.probe.columns import Array
from venturi.probe.cost import operations_of
from venturi.probe.keep import samples_between
from venturi.probe.place import ring_path, target_of
from venturi.probe.ring import (
    CACHE_UNKNOWN,
    CACHED,
    FAILED,
    MISSED,
    SAMPLE,
    RingHeader,
    is_held,
    read_header,
    read_samples,
)
from venturi.probe.rollup import MINUTE_NS
from venturi.probe.sample import is_felt, joined
from venturi.probe.slowdown import WINDOWS_S, statistic_ns, word_of

_MINUTES = 30
_LONGEST_NS = WINDOWS_S[-1] * 10**9

Clock = Callable[[], int]


def status_of(
    folders: Sequence[Path],
    statistic: ProbeStatistic = ProbeStatistic.P50,
    clock: Clock = time.time_ns,
) -> ProbeStatus:
    """Return what each target's rings and files say."""
    now_ns = clock()
    targets = [_target_status(folder, statistic, now_ns) for folder in folders]
    return ProbeStatus(at_ns=now_ns, statistic=statistic, targets=targets)


def _target_status(folder: Path, statistic: ProbeStatistic, now_ns: int) -> ProbeTargetStatus:
    target = target_of(folder)
    learned = baseline_of(folder, target, now_ns)
    references = reference_of(folder)
    workers: list[ProbeWorkerState] = []
    rows: list[ProbeRow] = []
    for kind in target.kinds:
        path = ring_path(folder, kind)
        if not path.exists():
            continue
        header, alive = read_header(path), is_held(path)
        workers.append(_worker_state(path, header, alive))
        begin_ns = now_ns - _LONGEST_NS
        samples = joined(samples_between(folder, kind, begin_ns, now_ns + MINUTE_NS))
        for operation in operations_of([kind]):
            own = samples[samples["operation"] == OPERATIONS.index(operation)]
            flying = OPERATIONS[header.in_flight_operation or 0] is operation
            age_s = header.in_flight_s() if alive and flying else 0.0
            rows.append(
                _Row(operation, own, statistic, now_ns).row(
                    age_s, learned, references.get(operation)
                )
            )
    return ProbeTargetStatus(
        target=target, workers=workers, rows=rows, warnings=_warnings(target, workers, rows)
    )


class _Row:
    """The numbers of one operation, from its samples of four hours."""

    def __init__(
        self, operation: ProbeOperation, samples: Array, statistic: ProbeStatistic, now_ns: int
    ) -> None:
        self._operation = operation
        self._samples = samples
        self._statistic = statistic
        self._now_ns = now_ns
        self._felt = samples[is_felt(samples)]

    def row(
        self, in_flight_s: float, learned: Learned, reference: ProbeExpected | None
    ) -> ProbeRow:
        expected, hours = learned.get(self._operation, (None, 0))
        windows = [self._window(seconds, expected) for seconds in WINDOWS_S]
        cached = self._cached_share()
        value_s = expected.value_s if expected is not None else None
        p95 = statistic_ns(self._felt["response_ns"], ProbeStatistic.P95)
        last = float(self._felt["response_ns"][-1]) / 1e9 if len(self._felt) else None
        drift = None
        if expected is not None and reference is not None and reference.value_s > 0:
            drift = expected.value_s / reference.value_s
        return ProbeRow(
            operation=self._operation,
            last_s=last,
            in_flight_s=in_flight_s,
            expected=expected,
            reference=reference,
            drift=drift,
            learning_hours=None if expected is not None else min(hours, LEARNING_HOURS),
            windows=windows,
            p95_4h_s=p95 / 1e9 if p95 is not None else None,
            errors_4h=self._count(FAILED),
            missed_4h=self._count(MISSED),
            cached_share=cached,
            minutes_s=self._minutes(),
            word=word_of([one.slowdown for one in windows], in_flight_s, value_s, cached),
        )

    def _window(self, seconds: int, expected: ProbeExpected | None) -> ProbeWindow:
        begin_ns = self._now_ns - seconds * 10**9
        values = self._felt["response_ns"][self._felt["scheduled_ns"] >= begin_ns]
        value = statistic_ns(values, self._statistic)
        slowdown = None
        if value is not None and expected is not None and expected.value_s > 0:
            slowdown = value / 1e9 / expected.value_s
        return ProbeWindow(
            seconds=seconds,
            samples=len(values),
            value_s=value / 1e9 if value is not None else None,
            slowdown=slowdown,
        )

    def _count(self, flag: int) -> int:
        return int(np.count_nonzero(self._samples["flags"] & flag))

    def _cached_share(self) -> float | None:
        if self._operation not in (ProbeOperation.MD_READ, ProbeOperation.DATA_READ):
            return None
        flags = self._samples["flags"][is_felt(self._samples)]
        known = flags[(flags & (CACHE_UNKNOWN | MISSED)) == 0]
        return float(np.mean((known & CACHED) != 0)) if len(known) else None

    def _minutes(self) -> list[float | None]:
        """Medians of the last half hour; minutes without a sample are None."""
        age = (self._now_ns - self._felt["scheduled_ns"]) // MINUTE_NS
        found: list[float | None] = []
        for minute in range(_MINUTES - 1, -1, -1):
            values = self._felt["response_ns"][age == minute]
            found.append(float(np.median(values)) / 1e9 if len(values) else None)
        return found


def _worker_state(path: Path, header: RingHeader, alive: bool) -> ProbeWorkerState:
    _, _, last = read_samples(path, max(0, header.head - 1))
    last_ns = SAMPLE.unpack_from(last)[0] if len(last) >= SAMPLE.size else 0
    ended = header.state if header.state.startswith("stopped") else "ended"
    return ProbeWorkerState(
        kind=header.kind,
        state=header.state if alive or header.state == "new" else ended,
        is_alive=alive,
        prepared=min(1.0, header.prepared / header.wanted),
        preparation_error=header.preparation_error,
        scheduled=header.head - header.first,
        done=header.done,
        flagged=header.flagged,
        errors=header.errors,
        interval_s=header.interval_ns / 1e9,
        backed_off=header.step_ns > header.normal_step_ns,
        clock_steps=header.clock_steps,
        foreign_files=header.foreign,
        last_sample_ns=max(0, last_ns),
    )


def _warnings(
    target: ProbeTarget, workers: list[ProbeWorkerState], rows: list[ProbeRow]
) -> list[str]:
    found = []
    for worker in workers:
        name = f"{target.name} {worker.kind.value}"
        if worker.preparation_error:
            why = os.strerror(worker.preparation_error)
            found.append(f"{name}: preparation fails and is tried again: {why}")
        if worker.backed_off:
            found.append(f"{name}: at a tenth of the rate, because the storage is sick")
        if worker.foreign_files:
            count = worker.foreign_files
            found.append(f"{name}: {count} files in the pool's place are not the probe's")
    for row in rows:
        if row.drift is not None and row.drift > DRIFTED:
            found.append(
                f"{target.name} {row.operation.value}: the baseline is {row.drift:.1f} times the "
                "reference: what counts as usual has become slower"
            )
    return found
