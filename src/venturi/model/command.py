"""Real applications in a program: the step that runs one, and what became of it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from venturi.model.document import Count, Document, Integer, Real, Seconds
from venturi.model.output import OutputMetric

STARTED_IN: Final = "VENTURI_STARTED_IN"
"""Set by a campaign for the runs of its workloads: the folder in which `venturi` was started."""

_Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class ExecStep(Document):
    """A command, the files that it must write, and the numbers that it must say."""

    command: Annotated[str, Field(min_length=1)]
    """A line for the shell; `{expression}` is replaced by its value, `{{` is a brace."""
    time: Annotated[int | float | str, Field(union_mode="left_to_right")] = "10 min"
    """What it may take; then all its processes are ended, and the run has failed."""
    files: dict[_Name, str] = {}
    """Patterns such as `output_*/*`: their bytes together are a metric of this name."""
    metrics: dict[_Name, OutputMetric] = {}
    """A file of theirs other than `stdout` and `stderr` is one that the command writes."""


class CommandFiles(Document):
    """What a command wrote that fits one of its patterns."""

    files: Count
    bytes: Count


class CommandCall(Document):
    """A command at its place in a run."""

    number: Count
    """Among the workload's commands where one is asked for, among the run's where it ran."""
    command: str
    path: str
    """Of the phase."""
    group: str
    instance: Count
    repetition: Count


class CommandRun(CommandCall):
    """One run of a command; its output is in `commands/NUMBER` of the result's folder."""

    iteration: dict[str, Integer]
    seconds: Seconds
    code: Integer | None = None
    """Its exit code, negative for a signal; absent: it was ended because its time was over."""
    failure: str = ""
    """What was wrong; empty: nothing."""
    metrics: dict[str, Real] = {}
    files: dict[str, CommandFiles] = {}
