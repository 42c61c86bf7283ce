"""Files whose datasets follow no rule are told by the layer below, where it was captured."""

from __future__ import annotations

import pytest
from test_dataset_shape import NEW, Hdf5Run, PnetcdfRun
from traced_run import planned

from venturi.derive.workload import derive
from venturi.model.operation import COLLECTIVE, SCATTERED, Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer
from venturi.model.workload import Workload

ROWS = (7, 2, 19, 4, 11, 2)
"""Of twenty, in no order."""


def scattered(
    run: Hdf5Run,
    path: str = "/s/f.h5",
    layer: Layer | None = Layer.POSIX,
    kind: Kind = Kind.WRITE,
    requests: int = 2,
) -> Hdf5Run:
    """A program that moves rows of a dataset in no order: each as some requests below."""
    run.opened(path, NEW if kind is Kind.WRITE else 0)
    if layer is not None:
        run.call(0, Kind.OPEN, path, layer=layer, detail=NEW if kind is Kind.WRITE else 0)
    key = run.dataset("/table", (20, 64), path, chunk=(5, 64))
    for row in ROWS:
        run.box(0, kind, key, (row, 0), (1, 64), detail=SCATTERED)
        for part in range(requests if layer is not None else 0):
            run.call(0, kind, path, 640, 2048 + row * 1300 + part * 700, layer=layer)
    if layer is not None:
        run.call(0, Kind.CLOSE, path, layer=layer)
    run.closed(path)
    return run


def interfaces(workload: Workload) -> dict[str, Interface]:
    return {file.about: file.interface for file in workload.files.values()}


def below_notes(workload: Workload) -> list[str]:
    assert workload.origin is not None
    return [text for text in workload.origin.assumed if "calls are replayed" in text]


def test_rows_in_no_order_are_told_by_the_calls_below() -> None:
    workload = derive(scattered(Hdf5Run(1)).captured(), "run")
    assert interfaces(workload) == {"/s/f.h5": Interface.POSIX}
    totals = planned(workload).totals
    assert (totals.bytes_written, totals.operations["write"]) == (12 * 640, 12)
    assert below_notes(workload) == [
        "/s/f.h5: its POSIX calls are replayed instead of its dataset accesses, because the "
        "selections of dataset '/s/f.h5:/table' follow no rule that steps on datasets can tell"
    ]
    assert workload.origin is not None
    assert workload.origin.observed is not None
    assert workload.origin.observed.layer == "posix"
    [rule] = [e.rule for e in workload.origin.confidence if e.field == "interface"]
    assert rule == "7: datasets that follow no rule are replayed by the layer below"


def test_a_file_that_was_there_is_told_by_the_calls_below() -> None:
    workload = derive(scattered(Hdf5Run(1), kind=Kind.READ).captured(), "run")
    assert interfaces(workload) == {"/s/f.h5": Interface.POSIX}
    assert planned(workload).totals.operations["read"] == 12
    [note] = below_notes(workload)
    assert "the run only reads dataset '/s/f.h5:/table'" in note


def test_without_calls_below_the_library_tells_what_it_can() -> None:
    workload = derive(scattered(Hdf5Run(1), layer=None).captured(), "run")
    assert interfaces(workload) == {"/s/f.h5": Interface.HDF5}
    assert below_notes(workload) == []


def test_a_dataset_with_a_rule_is_told_by_the_library_though_the_layer_below_is_known() -> None:
    run = scattered(Hdf5Run(1))
    run.pause(1.0)
    path = run.opened("/s/even.h5")
    run.call(0, Kind.OPEN, path, detail=NEW)
    key = run.dataset("/u", (64, 8), path)
    for row in range(64):
        run.box(0, Kind.WRITE, key, (row, 0), (1, 8))
        run.call(0, Kind.WRITE, path, 64, 2048 + 64 * row)
    run.call(0, Kind.CLOSE, path)
    run.closed(path)
    workload = derive(run.captured(), "run")
    assert interfaces(workload) == {"/s/f.h5": Interface.POSIX, "/s/even.h5": Interface.HDF5}
    [even] = [file for file in workload.files.values() if file.datasets]
    assert [one.shape for one in even.datasets.values()] == [[64, 8]]
    assert len(below_notes(workload)) == 1


@pytest.mark.parametrize("make", [Hdf5Run, PnetcdfRun])
def test_what_ranks_do_together_is_told_by_mpi_io(make: type[Hdf5Run]) -> None:
    run = make(2)
    path = run.opened("/s/f.nc")
    for rank in range(2):
        run.call(rank, Kind.OPEN, path, layer=Layer.MPIIO, detail=NEW)
        run.call(rank, Kind.OPEN, path, detail=NEW)
    key = run.dataset("/table", (40, 64), path)
    for row in ROWS:
        for rank in range(2):
            place = (2 * row + rank, 0)
            run.box(rank, Kind.WRITE, key, place, (1, 64), detail=SCATTERED | COLLECTIVE)
            below = (512, 2048 + 512 * place[0])
            run.call(rank, Kind.WRITE, path, *below, layer=Layer.MPIIO, detail=COLLECTIVE)
            run.call(rank, Kind.WRITE, path, *below)
    for rank in range(2):
        run.call(rank, Kind.CLOSE, path)
        run.call(rank, Kind.CLOSE, path, layer=Layer.MPIIO)
    run.closed(path)
    workload = derive(run.captured(), "run")
    assert interfaces(workload) == {"/s/f.nc": Interface.MPIIO}
    assert planned(workload).totals.operations["write"] == 12
    [note] = below_notes(workload)
    assert "its MPI-IO calls are replayed" in note


def test_files_that_are_used_alike_are_told_alike_and_few_names_are_listed() -> None:
    run = Hdf5Run(1)
    for number in range(3):
        scattered(run, f"/s/f{number}.h5", requests=number + 1)
    workload = derive(run.captured(), "run")
    assert set(interfaces(workload).values()) == {Interface.POSIX}
    [note] = below_notes(workload)
    assert note.startswith("/s/f#.h5: its POSIX calls are replayed")


def test_a_look_through_a_stream_is_one_plain_call_more() -> None:
    run = Hdf5Run(1)
    scattered(run)
    run.call(0, Kind.OPEN, "/s/f.h5", layer=Layer.STDIO)
    run.call(0, Kind.READ, "/s/f.h5", 4096, 2048, layer=Layer.STDIO)
    run.call(0, Kind.SYNC, "/s/f.h5", layer=Layer.STDIO)
    run.call(0, Kind.CLOSE, "/s/f.h5", layer=Layer.STDIO)
    workload = derive(run.captured(), "run")
    assert interfaces(workload) == {"/s/f.h5": Interface.POSIX}
    operations = planned(workload).totals.operations
    assert (operations["write"], operations["read"], operations.get("sync", 0)) == (12, 1, 0)
