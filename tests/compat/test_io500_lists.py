"""Printed lists and pages of systems, as the lecture on IO500 shows them, are reproduced."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.compat.io500.score import METADATA
from venturi.compat.io500.submission import import_results
from venturi.model.published import Io500Result

REAL = Path(__file__).parent / "real"
LISTS = REAL / "printed_lists.csv"
"""The two lists of eleven (production, research) as the lecture of 2024 on IO500 prints them."""
PAGES = REAL / "printed_pages.csv"
"""The pages of two systems, printed there; GiB/s and kIOP/s."""


def printed(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


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


def test_the_rows_of_two_printed_lists_reproduce(tmp_path: Path) -> None:
    rows = printed(LISTS)
    assert len(rows) == 22
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


def test_the_printed_page_of_lise_reproduces(tmp_path: Path) -> None:
    found = imported(tmp_path, [printed(PAGES)[0]])[0]
    assert len(found.phases) == 12
    assert found.ranked
    # The phases are printed with two digits: 65.02 and 324.55 beside 65.01 and 324.54.
    assert found.recomputed.bw == pytest.approx(65.02, abs=0.005)
    assert found.recomputed.md == pytest.approx(1620.13, abs=0.01)
    assert found.recomputed.score == pytest.approx(324.55, abs=0.01)
    assert (found.published.bw, found.published.score) == (65.01, 324.54)
    assert found.match


def test_the_printed_page_of_scc_reproduces_but_for_the_phase_that_it_lacks(tmp_path: Path) -> None:
    found = imported(tmp_path, [printed(PAGES)[1]])[0]
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
