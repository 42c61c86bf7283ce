"""What is said of a proxy's likeness is what the operations are, one by one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest
from traced_run import MS, TracedRun, derived

from venturi.derive.operation.expansion import asked_by
from venturi.derive.operation.likeness import likeness_of_captures
from venturi.derive.operation.table import table_of
from venturi.model.likeness import Likeness
from venturi.model.operation import KINDS, Kind
from venturi.model.plan import Plan
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import RequestStream
from venturi.report.coverage import likeness_text

Call = tuple[int, Kind, str, int, int]
"""Rank, kind, file, offset and bytes."""


def program(seed: int) -> list[Call]:
    """Turns of writes and reads on some files, sizes and places of which may vary."""
    drawn = random.Random(seed)
    ranks, files = drawn.randint(1, 3), [f"f{n}" for n in range(drawn.randint(1, 4))]
    calls: list[Call] = []
    for rank in range(ranks):
        for name in files:
            calls.append((rank, Kind.OPEN, f"{name}.{rank}", -1, 0))
        step, at = drawn.choice([4096, 65536]), 0
        for turn in range(drawn.randint(3, 30)):
            for number, name in enumerate(files):
                if turn % (number + 1) == 0:
                    size = drawn.choice([step, step, step, step // 2])
                    calls.append((rank, Kind.WRITE, f"{name}.{rank}", at, size))
            at += step
        for name in files:
            calls.append((rank, Kind.CLOSE, f"{name}.{rank}", -1, 0))
    return calls


def run_of(calls: list[Call], think_ms: int = 0, prefix: str = "") -> TracedRun:
    """The run that makes these calls."""
    run = TracedRun(1 + max(call[0] for call in calls))
    for rank, kind, path, offset, size in calls:
        run.now[rank] += think_ms * MS * (kind is Kind.WRITE)
        run.call(rank, kind, prefix + path, offset, size, 0o1102 if kind is Kind.OPEN else 0)
    return run


def beside(left: TracedRun, right: TracedRun) -> Likeness:
    """The second run beside the first."""
    both = (left.captured(), right.captured())
    known = [{file.path for file in captured.trace.files} for captured in both]
    found = likeness_of_captures(*both, (known[0], known[1]))
    assert found is not None
    return found


def test_a_run_is_like_itself_by_other_names() -> None:
    for seed in range(20):
        calls = program(seed)
        found = beside(run_of(calls), run_of(calls, prefix="x"))
        assert found.is_equal
        assert found.alike == found.placed == found.ordered == len(calls)


def fewer_file(calls: list[Call], drawn: random.Random) -> list[Call]:
    gone = drawn.choice(calls)[2]
    return [call for call in calls if call[2] != gone] or calls[:-1]


def swapped(calls: list[Call], drawn: random.Random) -> list[Call]:
    turns = [n for n, call in enumerate(calls) if call[1] is Kind.WRITE]
    one, other = drawn.choice(
        [(a, b) for a in turns for b in turns if calls[a][0] == calls[b][0] and calls[a] < calls[b]]
    )
    found = list(calls)
    found[one], found[other] = found[other], found[one]
    return found


def averaged(calls: list[Call], drawn: random.Random) -> list[Call]:
    sizes = [call[4] for call in calls if call[1] is Kind.WRITE]
    mean = sum(sizes) // len(sizes) + drawn.randint(1, 7)
    return [(*call[:4], mean) if call[1] is Kind.WRITE else call for call in calls]


def moved(calls: list[Call], drawn: random.Random) -> list[Call]:
    turns = [n for n, call in enumerate(calls) if call[1] is Kind.WRITE]
    found = list(calls)
    which = drawn.choice(turns)
    rank, kind, path, offset, size = found[which]
    found[which] = (rank, kind, path, offset + 1, size)
    return found


Spoil = Callable[[list[Call], random.Random], list[Call]]


@pytest.mark.parametrize(
    ("spoil", "figure"),
    [(fewer_file, "alike"), (averaged, "alike"), (moved, "placed"), (swapped, "ordered")],
)
def test_what_is_spoilt_shows_in_its_figure(spoil: Spoil, figure: str) -> None:
    for seed in range(30):
        calls = program(seed)
        spoilt = spoil(calls, random.Random(seed))
        found = beside(run_of(calls), run_of(spoilt))
        assert not found.is_equal
        assert getattr(found, figure) < max(found.application, found.proxy), (seed, found)
        assert "one by one" not in likeness_text(found)


def test_operations_that_come_again_have_an_order_too() -> None:
    """a, b, a, c, a has the neighbours of a, c, a, b, a."""
    seen = 0
    for seed in range(200):
        drawn = random.Random(seed)
        few = [(0, Kind.WRITE, "f", 0, 1 + drawn.randrange(3)) for _ in range(drawn.randint(2, 9))]
        first = [(0, Kind.OPEN, "f", -1, 0), *few, (0, Kind.CLOSE, "f", -1, 0)]
        other = [first[0], *drawn.sample(few, len(few)), first[-1]]
        found = beside(run_of(first), run_of(other))
        assert found.alike == found.placed == len(first)
        assert (found.ordered == len(first)) is found.is_equal is (first == other), (first, other)
        seen += not found.is_equal
    assert seen > 100


def test_figures_fall_from_kind_to_place_to_order() -> None:
    for seed in range(30):
        drawn = random.Random(seed)
        spoilt = averaged(program(seed), drawn) if seed % 2 else program(seed + 1)
        found = beside(run_of(program(seed)), run_of(spoilt))
        assert found.alike >= found.placed >= found.ordered
        assert found.alike <= min(found.application, found.proxy)


def test_more_noise_is_less_like() -> None:
    """One request in a hundred that is different takes about one in a hundred away."""
    calls = [(0, Kind.WRITE, "f", turn * 4096, 4096) for turn in range(1000)]
    before = 1.0
    for noisy in (1, 10, 30, 100, 300):
        drawn = random.Random(noisy)
        which = set(drawn.sample(range(1000), noisy))
        other = [(*c[:4], 4000) if n in which else c for n, c in enumerate(calls)]
        found = beside(run_of(calls), run_of(other))
        assert found.alike == found.placed == 1000 - noisy
        assert 1 - 2 * noisy / 1000 <= found.ordered / 1000 < before
        before = found.ordered / 1000


def test_a_gap_that_is_missing_is_missed() -> None:
    calls = program(3)
    found = beside(run_of(calls, think_ms=20), run_of(calls))
    writes = sum(call[1] is Kind.WRITE for call in calls)
    assert found.is_equal
    assert found.seconds_between == pytest.approx(0.02 * writes, rel=0.05)
    assert found.proxy_seconds_between < 0.01


@pytest.mark.parametrize("seed", range(25))
def test_a_derived_workload_says_what_its_plan_does(seed: int) -> None:
    """Its plan, written out here in another way, has what the likeness says."""
    run = run_of(program(1000 + seed))
    workload = derived(run)
    assert workload.origin is not None
    said = workload.origin.likeness
    assert said is not None
    plan = make_plan(workload, RunSettings()).plan
    ours, theirs = _first_used(run), _of_plan(plan, said.ranks)
    assert said.is_equal == (ours == theirs)
    assert (said.application, said.proxy) == (len(ours), len(theirs))
    sizes = [Counter((kind, size) for _, kind, _, _, size in side) for side in (ours, theirs)]
    assert said.alike == (sizes[0] & sizes[1]).total()


def _numbered(calls: list[Call]) -> list[Call]:
    """The calls with files by the order of their first use."""
    names: dict[str, str] = {}
    return [(r, k, names.setdefault(p, str(len(names))), o, n) for r, k, p, o, n in calls]


def _first_used(run: TracedRun) -> list[Call]:
    table = table_of(run.captured())
    side = asked_by(table, range(table.ranks), len(table) + 1)
    rows = zip(side.rank, side.kind, side.file, side.offset, side.bytes, strict=True)
    return _numbered([(int(r), KINDS[k], str(f), int(o), int(n)) for r, k, f, o, n in rows])


def _of_plan(plan: Plan, ranks: int) -> list[Call]:
    found: list[Call] = []
    for rank in range(ranks):
        for one in RequestStream(plan, rank).operations():
            kind = Kind.OPEN if one.kind.value == "create" else Kind(one.kind.value)
            offset = one.offset if kind in (Kind.READ, Kind.WRITE) else None
            found.append((rank, kind, one.path, -1 if offset is None else offset, one.bytes or 0))
    return _numbered(found)
