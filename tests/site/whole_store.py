"""One store that has all that a site shows: months of runs, a study, IO500, probes, failures."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from site_factory import io500_list, result, scaling_study, sessions, store_of
from test_site_io500 import own_run

from probe.conftest import Place
from probe.history import put, samples_of
from venturi.compat.io500.list_csv import read_list
from venturi.model.probe import OPERATIONS, ProbeOperation
from venturi.model.published import Io500Result
from venturi.probe.columns import Array
from venturi.probe.keep import keep
from venturi.probe.rollup import DAY_NS, HOUR_NS
from venturi.store.published import save

SESSIONS, SLOWER_FROM = 90, 60
MACHINES = ("alpha", "beta", "gamma")
TARGETS = ("home", "scratch")
PROBE_DAYS, STEP_NS = 60, 60 * 10**9
PROBE_BEGIN_NS = int(datetime(2026, 1, 31, 6, tzinfo=UTC).timestamp()) * 10**9
PROBE_END_NS = PROBE_BEGIN_NS + PROBE_DAYS * DAY_NS
LAST_NIGHT_NS = PROBE_END_NS - 10 * HOUR_NS
"""20:00 of the last evening: measurements end at 6:00."""
SLOW = ProbeOperation.MD_CREATE
"""What took five times its time on `scratch` in the last night."""
SCORE, NODES = 50.0, 10
FAILED = 5


@dataclass
class NamedPlace(Place):
    """A target's folder that is called by its target."""

    name: str = "t"

    @property
    def folder(self) -> Path:
        return self.store / "probe" / self.name


def probed(name: str) -> Array:
    """A measurement a minute for 60 days; the last night of `scratch` was slow."""
    count = PROBE_DAYS * DAY_NS // STEP_NS
    found = samples_of(0, count, PROBE_BEGIN_NS, STEP_NS, 1e6, seed=TARGETS.index(name) + 1)
    if name == "scratch":
        slow = found["scheduled_ns"] >= LAST_NIGHT_NS
        slow &= found["operation"] == OPERATIONS.index(SLOW)
        for field in ("service_ns", "response_ns"):
            found[field][slow] *= 5
    return found


def put_probe(store: Path, name: str) -> None:
    """Sixty days of a target, kept as a probe that still runs keeps them."""
    directory = store.parent / name
    directory.mkdir()
    settings = {"name": name, "interval_s": 60.0, "kinds": ["metadata"], "ring_days": 60}
    place = NamedPlace(store, directory, settings, name=name)
    ring = put(place, probed(name))
    keep(place.folder, clock=lambda: PROBE_END_NS)
    shutil.rmtree(place.folder / "samples", ignore_errors=True)
    assert ring.exists()


def published() -> list[Io500Result]:
    """A list of 365 results, in the form of the lists of IO500."""
    found = [one for one in read_list(io500_list(365).encode(), "list.csv")
             if isinstance(one, Io500Result)]  # fmt: skip
    assert len(found) == 365
    return found


def whole_store(place: Path) -> Path:
    """A store with all of it on three machines."""
    own = sessions(SESSIONS, SLOWER_FROM)
    own += [one for machine in MACHINES[1:] for one in sessions(30, 10_000, machine=machine)]
    own += scaling_study()
    own += [result(day, minute=30, level="INVALID", metrics={}, session=f"failed-{day}")
            for day in range(80, 80 + FAILED)]  # fmt: skip
    own.append(own_run(SCORE, nodes=NODES))
    store = store_of(place, own)
    for one in published():
        save(store, one)
    for name in TARGETS:
        put_probe(store, name)
    return store
