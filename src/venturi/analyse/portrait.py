"""A portrait from captures: activity, findings, the proxy and how well it stands for it."""

from __future__ import annotations

from venturi.analyse.activity import activity_of
from venturi.analyse.counted_activity import counted_activity
from venturi.analyse.fidelity_card import fidelity
from venturi.derive.finding import merged, operation_findings
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import UserError
from venturi.model.portrait import PORTRAIT_SCHEMA, Portrait
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload


def portrait_of(captured: Captured, name: str, proxy: Captured | None = None) -> Portrait:
    """The portrait of an application; with its proxy's capture, their comparison too.

    Of a capture without operations it says what counters can say. Raises UserError where a
    capture holds no I/O of an application.
    """
    has_all = captured.operations is not None
    activity = activity_of(captured, name) if has_all else counted_activity(captured, name)
    derived, why = _derived(captured, name)
    counted = derived.origin.findings if derived is not None and derived.origin else []
    return Portrait(
        schema_=PORTRAIT_SCHEMA,
        activity=activity,
        findings=merged(operation_findings(captured), counted),
        proxy=derived,
        proxy_text=to_yaml(derived.model_copy(update={"origin": None})) if derived else "",
        why_no_proxy=why,
        card=fidelity(captured, proxy, (name, "proxy")) if proxy is not None else None,
    )


def _derived(captured: Captured, name: str) -> tuple[Workload | None, str]:
    try:
        return derive(captured, name), ""
    except UserError as error:
        return None, error.message
