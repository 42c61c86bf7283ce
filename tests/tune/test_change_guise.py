"""Changes of what programs do in less usual ways: files closed at every turn, rows in pieces."""

from __future__ import annotations

import pytest
from test_change import changed, context, only_step, planned, simple

from venturi.model.error import UserError
from venturi.model.workload import PatternKind
from venturi.tune.evaluation_context import EvaluationContext


@pytest.mark.parametrize(
    ("path", "gone", "syncs", "opens"),
    [("f", "", 1, 8), ("f{i}", "", 7, 7), ("f", "            - unlink: f\n", 7, 7)],
)
def test_a_file_that_is_synced_and_closed_in_a_loop_is_synced_behind_it(
    path: str, gone: str, syncs: int, opens: int
) -> None:
    """It is opened once more for that, unless each turn has a file of its own."""
    before = context(
        f"files: {{f: {{path: '{path}', shared: rank}}}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 7\n"
        "          do:\n            - create: f\n"
        "            - write: {to: f, size: 10, sync: fsync}\n"
        f"            - close: f\n{gone}"
    )
    after = planned(changed("sync=end", before)).totals.operations
    assert after["sync"] == 4 * syncs
    assert after["open"] + after["create"] == 4 * opens


def test_a_table_without_holes_is_written_as_one() -> None:
    holes = "pattern: table, block: 32 B, segments: 100, at: 10, table: [[0, 15], [15, {}]]"
    step = only_step(changed("transfer=1MiB", simple(holes.format(17))))
    assert (step.pattern, step.transfer, step.size) == (PatternKind.CONTIGUOUS, 3200, 3200)
    with pytest.raises(UserError, match="does not apply"):
        changed("transfer=1MiB", simple(holes.format(16)))


def test_a_stream_that_is_opened_at_every_turn_gets_no_large_buffer() -> None:
    text = (
        "files: {{f: {{path: f, shared: rank, interface: stdio}}}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n{}"
    )
    once = (
        "        - create: f\n        - write: {to: f, pattern: append, transfer: 10, count: 1}\n"
        "        - close: f\n"
    )
    assert changed("buffer=4MiB", context(text.format(once))).key == "buffer"
    again = "        - for: i\n          in: 9\n          do:\n" + once.replace("   -", "       -")
    with pytest.raises(UserError, match="no file that stays open is a stream"):
        changed("buffer=4MiB", context(text.format(again)))


def test_chunks_take_the_form_of_the_parts_that_a_loop_reads() -> None:
    before = context(
        "files:\n  f:\n    path: f\n    interface: hdf5\n    shared: rank\n"
        "    datasets: {d: {shape: [512, 1024], split: [1, 1], chunks: [8, 1024]}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - create: f\n"
        "        - write: {to: f.d}\n"
        "        - {for: i, in: 64, do: [{read: {from: f.d, split: [1, 64], part: i}}]}\n"
        "        - close: f\n"
    )
    candidate = changed("chunks=call", before)
    assert candidate.variant.workload.files["f"].datasets["d"].chunks == [512, 16]
    assert "h5py" in candidate.variant.advice


def test_a_look_right_behind_an_opening_goes_with_it() -> None:
    """Libraries ask for the state of each file that they open; a look elsewhere stays."""
    before = context(
        "files: {f: {path: f, shared: rank, prestage: 1 MiB}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 50\n"
        "          do:\n            - open: f\n            - stat: f\n"
        "            - read: {from: f, transfer: 4 KiB, size: 4 KiB, at: 8 KiB * i}\n"
        "            - stat: f\n            - close: f\n"
    )
    after = planned(changed("opens=once", before)).totals.operations
    assert (after["open"], after["stat"], after["read"]) == (4, 4 * 51, 4 * 50)


def reading(at: str, path: str = "f", more: str = "") -> EvaluationContext:
    """A loop that opens a file and reads a buffer of it, as a library does for a small record."""
    return context(
        f"files: {{f: {{path: '{path}', shared: rank, prestage: 1 MiB}}}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 50\n"
        "          do:\n            - open: f\n            - stat: f\n"
        f"            - read: {{from: f, transfer: 64 KiB, size: 64 KiB, at: '{at}'}}\n"
        f"{more}            - close: f\n"
    )


@pytest.mark.parametrize(("at", "moved"), [("160 * i", 64 * 1024 + 49 * 160), ("0", 64 * 1024)])
def test_what_turns_read_again_is_read_once(at: str, moved: int) -> None:
    before = reading(at)
    after = planned(changed("rereads=once", before)).totals
    assert before.made.totals.bytes_read == 4 * 50 * 64 * 1024
    assert after.bytes_read == 4 * moved
    assert (after.operations["open"], after.operations["stat"]) == (4, 4)


@pytest.mark.parametrize(
    ("at", "path", "more"),
    [
        ("64 KiB * i", "f", ""),
        ("0", "f{i}", ""),
        ("0", "f", "            - write: {to: f, transfer: 1 KiB, count: 1}\n"),
    ],
)
def test_what_lies_elsewhere_or_changes_is_read_in_each_turn(at: str, path: str, more: str) -> None:
    with pytest.raises(UserError, match="no loop reads the same part"):
        changed("rereads=once", reading(at, path, more))


@pytest.mark.parametrize("value", ["rank", "all"])
def test_a_gather_in_a_language_that_asks_for_the_state_of_what_it_opens(value: str) -> None:
    """As Fortran and Python do: that is no reason to leave the file to one rank."""
    before = context(
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - when: 'rank == 0'\n"
        "          do:\n            - create: f\n            - stat: f\n"
        "            - write: {to: f, transfer: 800 kB, size: 80000 kB}\n"
        "            - close: f\n"
    )
    after = planned(changed(f"spread={value}", before)).totals
    assert after.bytes_written == 80_000_000
    assert {size: n for (_, size), n in after.sizes.items()} == {200_000: 400}
    assert after.operations["stat"] == 4
