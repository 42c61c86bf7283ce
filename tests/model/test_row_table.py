"""Tables of numbers: what is put in comes out, and what is damaged is refused."""

from __future__ import annotations

import base64
import random
import zlib

import pytest

from venturi.model.document import DocumentError, parse_json
from venturi.model.row_table import RowTable, narrow_bytes, numbers_in

_BOUNDS = (0, 1, 127, 128, -128, -129, 2**15, -(2**15) - 1, 2**31, 2**63 - 1, -(2**63))


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_every_width_come_back(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(1, 300)
    most = chance.choice(_BOUNDS)
    columns = {
        name: [chance.choice([0, most, chance.randint(-100, 100)]) for _ in range(count)]
        for name in ("a", "b_2")
    }
    table = parse_json(RowTable, RowTable.of(columns).to_json(indent=1))
    assert {name: table.column(name).tolist() for name in table.columns} == columns
    for numbers in columns.values():
        text = base64.b64encode(narrow_bytes(numbers)).decode()
        assert numbers_in(text, count).tolist() == numbers


@pytest.mark.parametrize("seed", range(30))
def test_what_is_damaged_is_refused(seed: int) -> None:
    chance = random.Random(seed)
    text = RowTable.of({"a": [chance.randint(0, 10**6) for _ in range(200)]}).to_json()
    packed = text.index('"a":"') + 5
    at = chance.randrange(packed, len(text) - 4)
    other = chance.choice([c for c in "ABCXYZabcxyz019+/" if c != text[at]])
    spoilt = chance.choice([text[:at] + other + text[at + 1 :], text[:at] + text[at + 1 :]])
    with pytest.raises(DocumentError, match="column 'a'"):
        parse_json(RowTable, spoilt)


def test_a_column_is_as_long_as_the_table_says() -> None:
    packed = base64.b64encode(zlib.compress(bytes(10_000_000))).decode()
    for rows in (1, 3, 999_999):
        with pytest.raises(DocumentError, match=f"has not {rows} numbers"):
            parse_json(RowTable, f'{{"rows": {rows}, "columns": {{"a": "{packed}"}}}}')
