"""Where a run was measured, and what the host did meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import record_factory

from venturi.model.host_sample import HostSample
from venturi.model.record import Record
from venturi.model.storage_layout import Quota, StorageLayout
from venturi.report.block import Facts
from venturi.report.provenance import environment
from venturi.report.quantity import Units

GIB = 1 << 30


@dataclass(frozen=True)
class Look:
    """What a sample of the host says here."""

    load: float
    free_bytes: int
    synchronized: bool

    def sample(self, at_s: float) -> HostSample:
        return HostSample(
            at_s=at_s, wall_s=0.0, cpus=1, user_s=0.0, system_s=0.0, io_wait_s=0.0, steal_s=0.0,
            running=1, own_processes=1, own_user_s=0.0, own_system_s=0.0,
            load_average=self.load, free_bytes=self.free_bytes, free_inodes=7,
            clock_synchronized=self.synchronized, clock_error_s=0.002,
        )  # fmt: skip


def _rows(record: Record) -> dict[str, str]:
    facts = environment(record, Units.IEC).blocks[0]
    assert isinstance(facts, Facts)
    return {str(name): str(value) for name, value in facts.rows}


def test_load_space_and_clock_while_it_ran() -> None:
    looks = [Look(0.5, 3 * GIB, True), Look(4.0, 1 * GIB, False), Look(2.0, 2 * GIB, True)]
    samples = [look.sample(float(at)) for at, look in enumerate(looks)]
    record = record_factory.record().model_copy(update={"host_samples": samples})
    rows = _rows(record)
    assert rows["Load during the run"] == "0.500 first, 4.00 at most, 2.00 at the end"
    assert rows["Space during the run"] == "1 GiB free at least, 2 GiB at the end"
    said = "disciplined in 2 of 3 looks, at most 2.00 ms off by the kernel's estimate, not stepped"
    assert rows["Wall clock"] == said


def test_stripes_and_quota() -> None:
    layout = StorageLayout(
        parts=[{"stripe count": "4", "pool": "flash"}],
        quotas=[Quota(whose="user ana", used_bytes=GIB, limit_bytes=2 * GIB, used_files=1200)],
        remarks=["mmlsquota is not installed here"],
    )
    record = record_factory.record()
    here = record.environment.model_copy(update={"layout": layout})
    rows = _rows(record.model_copy(update={"environment": here}))
    assert rows["Layout of new files"] == "stripe count 4, pool flash"
    assert rows["Quota of user ana"] == "1 GiB used, of 2 GiB; 1,200 files"
    assert rows["Not known of the layout"] == "mmlsquota is not installed here"


def test_nothing_is_said_of_what_nobody_looked_at() -> None:
    rows = _rows(record_factory.record().model_copy(update={"host_samples": []}))
    assert "Load during the run" not in rows
    assert "Layout of new files" not in rows
