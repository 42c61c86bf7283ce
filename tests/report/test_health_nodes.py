"""The page of a session says whether its nodes are alike, and which are not."""

from __future__ import annotations

from venturi.model.health import AuditEntry, Drift, NodeAudit, NodeAudits
from venturi.report.block import Paragraph, TableBlock
from venturi.report.health import degraded_links, nodes_blocks


def audits(expected: int, *distinct: tuple[list[str], str]) -> NodeAudits:
    found = [
        NodeAudit(hosts=hosts, sha256=value * 32, entries=[AuditEntry(key="kernel", value=value)])
        for hosts, value in distinct
    ]
    return NodeAudits(expected=expected, why_fewer="no route", distinct=found)


def texts(nodes: NodeAudits, changed: list[Drift] | None = None) -> list[str]:
    blocks = nodes_blocks(nodes, changed or [])
    return [block.text for block in blocks if isinstance(block, Paragraph)]


def test_nodes_that_are_alike_are_said_to_be() -> None:
    assert "All 2 nodes identical. SHA-256 6666666666666666." in texts(audits(2, (["a", "b"], "6")))


def test_silent_node_is_no_identical_one() -> None:
    said = texts(audits(3, (["a", "b"], "6")))
    assert said[0] == "Only 2 of 3 nodes answered: no route."
    none = texts(audits(2))
    assert none == ["Only 0 of 2 nodes answered: no route."]


def test_key_that_differs_is_named_with_its_nodes() -> None:
    blocks = nodes_blocks(audits(3, (["a", "c"], "6"), (["b"], "7")), [])
    [table] = [block for block in blocks if isinstance(block, TableBlock)]
    assert list(table.rows) == [("kernel", "6", "a, c"), ("kernel", "7", "b")]


def test_change_meanwhile_is_shown() -> None:
    drift = Drift(key="swappiness on b", before="60", now="10")
    blocks = nodes_blocks(audits(1, (["b"], "6")), [drift])
    [table] = [block for block in blocks if isinstance(block, TableBlock)]
    assert list(table.rows) == [("swappiness on b", "60", "10")]


def linked(hosts: list[str], *values: tuple[str, str]) -> NodeAudit:
    entries = [AuditEntry(key=f"PCI link of {key}", value=value) for key, value in values]
    return NodeAudit(hosts=hosts, sha256="6" * 32, entries=entries)


def test_link_below_its_maximum_is_said_with_its_nodes() -> None:
    slow = ("network 0000:02:00.0", "degraded: 16.0 GT/s x4 of 16.0 GT/s x16")
    idle = ("display 0000:03:00.0", "degraded: 2.5 GT/s x16 of 16.0 GT/s x16")
    good = ("storage 0000:01:00.0", "8.0 GT/s x4")
    distinct = [linked(["a"], slow, good), linked(["b"], slow, idle, good), linked(["c"], good)]
    said = degraded_links(NodeAudits(expected=3, distinct=distinct), [])
    assert said == [
        "PCI link of network 0000:02:00.0 is below its maximum: "
        "16.0 GT/s x4 of 16.0 GT/s x16 on a, b.",
        "PCI link of display 0000:03:00.0 is below its maximum: "
        "2.5 GT/s x16 of 16.0 GT/s x16 on b. It may save power while nothing uses it.",
    ]
    assert not degraded_links(NodeAudits(expected=1, distinct=[linked(["c"], good)]), [])


def test_link_of_the_only_audit_is_said_without_a_node() -> None:
    [entry] = linked([], ("storage 0000:01:00.0", "degraded: 8.0 GT/s x1 of 8.0 GT/s x4")).entries
    said = "PCI link of storage 0000:01:00.0 is below its maximum: 8.0 GT/s x1 of 8.0 GT/s x4."
    assert degraded_links(None, [entry]) == [said]
