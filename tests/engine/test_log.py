"""The log of single operations has what the phase counted, operation by operation."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest

from engine.plans import RANK, file, manage, nest, phase, plan, read, times, write
from engine.running import Engine, kinds
from venturi.model.plan import OperationKind

ROW = struct.Struct("<QQQQIIII")
WINDOW = 1 << 20
NO_OFFSET = (1 << 64) - 1
KINDS = [kind.value for kind in OperationKind]


def rows(path: Path) -> list[tuple[int, ...]]:
    """begin, end, offset, bytes, phase, repetition, file, kind of each operation."""
    blob = path.read_bytes()
    found = []
    for begin in range(0, len(blob), WINDOW):
        whole = (min(WINDOW, len(blob) - begin)) // ROW.size * ROW.size
        found += [row for row in ROW.iter_unpack(blob[begin : begin + whole]) if row[4] > 0]
    return found


@pytest.mark.parametrize("count", [5, 50_000])
def test_every_operation_is_logged(engine: Engine, tmp_path: Path, count: int) -> None:
    size, ranks = 512, 2
    pattern = nest(times(RANK, size * count), (count, size))
    made = plan(
        tmp_path,
        [file("unused"), file()],
        [
            phase("w", manage("create", 1), write(size, pattern, index=1)),
            phase("r", read(size, pattern, index=1), manage("close", 1)),
        ],
        ranks=ranks,
        repetitions=2,
    ).model_copy(update={"log_operations": True})
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    outcome = engine.run(made)
    assert outcome.code == 0, outcome.stderr
    assert outcome.of("warning") == []
    for rank in range(ranks):
        logged = rows(Path(made.journal) / f"operations.{rank}")
        data = [row for row in logged if KINDS[row[7]] in ("write", "read")]
        assert len(data) == 4 * count
        for number, (path, kind) in enumerate([("w", "write"), ("r", "read")] * 2, start=1):
            part = [row for row in data if row[4] == number]
            assert [row[2] for row in part] == [(rank * count + i) * size for i in range(count)]
            assert {(row[3], row[5], row[6], KINDS[row[7]]) for row in part} == {
                (size, (number - 1) // 2, 1, kind)
            }
            assert all(a[1] <= b[1] for a, b in itertools.pairwise(part))
            assert all(row[0] <= row[1] for row in part)
            assert kinds(outcome.phase(path, (number - 1) // 2))[kind] == ranks * count
        others = [row for row in logged if KINDS[row[7]] not in ("write", "read")]
        assert {row[2] for row in others} == {NO_OFFSET}


def test_without_a_wish_there_is_no_log(engine: Engine, tmp_path: Path) -> None:
    body = [manage("create"), write(512, nest(0, (5, 512)))]
    made = plan(tmp_path, [file()], [phase("w", *body)])
    assert engine.run(made, "alone").code == 0
    assert list(Path(made.journal).glob("operations.*")) == []
