"""The fidelity report: application and proxy side by side, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.fidelity_report import FidelityField, FidelityReport, FidelityStream, Match
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, Section, TableBlock
from venturi.report.layer_name import layers_text
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_WORDS = {
    Match.EQUAL: "equal",
    Match.WITHIN: "within 1 %",
    Match.OFF: "off",
    Match.BESIDE: "–",
}
_TITLES = ("", "Application", "Proxy", "Difference", "")
_TIMES = "How long calls take is the storage's part: times are shown and not judged."
_OF_TWO = ("", "First", "Second", "Difference", "")


def _value(value: float, unit: str, units: Units) -> str:
    if unit == "share":
        return quantity.percent(value)
    return quantity.with_unit(value, unit, units)


def _row(field: FidelityField, units: Units) -> tuple[str, ...]:
    difference = "new" if field.difference is None else quantity.signed_percent(field.difference)
    return (
        field.name,
        _value(field.application, field.unit, units),
        _value(field.proxy, field.unit, units),
        difference,
        _WORDS[field.match],
    )


def rows(stream: FidelityStream, units: Units) -> tuple[tuple[str, ...], ...]:
    """The fields of a stream as cells: name, application, proxy, difference, verdict."""
    return tuple(_row(field, units) for field in stream.fields)


def _compared_in(stream: FidelityStream) -> str:
    """The layer whose calls are compared, behind a name."""
    return f", compared in {layers_text(stream.layer)}" if stream.layer else ""


def _is_equal(stream: FidelityStream) -> bool:
    judged = [field for field in stream.fields if field.match is not Match.BESIDE]
    return bool(stream.counterpart) and all(f.match is Match.EQUAL for f in judged)


def section(fidelity_report: FidelityReport | None, units: Units) -> Section | None:
    """The card's tables; those of streams that are equal in all fields are folded."""
    if fidelity_report is None:
        return None
    columns = tuple(Column(title, 0 < index < 4) for index, title in enumerate(_TITLES))
    title = f"All in all{_compared_in(fidelity_report.total)}"
    blocks: list[Block] = [TableBlock(title, columns, rows(fidelity_report.total, units))]
    for stream in fidelity_report.streams:
        beside = f", beside {stream.counterpart}" if stream.counterpart else ": no counterpart"
        beside += _compared_in(stream)
        title = f"{stream.name}{beside}{', equal' if _is_equal(stream) else ''}"
        blocks.append(TableBlock(title, columns, rows(stream, units), folded=_is_equal(stream)))
    if fidelity_report.only_proxy:
        blocks.append(
            Paragraph(f"Only the proxy has: {', '.join(fidelity_report.only_proxy)}.", "fair")
        )
    blocks.append(Paragraph(_TIMES))
    return Section(
        "fidelity-report",
        "How well the proxy stands for it",
        fidelity_report.headline,
        tuple(blocks),
    )


def print_fidelity_report(
    fidelity_report: FidelityReport, console: Console, units: Units = Units.IEC
) -> None:
    """The card on a terminal: of streams only the fields that are not equal."""
    out = Printer(console)
    styles = {Match.EQUAL: "bold green", Match.WITHIN: "bold yellow", Match.OFF: "bold red"}
    out.line(
        (f" {fidelity_report.match.value.upper()} ", styles.get(fidelity_report.match, "")),
        f" {fidelity_report.headline}",
    )
    out.line()
    if fidelity_report.total.layer:
        out.wrapped("", f"calls are compared in: {layers_text(fidelity_report.total.layer)}")
    titles = _TITLES if fidelity_report.is_proxy else _OF_TWO
    out.table(["ALL IN ALL", *(t.upper() for t in titles[1:])], rows(fidelity_report.total, units))
    for stream in fidelity_report.streams:
        out.line()
        beside = f" beside {stream.counterpart}" if stream.counterpart else " has no counterpart"
        out.line((f" {stream.name}", "bold"), beside + _compared_in(stream))
        judged = [field for field in stream.fields if field.match is not Match.BESIDE]
        differing = [field for field in judged if field.match is not Match.EQUAL]
        if differing:
            out.table([""] * len(_TITLES), [_row(field, units) for field in differing])
        equal = len(judged) - len(differing)
        if equal and stream.counterpart:
            out.line(f"   {quantity.counted(equal, 'field')} equal")
    if fidelity_report.only_proxy:
        out.line()
        owner = "proxy" if fidelity_report.is_proxy else "second"
        out.wrapped(f"only the {owner} has: ", ", ".join(fidelity_report.only_proxy))
    if not fidelity_report.is_proxy:
        out.line()
        out.wrapped("", _TIMES)
