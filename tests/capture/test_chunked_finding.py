"""Real programs of h5py: what the layer below shows decides what is found, and how grave it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from venturi.capture.run import CaptureContext
from venturi.capture.run import capture as captured
from venturi.capture.tracer import TracerSettings
from venturi.derive.finding import operation_findings
from venturi.model.workload import Finding, Severity

SLABS = """
import h5py, numpy
with h5py.File('slabs.h5', 'w') as file:
    field = file.create_dataset('d', (400, 20000), dtype='f8', chunks=(10, 20000){filters})
    for row in range(400):
        field[row] = numpy.full(20000, row)
"""
COLUMNS = """
import h5py, numpy
with h5py.File('columns.h5', 'w') as file:
    file.create_dataset('d', (1000, 1000), dtype='f8', chunks=(1, 1000){filters})[:] = 1.0
with h5py.File('columns.h5', 'r') as file:
    for column in range(60):
        file['d'][:, column].sum()
"""


def findings_of(program: str, tmp_path: Path) -> dict[str, Finding]:
    outcome = captured(
        (sys.executable, "-c", program),
        tmp_path / "x.trace",
        TracerSettings(),
        CaptureContext(here=tmp_path),
    )
    assert outcome.finished.code == 0
    return {finding.id: finding for finding in operation_findings(outcome.captured)}


def test_slabs_that_the_chunk_cache_joins_are_no_finding(tmp_path: Path) -> None:
    """POSIX sees whole chunks and 1.0 times the bytes."""
    found = findings_of(SLABS.format(filters=""), tmp_path)
    grave = {one.id: one.evidence for one in found.values() if one.severity is not Severity.NOTE}
    assert not grave.keys() & {"small-requests", "chunk-cuts", "misaligned", "amplification"}, grave


@pytest.mark.parametrize("filters", ["", ", compression='gzip'"])
def test_columns_through_chunks_of_rows_are_one_finding_about_chunks(
    filters: str, tmp_path: Path
) -> None:
    """The writes of whole chunks before do not hide it, nor does compression."""
    found = findings_of(COLUMNS.format(filters=filters), tmp_path)
    assert "chunk-cuts" in found
    assert "columns.h5" in found["chunk-cuts"].what
    assert "h5py" in found["chunk-cuts"].advice
    assert "small-requests" not in found or found["small-requests"].severity is Severity.NOTE
