"""The page of a validation: every cell, what misses and where, and two pictures."""

from __future__ import annotations

import json

import pytest

from venturi.model.prediction import PredictionPart, SignedError
from venturi.model.validation import Storage, Tried, Validation, ValidationCell
from venturi.report import quantity
from venturi.report.figure import predicted
from venturi.report.render import render_document
from venturi.report.validation import summary_of


def cell(application: str, system: str, signed: float, spread: float = 0.02) -> ValidationCell:
    return ValidationCell(
        application=application,
        system=system,
        seconds=0.2,
        proxy_seconds=0.2 * (1 + signed),
        spread=spread,
        error=SignedError(signed=signed, low=signed - 0.05, high=signed + 0.05),
        sorts=[
            PredictionPart(name="write", application=0.1, proxy=0.1 + 0.2 * signed, error=None),
            PredictionPart(name="read", application=0.1, proxy=0.1, error=None),
        ],
    )


def validation(*cells: ValidationCell) -> Validation:
    return Validation(
        schema_="venturi.validation/1",
        name="validation",
        started="2026-01-02T03:04:05+00:00",
        venturi="0.1.0",
        repetitions=6,
        captured_on="xfs",
        applications=[
            Tried(name="dump", about="writes <dumps>", proxy="derived", lines=30),
            Tried(name="tar", about="reads", proxy="", failure="nothing to derive"),
        ],
        systems=[Storage(name="xfs", about="loop"), Storage(name="tmpfs", about="memory")],
        cells=list(cells),
        cpu="one",
        cores=2,
        kernel="Linux 6",
        highest_load=1.25,
    )


MISS = f"write {quantity.seconds(0.1)} → {quantity.seconds(0.04)}"
MIXED = validation(
    cell("dump", "xfs", 0.04),
    cell("dump", "tmpfs", -0.30),
    cell("tar", "xfs", 0.5, spread=0.6),
    ValidationCell(application="tar", system="tmpfs", refused="they do not do the same"),
)


def test_the_summary_counts_what_is_near() -> None:
    assert summary_of(MIXED) == (
        "Median |error| 30 %, worst +50 % (tar on xfs); 2 of 3 within 10 % or the application's "
        "own spread; 1 refused."
    )
    assert summary_of(validation()) == "Nothing could be compared."


def test_what_is_written_by_hand_does_not_count() -> None:
    found = validation(cell("dump", "xfs", 0.04), cell("dump-ior", "xfs", 1.5))
    by_hand = Tried(name="dump-ior", about="in IOR's words", proxy="dump-ior")
    found = found.model_copy(update={"applications": [*found.applications, by_hand]})
    assert summary_of(found) == (
        "Median |error| 4.0 %, worst +4.0 % (dump on xfs); 1 of 1 within 10 % or the application's "
        "own spread. Workloads written by hand, not counted: median |error| 150 %."
    )


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_page_has_every_cell_and_every_miss(form: str) -> None:
    text = render_document(MIXED, form)
    assert "<dumps>" not in text
    for words in ("they do not do the same", "nothing to derive", "derived, 30 lines", "refused"):
        assert words in text
    assert MISS in text.replace("\u00a0", " ")
    assert "https:" not in text


def test_numbers_that_two_pictures_share_stand_once() -> None:
    text = render_document(MIXED, "md")
    assert text.count("| dump | xfs |") == 1
    assert text.count("**Every pair**") == 1
    assert "Its numbers are those of the table *Every pair*." in text


def test_the_pictures_show_all_that_was_compared() -> None:
    points = json.dumps(predicted.against(MIXED).spec)
    assert points.count('"system": "xfs"') == 2
    assert points.count('"system": "tmpfs"') == 1
    rows = predicted.errors(MIXED).spec["layer"][3]["data"]["values"]
    assert [row["x"] for row in rows] == [0.04, -0.30, 0.5]
    assert all(row["low"] <= row["x"] <= row["high"] for row in rows)


def test_a_page_without_any_comparison_is_a_page() -> None:
    refused = validation(ValidationCell(application="dump", system="xfs", refused="it failed"))
    assert "Nothing could be compared" in render_document(refused, "html")


def test_an_interval_beyond_the_edge_is_cut_there() -> None:
    wide = cell("dump", "xfs", 0.1)
    wide = wide.model_copy(update={"error": SignedError(signed=0.1, low=-0.9, high=75.0)})
    [row] = predicted.errors(validation(wide)).spec["layer"][3]["data"]["values"]
    edge = 0.3 * 1.15
    assert (row["low"], row["high"]) == (pytest.approx(-edge), pytest.approx(edge))
    far = cell("dump", "xfs", 9.0)
    [row] = predicted.errors(validation(far)).spec["layer"][3]["data"]["values"]
    assert row["x"] == 2.0
