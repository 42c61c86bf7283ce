"""Repeated results of one system: their interval, copies of one, and places that are shared."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from venturi.compat.io500.list_csv import read_list
from venturi.compat.io500.repetition import (
    RepetitionInterval,
    repetition_intervals,
    shared_places,
)
from venturi.model.published import Io500Result, Io500Score
from venturi.model.statistic import median_interval


def one_of(key: str, score: float, **more: Any) -> Io500Result:
    """A result that may stand in a list."""
    known = {
        "institution": "A Lab",
        "system": "Big",
        "filesystem": "Lustre",
        "nodes": 10,
        "procs": 80,
        "year": 2024,
        "ranked": True,
    }
    return Io500Result(
        key=key,
        source="list.csv",
        format="list",
        phases=[],
        published=Io500Score(),
        recomputed=Io500Score(bw=score, md=score, score=score),
        match=True,
        **known | more,
    )


def test_repeated_results_have_the_interval_of_their_median() -> None:
    scores = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
    found = repetition_intervals([one_of(str(n), score) for n, score in enumerate(scores)])
    wanted = median_interval(scores)
    assert wanted.coverage >= 0.95
    assert found == {
        str(n): RepetitionInterval(wanted.low, wanted.high, wanted.coverage, 7) for n in range(7)
    }


def test_one_result_has_no_interval() -> None:
    assert repetition_intervals([one_of("a", 10.0)]) == {}


@pytest.mark.parametrize(
    "other",
    [
        {"institution": "B Lab"},
        {"system": "Small"},
        {"filesystem": "DAOS"},
        {"nodes": 11},
        {"procs": 81},
        {"year": 2023},
        {"ranked": False},
        {"year": None},
        {"nodes": None},
        {"procs": None},
        {"system": ""},
    ],
    ids=lambda other: " ".join(f"{name} {value}" for name, value in other.items()),
)
def test_what_is_no_repetition_gives_no_interval(other: dict[str, Any]) -> None:
    both = [one_of("a", 10.0, **other), one_of("b", 12.0)]
    assert repetition_intervals(both) == {}
    assert len(repetition_intervals([*both, one_of("c", 13.0)])) == 2


def test_what_is_not_known_of_both_is_nothing_in_common() -> None:
    for name in ("nodes", "procs", "year"):
        both = [one_of(key, score, **{name: None}) for key, score in (("a", 10.0), ("b", 12.0))]
        assert repetition_intervals(both) == {}


def test_copies_of_one_result_count_once() -> None:
    both = [one_of("a", 324.541234), one_of("b", 324.54)]
    assert repetition_intervals(both) == {}
    found = repetition_intervals([*both, one_of("c", 300.0)])
    assert {one.count for one in found.values()} == {2}
    assert set(found) == {"a", "b", "c"}


def interval(low: float, high: float) -> RepetitionInterval:
    return RepetitionInterval(low, high, 0.5, 2)


def test_a_list_without_intervals_counts_on() -> None:
    assert shared_places([None] * 3) == [(1, False), (2, False), (3, False)]
    assert shared_places([]) == []


def test_what_overlaps_in_a_chain_shares_one_place() -> None:
    chain = [interval(8, 10), interval(6, 9), interval(5, 7), None, interval(1, 2)]
    assert shared_places(chain) == [(1, True)] * 3 + [(4, False), (5, False)]


def test_ends_that_touch_overlap() -> None:
    assert shared_places([interval(8, 10), interval(6, 8)]) == [(1, True)] * 2


def test_no_two_that_overlap_have_different_places_and_no_more_is_shared() -> None:
    chance = random.Random(7)
    for _ in range(500):
        rows = [
            interval(*sorted((chance.randint(1, 40), chance.randint(1, 40))))
            if chance.random() < 0.5
            else None
            for _ in range(chance.randint(1, 12))
        ]
        places = shared_places(rows)
        pairs = [
            (a, b)
            for a, b in itertools.combinations(range(len(rows)), 2)
            if (first := rows[a]) and (second := rows[b])
            and first.low <= second.high and second.low <= first.high
        ]  # fmt: skip
        for a, b in pairs:
            assert len({places[row] for row in range(a, b + 1)}) == 1
        for row in range(1, len(rows)):
            joined = any(a < row <= b for a, b in pairs)
            assert (places[row][0] == places[row - 1][0]) is joined
            if not joined:
                assert places[row][0] == row + 1
        for row, (place, is_shared) in enumerate(places):
            assert is_shared is ([one[0] for one in places].count(place) > 1), row


HEAD = "institution,system,bw,md,{}\nA,Big,4,9,{}\n"


def listed(column: str, value: str) -> Io500Result:
    (found,) = read_list(HEAD.format(column, value).encode(), "list.csv")
    assert isinstance(found, Io500Result)
    return found


@pytest.mark.parametrize(
    ("column", "value", "release", "year"),
    [
        ("release_id", "sc23", "SC23", 2023),
        ("release_id", "17", "", None),
        ("information_list_name", "isc24", "ISC24", 2024),
        ("list", "SCC19", "SCC19", 2019),
        ("bof", "autumn", "AUTUMN", None),
        ("bof", "NULL", "", None),
        ("bof", "\u202eSC23\u0007", "SC23", 2023),
        ("bof", "x" * 10_000, "X" * 24, None),
    ],
)
def test_the_list_that_a_result_came_out_with(
    column: str, value: str, release: str, year: int | None
) -> None:
    found = listed(column, value)
    assert (found.release, found.year) == (release, year)


@pytest.mark.parametrize(
    ("column", "value", "level"),
    [
        ("reproducibility_score", "fully_reproducible", "Fully Reproducible"),
        ("reproducibility", "LIMITED", "Limited"),
        ("reproducibility", "proprietary", "Proprietary"),
        ("reproducibility", "Gold", "Gold"),
        ("reproducibility_score", "3", ""),
        ("reproducibility", "-", ""),
    ],
)
def test_the_level_of_reproducibility(column: str, value: str, level: str) -> None:
    assert listed(column, value).reproducibility == level


def test_the_vendor_is_one_plain_line() -> None:
    found = listed("information_storage_vendor", '"<b>A\n\u202eB</b>"')
    assert found.storage_vendor == "<b>A B</b>"
