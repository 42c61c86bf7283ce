"""Runs of one workload on one page have titles of their own; the page says what they share."""

from __future__ import annotations

import pytest

from report.record_factory import record
from venturi.model.record import Record
from venturi.report.page import build
from venturi.report.quantity import Units
from venturi.report.title import page_title, titles


def on(run: Record, system: str, directory: str) -> Record:
    """The run as if it had been made there."""
    here = run.environment
    file_system = here.file_system.model_copy(update={"type": system, "source": directory})
    there = here.model_copy(update={"file_system": file_system, "directory": directory})
    return run.model_copy(update={"environment": there})


def test_one_workload_on_two_file_systems() -> None:
    runs = [on(record(id="a"), "ext4", "/disk"), on(record(id="b"), "tmpfs", "/dev/shm")]
    name = runs[0].name
    page = build(runs, Units.IEC)
    assert page.title == f"2 runs of {name}"
    assert [chapter.title for chapter in page.chapters] == [f"{name} on ext4", f"{name} on tmpfs"]
    assert page.comparison is not None
    shown = [row[0] for row in page.comparison.rows if row[0]]
    assert shown == [f"{name} on ext4", f"{name} on tmpfs"]


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        (({}, {}), ("(a)", "(b)")),
        (({}, {"ranks": 8}), ("on 4 ranks", "on 8 ranks")),
        (({"parameters": {"t": 1}}, {"parameters": {"t": 2}}), ("with t 1", "with t 2")),
    ],
)
def test_namesakes_bear_what_tells_them_apart(
    changes: tuple[dict[str, object], ...], ends: tuple[str, ...]
) -> None:
    runs = [
        record(id=name).model_copy(update=change)
        for name, change in zip("ab", changes, strict=True)
    ]
    assert [title.removeprefix(runs[0].name + " ") for title in titles(runs)] == list(ends)


def test_other_workloads_keep_their_names() -> None:
    runs = [record(id="a"), record(id="b").model_copy(update={"name": "other"})]
    assert titles(runs) == [runs[0].name, "other"]
    assert page_title(runs) == "2 workloads on this storage"
    apart = [on(runs[0], "ext4", "/disk"), on(runs[1], "tmpfs", "/dev/shm")]
    assert page_title(apart) == "2 workloads on 2 storage systems"
