"""A derived workload that `plan` would refuse is refused where it is derived."""

from __future__ import annotations

import pytest

from darshan_log import OURS, log_of, trace_of
from venturi.derive import workload as deriving
from venturi.derive.workload import derive
from venturi.model.error import ExitCode, UserError
from venturi.model.trace import Trace
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.sources.darshan_log import read_whole_log


@pytest.mark.parametrize("name", OURS)
def test_what_is_derived_of_our_logs_is_planned(name: str) -> None:
    for captured in (trace_of(name), read_whole_log(log_of(name))):
        workload = derive(captured, name)
        ranks = trace_of(name).job.ranks
        assert make_plan(workload, RunSettings()).plan.ranks == ranks


def test_a_workload_that_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = deriving.derive_counters

    def unstaged(trace: Trace, name: str) -> Workload:
        workload = sound(trace, name)
        files = {
            name: spec.model_copy(update={"prestage": None})
            for name, spec in workload.files.items()
        }
        return workload.model_copy(update={"files": files})

    monkeypatch.setattr(deriving, "derive_counters", unstaged)
    with pytest.raises(
        UserError, match=r"ior_random_zz_read.*the best candidate cannot run"
    ) as found:
        derive(trace_of("ior_random_zz_read"), "unstaged")
    assert found.value.exit_code is ExitCode.USAGE
