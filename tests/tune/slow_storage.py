"""Storage that is made slow at one operation: no busy machine can hide what that costs."""

from __future__ import annotations

import json

from venturi.model.workload import Workload

SECONDS = 0.003


def slowed(workload: Workload, operation: str, every: int = 1) -> Workload:
    """The workload on files of which every so many'th such operation takes some milliseconds."""
    data = json.loads(workload.model_dump_json(by_alias=True, exclude_none=True))
    late = {"kind": "delay", "operation": operation, "every": every, "seconds": SECONDS}
    for file in data["files"].values():
        file["faults"] = [late]
    return Workload.model_validate_json(json.dumps(data))
