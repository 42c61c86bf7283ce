"""Files of a library that were moved beside it, too, are told by the layer below."""

from __future__ import annotations

from test_dataset_shape import NEW, Hdf5Run
from traced_run import planned

from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.plan import Interface
from venturi.model.workload import Workload

ROWS, ROW = 64, 64 * 8


def even(
    run: Hdf5Run, path: str = "/s/part.h5", is_opened: bool = True, is_closed: bool = True
) -> Hdf5Run:
    """A dataset that is written row by row: the library's calls alone would tell it."""
    if is_opened:
        run.opened(path)
    run.call(0, Kind.OPEN, path, detail=NEW)
    key = run.dataset("/u", (ROWS, 64), path)
    for row in range(ROWS):
        run.box(0, Kind.WRITE, key, (row, 0), (1, 64))
        run.call(0, Kind.WRITE, path, ROW, 2048 + ROW * row)
    run.call(0, Kind.CLOSE, path)
    if is_closed:
        run.closed(path)
    return run


def read_below(run: Hdf5Run, count: int, path: str = "/s/part.h5") -> Hdf5Run:
    """Reads by system calls, while the library does not have the file open."""
    run.call(0, Kind.OPEN, path)
    for row in range(count):
        run.call(0, Kind.READ, path, ROW, 2048 + ROW * row)
    run.call(0, Kind.CLOSE, path)
    return run


def interfaces(workload: Workload) -> set[Interface]:
    return {file.interface for file in workload.files.values()}


def test_reads_through_another_file_are_told() -> None:
    workload = derive(read_below(even(Hdf5Run(1)), ROWS).captured(), "run")
    assert interfaces(workload) == {Interface.POSIX}
    operations = planned(workload).totals.operations
    assert (operations["write"], operations["read"]) == (ROWS, ROWS)
    assert workload.origin is not None
    assert any(
        "its POSIX calls are replayed" in text and "did not have it open" in text
        for text in workload.origin.assumed
    )


def test_a_look_at_the_beginning_is_no_use() -> None:
    run = even(Hdf5Run(1))
    run.call(0, Kind.OPEN, "/s/part.h5")
    run.call(0, Kind.READ, "/s/part.h5", 8, 0)
    run.call(0, Kind.CLOSE, "/s/part.h5")
    assert interfaces(derive(run.captured(), "run")) == {Interface.HDF5}


def test_what_the_library_has_open_is_its_own() -> None:
    run = even(Hdf5Run(1))
    run.opened("/s/part.h5", detail=0)
    read_below(run, ROWS)
    run.closed("/s/part.h5")
    assert interfaces(derive(run.captured(), "run")) == {Interface.HDF5}


def test_what_was_open_before_the_capture_or_is_never_closed_is_open() -> None:
    for known in ({"is_opened": False}, {"is_closed": False}):
        assert interfaces(derive(even(Hdf5Run(1), **known).captured(), "run")) == {Interface.HDF5}


def test_another_file_of_the_run_stays_with_its_library() -> None:
    run = read_below(even(Hdf5Run(1)), ROWS)
    run.pause(1.0)
    even(run, "/s/other.h5")
    workload = derive(run.captured(), "run")
    assert {file.about: file.interface for file in workload.files.values()} == {
        "/s/part.h5": Interface.POSIX,
        "/s/other.h5": Interface.HDF5,
    }
