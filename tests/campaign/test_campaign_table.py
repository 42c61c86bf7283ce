"""Tables show what runs have; a name that none has is an error, shown or sorted by."""

from __future__ import annotations

import random
from typing import Any

import pytest

from venturi.model.campaign import CampaignResult, CampaignRow, MetricSummary, ResultTable
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.workload import Scalar
from venturi.report.campaign_table import RowsBefore, table_csv


def _result() -> CampaignResult:
    """Two points of a step, each with a number and a text."""
    rows = []
    for n in (1, 2):
        metric = MetricSummary(
            name="m",
            unit="s",
            better=Better.LOWER,
            values=[3.0 - n],
            median=3.0 - n,
            low=3.0 - n,
            high=3.0 - n,
            coverage=0.0,
        )
        own: dict[str, Any] = {"step": "run", "parameters": {"n": n}, "texts": {"word": f"w{n}"}}
        rows.append(CampaignRow.model_construct(**own, metrics=[metric]))
    return CampaignResult.model_construct(rows=rows)


def _table(sort: list[str], *columns: dict[str, Any]) -> ResultTable:
    return ResultTable.model_validate(
        {"step": "run", "columns": [{"of": "n"}, *columns], "sort": sort}
    )


@pytest.mark.parametrize(("sort", "first"), [(["n"], "1"), (["m"], "2"), (["word"], "1")])
def test_rows_are_sorted_by_numbers_and_texts(sort: list[str], first: str) -> None:
    assert table_csv(_table(sort), _result()).splitlines()[1] == first


@pytest.mark.parametrize(
    "table",
    [
        _table(["nobody"]),
        _table([], {"of": "nobody"}),
        _table(["nobody"], {"of": "m"}),
    ],
)
def test_a_name_that_nothing_has_is_an_error(table: ResultTable) -> None:
    with pytest.raises(UserError, match="no parameter or metric 'nobody' so far") as caught:
        table_csv(table, _result())
    assert caught.value.hint == "known are n, word, m"


def test_an_optional_column_may_be_empty() -> None:
    table = _table(["nobody"], {"of": "nobody", "optional": True})
    assert table_csv(table, _result()).splitlines() == ["n,nobody", "1,", "2,"]


@pytest.mark.parametrize("seed", range(20))
def test_the_row_before_is_the_first_whose_parameters_are_among_those(seed: int) -> None:
    """As a search of all rows finds it; steps may know other parameters at other points."""
    chance = random.Random(seed)
    values: list[Scalar] = [1, 2, 1.0, "1", "a", 2.5]

    def row(number: int) -> CampaignRow:
        names = chance.sample("abcd", chance.randint(0, 3))
        parameters = {name: chance.choice(values) for name in names}
        return CampaignRow(step="s", point=f"{number}", parameters=parameters, states={})

    rows = [row(number) for number in range(chance.randint(0, 40))]
    known = RowsBefore(rows)
    for asked in [row(-1) for _ in range(40)]:
        among = (one for one in rows if one.parameters.items() <= asked.parameters.items())
        assert known.of(asked) is next(among, None)
