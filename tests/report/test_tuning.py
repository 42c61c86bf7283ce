"""The page of a tuning: the ranking as a picture, advice, and what was not measured."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from venturi.model.document import parse_json
from venturi.model.record import FileSystem
from venturi.model.tuning import (
    TUNING_SCHEMA,
    Cause,
    Computing,
    Durability,
    Effect,
    Gain,
    Meaning,
    Skipped,
    Trial,
    TrialPair,
    Tuning,
    TuningStage,
    Whole,
)
from venturi.report.render import render_document
from venturi.report.tuning_text import TuningProgress, print_tuning


def pair(stage: TuningStage, base_s: float, ratio: float) -> TrialPair:
    """One measurement, in which every time is like the first."""
    changed_s = base_s * ratio
    return TrialPair(
        stage=stage,
        base_s=base_s,
        changed_s=changed_s,
        base_first_s=base_s,
        changed_first_s=changed_s,
    )


def trial(name: str, ratio: float, effect: Effect, **changes: object) -> Trial:
    """A change that came to the final."""
    key, _, value = name.partition("=")
    made = Trial(
        key=key,
        value=value,
        what="a <change>",
        advice=f"Do {key}.",
        meaning=Meaning(),
        stage=TuningStage.FINAL,
        effect=effect,
        gain=Gain(
            ratio=ratio,
            low=ratio * 0.8,
            high=ratio * 1.2,
            confidence=0.98,
            pairs=8,
            base_s=2.0,
            changed_s=2.0 * ratio,
        ),
        measured_ratio=ratio,
        pairs=[pair(TuningStage.FINAL, 2.0, ratio)] * 8,
        whole=Whole(before_s=10.0, after_s=8.0 + 2.0 * ratio),
        workload_text="workload: 1\n",
    )
    return made.model_copy(update=changes)


def looked_at(name: str, ratio: float | None) -> Trial:
    pairs = [] if ratio is None else [pair(TuningStage.SCREEN, 1.0, ratio)]
    stage = TuningStage.NONE if ratio is None else TuningStage.SCREEN
    return trial(
        name,
        1.0,
        Effect.UNJUDGED,
        stage=stage,
        gain=None,
        whole=None,
        measured_ratio=ratio,
        pairs=pairs,
    )


def tuning(*trials: Trial, **changes: object) -> Tuning:
    made = Tuning(
        schema_=TUNING_SCHEMA,
        name="app",
        about="",
        started="2026-01-02T03:04:05+00:00",
        command=["venturi", "tune"],
        headline="sync=end helps most.",
        rule="The rule.",
        budget_s=600,
        spent_s=61,
        runs=40,
        ranks=4,
        seed=1,
        base_s=[2.0, 2.2],
        computing=Computing(seconds=8.0, source="capture"),
        trials=list(trials),
        skipped=[Skipped(name="chunks", why="no dataset is in chunks")],
        left_out=["overlap cannot be said"],
        host="host",
        directory="/somewhere",
        file_system=FileSystem(
            type="ext4", source="/dev/x", mount="/", total_bytes=1, free_bytes=1, free_inodes=1
        ),
        venturi="0.1.0",
        workload_text="workload: 1\n",
    )
    return made.model_copy(update=changes)


WEAK = Meaning(durability=Durability.WEAKER, assumes="a crash may take more")
WHOLE = tuning(
    trial("sync=end", 0.01, Effect.HELPS, meaning=WEAK),
    trial("transfer=4MiB", 0.97, Effect.NO_GAIN),
    trial("files=rank", 2.5, Effect.HARMS),
    looked_at("depth=8", 0.8),
    looked_at("stripe=4", None),
    causes=[
        Cause(
            finding="no-collective",
            what="f: 2 ranks use one file.",
            evidence="all of 9 calls are independent",
            advice="Call together.",
            answers=["collective=on"],
            says="It costs no time here.",
        )
    ],
)


def test_the_page_says_what_to_change_and_what_that_costs() -> None:
    text = render_document(WHOLE, "html").replace("\u00a0", " ")
    assert text.count("<svg") == 1
    for words in (
        "What would make app faster",
        "sync=end helps most.",
        "persists less",
        "Do sync.",
        "a crash may take more",
        "0.0100 x",
        "a &lt;change&gt;",
        "no dataset is in chunks",
        "overlap cannot be said",
        "the budget was spent",
        "The rule.",
        "4 changes measured, 3 of them afresh: 1 of these helps.",
        "the whole run 0.802 x",
        "f: 2 ranks use one file.",
        "all of 9 calls are independent",
        "It costs no time here.",
        "Call together.",
    ):
        assert words in text, words
    assert "<change>" not in text


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_tuning_without_any_measurement_has_a_page(form: str) -> None:
    text = render_document(tuning(headline="Nothing applies.", base_s=[], interrupted=True), form)
    assert "Nothing applies." in text
    assert "Interrupted" in text
    assert "<svg" not in text


def test_the_document_comes_back_from_its_json() -> None:
    assert parse_json(Tuning, render_document(WHOLE, "json")) == WHOLE


def test_the_terminal_shows_the_ranking_within_80_columns() -> None:
    stream = io.StringIO()
    print_tuning(WHOLE, Console(file=stream, width=80), "app.tune")
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    order = [text.index(f" {name}  ") for name in ("sync=end", "transfer=4MiB", "files=rank")]
    assert order == sorted(order)
    assert "helps *" in text
    assert "* persists less" in text
    assert "depth=8 0.800 x" in text
    assert "no time for: stripe=4" in text
    assert "- f: 2 ranks use one file. It costs no time here." in text
    assert "venturi report app.tune" in text


def test_progress_is_a_line_every_ten_seconds() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = TuningProgress(600, stream, lambda: now[0])
    for second in range(26):
        now[0] = float(second)
        progress.show_run(second, "screen: sync=end")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "run 11" in lines[0]
    assert "screen: sync=end" in lines[0]
