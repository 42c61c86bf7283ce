"""Sessions of health on a site: states and figures, without what says who or where."""

from __future__ import annotations

from pathlib import Path

from site_factory import result, store_of
from test_site_build import content, made, pages

from venturi.health.keep import keep_session
from venturi.model.health import (
    AuditEntry,
    Health,
    HealthPart,
    HealthRow,
    HealthState,
    LoadSample,
)
from venturi.model.output import Better


def session(run_id: str, state: HealthState) -> Health:
    """A session in which the memory did as `state` says."""
    load = LoadSample(busy_cpus=0.0, cpus=4, load_average=0.1)
    row = HealthRow(
        metric="triad: triad",
        part="memory",
        unit="B/s",
        better=Better.HIGHER,
        value=2.0**33,
        values=[2.0**33],
        before=[],
        state=state,
        says="node login1 is slow",
    )
    return Health(
        schema_="venturi.health/1",
        id=run_id,
        suite="quick",
        series="quick, login1, 4 ranks",
        started="2026-01-05T02:15:00+00:00",
        seconds=60.0,
        load_before=load,
        load_after=load,
        parts=[HealthPart(name="memory", state=state, says="node login1 is slow")],
        rows=[row],
        consistency=[],
        audit=[AuditEntry(key="mounts", value="/scratch/somebody")],
        audit_sha256="0" * 64,
        drift=[],
    )


def test_a_session_stands_on_the_pages_of_its_machine_and_of_the_status(tmp_path: Path) -> None:
    run = result(4, name="health-quick")
    store = store_of(tmp_path / "store", [run])
    place = tmp_path / "public"
    made(place, store)
    keep_session(store, session(run.id, HealthState.FAIL))
    made(place, store)
    machine = content(place, "machine/alpha.html")
    assert machine.row("2026-01-05 02:15", "quick")[2:] == ["FAIL", "FAIL"]
    assert machine.row("triad: triad")[1] == "8.00 GiB/s (FAIL)"
    assert content(place, "index.html").row("health")[1] == "FAIL (quick, 2026-01-05)"
    for path, data in pages(place).items():
        assert b"login1" not in data, path
        assert b"somebody" not in data, path


def test_a_session_whose_run_is_gone_is_not_shown(tmp_path: Path) -> None:
    store = store_of(tmp_path / "store", [result(4)])
    keep_session(store, session("20260105-021500-gone-0000", HealthState.OK))
    made(tmp_path / "public", store)
    rows = content(tmp_path / "public", "index.html").rows
    assert not [row for row in rows if row[:1] == ["health"]]
