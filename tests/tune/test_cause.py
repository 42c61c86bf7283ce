"""What the capture shows beside what measuring its answers said."""

from __future__ import annotations

import pytest

from venturi.model.tuning import Cause, Computing, Effect, Skipped, Trial, TrialPair, TuningStage
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.setting import RunSettings
from venturi.tune.catalogue import Candidate, applicable, causes, context_of
from venturi.tune.change import Variant
from venturi.tune.ranking import headline, ranked, weighed
from venturi.tune.search import SearchState

TEXT = """
workload: 1
name: synced
origin:
  source: log
  findings:
    - {id: misaligned, severity: note, what: Misaligned., evidence: all, advice: Align.}
    - {id: sync-each-write, severity: high, what: "log: synced.", evidence: 9 of 9,
       advice: Once., at_stake_s: 2}
    - {id: imbalance, severity: high, what: Uneven., evidence: much, advice: Deal., at_stake_s: 9}
groups: {g: {ranks: 1}}
files: {log: {path: log}}
program:
  g:
    - phase: work
      do:
        - create: log
        - write: {to: log, transfer: 512, count: 15, sync: fsync}
        - close: log
"""
CAUSE = Cause(
    finding="sync-each-write",
    what="log: synced.",
    evidence="9 of 9",
    advice="Once.",
    answers=["sync=end"],
)


def pair_of(base_s: float, changed_s: float, first: float = 1.0) -> TrialPair:
    """A final pair; the change takes `first` times as long for the first time."""
    return TrialPair(
        stage=TuningStage.FINAL,
        base_s=base_s,
        changed_s=changed_s,
        base_first_s=base_s,
        changed_first_s=first * changed_s,
    )


def said(ratio: float | None, jitter: float = 0.0) -> tuple[list[Trial], SearchState]:
    """A trial of `sync=end` whose pairs differ by up to the jitter; None: it was not measured."""
    workload = parse_yaml(TEXT, "synced.yaml", Workload)
    candidates = [Candidate("sync", "end", Variant(workload, "one sync", "Call fsync() once."))]
    state = SearchState()
    if ratio is not None:
        state.finalists = ["sync=end"]
        state.stage["sync=end"] = TuningStage.FINAL
        state.pairs["sync=end"] = [pair_of(1.0, ratio + jitter * (n % 3 - 1)) for n in range(12)]
    return ranked(candidates, state, Computing(seconds=0, source="unknown"), 0.0), state


@pytest.mark.parametrize(("first", "low", "high"), [(1.0, 1, 1), (2.5, 1, 2.5), (0.5, 0.5, 1)])
def test_an_interval_holds_what_a_first_time_takes(first: float, low: float, high: float) -> None:
    """Whether it helps is told by the medians of repetitions, as before."""
    (warm,), state = said(0.01, 0.001)
    state.pairs["sync=end"] = [
        pair_of(pair.base_s, pair.changed_s, first) for pair in state.pairs["sync=end"]
    ]
    workload = parse_yaml(TEXT, "synced.yaml", Workload)
    candidates = [Candidate("sync", "end", Variant(workload, "one sync", "Call fsync() once."))]
    (cold,) = ranked(candidates, state, Computing(seconds=0, source="unknown"), 0.0)
    assert warm.gain is not None
    assert cold.gain is not None
    assert cold.gain.ratio == warm.gain.ratio
    assert (cold.gain.low, cold.gain.high) == (
        pytest.approx(low * warm.gain.low),
        pytest.approx(high * warm.gain.high),
    )
    assert cold.effect is warm.effect is Effect.HELPS


def test_a_cause_names_the_changes_that_answer_it() -> None:
    """Neither what no change answers, nor what no change that applies does."""
    context = context_of(
        parse_yaml(TEXT, "x", Workload), RunSettings(), "ext4", frozenset({"posix"})
    )
    candidates, skipped = applicable(context, RunSettings())
    found = causes(context, candidates, skipped, 0.0)
    assert found[0].finding == "sync-each-write"
    assert {"sync=end", "sync=fdatasync"} <= set(found[0].answers)
    assert all(name.startswith(("sync=", "transfer=")) for name in found[0].answers)
    assert "imbalance" not in {cause.finding for cause in found}
    (cause,) = causes(context, [], [Skipped(name="sync=end", why="nothing is synced")], 0.0)
    assert causes(context, candidates, skipped, 201.0) == [found[-1]]  # without a known stake
    assert cause.answers == []
    assert cause.says == "No change can be measured for it (sync=end: nothing is synced)."


@pytest.mark.parametrize(
    ("ratio", "jitter", "effect", "words"),
    [
        (0.3, 0.0, Effect.HELPS, "It costs time here: with sync=end I/O takes 0.3 times"),
        (1.0, 0.01, Effect.NO_GAIN, "It costs no time here that mending would gain"),
        (1.0, 0.5, Effect.NO_GAIN, "a gain may be hidden"),
        (None, 0.0, Effect.UNJUDGED, "sync=end would answer it, not measured enough"),
    ],
)
def test_what_a_cause_costs_is_what_mending_it_was_measured_to_gain(
    ratio: float | None, jitter: float, effect: Effect, words: str
) -> None:
    trials, state = said(ratio, jitter)
    assert trials[0].effect is effect
    (cause,) = weighed([CAUSE], trials)
    assert words in cause.says
    text = headline(trials, [cause], state, 1.0)
    assert ("log: synced." in text) == (effect is not Effect.HELPS)
    assert headline(trials, [], state, 1.0) in text


def test_a_gain_is_told_of_one_cause() -> None:
    trials, _ = said(0.3)
    first, second = weighed([CAUSE, CAUSE.model_copy(update={"finding": "other"})], trials)
    assert "0.3 times" in first.says
    assert second.says == "sync=end answers it, too."


def test_a_headline_is_silent_on_general_findings_that_nothing_answers() -> None:
    trials, state = said(1.0, 0.01)
    general = CAUSE.model_copy(update={"finding": "misaligned", "answers": []})
    quiet = headline(trials, [], state, 1.0)
    assert headline(trials, [general], state, 1.0) == quiet
    serial = general.model_copy(update={"finding": "serial-io"})
    assert headline(trials, [general, serial], state, 1.0) != quiet


def test_of_two_causes_with_like_stakes_the_special_one_comes_first() -> None:
    text = TEXT.replace("advice: Align.}", "advice: Align., at_stake_s: {}}")
    for stake_s, first in ((3, "sync-each-write"), (5, "misaligned")):
        workload = parse_yaml(text.replace("{}", str(stake_s)), "x", Workload)
        context = context_of(workload, RunSettings(), "ext4", frozenset({"posix"}))
        assert causes(context, *applicable(context, RunSettings()), 0.0)[0].finding == first
