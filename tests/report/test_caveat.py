"""What stands beside a rate that is not the storage's, and where no storage was touched."""

from __future__ import annotations

from typing import Any

import pytest
from record_factory import (
    SHAPES,
    Shape,
    environment,
    invalid,
    record,
    relabelled,
    substituted,
    workload,
)

from venturi.analyse.label import in_memory_rows
from venturi.model.event import CacheState
from venturi.model.plan import SyncMode
from venturi.model.record import MetricValue, PhaseRow, Record, Substitution
from venturi.report import caveat
from venturi.report.page import chapter
from venturi.report.phase import phases
from venturi.report.quantity import Units
from venturi.report.render import render


def changed(made: Record, path: str, **changes: Any) -> Record:
    """The record with fields of all rows of one phase replaced."""

    def row(old: PhaseRow) -> PhaseRow:
        return old.model_copy(update=changes) if old.path == path else old

    return relabelled(made.model_copy(update={"phases": [row(old) for old in made.phases]}))


def simulated() -> Record:
    """A run on the simulated clock."""
    here = environment()
    clock = here.clock.model_copy(update={"source": "simulated"})
    return record(environment=here.model_copy(update={"clock": clock}))


def null(**changes: Any) -> Record:
    """A run whose only file is on the null interface."""
    data = workload()
    data["files"]["stream1"]["interface"] = "null"
    return record(workload=data, **changes)


@pytest.mark.parametrize(
    ("path", "changes", "name"),
    [
        ("restart", {}, "restart (cold)"),
        ("restart", {"cache": CacheState.WARM}, "restart (cached)"),
        ("restart", {"cache": CacheState.MIXED}, "restart (partly cached)"),
        ("checkpoint", {}, "checkpoint"),
        ("checkpoint", {"flushed": "none"}, "checkpoint (not flushed)"),
        ("checkpoint", {"flushed": "flush"}, "checkpoint (not flushed)"),
        ("checkpoint", {"flushed": "fdatasync"}, "checkpoint"),
        ("checkpoint", {"cache": CacheState.WARM}, "checkpoint"),
        ("items", {"flushed": "none"}, "items (cache unknown)"),
    ],
)
def test_labels_are_part_of_the_name(path: str, changes: dict[str, Any], name: str) -> None:
    shown = chapter(changed(record(), path, **changes), Units.IEC, "x", "x").headlines
    assert name in {line.name for line in shown}


@pytest.mark.parametrize("form", ["html", "md", "csv", "json"])
@pytest.mark.parametrize("several", [1, 2])
def test_the_labels_are_in_every_form(form: str, several: int) -> None:
    warm = changed(record(), "restart", cache=CacheState.WARM)
    assert "cached" in render([warm] * several, form).replace("cached_share", "")
    assert "cached" not in render([record()] * several, form).replace("cached_share", "")


def test_files_in_memory_are_never_called_flushed() -> None:
    here = environment()
    kind = here.file_system.model_copy(update={"type": "tmpfs"})
    made = record(environment=here.model_copy(update={"file_system": kind}))
    made = made.model_copy(update={"phases": in_memory_rows(made.phases)})
    assert {phase.title for phase in phases(made)} == {
        "checkpoint (in memory)",
        "restart (in memory)",
        "items (in memory)",
    }
    text = render([made], "md")
    assert "checkpoint (in memory)" in text
    assert {row.flushed for row in made.phases} == {"none"}


@pytest.mark.parametrize("form", ["html", "md"])
def test_headlines_of_an_invalid_run_are_withheld(form: str) -> None:
    made = invalid()
    assert chapter(made, Units.IEC, "x", "x").headlines == ()
    text = render([made], form).replace("\u00a0", " ")
    assert "rates are withheld" in text
    assert all(phase.text(phase.rate.median, Units.IEC) in text for phase in phases(made))
    assert "withheld" not in render([record()], form)
    assert "Rates are withheld." in render([made, record()], "html")


@pytest.mark.parametrize(
    ("made", "words"), [(simulated(), "Simulated"), (null(), "Null interface")]
)
def test_without_storage_nothing_is_measured_in_a_directory(made: Record, words: str) -> None:
    text = render([made], "md")
    assert f"{words}: no storage was touched. It ran with 4 ranks." in text
    assert "Measured in" not in text
    assert "xfs at" not in text
    names = [line.name for line in chapter(made, Units.IEC, "x", "x").headlines]
    assert names
    assert all(name.endswith(f"({words.lower()})") for name in names)


def test_the_interface_that_ran_is_what_counts() -> None:
    entry = Substitution(file="stream1", wanted="posix", used="null", why="asked for")
    assert caveat.without_storage(record(substituted=[entry])) == "null interface"
    back = Substitution(file="stream1", wanted="null", used="posix", why="asked for")
    assert caveat.without_storage(null(substituted=[back])) == ""
    assert caveat.without_storage(substituted()) == ""
    assert "Measured in /scratch/ana (xfs) with 4 ranks." in render([record()], "md")


@pytest.mark.parametrize("how", ["none", "flush"])
def test_a_flush_forces_nothing(how: str) -> None:
    made = changed(record(), "checkpoint", flushed=how)
    assert caveat.flushed(phases(made)[0]) == "no"
    assert "not flushed" in render([made], "md")


def test_no_phase_makes_no_empty_section() -> None:
    made = record(shapes=(), repetitions=0, partial=True, workload={}, about="")
    assert [s.name for s in chapter(made, Units.IEC, "x", "x").sections] == [
        "environment",
        "making",
    ]
    text = render([made], "md")
    assert "No phase was finished" in text
    assert "it completed 0 of 1 repetition." in text
    assert "| none finished |" in render([made, record()], "md")


def test_a_phase_of_both_kinds_has_both_words() -> None:
    shape = Shape("mixed", "read", 8, 4096, 1e8, CacheState.WARM, names=("write",))
    made = record(shapes=(*SHAPES[:1], shape), repetitions=1)
    assert phases(made)[1].title == "mixed (cached, not flushed)"


def test_the_workload_s_own_metrics_come_before_phases_with_what_must_be_known() -> None:
    made = record()
    path = made.phases[0].path
    found = MetricValue(
        value=8.0,
        unit="ranks",
        median=8.0,
        low=4.0,
        high=16.0,
        n=6,
        coverage=0.97,
        values=[4.0, 8.0, 8.0, 8.0, 8.0, 16.0],
    )
    warm = changed(made, path, flushed=SyncMode.NONE, cache=CacheState.WARM)
    warm = warm.model_copy(
        update={
            "metrics": {
                "saturates": found.model_copy(update={"labels": ["not flushed"]}),
                path: found,
            }
        }
    )
    first, *others = chapter(warm, Units.IEC, "x", "x").headlines
    assert (first.name, first.value) == ("saturates (not flushed)", "8 ranks")
    assert "4 ranks to 16 ranks" in first.detail
    assert not any(line.name.startswith("saturates") for line in others)
    assert others
