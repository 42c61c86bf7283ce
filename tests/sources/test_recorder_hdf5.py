"""HDF5 in Recorder's text: files and datasets behind ids, and sizes from the calls below."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.derive.workload import derive
from venturi.model.operation import KINDS, LAYERS, NO_FILE, Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.sources.open import read_capture
from venturi.sources.recorder_hdf5 import GUESSED

FILE, GROUP, SPACE, DATASET = (number << 56 for number in (1, 2, 4, 5))
ANY = "0 0 0 0 %p"
"""Type, spaces, transfer list and buffer of a request."""

TEXT = f"""\
0.0100 0.0200 H5Fcreate 0 2 ( /w/out.h5 2 0 0 )
0.0110 0.0120 open 1 0 ( /w/out.h5 578 436 )
0.0300 0.0310 H5Gcreate2 0 2 ( {FILE} step 0 0 0 )
0.0400 0.0410 H5Dcreate2 0 2 ( {GROUP} rho 0 {SPACE} 0 0 0 )
0.0420 0.0430 H5Dcreate2 0 2 ( {FILE} /t 0 {SPACE} 0 0 0 )
0.0500 0.0600 H5Dwrite 0 2 ( {DATASET + 1} {ANY} )
0.0510 0.0520 pwrite 1 0 ( /w/out.h5 %p 80 2048 )
0.0700 0.0900 H5Dwrite 0 2 ( {DATASET} {ANY} )
0.0710 0.0720 pwrite 1 0 ( /w/out.h5 %p 4096 4096 )
0.0730 0.0740 pwrite 1 0 ( /w/out.h5 %p 4096 8192 )
0.0750 0.0760 pwrite 1 0 ( /w/other %p 7 0 )
0.1000 0.1010 H5Dclose 0 2 ( {DATASET} )
0.1100 0.1110 H5Dclose 0 2 ( {DATASET + 1} )
0.1120 0.1130 H5Dopen2 0 2 ( {GROUP} rho 0 )
0.1200 0.1300 H5Dread 0 2 ( {DATASET + 2} {ANY} )
0.1210 0.1220 pread 1 0 ( /w/out.h5 %p 8192 4096 )
0.1310 0.1320 H5Screate_simple 0 2 ( 1 %p %p )
0.1400 0.1410 H5Fflush 0 2 ( {FILE} 0 )
0.1420 0.1430 pwrite 1 0 ( /w/out.h5 %p 96 0 )
0.1500 0.1600 H5Fclose 0 2 ( {FILE} )
0.1510 0.1520 close 1 0 ( /w/out.h5 )
"""


def read_text(tmp_path: Path, text: str) -> Captured:
    """The capture in the text of one rank."""
    path = tmp_path / "0.txt"
    path.write_text(text)
    return read_capture(path)


def high_calls(captured: Captured) -> list[tuple[str, str, str, str, int]]:
    """Layer, kind, name, the file around it, and bytes of the calls of HDF5."""
    operations, files = captured.operations, captured.trace.files
    assert operations is not None
    found = []
    for row in range(len(operations)):
        layer = LAYERS[operations.layer[row]]
        number = int(operations.file[row])
        if layer in (Layer.HDF5_FILE, Layer.HDF5_DATASET):
            file = files[number] if number != NO_FILE else None
            within = file.within if file else None
            found.append(
                (
                    layer.value,
                    KINDS[operations.kind[row]].value,
                    file.path if file else "",
                    "" if within is None else files[within].path,
                    int(operations.bytes[row]),
                )
            )
    return found


EXPECTED = [
    ("hdf5_file", "open", "/w/out.h5", "", 0),
    ("hdf5_dataset", "open", "/step/rho", "/w/out.h5", 0),
    ("hdf5_dataset", "open", "/t", "/w/out.h5", 0),
    ("hdf5_dataset", "write", "/t", "/w/out.h5", 80),
    ("hdf5_dataset", "write", "/step/rho", "/w/out.h5", 8192),
    ("hdf5_dataset", "close", "/step/rho", "/w/out.h5", 0),
    ("hdf5_dataset", "close", "/t", "/w/out.h5", 0),
    ("hdf5_dataset", "open", "/step/rho", "/w/out.h5", 0),
    ("hdf5_dataset", "read", "/step/rho", "/w/out.h5", 8192),
    ("hdf5_file", "sync", "/w/out.h5", "", 0),
    ("hdf5_file", "close", "/w/out.h5", "", 0),
]


@pytest.mark.parametrize("bits", [56, 24], ids=["since 1.10", "before"])
def test_ids_stand_for_files_and_datasets(bits: int, tmp_path: Path) -> None:
    text = TEXT
    for kind in (1, 2, 4, 5):
        for number in (2, 1, 0):
            text = text.replace(str((kind << 56) + number), str((kind << bits) + number))
    captured = read_text(tmp_path, text)
    assert high_calls(captured) == EXPECTED
    assert GUESSED in [gap.what for gap in captured.trace.gaps]
    assert {Layer.HDF5_FILE, Layer.HDF5_DATASET} <= set(captured.trace.layers)
    record = next(r for r in captured.trace.records if r.file == "/step/rho")
    assert (record.counters["BYTES_WRITTEN"], record.counters["BYTES_READ"]) == (8192, 8192)


def test_ids_that_do_not_count_up_stand_for_the_oldest(tmp_path: Path) -> None:
    text = TEXT.replace(str(DATASET + 1), "70001").replace(str(DATASET + 2), "70002")
    text = text.replace(str(DATASET), "70000")
    found = [call[2:] for call in high_calls(read_text(tmp_path, text)) if call[1] == "write"]
    assert found == [("/step/rho", "/w/out.h5", 80), ("/t", "/w/out.h5", 8192)]


def test_sizes_are_those_of_mpi_io_where_it_was_called(tmp_path: Path) -> None:
    text = f"""\
0.0100 0.0200 H5Fcreate 0 2 ( /w/out.h5 2 0 0 )
0.0110 0.0190 MPI_File_open 1 1 ( MPI_COMM_WORLD /w/out.h5 5 MPI_INFO_NULL fh-0 )
0.0400 0.0410 H5Dcreate2 0 2 ( {FILE} /rho 0 {SPACE} 0 0 0 )
0.0500 0.0600 H5Dwrite 0 2 ( {DATASET} {ANY} )
0.0510 0.0590 MPI_File_write_at_all 1 1 ( fh-0 0 %p 1000 MPI_BYTE %p )
0.0520 0.0530 pwrite 2 0 ( /w/out.h5 %p 4000 0 )
"""
    captured = read_text(tmp_path, text)
    assert ("hdf5_dataset", "write", "/rho", "/w/out.h5", 1000) in high_calls(captured)


def test_unknown_ids_name_nothing(tmp_path: Path) -> None:
    text = f"0.1 0.2 open 1 0 ( /w/f 66 436 )\n0.3 0.4 H5Dwrite 0 2 ( {DATASET} {ANY} )\n"
    assert high_calls(read_text(tmp_path, text)) == [("hdf5_dataset", "write", "", "", 0)]


def test_the_proxy_asks_of_hdf5_what_the_application_did(tmp_path: Path) -> None:
    workload = derive(read_text(tmp_path, TEXT), "app")
    observed = workload.origin and workload.origin.observed
    assert observed
    # The 96 bytes of the library's own come with its proxy.
    assert (observed.bytes_written, observed.bytes_read) == (80 + 8192 + 7, 8192)


def test_dataset_calls_are_no_calls_on_other_files(tmp_path: Path) -> None:
    operations = read_text(tmp_path, TEXT).operations
    assert operations is not None
    low = operations.take(operations.is_layer(Layer.POSIX) & operations.is_kind(Kind.WRITE))
    assert int(low.bytes.sum()) == 80 + 8192 + 7 + 96
