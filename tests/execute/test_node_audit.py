"""Every node of a job is audited by a process of its own; what differs is found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.execute.audit import audited
from venturi.execute.node_audit import audited_nodes, gathered, packed, unpacked
from venturi.health.session import changed
from venturi.model.health import AuditEntry
from venturi.model.machine import Launcher, Machine, MpiLibrary

TWO_NODES = """#!/bin/sh
# Starts a program on two hosts, of which the second has another kernel parameter.
unshare --uts sh -c 'hostname node1; exec "$@"' sh "$@"
echo 10 > "$(dirname "$0")/swappiness"
unshare --uts --mount sh -c 'hostname node2
    mount --bind "$0" /proc/sys/vm/swappiness; exec "$@"' \\
    "$(dirname "$0")/swappiness" "$@"
"""


def entries(host: str, **values: str) -> list[AuditEntry]:
    load = AuditEntry(key="load average", value=host, volatile=True)
    facts = [AuditEntry(key=key, value=value) for key, value in values.items()]
    return [AuditEntry(key="host name", value=host), *facts, load]


def test_line_has_the_whole_audit_and_stays_in_one_piece() -> None:
    line = packed(audited())
    assert len(line) < 4096  # a pipe takes so much at once
    [found] = unpacked(f"a banner\n[1,0]<stdout>:{line}\n{line[:100]}\nventuri-audit:!!:\n")
    assert [entry.key for entry in found] == [entry.key for entry in audited()]


def test_what_is_alike_is_kept_once() -> None:
    audits = [entries("b", kernel="6.1"), entries("a", kernel="6.1"), entries("c", kernel="6.5")]
    found = gathered(audits, 4, "no route to d")
    assert [node.hosts for node in found.distinct] == [["a", "b"], ["c"]]
    assert found.differing() == {"kernel": {"a": "6.1", "b": "6.1", "c": "6.5"}}
    assert not gathered(audits[:2], 2, "").differing()


def test_change_meanwhile_has_the_name_of_its_node() -> None:
    before = gathered([entries("a", swappiness="60"), entries("b", swappiness="60")], 2, "")
    after = gathered([entries("a", swappiness="60"), entries("b", swappiness="10")], 2, "")
    [drift] = changed(before, after)
    assert (drift.key, drift.before, drift.now) == ("swappiness on b", "60", "10")
    assert not changed(before, before)


@pytest.mark.needs("root")
def test_node_with_another_parameter_is_found(tmp_path: Path) -> None:
    script = tmp_path / "two-nodes"
    script.write_text(TWO_NODES)
    script.chmod(0o755)
    launcher = Launcher(mpi=MpiLibrary.MPICH, command=[str(script)])
    found = audited_nodes(Machine(name="two", launcher=launcher), 2)
    assert found.why_fewer == ""
    assert {host for node in found.distinct for host in node.hosts} == {"node1", "node2"}
    here = Path("/proc/sys/vm/swappiness").read_text().strip()
    assert here != "10"
    assert found.differing() == {"swappiness": {"node1": here, "node2": "10"}}


@pytest.mark.parametrize(
    "mpi", [pytest.param(mpi, marks=pytest.mark.needs(mpi.value)) for mpi in MpiLibrary]
)
def test_launcher_of_an_mpi_reaches_this_node(mpi: MpiLibrary) -> None:
    launcher = Launcher(mpi=mpi)
    found = audited_nodes(Machine(name="here", launcher=launcher), 1)
    [node] = found.distinct
    assert node.hosts == [audited()[0].value]


def test_launcher_that_fails_is_said() -> None:
    launcher = Launcher(mpi=MpiLibrary.MPICH, command=["false"])
    found = audited_nodes(Machine(name="none", launcher=launcher), 3)
    assert (found.expected, found.why_fewer, found.distinct) == (3, "exit code 1", [])
