"""Records of version 1 stay readable, and say no more than was judged when they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from venturi.model.record import RECORD_SCHEMA, Level, Record
from venturi.model.verdict import UseKind
from venturi.store.result import result_of
from venturi.store.version import read_versioned

KEPT = Path(__file__).parent / "record_v1" / "indicative.json"
"""As version 1 wrote it."""


def changed(tmp_path: Path, **changes: Any) -> Record:
    """The kept record with other parts, read as a store reads it."""
    path = tmp_path / "record.json"
    path.write_text(json.dumps(json.loads(KEPT.read_text("utf-8")) | changes), "utf-8")
    return read_versioned(path, Record)


def test_the_kept_record_of_version_1_is_read() -> None:
    made = read_versioned(KEPT, Record)
    assert made.schema_ == RECORD_SCHEMA == "venturi.record/2"
    assert made.verdict.level is Level.INDICATIVE
    assert made.verdict.reasons[0] == "2 repetitions; 6 give an interval"
    assert "not observed" in made.verdict.notes[0]
    assert made.labels == {"write": ["not flushed"], "read": ["cached"]}
    assert made.metrics["write"].labels == ["not flushed"]
    assert result_of(made).metrics["read"].condition == "cached"
    assert Record.model_validate_json(made.to_json()) == made


@pytest.mark.parametrize(
    ("old", "level", "may_rank"),
    [
        ("RULES-OK", Level.VALID, True),
        ("VALID", Level.VALID, True),
        ("INDICATIVE", Level.INDICATIVE, False),
        ("INVALID", Level.INVALID, False),
    ],
)
def test_each_old_level_has_its_place(
    tmp_path: Path, old: str, level: Level, may_rank: bool
) -> None:
    made = changed(tmp_path, verdict={"level": old, "reasons": ["why"]})
    assert made.verdict.level is level
    assert made.verdict.reasons == ["why"]
    assert made.verdict.may(UseKind.RANK) is may_rank
    assert made.verdict.may(UseKind.COMPARE) is (level is not Level.INVALID)
    use = made.verdict.use_for(UseKind.RANK)
    assert use is not None
    assert use.rule_set == ("kept" if old == "RULES-OK" else "venturi")


def test_an_old_record_on_tmpfs_is_in_memory_and_not_flushed(tmp_path: Path) -> None:
    data = json.loads(KEPT.read_text("utf-8"))
    data["environment"]["file_system"]["type"] = "tmpfs"
    for row in data["phases"]:
        row["persisted"], row["bytes_durable"] = "fsync", row["bytes"]
    made = changed(tmp_path, environment=data["environment"], phases=data["phases"])
    assert made.labels == {"write": ["in memory"], "read": ["in memory"]}
    assert {(row.flushed, row.bytes_durable) for row in made.phases} == {("none", 0)}
