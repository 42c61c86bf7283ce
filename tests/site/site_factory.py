"""Results for tests of the site: sessions that get worse, failed runs, machines, lists."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from venturi.model.output import Better
from venturi.model.result import Measure, Result, ResultSource, SourceKind
from venturi.store.place import make_store
from venturi.store.result import keep

FIRST_DAY = datetime(2026, 1, 1, 2, 15)
GIB = 2.0**30


def result(day: int, name: str = "quick", machine: str = "alpha", **more: Any) -> Result:
    """A run of a day; its figures follow from what it is, so they are the same each time."""
    noise = random.Random(f"{day} {name} {machine} {more.get('step')} {more.get('parameters')}")
    level = more.pop("scale", 1.0) * (0.75 if day >= more.pop("slower_from", 10_000) else 1.0)
    started = FIRST_DAY + timedelta(days=day, minutes=more.pop("minute", 0))
    tail = f"{noise.getrandbits(32):08x}"
    values = [2 * GIB * level * (1 + 0.02 * noise.gauss(0, 1)) for _ in range(3)]
    defaults: dict[str, Any] = {
        "id": f"{started:%Y%m%d-%H%M%S}-run-{tail}",
        "name": name,
        "started": f"{started.isoformat()}+00:00",
        "machine": machine,
        "session": f"session-{day}",
        "parameters": {"transfer": "1 MiB"},
        "ranks": 4,
        "work": "0123456789abcdef",
        "source": ResultSource(kind=SourceKind.RUN, tool="venturi", version="0.1.0"),
        "level": "VALID",
        "metrics": {
            "write": Measure(unit="B/s", better=Better.HIGHER, values=values),
            "restart": Measure(
                unit="s", better=Better.LOWER, values=[8 / level for _ in values], condition="cold"
            ),
        },
        "facts": {
            "host": "login1.alpha.example",
            "directory": "/scratch/somebody",
            "file system": "lustre",
            "kernel": "6.1.0-42" if day < 60 else "6.1.0-43",
        },
    }
    return Result(**{**defaults, **more})


def store_of(place: Path, results: Iterable[Result]) -> Path:
    """A store with these results."""
    make_store(place)
    for one in results:
        assert keep(place, one, {})
    return place


def sessions(count: int = 90, slower_from: int = 60, **more: Any) -> list[Result]:
    """A run each day, slower by a quarter from one day on."""
    return [result(day, slower_from=slower_from, **more) for day in range(count)]


def scaling_study(machine: str = "alpha") -> list[Result]:
    """18 configurations of 6 repetitions each, in one session."""
    return [
        result(
            40,
            "scaling",
            machine,
            minute=number * 6 + repetition,
            ranks=ranks,
            scale=ranks**0.8 / (1 if transfer != "4 KiB" else 5),
            parameters={"transfer": transfer},
            session="study",
            step="sweep",
            repetition=repetition + 1,
        )
        for number, (ranks, transfer) in enumerate(
            (ranks, transfer)
            for ranks in (1, 2, 4, 8, 16, 32)
            for transfer in ("4 KiB", "1 MiB", "16 MiB")
        )
        for repetition in range(6)
    ]


def io500_list(count: int = 365) -> str:
    """A list as IO500 gives it: many systems over the years, some of 10 nodes."""
    noise = random.Random(500)
    head = (
        "information_institution,information_system,information_filesystem_type,"
        "information_client_nodes,information_client_total_procs,information_submission_date,"
        "information_system_classification,information_storage_vendor,release_id,"
        "reproducibility_score," + ",".join(f"io500_{name}" for name in (*_BANDWIDTHS, *_RATES))
    )
    rows = [head]
    for number in range(count):
        nodes = 10 if number % 4 == 0 else noise.choice((1, 4, 16, 32, 64, 128, 512))
        scale = nodes**0.7 * noise.lognormvariate(0, 0.8)
        kind = "production" if number % 3 else "research"
        place = f"Institute {number % 90:02},System {number:03},{noise.choice(_FILE_SYSTEMS)}"
        values = [round(scale * noise.lognormvariate(1, 0.4), 4) for _ in _BANDWIDTHS]
        values += [round(20 * scale * noise.lognormvariate(1, 0.4), 4) for _ in _RATES]
        year = 2018 + number % 9
        figures = ",".join(map(str, values))
        listed = f"{_VENDORS[number % 3]},isc{year % 100},{_LEVELS[number % 5 % 3]}"
        rows.append(f"{place},{nodes},{nodes * 16},{year}-06-01,{kind},{listed},{figures}")
    return "\n".join(rows) + "\n"


_FILE_SYSTEMS = ("Lustre", "BeeGFS", "DAOS", "Spectrum Scale", "WekaFS")
_VENDORS = ("Megware", "DDN", "")
_LEVELS = ("fully reproducible", "Limited", "")
_BANDWIDTHS = ("ior_easy_write", "ior_easy_read", "ior_hard_write", "ior_hard_read")
_RATES = (
    "mdtest_easy_write",
    "mdtest_easy_stat",
    "mdtest_easy_delete",
    "mdtest_hard_write",
    "mdtest_hard_stat",
    "mdtest_hard_read",
    "mdtest_hard_delete",
    "find_mixed",
)
