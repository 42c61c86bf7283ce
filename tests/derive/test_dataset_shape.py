"""Programs that write datasets: what is derived has their shapes, and moves exactly the same."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from traced_run import moves_of, planned

from capture_factory import O_CREAT, O_TRUNC, O_WRONLY, CaptureFactory
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import COLLECTIVE, KIND_CODES, SCATTERED, Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer
from venturi.model.workload import DatasetSpec, FileSpec, Workload

NEW = O_WRONLY | O_CREAT | O_TRUNC
Shape = tuple[int, ...]


class Hdf5Run(CaptureFactory):
    """Ranks that open HDF5 files and move selections of datasets."""

    whole_layer = Layer.HDF5_FILE
    part_layer = Layer.HDF5_DATASET

    def opened(self, path: str = "/s/f.h5", detail: int = NEW, only: int | None = None) -> str:
        self.file(path)
        for rank in range(self.ranks) if only is None else [only]:
            self.call(rank, Kind.OPEN, path, detail=detail, layer=self.whole_layer)
        return path

    def closed(self, path: str = "/s/f.h5", only: int | None = None) -> None:
        for rank in range(self.ranks) if only is None else [only]:
            self.call(rank, Kind.CLOSE, path, layer=self.whole_layer)

    def dataset(
        self,
        name: str,
        shape: Shape,
        path: str = "/s/f.h5",
        element: int = 8,
        chunk: Shape = (),
        cache: int | None = None,
    ) -> str:
        key = f"{path}:{name}"
        self.file(
            key,
            within=self.files[path],
            shape=list(shape),
            element_bytes=element,
            chunk=list(chunk),
            chunk_cache_bytes=cache,
        )
        return key

    def box(
        self, rank: int, kind: Kind, key: str, start: Shape, extent: Shape, **more: int
    ) -> None:
        """A rank's selection of a dataset."""
        described = self.described[self.files[key]]
        offset = 0
        for at, size in zip(start, described.shape, strict=True):
            offset = offset * size + at
        unit = described.element_bytes
        where = (prod(extent) * unit, offset * unit)
        self.call(rank, kind, key, *where, layer=self.part_layer, **more)

    def parts(self, kind: Kind, key: str, split: Shape, **more: int) -> None:
        """All ranks move their parts of a split, in row-major order."""
        shape = self.described[self.files[key]].shape
        local = tuple(size // count for size, count in zip(shape, split, strict=True))
        for rank, place in enumerate(product(*map(range, split))):
            start = tuple(at * size for at, size in zip(place, local, strict=True))
            self.box(rank, kind, key, start, local, **more)


class PnetcdfRun(Hdf5Run):
    """The same through PnetCDF."""

    whole_layer = Layer.PNETCDF_FILE
    part_layer = Layer.PNETCDF_VARIABLE


def exact(run: CaptureFactory) -> Workload:
    """What is derived, after its plan was found to move what the run moved."""
    workload = derive(run.captured(), "run")
    totals = planned(workload).totals
    for kind, moved in ((Kind.WRITE, totals.bytes_written), (Kind.READ, totals.bytes_read)):
        sizes = [row["bytes"] for row in run.rows if row["kind"] == KIND_CODES[kind]]
        assert (moved, totals.operations[kind.value]) == (sum(sizes), len(sizes)), to_yaml(workload)
    return workload


def only_file(workload: Workload) -> FileSpec:
    [file] = workload.files.values()
    assert file.interface is Interface.HDF5
    return file


def only_dataset(workload: Workload) -> DatasetSpec:
    [dataset] = only_file(workload).datasets.values()
    return dataset


@pytest.mark.parametrize("split", [(4, 1), (1, 4), (2, 2)])
def test_equal_datasets_are_copies_of_one_split(split: Shape) -> None:
    run = Hdf5Run(4)
    run.opened()
    for number in range(20):
        key = run.dataset(f"/unk{number:02}", (8, 12), chunk=(2, 3))
        run.parts(Kind.WRITE, key, split, detail=COLLECTIVE)
    run.closed()
    workload = exact(run)
    file = only_file(workload)
    assert list(file.datasets) == ["unk"]
    made = file.datasets["unk"]
    assert (made.count, made.chunks, made.type.value) == (20, [2, 3], "f64")
    assert made.split == ["np" if count == 4 else count for count in split]
    [step] = moves_of(workload)
    assert (step.to, step.collective, step.transfer) == ("stream1.unk", True, None)
    entry = next(e for e in workload.origin.confidence if e.field == "write")
    assert entry.confidence > 0.9
    assert "split" in entry.rule


@pytest.mark.parametrize(
    ("caches", "option", "sure"),
    [
        ((8 << 20, 8 << 20), {"chunk_cache": "8 MiB"}, 0.95),
        ((1 << 20, 8 << 20), {"chunk_cache": "8 MiB"}, 0.6),
        ((0, 0), {"chunk_cache": "0 B"}, 0.95),
        ((None, None), {}, None),
    ],
)
def test_the_cache_of_chunks_is_the_application_s(
    caches: tuple[int | None, ...], option: dict[str, str], sure: float | None
) -> None:
    run = Hdf5Run(1)
    run.opened()
    for number, cache in enumerate(caches):
        key = run.dataset(f"/u{number}", (8, 12), chunk=(2, 3), cache=cache)
        run.parts(Kind.WRITE, key, (1, 1))
    run.closed()
    workload = exact(run)
    assert only_file(workload).options == option
    entries = [e for e in workload.origin.confidence if e.field == "chunk_cache"]
    assert [(e.value, e.confidence) for e in entries] == [
        (value, sure) for value in option.values()
    ]


def test_slabs_are_transfers_and_forms_stand_in_order() -> None:
    run = Hdf5Run(1)
    run.opened()
    field = run.dataset("/field", (64, 32), element=4)
    run.dataset("/ids", (100,))
    for row in range(0, 64, 5):
        run.box(0, Kind.WRITE, field, (row, 0), (min(5, 64 - row), 32))
    run.box(0, Kind.WRITE, "/s/f.h5:/ids", (0,), (100,))
    run.closed()
    workload = exact(run)
    assert list(only_file(workload).datasets) == ["field", "ids"]
    assert [(step.to, step.transfer) for step in moves_of(workload)] == [
        ("stream1.field", "640 B"),
        ("stream1.ids", None),
    ]


@pytest.mark.parametrize("shape", [(0, 8), (8, 0)])
def test_a_dataset_that_was_empty_when_it_was_made_grows_by_what_is_written(shape: Shape) -> None:
    run = Hdf5Run(1)
    run.opened()
    run.box(0, Kind.WRITE, run.dataset("/u", shape, chunk=(4, 8)), (0, 0), (3, 8))
    run.closed()
    assert only_dataset(exact(run)).shape == [24]


def test_what_was_written_is_read_by_another_split() -> None:
    run = Hdf5Run(4)
    for kind, detail, split in ((Kind.WRITE, NEW, (4, 1)), (Kind.READ, 0, (1, 4))):
        run.opened(detail=detail)
        key = run.dataset("/u", (16, 16))
        run.parts(kind, key, split)
        run.closed()
    workload = exact(run)
    read = moves_of(workload)[1]
    assert (read.from_, read.split) == ("stream1.u", [1, "np"])
    assert workload.files["stream1"].prestage is None


def test_ranks_with_datasets_of_their_own() -> None:
    run = Hdf5Run(3)
    run.opened()
    for number, rank in product(range(2), range(3)):
        key = run.dataset(f"/rank{rank}/part{number}", (10, 7))
        run.box(rank, Kind.WRITE, key, (0, 0), (10, 7))
    run.closed()
    made = only_dataset(exact(run))
    assert (made.individual, made.count, made.shape) == (True, 2, ["np * 10", 7])


def test_one_rank_writes_a_dataset_among_those_of_all() -> None:
    run = Hdf5Run(4)
    run.opened()
    run.dataset("/info", (50,), element=1)
    run.box(0, Kind.WRITE, "/s/f.h5:/info", (0,), (50,))
    run.parts(Kind.WRITE, run.dataset("/u", (16,)), (4,))
    run.closed()
    workload = derive(run.captured(), "run")
    totals = planned(workload).totals
    assert (totals.bytes_written, totals.operations["write"]) == (50 + 128, 5), to_yaml(workload)


@pytest.mark.parametrize("grows", [True, False], ids=["one that grows", "new ones"])
def test_a_loop_chooses_its_datasets(grows: bool) -> None:
    run = Hdf5Run(2)
    run.opened()
    for step in range(6):
        run.pause(0.5)
        if grows:
            key = run.dataset("/t", (12, 40))
            for rank, row in product(range(2), range(2)):
                run.box(rank, Kind.WRITE, key, (2 * step + row, 20 * rank), (1, 20))
            continue
        for name in ("u", "v"):
            run.parts(Kind.WRITE, run.dataset(f"/step{step}/{name}", (8, 8)), (2, 1))
    run.closed()
    workload = exact(run)
    assert "for: i" in to_yaml(workload)
    wanted = 6 if grows else 12
    assert only_dataset(workload).count == wanted
    [step_] = moves_of(workload)
    assert (step_.first, step_.count) == ("i", 1) if grows else ("2 * i", 2)


def test_a_pause_within_a_dataset_does_not_cut_it() -> None:
    run = Hdf5Run(1)
    run.opened()
    key = run.dataset("/u", (64, 8))
    for row in range(64):
        run.box(0, Kind.WRITE, key, (row, 0), (1, 8))
        if row == 20:
            run.pause(0.5)
    run.closed()
    workload = exact(run)
    assert only_dataset(workload).shape == [64, 8]
    assert any("pauses" in text for text in workload.origin.assumed)


def test_a_file_for_each_turn_has_its_own_datasets() -> None:
    run = Hdf5Run(2)
    for dump in range(4):
        path = run.opened(f"/s/chk_{dump}")
        for number in range(3):
            run.parts(Kind.WRITE, run.dataset(f"/unk{number}", (8, 8), path), (2, 1))
        run.closed(path)
        run.pause(0.5)
    workload = exact(run)
    assert only_file(workload).path == "streamA1.{i}"
    assert only_dataset(workload).count == 3
    [step] = moves_of(workload)
    assert step.first is None


def test_points_and_strides_keep_sizes_and_say_so() -> None:
    run = Hdf5Run(2)
    run.opened()
    key = run.dataset("/u", (64, 64), chunk=(8, 8))
    for rank, row in product(range(2), range(5)):
        run.box(rank, Kind.WRITE, key, (2 * row + rank, 0), (1, 32), detail=SCATTERED)
    run.closed()
    workload = exact(run)
    assert only_dataset(workload).shape == ["np * 160"]
    assert only_dataset(workload).chunks == [64]
    assert any("no split" in text for text in workload.origin.assumed)
    entry = next(e for e in workload.origin.confidence if e.field == "write")
    assert entry.confidence <= 0.5


def test_a_file_from_before_the_run_is_one_of_bytes() -> None:
    run = Hdf5Run(2)
    run.opened(detail=0)
    run.parts(Kind.READ, run.dataset("/u", (64, 64)), (2, 1))
    run.closed()
    workload = exact(run)
    file = only_file(workload)
    assert (file.datasets, file.prestage) == ({}, "16 KiB")
    assert any("bytes" in text for text in workload.origin.assumed)


def test_records_and_scalars_are_datasets_too() -> None:
    run = Hdf5Run(1)
    run.opened()
    run.box(0, Kind.WRITE, run.dataset("/particles", (10,), element=28), (0,), (10,))
    run.box(0, Kind.WRITE, run.dataset("/time", ()), (), ())
    run.closed()
    datasets = only_file(exact(run)).datasets
    assert datasets["particles"].shape == [280]
    assert datasets["particles"].type.value == "i8"
    assert datasets["time"].shape == [1]


def test_a_name_that_comes_later_is_the_dataset_s() -> None:
    run = Hdf5Run(1)
    run.opened()
    first = run.dataset("/<unnamed 0>", (30,))
    run.box(0, Kind.WRITE, first, (0,), (30,))
    named = run.files[run.dataset("/rho", (30,))]
    run.call(0, Kind.LINK, first, layer=Layer.HDF5_DATASET, detail=named)
    run.box(0, Kind.READ, "/s/f.h5:/rho", (0,), (30,))
    run.closed()
    file = only_file(exact(run))
    assert list(file.datasets) == ["rho"]
    assert file.prestage is None


def test_variables_of_pnetcdf_are_datasets() -> None:
    run = PnetcdfRun(4)
    run.opened("/s/f.nc")
    for number in range(3):
        key = run.dataset(f"/var{number}", (8, 6), "/s/f.nc", element=4)
        run.parts(Kind.WRITE, key, (2, 2), detail=COLLECTIVE)
    run.closed("/s/f.nc")
    [file] = exact(run).files.values()
    assert file.interface is Interface.PNETCDF
    assert (file.datasets["var"].count, file.datasets["var"].split) == (3, [2, 2])


def test_what_lies_below_datasets_does_not_count() -> None:
    run = Hdf5Run(1)
    run.opened()
    run.call(0, Kind.OPEN, "/s/f.h5", detail=NEW)
    run.box(0, Kind.WRITE, run.dataset("/u", (100,)), (0,), (100,))
    run.call(0, Kind.WRITE, "/s/f.h5", 800, 2048)
    run.call(0, Kind.WRITE, "/s/f.h5", 96, 0)
    run.call(0, Kind.CLOSE, "/s/f.h5")
    run.closed()
    totals = planned(derive(run.captured(), "run")).totals
    assert (totals.bytes_written, totals.operations["write"]) == (800, 1)


@pytest.mark.parametrize("rows", [(100, 200), (40, 50, 60, 70), (1, 9, 2, 9)])
@pytest.mark.parametrize("files", [1, 3])
def test_ranks_with_different_numbers_of_rows(rows: tuple[int, ...], files: int) -> None:
    run = Hdf5Run(len(rows))
    for number in range(files):
        path = run.opened(f"/s/f{number}.h5")
        for name in ("u", "v"):
            key = run.dataset(name, (sum(rows), 30), path)
            for rank, own in enumerate(rows):
                start = (sum(rows[:rank]), 0)
                run.box(rank, Kind.WRITE, key, start, (own, 30), detail=COLLECTIVE)
        run.closed(path)
    found = derive(run.captured(), "run")
    made = planned(found)
    assert made.totals.bytes_written == files * 2 * sum(rows) * 30 * 8
    assert made.totals.operations["write"] == files * 2 * len(rows)
    (spec,) = found.files.values()
    (dataset,) = spec.datasets.values()
    assert dataset.shape == [sum(rows), 30]
    assert dataset.partition is not None
    assert dataset.split == []
    assert [move.collective for move in moves_of(found)] == [True] * len(moves_of(found))


def test_rows_with_a_gap_are_not_dealt() -> None:
    run = Hdf5Run(2)
    run.opened()
    key = run.dataset("u", (10, 30))
    run.box(0, Kind.WRITE, key, (0, 0), (3, 30))
    run.box(1, Kind.WRITE, key, (4, 0), (6, 30))
    run.closed()
    found = derive(run.captured(), "run")
    planned(found)
    for spec in found.files.values():
        assert all(dataset.partition is None for dataset in spec.datasets.values())
