"""Every reason for a level, one at a time; what labels say; what numbers may be used for."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from typing import Any

import pytest

from analyse.phase import phase
from venturi.analyse.label import LabelFacts, labels_of, run_labels_of
from venturi.analyse.verdict import VerdictFacts, verdict_of
from venturi.model.event import CacheState, StoppedBy
from venturi.model.machine import Bound
from venturi.model.record import Level, MetricValue, PhaseRow, Substitution
from venturi.model.statistic import median_interval
from venturi.model.verdict import Suspicion, SuspicionCause, Threshold, UseKind

WRITE = {"write": (10, 100)}
READ = {"read": (10, 100)}


def metric(*values: float) -> MetricValue:
    """A rate with its interval."""
    found = median_interval(values)
    return MetricValue(
        value=found.median,
        unit="B/s",
        median=found.median,
        low=found.low,
        high=found.high,
        n=len(values),
        coverage=found.coverage,
        values=list(values),
    )


def six(path: str, kinds: dict[str, tuple[int, int]], **changes: Any) -> list[PhaseRow]:
    """A phase in six repetitions."""
    return [phase(path, 0.02, n, kinds, **changes) for n in range(6)]


GOOD = VerdictFacts(
    phases=six("w", WRITE),
    repetitions=6,
    metrics={"w": metric(100, 101, 102, 103, 104, 105)},
    labels={"w": []},
    clock_resolution_ns=1.0,
)


def test_a_good_run_is_valid_however_short_its_phases_are() -> None:
    verdict = verdict_of(GOOD)
    assert verdict.level is Level.VALID
    assert verdict.valid
    assert all(use.allowed for use in verdict.use)
    assert verdict.reasons == ["6 repetitions, intervals within ±2% of the medians, no errors"]


@pytest.mark.parametrize("seed", range(5))
def test_repetitions_that_depend_on_the_ones_before_are_told(seed: int) -> None:
    """A disk that fills: each repetition is slower; in another order, it is chance."""
    chance = random.Random(seed)
    falling = [200 * 0.97**n * math.exp(chance.gauss(0, 0.01)) for n in range(10)]
    rows = [phase("w", 0.02, n, WRITE) for n in range(10)]
    verdict = verdict_of(
        replace(GOOD, phases=rows, repetitions=10, metrics={"w": metric(*falling)})
    )
    [note] = verdict.notes
    assert re.search(r"depend on the ones before them: .* of w is 0\.[3-9]\d above", note)
    assert verdict.level is Level.VALID
    mixed = [falling[n] for n in (4, 9, 1, 6, 3, 8, 0, 5, 7, 2)]
    other = verdict_of(replace(GOOD, phases=rows, repetitions=10, metrics={"w": metric(*mixed)}))
    assert other.notes == []


@pytest.mark.parametrize(
    ("change", "level", "reason"),
    [
        ({"repetitions": 5}, Level.INDICATIVE, "5 repetitions"),
        ({"metrics": {"w": metric(1, 2, 3, 4, 5, 6)}}, Level.INDICATIVE, "reaches ±71%"),
        (
            {"phases": six("w", WRITE, target_change="now it is ext4")},
            Level.INVALID,
            "now it is ext4",
        ),
        ({"phases": six("w", WRITE, stopped_by=StoppedBy.DEADLINE)}, Level.INDICATIVE, "deadline"),
        (
            {"phases": six("w", READ, cache=CacheState.WARM), "cold_wanted": frozenset({"w"})},
            Level.INDICATIVE,
            "to be dropped, but the state was warm",
        ),
        (
            {"phases": six("w", READ, cache=CacheState.UNKNOWN), "cold_wanted": frozenset({"w"})},
            Level.INDICATIVE,
            "to be dropped, but the state was unknown",
        ),
        ({"phases": six("w", READ, cache=CacheState.MIXED)}, Level.INDICATIVE, "unknown parts"),
        (
            {
                "phases": [
                    *six("w", READ, cache=CacheState.COLD)[:3],
                    *six("w", READ, cache=CacheState.WARM)[3:],
                ]
            },
            Level.INDICATIVE,
            "changed between repetitions (cold and warm)",
        ),
        ({"clock_offset_s": 0.1}, Level.INDICATIVE, "clocks of the nodes"),
        (
            {"noticed": [Suspicion(cause=SuspicionCause.GAP, what="nobody ran for 60 s")]},
            Level.INDICATIVE,
            "nobody ran for 60 s",
        ),
        (
            {"bounds": [Bound(operation="write", bytes_per_second=100.0)]},
            Level.INDICATIVE,
            "above the known bound",
        ),
        ({"phases": []}, Level.INVALID, "no phase"),
        ({"failure": "rank 1 was killed"}, Level.INVALID, "rank 1 was killed"),
        ({"target_changed": "remounted"}, Level.INVALID, "target changed"),
        ({"phases": [phase("w", 2, 0, WRITE, errors=3)]}, Level.INVALID, "3 operations failed"),
        ({"clock_resolution_ns": 1e8}, Level.INVALID, "resolutions of the clock"),
    ],
)
def test_each_reason(change: dict[str, Any], level: Level, reason: str) -> None:
    verdict = verdict_of(replace(GOOD, **change))
    assert verdict.level is level
    assert not verdict.valid
    assert any(reason in text for text in verdict.reasons)
    assert not verdict.may(UseKind.RANK)
    assert verdict.may(UseKind.COMPARE) is (level is not Level.INVALID)


@pytest.mark.parametrize(
    ("rows", "facts", "labels"),
    [
        (six("p", READ, cache=CacheState.COLD), {}, ["cold"]),
        (six("p", READ, cache=CacheState.WARM), {}, ["cached"]),
        (six("p", READ, cache=CacheState.MIXED), {}, ["partly cached"]),
        (six("p", READ, cache=CacheState.UNKNOWN), {}, ["cache unknown"]),
        (six("p", READ, cache=CacheState.NONE), {}, []),
        (six("p", WRITE), {}, []),
        (six("p", WRITE, flushed="none"), {}, ["not flushed"]),
        (six("p", WRITE, flushed="flush"), {}, ["not flushed"]),
        (six("p", {"stat": (9, 0)}, cache=CacheState.WARM), {}, ["cached"]),
        (six("p", {"create": (9, 0), "stat": (1, 0)}, cache=CacheState.WARM), {}, []),
        (six("p", {"exec": (1, 0)}), {}, ["caches of its command unknown"]),
        (six("p", WRITE), {"file_system": "tmpfs"}, ["in memory"]),
        (six("p", WRITE), {"file_system": "ramfs"}, ["in memory"]),
        (six("p", WRITE), {"interfaces": frozenset({"null"})}, ["null interface"]),
        (
            six("p", WRITE),
            {"interfaces": frozenset({"null", "posix"})},
            ["null interface in part"],
        ),
        (six("p", WRITE), {"interfaces": frozenset({"simulated"})}, ["simulated"]),
    ],
)
def test_labels_say_what_was_measured(
    rows: list[PhaseRow], facts: dict[str, Any], labels: list[str]
) -> None:
    assert labels_of(rows, LabelFacts(**{"file_system": "xfs", **facts})) == {"p": labels}


def test_labels_of_the_run_say_how() -> None:
    swapped = Substitution(file="f", wanted="hdf5", used="posix", why="x")
    facts = LabelFacts(substituted=[swapped, swapped], faults=1, ranks=64, cpus=2)
    told = run_labels_of(facts)
    assert told == ["posix in place of hdf5", "faults injected", "64 ranks on 2 cores"]
    assert run_labels_of(LabelFacts(ranks=2, cpus=2)) == []


@pytest.mark.parametrize(
    ("labels", "may"),
    [
        (["cold"], True),
        (["not flushed"], True),
        (["in memory"], False),
        (["simulated"], False),
        (["cache unknown"], False),
        (["null interface in part"], False),
    ],
)
def test_labels_do_not_lower_validity_and_may_bar_a_ranking(labels: list[str], may: bool) -> None:
    verdict = verdict_of(replace(GOOD, labels={"w": labels}))
    assert verdict.level is Level.VALID
    assert verdict.may(UseKind.RANK) is may


def test_rules_of_a_workload_take_the_place_of_repetitions_and_decide_on_its_ranking() -> None:
    once = replace(GOOD, repetitions=1, metrics={"w": metric(100)}, name="suite", rules=2)
    kept = verdict_of(once)
    assert kept.level is Level.VALID
    assert kept.may(UseKind.RANK)
    use = kept.use_for(UseKind.RANK)
    assert use is not None
    assert use.rule_set == "suite"
    broken = verdict_of(replace(once, broken_rules=["the stonewall was 2 s"]))
    assert broken.level is Level.INDICATIVE
    use = broken.use_for(UseKind.RANK)
    assert use is not None
    assert use.broken[0] == "the stonewall was 2 s"
    six_times = verdict_of(replace(GOOD, name="suite", rules=2, broken_rules=["too short"]))
    assert six_times.level is Level.VALID
    assert not six_times.may(UseKind.RANK)


def test_thresholds_pass_only_on_a_valid_run() -> None:
    facts = replace(GOOD, thresholds={"w": Threshold(at_least=90)})
    assert [row.outcome.value for row in verdict_of(facts).thresholds] == ["PASS"]
    doubtful = verdict_of(replace(facts, repetitions=3))
    assert [row.outcome.value for row in doubtful.thresholds] == ["UNDECIDED"]
    missed = replace(facts, repetitions=3, thresholds={"w": Threshold(at_least=200)})
    assert [row.metric for row in verdict_of(missed).failed_thresholds] == ["w"]
