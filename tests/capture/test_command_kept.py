"""A capture says which command was run, by whichever tool it was recorded."""

from __future__ import annotations

import shlex

import pytest

from capture.conftest import Capture
from venturi.analyse.characterization import characterization_of

COMMAND = ("sh", "-c", "echo 'a b' > file")


@pytest.mark.parametrize(
    "options",
    [(), ("--counters",), pytest.param(("--with", "strace"), marks=pytest.mark.needs("strace"))],
)
def test_the_command_is_kept_as_it_was_typed(capture: Capture, options: tuple[str, ...]) -> None:
    run = capture(*COMMAND, options=options)
    assert run.trace.job.command == shlex.join(COMMAND)
    assert characterization_of(run.captured, "app").activity.command == shlex.join(COMMAND)
