"""Probes of a store as a site shows them: last night by the baseline, and a page for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.probe import OPERATIONS, ProbeOperation, ProbeTarget
from venturi.model.probe_history import ProbeHistory
from venturi.model.result import digest_of
from venturi.model.site import SiteKeptProbe, SiteNightRow, SiteProbe, SiteProbeDay
from venturi.probe.baseline import learn
from venturi.probe.columns import Array
from venturi.probe.history import extent_of, history_of
from venturi.probe.keep import HOURS, rows_between
from venturi.probe.place import TARGET_NAME, probe_folder, target_of
from venturi.probe.rollup import DAY_NS, HOUR_NS, quantile_of
from venturi.probe.run_phase import may_touch, mount_of, runs_in
from venturi.probe.slowdown import CACHE_BELOW, level_of
from venturi.probe.span import Span
from venturi.site.run_index import KnownRun
from venturi.store.public import names_somebody
from venturi.store.seal import sha256_of

_NIGHT_BEGINS_H, _NIGHT_H = 20, 12
_MOST_DAYS = 60
_SLOW_FROM = 3.0
"""Slowdown from which on `level_of` calls an hour slow."""
_UNKNOWN_MACHINE = "local"
_HOST_DIGITS = 6
_DAYS_AROUND = 4


@dataclass(frozen=True)
class FoundProbe:
    """A target of a store, and where its page gets its data."""

    place: str
    """The number of its source, and its folder's name."""
    folder: Path
    kept: SiteKeptProbe
    runs: Mapping[Path, str]
    """Folders of runs that are shown and may be on its page, with the digests of the runs."""

    @property
    def inputs(self) -> str:
        """A digest of what its page is drawn from."""
        mount = mount_of(target_of(self.folder).directory)
        return digest_of(self.kept.to_data(), list(self.runs.values()), mount)

    def history(self) -> ProbeHistory:
        """60 days of minutes, a day of single measurements, and the runs that the site shows."""
        span = extent_of([self.folder], Span())
        single_ns = span.end_ns - DAY_NS
        runs = runs_in(dict.fromkeys(self.runs, False), single_ns, span.end_ns)
        return history_of([self.folder], span, runs, single_ns)


@dataclass(frozen=True)
class ProbedStore:
    """A store that may have probes."""

    number: int
    """Among the sources."""
    path: Path
    machine: str = ""
    """That its only machine file is of; empty: it has none, or several."""


def probes_of(
    store: ProbedStore, runs: Sequence[KnownRun], before: Mapping[str, SiteKeptProbe]
) -> tuple[list[FoundProbe], list[str]]:
    """Return the probes of a store, and a sentence for each that is not shown.

    They belong to the machine on which most of the store's runs were made; in a store without runs
    to that of its machine file. Of a target whose files are as `before` nothing is read anew.
    """
    own = [run for run in runs if run.place.startswith(f"{store.number}/")]
    most = sorted(Counter(run.machine for run in own).items(), key=lambda one: (-one[1], one[0]))
    machine = most[0][0] if most else store.machine or _own_machine()
    found, problems = [], []
    for path in sorted(probe_folder(store.path).glob(f"*/{TARGET_NAME}")):
        folder = path.parent
        try:
            target = target_of(folder)
            if any(map(names_somebody, (target.name, target.node_class))):
                problems.append(f"probe/{folder.name}: private: its name names a host or a user")
                continue
            inputs = digest_of(machine, _contents(folder))
            kept = before.get(f"{store.number}/{folder.name}")
            if kept is None or kept.inputs != inputs:
                kept = _kept(folder, target, machine, inputs)
        except (OSError, UserError) as error:
            why = error.message if isinstance(error, UserError) else str(error.strerror)
            problems.append(f"probe/{folder.name}: {why}")
            continue
        begin_ns = kept.end_ns - DAY_NS
        near = {
            store.path / "runs" / run.place.partition("/")[2]: run.digest
            for run in _around(own, begin_ns, kept.end_ns)
            if may_touch(run.started, begin_ns, kept.end_ns)
        }
        found.append(FoundProbe(f"{store.number}/{folder.name}", folder, kept, near))
    return found, problems


def _around(runs: Sequence[KnownRun], begin_ns: int, end_ns: int) -> list[KnownRun]:
    """Runs of the days around a time, by the letters of their dates: of 20 000 few are left.

    `may_touch` takes runs of two days before, and zones of time are a day apart at most.
    """
    first = _text(begin_ns - _DAYS_AROUND * DAY_NS)[:10]
    last = _text(end_ns + _DAYS_AROUND * DAY_NS)[:10]
    return [
        run for run in runs if run.started[4:5] != "-" or first <= run.started[:10] <= last
    ]  # a date without dashes is read as it is


def _contents(folder: Path) -> list[list[str]]:
    """The digests of all files of a target.

    A probe writes into memory that is its file, so the times of the file tell little.
    """
    return [
        [path.relative_to(folder).as_posix(), sha256_of(path)]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def _kept(folder: Path, target: ProbeTarget, machine: str, inputs: str) -> SiteKeptProbe:
    end_ns = extent_of([folder], Span()).end_ns
    usual = {
        operation: expected.value_s
        for operation, (expected, _) in learn(folder, target, end_ns).items()
        if expected is not None
    }
    night = _night(folder, target, machine, end_ns, usual)
    days = _days(folder, target, end_ns, usual)
    return SiteKeptProbe(
        inputs=inputs, end_ns=end_ns, night=night.model_copy(update={"days": days})
    )


def _days(
    folder: Path, target: ProbeTarget, end_ns: int, usual: Mapping[ProbeOperation, float]
) -> list[SiteProbeDay]:
    """The last days, each by the operation that was slowest on it."""
    begin_ns = end_ns - _MOST_DAYS * DAY_NS
    worst: dict[int, tuple[float, ProbeOperation]] = {}
    slow: dict[int, set[int]] = {}
    for kind in target.kinds:
        hours = rows_between(folder, HOURS, kind, begin_ns, end_ns)
        for number in np.unique(hours["operation"]):
            operation = OPERATIONS[int(number)]
            if not usual.get(operation):
                continue
            own = {name: values[hours["operation"] == number] for name, values in hours.items()}
            for hour, value_s in _medians(own, own["begin_ns"] // HOUR_NS).items():
                if value_s / usual[operation] >= _SLOW_FROM:
                    slow.setdefault(hour * HOUR_NS // DAY_NS, set()).add(hour)
            for day, value_s in _medians(own, own["begin_ns"] // DAY_NS).items():
                found = (value_s / usual[operation], operation)
                worst[day] = max(worst.get(day, found), found)
    return [
        SiteProbeDay(
            day=_text(day * DAY_NS)[:10],
            operation=operation,
            slowdown=slowdown,
            word=_word(slowdown),
            slow_hours=len(slow.get(day, ())),
        )
        for day, (slowdown, operation) in sorted(worst.items())
    ]


def _medians(rows: Mapping[str, Array], groups: Array) -> dict[int, float]:
    """The median of each group of rows, in seconds."""
    return {
        int(one): _quantile_s(rows["bin"][groups == one], rows["felt"][groups == one], 0.5)
        for one in np.unique(groups)
    }


def _own_machine() -> str:
    """What runs of this host would be called: probes of a store without runs are its own."""
    import socket

    return f"{_UNKNOWN_MACHINE}-{digest_of(socket.gethostname())[:_HOST_DIGITS]}"


def _night(
    folder: Path,
    target: ProbeTarget,
    machine: str,
    newest_ns: int,
    usual: Mapping[ProbeOperation, float],
) -> SiteProbe:
    """The last night, from 20:00 to 8:00 UTC, before the newest measurement or up to it."""
    shift_ns = _NIGHT_BEGINS_H * HOUR_NS
    begin_ns = (newest_ns - 1 - shift_ns) // DAY_NS * DAY_NS + shift_ns
    end_ns = min(begin_ns + _NIGHT_H * HOUR_NS, newest_ns)
    rows = []
    for kind in target.kinds:
        hours = rows_between(folder, HOURS, kind, begin_ns, end_ns)
        for number in np.unique(hours["operation"]):
            own = {name: values[hours["operation"] == number] for name, values in hours.items()}
            operation = OPERATIONS[int(number)]
            rows.append(_row(own, int(number), usual.get(operation)))
    return SiteProbe(
        machine=machine,
        target=target.name,
        node_class=target.node_class,
        begin=_text(begin_ns),
        end=_text(end_ns),
        newest=_text(newest_ns),
        rows=rows,
    )


def _row(hours: dict[str, Array], number: int, usual_s: float | None) -> SiteNightRow:
    """One operation: its night, and its slowest hour by the median."""
    p50_s, p95_s = (_quantile_s(hours["bin"], hours["felt"], share) for share in (0.5, 0.95))
    by_hour = [(value_s, at_ns) for at_ns, value_s in _medians(hours, hours["begin_ns"]).items()]
    slowest_s, slowest_ns = max(by_hour)
    slowdown = p50_s / usual_s if usual_s else None
    return SiteNightRow(
        operation=OPERATIONS[number],
        samples=int(hours["felt"].sum()),
        usual_s=usual_s,
        p50_s=p50_s,
        p95_s=p95_s,
        slowdown=slowdown,
        word=_word(slowdown),
        slowest=_text(slowest_ns),
        slowest_s=slowest_s,
        hours_s=[value_s for value_s, _ in by_hour],
    )


def _word(slowdown: float | None) -> str:
    """A whole night below the usual time means that a cache answered."""
    if slowdown is None:
        return "learning"
    return "cache?" if slowdown < CACHE_BELOW else level_of(slowdown)


def _quantile_s(bins: Array, counts: Array, share: float) -> float:
    return (quantile_of(bins, counts, share) or 0.0) / 1e9


def _text(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(timespec="minutes")
