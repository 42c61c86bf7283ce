"""Faults are placed by what the models say, not by what a key is called."""

from __future__ import annotations

import json
import random
from typing import Annotated, Literal

import pytest
from pydantic import Field, RootModel

from venturi.model.document import (
    MAX_LEVELS,
    Count,
    Document,
    DocumentError,
    parse_data,
    parse_json,
    path_of,
    place_of,
)
from venturi.model.error import ExitCode


class Dot(Document):
    kind: Literal["dot"] = "dot"
    dot: Count
    """Called like its own tag."""


class Ring(Document):
    kind: Literal["ring"] = "ring"
    ring: list[Figure] | None = None
    hole: Figure | None = None


Figure = Annotated[Dot | Ring, Field(discriminator="kind")]


class Label(Document):
    text: str


class Page(Document):
    figures: dict[str, list[Figure]] | None = None
    title: Label | Annotated[Count | str, Field(union_mode="left_to_right")] = ""
    from_: Count = Field(0, alias="from")


class FigureLine(RootModel[Figure]):
    """A figure alone."""


PATHS = {
    '{"figures": {"dot": [{"kind": "dot", "dot": -1}]}}': "figures.dot[0].dot",
    '{"figures": {"a": [{"kind": "ring", "ring": [{"kind": "dot"}]}]}}': "figures.a[0].ring[0].dot",
    '{"figures": {"a": [{"kind": "ring", "hole": {"kind": "dot", "dot": ""}}]}}': (
        "figures.a[0].hole.dot"
    ),
    '{"figures": {"a": [{"kind": "dot", "dot": 1, "ring": []}]}}': "figures.a[0].ring",
    '{"figures": {"a": [{"kind": "box"}]}}': "figures.a[0].kind",
    '{"figures": {"a": [{}]}}': "figures.a[0].kind",
    '{"figures": {"a": 5}}': "figures.a",
    '{"title": {"text": 5}}': "title.text",
    '{"title": {"text": "", "Label": 1}}': "title.Label",
    '{"title": null}': "title",
    '{"from": -1}': "from",
    '{"from_": 1}': "from_",
}


@pytest.mark.parametrize("text", PATHS)
def test_labels_of_unions_are_no_part_of_a_path(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_json(Page, text)
    assert caught.value.path == PATHS[text]
    assert caught.value.exit_code == ExitCode.USAGE
    assert str(caught.value).startswith(f"{PATHS[text]}: ")


def test_a_root_model_leaves_no_trace() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_json(FigureLine, '{"kind": "ring", "ring": [{"kind": "dot", "dot": true}]}')
    assert caught.value.path == "ring[0].dot"


def test_an_unknown_key_is_told_the_known_ones() -> None:
    with pytest.raises(DocumentError, match=r"known are figures, title, from$"):
        parse_json(Page, '{"tittle": ""}')


def test_the_owner_of_a_place_is_the_model_around_it() -> None:
    assert place_of(Page, ("figures", "a", 0, "dot", "zz")) == (("figures", "a", 0, "zz"), Dot)
    assert place_of(Page, ("zz",)) == (("zz",), Page)
    assert place_of(Page, ("title", "Label")) == (("title",), Label)


def test_paths_are_spelled_with_dots_and_indices() -> None:
    assert path_of(()) == ""
    assert path_of((0, "a", 1, 2, "b")) == "[0].a[1][2].b"


def test_bytes_must_be_utf8() -> None:
    assert parse_json(Page, b'{"title": "\xc3\xa9"}').title == "é"
    with pytest.raises(DocumentError, match="UTF-8"):
        parse_json(Page, b'{"title": "\xff"}')


def test_data_is_read_as_its_text_would_be() -> None:
    assert parse_data(Page, {"title": "a", "from": 3}) == Page(title="a", from_=3)
    for data in ({"from": float("nan")}, {"from": {1, 2}}):
        with pytest.raises(DocumentError, match="cannot be written"):
            parse_data(Page, data)


def test_deep_documents_are_read_up_to_the_limit() -> None:
    def rings(levels: int) -> str:
        # Each ring in a hole is one level.
        return '{"kind": "ring", "hole": ' * levels + '{"kind": "dot", "dot": 1}' + "}" * levels

    parse_json(FigureLine, rings(MAX_LEVELS - 1))
    with pytest.raises(DocumentError, match="deeper"):
        parse_json(FigureLine, rings(MAX_LEVELS))


def test_brackets_and_quotes_within_strings_are_no_levels() -> None:
    chance = random.Random(5)
    pieces = ["[", "]", "{", "}", '"', "\\", "a", "\n", "é", ","]
    for _ in range(300):
        title = "".join(chance.choices(pieces, k=chance.randrange(400)))
        text = json.dumps({"title": title, "from": 1}, ensure_ascii=chance.random() < 0.5)
        assert parse_json(Page, text).title == title


@pytest.mark.parametrize("number", ["1e400", "-1E+999", "9" * 400, "1" + "0" * 310 + ".5"])
def test_numbers_beyond_a_double_are_refused_wherever_they_stand(number: str) -> None:
    with pytest.raises(DocumentError, match="beyond the range"):
        parse_json(Page, f'{{"title": "one 1e5", "from": {number}}}')


class Address(Document):
    folder: Annotated[str, Field(pattern=r"^/")] = "/"
    word: Annotated[str, Field(pattern=r"^[a-z]+$")] = "a"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('{"folder": "here"}', "folder: is 'here'; it must begin with '/'"),
        ('{"word": "5"}', "word: is '5'; it must match ^[a-z]+$"),
    ],
)
def test_a_text_that_does_not_match_is_shown_beside_what_it_must(data: str, told: str) -> None:
    with pytest.raises(DocumentError) as fault:
        parse_json(Address, data)
    assert told in str(fault.value)
