"""Files that were there before the run and are removed in it."""

from __future__ import annotations

import pytest
from traced_run import REOPEN, TracedRun, derived, planned, steps_of

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind

KIB = 1024


def packed(files: int, again: int | None = None) -> TracedRun:
    """Reads each file, writes another, and removes the first; looks at one of them `again`."""
    run = TracedRun(1)
    for number in range(files):
        run.open(0, f"in.{number}", REOPEN)
        run.move(0, Kind.READ, f"in.{number}", [(0, 64 * KIB)])
        run.close(0, f"in.{number}")
        run.open(0, f"out.{number}")
        run.move(0, Kind.WRITE, f"out.{number}", [(0, 16 * KIB)])
        run.close(0, f"out.{number}")
        run.call(0, Kind.UNLINK, f"in.{number}")
    if again is not None:
        run.open(0, f"in.{again}", REOPEN)
        run.move(0, Kind.READ, f"in.{again}", [(0, 64 * KIB)])
        run.close(0, f"in.{again}")
    return run


def test_what_was_there_is_removed_where_the_application_did() -> None:
    found = derived(packed(12))
    assert planned(found).totals.operations["unlink"] == 12, to_yaml(found)
    assert [step.unlink for step in steps_of(found) if step.unlink]
    assert found.origin is not None
    assert not [said for said in found.origin.assumed if "unlink" in said]


@pytest.mark.parametrize("count", [12, 400])
def test_files_that_are_only_removed_are_a_program(count: int) -> None:
    run = TracedRun(1)
    for number in range(count):
        run.call(0, Kind.UNLINK, f"old.{number}")
    found = derived(run)
    assert planned(found).totals.operations["unlink"] == count, to_yaml(found)


def test_what_is_used_again_stays() -> None:
    """The capture does not show how it came back."""
    found = derived(packed(12, again=3))
    assert planned(found).totals.operations["unlink"] < 12, to_yaml(found)
