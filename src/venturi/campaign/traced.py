"""What the log of a run's I/O says; figures are kept in the run's folder, so it is read once."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from venturi.campaign.logged import DARSHAN_LOGS, LOG_UNITS, TRACE, log_maker
from venturi.campaign.metric import MetricSample
from venturi.campaign.task import CampaignTask
from venturi.model.campaign import CampaignStep
from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.traced_run import TracedRun
from venturi.store.whole_file import write_whole

_KEPT = "traced.json"


def traced_run(folder: Path, step: CampaignStep, task: CampaignTask) -> TracedRun | None:
    """The characterization of a run that has ended; None: its step wants no log.

    `folder` is the campaign's. Raises UserError where there is no log or it holds no I/O.
    """
    by = log_maker(step)
    if by is None:
        return None
    home = folder / "tasks" / task.name
    with contextlib.suppress(OSError, DocumentError):
        return parse_json(TracedRun, (home / _KEPT).read_bytes())
    from venturi.analyse.characterization import short_characterization_of
    from venturi.sources.open import read_capture

    logs = [home / TRACE] if step.capture else sorted((home / DARSHAN_LOGS).rglob("*.darshan"))
    if not logs or not logs[0].exists():
        raise UserError(f"{by.value} wrote no log", f"{task.name}/stderr may say why")
    captured = read_capture(logs[0], *logs[1:])
    data, findings = short_characterization_of(captured, task.step)
    made = TracedRun(
        by=by,
        repetition=task.repetition,
        log=str(logs[0].relative_to(folder) if len(logs) == 1 else Path("tasks", task.name)),
        ranks=data.ranks,
        seconds=data.seconds,
        bytes_written=data.bytes_written,
        bytes_read=data.bytes_read,
        calls=sum(data.operations.values()),
        io_seconds=data.io_seconds,
        io_share=data.io_share,
        findings=[finding.what.rstrip(".") for finding in findings],
        gaps=data.gaps,
    )
    with contextlib.suppress(OSError):
        write_whole(home / _KEPT, made.to_json(indent=1) + "\n")
    return made


def traced_metrics(made: TracedRun) -> dict[str, MetricSample]:
    """The figures that have a history: `capture.io_time`, `capture.written`, `capture.read` ..."""
    values = {
        "io_time": made.io_seconds,
        "written": float(made.bytes_written),
        "read": float(made.bytes_read),
    }
    return {
        f"{made.by.value}.{name}": MetricSample(
            value, LOG_UNITS[name], Better.LOWER if name == "io_time" else Better.NONE
        )
        for name, value in values.items()
    }


def first_traced(
    folder: Path, step: CampaignStep, tasks: Sequence[CampaignTask]
) -> tuple[TracedRun | None, str]:
    """The first characterization of some runs, and why others have none."""
    found, why = None, ""
    for task in tasks:
        try:
            found = found or traced_run(folder, step, task)
        except UserError as error:
            why = why or f"{task.name}: {error.message}"
    return found, why
