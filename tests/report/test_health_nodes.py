"""The page of a session says whether its nodes are alike, and which are not."""

from __future__ import annotations

from venturi.model.health import AuditEntry, Drift, NodeAudit, NodeAudits
from venturi.report.block import Paragraph, TableBlock
from venturi.report.health import nodes_blocks


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
