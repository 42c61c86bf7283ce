"""Loops over the rows of a table, and steps that a number chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from case.table_program import VERBS, random_rows, workload_of
from venturi.derive.yaml_text import to_yaml
from venturi.library import load
from venturi.library.table import beside, whole_text
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import RequestStream


def made_of(workload: Workload) -> PlanResult:
    return make_plan(workload, RunSettings(most_ranks=8))


@pytest.mark.parametrize("seed", range(25))
def test_each_row_is_the_call_that_it_says(seed: int) -> None:
    rows = random_rows(seed)
    found = made_of(workload_of(rows))
    calls = list(RequestStream(found.plan, 0).operations())
    assert [one.kind.value for one in calls] == [VERBS[row[0]] for row in rows]
    for one, (step, file, at, size, _, _) in zip(calls, rows, strict=True):
        folder = "there" if step in (2, 4, 7) else "made"
        assert one.path == f"{folder}_{file}.00000000"
        if step in (3, 4):
            assert (one.offset, one.bytes) == (at, size)
    totals = found.totals
    assert totals.operations["write"] == sum(row[0] == 3 for row in rows)
    assert totals.bytes_read == sum(row[3] for row in rows if row[0] == 4)
    assert totals.seconds_computing == pytest.approx(sum(row[4] for row in rows) / 1e9)
    there = {row[1]: row[5] for row in rows if row[0] == 2}
    assert totals.bytes_prestaged == sum(there.values())
    assert totals.files == len(there) + len({row[1] for row in rows if row[0] == 0})


def test_a_choice_of_a_step_that_is_not_there_is_refused() -> None:
    rows = random_rows(1)
    with pytest.raises(UserError, match="no step 8 to choose, of 8"):
        made_of(workload_of([*rows, (8, 0, 0, 0, 0, 0)]))


def test_a_file_that_no_row_names_is_refused() -> None:
    rows = [row for row in random_rows(2) if row[0] not in (2, 4, 7)]
    with pytest.raises(UserError, match=r"files\.there\.prestage: no row of the table comes to"):
        made_of(workload_of(rows))


def test_a_loop_says_how_often_or_names_a_table() -> None:
    workload = workload_of(random_rows(1))
    program = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)["program"]
    program["g"][0]["do"][0]["for"] = "cals"
    with pytest.raises(UserError, match=r"'for: cals' says neither.*") as caught:
        made_of(workload_of(random_rows(1), program=program))
    assert "calls" in caught.value.hint


def test_a_table_lies_beside_its_workload(tmp_path: Path) -> None:
    workload = workload_of(random_rows(3))
    path = tmp_path / "w.yaml"
    named, tables = beside(workload, path)
    for file, text in tables.items():
        file.write_text(text)
    text = f"# a remark\n{to_yaml(named)}"
    path.write_text(text)
    assert [file.name for file in tables] == ["w.calls.rows.json"]
    assert load(str(path)) == workload
    whole = whole_text(text, load(str(path)))
    assert whole.startswith("# a remark\n")
    assert parse_yaml(whole, "whole", Workload) == workload
    (file,) = tables
    file.write_text(tables[file].replace('"rows": ', '"rows": 1'))
    with pytest.raises(UserError, match=r"w\.calls\.rows\.json: .*has not \d+ numbers"):
        load(str(path))
    file.unlink()
    with pytest.raises(UserError, match=r"there is no file .*w\.calls\.rows\.json"):
        load(str(path))
    for bad in ("../w.calls.rows.json", str(file)):
        path.write_text(text.replace("w.calls.rows.json", bad))
        with pytest.raises(UserError, match="is not the name of a file"):
            load(str(path))
    path.write_text(text)
    with pytest.raises(UserError, match="was not read"):
        made_of(parse_yaml(text, "text", Workload))
