"""Each row of docs/compatibility/mdtest.md: planned if it says so, else refused with its reason."""

from __future__ import annotations

from typing import Any

import pytest

from compat.compatibility import Row, check_refusal, rows_of, without_row
from venturi.compat.mdtest_option import OPTIONS, read_arguments
from venturi.compat.mdtest_workload import MdtestRunSettings, trials_of
from venturi.model.error import UserError
from venturi.plan.make import make_plan

ROWS = rows_of("mdtest")
RANKS = 4
ONLY_IN_OUTPUT = {
    "-d",
    "-x",
    "-P",
    "-Z",
    "--saveRankPerformanceDetails",
    "--showRankStatistics",
    "--print-all-procs",
    "--warningAsErrors",
    "-v",
    "-V",
}
WITHOUT_EFFECT = {"-t", "--dataPacketType"}
"""Accepted, and the table says that there is nothing to do."""


def planned(words: list[str]) -> list[Any]:
    """What a command line runs, once every plan of it was made."""
    tests = trials_of(read_arguments(words), MdtestRunSettings(RANKS))
    for test in tests:
        made = make_plan(test.workload, test.settings(nodes=1, most_ranks=64))
        assert all(expectation.holds for expectation in made.expectations)
    return tests


@pytest.mark.parametrize(
    "row", [r for r in ROWS if r.verdict != "refused" and r.option != "-h"], ids=str
)
def test_what_the_table_runs_is_planned_and_has_its_effect(row: Row) -> None:
    tests = planned(row.words)
    assert tests
    if row.option in WITHOUT_EFFECT:
        assert tests == planned(row.base)
        return
    try:
        base_arguments, base = read_arguments(row.base), planned(row.base)
    except UserError:
        return  # the option is what makes the command line whole
    assert read_arguments(row.words) != base_arguments
    several = "@" in row.words[-1]
    assert (tests == base) == (row.option in ONLY_IN_OUTPUT and not several)


@pytest.mark.parametrize("row", [r for r in ROWS if r.verdict == "refused"], ids=str)
def test_what_the_table_refuses_is_refused_by_name_with_its_reason(row: Row) -> None:
    check_refusal(row, planned)


def test_every_option_has_a_row() -> None:
    assert not without_row(OPTIONS, ROWS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-n 4 -w 10 -k", "-w with -k"),
        ("-n 4 -u -S", "-u with -S"),
        ("-n 4 -c -S", "-c with -S"),
        ("-n 4 -u -c -d ./x@./y", "-c with several directories"),
        ("-n 4 -u -N 1 -d ./x@./y", "-N with several directories"),
        ("-n 4 -d ./x@./y", "several directories without -u"),
        ("-n 4 -e 10 -w 9", "-e > -w"),
        ("-n 4 -I 2 -u", "-n and -I with -u"),
        ("-n 5 -I 2", "-n 5 is no multiple of -I 2"),
        ("-n 4 -C -X -e 3 -w 3", "-X without -E"),
        ("-n 4 -X", "-X without -e"),
        ("-n 4 -w 10 -S --verify-write", "--verify-write with -S"),
        ("-n 4 -b 0 -z 1", "-b 0 with -z"),
        ("-T", "neither -n nor -I"),
        ("-n 4 -f 3 -l 2", "-f > -l"),
        ("-n 4 -l 9", "-l 9: there are only 4 tasks"),
        ("-n 4 -z -1", "-z -1: 0 or more"),
        ("-n 4 -u -d ./a@./b@./c@./d@./e", "5 directories for 4 tasks"),
        ("-n 4 --nonsense", "there is no option --nonsense"),
    ],
)
def test_what_mdtest_refuses_is_refused(words: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        planned(words.split())
    assert message in caught.value.message
