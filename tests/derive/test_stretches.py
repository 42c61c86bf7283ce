"""Nearly equal records: small and large requests take turns, whatever their exact sizes."""

from __future__ import annotations

import pytest
from traced_run import TracedRun, check_exact, derived, moves_of

from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import Kind
from venturi.model.workload import PatternKind, Workload


def written(files: int, parts: list[tuple[int, int]], records: int) -> Workload:
    """Files of a header, records with parts of a size and a spread, and an odd end."""
    run = TracedRun(1, seed=7)
    for number in range(files):
        run.open(0, f"f{number}")
        sizes = [28]
        for _ in range(records):
            sizes += [size + run.p_value.randint(0, spread) for size, spread in parts]
        at = 0
        for size in [*sizes, 777]:
            run.move(0, Kind.WRITE, f"f{number}", [(at, size)])
            at += size
        run.close(0, f"f{number}")
    found = derived(run)
    check_exact(run, found, files=files)
    return found


@pytest.mark.parametrize("files", [1, 4])
@pytest.mark.parametrize(
    "parts", [[(4096, 0), (60_000, 5000)], [(100, 9), (8000, 900), (20_000, 3000)]]
)
def test_small_and_large_requests_take_turns(files: int, parts: list[tuple[int, int]]) -> None:
    found = written(files, parts, 60)
    assert found.origin is not None
    assert found.origin.likeness is not None
    if found.origin.likeness.is_equal:
        return
    [table] = [move for move in moves_of(found) if move.pattern is PatternKind.TABLE]
    sizes = [int(str(row[1])) for row in table.table]
    assert int(str(table.segments)) >= 55, to_yaml(found)
    assert len(sizes) == len(parts)
    for mean, (size, spread) in zip(sizes, parts, strict=True):
        assert size <= mean <= size + spread


def test_sizes_that_take_no_turns_are_no_records() -> None:
    found = written(1, [(9000, 2000), (9000, 2000)], 60)
    assert not [move for move in moves_of(found) if move.segments], to_yaml(found)
