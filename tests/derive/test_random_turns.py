"""Records that are read, changed and written back at random places."""

from __future__ import annotations

import re

import pytest
from traced_run import REOPEN, TracedRun, check_exact, derived, moves_of, steps_of

from venturi.model.operation import Kind


def updates(places: list[int], writes: bool = True) -> TracedRun:
    """Records that are read and, perhaps, written back, one after the other."""
    run = TracedRun(1)
    run.open(0, "base", REOPEN)
    for place in places:
        run.move(0, Kind.READ, "base", [(place, 4096)])
        if writes:
            run.move(0, Kind.WRITE, "base", [(place, 4096)])
        else:
            run.call(0, Kind.DATA_SYNC, "base")
    run.close(0, "base")
    return run


@pytest.mark.parametrize("are_distinct", [True, False])
def test_a_record_is_written_where_it_was_read(are_distinct: bool) -> None:
    chance = TracedRun(1).p_value
    numbers = list(range(300))
    chance.shuffle(numbers)
    places = [4096 * (n if are_distinct else n // 2) for n in numbers]
    run = updates(places)
    found = derived(run)
    check_exact(run, found)
    read, write = moves_of(found)
    assert read.at == write.at
    assert ("permute(" if are_distinct else "draw(") in str(read.at)
    assert [step.in_ for step in steps_of(found) if step.for_] == [300]


def test_places_that_only_go_forward_are_not_random() -> None:
    run = TracedRun(1)
    steps = [4096 * run.p_value.randint(1, 9) for _ in range(200)]
    run = updates([sum(steps[:i]) for i in range(200)])
    found = derived(run)
    check_exact(run, found)
    assert not any(
        "permute(" in str(move.at) or "draw(" in str(move.at) for move in moves_of(found)
    )


def test_pages_that_turns_take_stay_whole() -> None:
    """Two scans of one file, of which one is now and then ahead: no request crosses pages."""
    run = TracedRun(1)
    run.open(0, "base", REOPEN)
    page = 0
    for turn in range(90):
        for _ in range(1 + (run.p_value.random() < 0.3)):
            run.move(0, Kind.WRITE, "base", [(4096 * (1000 + turn), 4096)])
        run.move(0, Kind.READ, "base", [(4096 * page, 4096)])
        page += run.p_value.random() < 0.7
    run.close(0, "base")
    found = derived(run)
    made = check_exact(run, found)
    assert made is not None
    for move in moves_of(found):
        for number in re.findall(r"(\d+) B", f"{move.at}"):
            assert int(number) % 512 == 0, move
