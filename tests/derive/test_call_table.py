"""Calls that follow no rule are kept in a table, exactly."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from irregular_program import IrregularProgram
from traced_run import (
    APPEND,
    REOPEN,
    TracedRun,
    check_one_by_one,
    derived,
    moves_of,
    planned,
    steps_of,
)

from venturi.cli.derive import command as derive_command
from venturi.derive.cost import cost_bits
from venturi.derive.nest.call_table import Tabled, tabled
from venturi.derive.nest.table_calls import LEAST_COMPUTE_NS, LEAST_THINK_NS, CallsInParts
from venturi.derive.operation.likeness import judged
from venturi.derive.operation.pace import MOST_NS
from venturi.derive.operation.table import CREATES, table_of
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.library import load
from venturi.library.table import beside
from venturi.model.operation import KINDS, Kind
from venturi.model.row_table import RowTable
from venturi.model.trace_folder import write_trace
from venturi.model.workload import Workload
from venturi.plan.stream import RequestStream


def scattered_writes() -> TracedRun:
    """Writes of any size at any place of three files."""
    chance = random.Random(2)
    run = TracedRun(1)
    for name in "abc":
        run.open(0, name)
    for _ in range(1500):
        at, size = chance.randint(0, 10**6), chance.randint(1, 9000)
        run.move(0, Kind.WRITE, chance.choice("abc"), [(at, size)])
    for name in "abc":
        run.close(0, name)
    return run


def whole_workload(told: Tabled) -> Workload:
    return Workload(
        workload=1,
        name="app",
        files=told.files,
        tables=dict(told.tables),
        program={"g": told.steps},
    )


def table_in(workload: Workload) -> RowTable | None:
    tables = list(workload.tables.values())
    assert all(isinstance(one, RowTable) for one in tables)
    return tables[0] if tables else None  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(5))
def test_every_call_without_a_rule_is_kept(seed: int) -> None:
    program = IrregularProgram(seed, 320)
    workload = derived(program.run)
    table = table_in(workload)
    assert table is not None
    check_one_by_one(program.run, workload)
    assert len(to_yaml(workload.model_copy(update={"origin": None, "tables": {}}))) < 6000
    assert workload.origin is not None
    likeness = workload.origin.likeness
    assert likeness is not None
    assert likeness.proxy_seconds_between == pytest.approx(likeness.seconds_between, rel=0.02)


def test_what_has_a_rule_is_text() -> None:
    run = TracedRun(1)
    run.open(0, "f")
    for turn in range(400):
        run.move(0, Kind.WRITE, "f", [(4096 * turn, 4096)])
        if turn % 7 == 3:
            run.call(0, Kind.SYNC, "f")
    run.close(0, "f")
    assert not derived(run).tables


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.3])
def test_text_becomes_a_table_when_regularity_falls_and_nothing_is_lost(share: float) -> None:
    chance = random.Random(int(share * 1000))
    run = TracedRun(1)
    for name in "ab":
        run.open(0, name)
    place = dict.fromkeys("ab", 0)
    for turn in range(500):
        name = "ab"[turn % 2] if chance.random() > share else chance.choice("ab")
        size = 4096 if chance.random() > share else chance.randint(1, 9000)
        run.move(0, Kind.WRITE, name, [(place[name], size)])
        place[name] += size
    for name in "ab":
        run.close(0, name)
    workload = derived(run)
    check_one_by_one(run, workload)
    table = table_in(workload)
    text = to_yaml(workload.model_copy(update={"origin": None, "tables": {}}))
    assert len(text.splitlines()) < 300, text
    assert table is not None or share < 0.3
    assert table is None or table.bytes_packed < 5000


def test_a_simpler_text_says_what_it_gives_up() -> None:
    captured = scattered_writes().captured()
    exact, simple = derive(captured, "app"), derive(captured, "app", simplify=True)
    table = table_in(exact)
    assert table is not None
    assert not simple.tables
    assert simple.origin is not None
    assert simple.origin.likeness is not None
    (said,) = [text for text in simple.origin.assumed if text.startswith("simplified")]
    assert f"a table of {table.rows} calls" in said
    assert not simple.origin.likeness.is_equal


def test_files_lie_together_in_folders_as_those_of_the_program_did() -> None:
    chance = random.Random(3)
    run = TracedRun(1)
    homes = ["there", "made0", "made1"]
    for home in homes[1:]:
        run.call(0, Kind.MKDIR, home)
    for number in range(120):
        path = f"{chance.choice(homes)}/{chance.randint(0, 10**9)}"
        run.open(0, path)
        run.move(0, Kind.WRITE, path, [(0, chance.randint(1, 9000)) for _ in range(number % 3)])
        run.close(0, path)
    table = table_of(run.captured())
    calls = CallsInParts.of(table)
    assert calls is not None
    told = tabled(table, calls, ["out"] * len(table.paths))
    workload = whole_workload(told)
    stream = RequestStream(planned(workload).plan, 0).operations()
    pairs = {
        (table.paths[file].rpartition("/")[0], one.path.rpartition("/")[0])
        for file, one in zip(table.file[calls.calls.row].tolist(), stream, strict=True)
        if one.kind.value != "mkdir"
    }
    assert len(pairs) == len({ours for ours, _ in pairs}) == len({proxy for _, proxy in pairs}) == 3
    made = [one.path for one in RequestStream(planned(workload).plan, 0).operations()][:2]
    assert set(made) < {proxy for _, proxy in pairs}


@pytest.mark.parametrize("seed", range(3))
def test_short_computing_is_gathered_and_none_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    run = TracedRun(1, seed=seed)
    run.open(0, "f")
    for _ in range(2000):
        run.now[0] += chance.choice([0, 300, 20_000, 3_000_000 * (chance.random() < 0.01)])
        run.move(0, Kind.WRITE, "f", [(chance.randint(0, 10**6), chance.randint(1, 9000))])
    run.close(0, "f")
    table = table_of(run.captured())
    calls = CallsInParts.of(table)
    assert calls is not None
    told = tabled(table, calls, ["f"])
    before = [time for time in told.tables["calls"].column("before_ns") if time]
    order = np.argsort(table.start_ns)
    computing = table.start_ns[order][1:] - table.end_ns[order][:-1]
    planned_s = planned(whole_workload(told)).totals.seconds_computing
    assert planned_s == pytest.approx(int(computing.sum()) / 1e9, rel=0.001)
    assert len(before) <= sum(before) / LEAST_COMPUTE_NS + 1


@pytest.mark.parametrize("seed", range(20))
def test_what_is_computed_before_every_request_is_told_with_it(seed: int) -> None:
    """Whatever the times are, and their order: all of them together stay, within one long one."""
    chance = random.Random(seed)
    run = TracedRun(1, seed=seed)
    run.open(0, "f")
    usual, spread = chance.choice([0, 30, 500, 5000]), chance.uniform(0, 2)
    stall, share = chance.randint(0, 10**6), chance.choice([0.0, 0.01, 0.3, 0.6])
    computing = []
    for _ in range(1000):
        computing.append(int(usual * chance.lognormvariate(0, spread)))
        computing[-1] += stall * (chance.random() < share)
    computing.sort(reverse=chance.random() < 0.5) if chance.random() < 0.5 else None
    for time in computing:
        run.now[0] += time
        run.move(0, Kind.WRITE, "f", [(chance.randint(0, 10**6), chance.randint(1, 9000))])
    run.close(0, "f")
    table = table_of(run.captured())
    calls = CallsInParts.of(table)
    assert calls is not None
    workload = whole_workload(tabled(table, calls, ["f"]))
    told_s = planned(workload).totals.seconds_computing
    known = table.start_ns[1:] - table.end_ns[:-1]
    assert told_s == pytest.approx(int(known.sum()) / 1e9, rel=0.003)
    (write,) = moves_of(workload)
    assert (write.think is not None) == (min(np.median(known), np.mean(known)) >= LEAST_THINK_NS)


@pytest.mark.parametrize("seed", range(10))
def test_calls_on_names_have_computing_before_them_as_well(seed: int) -> None:
    """Each of the calls that compute does, and all together for as long."""
    chance = random.Random(seed)
    run = TracedRun(1, seed=seed)
    usual = chance.choice([300, 4000, 30_000])
    names = [f"n{number}" for number in range(50)]
    for name in names:
        run.open(0, name)
        run.close(0, name)
    for _ in range(2000):
        run.now[0] += int(usual * chance.lognormvariate(0, 0.3))
        run.call(0, Kind.STAT, chance.choice(names))
    table = table_of(run.captured())
    calls = CallsInParts.of(table)
    assert calls is not None
    told = tabled(table, calls, [""] * len(table.paths))
    before = np.array(told.tables["calls"].column("before_ns"))
    looks = before[-2000:]
    assert np.median(looks) >= 0.5 * min(usual, MOST_NS)
    assert np.count_nonzero(looks) >= 1990
    order = np.argsort(table.start_ns)
    known = table.start_ns[order][1:] - table.end_ns[order][:-1]
    told_s = planned(whole_workload(told)).totals.seconds_computing
    assert told_s == pytest.approx(int(known.sum()) / 1e9, rel=0.003)


def test_what_a_link_made_or_was_there_before_is_not_renamed() -> None:
    run = TracedRun(1)
    run.open(0, "was", REOPEN)
    run.move(0, Kind.READ, "was", [(0, 500)])
    run.close(0, "was")
    run.rename(0, "was", "now")
    run.open(0, "now", REOPEN)
    run.move(0, Kind.READ, "now", [(0, 500)])
    run.close(0, "now")
    run.open(0, "aside")
    run.move(0, Kind.WRITE, "aside", [(0, 70)])
    run.close(0, "aside")
    run.rename(0, "aside", "kept")
    run.rename(0, "kept", "last")
    run.open(0, "last", REOPEN)
    run.move(0, Kind.READ, "last", [(0, 70), (70, 1)])
    run.close(0, "last")
    table = table_of(run.captured())
    calls = CallsInParts.of(table)
    assert calls is not None
    kinds = [KINDS[kind].value for kind in table.kind[calls.calls.row].tolist()]
    assert kinds.count("rename") == 1
    assert kinds.count("read") == 3  # not what no name that is left holds
    told = tabled(table, calls, [""] * len(table.paths))
    workload = whole_workload(told)
    assert judged(table, workload).fault == ""
    assert judged(table, workload).beyond == ""


def test_errors_are_priced_for_operations_that_are_not_compared_as_well() -> None:
    run = TracedRun(1)
    run.open(0, "f")
    for number in range(300):
        run.move(0, Kind.WRITE, "f", [(4096 * number, 4096)])
    run.close(0, "f")
    table = table_of(run.captured())
    workload = derived(run)
    whole = judged(table, workload)
    assert whole.share == 1.0
    assert whole.likeness is not None
    wrong = replace(whole, likeness=whole.likeness.model_copy(update={"ordered": 200}))
    tenth = replace(wrong, share=0.1)
    text = cost_bits(workload, whole, 0)
    assert cost_bits(workload, tenth, 0) - text == pytest.approx(
        10 * (cost_bits(workload, wrong, 0) - text)
    )


def test_a_file_that_another_process_still_has_open_is_closed_last() -> None:
    run = TracedRun(1)
    run.open(0, "log")
    run.move(0, Kind.WRITE, "log", [(0, 100), (100, 7), (107, 1)])
    run.close(0, "log")
    table = table_of(run.captured())
    closes = table.is_kind(Kind.CLOSE)
    early = np.sort(table.start_ns)[2] - 1
    table = replace(table, start_ns=np.where(closes, early, table.start_ns))
    calls = CallsInParts.of(table)
    assert calls is not None
    told = tabled(table, calls, ["log"] * len(table.paths))
    workload = whole_workload(told)
    kinds = [one.kind.value for one in RequestStream(planned(workload).plan, 0).operations()]
    assert kinds == ["create", "write", "write", "write", "close"]


def test_the_command_writes_the_table_beside_the_workload(tmp_path: Path) -> None:
    captured = scattered_writes().captured()
    trace, out = tmp_path / "app.trace", tmp_path / "app.yaml"
    write_trace(trace, captured)
    runner = CliRunner()
    found = runner.invoke(derive_command, [str(trace), "-o", str(out)])
    assert found.exit_code == 0, found.output
    assert {one.name for one in tmp_path.iterdir()} == {
        "app.trace",
        "app.yaml",
        "app.calls.rows.json",
    }
    workload = load(str(out))
    named, texts = beside(workload, out)
    assert named.tables == {"calls": "app.calls.rows.json"}
    assert json.loads(next(iter(texts.values())))["rows"] == len(table_of(captured))
    plain = runner.invoke(derive_command, [str(trace)])
    assert plain.exit_code == 0
    assert "tables:" in plain.stdout
    simple = runner.invoke(derive_command, [str(trace), "--simplify"])
    assert simple.exit_code == 0
    assert "tables:" not in simple.stdout
    assert "simplified: a table of" in simple.stderr
    assert any(step.choose for step in steps_of(workload))


def test_a_file_that_was_there_is_not_made_by_opening_it() -> None:
    run = TracedRun(1)
    for name, first in (("there", Kind.STAT), ("new", None)):
        if first is not None:
            run.call(0, first, name)
        run.open(0, name, APPEND)
        run.move(0, Kind.WRITE, name, [(300, 50)])
        run.close(0, name)
    table = table_of(run.captured())
    made = (table.flags & CREATES > 0) & table.is_kind(Kind.OPEN)
    assert [table.paths[file] for file in table.file[made]] == ["/scratch/new"]
