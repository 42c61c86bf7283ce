"""The figure of what computing before a call costs it."""

from __future__ import annotations

from profile_factory import curve, data, profile
from venturi.report.figure import pace
from venturi.report.machine import names_table
from venturi.report.quantity import Units

THINKS_S = (1e-7, 1e-4)
PLAIN = data("write", lambda size, ranks: 1e-6, "new")
PACED = [
    data(
        "write",
        lambda size, ranks, think_s=think_s: 1e-6 + think_s / 100,
        "new",
        ranks=(1,),
        sizes=(512,),
        access={"think_s": think_s},
    )
    for think_s in THINKS_S
]
NAMES = [
    curve("stat", lambda size, ranks: 1e-6, ranks=(1,), sizes=(0,), think_s=think_s)
    for think_s in (0.0, *THINKS_S)
]


def test_the_figure_has_each_call_over_what_was_computed_before_it() -> None:
    found = pace.figure(profile(PLAIN, *PACED, *NAMES), Units.IEC)
    assert found is not None
    plots = found.spec["concat"]
    assert [len(plot["data"]["values"]) for plot in plots] == [2, 2]
    assert [row["x"] for row in plots[0]["data"]["values"]] == list(THINKS_S)
    assert found.finding == (
        "After 100 µs of computing a write of 512 B takes 2.00 µs, with next to none before it "
        "1.00 µs."
    )
    assert len(found.table.rows) == 4


def test_a_profile_without_such_calls_has_no_figure() -> None:
    assert pace.figure(profile(PLAIN, NAMES[0]), Units.IEC) is None


def test_the_table_of_names_has_calls_without_computing_only() -> None:
    assert len(names_table(profile(PLAIN, *NAMES)).rows) == 1
