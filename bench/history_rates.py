"""How often the history finds a change that is there, and one that is not: simulated histories.

Sixty sessions of five repetitions on a busy machine: repetitions vary log-normally by a share,
8 % of them meet contention (0.4 to 0.8 of the rate), sessions vary by 4 %. A change comes at
session 40, and counts as found up to three sessions from there. It needs no storage and half a
minute: python bench/history_rates.py [HISTORIES]
"""

from __future__ import annotations

import math
import random
import sys
import time

from venturi.analyse.change_point import change_points
from venturi.analyse.history import LEAST, _deviation
from venturi.model.statistic import median

SESSIONS, REPETITIONS, AT, NEAR = 60, 5, 40, 3
CONTENTION, BETWEEN = 0.08, 0.04
SPREADS = (0.02, 0.05, 0.15)
CHANGES = (0.0, 0.05, 0.08, 0.1, 0.15, 0.2)


def history(chance: random.Random, spread: float, change: float) -> list[float]:
    """The logarithms of the sessions' medians."""
    logs = []
    for session in range(SESSIONS):
        level = math.exp(chance.gauss(0.0, BETWEEN)) * (1.0 - change if session >= AT else 1.0)
        rates = []
        for _ in range(REPETITIONS):
            rate = level * math.exp(chance.gauss(0.0, spread))
            if chance.random() < CONTENTION:
                rate *= chance.uniform(0.4, 0.8)
            rates.append(rate)
        logs.append(math.log(median(rates)))
    return logs


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{count} histories each; elsewhere: those with a change where there is none")
    print("spread  change  found  elsewhere  deviation  ms per history")
    for spread in SPREADS:
        for change in CHANGES:
            chance = random.Random(f"{spread}/{change}")
            found = false = 0
            deviations, begin = [], time.process_time()
            for _ in range(count):
                logs = history(chance, spread, change)
                deviations.append(_deviation(logs))
                points = change_points(logs, math.log1p(LEAST))
                near = [at for at in points if abs(at - AT) <= NEAR] if change else []
                found += bool(near)
                false += len(points) > len(near[:1])
            spent_ms = 1000 * (time.process_time() - begin) / count
            share = f"{found / count:6.0%}" if change else "     –"
            print(
                f"{spread:6.0%}  {change:6.0%} {share} {false / count:10.1%} "
                f"{median(deviations):10.1%}  {spent_ms:6.0f}"
            )


if __name__ == "__main__":
    main()
