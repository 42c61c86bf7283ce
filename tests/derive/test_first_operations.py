"""Of long runs only the first operations are compared one by one: the others count as well."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from traced_run import REOPEN, TracedRun, derived, planned

from venturi.derive.operation import likeness
from venturi.model.operation import KINDS, Kind
from venturi.model.origin import Origin
from venturi.model.workload import Workload
from venturi.plan.stream import RequestStream
from venturi.report.coverage import likeness_text


def regular_at_first(seed: int) -> TracedRun:
    """A long regular part, and behind it one of any sizes."""
    chance = random.Random(seed)
    run = TracedRun(1, seed=seed)
    run.open(0, "in", REOPEN)
    for number in range(600):
        run.move(0, Kind.READ, "in", [(8 * number, 8)])
    run.close(0, "in")
    run.open(0, "out")
    at = 0
    for _ in range(chance.randint(400, 1200)):
        size = chance.randint(1, 1 + chance.choice([4, 4000]))
        run.move(0, Kind.WRITE, "out", [(at, size)])
        at += size
    run.close(0, "out")
    return run


def origin_of(found: Workload) -> Origin:
    assert found.origin is not None
    return found.origin


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("simplify", [False, True])
def test_what_lies_behind_the_first_operations_counts(
    seed: int, simplify: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "MOST_OPERATIONS", 500)
    run = regular_at_first(seed)
    found = derived(run, simplify)
    said = origin_of(found).likeness
    assert said is not None
    assert not said.is_whole
    made = RequestStream(planned(found).plan, 0).operations()
    ours = Counter((KINDS[row[1]].value, row[5]) for row in run.rows if row[5])
    theirs = Counter((one.kind.value, one.bytes) for one in made if one.bytes)
    assert said.requests == max(ours.total(), theirs.total())
    assert said.requests_alike == (ours & theirs).total()
    text = likeness_text(said)
    assert ("of all " in text) == (ours != theirs), text
    if not simplify:
        assert ours == theirs


def test_of_short_runs_nothing_more_is_counted() -> None:
    said = origin_of(derived(regular_at_first(1))).likeness
    assert said is not None
    assert said.is_whole
    assert (said.requests, said.requests_alike) == (0, 0)
