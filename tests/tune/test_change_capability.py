"""Changes are offered to interfaces that can do them, and to no others."""

from __future__ import annotations

import pytest

from tune.test_change import changed, context, planned
from venturi.model.error import UserError
from venturi.model.plan import Interface
from venturi.tune.evaluation_context import EvaluationContext


@pytest.mark.parametrize("interface", list(Interface))
def test_changes_are_for_interfaces_that_can_do_them(interface: Interface) -> None:
    entry = interface.entry
    dataset = ", datasets: {d: {shape: [4, 64], split: [4, 1]}}" * entry.has_general_format
    dataset += ", shared: rank" * (not entry.can_share_writes)
    body = (
        f"files: {{f: {{path: f, interface: '{interface.value}'{dataset}}}}}\nprogram:\n  g:\n"
        "    - phase: p\n      do:\n        - create: f\n"
        + (
            "        - write: f.d\n"
            if entry.has_general_format
            else "        - write: {to: f, size: 64 KiB}\n"
        )
        + "        - close: f\n"
    )
    before = context(body, "lustre")
    offered = {
        text: applies(text, before) for text in ("hint=cb_nodes:2", "stripe=4", "collective=on")
    }
    assert offered["hint=cb_nodes:2"] == entry.takes_hints
    assert offered["stripe=4"] == entry.can_stripe
    assert offered["collective=on"] == bool(entry.calls.collective)


def applies(text: str, before: EvaluationContext) -> bool:
    """Whether a change applies to a workload; if it does, the workload can be planned."""
    try:
        candidate = changed(text, before)
    except UserError as error:
        if "does not apply" not in error.message:
            raise
        return False
    planned(candidate)
    return True
