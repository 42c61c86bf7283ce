"""How well the proxy reproduces the application."""

from __future__ import annotations

from venturi.model.record import Fidelity, Record
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.quantity import Units
from venturi.report.verdict import substitutions

_CLOSE = 0.02
_NEAR = 0.10


def _distance(value: float, what: str) -> str:
    if value == 0:
        return f"{what} are the same"
    if value < _CLOSE:
        return f"{what} are nearly the same ({quantity.percent(value)} differ)"
    if value < _NEAR:
        return f"{what} are close ({quantity.percent(value)} differ)"
    return f"{quantity.percent(value)} of {what} differ"


def worst(fidelity: Fidelity) -> float:
    """The largest relative error of all rows, without its sign."""
    return max((abs(row.error) for row in fidelity.rows if row.error is not None), default=0.0)


def sentence(fidelity: Fidelity | None) -> str:
    """The whole comparison in one sentence; empty where there is none."""
    if fidelity is None:
        return ""
    largest = worst(fidelity)
    if largest == 0:
        counts = "Every count is exactly the application's"
    else:
        row = max(fidelity.rows, key=lambda entry: abs(entry.error or 0))
        counts = (
            f"Counts are within {quantity.percent(largest)} of the application's "
            f"(largest error: {row.what})"
        )
    text = f"{counts}; {_distance(fidelity.size_distance, 'request sizes')}"
    if fidelity.rank_distance is not None:
        text += f"; {_distance(fidelity.rank_distance, 'shares of the ranks')}"
    return f"{text}."


def section(record: Record, units: Units) -> Section | None:
    """The table application, proxy, error; none without an application or a finished phase."""
    fidelity = record.fidelity
    if fidelity is None or not record.phases:
        return None
    columns = (
        Column(""),
        Column("Application", True),
        Column("Proxy", True),
        Column("Error", True),
    )
    rows = tuple(
        (
            row.what,
            quantity.with_unit(row.application, row.unit, units),
            quantity.with_unit(row.proxy, row.unit, units),
            "–" if row.error is None else quantity.signed_percent(row.error),
        )
        for row in fidelity.rows
    )
    blocks: list[Block] = [Paragraph(text, "fair") for text in substitutions(record)]
    blocks.append(TableBlock(f"One repetition, counted at {fidelity.layer}", columns, rows))
    if fidelity.unseen:
        blocks.append(
            Paragraph(
                f"The log cannot show, and nothing here compares: {', '.join(fidelity.unseen)}."
            )
        )
    return Section(
        "fidelity", "How well the proxy reproduces it", sentence(fidelity), tuple(blocks)
    )
