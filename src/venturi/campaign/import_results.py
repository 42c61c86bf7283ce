"""Runs of a campaign into a store: one folder each, whatever became of them.

A workload's run has put its record there by itself, if it is the same store; all others are made
from what the job wrote. A run has the same id each time, so nothing lands twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from venturi.campaign.folder import BEGUN, ENDED, read_begun
from venturi.campaign.logged import log_maker
from venturi.campaign.outcome import Values, values_of
from venturi.campaign.run_session import RunSession, id_of, read_session
from venturi.campaign.session import Opened, open_folder
from venturi.campaign.study_import import study_results
from venturi.campaign.task import CampaignTask
from venturi.model.campaign import CampaignStep, TaskStart, TaskState
from venturi.model.document import DocumentError, parse_json
from venturi.model.error import RunFailed
from venturi.model.record import Level, Record
from venturi.model.result import Measure, Result, ResultSource, SourceKind, digest_of
from venturi.report.quantity import counted
from venturi.store.place import make_store
from venturi.store.result import RECORD_NAME, keep, result_of

_KEPT = (BEGUN, ENDED, "stdout", "stderr")
_MOST_BYTES = 64 << 20
"""Of one file that is copied; a metric's file that is larger stays in the campaign's folder."""


def import_results(opened: Opened, store: Path) -> int:
    """Puts every run that has ended into a store; how many were not there. UserError as `keep`."""
    make_store(store)
    campaign_status = opened.campaign_status
    session = read_session(campaign_status.folder)
    landed = 0
    for task, result in _ended(opened, session):
        home = campaign_status.folder / "tasks" / task.name
        landed += keep(store, result, _files(opened, task, home, result))
    for result in study_results(opened, session):
        landed += keep(store, result, {})
    return landed


def results_in(folder: Path) -> tuple[list[Result], str]:
    """The runs of a campaign's folder that have ended, and how many are not done, in a sentence.

    The sentence is empty where all are done. Raises UserError for a folder that is damaged.
    """
    opened = open_folder(folder)
    states = opened.campaign_status.states
    missing = sum(state is not TaskState.DONE for state in states.values())
    said = f"{missing} of {counted(len(states), 'run')} of {folder.name} are not done"
    found = [result for _, result in _ended(opened, read_session(folder))]
    return found, said if missing else ""


def _ended(opened: Opened, session: RunSession) -> Iterator[tuple[CampaignTask, Result]]:
    """Each run that has ended, however it did."""
    campaign_status = opened.campaign_status
    for name, task in campaign_status.tasks.items():
        home = campaign_status.folder / "tasks" / name
        begun = read_begun(home)
        if not campaign_status.states[name].is_final or begun is None:
            continue
        record = _record(home) if task.workload else None
        if record is not None:
            yield task, result_of(record, session.run_of(task))
        else:
            yield task, _result(opened, session, task, begun)


def _files(opened: Opened, task: CampaignTask, home: Path, result: Result) -> dict[str, Path]:
    """What is kept of a run beside its result: its record, or what a command wrote."""
    if result.source.kind is not SourceKind.COMMAND:
        return {RECORD_NAME: home / "stdout"}
    step = opened.campaign.steps[task.step]
    names = [*_KEPT, *(metric.file for metric in step.metrics.values())]
    files = {
        name: home / name
        for name in dict.fromkeys(names)
        if (home / name).is_file() and (home / name).stat().st_size <= _MOST_BYTES
    }
    return {f"source/{Path(name).name}": path for name, path in files.items()}


def _record(home: Path) -> Record | None:
    """The record that a run of a workload printed."""
    try:
        return parse_json(Record, (home / "stdout").read_bytes())
    except (OSError, DocumentError):
        return None


def _log(step: CampaignStep) -> dict[str, str]:
    """What logged a run's I/O, which may cost it time."""
    maker = log_maker(step)
    return {"I/O log": maker.value} if maker else {}


def _result(opened: Opened, session: RunSession, task: CampaignTask, begun: TaskStart) -> Result:
    campaign_status, campaign = opened.campaign_status, opened.campaign
    step = campaign.steps[task.step]
    state, reason = campaign_status.states[task.name], campaign_status.reason(task.name)
    values: Values = {}
    if state is TaskState.DONE or (state is TaskState.FAILED and not reason):
        try:
            values = values_of(campaign, campaign_status, task)
        except RunFailed as error:
            state, reason = TaskState.FAILED, error.message
    good = state is TaskState.DONE
    return Result(
        id=id_of(begun.begin_utc, session, task.name),
        name=campaign.name,
        started=begun.begin_utc,
        machine=opened.machine.name,
        session=session.name,
        campaign=campaign.name,
        step=task.step,
        point=task.point,
        repetition=task.repetition,
        parameters=task.parameters,
        ranks=task.ranks,
        nodes=task.nodes,
        work=digest_of(step.model_dump(mode="json", exclude={"time", "repeat", "after"})),
        source=ResultSource(kind=SourceKind.COMMAND, tool=step.tool or "command"),
        level=(Level.INDICATIVE if good else Level.INVALID).value,
        reasons=[
            "one repetition of a campaign" if good else f"{state.value}: {reason}".rstrip(": ")
        ],
        metrics={
            name: Measure(unit=found.unit, better=found.better, values=[found.value], of=found.of)
            for name, found in values.items()
        },
        facts={"host": begun.host, "directory": opened.directory, **_log(step)},
    )
