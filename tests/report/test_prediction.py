"""The page of a prediction: whole, offline, its verdicts in words, and pictures with all runs."""

from __future__ import annotations

import pytest
from test_html import outline

from venturi.model.prediction import (
    Baseline,
    MeasuredSystem,
    Prediction,
    PredictionPart,
    PredictionRun,
    Side,
    SignedError,
    Sort,
)
from venturi.report.figure import turns
from venturi.report.render import render_document


def side(seconds: float, first: int, spread: float = 0.05) -> Side:
    places = [first, *(n for n in (3 - first, 4 + first, 7 - first))]
    by = {"read": 0.0, "write": 0.75 * seconds, "sync": 0.2 * seconds, "metadata": 0.05 * seconds}
    runs = [PredictionRun(place=p, seconds=seconds, seconds_by=by, run_seconds=9.0) for p in places]
    return Side(
        seconds=seconds,
        seconds_by=by,
        bytes_per_second=1e9,
        spread=spread,
        bytes_written=10**9,
        bytes_read=0,
        requests=1000,
        calls=1100,
        ranks=4,
        run_seconds=9.0,
        runs=runs,
    )


def prediction(signed: float, spread: float = 0.05, load: float = 0.5) -> Prediction:
    ours, theirs = side(2.0, 0, spread), side(2.0 * (1 + signed), 1)
    error = SignedError(signed=signed, low=signed - 0.02, high=signed + 0.02)
    return Prediction(
        schema_="venturi.prediction/1",
        name="checkpoint",
        command="mpirun <app>",
        started="2026-01-02T03:04:05+00:00",
        venturi="0.1.0",
        repetitions=4,
        application=ours,
        proxy=theirs,
        error=error,
        within_spread=abs(signed) <= spread,
        headline="The proxy's I/O takes longer.",
        sorts=[
            PredictionPart(
                name=s, application=ours.seconds_by[s], proxy=theirs.seconds_by[s], error=None
            )
            for s in Sort
        ],
        phases=[PredictionPart(name="1 write", application=2.0, proxy=2.1, error=error)],
        streams=[PredictionPart(name="/scratch/dump.#", application=2.0, proxy=2.1, error=error)],
        baselines=[Baseline(name="bytes / peak", about="plain", seconds=0.5, signed=-0.75)],
        cache="dropped",
        capture="both alike",
        capture_share=0.001,
        place=MeasuredSystem(
            directory="/scratch",
            file_system="xfs",
            host="node",
            system="Debian",
            kernel="6.1",
            cpu="CPU",
            cores=2,
            memory_bytes=2**30,
            load_before=load,
            load_after=0.1,
        ),
        workload_text="workload: 1\n",
    )


def test_the_page_is_whole_and_escapes_what_was_typed() -> None:
    text = render_document(prediction(0.05), "html")
    ids = {
        f"prediction-{name}" for name in ("runs", "turns", "sorts", "phases", "streams", "making")
    }
    assert ids <= set(outline(text).ids)
    assert text.count("<svg") == 2
    assert "mpirun &lt;app&gt;" in text


@pytest.mark.parametrize(
    ("signed", "spread", "word"),
    [
        (0.09, 0.01, "WITHIN 10 %"),
        (-0.09, 0.01, "WITHIN 10 %"),
        (0.2, 0.3, "WITHIN ITS SPREAD"),
        (-0.2, 0.1, "MORE THAN 10 % OFF"),
    ],
)
def test_the_verdict_follows_error_and_spread(signed: float, spread: float, word: str) -> None:
    assert f"**{word}**" in render_document(prediction(signed, spread), "md")


@pytest.mark.parametrize(
    ("width", "words"),
    [(0.15, "ask again with more runs"), (0.01, "They differ most in write; 'venturi derive LOG")],
)
def test_who_is_off_is_told_what_to_do(width: float, words: str) -> None:
    found = prediction(-0.2, 0.1)
    error = SignedError(signed=-0.2, low=-0.2 - width, high=-0.2 + width)
    assert words in render_document(found.model_copy(update={"error": error}), "md")


def test_what_a_user_waits_for_is_shown_where_it_is_known() -> None:
    found = prediction(0.05)
    assert "first request to last" not in render_document(found, "md")
    error = SignedError(signed=-0.3, low=-0.35, high=-0.25)
    sides = {
        name: getattr(found, name).model_copy(update={"span_seconds": span})
        for name, span in (("application", 10.0), ("proxy", 7.0))
    }
    text = render_document(found.model_copy(update={**sides, "span_error": error}), "md")
    assert "Error from first request to last" in text
    assert "of 10.0 s, computing included" in text


def test_parts_that_are_too_short_or_missing_have_no_interval() -> None:
    whole = SignedError(signed=-1.0, low=-1.0, high=-1.0)
    parts = [
        PredictionPart(
            name="write", application=1.0, proxy=1.1, error=SignedError(signed=0.1, low=0, high=1)
        ),
        PredictionPart(name="metadata", application=0.3, proxy=0.0, error=whole),
        PredictionPart(name="sync", application=0.01, proxy=0.0, error=whole),
        PredictionPart(name="read", application=0.0, proxy=0.2, error=None),
    ]
    cells = [row[3:] for row in turns.parts_table("", parts).rows]
    assert cells[1:] == [
        ("−100 %", "the proxy has none"),
        ("–", "under 1 % of the time"),
        ("–", "–"),
    ]
    assert cells[0][0] == "+10 %"


def test_a_busy_machine_and_few_runs_are_said() -> None:
    assert "busy with other things" in render_document(prediction(0.05, load=17.0), "md")
    assert "busy with other things" not in render_document(prediction(0.05), "md")
    assert "Only 4 runs of each side" in render_document(prediction(0.05), "md")


def test_every_run_is_drawn_at_its_place() -> None:
    drawn = turns.figure(prediction(0.05))
    marks = drawn.spec["layer"][1]["data"]["values"]
    assert sorted((m["x"], m["side"]) for m in marks) == [
        (1, "application"),
        (2, "proxy"),
        (3, "proxy"),
        (4, "application"),
        (5, "application"),
        (6, "proxy"),
        (7, "proxy"),
        (8, "application"),
    ]
    assert [row[0] for row in drawn.table.rows] == [str(n) for n in range(1, 9)]
