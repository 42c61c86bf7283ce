"""Pieces of boxes, beside those that are counted element by element."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from venturi.model.plan import Dataset, Direction, ElementType, Interface
from venturi.predict.pieces import is_cut, pieces_of


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=4))
def test_pieces_are_those_of_the_elements(sides: list[tuple[int, int]]) -> None:
    shape = [max(pair) for pair in sides]
    extent = [min(pair) for pair in sides]
    places = []
    for element in product(*map(range, extent)):
        place = 0
        for coordinate, length in zip(element, shape, strict=True):
            place = place * length + coordinate
        places.append(place)
    counted = 1 + sum(after != before + 1 for before, after in pairwise(places))
    plain = Dataset(name="d", type=ElementType.F64, shape=shape)
    assert pieces_of(extent, plain) == counted


def test_chunks_part_what_would_lie_together() -> None:
    chunked = Dataset(name="d", type=ElementType.F64, shape=[100, 64], chunk=[10, 16])
    assert pieces_of([100, 64], chunked) == 40
    assert pieces_of([10, 16], chunked) == 1
    assert pieces_of([10, 8], chunked) == 10


def test_pnetcdf_joins_what_it_reads() -> None:
    assert is_cut(Interface.HDF5, Direction.READ)
    assert is_cut(Interface.PNETCDF, Direction.WRITE)
    assert not is_cut(Interface.PNETCDF, Direction.READ)
    assert not is_cut(Interface.NETCDF, Direction.WRITE)
