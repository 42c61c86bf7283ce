"""One sync instead of many, and what stays as persistent as it was."""

from __future__ import annotations

import json

import pytest
from candidate import changed, context, only_step, planned, simple

from venturi.model.error import UserError
from venturi.model.plan import SyncMode
from venturi.model.row_table import RowTable
from venturi.model.tuning import Durability
from venturi.plan.stream import RequestStream


def test_a_sync_at_every_write_becomes_one() -> None:
    before = simple("transfer: 512, count: 100, sync: fsync")
    assert before.made.totals.operations["sync"] == 400
    candidate = changed("sync=end", before)
    assert planned(candidate).totals.operations["sync"] == 4
    assert candidate.variant.meaning.durability is Durability.WEAKER
    assert "fsync()" in candidate.variant.advice
    larger = changed("transfer=x4", before)
    assert larger.variant.meaning.durability is Durability.WEAKER
    data_only = changed("sync=fdatasync", before)
    assert only_step(data_only).sync is SyncMode.FDATASYNC
    assert data_only.variant.meaning.durability is Durability.SAME


def test_syncs_in_loops_and_trees_become_one_for_each_phase() -> None:
    before = context(
        "files: {f: {path: f, shared: rank}, t: {path: t, tree: {items: 5, size: 10}}}\n"
        "program:\n  g:\n    - for: dump\n      in: 3\n      do:\n        - phase: p\n"
        "          do:\n            - create: f\n            - for: i\n              in: 7\n"
        "              do:\n                - write: {to: f, size: 10, at: 10 * i}\n"
        "                - sync: {on: f, mode: fsync}\n            - close: f\n"
        "            - unlink: f\n"
        "    - phase: q\n      do:\n        - each: {on: t, do: [create, write, sync, close]}\n"
    )
    assert before.made.totals.operations["sync"] == 4 * (3 * 7 + 5)
    assert planned(changed("sync=end", before)).totals.operations["sync"] == 4 * (3 + 1)


@pytest.mark.parametrize("closing", ["in the last", "in one of its own", "never"])
def test_a_file_that_several_phases_write_is_synced_once(closing: str) -> None:
    loop = (
        "        - for: i\n          in: 7\n          do:\n"
        "            - write: {to: f, size: 10}\n            - sync: {on: f, mode: fsync}\n"
    )
    close = {
        "in the last": "        - close: f\n",
        "in one of its own": "    - phase: r\n      do:\n        - close: f\n",
        "never": "",
    }[closing]
    before = context(
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - create: f\n"
        f"{loop}    - phase: q\n      do:\n{loop}{close}"
    )
    assert before.made.totals.operations["sync"] == 4 * 14
    assert planned(changed("sync=end", before)).totals.operations["sync"] == 4


@pytest.mark.parametrize("closes", [1, 2])
def test_syncs_that_rows_choose_become_one_before_the_only_close(closes: int) -> None:
    steps = [0, 1, 2, 1, 2, 1, 2, *[3, 4] * (closes - 1), 3]
    rows = RowTable.of({"step": steps, "size": [10 + 7 * turn for turn in range(len(steps))]})
    chosen = ["create: f", "write: {to: f, size: size}", "sync: {on: f}", "close: f", "open: f"]
    program = "program:\n  g:\n    - phase: p\n      do:\n        - for: calls\n          do:\n"
    program += "            - choose:\n                by: step\n                of:\n"
    program += "".join(f"                  - {step}\n" for step in chosen[: 3 + closes])
    tables = json.dumps({"calls": rows.to_data()})
    before = context(f"files: {{f: {{path: f, shared: rank}}}}\ntables: {tables}\n{program}")
    assert before.made.totals.operations["sync"] == 4 * 3
    if closes == 2:
        with pytest.raises(UserError, match="nothing is made persistent more than once"):
            changed("sync=end", before)
        return
    after = planned(changed("sync=end", before))
    assert after.totals.operations["sync"] == 4
    assert after.totals.bytes_written == before.made.totals.bytes_written
    kinds = [one.kind.value for one in RequestStream(after.plan, 0).operations()]
    assert kinds == ["create", "write", "write", "write", "sync", "close"]
