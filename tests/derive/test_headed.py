"""A head of odd requests before equal ones: the order is kept, not a mix of sizes."""

from __future__ import annotations

import pytest
from traced_run import MS, TracedRun, check_exact, derived, moves_of

from venturi.model.operation import Kind
from venturi.model.workload import PatternKind

HEAD = [(24, 8), (0, 500), (0, 3556), (0, 5252), (0, 8192)]


def body(count: int, last: int) -> list[tuple[int, int]]:
    """Equal requests, and what is left."""
    return [(8192 * (1 + i), 8192) for i in range(count)] + [(8192 * (1 + count), last)]


@pytest.mark.parametrize("last", [1444, 10540])
@pytest.mark.parametrize("counts", [(40,), (40, 40, 40), (40, 42, 41, 43)])
def test_what_follows_the_head_stays_aligned(counts: tuple[int, ...], last: int) -> None:
    run = TracedRun(1)
    for number, count in enumerate(counts):
        run.open(0, f"out_{number}")
        run.move(0, Kind.WRITE, f"out_{number}", [*HEAD, *body(count, last)])
        run.close(0, f"out_{number}")
        run.meet(60 * MS)
    workload = derived(run)
    check_exact(run, workload, files=len(counts))
    table, *others = moves_of(workload)
    if not others:  # all turns are alike: the body is the table's last row
        assert (table.transfer, len(table.table)) == ("8 KiB", len(HEAD))
        assert table.table[-1] == [0, 8192 * (1 + counts[0]) + last]
        return
    rest, *others = others
    assert len(others) == (last > 8192)
    assert table.pattern is PatternKind.TABLE
    assert [tuple(row) for row in table.table] == HEAD[:-1]
    assert rest.transfer == "8 KiB"
    assert rest.mix == []
    assert rest.at in (None, 0, "0")


def test_sizes_without_order_are_a_mix_still() -> None:
    run = TracedRun(1)
    sizes = [4096 if i % 3 else 512 + 8 * (i % 5) for i in range(900)]
    run.p_value.shuffle(sizes)
    places = [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
    run.open(0, "out")
    run.move(0, Kind.WRITE, "out", places)
    run.close(0, "out")
    workload = derived(run, simplify=True)
    assert any(move.mix for move in moves_of(workload))
