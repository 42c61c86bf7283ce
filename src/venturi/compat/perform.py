"""Running the workloads of a field tool's command line, one record for each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.option import in_words_of
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import ExitCode, UserError
from venturi.model.event import Event
from venturi.model.machine import Machine
from venturi.model.record import Level, Record
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.probe.background import reader_beside
from venturi.store.run import Request, perform, prepare

Watch = Callable[[PlanResult], AbstractContextManager[Callable[[Event], None]]]
"""What shows the progress of a run."""


@dataclass(frozen=True)
class PlannedRun:
    """One run: a workload for a number of ranks."""

    workload: Workload
    ranks: int
    repetitions: int
    seed: int
    warnings: tuple[str, ...] = ()
    """What the reader of the result must know."""

    def settings(self, nodes: int, most_ranks: int) -> RunSettings:
        """The planner's settings for this run."""
        return RunSettings(
            ranks=self.ranks,
            nodes=nodes,
            repetitions=self.repetitions,
            seed=self.seed,
            most_ranks=most_ranks,
        )


@dataclass(frozen=True)
class RunContext:
    """Where the runs of a command line happen, and for whom."""

    target: Path
    store: Path
    machine: Machine
    nodes: int
    command: list[str]


def planned(trial: PlannedRun, stage: RunContext) -> PlanResult:
    """The plan of a trial, without any I/O."""
    try:
        return make_plan(trial.workload, trial.settings(stage.nodes, stage.machine.most_ranks))
    except UserError as error:
        raise in_words_of(trial.workload.name, error) from None


def silent(made: PlanResult) -> AbstractContextManager[Callable[[Event], None]]:
    """Progress that nobody sees."""
    return nullcontext(lambda event: None)


def perform_trials(
    trials: list[PlannedRun], stage: RunContext, watch: Watch = silent
) -> list[Record]:
    """The records of all trials, in order; after an interruption no further trial is begun.

    A target that is not there is made, as the tools do, and removed again when it is empty.
    Nothing runs unless every trial can be planned.
    """
    for trial in trials:
        planned(trial, stage)
    made_target = make_target(stage.target)
    records: list[Record] = []
    try:
        for trial in trials:
            prepared = prepare(
                Request(
                    workload=trial.workload,
                    workload_text=to_yaml(trial.workload),
                    settings=trial.settings(stage.nodes, stage.machine.most_ranks),
                    machine=stage.machine,
                    directory=stage.target,
                    store=stage.store,
                    command=stage.command,
                    warnings=trial.warnings,
                    background=reader_beside(stage.store, stage.target),
                )
            )
            with watch(prepared.made) as feed:
                records.append(perform(prepared, feed))
            if records[-1].interrupted:
                break
    finally:
        if made_target:
            remove_target(stage.target)
    return records


def exit_code_of(records: list[Record], warnings_are_errors: bool = False) -> ExitCode:
    """The worst of the records' ends."""
    if any(record.interrupted for record in records):
        return ExitCode.INTERRUPTED
    if any(record.verdict.level is Level.INVALID for record in records):
        return ExitCode.MEASUREMENT
    if warnings_are_errors and any(record.warnings for record in records):
        return ExitCode.MEASUREMENT
    return ExitCode.FINE


def make_target(target: Path) -> bool:
    """Make the last part of the target's path, as these tools do; whether it was made."""
    if target.exists() or not target.parent.is_dir():
        return False
    try:
        target.mkdir()
    except OSError as error:
        raise UserError(
            f"{target}: it cannot be made: {error.strerror}", "choose another directory"
        ) from None
    return True


def remove_target(target: Path) -> None:
    """Remove a target that was made for a run, unless something was left in it."""
    try:
        target.rmdir()
    except OSError:
        return
