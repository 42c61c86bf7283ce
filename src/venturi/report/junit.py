"""A campaign's result as JUnit XML, which CI services show."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from venturi.model.campaign import CampaignResult, CampaignRow, TaskState
from venturi.model.verdict import Outcome

_KINDS = {
    TaskState.FAILED: "failure",
    TaskState.TIMEOUT: "failure",
    TaskState.OUT_OF_MEMORY: "failure",
    TaskState.NODE_FAILURE: "error",
    TaskState.LOST: "error",
    TaskState.CANCELLED: "skipped",
    TaskState.BLOCKED: "skipped",
    TaskState.PLANNED: "skipped",
    TaskState.SUBMITTED: "skipped",
    TaskState.QUEUED: "skipped",
    TaskState.RUNNING: "skipped",
}
"""From the worst to the least."""


def junit_text(result: CampaignResult) -> str:
    """A test case for each point of each step, and one for each of its gates."""
    suite = ElementTree.Element("testsuite", name=result.name)
    kinds = {"failure": 0, "error": 0, "skipped": 0}
    for row in result.rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"{result.name}.{row.step}", name=_name(row)
        )
        state = next((state for state in _KINDS if state.value in row.states), None)
        if state is not None:
            kind = _KINDS[state]
            kinds[kind] += 1
            said = ", ".join(f"{count} {name}" for name, count in row.states.items())
            found = ElementTree.SubElement(case, kind, message=said)
            found.text = _printable("\n".join(row.reasons))
        for gate in _gates(result.name, row):
            suite.append(gate)
            for element in gate:
                kinds[element.tag] += 1
    suite.set("tests", str(len(suite)))
    for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(kinds[kind]))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _gates(campaign: str, row: CampaignRow) -> Iterator[ElementTree.Element]:
    """A test case for each threshold, and one for each broken rule.

    What is undecided has neither passed nor failed: `skipped`.
    """
    about = f"{campaign}.{row.step}"
    kinds = {Outcome.FAIL: "failure", Outcome.UNDECIDED: "skipped"}
    for one in row.thresholds:
        name = _printable(f"{_name(row)}: {one.metric} {one.rule}")
        case = ElementTree.Element("testcase", classname=about, name=name)
        if one.outcome in kinds:
            message = _printable(f"{one.outcome.value}: {one.says}")
            ElementTree.SubElement(case, kinds[one.outcome], message=message)
        yield case
    for rule in row.broken_rules:
        name = _printable(f"{_name(row)}: rule of the workload")
        case = ElementTree.Element("testcase", classname=about, name=name)
        ElementTree.SubElement(case, "failure", message=_printable(rule))
        yield case


def _name(row: CampaignRow) -> str:
    said = " ".join(f"{name}={value}" for name, value in row.parameters.items())
    return _printable(f"{row.point} {said}".strip())


def _printable(text: str) -> str:
    """Without the control codes that XML cannot hold."""
    return "".join(c if c in "\n\t" or c.isprintable() else "?" for c in text)
