"""The tables that a campaign's file asks for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from venturi.model.campaign import CampaignResult, CampaignRow, ResultColumn, ResultTable
from venturi.model.error import UserError
from venturi.model.workload import Scalar
from venturi.report.printer import Printer

if TYPE_CHECKING:
    from rich.console import Console


def print_table(table: ResultTable, result: CampaignResult, console: Console) -> None:
    """The table for people."""
    rows = _rows(table, result)
    Printer(console).table(_titles(table, result), _cells(table, rows, result))


def table_csv(table: ResultTable, result: CampaignResult) -> str:
    """The table for programs; its lines end as on this system."""
    rows = _rows(table, result)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=table.separator, lineterminator="\n")
    writer.writerows([_titles(table, result), *_cells(table, rows, result)])
    return out.getvalue()


def _rows(table: ResultTable, result: CampaignResult) -> list[CampaignRow]:
    """The lines in their order; UserError for a column that nothing has."""
    rows = [row for row in result.rows if row.step == table.step]
    wanted = [column.of for column in table.columns if not (column.optional or column.step)]
    may_lack = {column.of for column in table.columns if column.optional} | {""}
    for name in [*wanted, *table.sort]:
        if rows and name not in may_lack and not _has(rows, name):
            known = dict.fromkeys(
                name
                for row in rows
                for name in [*row.parameters, *row.texts, *(metric.name for metric in row.metrics)]
            )
            raise UserError(
                f"the step {table.step} has no parameter or metric '{name}' so far",
                f"known are {', '.join(known)}",
            )
    return sorted(rows, key=lambda row: [_order(_value(row, name)) for name in table.sort])


def _has(rows: list[CampaignRow], name: str) -> bool:
    return any(_value(row, name) is not None for row in rows)


def _value(row: CampaignRow, name: str) -> Scalar | None:
    """A parameter, or the median of a metric; None where the run did not come so far."""
    if name in row.parameters:
        return row.parameters[name]
    if name in row.texts:
        return row.texts[name]
    return next((metric.median for metric in row.metrics if metric.name == name), None)


class RowsBefore:
    """Rows of a step, among which that of another step's row is found at once."""

    def __init__(self, rows: Iterable[CampaignRow]) -> None:
        self._known: dict[tuple[str, ...], dict[tuple[Scalar, ...], tuple[int, CampaignRow]]] = {}
        """By the names of their parameters, then by what these are: the first one, and its place
        among the rows."""
        for place, row in enumerate(rows):
            names = tuple(sorted(row.parameters))
            values = tuple(row.parameters[name] for name in names)
            self._known.setdefault(names, {}).setdefault(values, (place, row))

    def of(self, row: CampaignRow) -> CampaignRow | None:
        """The first row whose parameters are all among those of `row`; None: there is none."""
        found = []
        for names, rows in self._known.items():
            if row.parameters.keys() >= set(names):
                found.append(rows.get(tuple(row.parameters[name] for name in names)))
        places = [one for one in found if one is not None]
        return min(places, key=lambda one: one[0])[1] if places else None


def _of_column(
    column: ResultColumn, row: CampaignRow, before: Mapping[str, RowsBefore]
) -> Scalar | None:
    """What a column shows of a row: its own value, or that of the step before it."""
    if not column.step:
        return _value(row, column.of)
    other = before[column.step].of(row)
    return None if other is None else _value(other, column.of)


def _order(value: Scalar | None) -> tuple[int, float, str]:
    """Numbers by size, before words; nothing last."""
    if value is None:
        return 2, 0.0, ""
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, str(value)


def _titles(table: ResultTable, result: CampaignResult) -> list[str]:
    return [
        column.title or column.of + _unit(column.of, column.step or table.step, result)
        for column in table.columns
    ]


def _unit(name: str, step: str, result: CampaignResult) -> str:
    units = {
        metric.unit
        for row in result.rows
        for metric in row.metrics
        if metric.name == name and row.step == step
    }
    return "".join(f"[{unit}]" for unit in units if unit)


def _cells(table: ResultTable, rows: list[CampaignRow], result: CampaignResult) -> list[list[str]]:
    """The cells of each row; a row without any value is left out."""
    before = {
        step: RowsBefore(row for row in result.rows if row.step == step)
        for step in {column.step for column in table.columns if column.step}
    }
    values = [[_of_column(column, row, before) for column in table.columns] for row in rows]
    return [
        [_text(column, value) for column, value in zip(table.columns, own, strict=True)]
        for own in values
        if any(value is not None for value in own)
    ]


def _text(column: ResultColumn, value: Scalar | None) -> str:
    if value is None:
        return ""
    if not column.format:
        return value if isinstance(value, str) else f"{value:.12g}"
    try:
        number = int(value) if column.format.endswith("d") else float(value)
        return format(number, column.format)
    except ValueError:
        raise UserError(
            f"the format '{column.format}' does not fit {column.of} '{value}'"
        ) from None
