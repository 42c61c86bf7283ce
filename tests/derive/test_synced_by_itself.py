"""Syncs of a library's file: the library's own, and those that a program makes beside it."""

from __future__ import annotations

import numpy as np
import pytest

from capture_factory import CaptureFactory
from venturi.derive.finding import operation_findings
from venturi.derive.footprint import footprint_of
from venturi.model.operation import Kind
from venturi.model.trace import Layer

ROWS, SYNC_S, FLUSH_S = 50, 0.02, 1e-4


def appended(by_library: bool) -> CaptureFactory:
    """Rows of a dataset, each made persistent: by the library's flush, or by an fsync after it."""
    made = CaptureFactory(2)
    for rank in range(2):
        for row in range(ROWS):
            made.call(rank, Kind.WRITE, "/s/f", 4096, row * 4096, layer=Layer.HDF5_DATASET)
            flush_s = SYNC_S if by_library else FLUSH_S
            made.call(rank, Kind.SYNC, "/s/f", layer=Layer.HDF5_FILE, s=flush_s)
            made.clock_s[rank] -= SYNC_S if by_library else 0
            made.call(rank, Kind.SYNC, "/s/f", s=SYNC_S)
    return made


@pytest.mark.parametrize("by_library", [True, False])
def test_a_sync_beside_the_library_is_the_programs(by_library: bool) -> None:
    found = footprint_of(appended(by_library).captured())
    assert found is not None
    assert np.count_nonzero(found.syncs) == 2 * ROWS * (1 if by_library else 2)
    expected_s = ROWS * (SYNC_S if by_library else SYNC_S + FLUSH_S)
    assert found.longest_s(found.syncs) == pytest.approx(expected_s)


def test_its_time_is_at_stake() -> None:
    found = {one.id: one for one in operation_findings(appended(by_library=False).captured())}
    assert found["sync-each-write"].at_stake_s == pytest.approx(ROWS * (SYNC_S + FLUSH_S))
