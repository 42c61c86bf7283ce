"""The error of quick runs, as the runs that are kept give it."""

from __future__ import annotations

from compat.conftest import Tool
from venturi.compat.io500.quick import error_in_words
from venturi.model.output import Better
from venturi.model.result import Measure, Result, ResultSource, SourceKind


def run(number: int, wall_s: float, score: float, place: str = "ext4", ranks: int = 2) -> Result:
    return Result(
        id=f"r{number}",
        name="io500",
        started="2026-01-01T00:00:00+00:00",
        machine="local",
        session="s",
        campaign="",
        step="",
        point="",
        repetition=0,
        parameters={"stonewall": wall_s, "wear_out": wall_s, "easy_items": 9},
        ranks=ranks,
        nodes=1,
        work="w",
        source=ResultSource(kind=SourceKind.RUN, tool="venturi"),
        level="INDICATIVE",
        reasons=[],
        metrics={"score": Measure(unit="", better=Better.HIGHER, values=[score])},
        facts={"host": "h", "file system": place, "file system's source": "/dev/a"},
    )


def test_each_longer_run_is_set_beside_the_nearest_short_one() -> None:
    runs = [run(1, 5, 8), run(2, 15, 10), run(3, 5, 9), run(4, 15, 10), run(5, 20, 10)]
    words = error_in_words(runs[2], runs)
    # -20 %, -10 %, -10 %: the last one's nearest is the third.
    assert words == (
        "Scores at 5 s were off by -10% from those at 15 to 20 s on this file system "
        "(3 pairs, -20% to -10%)."
    )


def test_other_storage_other_ranks_and_runs_hardly_longer_do_not_count() -> None:
    first = run(1, 5, 8)
    others = [run(2, 300, 10, "xfs"), run(3, 300, 10, ranks=4), run(4, 14, 10)]
    assert "is not known here" in error_in_words(first, [first, *others])
    known = error_in_words(first, [first, *others, run(5, 300, 16)])
    assert "were off by -50% from those at 300 s on this file system (1 pair)" in known


def test_a_quick_run_says_how_far_it_is_from_a_longer_one(tool: Tool) -> None:
    small = [
        "--set=easy_block=4 MiB",
        "--set=hard_segments=9",
        "--set=easy_items=9",
        "--set=hard_items=150",
    ]
    line = ["run", "io500", "-d", ".", "-n", "2", "-q", *small]
    quick = [*line, "--mode", "quick"]
    first = tool(*quick)
    assert first.returncode == 0, first.stderr
    assert "is not known here" in first.stdout
    assert tool(*line, "--stonewall", "20").returncode == 0
    again = tool(*quick)
    assert "Scores at 5 s were off by" in again.stdout
    assert "from those at 20 s on this file system (1 pair)" in again.stdout
