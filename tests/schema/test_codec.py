"""Python and the engine agree on every document: what it says, or where it is wrong."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from codec_program import Codec
from invalid_documents import BASES, CASES, Case
from pydantic import BaseModel
from random_document import RandomDocuments

from venturi.model.document import DocumentError, parse_json
from venturi.model.event import EventLine
from venturi.model.plan import Interface, Plan

DOCUMENTS = 1000
MUTANTS = 1000
MODELS: dict[str, type[BaseModel]] = {"plan": Plan, "event": EventLine}


@pytest.mark.parametrize("kind", MODELS)
def test_random_documents_come_back_equal(codec_echo: Codec, kind: str) -> None:
    model = MODELS[kind]
    source = RandomDocuments(seed=1)
    texts = [json.dumps(source.document(model)) for _ in range(DOCUMENTS)]
    sent = [parse_json(model, text) for text in texts]
    answers = codec_echo.answers([(kind, text) for text in texts])
    for document, answer in zip(sent, answers, strict=True):
        assert answer.accepted, (answer, document)
        assert parse_json(model, answer.text) == document
        # Every field is written, in the model's order, as Python writes it.
        ours = document.model_dump_json(by_alias=True)
        assert json.dumps(json.loads(answer.text)) == json.dumps(json.loads(ours))


@pytest.mark.parametrize("kind", MODELS)
def test_mutants_are_refused_at_the_same_path(codec_echo: Codec, kind: str) -> None:
    model = MODELS[kind]
    source = RandomDocuments(seed=2)
    choices = random.Random(3)
    texts = [json.dumps(mutant(source.document(model), source, choices)) for _ in range(MUTANTS)]
    answers = codec_echo.answers([(kind, text) for text in texts])
    refused = 0
    for text, answer in zip(texts, answers, strict=True):
        path = refused_at(model, text)
        refused += path is not None
        assert (None if answer.accepted else answer.path) == path, (answer, text)
    assert refused > MUTANTS // 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_invalid_documents_are_refused_at_this_path(codec_echo: Codec, case: Case) -> None:
    text = case.text()
    with pytest.raises(DocumentError) as caught:
        parse_json(MODELS[case.kind], text)
    assert caught.value.path == case.path
    (answer,) = codec_echo.answers([(case.kind, text)])
    assert not answer.accepted
    assert answer.path == case.path
    assert answer.message


@pytest.mark.parametrize("kind", BASES)
def test_the_table_starts_from_valid_documents(codec_echo: Codec, kind: str) -> None:
    text = json.dumps(BASES[kind])
    assert refused_at(MODELS[kind], text) is None
    assert codec_echo.answers([(kind, text)])[0].accepted


@pytest.mark.parametrize("kind", MODELS)
def test_damaged_texts_are_refused_by_both(codec_echo: Codec, kind: str) -> None:
    model = MODELS[kind]
    source = RandomDocuments(seed=4)
    choices = random.Random(5)
    texts = [damaged(json.dumps(source.document(model)), choices) for _ in range(MUTANTS)]
    answers = codec_echo.answers([(kind, text) for text in texts])
    for text, answer in zip(texts, answers, strict=True):
        assert answer.accepted == (refused_at(model, text) is None), (answer, text)


def test_words_are_found_and_spelled(codec_echo: Codec) -> None:
    words = [word.value for word in Interface]
    answers = codec_echo.answers([("interface", word) for word in [*words, "Posix", ""]])
    assert [answer.text for answer in answers] == [*words, "none", "none"]


def test_table_of_invalid_documents_is_long_enough() -> None:
    assert len(CASES) >= 40
    assert len({case.what for case in CASES}) == len(CASES)


def refused_at(model: type[BaseModel], text: str) -> str | None:
    """The path at which Python refuses a text, or None if it does not."""
    try:
        parse_json(model, text)
    except DocumentError as error:
        return error.path
    return None


def damaged(text: str, choices: random.Random) -> str:
    """The text with one character removed, added or replaced."""
    at = choices.randrange(len(text))
    added: str = choices.choice(["", *'{}[]",:0123456789.eE+-\\ntfu/ \t\x01é'])
    return text[:at] + added + text[at + choices.choice([0, 1]) :]


def mutant(document: Any, source: RandomDocuments, choices: random.Random) -> Any:
    """The document with one value replaced, one key removed or one key added."""
    result = copy.deepcopy(document)
    containers = list(containers_in(result))
    container = choices.choice(containers)
    if isinstance(container, list):
        if container and choices.random() < 0.5:
            container[choices.randrange(len(container))] = source.junk()
        else:
            container.insert(choices.randint(0, len(container)), source.junk())
        return result
    action = choices.choice(["replace", "replace", "remove", "add"])
    if action == "add" or not container:
        container[choices.choice(["zz", "kind_", "schema_", "", "operator_"])] = source.junk()
    elif action == "remove":
        del container[choices.choice(list(container))]
    else:
        container[choices.choice(list(container))] = source.junk()
    return result


def containers_in(value: Any) -> list[Any]:
    """Every object and list in a document, itself included."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, dict | list) else []
    return found + [inner for child in below for inner in containers_in(child)]
