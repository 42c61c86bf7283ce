"""The tables that a campaign's file asks for."""

from __future__ import annotations

import csv
import io
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
    Printer(console).table(_titles(table, rows), _cells(table, rows))


def table_csv(table: ResultTable, result: CampaignResult) -> str:
    """The table for programs; its lines end as on this system."""
    rows = _rows(table, result)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=table.separator, lineterminator="\n")
    writer.writerows([_titles(table, rows), *_cells(table, rows)])
    return out.getvalue()


def _rows(table: ResultTable, result: CampaignResult) -> list[CampaignRow]:
    """The lines in their order; UserError for a column that nothing has."""
    rows = [row for row in result.rows if row.step == table.step]
    for name in [*(column.of for column in table.columns), *table.sort]:
        if rows and all(_value(row, name) is None for row in rows):
            known = dict.fromkeys(
                name
                for row in rows
                for name in [*row.parameters, *(metric.name for metric in row.metrics)]
            )
            raise UserError(
                f"the step {table.step} has no parameter or metric '{name}' so far",
                f"known are {', '.join(known)}",
            )
    return sorted(rows, key=lambda row: [_order(_value(row, name)) for name in table.sort])


def _value(row: CampaignRow, name: str) -> Scalar | None:
    """A parameter, or the median of a metric; None where the run did not come so far."""
    if name in row.parameters:
        return row.parameters[name]
    return next((metric.median for metric in row.metrics if metric.name == name), None)


def _order(value: Scalar | None) -> tuple[int, float, str]:
    """Numbers by size, before words; nothing last."""
    if value is None:
        return 2, 0.0, ""
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, str(value)


def _titles(table: ResultTable, rows: list[CampaignRow]) -> list[str]:
    return [column.title or column.of + _unit(column.of, rows) for column in table.columns]


def _unit(name: str, rows: list[CampaignRow]) -> str:
    units = {metric.unit for row in rows for metric in row.metrics if metric.name == name}
    return "".join(f"[{unit}]" for unit in units if unit)


def _cells(table: ResultTable, rows: list[CampaignRow]) -> list[list[str]]:
    return [[_text(column, _value(row, column.of)) for column in table.columns] for row in rows]


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
