"""Printed lists and pages of systems, as the lecture on IO500 shows them, are reproduced."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.compat.io500.score import METADATA
from venturi.compat.io500.submission import import_results
from venturi.model.published import Io500Result

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
LECTURE = next(iter(SEEDS.glob("002_*.txt")), None)
NOT_HERE = pytest.mark.skipif(LECTURE is None, reason="missing: shared/seeds beside the project")
COLUMNS = ("list", "institution", "system", "storage_vendor", "filesystem_type", "client_nodes",
           "client_total_procs", "score", "bw", "md")  # fmt: skip
PHASES = {
    ("IOR & FIND", "EASY WRITE"): "ior_easy_write", ("IOR & FIND", "EASY READ"): "ior_easy_read",
    ("IOR & FIND", "HARD WRITE"): "ior_hard_write", ("IOR & FIND", "HARD READ"): "ior_hard_read",
    ("IOR & FIND", "FIND"): "find", ("METADATA", "EASY WRITE"): "mdtest_easy_write",
    ("METADATA", "EASY STAT"): "mdtest_easy_stat",
    ("METADATA", "EASY DELETE"): "mdtest_easy_delete",
    ("METADATA", "HARD WRITE"): "mdtest_hard_write", ("METADATA", "HARD READ"): "mdtest_hard_read",
    ("METADATA", "HARD STAT"): "mdtest_hard_stat",
    ("METADATA", "HARD DELETE"): "mdtest_hard_delete",
}  # fmt: skip


def lecture() -> str:
    assert LECTURE is not None
    return LECTURE.read_text("utf-8")


def imported(tmp_path: Path, rows: list[dict[str, str]]) -> list[Io500Result]:
    """Rows as a list in CSV, read again."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / "printed.csv"
    path.write_text(text.getvalue())
    found = list(import_results(path))
    assert all(isinstance(one, Io500Result) for one in found), found
    return [one for one in found if isinstance(one, Io500Result)]


def page(name: str) -> dict[str, str]:
    """A page of one system: each value stands behind its name, in one line or in one cell."""
    after = lecture().split(name, 1)[1].split("\n\nIO500 result", 1)[0]
    found = {"institution": name}
    part = ""
    for line in after.splitlines():
        part = line.strip() if line.strip() in ("IOR & FIND", "METADATA") else part
        match = re.match(r"[|\s]*([A-Z0-9 ]+?)[|\s]+([\d.,]+)(?: (?:GiB/s|kiOP/s))?[|\s]*$", line)
        if match is None:
            continue
        key, value = match[1].strip(), match[2].replace(",", "")
        if (part, key) in PHASES:
            found[PHASES[part, key]] = value
        elif key in ("IO500 SCORE", "IO500 BW", "IO500 MD"):
            found[key.split()[1].lower()] = value
        elif key == "CLIENT NODES":
            found["client_nodes"] = value
    return found


@NOT_HERE
def test_the_rows_of_two_printed_lists_reproduce(tmp_path: Path) -> None:
    cells = [
        line.split("\t") for line in lecture().splitlines() if re.match(r"\d+\tI?SC\d\d\t", line)
    ]
    assert len(cells) == 22
    rows = [dict(zip(COLUMNS, row[1:11], strict=True)) for row in cells]
    found = imported(tmp_path, rows)
    assert len(found) == 22
    for result in found:
        assert result.match, result.flags
        assert [flag.id for flag in result.flags] == ["no-phases"]
        assert result.recomputed.score == pytest.approx(result.published.score, rel=1e-3)
    for half in (found[:11], found[11:]):
        assert [row.result for row in rank(half, RankingFilter())] == half
    assert found[0].procs == 62_400
    assert found[11].recomputed.md == pytest.approx(9_119_612.35)


@NOT_HERE
def test_the_printed_page_of_lise_reproduces(tmp_path: Path) -> None:
    found = imported(tmp_path, [page("IO500 result lise")])[0]
    assert len(found.phases) == 12
    assert found.ranked
    # The phases are printed with two digits: 65.02 and 324.55 beside 65.01 and 324.54.
    assert found.recomputed.bw == pytest.approx(65.02, abs=0.005)
    assert found.recomputed.md == pytest.approx(1620.13, abs=0.01)
    assert found.recomputed.score == pytest.approx(324.55, abs=0.01)
    assert (found.published.bw, found.published.score) == (65.01, 324.54)
    assert found.match


@NOT_HERE
def test_the_printed_page_of_scc_reproduces_but_for_the_phase_that_it_lacks(tmp_path: Path) -> None:
    found = imported(tmp_path, [page("IO500 result SCC")])[0]
    rates = {phase.name: phase.value for phase in found.phases}
    assert len(rates) == 11
    assert "mdtest-hard-delete" not in rates
    assert found.recomputed.bw == pytest.approx(2.63, abs=0.005)
    assert not found.ranked
    flags = {flag.id: flag.what for flag in found.flags}
    assert "mdtest-hard-delete" in flags["dropped-phase"]
    assert "mdtest-hard-delete is not given" in flags["mismatch-metadata"]
    # What is printed follows with the one rate that is not: as slow as deletions there are.
    product = 1.0
    for name in METADATA:
        product *= rates.get(name, 1.0)
    lacking = 59.85**8 / product
    assert 5 < lacking < rates["mdtest-easy-delete"]


def test_a_list_of_scores_alone(tmp_path: Path) -> None:
    rows = [
        {"institution": "A", "bw": "10,066.09", "md": "102,785.41", "score": "32,165.90"},
        {"institution": "B", "bw": "4", "md": "9", "score": "36"},
        {"institution": "C", "bw": "4", "md": "", "score": "6"},
    ]
    found = imported(tmp_path, rows)
    assert [(one.institution, one.match) for one in found] == [("A", True), ("B", False)]
    assert "without its root" in found[1].flags[0].what
