"""Single operations out of a record: some at random, and every slow one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from venturi.campaign.space import number_at
from venturi.campaign.status import CampaignStatus
from venturi.campaign.task import CampaignTask
from venturi.model.campaign import CampaignStep, TaskState
from venturi.model.latency_sample import LatencyRequest, LatencySample
from venturi.store.place import OPERATIONS_NAME

_MOST_SLOW = 2000
_NS_PER_S = 1e9
_SEED = 1


def latency_of_point(
    step: CampaignStep, status: CampaignStatus, tasks: list[CampaignTask], store: Path
) -> LatencySample | None:
    """The operations of a point's last run that came to a good end.

    None where the step asks for none, no run ended well, or its record has no log of operations.
    """
    done = [task for task in tasks if status.states[task.name] is TaskState.DONE]
    if step.sample_latency is None or not done:
        return None
    text = (status.folder / "tasks" / done[-1].name / "stdout").read_text("utf-8", "replace")
    record = json.loads(text)
    path = store / "runs" / record["id"] / OPERATIONS_NAME
    if not path.is_file():
        return None
    return sample_of(path, step.sample_latency, record["id"], record["ranks"])


def sample_of(path: Path, request: LatencyRequest, run: str, ranks: int) -> LatencySample | None:
    """The sample of a log of operations; None where it has no such operation.

    Clocks of hosts differ, so the time of an operation is told from its rank's first one: ranks
    meet before a phase.
    """
    with np.load(path, allow_pickle=False) as log:
        kinds, phases = list(log["kind_names"]), list(log["phase_names"])
        if request.operation not in kinds or request.phase not in phases:
            return None
        executions = [n for n, name in enumerate(phases, start=1) if name == request.phase]
        wanted = (log["kind"] == kinds.index(request.operation)) & np.isin(log["phase"], executions)
        begin, end = log["begin_ns"][wanted], log["end_ns"][wanted]
        rank = log["rank"][wanted]
    if not len(begin):
        return None
    above_s = float(number_at("sample_latency.above", request.above, {}))
    origin = np.full(int(rank.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(origin, rank, begin)
    at_s, latency_s = (begin - origin[rank]) / _NS_PER_S, (end - begin) / _NS_PER_S
    slow = np.flatnonzero(latency_s > above_s)
    slowest = slow[np.argsort(latency_s[slow])][-_MOST_SLOW:]
    rest = np.flatnonzero(latency_s <= above_s)
    count = min(request.points, len(rest))
    some = np.random.default_rng(_SEED).choice(rest, count, replace=False)
    drawn = np.sort(np.concatenate([some, slowest]))
    return LatencySample(
        run=run,
        operation=request.operation,
        operations=len(begin),
        above_s=above_s,
        over=len(slow),
        ranks=ranks,
        at_s=[round(float(value), 6) for value in at_s[drawn]],
        latency_s=[float(value) for value in latency_s[drawn]],
        median_s=float(np.median(latency_s)),
        p99_s=float(np.quantile(latency_s, 0.99)),
        most_s=float(latency_s.max()),
    )
