"""Efficiency: ceilings from each source, and what a phase reached of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from profile_factory import curve, data, machine, profile
from report.record_factory import record
from venturi.health.keep import keep_session
from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary
from venturi.model.ceiling import Ceiling, CeilingLayer, CeilingSource, PhaseCeilings
from venturi.model.health import (
    AuditEntry,
    Health,
    HealthPart,
    HealthRow,
    HealthState,
    LoadSample,
)
from venturi.model.interface import Interface
from venturi.model.machine import Bound, Machine, Target
from venturi.model.output import Better
from venturi.model.profile import FileSharing, Order, Volume
from venturi.report.block import TableBlock
from venturi.report.efficiency import campaign_sections, efficiencies, section, sentence
from venturi.report.phase import phases
from venturi.report.quantity import Units
from venturi.store.ceiling import bounds_at, ceilings, highest, profiled


def session(host: str, started: str, audit: list[AuditEntry]) -> Health:
    """A session whose memory moved 40 GB/s."""
    load = LoadSample(busy_cpus=0.0, cpus=4, load_average=0.1)
    row = HealthRow(
        metric="triad: triad",
        part="memory",
        unit="B/s",
        better=Better.HIGHER,
        value=40e9,
        values=[40e9],
        before=[],
        state=HealthState.OK,
        says="",
    )
    cached = row.model_copy(update={"metric": "sweep: copy", "value": 400e9, "values": [400e9]})
    return Health(
        schema_="venturi.health/1",
        id=f"{started[:10]}-{host}",
        suite="quick",
        series=f"quick, {host}, 4 ranks",
        started=started,
        seconds=60.0,
        load_before=load,
        load_after=load,
        parts=[HealthPart(name="memory", state=HealthState.OK, says="")],
        rows=[cached, row],
        consistency=[],
        audit=audit,
        audit_sha256="0" * 64,
        drift=[],
    )


def test_ceilings_come_from_the_file_the_profile_and_health(tmp_path: Path) -> None:
    curves = [
        data("read", lambda size, _: size / 2e9, state="cold", sizes=[2**20]),
        data("write", lambda size, _: size / 3e9, state="new", sizes=[2**20]),
    ]
    own = machine(*curves).model_copy(
        update={
            "targets": [Target(name="a", path="/a"), Target(name="b", path="/b")],
            "bounds": [
                Bound(operation="write", bytes_per_second=6e9, about="peak", target="a"),
                Bound(operation="write", bytes_per_second=18e9, target="b"),
            ],
        }
    )
    audit = [
        AuditEntry(key="network eth0", value="100000 Mbit/s, MTU 9000"),
        AuditEntry(key="network eth1", value="-1 Mbit/s, MTU 1500"),
        AuditEntry(key="port mlx5_0/1", value="200 Gb/sec (4X HDR), 4: ACTIVE"),
        AuditEntry(key="PCI link of storage 0000:01:00.0", value="16.0 GT/s PCIe x4"),
        AuditEntry(key="PCI link of display 0000:02:00.0", value="16.0 GT/s PCIe x16"),
    ]
    keep_session(tmp_path, session("login1", "2026-01-05T00:00:00", []))
    keep_session(tmp_path, session("login1", "2026-01-06T00:00:00", audit))
    keep_session(tmp_path, session("login2", "2026-01-07T00:00:00", []))
    found = ceilings(own, Path("/a/b/c"), tmp_path, "login1", 2)
    rates = {(one.layer, one.source, one.operation): one.bytes_per_second for one in found}
    assert [one.bytes_per_second for one in found] == sorted(o.bytes_per_second for o in found)
    assert rates[CeilingLayer.STORAGE, CeilingSource.MACHINE_FILE, "write"] == 6e9
    assert rates[CeilingLayer.DEVICE, CeilingSource.PROFILE, "read"] == pytest.approx(4e9)
    assert rates[CeilingLayer.MEMORY, CeilingSource.PROFILE, "write"] == pytest.approx(6e9)
    assert rates[CeilingLayer.MEMORY, CeilingSource.HEALTH, "both"] == 80e9
    network = [one.bytes_per_second for one in found if one.layer is CeilingLayer.NETWORK]
    assert network == [2 * 12.5e9, 2 * 25e9]
    pci = rates[CeilingLayer.DEVICE, CeilingSource.HEALTH, "both"]
    assert pci == pytest.approx(2 * 16e9 * 4 * 128 / 130 / 8)
    assert all("2026-01-06" in one.about for one in found if one.source is CeilingSource.HEALTH)
    assert not ceilings(Machine(name="m"), Path("/"), tmp_path, "x", 1)
    assert [bound.bytes_per_second for bound in bounds_at(own, Path("/b"))] == [18e9]


def test_the_processor_s_caches_and_calls_without_a_time_are_no_ceiling() -> None:
    curves = [
        data("read", lambda size, _: size / 2e9, state="cached", sizes=[2**20]),
        data("read", lambda size, _: size / 9e10, state="cached", access={"volume": Volume.SMALL}),
        data("read", lambda size, _: 0.0, state="cold", sizes=[2**20]),
        data("write", lambda size, _: size / 9e9, state="new", access={"think_s": 1e-6}),
        curve("stat", lambda size, _: 0.0, sizes=[0]),
    ]
    (only,) = ceilings(machine(*curves), Path("/data"), Path("/none"), "h", 1)
    assert only.bytes_per_second == pytest.approx(4e9)
    assert only.about == "best rate of read cached sequential own, 2 ranks, 2026-01-02"


def test_the_highest_of_all_interfaces_and_orders_is_the_ceiling() -> None:
    curves = [
        data("write", lambda size, _: size / 2e9, state="new", sizes=[2**20]),
        data("write", lambda size, _: size / 3e9, state="new", sizes=[2**20],
             access={"order": Order.STRIDED, "place": FileSharing.SHARED, "collective": True,
                     "interface": Interface("mpiio")}),
    ]  # fmt: skip
    found = profiled(profile(*curves))
    assert [one.rate for one in found] == pytest.approx([4e9, 6e9])
    assert highest(found) == found[1:]


def _ceiling(
    rate: float, layer: CeilingLayer, source: CeilingSource, operation: str = "both"
) -> Ceiling:
    return Ceiling.model_validate(
        {
            "operation": operation,
            "bytes_per_second": rate,
            "layer": layer,
            "source": source,
            "about": f"{layer.value} of a test",
        }
    )


def test_a_phase_says_its_share_and_the_next_ceiling() -> None:
    plain = record()
    written = next(phase for phase in phases(plain) if phase.main_kind == "write")
    rate = written.rate.median
    made = record(
        ceilings=[
            _ceiling(rate / 2, CeilingLayer.NETWORK, CeilingSource.HEALTH),
            _ceiling(10 * rate, CeilingLayer.MEMORY, CeilingSource.HEALTH),
            _ceiling(rate / 0.08, CeilingLayer.STORAGE, CeilingSource.MACHINE_FILE, "write"),
            _ceiling(20 * rate, CeilingLayer.DEVICE, CeilingSource.PROFILE, "read"),
        ]
    )
    one = next(found for found in efficiencies(made) if found.phase == written.title)
    assert one.share == pytest.approx(0.08)
    assert [ceiling.layer for ceiling in one.above] == [CeilingLayer.MEMORY]
    assert [ceiling.layer for ceiling in one.exceeded] == [CeilingLayer.NETWORK]
    text = sentence(one, Units.IEC)
    assert text.startswith(f"{written.title}: 8.0 % of ")
    assert "from the machine file" in text
    assert "the next ceiling is" in text
    assert "of which it is 10 %" in text
    assert "caches served part of it" in text
    assert section(made, Units.IEC) is not None
    assert section(plain, Units.IEC) is None


def test_phases_of_a_campaigns_points_stand_below_their_ceilings() -> None:
    """Each with its share, its source, what comes next, and what it is above."""
    ceilings = [
        _ceiling(50e6, CeilingLayer.NETWORK, CeilingSource.HEALTH),
        _ceiling(1000e6, CeilingLayer.STORAGE, CeilingSource.MACHINE_FILE, "write"),
        _ceiling(4000e6, CeilingLayer.MEMORY, CeilingSource.PROFILE),
    ]
    rate = MetricSummary(
        name="write.rate",
        unit="B/s",
        better=Better.HIGHER,
        values=[80e6],
        median=80e6,
        low=80e6,
        high=80e6,
        coverage=0.0,
    )
    row = CampaignRow(
        step="full",
        point="full-0001",
        parameters={"target": "a"},
        states={"done": 1},
        metrics=[rate],
        ceilings={"write": PhaseCeilings(operation="write", ceilings=ceilings)},
    )
    rows = [row, row.model_copy(update={"parameters": {"target": "b"}, "ceilings": {}})]
    result = CampaignResult(
        name="c", about="", machine="m", directory="d", points=2, states={"done": 2}, rows=rows
    )
    (found,) = campaign_sections(result, Units.SI)
    (table,) = found.blocks
    assert isinstance(table, TableBlock)
    (line,) = table.rows
    assert line == (
        "full",
        "target a",
        "write",
        "80.0 MB/s",
        "8.0 %",
        "1.00 GB/s (storage: storage of a test; from the machine file)",
        "2.0 %",
        "4.00 GB/s (memory: memory of a test; from the profile)",
        "50.0 MB/s (network: network of a test; from venturi health)",
    )
    assert campaign_sections(result.model_copy(update={"rows": rows[1:]}), Units.SI) == ()
