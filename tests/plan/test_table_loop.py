"""Loops over the rows of a table, and steps that a number chooses."""

from __future__ import annotations

from pathlib import Path

import pytest

from case.table_program import (
    NAMES,
    READS,
    THERE,
    VERBS,
    WRITES,
    places,
    random_rows,
    rows_of_ranks,
    workload_of,
    workload_of_ranks,
)
from venturi.derive.yaml_text import to_yaml
from venturi.library import load
from venturi.library.table import beside, whole_text
from venturi.model.error import UserError
from venturi.model.row_table import RowTable
from venturi.model.workload import GroupSpec, StepSpec, Workload
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
    for one, (step, file, _, size, _, _), at in zip(calls, rows, places(rows), strict=True):
        folder = "there" if step in THERE else "made"
        assert one.path == f"{folder}_{file}.00000000"
        if at is not None:
            assert (one.offset, one.bytes) == (at, size)
    totals = found.totals
    assert totals.operations["write"] == sum(row[0] in WRITES for row in rows)
    assert totals.bytes_read == sum(row[3] for row in rows if row[0] in READS)
    assert totals.seconds_computing == pytest.approx(sum(row[4] for row in rows) / 1e9)
    there = {row[1]: row[5] for row in rows if row[0] == 2}
    assert totals.bytes_prestaged == sum(there.values())
    assert totals.files == len(there) + len({row[1] for row in rows if row[0] == 0})


@pytest.mark.parametrize("ranks", [2, 3, 7])
@pytest.mark.parametrize("seed", range(8))
def test_each_rank_takes_its_own_rows(seed: int, ranks: int) -> None:
    parts = rows_of_ranks(seed, ranks)
    found = made_of(workload_of_ranks(parts))
    for rank, rows in enumerate(parts):
        calls = list(RequestStream(found.plan, rank).operations())
        assert [one.kind.value for one in calls] == [VERBS[row[0]] for row in rows]
        for one, (step, file, _, size, _, _), at in zip(calls, rows, places(rows), strict=True):
            is_there = step in THERE
            assert one.path == (f"there_{file}" if is_there else f"made_{file}.{rank:08}")
            if at is not None:
                assert (one.offset, one.bytes) == (at, size)
    whole = [row for rows in parts for row in rows]
    totals = found.totals
    assert totals.operations["write"] == sum(row[0] in WRITES for row in whole)
    assert totals.bytes_read == sum(row[3] for row in whole if row[0] in READS)
    longest = max(sum(row[4] for row in rows) for rows in parts)
    assert totals.seconds_computing == pytest.approx(longest / 1e9)
    there = {row[1]: row[5] for row in whole if row[0] == 2}
    assert totals.bytes_prestaged == sum(-(-size // ranks) * ranks for size in there.values())
    made = {(rank, row[1]) for rank, rows in enumerate(parts) for row in rows if row[0] == 0}
    assert totals.files == len(there) + len(made)


def test_a_table_has_rows_of_many_ranks() -> None:
    parts = [[(2, 0, 0, 0, 0, 2000), (4, 0, rank, 1, 0, 0)] for rank in range(1024)]
    plan = make_plan(workload_of_ranks(parts), RunSettings(most_ranks=1024)).plan
    for rank in (0, 511, 1023):
        _, read = RequestStream(plan, rank).operations()
        assert read.offset == rank


def test_ranks_of_which_a_table_says_nothing_do_nothing() -> None:
    parts = rows_of_ranks(3, 3)
    workload = workload_of_ranks(parts)
    more = workload.model_copy(update={"groups": {"g": GroupSpec(ranks=5)}})
    plan = made_of(more).plan
    counts = [len(list(RequestStream(plan, rank).operations())) for rank in range(5)]
    assert counts == [*map(len, parts), 0, 0]


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([1, 0], "does not rise from 0 on"),
        ([-1, 0], "does not rise from 0 on"),
        ([0, 5000], "rows of at most 1024 ranks"),
    ],
)
def test_rows_stand_rank_by_rank(ranks: list[int], said: str) -> None:
    rows = random_rows(1)[:2]
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    table = RowTable.of({"rank": ranks, **columns})
    with pytest.raises(UserError, match=rf"tables\.calls: .*{said}"):
        made_of(workload_of(rows).model_copy(update={"tables": {"calls": table}}))


def test_what_ranks_choose_for_themselves_is_not_filled_by_each() -> None:
    workload = workload_of_ranks(rows_of_ranks(2, 3))
    there = workload.files["there"].model_copy(update={"shared": "rank"})
    own = workload.model_copy(update={"files": workload.files | {"there": there}})
    with pytest.raises(UserError, match=r"files\.there\.prestage: the rows of each rank choose"):
        made_of(own)


def test_several_tables_lie_in_one_file(tmp_path: Path) -> None:
    one, other = (workload_of(random_rows(seed)).tables["calls"] for seed in (4, 5))
    workload = workload_of(random_rows(4))
    workload = workload.model_copy(update={"tables": {"calls": one, "others": other}})
    path = tmp_path / "w.yaml"
    named, files = beside(workload, path)
    ((file, text),) = files.items()
    assert file.name == "w.rows.json"
    assert named.tables == dict.fromkeys(("calls", "others"), "w.rows.json")
    file.write_text(text)
    path.write_text(to_yaml(named))
    assert load(str(path)) == workload
    assert parse_yaml(whole_text(to_yaml(named), workload), "whole", Workload) == workload
    file.write_text(text.replace('"others"', '"strangers"'))
    with pytest.raises(UserError, match=r"tables\.others: '.*w\.rows\.json' has no table of that"):
        load(str(path))
    file.write_text(text.replace('"rows"', '"row"', 1))
    with pytest.raises(UserError, match=r"w\.rows\.json: .*calls"):
        load(str(path))


def test_tables_of_several_phases_fill_a_file_as_the_longest_row_says() -> None:
    rows = [(2, 0, 0, 0, 0, 500), (4, 0, 0, 400, 0, 0), (7, 0, 0, 0, 0, 0)]
    later = [(2, 0, 0, 0, 0, 900), (4, 0, 0, 800, 0, 0), (7, 0, 0, 0, 0, 0)]
    later += [(2, 1, 0, 0, 0, 70), (7, 1, 0, 0, 0, 0)]
    first = workload_of(rows)
    (phase,) = first.program["g"]
    assert isinstance(phase, StepSpec)
    assert phase.do is not None
    (loop,) = phase.do
    assert isinstance(loop, StepSpec)
    again = StepSpec(phase="q", do=[loop.model_copy(update={"for_": "more"})])
    tables = first.tables | {"more": workload_of(later).tables["calls"]}
    both = first.model_copy(update={"program": {"g": [phase, again]}, "tables": tables})
    assert made_of(both).totals.bytes_prestaged == 900 + 70


def test_a_choice_of_a_step_that_is_not_there_is_refused() -> None:
    rows = random_rows(1)
    with pytest.raises(UserError, match="no step 10 to choose, of 10"):
        made_of(workload_of([*rows, (10, 0, 0, 0, 0, 0)]))


def test_a_file_that_no_row_names_is_refused() -> None:
    rows = [row for row in random_rows(2) if row[0] not in THERE]
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
