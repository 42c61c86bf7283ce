"""What others published, beside what was measured here: never a pass mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.model.expression import ExpressionError, Literal, bind, tree_of
from venturi.model.record import MetricValue, Record
from venturi.model.units import BYTES_PER_UNIT
from venturi.model.workload import Reference
from venturi.report import quantity
from venturi.report.block import Block, Column, Paragraph, TableBlock
from venturi.report.quantity import Units

_TITLES = ("Metric", "Case", "Published", "Here", "Unit")


@dataclass(frozen=True)
class Published:
    """The references of one source, and ours beside them: a row for each, below `titles`."""

    source: str
    machine: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caveats: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the table is."""
        return f"Published beside ours: {self.source}"

    @property
    def foot(self) -> str:
        """How to read it."""
        where = f"published for {self.machine}; " if self.machine else ""
        return f"{where}ours are medians (least..most) over the repetitions; no pass mark"


def published(record: Record, units: Units) -> list[Published]:
    """The references of a record's workload by source and machine, in their order."""
    found: dict[tuple[str, str], list[Reference]] = {}
    for entry in record.workload.get("references", []):
        reference = Reference.model_validate(entry)
        found.setdefault((reference.source, reference.machine), []).append(reference)
    return [_published(record, *key, entries, units) for key, entries in found.items()]


def blocks(record: Record, units: Units) -> list[Block]:
    """The same as tables of a report."""
    result: list[Block] = []
    for each in published(record, units):
        numeric = ("Published", "Here")
        columns = tuple(Column(title, title in numeric) for title in each.titles)
        result.append(TableBlock(each.title, columns, each.rows))
        sentences = (each.foot, *each.caveats)
        result.append(Paragraph(" ".join(f"{s[0].upper()}{s[1:]}." for s in sentences)))
    return result


def _published(
    record: Record, source: str, machine: str, entries: Sequence[Reference], units: Units
) -> Published:
    rows = []
    for entry in entries:
        own = record.metrics.get(entry.metric) if _is_ours(entry, record) else None
        here = _ours(own, entry.unit, units) if own else "–"
        rows.append((entry.metric, entry.case, _theirs(entry), here, entry.unit))
    shown = [i for i in range(len(_TITLES)) if _TITLES[i] != "Case" or any(row[i] for row in rows)]
    return Published(
        source,
        machine,
        tuple(_TITLES[i] for i in shown),
        tuple(tuple(row[i] for i in shown) for row in rows),
        tuple(dict.fromkeys(entry.caveat for entry in entries if entry.caveat)),
    )


def _is_ours(reference: Reference, record: Record) -> bool:
    """Whether this run is the case that the reference speaks of."""
    if reference.when is None:
        return True
    known = {name: Literal(value) for name, value in record.parameters.items()}
    try:
        tree = bind(tree_of(reference.when), known)
    except ExpressionError:
        return False
    return isinstance(tree, Literal) and bool(tree.value)


def _theirs(reference: Reference) -> str:
    if isinstance(reference.value, str):
        return reference.value
    text = _plain(reference.value)
    if reference.low is None or reference.high is None:
        return text
    return f"{text} ({_plain(reference.low)}..{_plain(reference.high)})"


def _plain(value: float) -> str:
    """A published number with the digits that it has."""
    return f"{value:.10g}"


def _ours(metric: MetricValue, unit: str, units: Units) -> str:
    """Our value in the unit of the published one, where it can be had from ours."""
    factor = _factor(metric.unit, unit)
    values = (metric.median, min(metric.values), max(metric.values))
    forms = [
        quantity.with_unit(value, metric.unit, units)
        if factor is None
        else quantity.number(value / factor)
        for value in values
    ]
    return forms[0] if metric.n < 2 else f"{forms[0]} ({forms[1]}..{forms[2]})"


def _factor(own: str, wanted: str) -> float | None:
    """How many of our units are one of the wanted ones; None where there is no such number."""
    if own == wanted and wanted not in ("", "B", "B/s"):
        return 1.0
    base = wanted.removesuffix("/s")
    same_kind = own == ("B/s" if wanted.endswith("/s") else "B")
    return float(BYTES_PER_UNIT[base]) if same_kind and base in BYTES_PER_UNIT else None
