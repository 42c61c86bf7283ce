"""Each row of docs/compatibility/md-workbench.md: planned if it says so, else refused."""

from __future__ import annotations

import pytest

from compat.compatibility import Row, check_refusal, rows_of, without_row
from venturi.compat.md_workbench_option import OPTIONS, read_arguments
from venturi.compat.md_workbench_workload import workbench_trial
from venturi.compat.perform import PlannedRun
from venturi.model.error import UserError
from venturi.plan.make import make_plan

ROWS = rows_of("md-workbench")
ONLY_IN_OUTPUT = {
    "-o",
    "--print-detailed-stats",
    "--process-reports",
    "-q",
    "--latency-all",
    "--run-info-file",
}
WITHOUT_EFFECT = {"-v", "--dataPacketType", "--incompressible-data"}


def planned(words: list[str]) -> PlannedRun:
    test = workbench_trial(read_arguments(words), ranks=2)
    make_plan(test.workload, test.settings(nodes=1, most_ranks=64))
    return test


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.verdict != "refused" and r.option != "-h"], ids=str
)
def test_what_the_table_runs_is_planned_and_has_its_effect(row: Row) -> None:
    test, base = planned(row.words), planned(row.base)
    if row.option in WITHOUT_EFFECT:
        assert test == base
        return
    assert read_arguments(row.words) != read_arguments(row.base)
    assert (test == base) == (row.option in ONLY_IN_OUTPUT)


@pytest.mark.parametrize("row", [r for r in ROWS if r.verdict == "refused"], ids=str)
def test_what_the_table_refuses_is_refused_by_name_with_its_reason(row: Row) -> None:
    check_refusal(row, planned)


def test_every_option_has_a_row() -> None:
    assert not without_row(OPTIONS, ROWS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-W", "-W: wear-out follows a time limit"),
        ("-t 1 -T", "-t with -T"),
        ("-t -1", "-t -1: 0 or more"),
        ("-I 0", "-I 0: 1 or more"),
        ("--dataPacketType x", "no such kind"),
    ],
)
def test_what_makes_no_sense_is_refused(words: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        planned(words.split())
    assert message in caught.value.message
