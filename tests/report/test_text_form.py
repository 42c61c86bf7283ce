"""The report as Markdown, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest
from record_factory import Shape, invalid, record, substituted

from venturi.model.record import Record
from venturi.model.row_table import RowTable
from venturi.report.block import Code
from venturi.report.render import render

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("name", "records"), [("one", [record()]), ("three", [record(), substituted(), invalid()])]
)
def test_markdown_is_as_it_was(name: str, records: list[Record]) -> None:
    """To accept a wanted change: VENTURI_GOLDEN=write pytest tests/report; then read the diff."""
    path = GOLDEN / f"{name}.md"
    text = render(records, "md")
    if os.environ.get("VENTURI_GOLDEN") == "write":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_markdown_escapes_what_would_be_markup() -> None:
    name = "a|b <b>*x*</b> `y`\n# z"
    text = render([record(shapes=(Shape(name, "write", 4, 4096, 1e8),), warnings=[name])], "md")
    assert "<b>" not in text
    assert "\n# z" not in text
    rows = [line for line in text.splitlines() if line.startswith("| a\\|b ")]
    assert len(rows) >= 10
    assert all(r"\<b\>\*x\*\</b\> \`y\` \# z |" in row for row in rows)


def test_servers_that_cannot_be_told_apart_are_spoken_of() -> None:
    """On GlusterFS, that names them elsewhere; not on file systems that never do."""
    made = record()
    here = made.environment
    kind = here.file_system.model_copy(update={"type": "fuse.glusterfs"})
    there = here.model_copy(update={"file_system": kind})
    text = render([made.model_copy(update={"environment": there})], "md")
    assert "No server could be told apart" in text
    assert "No server could be told apart" not in render([made], "md")


def test_json_is_the_record() -> None:
    made = substituted()
    assert Record.model_validate_json(render([made], "json")) == made
    several = json.loads(render([made, record()], "json"))
    assert [entry["schema"] for entry in several] == ["venturi.record/2"] * 2


def test_csv_holds_every_phase_and_operation() -> None:
    made = [record(), invalid()]
    rows = list(csv.DictReader(io.StringIO(render(made, "csv"))))
    whole = [row for row in rows if row["operation"] == "all"]
    assert len(whole) == sum(len(entry.phases) for entry in made)
    for row, phase in zip(whole, [p for entry in made for p in entry.phases], strict=True):
        assert int(row["bytes"]) == phase.bytes
        assert float(row["seconds"]) == phase.seconds.total
        assert float(row["bytes_per_s"]) == phase.bytes_per_second
    parts = [row for row in rows if row["operation"] != "all"]
    assert len(parts) == sum(len(p.by_operation) for entry in made for p in entry.phases)
    assert all(row["latency_p50_ns"] for row in parts)


def test_units_are_the_readers_choice() -> None:
    assert "384 MiB" in render([record()], "md", "iec")
    assert "403 MB" in render([record()], "md", "si")


def test_a_packed_column_is_told_by_its_length() -> None:
    numbers = [(7919 * n * n) % 104_729 for n in range(2000)]
    text = f"tables: {RowTable.of({'at': numbers}).to_json()}\n# a remark"
    shown = Code("The workload", text).shown
    assert len(shown) < 200
    assert re.search(r'"at":"\(\d{4} characters\)"', shown)
    assert shown.endswith("# a remark")
    assert Code("The workload", shown).shown == shown
