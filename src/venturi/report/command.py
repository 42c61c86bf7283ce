"""The real applications that a run had in the place of skeletons."""

from __future__ import annotations

from venturi.model.command import CommandRun
from venturi.model.record import Record
from venturi.report import quantity
from venturi.report.block import Column, Section, TableBlock
from venturi.report.quantity import Units


def section(record: Record, units: Units) -> Section | None:
    """What was run, how long, how it ended and what it wrote; None where nothing was."""
    if not record.commands:
        return None
    columns = tuple(
        Column(title, is_number)
        for title, is_number in (
            ("Phase", False),
            ("Repetition", True),
            ("Command", False),
            ("Time", True),
            ("Wrote", True),
            ("Ended", False),
            ("Output", False),
        )
    )
    rows = tuple(_row(run, units) for run in record.commands)
    table = TableBlock("Commands, in the order of their ends", columns, rows)
    lead = "What real applications said is among the metrics; their bytes are not in the rates."
    return Section("commands", "What was run", lead, (table,))


def _row(run: CommandRun, units: Units) -> tuple[str, ...]:
    turns = "".join(f" {name} {value}" for name, value in run.iteration.items())
    wrote = [f"{quantity.size(found.bytes, units)} {name}" for name, found in run.files.items()]
    return (
        run.path + turns,
        str(run.repetition + 1),
        run.command,
        quantity.seconds(run.seconds),
        ", ".join(wrote) or "–",
        run.failure or "well",
        f"commands/{run.number}",
    )
