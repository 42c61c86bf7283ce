"""Runs of calls unfold into what a loop over them gives, and torn ones are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from venturi.model.error import UserError
from venturi.model.folded import (
    FOLDER,
    CallRuns,
    FoldedOperations,
    folded_of,
    load_folded,
    runs_of,
    save_folded,
)
from venturi.model.operation import KIND_CODES, MEMORY_SHIFT, Kind, operations_of

READ, SEEK = KIND_CODES[Kind.READ], KIND_CODES[Kind.SEEK]
SEEDS = range(20)


def invented(seed: int) -> FoldedOperations:
    """Calls of one thread: plain ones and cycles of up to four, repeated up to fifty times."""
    chance = random.Random(seed)
    rows: list[dict[str, int]] = []
    runs: list[dict[str, int]] = []
    now = 1000

    def call(kind: int) -> dict[str, int]:
        nonlocal now
        start = now + chance.randrange(50)
        now = start + chance.randrange(300)
        address = chance.randrange(1, 1 << 25) if kind == READ else 0
        return {
            "kind": kind,
            "start_ns": start,
            "end_ns": now,
            "bytes": chance.randrange(100),
            "offset": chance.randrange(10**6),
            "detail": address << MEMORY_SHIFT,
            "file": 1,
        }

    for _ in range(chance.randrange(1, 12)):
        period = chance.randrange(5)
        if period == 0:
            rows.append(call(SEEK))
            continue
        first = len(rows)
        rows += [call(chance.choice((READ, SEEK))) for _ in range(period)]
        times, left = chance.randrange(1, 50), chance.randrange(period)
        for slot in range(period):
            is_read = rows[first + slot]["kind"] == READ
            run = {
                "row": first + slot,
                "slot": slot,
                "period": period,
                "times": times + (slot < left),
                "took_ns": chance.randrange(10_000),
                "between_ns": chance.randrange(10_000),
                "offset_step": chance.randrange(-9, 99),
                "address_step": chance.randrange(-9, 99) * is_read,
                "address_rest": chance.randrange(16) * is_read,
            }
            now += run["took_ns"] + run["between_ns"]
            runs.append(run)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    names = [field.name for field in fields(CallRuns)]
    repeated = {name: np.array([run[name] for run in runs], np.int64) for name in names}
    return FoldedOperations(operations_of(**columns), runs_of(**repeated))


def by_hand(folded: FoldedOperations) -> list[tuple[int, ...]]:
    """Kind, offset, detail, start and end of each call, one after the other."""
    rows, runs = folded.rows, folded.runs
    result = []
    of_row = {int(row): i for i, row in enumerate(runs.row)}
    row = 0
    while row < len(rows):
        period = int(runs.period[of_row[row]]) if row in of_row else 1
        for i in range(row, row + period):
            result.append(
                (
                    int(rows.kind[i]),
                    int(rows.offset[i]),
                    int(rows.detail[i]),
                    int(rows.start_ns[i]),
                    int(rows.end_ns[i]),
                )
            )
        if row in of_row:
            now = int(rows.end_ns[row + period - 1])
            at = [of_row[row + slot] for slot in range(period)]
            for number in range(int(sum(runs.times[i] for i in at))):
                slot, done = at[number % period], number // period + 1
                total = {name: int(getattr(runs, name)[slot]) for name in ("took_ns", "between_ns")}
                times = int(runs.times[slot])
                share = {n: v // times + (done <= v % times) for n, v in total.items()}
                start = now + share["between_ns"]
                now = start + share["took_ns"]
                i = int(runs.row[slot])
                detail = int(rows.detail[i])
                if step := int(runs.address_step[slot]):
                    first = (detail >> MEMORY_SHIFT) * 16 + int(runs.address_rest[slot])
                    unit = (first + step * done) // 16 % (1 << 25)
                    detail = unit << MEMORY_SHIFT
                offset = int(rows.offset[i]) + done * int(runs.offset_step[slot])
                result.append((int(rows.kind[i]), offset, detail, start, now))
        row += period
    return result


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_unfold_as_by_hand(seed: int) -> None:
    folded = invented(seed)
    ops = folded.unfolded()
    columns = (ops.kind, ops.offset, ops.detail, ops.start_ns, ops.end_ns)
    found = list(zip(*(column.tolist() for column in columns), strict=True))
    assert found == by_hand(folded)
    assert len(folded) == len(found) == int(folded.times().sum())
    assert folded.last_ns() == max(end for *_, end in found)
    took = int((ops.end_ns - ops.start_ns).sum())
    rows = folded.rows
    assert took == int((rows.end_ns - rows.start_ns).sum() + folded.runs.took_ns.sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_saved_is_loaded(seed: int, tmp_path: Path) -> None:
    folded = invented(seed)
    save_folded(folded, tmp_path)
    loaded = load_folded(tmp_path)
    for one, other in ((folded.rows, loaded.rows), (folded.runs, loaded.runs)):
        for field in fields(one):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name))


def test_without_runs_nothing_is_copied(tmp_path: Path) -> None:
    folded = folded_of(invented(1).unfolded())
    save_folded(folded, tmp_path)
    assert not (tmp_path / FOLDER).exists()
    loaded = load_folded(tmp_path)
    assert loaded.unfolded() is loaded.rows


def changed(runs: CallRuns, **columns: Any) -> CallRuns:
    return runs_of(**{f.name: columns.get(f.name, getattr(runs, f.name)) for f in fields(CallRuns)})


TORN: dict[str, Callable[[CallRuns], CallRuns]] = {
    "a row that is not there": lambda runs: changed(runs, row=runs.row + 10**6),
    "a negative row": lambda runs: changed(runs, row=runs.row - 10**6),
    "a period of nothing": lambda runs: changed(runs, period=runs.period * 0),
    "a cycle that goes on": lambda runs: changed(runs, period=runs.period + 1),
    "a cycle without a beginning": lambda runs: changed(runs, slot=runs.slot + 1),
    "times below 0": lambda runs: changed(runs, times=-runs.times),
    "time that goes back": lambda runs: changed(runs, took_ns=runs.took_ns - 10**9),
    "a row too few": lambda runs: changed(runs, row=runs.row[:-1]),
}


@pytest.mark.parametrize("how", TORN)
def test_torn_runs_are_refused(how: str, tmp_path: Path) -> None:
    folded = invented(3)
    save_folded(FoldedOperations(folded.rows, TORN[how](folded.runs)), tmp_path)
    with pytest.raises(UserError, match="runs"):
        load_folded(tmp_path)
