"""The search on machines whose times are made up: who wins, who is believed, when it ends."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from venturi.model.tuning import Effect, TrialPair, TuningStage
from venturi.tune.bench import repetitions_for
from venturi.tune.ranking import gain_of, sign_test
from venturi.tune.search import (
    FINALISTS,
    Interrupted,
    PriorKnowledge,
    Search,
    SearchState,
    TrialFailed,
    TrialRun,
    pairs_needed,
)


class Machine:
    """Runs take what their change says, times noise; the clock goes on by that."""

    def __init__(self, ratios: dict[str, float], noise: float, seed: int) -> None:
        self.ratios = ratios
        self.elapsed_s = 0.0
        self.asked: list[str | None] = []
        self.fails: set[str] = set()
        self.ends_at_s = float("inf")
        self.pauses_s = 0.0
        self.hasty = 0
        self._noise = noise
        self._random = random.Random(seed)

    def measure(self, name: str | None, in_haste: bool = False) -> TrialRun:
        if self.elapsed_s >= self.ends_at_s:
            raise Interrupted
        self.asked.append(name)
        if name in self.fails:
            raise TrialFailed("it does not start")
        ratio = 1.0 if name is None else self.ratios[name]
        io_s = ratio * self._random.lognormvariate(0.0, self._noise)
        cost_s = io_s + 0.1 + (0.0 if in_haste else self.pauses_s)
        self.elapsed_s += cost_s
        self.hasty += in_haste
        return TrialRun(io_s, cost_s, io_s)

    def search(self, budget_s: float, seed: int = 1, suspects: Sequence[str] = ()) -> SearchState:
        keys = {name: name.partition("=")[0] for name in self.ratios}
        begin_s = self.elapsed_s
        search = Search(
            keys,
            self.measure,
            lambda: self.elapsed_s - begin_s,
            budget_s,
            seed,
            known=PriorKnowledge(self.pauses_s, suspects),
        )
        return search.run()


def many(**good: float) -> dict[str, float]:
    """Twenty changes that do nothing, and some that do."""
    return {f"k{i}=1": 1.0 for i in range(20)} | {f"{name}=1": r for name, r in good.items()}


@pytest.mark.parametrize("seed", range(20))
def test_a_large_gain_is_found_among_many_changes(seed: int) -> None:
    machine = Machine(many(good=0.3), 0.3, seed)
    state = machine.search(150, seed)
    assert "good=1" in state.finalists
    gain = gain_of(state.final("good=1"), len(state.finalists))
    assert gain is not None
    assert gain.high < 1
    assert machine.elapsed_s <= 150 * 1.05


def test_luck_is_not_believed() -> None:
    """Where nothing helps, at most 1 search in 20 says that something does, noise or not."""
    wrong = 0
    for seed in range(60):
        state = Machine(many(), 0.2, seed).search(150, seed)
        judged = len(state.finalists)
        assert judged
        wrong += any(_effect(state.final(name), judged) is Effect.HELPS for name in state.finalists)
    assert wrong <= 6  # 3 are expected at most; more than 6 come in 3 of 100 such tests


def _effect(pairs: list[TrialPair], judged: int) -> Effect:
    from venturi.tune import ranking

    return ranking._effect(pairs, gain_of(pairs, judged), judged)


def test_what_chose_is_not_what_counts() -> None:
    state = Machine(many(good=0.5), 0.2, 3).search(200)
    for name in state.finalists:
        assert len(state.final(name)) >= pairs_needed(len(state.finalists))
        assert all(pair.stage is TuningStage.FINAL for pair in state.final(name))
        assert all(pair.stage is not TuningStage.FINAL for pair in state.seen(name))


def test_finalists_are_of_different_keys() -> None:
    ratios = many() | {f"size={n}": 0.4 for n in range(6)} | {"sync=end": 0.5}
    state = Machine(ratios, 0.05, 4).search(300)
    keys = [name.partition("=")[0] for name in state.finalists]
    assert len(keys) == len(set(keys)) == FINALISTS
    assert {"size", "sync"} <= set(keys)


def test_a_change_stands_always_beside_a_run_without() -> None:
    machine = Machine(many(good=0.5), 0.1, 5)
    machine.search(200)
    asked = machine.asked
    for place, name in enumerate(asked):
        if name is not None:
            assert None in asked[max(0, place - 2) : place + 3]


def test_a_change_that_fails_is_left_alone() -> None:
    machine = Machine(many(good=0.5), 0.1, 6)
    machine.fails = {"good=1"}
    state = machine.search(200)
    assert machine.asked.count("good=1") == 1
    assert state.failures == {"good=1": "it does not start"}
    assert "good=1" not in state.finalists


@pytest.mark.parametrize("ends_at_s", [0, 5, 40, 90])
def test_an_interrupted_search_keeps_what_it_knows(ends_at_s: float) -> None:
    machine = Machine(many(good=0.2), 0.1, 7)
    machine.ends_at_s = ends_at_s
    state = machine.search(150)
    assert state.interrupted
    assert sum(len(pairs) for pairs in state.pairs.values()) <= len(machine.asked)
    assert (len(state.pairs) > 3) == (ends_at_s > 10)


def test_few_changes_are_measured_afresh_at_once() -> None:
    state = Machine({"a=1": 0.5, "b=1": 1.0}, 0.1, 8).search(100)
    assert not state.seen("a=1")
    assert len(state.final("a=1")) >= pairs_needed(2)


@pytest.mark.parametrize("seed", range(20))
def test_a_suspect_is_judged_although_others_promise_more(seed: int) -> None:
    """What would be asked of it is answered, be the answer that it gains nothing."""
    machine = Machine(many(a=0.5, b=0.6, c=0.7, bad=1.0), 0.05, seed)
    state = machine.search(300, seed, suspects=("bad=1", "none=1"))
    assert state.finalists == ["a=1", "b=1", "bad=1"]
    assert _effect(state.final("bad=1"), FINALISTS) is Effect.NO_GAIN
    assert machine.search(300, seed).finalists == ["a=1", "b=1", "c=1"]


@pytest.mark.parametrize("busy_runs", range(2, 8))
def test_time_that_a_busy_machine_gives_back_is_spent(busy_runs: int) -> None:
    """Starts take 3 s at first: as long as they do, the budget suffices for no verdict."""
    machine = Machine({"good=1": 0.4}, 0.05, 12)
    quick, starts = machine.measure, iter([3.0] * busy_runs)

    def measure(name: str | None, in_haste: bool = False) -> TrialRun:
        run, busy_s = quick(name, in_haste), next(starts, 0.0)
        machine.elapsed_s += busy_s
        return TrialRun(run.io_s, run.cost_s + busy_s, run.first_s)

    machine.measure = measure  # type: ignore[method-assign]
    state = machine.search(42)
    assert _effect(state.final("good=1"), 1) is Effect.HELPS
    assert machine.elapsed_s < 42 + 4


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("bad", "judged"), [(0.9, "bad=1"), (1.3, "a=1")])
def test_where_one_is_judged_it_is_a_likely_suspect(bad: float, judged: str, seed: int) -> None:
    """Not what a single look spoke for; but the look must not speak against the suspect."""
    machine = Machine({"bad=1": bad, "a=1": 0.3, "b=1": 0.4, "c=1": 1.0}, 0.01, seed)
    state = machine.search(18, seed, suspects=("bad=1",))
    assert state.finalists == [judged]
    assert _effect(state.final(judged), 1) is Effect.HELPS


def test_a_small_budget_judges_nothing() -> None:
    state = Machine(many(good=0.2), 0.1, 9).search(3)
    for name in state.finalists:
        assert _effect(state.final(name), len(state.finalists)) is Effect.UNJUDGED


@pytest.mark.parametrize("budget_s", [15, 17, 20, 25])
def test_where_time_is_short_the_likeliest_is_judged(budget_s: float) -> None:
    """A run takes 1.1 s, so screening all of 21 would leave no time for a final."""
    machine = Machine({"good=1": 0.4} | many(), 0.05, 10)
    state = machine.search(budget_s)
    assert state.finalists == ["good=1"]
    assert _effect(state.final("good=1"), 1) is Effect.HELPS
    assert machine.elapsed_s < budget_s + 4


def test_a_slow_first_start_gives_nothing_up() -> None:
    machine = Machine({"good=1": 0.4} | many(), 0.05, 11)
    quick, starts = machine.measure, iter([9.0])

    def measure(name: str | None, in_haste: bool = False) -> TrialRun:
        run, cold_s = quick(name, in_haste), next(starts, 0.0)
        machine.elapsed_s += cold_s
        return TrialRun(run.io_s, run.cost_s + cold_s, run.first_s)

    machine.measure = measure  # type: ignore[method-assign]
    state = machine.search(30)
    assert state.finalists == ["good=1"]
    assert _effect(state.final("good=1"), 1) is Effect.HELPS


@pytest.mark.parametrize("seed", range(20))
def test_what_pauses_leave_no_time_for_is_looked_at_without_them(seed: int) -> None:
    """A run takes 21 s, of which 20 are pauses: in ten minutes 28 of them, for 21 changes."""
    machine = Machine(many(good=0.3), 0.2, seed)
    machine.pauses_s = 20.0
    state = machine.search(600, seed)
    assert state.in_haste
    assert machine.hasty > 30
    assert _effect(state.final("good=1"), len(state.finalists)) is Effect.HELPS
    assert len(state.base_s) + machine.hasty < len(machine.asked)
    assert machine.elapsed_s < 600 * 1.05 + 4 * 21


def test_where_there_is_time_nothing_is_done_in_haste() -> None:
    machine = Machine(many(good=0.3), 0.2, 1)
    machine.pauses_s = 5.0
    assert not machine.search(600).in_haste
    assert machine.hasty == 0


@pytest.mark.parametrize(
    ("once_s", "cost_s", "times"),
    [(0.0, 1.0, 5), (0.1, 1.5, 5), (0.1, 0.9, 3), (0.1, 0.6, 1), (0.1, 0.3, 1), (2.0, 3.0, 1)],
)
def test_short_work_is_done_several_times_in_a_run(
    once_s: float, cost_s: float, times: int
) -> None:
    assert repetitions_for(once_s, cost_s) == times


def test_the_sign_test_is_exact() -> None:
    assert sign_test([0.5] * 6) == pytest.approx(2 / 64)
    assert sign_test([0.5] * 7 + [2.0]) == pytest.approx(2 * 9 / 256)
    assert sign_test([1.0, 1.0]) == 1.0
    assert [pairs_needed(k) for k in (1, 2, 3, 4)] == [6, 7, 7, 8]
