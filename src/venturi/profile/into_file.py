"""A machine measured into its file."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.model.machine import Machine
from venturi.profile.machine_file import check_output, write_machine
from venturi.profile.measure import ProfileRequest, Tell, measure


@dataclass(frozen=True)
class MeasuredMachine:
    """What was written."""

    machine: Machine
    interrupted: bool
    """Whether the user ended it early; `resume` goes on then."""


def measure_into_file(request: ProfileRequest, tell: Tell) -> MeasuredMachine:
    """Measure and write the request's machine file; what an interrupted profile measured is kept.

    Raises UserError for a file that must not be replaced, and as `measure`.
    """
    before = check_output(request.output)
    outcome = measure(request, tell)
    machine = write_machine(request.output, outcome.profile, before)
    if not outcome.interrupted:
        outcome.journal.end()
    return MeasuredMachine(machine, outcome.interrupted)
