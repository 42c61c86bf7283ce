"""The page of several documents: a question above each, its times, where there is more of it."""

from __future__ import annotations

import re

import pytest
from record_factory import invalid, record
from test_html import outline
from test_prediction import prediction
from test_tuning import trial, tuning

from capture_factory import shared_file
from venturi.analyse.characterization import characterization_of
from venturi.model.document import Document
from venturi.model.tuning import Effect, Trial
from venturi.model.workload import Severity
from venturi.report import quantity
from venturi.report.answers import AnsweringDocument
from venturi.report.render import render_answers

CHANGED = "workload: 1\nname: app\n"


def page(*documents: Document, form: str = "html") -> str:
    answers = [AnsweringDocument(one, f"page-{at}.html") for at, one in enumerate(documents)]
    return render_answers(answers, form)


def promise(workload_text: str) -> Trial:
    """A change that helps."""
    return trial("sync=end", 0.1, Effect.HELPS, workload_text=workload_text)


def test_each_document_answers_its_question_and_leads_to_its_page() -> None:
    found = characterization_of(shared_file().captured(), "app")
    documents = found, prediction(0.04), tuning(promise(CHANGED)), record()
    outline(render_answers([AnsweringDocument(one) for one in documents], "html"))
    text = page(*documents)
    cards = text.partition('<article class="chapter"')[0]
    assert found.findings[0].what in cards or found.findings[0].severity is Severity.NOTE
    assert "sync=end helps most." in cards
    titles = re.findall(r'<h2><a href="#part-\d">(.*?)</a>', text)
    assert len(titles) == 4
    assert titles[0] == "What does app do to storage?"
    assert titles[1].startswith("How long will the I/O of ")
    assert titles[2].startswith("What would make ")
    assert titles[3].startswith("How good is this storage")
    for at in range(4):
        assert f'<a href="page-{at}.html">page-{at}.html</a>' in text
    assert "default-src 'none'" in text
    assert "<script" not in text


def test_a_prediction_says_both_times() -> None:
    found = prediction(0.04)
    text = page(found, form="md")
    for side in (found.application, found.proxy):
        assert quantity.seconds(side.seconds) in text
    assert "promise" not in text


def test_what_a_tuning_promised_stands_beside_the_mended_program() -> None:
    """They belong together by the workload that both hold, not by a name."""
    change = promise(CHANGED)
    mended = prediction(0.04).model_copy(update={"workload_text": CHANGED})
    text = page(tuning(change), prediction(0.04), mended, form="md")
    assert text.count("keep the promise of sync=end?") == 1
    assert change.gain is not None
    changed, base = change.gain.changed_s, change.gain.base_s
    assert f"Promised were {quantity.seconds(changed)} of I/O" in text
    assert f"in place of {quantity.seconds(base)}" in text


@pytest.mark.parametrize("typed", [[], ["venturi", "predict", "a b", "-d", "<x>"]])
def test_the_command_stands_as_it_can_be_typed(typed: list[str]) -> None:
    found = prediction(0.04).model_copy(update={"typed": typed})
    assert ("venturi predict 'a b' -d '<x>'" in page(found, form="md")) == bool(typed)
    assert "<x>" not in page(found)


def test_an_invalid_run_has_no_numbers() -> None:
    made = invalid()
    text = page(made, record(), form="md")
    assert "Headline rates are withheld: the run is INVALID." in text
