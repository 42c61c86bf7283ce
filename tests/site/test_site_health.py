"""Sessions of health on a site: states and figures, without what says who or where."""

from __future__ import annotations

from pathlib import Path

from site_factory import result, store_of
from test_site_build import content, made, pages

from venturi.health.keep import keep_session
from venturi.model.health import (
    AuditEntry,
    Drift,
    Health,
    HealthPart,
    HealthRow,
    HealthState,
    LoadSample,
    NodeAudit,
    NodeAudits,
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


def entries(host: str, **more: str) -> list[AuditEntry]:
    """The audit of a node as `venturi health` finds it, with a few facts of every kind."""
    facts = {
        "host name": host,
        "system": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.1.0-42",
        "processor": "AMD EPYC 7713 64-Core Processor",
        "memory": "263856148 kB",
        "kernel command line": f"root=/dev/nfs ip={host}",
        "boost": "unavailable: No such file or directory",
        "mitigation of spectre_v2": "Vulnerable",
        "network eth0": "25000 Mbit/s, MTU 9000",
        "network eth1": "25000 Mbit/s, MTU 9000",
        "PCI link of network 0000:3b:00.0": "degraded: 8.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16",
    }
    found = [AuditEntry(key=key, value=value) for key, value in (facts | more).items()]
    return [*found, AuditEntry(key="load average", value="0.1 somebody", volatile=True)]


def audited_session(run_id: str, *hosts: str, **more: str) -> Health:
    """A session of several nodes, of which all but the first have `more`."""
    nodes = [
        NodeAudit(hosts=[host], sha256=f"{number:064}", entries=entries(host, **own))
        for number, host in enumerate(hosts)
        for own in ([more] if number else [{}])
    ]
    found = session(run_id, HealthState.OK)
    return found.model_copy(
        update={
            "audit": entries(hosts[0]),
            "nodes": NodeAudits(expected=len(hosts) + 1, distinct=nodes),
            "drift": [
                Drift(key="kernel", before="6.1.0-41", now="6.1.0-42"),
                Drift(key="kernel command line", before="ip=c1", now="ip=c2"),
                Drift(key="system", before=f"Debian 11 of {hosts[0]}", now="Debian 12"),
            ],
        }
    )


def test_a_machine_is_what_its_newest_audit_found(tmp_path: Path) -> None:
    runs = [result(4, name="health-quick"), result(5, name="health-quick")]
    store = store_of(tmp_path / "store", runs)
    old = audited_session(runs[0].id, "login1", kernel="5.10.0-1")
    keep_session(store, old.model_copy(update={"started": "2026-01-04T02:15:00+00:00"}))
    keep_session(store, audited_session(runs[1].id, "login1", "login2", "login3", memory="64 kB"))
    place = tmp_path / "public"
    made(place, store)
    page = content(place, "machine/alpha.html")
    assert "By the audit of 3 of 4 nodes on 2026-01-05" in page.text
    assert page.row("system")[1] == "Debian GNU/Linux 12 (bookworm)"
    assert page.row("memory")[1] == "64 KiB (2 of the nodes); 252 GiB (1 of the nodes)"
    assert page.row("network interfaces")[1] == "2 × 25000 Mbit/s, MTU 9000"
    assert page.row("PCI links of network")[1].startswith("degraded: 8.0 GT/s PCIe x8")
    assert page.row("2026-01-05 02:15", "kernel")[2:] == ["6.1.0-41", "6.1.0-42"]
    assert not [row for row in page.rows if row[:1] in (["boost"], ["kernel command line"])]
    for path, data in pages(place).items():
        for private in (b"login", b"somebody", b"/dev/nfs", b"spectre", b"eth0", b"3b:00"):
            assert private not in data, (path, private)


def test_a_fact_that_names_a_host_is_left_out(tmp_path: Path) -> None:
    run = result(4, name="health-quick")
    store = store_of(tmp_path / "store", [run])
    keep_session(store, audited_session(run.id, "login1", "login2", kernel="6.1.0 of login1"))
    made(tmp_path / "public", store)
    page = content(tmp_path / "public", "machine/alpha.html")
    assert next(row[1] for row in page.rows if row[:1] == ["kernel"]) == "6.1.0-42"
    assert "login1" not in page.text


def test_a_fact_of_an_audit_cannot_become_markup(tmp_path: Path) -> None:
    run = result(4, name="health-quick")
    store = store_of(tmp_path / "store", [run])
    keep_session(store, audited_session(run.id, "n1", "n2", processor="<script>alert(1)</script>"))
    made(tmp_path / "public", store)
    page = content(tmp_path / "public", "machine/alpha.html")
    assert "<script>alert(1)</script>" in page.text
    assert not [tag for tag, _ in page.tags if tag == "script"]
