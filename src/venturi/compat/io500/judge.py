"""Does a published result follow from its phases, and what must its reader know?"""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.io500.score import METADATA, WRITES, missing
from venturi.compat.io500.settings import Sections
from venturi.compat.io500.summary import Io500Summary
from venturi.model.published import Flag, Io500Phase, Io500Score

TOLERANCE = 1e-3
"""How far a published number may be from the recomputed one, relative."""
STONEWALL_S = 300
STONEWALL_STUDENTS_S = 30
_HALF_OF_LAST_DIGIT = 0.0005
"""The shell script printed its phases with three decimals."""
_NUMBERS = (("bw", "bandwidth", "GiB/s"), ("md", "metadata", "kIOPS"), ("score", "score", ""))


def differences(published: Io500Score, recomputed: Io500Score) -> list[tuple[str, float, float]]:
    """The numbers that are not what the phases give: name, published, recomputed."""
    found = []
    for key, name, _ in _NUMBERS:
        theirs, ours = getattr(published, key), getattr(recomputed, key)
        if theirs is None:
            continue
        if ours is None or abs(theirs - ours) > TOLERANCE * max(abs(ours), 1e-12):
            found.append((name, theirs, ours or 0.0))
    return found


def explain(
    published: Io500Score,
    recomputed: Io500Score,
    phases: Sequence[Io500Phase],
    is_old: bool,
    is_list: bool = False,
) -> list[Flag]:
    """A flag for each number that does not match, with the reason where there is a known one.

    A number without a reason costs the place, but in a list, whose site rounds and corrects.
    """
    flags = []
    found = differences(published, recomputed)
    if recomputed.score and published.bw == published.md == published.score == 0:
        what = f"the published score is 0, but its phases give {recomputed.score:g}"
        return [Flag(id="mismatch-score", what=what, excludes=not is_list)]
    for name, theirs, ours in found:
        reason = _reason(name, theirs, recomputed, phases, is_old)
        what = f"published {name} {theirs:g}, but its phases give {ours:g}"
        is_lie = not reason and not is_list
        flags.append(Flag(id=f"mismatch-{name}", what=f"{what}{reason}", excludes=is_lie))
    return flags


def _reason(
    name: str,
    theirs: float,
    recomputed: Io500Score,
    phases: Sequence[Io500Phase],
    is_old: bool,
) -> str:
    bw, md, total = recomputed.bw or 0.0, recomputed.md or 0.0, recomputed.score or 0.0
    if name == "score" and bw * md > 0 and abs(theirs - bw * md) < 0.01 * bw * md:
        return ": an early script printed the product without its root"
    ours = {"bandwidth": bw, "metadata": md, "score": total}[name]
    absent = missing(phases)
    if absent and name != "bandwidth" and set(absent) <= set(METADATA):
        return f": {', '.join(absent)} is not given, but was in it"
    slow = [p for p in phases if p.scored and 0 < p.value < _HALF_OF_LAST_DIGIT / TOLERANCE]
    room = sum(_HALF_OF_LAST_DIGIT / p.value for p in slow) / 4
    if is_old and slow and abs(theirs - ours) <= (room + TOLERANCE) * ours:
        return f": {slow[0].name} is rounded to three decimals"
    return ""


def judge(summary: Io500Summary, config: Sections, result: Sections) -> list[Flag]:
    """The rules: what io500 itself calls invalid, and what its rules want, by each file."""
    flags = []
    if summary.invalid:
        flags.append(_excluding("invalid", "io500 itself calls this run invalid"))
    flags += [
        _excluding("invalid-phase", f"io500 calls {phase.name} invalid")
        for phase in summary.phases
        if phase.invalid
    ]
    stonewall = config.get("debug", {}).get("stonewall-time", "")
    students = config.get("global", {}).get("scc", "").upper() in ("TRUE", "1")
    least = STONEWALL_STUDENTS_S if students else STONEWALL_S
    if stonewall and stonewall != str(least):
        what = f"the stonewall was {stonewall} s, the rules want {least} s"
        is_long = stonewall.isdecimal() and int(stonewall) > least
        flags.append(Flag(id="stonewall", what=what, excludes=not is_long))
    return flags + short(summary.phases, least) + of_phases(summary.phases) + _find(result)


def excluding(flags: Sequence[Flag]) -> bool:
    """Whether one of them costs the result its place."""
    return any(flag.excludes for flag in flags)


def _excluding(name: str, what: str) -> Flag:
    return Flag(id=name, what=what, excludes=True)


def of_phases(phases: Sequence[Io500Phase]) -> list[Flag]:
    """What the rates alone tell."""
    flags = []
    lacking = missing(phases)
    if lacking:
        what = (
            f"{', '.join(lacking)}: missing or 0; the formula leaves such phases out, which can "
            "raise the score"
        )
        flags.append(_excluding("dropped-phase", what))
    rates = {phase.name: phase.value for phase in phases}
    random_rate = rates.get("ior-rnd4K-easy-read", 0.0)
    easy_rate = rates.get("ior-easy-read", 0.0)
    if random_rate > easy_rate > 0:
        what = (
            f"random 4 KiB reads ({random_rate:g} GiB/s) are faster than sequential ones "
            f"({easy_rate:g} GiB/s): they came from a cache"
        )
        flags.append(Flag(id="cache", what=what))
    return flags


def short(phases: Sequence[Io500Phase], least_s: int) -> list[Flag]:
    """The writing phases that did not take as long as the rules want."""
    return [
        _excluding(
            "short-phase", f"{phase.name} took {phase.seconds:g} s, the rules want {least_s} s"
        )
        for phase in phases
        if phase.name in WRITES and phase.seconds is not None and phase.seconds < least_s
    ]


def _find(result: Sections) -> list[Flag]:
    if result.get("find", {}).get("found") == "0":
        return [_excluding("find-nothing", "find matched no file")]
    return []
