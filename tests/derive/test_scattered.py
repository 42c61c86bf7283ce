"""Pages that are scattered forwards stay scattered: each is a request when they are synced."""

from __future__ import annotations

from traced_run import MS, REOPEN, TracedRun, check_exact, check_one_by_one, derived, moves_of

from venturi.model.operation import Kind
from venturi.model.workload import PatternKind, Workload

PAGE = 4096
TURNS = 12


def database() -> TracedRun:
    """Transactions: pages of a file that grows, and its first, are written, sorted, and synced."""
    run = TracedRun(1, seed=5)
    run.open(0, "home/base")
    for turn in range(TURNS):
        pages = sorted(run.p_value.sample(range(1, 20 + 8 * turn), 15 + turn % 3))
        places = [(PAGE * number, PAGE) for number in (0, *pages)]
        run.move(0, Kind.WRITE, "home/base", places)
        run.call(0, Kind.DATA_SYNC, "home/base")
        run.move(0, Kind.READ, "home/base", [(24, 16)])
        run.meet(20 * MS)
    run.close(0, "home/base")
    return run


def scattered_in(workload: Workload) -> list[str]:
    moves = [move for move in moves_of(workload) if move.pattern is PatternKind.RANDOM]
    return [str(move.size) for move in moves]


def test_pages_of_a_database_are_no_run_of_pages() -> None:
    found = derived(database())
    made = check_exact(database(), found, files=1)
    assert made.totals.bytes_prestaged == 0
    check_one_by_one(database(), found)


def test_pages_that_are_read_later_are_written_all() -> None:
    """Random places would leave holes, and a file that was read would be staged."""
    run = database()
    run.open(0, "home/base", REOPEN)
    run.move(0, Kind.READ, "home/base", [(0, PAGE), (5 * PAGE, PAGE)])
    run.close(0, "home/base")
    found = derived(run)
    check_exact(run, found, files=1)
    assert scattered_in(found) == []
