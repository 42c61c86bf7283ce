"""Runs that a history or a comparison of sets leaves out, which it has to say."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.record import Level
from venturi.model.result import Result


def is_invalid(result: Result) -> bool:
    """Whether the numbers of a run are not what their labels say."""
    return result.level == Level.INVALID.value


def left_out_text(results: Sequence[Result]) -> str:
    """A sentence that says how many runs are INVALID, and why the last one is; empty: none is."""
    invalid = [result for result in results if is_invalid(result)]
    if not invalid:
        return ""
    last = max(invalid, key=lambda result: result.started)
    why = f": {last.reasons[0]}" if last.reasons else ""
    if len(invalid) == 1:
        return f" Left out as INVALID: {last.id}{why}."
    return f" Left out as INVALID: {len(invalid)} runs, the last {last.id}{why}."
