"""Each row of docs/compatibility/fio.md: planned if it says so, else refused with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.compatibility import Row, check_refusal, rows_of
from venturi.compat.fio_command import read_command
from venturi.compat.fio_option import ALIASES, KNOWN, WITHOUT_EFFECT
from venturi.compat.fio_workload import FioRun, fio_run
from venturi.plan.make import make_plan

ROWS = rows_of("fio")
DEFAULTS = ("rw=read", "ioengine=psync", "ioengine=sync", "unlink=1", "openfiles=4", "directory=.")
"""What a job has without the option, too."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned(words: list[str]) -> FioRun:
    run = fio_run(read_command(words), seed=5)
    make_plan(run.trial.workload, run.trial.settings(nodes=1, most_ranks=64))
    return run


def grouped(run: FioRun) -> list[bool]:
    """Which jobs are one entry of the JSON output; it changes nothing of what is done."""
    return [placed.job.grouped for placed in run.jobs]


@pytest.mark.parametrize("row", [r for r in ROWS if r.verdict != "refused"], ids=str)
def test_what_the_table_runs_is_planned_and_has_its_effect(row: Row) -> None:
    run = planned(row.words)
    if row.option in ("name", "size", "filesize"):  # there is no job without them
        return
    assert row.base != row.words
    before = planned(row.base)
    changes = (run.trial, grouped(run)) != (before.trial, grouped(before))
    no_effect = row.option in WITHOUT_EFFECT or "the default, and the only value" in row.note
    assert changes == (not no_effect and row.example[0].removeprefix("--") not in DEFAULTS)


@pytest.mark.parametrize("row", [r for r in ROWS if r.verdict == "refused"], ids=str)
def test_what_the_table_refuses_is_refused_by_name_with_its_reason(row: Row) -> None:
    check_refusal(row, planned)


def test_every_option_has_a_row() -> None:
    assert {row.option for row in ROWS} == set(KNOWN)


def test_other_names_are_those_of_known_options() -> None:
    assert set(ALIASES.values()) <= set(KNOWN)
    assert not set(ALIASES) & set(KNOWN)
