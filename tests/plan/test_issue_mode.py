"""Mixes, rates, appends, tables, readers and repeats: what is planned, and what is refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.test_access import assert_covers, made_of, requests_of
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import evaluate
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings


def made_with(program: str, ranks: int = 2, file: str = "{path: f}", nodes: int = 1) -> PlanResult:
    """The plan of a workload with phases written as `name | keys | step; step`."""
    lines = []
    for phase in program.strip().split("\n"):
        name, keys, steps = (part.strip() for part in phase.split("|"))
        lines.append(f"    - phase: {name}")
        lines += [f"      {keys}"] if keys else []
        lines += ["      do:", *(f"        - {step.strip()}" for step in steps.split(";"))]
    text = (
        f"workload: 1\nname: t\nparameters: {{np: {{default: {ranks}, role: ranks}}}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  f: {file}\nprogram:\n  g:\n" + "\n".join(lines)
    )
    return make_plan(parse_yaml(text, "t.yaml", Workload), RunSettings(nodes=nodes))


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3)
)
def test_tiles_cover_their_array(a: int, b: int, c: int, extent: int, count: int) -> None:
    shape, tile = [a * extent, b * 2, c * extent], [extent, 2, extent]
    step = f"{{to: f, pattern: tiled, shape: {shape}, tile: {tile}, element: 3, count: {count}}}"
    made = made_of(step, a * b * c)
    assert_covers(made, shape[0] * shape[1] * shape[2] * 3 * count)


def test_the_rows_of_a_tile_are_cut_into_transfers() -> None:
    made = made_of(
        "{to: f, pattern: tiled, shape: [4, 10], tile: [2, 10], element: 4, transfer: 32}", 2
    )
    assert requests_of(made, 1) == [(80, 32), (112, 32), (144, 16)]


@given(
    st.integers(0, 300),
    st.lists(st.tuples(st.integers(1, 100), st.integers(1, 9)), min_size=1, max_size=4),
    st.integers(0, 10),
    st.integers(1, 4),
)
def test_shares_of_a_mix_are_exact(
    count: int, parts: list[tuple[int, int]], tenths: int, ranks: int
) -> None:
    mix = ", ".join(f"{{bytes: {size}, weight: {weight}}}" for size, weight in parts)
    largest = max(size for size, _ in parts)
    made = made_with(
        f"w || write: {{to: f, pattern: random, transfer: {largest}, count: 400}}\n"
        f"m || write: {{to: f, pattern: random, size: {largest} * 400, count: {count}, "
        f"mix: [{mix}], reads: {tenths / 10}}}",
        ranks,
    )
    sizes: Counter[int] = Counter()
    reads = 0
    for (kind, size), times in made.totals.sizes.items():
        sizes[size] += times
        reads += times if kind == "read" else 0
    sizes[largest] -= 400 * ranks
    weights = sum(weight for _, weight in parts)
    wanted: Counter[int] = Counter()
    for size, weight in parts:
        wanted[size] += weight
    assert sum(sizes.values()) == count * ranks
    for size, weight in wanted.items():
        ideal = count * weight / weights
        assert abs(sizes[size] / ranks - ideal) < len(parts)
    assert reads == ranks * int(count * (tenths / 10) + 0.5)


def test_a_packed_mix_lies_behind_those_of_the_ranks_before() -> None:
    made = made_of("{to: f, count: 5, mix: [{bytes: 10}, {bytes: 3, weight: 2}]}", 3)
    step = made.plan.groups[0].program[0].body[1]  # type: ignore[union-attr]
    assert isinstance(step, p.Transfer)
    assert isinstance(step.pattern, p.Packed)
    bases = [evaluate(step.pattern.base, [rank, 3, 3, 0, 0, 0]) for rank in range(3)]
    assert bases == [0, 22, 44]
    assert made.totals.bytes_written == 66


def test_appended_files_are_marked() -> None:
    made = made_of("{to: f, pattern: append, transfer: 10, count: 4}", 2)
    assert made.plan.files[0].append
    assert made.totals.bytes_written == 80


@pytest.mark.parametrize("size", ["45", "43 + 2 * rank", "block(90, ranks, rank)"])
def test_what_is_appended_ends_with_a_shorter_request(size: str) -> None:
    made = made_of(f"{{to: f, pattern: append, transfer: 10, size: '{size}'}}", 2)
    wanted = 88 if "+" in size else 90
    assert (made.totals.bytes_written, made.totals.operations["write"]) == (wanted, 10)


def test_a_phase_that_lasts_repeats_its_transfers_and_nothing_else() -> None:
    made = made_with(
        "w|at_least: 2 s|create: f; write: {to: f, transfer: 3, size: 10}; compute: 1 ms; "
        "sync: fsync; read: {from: f, size: 10}; sync: fsync; close: f"
    )
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    kinds = [step.kind for step in phase.body]
    assert kinds == ["manage", "repeat", "sync", "manage"]
    repeat = phase.body[1]
    assert isinstance(repeat, p.Repeat)
    assert repeat.at_least_s == 2.0
    kinds = [step.kind for step in repeat.body]
    assert kinds == ["transfer", "transfer", "compute", "sync", "transfer"]
    assert made.totals.bytes_written == 20
    assert any("lower bound" in warning for warning in made.warnings)


@pytest.mark.parametrize("word", ["next node", "nodes 2", "random", "permuted"])
def test_readers_on_one_node_are_warned_of(word: str) -> None:
    program = f"w || write: {{to: f, size: 8}}\nr || {{read: {{from: f, size: 8}}, from: {word}}}"
    assert any("cache" in warning for warning in made_with(program).warnings)
    assert not made_with(program, nodes=2).warnings


def test_a_permutation_of_readers_is_one_and_the_same_for_all_steps() -> None:
    made = made_with(
        "w || write: {to: f, size: 8}\n"
        "r || {open: f, from: permuted}; {read: {from: f, size: 8}, from: permuted}",
        ranks=7,
    )
    body: Any = made.plan.groups[0].program[1]
    owners = [
        [evaluate(step.owner, [rank, 7, 7, 0, 0, turn]) for rank in range(7)]
        for step in body.body[:2]
        for turn in (0, 1)
    ]
    assert owners[0] == owners[2]
    assert owners[0] != owners[1]
    assert all(sorted(one) == list(range(7)) for one in owners)


WRITTEN = "w || write: {to: f, size: 64}\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("w || write: {to: f, transfer: 4, size: 8, table: [[0, 1]]}", "belongs to"),
        ("w || write: {to: f, pattern: table}", "'table' is missing"),
        ("w || write: {to: f, pattern: table, table: [[0]]}", "a row is"),
        ("w || write: {to: f, pattern: table, table: [[0, 0]]}", "1 or more"),
        ("w || write: {to: f, pattern: table, table: [[0, 1]], segments: 2}", "'block' is missing"),
        (
            "w || write: {to: f, pattern: table, table: [[0, 1]], transfer: 1, block: 1}",
            "without 'segments' and 'block'",
        ),
        ("w || write: {to: f, pattern: table, table: [[0, 1]], transfer: 0}", "1 or more"),
        ("w || write: {to: f, pattern: tiled, shape: [4], tile: [3]}", "do not fill"),
        ("w || write: {to: f, pattern: tiled, shape: [4], tile: [4]}", "1 tiles, but 2 ranks"),
        (
            "w || write: {to: f, pattern: random, transfer: 4, count: 1, zipf: 0}",
            "belongs to|above",
        ),
        ("w || write: {to: f, pattern: append, transfer: 4, count: 1, at: 5}", "'at' does not"),
        (
            WRITTEN + "r || read: {from: f, pattern: append, transfer: 4, count: 1}",
            "only a 'write'",
        ),
        (
            "w || create: f; write: {to: f, pattern: append, transfer: 4, count: 1}; "
            "write: {to: f, size: 4}",
            "use two files",
        ),
        ("w || write: {to: f, count: 4, mix: [{bytes: 4}], transfer: 4}", "'transfer' does not"),
        ("w || write: {to: f, pattern: strided, count: 4, mix: [{bytes: 4}]}", "'mix' does not"),
        ("w || write: {to: f, count: 4, mix: [{bytes: 4, weight: 0}]}", "1 or more"),
        ("w || write: {to: f, size: 8, reads: 1.5}", "between 0 and 1"),
        (WRITTEN + "r || read: {from: f, size: 8, reads: 0.5}", "reads in a 'write'"),
        ("w || write: {to: f, size: 8, rate: 0}", "above 0"),
        ("w || write: {to: f, size: 8, arrivals: poisson}", "belongs to a 'rate'"),
        ("w || write: {to: f, size: 8, rate: 5, think: 1 ms}", "drop one"),
        ("w || write: {to: f, size: 8, reads: 0.5}", "not written before"),
        (
            "w |limit: 9 s| write: {to: f, size: 8}\nr || write: {to: f, size: 8, reads: 0.5}",
            "not written before",
        ),
        (WRITTEN + "r || write: {to: f, size: 65, reads: 0.5}", "not written before"),
        (
            "w || write: {to: f, pattern: random, transfer: 4, count: 8, replacement: true}\n"
            "r || write: {to: f, size: 8, reads: 0.5}",
            "not written before",
        ),
        ("w |at_least: 1 s| compute: 1", "finds no 'write'"),
        ("w |at_least: 0| write: {to: f, size: 8}", "longer than 0"),
        (
            "w |at_least: 1 s| create: f; write: {to: f, size: 8}; close: f; open: f; "
            "write: {to: f, size: 8}",
            "no names are made",
        ),
    ],
)
def test_refused(program: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        made_with(program)
    text = f"{caught.value.message} {caught.value.hint}"
    assert any(part in text for part in message.split("|")), text


@pytest.mark.parametrize(
    "program",
    [
        WRITTEN + "r || write: {to: f, size: 64, reads: 0.5}",
        "w || write: {to: f, pattern: strided, transfer: 8, count: 8}\n"
        "r || write: {to: f, pattern: random, transfer: 8, size: 64, reads: 0.5, zipf: 1}",
        "w || write: {to: f, transfer: 48, size: 64}\n"
        "r |limit: 5 s| write: {to: f, pattern: random, transfer: 8, size: 64, reads: 1}",
    ],
)
def test_reads_among_writes_of_a_whole_file(program: str) -> None:
    made = made_with(program)
    assert made.totals.bytes_read > 0


def test_reads_among_writes_of_prestaged_data() -> None:
    made = made_with(
        "r || write: {to: f, size: 64, transfer: 8, reads: 0.25}", file="{path: f, prestage: 64}"
    )
    assert made.totals.operations["read"] == 4


def test_a_shared_append_cannot_be_verified() -> None:
    step = "w || write: {to: f, pattern: append, transfer: 4, count: 1}"
    with pytest.raises(UserError, match="cannot be verified"):
        made_with(step, file="{path: f, content: {verify: true}}")
    made_with(step, file="{path: f, shared: rank, content: {verify: true}}")


def test_calls_together_may_read_among_writes() -> None:
    program = WRITTEN + "r || write: {to: f, size: 64, transfer: 4, reads: 0.5, collective: true}"
    assert made_with(program, file="{path: f, interface: mpiio}").totals.operations["read"] == 16


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        ("r |limit: 9 s| write: {to: f, size: 8, reads: 0.5, collective: true}", "drop the limit"),
        (
            "r || write: {to: f, transfer: 4, total: 3, reads: 0.5, collective: true}",
            "equally many requests, and they have 1 to 2",
        ),
    ],
)
def test_calls_together_that_could_not_know_who_reads(phase: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        made_with(WRITTEN + phase, file="{path: f, interface: mpiio}")
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_pauses_between_requests_are_computing() -> None:
    made = made_with(
        "write | | create: f; write: {to: f, transfer: 64, count: 10, think: 20 ms}; compute: 1"
    )
    assert made.totals.seconds_computing == pytest.approx(1.2)
