"""Every change on workloads that it is made for: what it does and keeps, why it does not fit."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from candidate import BUILT, SETTINGS, changed, context, only_step, planned, simple

from venturi import library
from venturi.model.error import UserError
from venturi.model.plan import Interface
from venturi.plan.setting import RunSettings
from venturi.tune.catalogue import Candidate, applicable, changes, context_of
from venturi.tune.evaluation_context import EvaluationContext, steps_of, uses_of


@pytest.mark.parametrize(
    ("step", "value", "requests"),
    [
        ("transfer: 512, count: 1000", "x4", {2048: 250}),
        ("transfer: 512, count: 1001", "x4", {2048: 250, 512: 1}),
        ("transfer: 512, size: 1 MiB", "1MiB", {2**20: 1}),
        ("transfer: 47008, count: 100", "1MiB", {2**20: 4, 4700800 - 4 * 2**20: 1}),
        ("transfer: 4 KiB, block: 48 KiB, segments: 3, pattern: segmented", "x4", {16384: 9}),
        ("transfer: 4 KiB, block: 48 KiB, segments: 3, pattern: segmented", "1MiB", {49152: 3}),
        ("transfer: 100, count: 1000, pattern: append", "x16", {1000: 100}),
        ("mix: [{bytes: 100, weight: 3}, {bytes: 700}], count: 40", "1MiB", {10000: 1}),
        ("transfer: 512, total: 64", "x4", {2048: 16}),
        ("pattern: table, transfer: 512, table: [[0, 8], [8, 4096]]", "x4", {8: 1, 2048: 2}),
        ("pattern: table, transfer: 512, table: [[0, 8], [8, 4096]]", "1MiB", {8: 1, 4096: 1}),
    ],
)
def test_larger_requests_move_the_same_bytes(
    step: str, value: str, requests: dict[int, int]
) -> None:
    before = simple(step)
    after = planned(changed(f"transfer={value}", before))
    assert after.totals.bytes_written == before.made.totals.bytes_written
    sizes = Counter({size: n for (_, size), n in after.totals.sizes.items()})
    assert sizes == Counter({size: 4 * n for size, n in requests.items()})


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("transfer: 512, size: 1 MiB, pattern: random", "random: they have no neighbours"),
        ("size: 1 MiB", "1 MiB already"),
        ("transfer: 4 KiB, size: 4 KiB", "has no more than that"),
        ("transfer: 4 MiB, size: 16 MiB", "already"),
        ("transfer: 512, count: 10 + rank", "differs between ranks"),
    ],
)
def test_requests_that_cannot_grow_say_why(step: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        changed("transfer=1MiB", simple(step))


def test_a_file_that_is_opened_in_a_loop_stays_open() -> None:
    before = context(
        "files: {f: {path: f, shared: rank, prestage: 1 MiB}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 50\n"
        "          do:\n            - open: f\n            - read: {from: f, size: 4 KiB}\n"
        "            - close: f\n"
    )
    assert before.made.totals.operations["open"] == 200
    after = planned(changed("opens=once", before)).totals
    assert (after.operations["open"], after.operations["close"]) == (4, 4)
    assert after.operations["read"] == 200


@pytest.mark.parametrize(
    ("keys", "is_one"),
    [
        ("at: 4 KiB + 10 * i", True),
        ("transfer: 5, at: 10 * i, think: 1 us", True),
        ("at: 20 * i", False),  # with gaps
        ("at: 10 * (49 - i)", False),  # backwards
        ("at: 10 * i + rank", False),
        ("at: 10 * i, sync: fsync", False),
        ("transfer: 4, at: 10 * i", False),
    ],
)
def test_turns_that_go_on_where_the_last_one_ended_are_one_access(keys: str, is_one: bool) -> None:
    before = context(
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - create: f\n        - close: f\n"
        "        - for: i\n          in: 50\n          do:\n            - open: f\n"
        f"            - write: {{to: f, size: 10, {keys}}}\n            - close: f\n"
    )
    candidate = changed("opens=once", before)
    after, count = planned(candidate).totals, before.made.totals
    assert after.operations["open"] == 4
    assert after.operations["write"] == count.operations["write"]
    assert after.bytes_written == count.bytes_written
    has_loop = any(step.for_ is not None for step in steps_of(candidate.variant.workload))
    assert has_loop != is_one


@pytest.mark.parametrize(("pattern", "applies"), [("append", True), ("contiguous", False)])
def test_a_file_that_is_made_in_a_loop_stays_open_if_it_grows(pattern: str, applies: bool) -> None:
    before = context(
        "files: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 50\n"
        "          do:\n            - create: f\n            - write: {to: f, transfer: 10, "
        f"count: 1, pattern: {pattern}}}\n            - close: f\n"
    )
    if not applies:
        with pytest.raises(UserError, match="does not apply"):
            changed("opens=once", before)
        return
    candidate = changed("opens=once", before)
    assert planned(candidate).totals.operations["create"] == 4
    assert "not to begin anew" in candidate.variant.meaning.assumes


def reads_of(path: str, loop: str, files: int) -> EvaluationContext:
    """Files that are there already, each opened, read and closed where `loop` says."""
    each = "{open: o}, {read: {from: o, size: 10}}, {close: o}"
    return context(
        f'files: {{f: {{path: "f{{i}}", shared: rank}}, o: {{path: "{path}", shared: rank, '
        "made_by: [f]}}\n"
        f"program:\n  g:\n    - for: i\n      in: {files}\n      do:\n        - phase: p\n"
        "          do: [{create: f}, {write: {to: f, size: 10}}, {close: f}]\n"
        f"    - phase: q\n      do: [{loop.replace('EACH', each)}]\n"
    )


@pytest.mark.parametrize(
    ("path", "loop", "files", "opens"),
    [
        ("f{i % 6}", "{for: i, in: 600, do: [EACH]}", 6, 600),
        ("f{(i + 2) % 6}", "{for: i, in: 100, do: [EACH]}", 6, 100),
        ("f{5 - i % 6}", "{for: i, in: 7, do: [EACH]}", 6, 7),
        ("f{i}", "{for: t, in: 50, do: [{for: i, in: 6, do: [EACH]}]}", 6, 300),
        ("f{i % 6}", "{for: t, in: 3, do: [{for: i, in: 60, do: [EACH]}]}", 6, 180),
    ],
)
def test_files_that_take_turns_stay_open(path: str, loop: str, files: int, opens: int) -> None:
    before = reads_of(path, loop, files)
    assert before.made.totals.operations["open"] == 4 * opens
    candidate = changed("opens=once", before)
    after = planned(candidate).totals
    times = 3 if "in: 3," in loop else 1
    assert after.operations["open"] == 4 * files * times
    assert after.operations["close"] == 4 * (files * times + files)
    assert after.operations["read"] == before.made.totals.operations["read"]
    assert "6 files may be open at once" in candidate.variant.meaning.assumes


@pytest.mark.parametrize(
    ("path", "loop", "files"),
    [
        ("f{i}", "{for: i, in: 6, do: [EACH]}", 6),
        ("f{i % 800}", "{for: i, in: 1600, do: [EACH]}", 800),
        ("f{i // 100}", "{for: i, in: 600, do: [EACH]}", 6),
    ],
)
def test_files_that_do_not_come_again_or_are_too_many_are_left(
    path: str, loop: str, files: int
) -> None:
    with pytest.raises(UserError, match="does not apply"):
        changed("opens=once", reads_of(path, loop, files))


def test_a_file_of_each_turn_is_opened_in_each() -> None:
    before = context(
        'files: {f: {path: "f{i}", shared: rank}}\n'
        "program:\n  g:\n    - phase: p\n      do:\n        - for: i\n          in: 5\n"
        "          do:\n            - create: f\n            - close: f\n            - open: f\n"
        "            - close: f\n"
    )
    with pytest.raises(UserError, match="does not apply"):
        changed("opens=once", before)


def test_looks_in_a_loop_become_one() -> None:
    before = context(
        "files: {f: {path: f, shared: rank}, t: {path: t, tree: {items: 5}}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - create: f\n        - create: t\n"
        "        - for: i\n          in: 30\n          do:\n            - stat: f\n"
        "            - {stat: t, from: next node}\n"
        "            - write: {to: f, size: 10, at: 10 * i}\n        - close: f\n"
    )
    assert before.made.totals.operations["stat"] == 4 * 30 * 6
    candidate = changed("stats=once", before)
    assert planned(candidate).totals.operations["stat"] == 4 * 6
    assert candidate.variant.meaning.assumes


@pytest.mark.parametrize(
    "step",
    [
        "pattern: strided, transfer: 4 KiB, count: 16",
        "pattern: random, transfer: 4 KiB, size: 64 KiB",
        "pattern: segmented, transfer: 4 KiB, block: 4 KiB, segments: 16",
        "pattern: tiled, shape: [16, 16384], tile: [16, 4096], transfer: 4 KiB",
    ],
)
def test_scattered_requests_become_contiguous(step: str) -> None:
    before = simple(step, "{path: f}")
    candidate = changed("order=contiguous", before)
    assert planned(candidate).totals.bytes_written == 2**18
    assert planned(candidate).totals.operations["write"] == 4 * 16
    assert only_step(candidate).pattern.value == "contiguous"


def test_a_table_is_sorted_and_joined() -> None:
    before = simple("pattern: table, table: [[300, 100], [0, 100], [100, 50]]", "{path: f}")
    assert only_step(changed("order=contiguous", before)).table == [[0, 150], [300, 100]]
    with pytest.raises(UserError, match="back to back already"):
        changed("order=contiguous", simple("pattern: table, table: [[0, 100], [100, 50]]"))


@pytest.mark.parametrize(("value", "files"), [("rank", 4), ("every 2", 2), ("all", 1)])
def test_files_are_shared_otherwise(value: str, files: int) -> None:
    shared = "{path: f, shared: all}" if value != "all" else '{path: "f{rank:04d}", shared: rank}'
    before = simple("transfer: 4 KiB, size: 64 KiB", shared)
    after = planned(changed(f"files={value}", before)).totals
    assert (after.files, after.bytes_written) == (files, 2**18)


def test_fewer_ranks_move_everything() -> None:
    for shared in ("all", "rank"):
        before = simple("transfer: 4 KiB, size: 64 KiB", f"{{path: f, shared: {shared}}}")
        candidate = changed("tasks=2", before)
        assert planned(candidate).totals.bytes_written == 2**18
        assert "not in the measurement" in candidate.variant.meaning.assumes


def test_alignment_pads_between_ranks() -> None:
    before = simple("transfer: 47008, count: 3", "{path: f}")
    step = only_step(changed("align=4KiB", before))
    assert (step.transfer, step.size, step.at) == (49152, 141024, "rank * 143360")
    with pytest.raises(UserError, match="smaller than"):
        changed("align=4KiB", simple("transfer: 100, count: 30", "{path: f}"))


def test_interfaces_depth_and_buffers() -> None:
    before = simple("transfer: 4 KiB, count: 32")
    assert _interfaces(changed("interface=uring", before)) == {Interface.URING}
    deep = changed("depth=8", before)
    assert (_interfaces(deep), only_step(deep).depth) == ({Interface.URING}, 8)
    stream = simple("transfer: 4 KiB, count: 32", "{path: f, shared: rank, interface: stdio}")
    candidate = changed("buffer=4MiB", stream)
    assert candidate.variant.workload.files["f"].options == {"buffer_bytes": 2**22}
    assert "setvbuf" in candidate.variant.advice


def test_what_is_appended_is_not_mapped() -> None:
    assert _interfaces(changed("interface=mmap", simple("transfer: 4 KiB, count: 32")))
    appended = simple("pattern: append, transfer: 4 KiB, count: 32")
    with pytest.raises(UserError, match="is reached otherwise than by mmap"):
        changed("interface=mmap", appended)


def _interfaces(candidate: Candidate) -> set[Interface]:
    return {spec.interface for spec in candidate.variant.workload.files.values()}


def test_libraries_have_calls_together_hints_and_chunks() -> None:
    before = context(
        "files:\n  f:\n    path: f\n    interface: hdf5\n    datasets:\n      d: {shape: [4, 64], "
        "split: [4, 1], chunks: [1, 8]}\nprogram:\n  g:\n    - phase: p\n      do:\n"
        "        - create: f\n        - write: f.d\n        - close: f\n"
    )
    assert only_step(changed("collective=on", before)).collective
    assert changed("hint=cb_nodes:2", before).variant.workload.files["f"].hints == {"cb_nodes": "2"}
    parts = changed("chunks=part", before).variant.workload.files["f"].datasets["d"]
    assert parts.chunks == [1, 64]
    assert changed("chunks=none", before).variant.workload.files["f"].datasets["d"].chunks == []
    assert changed("deflate=1", before).variant.workload.files["f"].datasets["d"].deflate == 1


DATASET = (
    "files:\n  f:\n    path: f\n    interface: hdf5\n    hints: {cb_nodes: 1}\n    datasets:\n"
    "      d: {shape: [4, 64], split: [4, 1]}\nprogram:\n  g:\n    - phase: p\n      do:\n"
    "        - create: f\n        - write: f.d\n        - close: f\n"
)


@pytest.mark.parametrize(
    ("wanted", "assumes"),
    [
        ("pnetcdf", "who reads the files knows that format"),
        ("netcdf", "who reads the files knows that format"),
        ("mpiio", "the files are bare data"),
    ],
)
def test_a_library_s_data_in_another_format_where_asked_for(wanted: str, assumes: str) -> None:
    before = context(DATASET)
    candidate = changed(f"interface={wanted}", before)
    assert _interfaces(candidate) == {Interface(wanted)}
    assert candidate.variant.workload.files["f"].hints == {"cb_nodes": 1}
    assert planned(candidate).totals.bytes_written == before.made.totals.bytes_written
    assert assumes in candidate.variant.meaning.assumes
    assert "instead of HDF5 (H5Dwrite()" in candidate.variant.advice
    assert not any(each.key == "interface" for each in applicable(before, SETTINGS)[0])


def test_mpi_io_may_become_posix_but_not_the_other_way() -> None:
    before = simple(
        "transfer: 4 KiB, count: 32", "{path: f, interface: mpiio, hints: {cb_nodes: 1}}"
    )
    candidate = changed("interface=posix", before)
    assert _interfaces(candidate) == {Interface.POSIX}
    assert candidate.variant.workload.files["f"].hints == {}
    with pytest.raises(UserError, match="does not apply"):
        changed("interface=mpiio", simple("transfer: 4 KiB, count: 32"))
    with pytest.raises(UserError, match="does not apply"):
        changed("interface=hdf5", before)


def test_what_needs_mpi_does_not_apply_without() -> None:
    without = replace(context(DATASET), has_mpi=False)
    with pytest.raises(UserError, match="the ranks run without MPI"):
        changed("interface=pnetcdf", without)


def test_stripes_are_for_file_systems_that_have_them() -> None:
    body = (
        "files: {f: {path: f}}\nprogram:\n  g:\n    - phase: p\n      do:\n"
        "        - write: {to: f, size: 64 KiB}\n"
    )
    stripe = changed("stripe=4", context(body, "lustre")).variant.workload.files["f"].stripe
    assert stripe is not None
    assert stripe.count == 4
    with pytest.raises(UserError, match="ext4 does not let users stripe files"):
        changed("stripe=4", context(body))


@pytest.mark.parametrize("name", library.names())
def test_every_change_on_the_library_moves_the_same_bytes(name: str) -> None:
    """Whatever applies can be planned and keeps the bytes; whatever does not says why."""
    before = context_of(library.load(name), SETTINGS, "ext4", BUILT)
    found, skipped = applicable(before, SETTINGS)
    assert len({candidate.name for candidate in found}) == len(found)
    for candidate in found:
        after = planned(candidate).totals
        assert after.bytes_written == before.made.totals.bytes_written, candidate.name
        assert after.bytes_read == before.made.totals.bytes_read, candidate.name
        assert candidate.variant.advice.endswith(".")
    told = {entry.name.partition("=")[0] for entry in skipped} | {c.key for c in found}
    assert told >= {change.key for change in changes()} - {"interface", "tasks"}
    assert all(entry.why for entry in skipped)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("transfer", "no such change"),
        ("speed=11", "no such change"),
        ("transfer=fast", "no size"),
        ("transfer=x1", "no number of 2 or more"),
        ("files=some", "no such value"),
        ("interface=posix", "does not apply"),
        ("hint=cb_nodes", "no hint"),
        ("deflate=10", "levels are from 0"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        changed(text, simple("transfer: 4 KiB, count: 32"))


def test_an_interface_that_is_not_built_does_not_apply() -> None:
    before = context(
        "files: {f: {path: f}}\nprogram:\n  g:\n    - phase: p\n      do:\n"
        "        - write: {to: f, transfer: 4 KiB, size: 64 KiB}\n",
        built=frozenset({"posix"}),
    )
    with pytest.raises(UserError, match="no uring here"):
        changed("interface=uring", before)


def test_what_parameters_leave_unused_is_not_changed() -> None:
    """The library's `ior` has a shared file and one for each rank, and uses one of them."""
    for value, left in (("0", "shared"), ("1", "own")):
        chosen = RunSettings(assignments={"per_process": value})
        before = context_of(library.load("ior"), chosen, "ext4", BUILT)
        assert list(before.workload.files) == [left]
        found, _ = applicable(before, chosen)
        keys = {candidate.name for candidate in found if candidate.key == "files"}
        assert keys == ({"files=rank"} if value == "0" else {"files=all"})


GATHER = """
files: {f: {path: f, about: /run/state.dat, shared: rank}}
program:
  g:
    - phase: p
      do:
        - when: "rank == 0"
          do:
            - create: f
            - write: {to: f, transfer: 4 MiB, size: 64 MiB}
            - close: f
"""


@pytest.mark.parametrize("value", ["rank", "all"])
def test_what_one_rank_does_for_all_is_done_by_each(value: str) -> None:
    candidate = changed(f"spread={value}", context(GATHER))
    after = planned(candidate)
    assert after.totals.bytes_written == 64 * 2**20
    assert {size: n for (_, size), n in after.totals.sizes.items()} == {2**20: 64}
    (spec,) = candidate.variant.workload.files.values()
    assert spec.shared == value
    assert only_step(candidate).at == ("rank * 16777216" if value == "all" else None)
    assert "/run/state.dat" in candidate.variant.advice


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("64 MiB", "64 KiB", "too little"),
        ("64 MiB", "64 MiB, pattern: random", "not back to back"),
        ("rank == 0", "rank < 2", "no rank works for all others"),
        ("64 MiB", "67108865", "dealt evenly"),
    ],
)
def test_what_cannot_be_spread_says_why(old: str, new: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        changed("spread=rank", context(GATHER.replace(old, new)))


def test_a_file_that_others_use_is_not_spread() -> None:
    more = "    - phase: q\n      do: [{open: f}, {read: {from: f, size: 10}}, {close: f}]\n"
    with pytest.raises(UserError, match="also used by other ranks"):
        changed("spread=rank", context(GATHER + more))


PAUSED = """
files:
  f: {path: f, about: /run/state.dat, shared: rank}
  s: {path: s, about: /run/settings, shared: rank}
program:
  g:
    - phase: open
      do:
        - when: "rank == 0"
          do:
            - create: s
            - write: {to: s, size: 100 B}
            - create: f
            - close: s
    - for: i
      in: 4
      do:
        - compute: "1 ms"
        - phase: write
          do:
            - when: "rank == 0"
              do:
                - write: {to: f, transfer: 1 MiB, count: "block(30, 4, i)", at: "7864320 B * i"}
    - phase: close
      do:
        - when: "rank == 0"
          do: [{close: f}]
"""
"""As a capture on a busy machine is: pauses part the gather, and settings lie beside it."""


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("rank", "(7864320 B * i) // 4"),
        ("all", "(7864320 B * i) + rank * (block(30, 4, i)) * 262144"),
    ],
)
def test_a_gather_that_pauses_part_is_spread_without_its_settings(value: str, at: str) -> None:
    before = context(PAUSED)
    candidate = changed(f"spread={value}", before)
    after = planned(candidate)
    assert {size: n for (_, size), n in after.totals.sizes.items()} == {2**18: 120, 100: 1}
    assert next(use.step.at for use in uses_of(candidate.variant.workload) if use.name == "f") == at
    assert candidate.variant.workload.files["s"].shared == "rank"
    assert candidate.variant.workload.files["f"].shared == value
    # The settings are still made by one rank alone.
    makers = 4 if value == "rank" else 1
    assert after.totals.operations["create"] == makers + 1


def test_chunks_take_the_form_of_what_a_call_moves() -> None:
    before = context(
        "files:\n  f:\n    path: f\n    about: /run/series.h5\n    interface: hdf5\n"
        "    shared: rank\n    datasets: {d: {shape: [512, 1024], split: [1, 1], "
        "chunks: [512, 1]}}\n"
        "program:\n  g:\n    - phase: p\n      do:\n        - create: f\n"
        "        - write: {to: f.d, transfer: 16 KiB}\n        - close: f\n"
    )
    candidate = changed("chunks=call", before)
    assert candidate.variant.workload.files["f"].datasets["d"].chunks == [2, 1024]
    assert "d in /run/series.h5" in candidate.variant.advice
    whole = changed("chunks=part", before)
    assert whole.variant.workload.files["f"].datasets["d"].chunks == [512, 1024]


def test_a_loop_around_a_phase_is_looked_into() -> None:
    """Pauses while a program was captured part its loop; the change is found all the same."""
    before = context(
        "files: {f: {path: f, shared: rank, prestage: 4 KiB}}\nprogram:\n  g:\n    - for: i\n"
        "      in: 50\n      do:\n        - phase: p\n          do:\n            - open: f\n"
        "            - read: {from: f, size: 64, at: 64 * i}\n            - stat: f\n"
        "            - close: f\n"
    )
    assert before.made.totals.operations["open"] == 4 * 50
    assert planned(changed("opens=once", before)).totals.operations["open"] == 4
    assert planned(changed("stats=once", before)).totals.operations["stat"] == 4


def test_what_was_found_is_looked_at_first() -> None:
    said = "severity: high, what: a, evidence: b, advice: c"
    found = (
        "\norigin:\n  source: x\n  method: trace\n  findings:\n"
        f"    - {{id: small-requests, {said}, at_stake_s: 1}}\n"
        f"    - {{id: serial-io, {said}, at_stake_s: 2}}\n"
    )
    plain, _ = applicable(context(GATHER), SETTINGS)
    guided, _ = applicable(context(GATHER + found), SETTINGS)
    assert sorted(each.name for each in plain) == sorted(each.name for each in guided)
    assert [each.key for each in guided][:2] == ["spread", "transfer"]
    assert plain[0].key != "spread"


def test_the_page_lists_every_change() -> None:
    text = (Path(__file__).parents[2] / "docs" / "tune.md").read_text("utf-8")
    listed = re.findall(r"^\| `([a-z]+)` \|", text, re.M)
    assert sorted(listed) == sorted(change.key for change in changes())
