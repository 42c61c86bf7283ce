"""Two captures of one program on different numbers of ranks fix how sizes follow them."""

from __future__ import annotations

import pytest
from irregular_ranks import IrregularRanks
from traced_run import MS, TracedRun, derived, moves_of

from venturi.derive.scale import scaled
from venturi.model.error import UserError
from venturi.model.operation import Kind
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

TRANSFER = 2**16


def run_of(ranks: int, transfers: int, dumps: int = 1) -> Workload:
    """Dumps of so many transfers by each rank into one file."""
    run = TracedRun(ranks)
    for rank in range(ranks):
        run.open(rank, "data")
    for dump in range(dumps):
        run.meet(50 * MS)
        for rank in range(ranks):
            begin = (dump * ranks + rank) * transfers * TRANSFER
            requests = [(begin + i * TRANSFER, TRANSFER) for i in range(transfers)]
            run.move(rank, Kind.WRITE, "data", requests)
    run.meet(50 * MS)
    for rank in range(ranks):
        run.close(rank, "data")
    return derived(run)


def bytes_on(workload: Workload, ranks: int) -> int:
    """Planned bytes on another number of ranks."""
    return make_plan(workload, RunSettings(ranks=ranks)).totals.bytes_written


@pytest.mark.parametrize(
    ("two", "four", "eight"),
    [(6, 6, 8 * 6), (12, 6, 24), (6, 10, 8 * 18)],
    ids=["of each rank", "in total", "affine"],
)
def test_laws(two: int, four: int, eight: int) -> None:
    workload = scaled(run_of(2, two), run_of(4, four))
    for ranks, transfers in ((2, 2 * two), (4, 4 * four), (8, eight)):
        assert bytes_on(workload, ranks) == transfers * TRANSFER
    assert workload.origin is not None
    assert any(text.startswith("--scale-ranks") for text in workload.origin.assumed)


def test_places_move_on_with_all_ranks() -> None:
    workload = scaled(run_of(2, 3, dumps=4), run_of(3, 3, dumps=4))
    (write,) = moves_of(workload)
    assert write.at == "192 KiB * ranks * i"
    assert bytes_on(workload, 5) == 5 * 4 * 3 * TRANSFER


def test_the_same_number_of_ranks_says_nothing() -> None:
    with pytest.raises(UserError, match="both captures ran on 2 ranks"):
        scaled(run_of(2, 3), run_of(2, 3))


def test_other_programs_are_kept_apart() -> None:
    workload = scaled(run_of(2, 3), run_of(4, 3, dumps=3))
    assert workload.origin is not None
    assert any("differ in more than numbers" in text for text in workload.origin.assumed)
    assert bytes_on(workload, 2) == 2 * 3 * TRANSFER


def test_tables_follow_no_law_and_nothing_is_said_of_their_sizes() -> None:
    two, four = (derived(IrregularRanks(1, ranks, 3, 200).run) for ranks in (2, 4))
    assert two.tables
    assert four.tables
    workload = scaled(two, four)
    assert workload.program == two.program
    assert workload.origin is not None
    (said,) = [text for text in workload.origin.assumed if text.startswith("--scale-ranks")]
    assert "no rule" in said
