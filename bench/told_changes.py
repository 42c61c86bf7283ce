"""How often and when people are told of a change in a campaign's history: simulated nights.

A campaign of two points with three metrics each runs every night; its values vary log-normally. In
the nights 60 to 79 of ninety all of them are worse by a share. What is told of clean histories of
forty nights is counted as well. It needs no storage and some minutes:
python bench/told_changes.py [HISTORIES]
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter

from venturi.campaign.history_notice import history_news
from venturi.model.notice import ReportedChange
from venturi.model.output import Better
from venturi.model.result import Measure, Result, ResultSource, SourceKind
from venturi.model.statistic import median

NIGHTS, CLEAN, AT, OVER, BEFORE = 90, 40, 60, 80, 5
METRICS = {"write": 500.0, "read": 700.0, "create": 2.0}


def session(night: int, chance: random.Random, spread: float, level: float) -> list[Result]:
    """What one night measures."""
    results = []
    for point in (1, 2):
        metrics = {}
        for name, usual in METRICS.items():
            is_time = name == "create"
            value = usual * (1 / level if is_time else level)
            metrics[name] = Measure(
                unit="s" if is_time else "MiB/s",
                better=Better.LOWER if is_time else Better.HIGHER,
                values=[value * math.exp(chance.gauss(0.0, spread))],
            )
        results.append(
            Result(
                id=f"{night}-{point}",
                name="nightly",
                started=f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:15:0{point}+00:00",
                machine="m",
                session=f"night-{night}",
                campaign="nightly",
                step="run",
                parameters={"point": point},
                ranks=1,
                nodes=1,
                work="w",
                source=ResultSource(kind=SourceKind.COMMAND, tool="command"),
                level="INDICATIVE",
                reasons=[],
                metrics=metrics,
                facts={},
            )
        )
    return results


def told(seed: str, nights: int, spread: float, drop: float, first: int) -> dict[str, list[int]]:
    """The nights in which people are told, by what; looked at from the night `first` on."""
    chance = random.Random(seed)
    results: list[Result] = []
    reported: list[ReportedChange] = []
    heard: dict[str, list[int]] = {"regression": [], "recovered": []}
    for night in range(nights):
        results += session(night, chance, spread, 1 - drop if AT <= night < OVER else 1.0)
        if night >= first:
            news = history_news(results, reported)
            reported = news.changes
            for event in dict.fromkeys(one.event.value for one in news.happenings):
                heard[event].append(night)
    return heard


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for spread in (0.03, 0.06, 0.1):
        many = 5 * count
        clean = sum(
            bool(told(f"clean {n}", CLEAN, spread, 0.0, 0)["regression"]) for n in range(many)
        )
        print(
            f"nights vary by {spread:.0%}, {CLEAN} clean ones: {clean} of {many} told", flush=True
        )
        for drop in (0.1, 0.2, 0.3):
            every = [told(f"{n}", NIGHTS, spread, drop, AT - BEFORE) for n in range(count)]
            first = [min(one["regression"], default=NIGHTS) - AT for one in every]
            over = [min(one["recovered"]) - OVER for one in every if one["recovered"]]
            often = Counter(len(one["regression"]) for one in every)
            again = Counter(len(one["recovered"]) for one in every)
            print(
                f"  {drop:.0%} worse: told {median(first):g} nights later (at most {max(first)}), "
                f"notices {dict(sorted(often.items()))}; recovery {median(over):g} (at most "
                f"{max(over)}), notices {dict(sorted(again.items()))}",
                flush=True,
            )


if __name__ == "__main__":
    main()
