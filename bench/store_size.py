"""What a store of six thousand runs costs: listing it, and the page of its history.

    python bench/store_size.py [RUNS]

The store is made first (1 000 points times 6 runs, sixty sessions). Times are those of the whole
command, processor seconds, the second time that it is called.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from venturi.model.output import Better
from venturi.model.result import Measure, Result, ResultSource, SourceKind
from venturi.store.result import keep

SESSIONS = 60


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        store = Path(name)
        for number in range(runs):
            session, point = divmod(number, max(runs // SESSIONS, 1))
            began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=session, seconds=point)
            keep(store, result(session, point, began, chance), {})
        for words in (("results", "ls"), ("results", "history", "-o", f"{name}/page.html")):
            for _ in range(2):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(
                    [sys.executable, "-m", "venturi", *words],
                    env={**os.environ, "VENTURI_STORE": name},
                    capture_output=True,
                    check=True,
                )
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            print(f"{' '.join(words[:2])}: {spent:.2f} s, {len(done.stdout)} bytes, {runs} runs")


def result(session: int, point: int, began: datetime, chance: random.Random) -> Result:
    """One run of a campaign that is run every day; one value, and what a result says beside it."""
    return Result(
        id=f"{began:%Y%m%d-%H%M%S}-bench-{session:04d}{point:04d}",
        name="bench",
        started=began.isoformat(),
        machine="alpha",
        session=f"day-{session}",
        campaign="bench",
        step="run",
        point=f"run-{point:04d}",
        repetition=1,
        parameters={"tasks": point // 6 + 1, "transfer": "1 MiB"},
        ranks=4,
        work="",
        source=ResultSource(kind=SourceKind.COMMAND, tool="ior"),
        level="INDICATIVE",
        metrics={
            "write": Measure(
                unit="B/s",
                better=Better.HIGHER,
                values=[1e9 * (1 + point) * chance.lognormvariate(0, 0.05)],
            )
        },
        facts={"kernel": "6.1", "CPU": "one", "host": "node1"},
    )


if __name__ == "__main__":
    main()
