"""Whatever is done to datasets, derive gives a plan of the same bytes in as many requests."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_dataset_shape import NEW, Hdf5Run, exact

from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, SCATTERED, Kind

_SHAPES = [(8,), (4, 6), (12, 2, 4), (5, 3)]
_DETAILS = [0, 0, 0, COLLECTIVE, SCATTERED]

Move = tuple[Kind, int, str, int, int]
"""Kind, shape, name, the rank that moves a row alone or -1, and detail."""


@st.composite
def programs(draw: st.DrawFn) -> Hdf5Run:
    """Ranks that open files, move parts and boxes of datasets, pause, and do so again."""
    ranks = draw(st.integers(1, 4))
    run = Hdf5Run(ranks)
    for _ in range(draw(st.integers(1, 3))):
        piece = draw(st.lists(_moves(ranks), min_size=1, max_size=4))
        path = f"/s/f{draw(st.integers(0, 1))}.h5"
        detail = draw(st.sampled_from([NEW, NEW, 0, 2]))
        turns, is_reopened = draw(st.sampled_from([1, 1, 2, 5, 9])), draw(st.booleans())
        for turn in range(turns):
            if turn == 0 or is_reopened:
                run.opened(path, detail)
            if draw(st.booleans()):
                run.pause(0.5)
            for move in piece:
                _do(run, path, turn, move)
            if turn == turns - 1 or is_reopened:
                run.closed(path)
    return run


def _do(run: Hdf5Run, path: str, turn: int, move: Move) -> None:
    kind, shape, name, alone, detail = move
    size = _SHAPES[shape]
    key = run.dataset(f"/{name}{turn if name == 'step' else ''}_{shape}", size, path)
    if alone >= 0:
        start = (turn % size[0], *[0] * (len(size) - 1))
        run.box(alone, kind, key, start, (1, *size[1:]), detail=detail)
        return
    split = next((d for d, extent in enumerate(size) if extent % run.ranks == 0), None)
    if split is None:
        for rank in range(run.ranks):
            run.box(rank, kind, key, tuple([0] * len(size)), size, detail=detail)
        return
    run.parts(kind, key, tuple(run.ranks if d == split else 1 for d in range(len(size))))


@st.composite
def _moves(draw: st.DrawFn, ranks: int) -> Move:
    return (
        draw(st.sampled_from([Kind.WRITE, Kind.WRITE, Kind.READ])),
        draw(st.integers(0, len(_SHAPES) - 1)),
        draw(st.sampled_from(["u", "v", "step"])),
        draw(st.sampled_from([-1, -1, -1, 0, ranks - 1])),
        draw(st.sampled_from(_DETAILS)),
    )


# Shrinking whole programs takes minutes and shows little.
@settings(
    max_examples=60,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(programs())
def test_every_program_gives_a_plan_that_adds_up(run: Hdf5Run) -> None:
    refusal = ""
    try:
        exact(run)
    except UserError as error:
        refusal = error.message
    assert not refusal or "app.trace" in refusal
