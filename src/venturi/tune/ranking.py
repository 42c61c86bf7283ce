"""What the pairs say: each change judged, all ranked, and the sentence at the top."""

from __future__ import annotations

import math
from collections.abc import Sequence

from venturi.analyse.paired import signed_error
from venturi.derive.yaml_text import to_yaml
from venturi.model.statistic import median
from venturi.model.tuning import (
    Cause,
    Computing,
    Durability,
    Effect,
    Gain,
    Trial,
    TrialPair,
    TuningStage,
    Whole,
)
from venturi.tune.catalogue import QUIET, Candidate
from venturi.tune.search import ERROR_RATE, FINALISTS, SearchState, pairs_needed

LEAST_GAIN = 0.05
"""Smaller gains are not worth a change."""

RULE = (
    "A change helps if, in pairs measured afresh after it was chosen, the interval of the ratio of "
    "its median I/O time to the workload's excludes 1 (bootstrap over pairs), the sign test over "
    f"the pairs does so too, and the median gain is at least {LEAST_GAIN:.0%}. Interval and test "
    f"are taken at {ERROR_RATE:.0%} shared by all changes that are judged (Bonferroni), so the "
    f"chance that anything is said to help where nothing does is {ERROR_RATE:.0%} at most."
)

_ORDER = (Effect.HELPS, Effect.UNJUDGED, Effect.NO_GAIN, Effect.HARMS)


def ranked(
    candidates: Sequence[Candidate],
    state: SearchState,
    computing: Computing,
    untouched: float = 0.0,
) -> list[Trial]:
    """Every candidate as a trial: those that help first, the largest gain first.

    `untouched` is the share of the application's I/O time in files that the workload leaves out.
    """
    judged = len([name for name in state.finalists if state.final(name)])
    trials = [_trial(candidate, state, max(1, judged), computing) for candidate in candidates]
    return [_for_all_files(_for_once(trial), untouched) for trial in sorted(trials, key=_place)]


def _for_once(trial: Trial) -> Trial:
    """The trial with an interval that holds the ratio of first repetitions, too.

    Runs that repeat short work are told by their medians, so that no stall hides a gain; but an
    application does its work once, with all that a process does for the first time. Around that
    ratio lies as much, relative to it, as around the other.
    """
    gain = trial.gain
    final = [pair for pair in trial.pairs if pair.stage is TuningStage.FINAL]
    base_s = median([pair.base_first_s for pair in final]) if final else 0.0
    if gain is None or base_s <= 0 or gain.ratio <= 0:
        return trial
    times = median([pair.changed_first_s for pair in final]) / base_s / gain.ratio
    ends = {"low": gain.low * min(1.0, times), "high": gain.high * max(1.0, times)}
    return trial.model_copy(update={"gain": gain.model_copy(update=ends)})


def _for_all_files(trial: Trial, untouched: float) -> Trial:
    """The trial with an interval that reaches to where a change leaves other files as they are."""
    gain = trial.gain
    if gain is None or untouched <= 0:
        return trial
    ends = [ratio + untouched * (1 - ratio) for ratio in (gain.low, gain.high)]
    wider = gain.model_copy(update={"low": min(gain.low, ends[0]), "high": max(gain.high, ends[1])})
    return trial.model_copy(update={"gain": wider})


def _place(trial: Trial) -> tuple[int, int, float]:
    """Judged changes by their effect, then the others by what was seen of them."""
    if trial.gain is not None:
        return _ORDER.index(trial.effect), 0, trial.gain.ratio
    seen = math.inf if trial.measured_ratio is None else trial.measured_ratio
    return len(_ORDER), 1, seen


def _trial(candidate: Candidate, state: SearchState, judged: int, computing: Computing) -> Trial:
    name = candidate.name
    final, seen = state.final(name), state.seen(name)
    gain = gain_of(final, judged) if final else None
    variant = candidate.variant
    return Trial(
        key=candidate.key,
        value=candidate.value,
        what=variant.what,
        advice=variant.advice,
        meaning=variant.meaning,
        stage=state.stage.get(name, TuningStage.NONE),
        effect=_effect(final, gain, judged),
        gain=gain,
        measured_ratio=median([pair.ratio for pair in seen]) if seen else None,
        pairs=[*seen, *final],
        whole=_whole(gain, computing) if gain is not None else None,
        failure=state.failures.get(name, ""),
        workload_text=to_yaml(variant.workload) if final else "",
    )


def gain_of(pairs: Sequence[TrialPair], judged: int) -> Gain | None:
    """The ratio of the medians with its interval, for one of `judged` changes."""
    base = [pair.base_s for pair in pairs]
    changed = [pair.changed_s for pair in pairs]
    if min(base) <= 0:
        return None
    found = signed_error(base, changed, 1 - ERROR_RATE / judged)
    return Gain(
        ratio=1 + found.signed,
        low=1 + found.low,
        high=1 + found.high,
        confidence=found.confidence,
        pairs=len(pairs),
        base_s=median(base),
        changed_s=median(changed),
    )


def _effect(pairs: Sequence[TrialPair], gain: Gain | None, judged: int) -> Effect:
    if gain is None or len(pairs) < pairs_needed(judged):
        return Effect.UNJUDGED
    is_significant = sign_test([pair.ratio for pair in pairs]) <= ERROR_RATE / judged
    if is_significant and gain.high < 1 and gain.ratio <= 1 - LEAST_GAIN:
        return Effect.HELPS
    if is_significant and gain.low > 1 and gain.ratio >= 1 + LEAST_GAIN:
        return Effect.HARMS
    return Effect.NO_GAIN


def sign_test(ratios: Sequence[float]) -> float:
    """The two-sided p-value of the sign test that ratios lie around 1; ties are left out."""
    below = sum(ratio < 1 for ratio in ratios)
    n = below + sum(ratio > 1 for ratio in ratios)
    rare = min(below, n - below)
    tail = sum(math.comb(n, k) for k in range(rare + 1)) / 2**n if n else 1.0
    return min(1.0, 2 * tail)


def _whole(gain: Gain, computing: Computing) -> Whole | None:
    """Amdahl: the run's computing stays, its I/O takes the measured share."""
    if computing.source == "unknown":
        return None
    return Whole(
        before_s=computing.seconds + gain.base_s,
        after_s=computing.seconds + gain.changed_s,
    )


def weighed(causes: Sequence[Cause], trials: Sequence[Trial]) -> list[Cause]:
    """The causes, each with what the trials that answer it say of its cost here.

    What a trial gains is told of the first cause that it answers: most of it belongs there.
    """
    told: set[str] = set()
    result = []
    for cause in causes:
        own = [trial for trial in trials if trial.name in cause.answers]
        says = cause.says
        if own and own[0].name in told:
            says = f"{own[0].name} answers it, too."
        elif own:
            says = _cost_text(own)
            told.add(own[0].name)
        result.append(cause.model_copy(update={"says": says}))
    return result


def _cost_text(own: Sequence[Trial]) -> str:
    """Of the trials that answer a cause the best: they are ranked."""
    best = next((trial for trial in own if trial.effect is not Effect.UNJUDGED), None)
    if best is None or best.gain is None:
        names = " or ".join(trial.name for trial in own[:2])
        return f"What it costs here is not known: {names} would answer it, not measured enough."
    takes = f"with {best.name} I/O takes {_ratio_text(best.gain)}"
    if best.effect is Effect.HELPS:
        return f"It costs time here: {takes}."
    if _may_hide(best.gain):
        return f"That it costs time here is not shown: {takes}; a gain may be hidden."
    return f"It costs no time here that mending would gain: {takes}."


def _may_hide(gain: Gain) -> bool:
    """Whether a gain that is not shown may be there: a median may gain where its pairs differ."""
    least = 1 - LEAST_GAIN
    return gain.low < least and (gain.high > 1 or gain.ratio <= least)


def headline(
    trials: Sequence[Trial], causes: Sequence[Cause], state: SearchState, cost_s: float
) -> str:
    """What helps most, or that nothing does, with what the capture shows all the same.

    `causes` are weighed ones; of general ones only those that a change answers are named here.
    A run takes `cost_s` of the budget.
    """
    text = _headline(trials, state, cost_s)
    told = [one for one in causes if one.answers or one.finding not in QUIET]
    if not told or any(trial.effect is Effect.HELPS for trial in trials):
        return text
    return f"{text} The capture shows a problem all the same: {told[0].what}"


def _headline(trials: Sequence[Trial], state: SearchState, cost_s: float) -> str:
    """One sentence of the trials."""
    best = trials[0] if trials else None
    if best is not None and best.effect is Effect.HELPS and best.gain is not None:
        text = f"{best.name} helps most: I/O takes {_ratio_text(best.gain)}"
        if best.meaning.durability is Durability.WEAKER:
            text += "; it weakens persistence"
        return _ended(text, state)
    if not trials:
        return "Nothing in the catalogue applies to this workload."
    judged = [trial for trial in trials if trial.effect in (Effect.NO_GAIN, Effect.HARMS)]
    if judged:
        near = judged[0]
        assert near.gain is not None
        hidden = _may_hide(near.gain)
        says = "Nothing is shown to help" if hidden else "Nothing helps"
        but = "; runs vary so much that a gain may be hidden" if hidden else ""
        return _ended(
            f"{says}: of {_counted(judged)} measured afresh none gains; the best, {near.name}, "
            f"takes {_ratio_text(near.gain)}{but}",
            state,
        )
    if len(state.failures) == len(trials):
        return "No change could be run."
    return _ended(
        "Not measured often enough to say what helps: give a larger --budget, about "
        f"{enough_min(len(trials), cost_s)} min",
        state,
    )


def enough_min(changes: int, cost_s: float) -> int:
    """Whole minutes that a search over so many changes takes, at `cost_s` for each run.

    The screening and the race take one and a half runs for each change, the latter at most as
    many as the former; the final takes four for each two pairs.
    """
    finalists = min(changes, FINALISTS)
    runs = 2 * pairs_needed(max(1, finalists)) * finalists + 3 * changes
    return max(1, math.ceil(1.3 * runs * cost_s / 60))


def _counted(judged: Sequence[Trial]) -> str:
    return "1 change" if len(judged) == 1 else f"{len(judged)} changes"


def _ratio_text(gain: Gain) -> str:
    return (
        f"{gain.ratio:.3g} times as long as before "
        f"({gain.confidence:.0%} interval {gain.low:.2g} to {gain.high:.2g})"
    )


def _ended(text: str, state: SearchState) -> str:
    return f"{text} (interrupted)." if state.interrupted else f"{text}."
