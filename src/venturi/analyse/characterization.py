"""A characterization from captures: activity, findings, the proxy and how well it stands for it."""

from __future__ import annotations

from venturi.analyse.characterization_data import characterization_data_of
from venturi.analyse.counted_job import counted_job_of
from venturi.analyse.counter_data import counter_data_of, with_counted
from venturi.analyse.fidelity_report import fidelity
from venturi.derive.counted_sync import with_counted_syncs
from venturi.derive.finding import merged, operation_findings
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.characterization import CHARACTERIZATION_SCHEMA, Characterization
from venturi.model.characterization_data import CharacterizationData
from venturi.model.error import UserError
from venturi.model.trace_folder import Captured
from venturi.model.workload import Finding, Workload


def characterization_of(
    captured: Captured, name: str, proxy: Captured | None = None
) -> Characterization:
    """The characterization of an application; with its proxy's capture, their comparison too.

    Of a capture without operations it says what counters can say. Raises UserError where a
    capture holds no I/O of an application.
    """
    derived, why = _derived(captured, name)
    captured = with_counted_syncs(captured).captured
    counted = counted_job_of(captured.trace)
    activity = _activity(captured, name).model_copy(update={"counted": counted})
    rules = derived.origin.findings if derived is not None and derived.origin else []
    return Characterization(
        schema_=CHARACTERIZATION_SCHEMA,
        activity=activity,
        findings=merged(operation_findings(captured), rules),
        proxy=derived,
        proxy_text=to_yaml(derived.model_copy(update={"origin": None})) if derived else "",
        why_no_proxy=why,
        fidelity=fidelity(captured, proxy, (name, "proxy")) if proxy is not None else None,
    )


def short_characterization_of(
    captured: Captured, name: str
) -> tuple[CharacterizationData, list[Finding]]:
    """What an application does and what costs time in it, without its proxy, which takes longer.

    Raises UserError where a capture holds no I/O of an application.
    """
    captured = with_counted_syncs(captured).captured
    return _activity(captured, name), operation_findings(captured)


def _activity(captured: Captured, name: str) -> CharacterizationData:
    """The activity: from operations where there are any, with what only counters know beside."""
    if captured.operations is None:
        return counter_data_of(captured, name)
    activity = characterization_data_of(captured, name)
    return with_counted(activity, captured) if captured.trace.records else activity


def _derived(captured: Captured, name: str) -> tuple[Workload | None, str]:
    try:
        return derive(captured, name), ""
    except UserError as error:
        return None, error.message
