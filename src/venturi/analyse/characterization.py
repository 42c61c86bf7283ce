"""A characterization from captures: activity, findings, the proxy and how well it stands for it."""

from __future__ import annotations

from venturi.analyse.characterization_data import characterization_data_of
from venturi.analyse.counter_data import counter_data_of
from venturi.analyse.fidelity_report import fidelity
from venturi.derive.finding import merged, operation_findings
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.characterization import CHARACTERIZATION_SCHEMA, Characterization
from venturi.model.error import UserError
from venturi.model.trace_folder import Captured
from venturi.model.workload import Workload


def characterization_of(
    captured: Captured, name: str, proxy: Captured | None = None
) -> Characterization:
    """The characterization of an application; with its proxy's capture, their comparison too.

    Of a capture without operations it says what counters can say. Raises UserError where a
    capture holds no I/O of an application.
    """
    has_all = captured.operations is not None
    activity = (
        characterization_data_of(captured, name) if has_all else counter_data_of(captured, name)
    )
    derived, why = _derived(captured, name)
    counted = derived.origin.findings if derived is not None and derived.origin else []
    return Characterization(
        schema_=CHARACTERIZATION_SCHEMA,
        activity=activity,
        findings=merged(operation_findings(captured), counted),
        proxy=derived,
        proxy_text=to_yaml(derived.model_copy(update={"origin": None})) if derived else "",
        why_no_proxy=why,
        fidelity=fidelity(captured, proxy, (name, "proxy")) if proxy is not None else None,
    )


def _derived(captured: Captured, name: str) -> tuple[Workload | None, str]:
    try:
        return derive(captured, name), ""
    except UserError as error:
        return None, error.message
