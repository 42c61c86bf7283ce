"""Whatever operations say, derive gives a workload that can be planned, and that adds up."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from traced_run import TracedRun, check_exact

from venturi.derive.workload import derive
from venturi.model.error import UserError
from venturi.model.operation import CAPTURED, Kind
from venturi.model.trace import Layer

_PATHS = ["out", "in.1", "in.2", "in.3", "d/x", "d/y", "log"]
_SIZES = [1, 100, 4096, 4096, 4096, 65536]


@st.composite
def runs(draw: st.DrawFn) -> TracedRun:
    """Calls in any order on few files, with pieces that repeat."""
    ranks = draw(st.integers(1, 4))
    run = TracedRun(ranks, layer=draw(st.sampled_from([Layer.POSIX, Layer.STDIO, Layer.MPIIO])))
    for _ in range(draw(st.integers(1, 6))):
        piece = draw(st.lists(_calls(), min_size=1, max_size=6))
        acting = draw(st.sampled_from([range(ranks), range(1), range(ranks - 1, ranks)]))
        for turn in range(draw(st.sampled_from([1, 1, 2, 9, 70]))):
            if draw(st.booleans()):
                run.meet(draw(st.sampled_from([0, 0, 10**8])))
            for rank in acting:
                for kind, path, offset, size, detail in piece:
                    name = f"{path}.{turn}" if path.startswith("d/") else path
                    place = offset + turn * size if offset >= 0 else -1
                    run.call(rank, kind, name, place, size, detail)
    return run


@st.composite
def _calls(draw: st.DrawFn) -> tuple[Kind, str, int, int, int]:
    usual = [Kind.OPEN, Kind.CLOSE, Kind.READ, Kind.WRITE]
    kind = draw(st.sampled_from([*usual, *usual, *usual, *CAPTURED]))
    detail = 0
    if kind is Kind.OPEN:
        detail = draw(st.sampled_from([0, 2, 0o102, 0o1102, 0o2101]))
    moves = kind in (Kind.READ, Kind.WRITE)
    size = draw(st.sampled_from(_SIZES)) if moves else 0
    offset = draw(st.sampled_from([-1, 0, 0, 4096, 65536])) if moves else -1
    if moves:
        detail = draw(st.sampled_from([0, 0, 0, 1, 4]))
    return kind, draw(st.sampled_from(_PATHS)), offset, size, detail


# Shrinking whole runs takes minutes and shows little.
@settings(
    max_examples=100,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(runs())
def test_every_run_gives_a_plan_that_adds_up(run: TracedRun) -> None:
    refusal = ""
    try:
        workload = derive(run.captured(), "random")
    except UserError as error:
        refusal = error.message
    if refusal:
        assert "run.trace" in refusal
        return
    check_exact(run, workload)
