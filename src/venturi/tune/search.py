"""The search: screen all changes, halve the field, and measure the best afresh.

Nothing is ever measured alone: beside each run with a change stands one without it. Looks that
choose are not looks that count: who is lucky in the screening is measured again in the final, and
only that is the result. How many final pairs there are is a matter of time alone: what base and
change take together says nothing of which of them is faster, so the sign test stays valid.
Where pauses would leave no time to look at all changes, looks that choose are made in haste:
without pauses, on both sides of a pair.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from venturi.model.error import VenturiError
from venturi.model.statistic import median
from venturi.model.tuning import TrialPair, TuningStage

FINALISTS = 3
"""Changes that are measured afresh at most, of different keys."""
_SCREEN_SHARE = 0.45
"""Of the budget that screening may take."""
_LOOKS = 1.5
"""Runs that the screening takes for each change: two changes share one run without."""
_LONG_PAUSES = 0.25
"""Pauses are left out only where they are at least this share of what a run costs."""
_MOST_ROUNDS = 8
"""Of the final: two pairs of each finalist a round."""
ERROR_RATE = 0.05
"""Chance that any change is said to help while none does."""


class TrialFailed(Exception):
    """A run with a change failed; the message says why."""


class Interrupted(Exception):
    """The user wants the search to end."""


@dataclass(frozen=True)
class TrialRun:
    """What one run gave: its I/O time, and what it cost of the budget."""

    io_s: float
    """The median, where it did its work several times."""
    cost_s: float
    first_s: float
    """I/O time of the first time."""


Measure = Callable[[str | None, bool], TrialRun]
"""Runs the change of this name, or (None) the workload as it is; in haste (True) without pauses.
Raises TrialFailed for a change that cannot be run, and Interrupted."""


def pairs_needed(judged: int) -> int:
    """Pairs from which on a sign test can tell, at the error rate shared by `judged` changes.

    All n pairs go one way by chance with probability 2 * 2^-n.
    """
    return math.ceil(math.log2(2 * judged / ERROR_RATE))


@dataclass
class SearchState:
    """What is known so far; complete at every moment."""

    pairs: dict[str, list[TrialPair]] = field(default_factory=dict)
    stage: dict[str, TuningStage] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    base_s: list[float] = field(default_factory=list)
    """Without those in haste."""
    runs: int = 0
    in_haste: bool = False
    """The looks that chose were made without pauses."""
    finalists: list[str] = field(default_factory=list)
    interrupted: bool = False
    broken: str = ""
    """Why the workload as it is could not be run any more."""
    doing: str = ""
    """The stage and what runs now, for the display."""

    def seen(self, name: str) -> list[TrialPair]:
        """The pairs that chose."""
        return [pair for pair in self.pairs.get(name, []) if pair.stage is not TuningStage.FINAL]

    def final(self, name: str) -> list[TrialPair]:
        """The pairs that count."""
        return [pair for pair in self.pairs.get(name, []) if pair.stage is TuningStage.FINAL]

    def ratio(self, name: str) -> float:
        """The median ratio of the pairs that chose; infinite where there are none."""
        ratios = [pair.ratio for pair in self.seen(name)]
        return median(ratios) if ratios else math.inf


@dataclass(frozen=True)
class PriorKnowledge:
    """What is known of a workload before it runs."""

    pauses_s: float = 0.0
    """What a run in haste saves; 0: there is no haste."""
    suspects: Sequence[str] = ()
    """Changes that answer what costs most, as far as is known; one of them is judged."""


class Search:
    """One search over named changes; each name belongs to a key."""

    def __init__(
        self,
        keys: dict[str, str],
        measure: Measure,
        elapsed: Callable[[], float],
        budget_s: float,
        seed: int = 1,
        watch: Callable[[SearchState], None] = lambda state: None,
        known: PriorKnowledge = PriorKnowledge(),
    ) -> None:
        self._keys = keys
        self._measure = measure
        self._elapsed = elapsed
        self._budget_s = budget_s
        self._random = random.Random(seed)
        self._watch = watch
        self._pauses_s = known.pauses_s
        self._suspects = frozenset(known.suspects)
        self._cost_s: dict[tuple[str | None, bool], list[float]] = {}
        self.state = SearchState()

    def run(self) -> SearchState:
        """Search until the budget is spent or there is nothing left to ask.

        Raises VenturiError where the workload as it is cannot be run even once.
        """
        try:
            self._one(None, "first run")
            names = list(self._keys)
            if names and not self._affordable(names[:1]):
                # What starts cold takes longer; nothing is given up because of that.
                self._one(None, "second run")
            self._hurry(len(names))
            if len(names) > FINALISTS:
                names = self._race(self._screen(names)) or self._affordable(names[:1])
            self._final(self._chosen(names))
        except Interrupted:
            self.state.interrupted = True
        except VenturiError as error:
            if not self.state.pairs:
                raise
            self.state.broken = error.message
        return self.state

    def _hurry(self, changes: int) -> None:
        """Looks will be made in haste where there are pauses, and no time for them."""
        cost_s = self._expected_s(None)
        short = _LOOKS * changes * cost_s > _SCREEN_SHARE * self._budget_s
        if short and changes > FINALISTS and self._pauses_s > _LONG_PAUSES * cost_s:
            self.state.in_haste = True
            self._one(None, TuningStage.SCREEN)

    def _one(self, name: str | None, stage: TuningStage | str) -> TrialRun:
        self.state.doing = f"{stage}: {name or 'as it is'}"
        self._watch(self.state)
        in_haste = self._in_haste(stage)
        run = self._measure(name, in_haste)
        self.state.runs += 1
        self._cost_s.setdefault((name, in_haste), []).append(run.cost_s)
        if name is None and not in_haste:
            self.state.base_s.append(run.io_s)
        return run

    def _in_haste(self, stage: TuningStage | str) -> bool:
        return self.state.in_haste and stage in (TuningStage.SCREEN, TuningStage.RACE)

    def _changed(self, name: str, stage: TuningStage) -> TrialRun | None:
        """A run with a change; None where it failed, now or before."""
        if name in self.state.failures:
            return None
        try:
            return self._one(name, stage)
        except TrialFailed as why:
            self.state.failures[name] = str(why)
            return None

    def _pair(
        self, name: str, stage: TuningStage, base: TrialRun, changed: TrialRun | None
    ) -> None:
        if changed is None:
            return
        pair = TrialPair(
            stage=stage,
            base_s=base.io_s,
            changed_s=changed.io_s,
            base_first_s=base.first_s,
            changed_first_s=changed.first_s,
        )
        self.state.pairs.setdefault(name, []).append(pair)
        self.state.stage[name] = stage

    def _expected_s(self, name: str | None, stage: TuningStage = TuningStage.FINAL) -> float:
        """What a run will cost, as far as is known."""
        in_haste = self._in_haste(stage)
        as_it_is = self._cost_s.get((None, in_haste), [0.0])
        known = self._cost_s.get((name, in_haste)) or as_it_is
        if known is as_it_is and len(known) > 1:
            known = known[1:]  # The first one started cold.
        return sum(known) / len(known)

    def _around(self, names: Sequence[str], stage: TuningStage) -> None:
        """One run of each of up to two changes, and one of the workload between them."""
        first, *second = names
        if not second and self._random.random() < 0.5:
            base = self._one(None, stage)
            self._pair(first, stage, base, self._changed(first, stage))
            return
        before = self._changed(first, stage)
        base = self._one(None, stage)
        self._pair(first, stage, base, before)
        for name in second:
            self._pair(name, stage, base, self._changed(name, stage))

    def _round(self, names: Sequence[str], stage: TuningStage, until_s: float) -> bool:
        """A look at each, two by two; False where the time until then did not suffice."""
        for place in range(0, len(names), 2):
            block = list(names[place : place + 2])
            wanted_s = sum(self._expected_s(name, stage) for name in (None, *block))
            if self._elapsed() + wanted_s > until_s:
                return False
            self._random.shuffle(block)
            self._around(block, stage)
        return True

    def _screen(self, names: list[str]) -> list[str]:
        """The changes that could be looked at, the best first.

        Where the time suffices to judge one change, looks leave that much of it.
        """
        until_s, spare_s = (
            _SCREEN_SHARE * self._budget_s,
            self._budget_s - self._reserve_s(names[:1]),
        )
        if spare_s > self._elapsed():
            until_s = min(until_s, spare_s)
        self._round(names, TuningStage.SCREEN, until_s)
        return self._ranked(names)

    def _affordable(self, names: list[str]) -> list[str]:
        """These, if there is time to judge them without a look before."""
        return names if self._elapsed() + self._reserve_s(names) <= self._budget_s else []

    def _ranked(self, names: Sequence[str]) -> list[str]:
        alive = [n for n in names if n in self.state.pairs and n not in self.state.failures]
        return sorted(alive, key=self.state.ratio)

    def _race(self, names: list[str]) -> list[str]:
        """Successive halving: the better half is looked at again, twice as often each time."""
        field_, looks = names, 1
        while len(field_) > FINALISTS:
            field_ = field_[: max(FINALISTS, math.ceil(len(field_) / 2))]
            for _ in range(looks):
                order = list(field_)
                self._random.shuffle(order)
                if not self._round(
                    order, TuningStage.RACE, self._budget_s - self._reserve_s(field_)
                ):
                    return self._ranked(names)
            field_, looks = self._ranked(field_), 2 * looks
        return self._ranked(names)

    def _reserve_s(self, names: Sequence[str]) -> float:
        """What the final takes at least."""
        judged = names[:FINALISTS]
        pairs = 2 * math.ceil(pairs_needed(max(1, len(judged))) / 2)
        return pairs * sum(self._expected_s(None) + self._expected_s(name) for name in judged)

    def _chosen(self, names: Sequence[str]) -> list[str]:
        """The best of each key that promise something, as many as can be measured well in time.

        Where none does, the best of all: so that it is measured that nothing helps. The best
        suspect is among them even if it promises nothing: whoever knows the suspicion asks. Where
        there is time for fewer, a suspect that promises something stays longest: a single look at
        another one may have been lucky.
        """
        best: dict[str, str] = {}
        for name in names:
            if name not in self.state.failures:
                best.setdefault(self._keys[name], name)
        chosen = list(best.values())[:FINALISTS]
        if len(self._keys) > FINALISTS:
            chosen = [name for name in chosen if self.state.ratio(name) < 1] or chosen[:1]
            suspect = next((name for name in best.values() if name in self._suspects), None)
            if suspect is not None and self._suspects.isdisjoint(chosen):
                chosen = [*chosen[: FINALISTS - 1], suspect]
        while len(chosen) > 1 and self._elapsed() + self._reserve_s(chosen) > self._budget_s:
            others = [name for name in chosen if not self._is_likely(name)]
            chosen.remove((others or chosen)[-1])
        return chosen

    def _is_likely(self, name: str) -> bool:
        """Whether what is known beforehand speaks for a change, and looks do not speak against."""
        return name in self._suspects and self.state.ratio(name) < 1

    def _final(self, names: list[str]) -> None:
        """Fresh pairs, in ABBA blocks, as many as the time suffices for."""
        self.state.finalists = names
        if not names:
            return
        left_s = self._budget_s - self._elapsed()
        least = math.ceil(pairs_needed(len(names)) / 2) if self._reserve_s(names) <= left_s else 1
        for number in range(_MOST_ROUNDS):
            round_s = 2 * sum(self._expected_s(None) + self._expected_s(name) for name in names)
            if number >= least and self._elapsed() + round_s > self._budget_s:
                return
            order = list(names)
            self._random.shuffle(order)
            for name in order:
                if number and self._elapsed() > self._budget_s:
                    return
                self._block(name, inside_out=bool(number % 2))

    def _block(self, name: str, inside_out: bool) -> None:
        """Base, changed, changed, base; or the other way round."""
        if name in self.state.failures:
            return
        base: list[TrialRun] = []
        changed: list[TrialRun | None] = []
        for is_base in (not inside_out, inside_out, inside_out, not inside_out):
            if is_base:
                base.append(self._one(None, TuningStage.FINAL))
            else:
                changed.append(self._changed(name, TuningStage.FINAL))
            if len(base) == len(changed):
                self._pair(name, TuningStage.FINAL, base[-1], changed[-1])
