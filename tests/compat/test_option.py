"""Options as the field's tools read them: forms of one option, bundles, sizes, errors."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.compat.option import CommandOption, OptionKind, read_number, read_options, settle
from venturi.model.error import UserError

TABLE = [
    CommandOption("transfer", OptionKind.NUMBER, "t"),
    CommandOption("name", OptionKind.TEXT, "o"),
    CommandOption("verbose", OptionKind.FLAG, "v"),
    CommandOption("keep", OptionKind.FLAG, "k"),
    CommandOption("collective", OptionKind.FLAG, "c", "collective"),
    CommandOption("odirect", OptionKind.FLAG, "", "posix.odirect"),
    CommandOption("wait", OptionKind.REAL, "w"),
]


def read(*words: str) -> dict[str, int | float | str]:
    return settle(read_options(words, TABLE, "ior"))


@pytest.mark.parametrize(
    "words", [("-t", "4k"), ("-t=4k",), ("-t4k",), ("-t4KiB",), ("-t", "4096b")]
)
def test_forms_of_one_option(words: tuple[str, ...]) -> None:
    assert read(*words) == {"transfer": 4096}


def test_bundles_count_flags_and_may_end_in_a_value() -> None:
    assert read("-vvk", "-v") == {"verbose": 3, "keep": 1}
    assert read("-kt", "1m") == {"keep": 1, "transfer": 2**20}
    assert read("-kt1m") == {"keep": 1, "transfer": 2**20}
    assert read("-o=a=b") == {"name": "a=b"}
    assert read("-oa=b") == {"name": "a=b"}


def test_a_flag_may_say_how_often() -> None:
    assert read("--posix.odirect=1", "-v=4", "-v") == {"odirect": 1, "verbose": 5}
    assert read("--posix.odirect=false") == {"odirect": 0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--posix.odirec",), "there is no option --posix.odirec"),
        (("-q",), "there is no option -q"),
        (("-kq",), "(in '-kq')"),
        (("-t",), "a value is missing"),
        (("-t", "4x"), "'4x' is not a whole number"),
        (("-t", "0.5m"), "not a whole number"),
        (("-t", "9000000t"), "larger than"),
        (("-w", "fast"), "not a number"),
        (("stray",), "'stray' is no option"),
        (("-v=maybe",), "'maybe' is not a whole number"),
    ],
)
def test_what_is_no_option_is_an_error(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message.replace("(", r"\(").replace(")", r"\)")):
        read(*words)


def test_the_nearest_option_is_named() -> None:
    with pytest.raises(UserError) as caught:
        read("--posix.odirec")
    assert "posix.odirect" in caught.value.hint


@given(st.integers(-1000, 1000), st.sampled_from(["", "k", "M", "g", "T"]))
def test_sizes_are_powers_of_two(number: int, letter: str) -> None:
    power = {"": 0, "k": 10, "M": 20, "g": 30, "T": 40}[letter]
    assert read_number(f"{number}{letter}", "here") == number * 2**power


@given(st.lists(st.text(min_size=0, max_size=8), max_size=6))
def test_any_words_give_options_or_a_clear_error(words: list[str]) -> None:
    with suppress(UserError):
        assert set(read(*words)) <= {option.name for option in TABLE}
