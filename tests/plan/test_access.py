"""Patterns touch what they say: exactly, disjointly, and in order."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import evaluate
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings


def made_of(step: str, ranks: int, file: str = "{path: f}", extra: str = "") -> PlanResult:
    """The plan of a workload with one `write`."""
    from venturi.model.yaml_text import parse_yaml

    text = (
        f"workload: 1\nname: t\nparameters: {{np: {{default: {ranks}, role: ranks}}}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  f: {file}\n{extra}"
        f"program:\n  g:\n    - phase: w\n      do:\n        - write: {step}\n"
    )
    return make_plan(parse_yaml(text, "t.yaml", Workload), RunSettings())


def requests_of(made: PlanResult, rank: int) -> list[tuple[int, int]]:
    """(offset, size) of all requests of one rank, in order."""
    slots = [rank, made.plan.ranks, made.plan.ranks, 0, 0, 0]
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, p.Phase)
    found = []
    for step in phase.body:
        if not isinstance(step, p.Transfer):
            continue
        if isinstance(step.pattern, p.Table):
            start = int(evaluate(step.pattern.base, slots))
            found += [(start + row.offset, row.bytes) for row in step.pattern.rows]
            continue
        assert isinstance(step.pattern, p.Nest)
        size, base = int(evaluate(step.size, slots)), int(evaluate(step.pattern.base, slots))
        counts = [int(evaluate(loop.count, slots)) for loop in step.pattern.loops]
        strides = [int(evaluate(loop.stride, slots)) for loop in step.pattern.loops]
        for index in product(*(range(count) for count in counts)):
            offset = base + sum(i * s for i, s in zip(index, strides, strict=True))
            found.append((offset, size))
    return found


def assert_covers(made: PlanResult, total: int) -> None:
    """All ranks together touch every byte of [0, total) once."""
    pieces = sorted(piece for rank in range(made.plan.ranks) for piece in requests_of(made, rank))
    end = 0
    for offset, size in pieces:
        assert offset == end
        end = offset + size
    assert end == total
    assert made.totals.bytes_written == total


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(1, 50))
def test_segmented_is_ior_s_nest(ranks: int, segments: int, per_block: int, transfer: int) -> None:
    block = per_block * transfer
    step = (
        f"{{to: f, pattern: segmented, transfer: {transfer}, block: {block}, segments: {segments}}}"
    )
    made = made_of(step, ranks)
    assert_covers(made, ranks * block * segments)
    expected = [
        (s * ranks * block + (ranks - 1) * block + t * transfer, transfer)
        for s in range(segments)
        for t in range(per_block)
    ]
    assert requests_of(made, ranks - 1) == expected


@given(st.integers(1, 5), st.integers(1, 500), st.integers(1, 60))
def test_contiguous_covers_with_a_short_last_request(ranks: int, size: int, transfer: int) -> None:
    made = made_of(f"{{to: f, transfer: {transfer}, size: {size}}}", ranks)
    assert_covers(made, ranks * size)
    sizes = [length for _, length in requests_of(made, 0)]
    assert sizes[:-1] == [transfer] * (len(sizes) - 1)


@given(st.integers(1, 5), st.integers(1, 40))
def test_strided_interleaves(ranks: int, count: int) -> None:
    made = made_of(f"{{to: f, pattern: strided, transfer: 47008, count: {count}}}", ranks)
    assert_covers(made, ranks * count * 47008)
    assert requests_of(made, 0)[0] == (0, 47008)


@given(st.integers(1, 6), st.integers(1, 60))
def test_a_total_is_dealt(ranks: int, total: int) -> None:
    made = made_of(f"{{to: f, transfer: 10, total: {total}}}", ranks)
    assert_covers(made, total * 10)


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3)
)
def test_datasets_cover_their_array(a: int, b: int, c: int, extent: int, count: int) -> None:
    shape = [a * extent, b * 2, c * extent]
    file = (
        f"{{path: f, datasets: {{u: {{count: {count}, type: f32, shape: {shape}, "
        f"split: [{a}, {b}, {c}]}}}}}}"
    )
    made = made_of("{to: f.u}", a * b * c, file)
    elements = shape[0] * shape[1] * shape[2]
    assert_covers(made, elements * 4 * count)


@given(st.integers(1, 5), st.integers(1, 500), st.integers(0, 60))
def test_parts_that_are_not_apart_are_the_same(ranks: int, size: int, at: int) -> None:
    made = made_of(f"{{to: f, transfer: 60, size: {size}, at: {at}, apart: false}}", ranks)
    alone = requests_of(made_of(f"{{to: f, transfer: 60, size: {size}, at: {at}}}", 1), 0)
    assert all(requests_of(made, rank) == alone for rank in range(ranks))


def test_own_files_begin_at_zero() -> None:
    made = made_of("{to: f, transfer: 4, size: 8}", 3, "{path: f, shared: rank}")
    assert requests_of(made, 2) == [(0, 4), (4, 4)]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{to: f, transfer: 4}", "say how much"),
        (
            "{to: f, pattern: segmented, block: 10, segments: 2, transfer: 3}",
            "3 does not divide 10",
        ),
        ("{to: f, pattern: strided, count: 4}", "'transfer' is missing"),
        ("{to: f, transfer: 4, size: 8, segments: 2}", "'segments' does not go with"),
        ("{to: f, transfer: 0, size: 8}", "requests of 0 bytes"),
        ("{to: f, transfer: 4, size: '8 if rank else 4'}", "need an 'at'"),
        ("{to: g, transfer: 4, size: 8}", "there is no file 'g'"),
        ("{from: f, transfer: 4, size: 8}", "use 'to' here"),
        ("{to: f.x}", "no dataset 'x'"),
        ("{to: f, transfer: 4, size: x}", "unknown name 'x'"),
        ("{to: f, transfer: 4, size: 9223372036854775807}", "2^63 - 1"),
        ("{to: f, size: 8.5}", "whole number"),
        ("{to: f, pattern: strided, transfer: 4, count: 2, apart: false}", "apart: false"),
    ],
)
def test_refused_steps(step: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        made_of(step, 2)
    assert message in caught.value.message


@given(
    rows=st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 400)), min_size=1, max_size=12),
    transfer=st.integers(1, 300),
    at=st.integers(0, 50),
)
def test_rows_of_a_table_are_cut_into_requests(
    rows: list[tuple[int, int]], transfer: int, at: int
) -> None:
    table = [list(row) for row in rows]
    step = f"{{to: f, pattern: table, transfer: {transfer}, at: {at} + rank, table: {table}}}"
    made = made_of(step, ranks=2)
    for rank in range(2):
        expected = [
            (at + rank + offset + done, min(transfer, size - done))
            for offset, size in rows
            for done in range(0, size, transfer)
        ]
        assert requests_of(made, rank) == expected
    assert made.totals.bytes_written == 2 * sum(size for _, size in rows)
