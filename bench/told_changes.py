"""How often and when people are told of a change in a campaign's history: simulated nights.

A campaign of two points with three metrics each runs every night; its values vary log-normally. In
the nights 60 to 79 of ninety all of them are worse by a share. What is told of clean histories of
forty nights is counted as well. It needs no storage and some minutes:
python bench/told_changes.py [HISTORIES]
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "campaign")]

from simulated_night import night_results  # noqa: E402

from venturi.campaign.history_notice import history_news  # noqa: E402
from venturi.model.notice import ReportedChange  # noqa: E402
from venturi.model.result import Result  # noqa: E402
from venturi.model.statistic import median  # noqa: E402

NIGHTS, CLEAN, AT, OVER, BEFORE = 90, 40, 60, 80, 5


def told(seed: str, nights: int, spread: float, drop: float, first: int) -> dict[str, list[int]]:
    """The nights in which people are told, by what; looked at from the night `first` on."""
    chance = random.Random(seed)
    results: list[Result] = []
    reported: list[ReportedChange] = []
    heard: dict[str, list[int]] = {"regression": [], "recovered": []}
    for night in range(nights):
        level = 1 - drop if AT <= night < OVER else 1.0
        results += night_results(night, chance, spread, level, {})
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
