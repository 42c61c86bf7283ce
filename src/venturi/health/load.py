"""What others do on this host, in a second in which nothing of ours runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

from venturi.execute.proc import ROOT, cpus
from venturi.model.health import LoadSample

_LOOK_S = 1.0
_LEAST_BUSY = 0.15
_BUSY_SHARE = 0.05


def sampled_load(root: Path = ROOT, seconds: float = _LOOK_S) -> LoadSample:
    """Look for so long."""
    before = cpus(root)
    start_s = time.monotonic()
    time.sleep(seconds)
    after = cpus(root)
    elapsed_s = time.monotonic() - start_s
    busy_s = sum(
        getattr(after, name) - getattr(before, name) for name in ("user_s", "system_s", "steal_s")
    )
    return LoadSample(
        busy_cpus=max(0.0, busy_s / elapsed_s), cpus=after.count, load_average=os.getloadavg()[0]
    )


def noise_of(load: LoadSample, when: str) -> str:
    """Why the machine was not ours alone; empty where it was."""
    most = max(_LEAST_BUSY, _BUSY_SHARE * load.cpus)
    if load.busy_cpus <= most:
        return ""
    return f"{when} the session others kept {load.busy_cpus:.2f} of {load.cpus} CPUs busy"
