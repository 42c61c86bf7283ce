"""Runs of records keep the order of their sizes: a journal's header, page and sum."""

from __future__ import annotations

import numpy as np
import pytest
from traced_run import MS, TracedRun, check_exact, check_one_by_one, derived, moves_of, steps_of

from venturi.derive.operation.records import Form, form_of
from venturi.model.operation import Kind

JOURNAL = [4, 4096, 4]


def places(sizes: list[int], at: int = 0) -> list[tuple[int, int]]:
    """Requests of these sizes, one behind the other."""
    ends = np.cumsum(sizes).tolist()
    return [(at + end - size, size) for end, size in zip(ends, sizes, strict=True)]


def journals(counts: list[int]) -> TracedRun:
    """A file in each turn, with so many records behind a header."""
    run = TracedRun(1)
    for turn, count in enumerate(counts):
        path = f"journal_{turn}"
        run.open(0, path)
        run.move(0, Kind.WRITE, path, places([512, *JOURNAL * count]))
        run.call(0, Kind.SYNC, path)
        run.close(0, path)
        run.meet(20 * MS)
    return run


def test_a_journal_is_written_as_it_was() -> None:
    run = journals([20] * 10)
    found = derived(run)
    check_one_by_one(run, found)
    lead, body = moves_of(found)
    assert (lead.transfer, lead.size) == ("512 B", "512 B")
    assert body.table == [[0, 4], [4, 4096], [4100, 4]]
    assert (body.at, body.segments) == ("512 B", 20)


def test_a_journal_of_other_lengths_each_time_too() -> None:
    run = journals([20 + turn * 7 % 10 for turn in range(10)])
    found = derived(run)
    check_one_by_one(run, found)
    assert len(steps_of(found)) <= 12


def test_sizes_without_a_period_are_no_records() -> None:
    run = TracedRun(1)
    sizes = [run.p_value.choice(JOURNAL) for _ in range(90)]
    run.open(0, "f")
    run.move(0, Kind.WRITE, "f", places(sizes))
    run.close(0, "f")
    found = derived(run)
    check_exact(run, found)
    assert not any(move.segments for move in moves_of(found))


@pytest.mark.parametrize(
    ("sizes", "form"),
    [
        ([4, 8] * 5, Form((), (4, 8))),
        ([9, *[4, 8, 4] * 4], Form((9,), (4, 8, 4))),
        ([4, 8] * 2, None),  # twice is no rule
        ([4, 8, 4, 8, 4, 8, 9], None),  # another one at the end
        ([9] * 5 + [4, 8] * 5, None),  # too much before
    ],
)
def test_the_shortest_form(sizes: list[int], form: Form | None) -> None:
    assert form_of(np.array(sizes)) == form


@pytest.mark.parametrize("head", [[], [32], [32, 8]])
def test_a_log_that_is_written_ahead_goes_on_from_turn_to_turn(head: list[int]) -> None:
    run = TracedRun(1)
    run.open(0, "log")
    at = 0
    for turn in range(16):
        count = 9 + turn * 7 % 10
        sizes = [*(head if turn == 0 else []), *[24, 4096] * count]
        run.move(0, Kind.WRITE, "log", places(sizes, at))
        run.call(0, Kind.SYNC, "log")
        at += sum(sizes)
    run.close(0, "log")
    found = derived(run)
    check_one_by_one(run, found)
    assert len(steps_of(found)) <= 12
