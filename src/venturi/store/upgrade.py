"""Records of earlier versions, brought to the next one without a claim that nobody checked."""

from __future__ import annotations

import json
from typing import Any

from venturi.analyse.label import (
    LabelFacts,
    in_memory_rows,
    is_memory,
    labelled,
    labels_of,
    run_labels_of,
)
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.record import Level, Record
from venturi.model.verdict import UseKind
from venturi.model.workload import Workload

_RULES_OK = "RULES-OK"
_BEFORE = (
    "judged when it was made, by the rules of record version 1; "
    "other load during the run was not observed"
)


def record_2_of_1(data: dict[str, Any]) -> dict[str, Any]:
    """A record of version 1 as one of version 2.

    Its level and reasons stay as they were judged; RULES-OK is VALID, and may be ranked by the
    rules of its workload. Labels are made from its phases, which have all that they need.
    """
    old = data["verdict"]
    kept_rules = old["level"] == _RULES_OK
    level = Level.VALID if kept_rules else Level(old["level"])
    invalid = ["the run is INVALID"] if level is Level.INVALID else []
    unranked = [] if level is Level.VALID else [f"the run is {level.value}"]
    uses = [
        (UseKind.COMPARE, invalid),
        (UseKind.RANK, unranked),
        (UseKind.GATE, invalid),
    ]
    verdict = {
        "level": level.value,
        "reasons": old["reasons"],
        "valid": level is Level.VALID,
        "notes": [_BEFORE],
        "use": [
            {
                "what": what.value,
                "allowed": not broken,
                "rule_set": data["name"] if kept_rules and what is UseKind.RANK else "venturi",
                "broken": broken,
            }
            for what, broken in uses
        ],
    }
    renamed = {**data, "phases": [_phase_2_of_1(row) for row in data["phases"]]}
    renamed["workload"] = _with_key(data["workload"], "deal", "partition")
    record = Record.model_validate_json(
        json.dumps({**renamed, "schema": "venturi.record/2", "verdict": verdict}),
        by_alias=True,
        by_name=False,
    )
    return _labelled(record).to_data()


def _phase_2_of_1(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a phase whose fields have their present names."""
    return {"flushed" if key == "persisted" else key: value for key, value in row.items()}


def _with_key(value: Any, old: str, new: str) -> Any:
    """Return data in which a key has another name, at any depth."""
    if isinstance(value, dict):
        return {new if key == old else key: _with_key(one, old, new) for key, one in value.items()}
    return [_with_key(one, old, new) for one in value] if isinstance(value, list) else value


def _labelled(record: Record) -> Record:
    """The record with the labels that its phases give."""
    workload = Workload.model_validate_json(json.dumps(record.workload))
    instead = {item.file: item.used for item in record.substituted}
    used = {
        instead.get(name, (file.interface or DEFAULT_INTERFACE).value)
        for name, file in workload.files.items()
    }
    here = record.environment
    facts = LabelFacts(
        file_system=here.file_system.type,
        interfaces=frozenset(used),
        substituted=record.substituted,
        faults=sum(len(file.faults) for file in workload.files.values()),
        ranks=record.ranks,
        cpus=here.cores * max(len(here.hosts), 1),
    )
    rows = in_memory_rows(record.phases) if is_memory(facts.file_system) else record.phases
    labels, of_the_run = labels_of(rows, facts), run_labels_of(facts)
    return record.model_copy(
        update={
            "phases": rows,
            "labels": labels,
            "run_labels": of_the_run,
            "metrics": labelled(record.metrics, workload, labels, of_the_run),
        }
    )
