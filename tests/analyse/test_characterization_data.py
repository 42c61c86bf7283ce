"""Activity: closed-form programs come back as their own numbers."""

from __future__ import annotations

import pytest

from capture_factory import MIB, CaptureFactory, shared_file
from venturi.analyse.characterization_data import characterization_data_of
from venturi.model.error import UserError
from venturi.model.operation import NOT_A_FILE, Kind
from venturi.model.plan import Direction
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured


def test_a_program_of_dumps() -> None:
    found = characterization_data_of(shared_file(ranks=4, dumps=3).captured(), "app")
    assert found.bytes_written == 3 * 4 * 16 * MIB
    assert found.bytes_read == 0
    assert found.operations == {"open": 12, "close": 12, "write": 48}
    (stream,) = found.streams
    assert (stream.name, stream.layer) == ("/scratch/dump.#", "mpiio")
    assert (stream.files, stream.shared_files, stream.ranks) == (3, 3, 4)
    assert stream.collective == 48
    assert stream.bytes_by_lane == [48 * MIB] * 4
    (sizes,) = stream.common_sizes
    assert (sizes.direction, sizes.bytes, sizes.count) == (Direction.WRITE, 4 * MIB, 48)
    (order,) = stream.order
    assert (order.followers, order.consecutive, order.backward) == (36, 36, 0)
    assert [phase.kind for phase in found.phases] == ["write"] * 3
    assert all(phase.bytes_written == 64 * MIB and phase.active == 4 for phase in found.phases)
    assert found.io_seconds == pytest.approx(3 * 0.202)


def test_the_course_holds_every_byte() -> None:
    made = shared_file()
    made.call(0, Kind.WRITE, "/scratch/long", 1000 * MIB, 0, s=20.0)
    timeline = characterization_data_of(made.captured(), "app").timeline
    assert timeline.labels == ["rank 0", "rank 1", "rank 2", "rank 3"]
    rows = [sum(row) for row in timeline.written]
    assert rows[0] == pytest.approx(1048 * MIB, abs=200)
    assert rows[1:] == pytest.approx([48 * MIB] * 3, abs=200)
    late = timeline.written[0][-40:]
    assert max(late) == pytest.approx(1000 * MIB * timeline.bin_s / 20.0, rel=1e-6)
    assert sum(map(sum, timeline.operations)) == 73


def test_lower_layers_are_storage_not_application() -> None:
    made = CaptureFactory(2)
    for rank in range(2):
        made.call(rank, Kind.WRITE, "/s/f", MIB, rank * MIB, layer=Layer.MPIIO)
    made.call(0, Kind.READ, "/s/f", 2 * MIB, 0)
    made.call(0, Kind.WRITE, "/s/f", 2 * MIB, 0)
    found = characterization_data_of(made.captured(), "app")
    assert (found.bytes_written, found.bytes_read) == (2 * MIB, 0)
    assert (found.storage_written, found.storage_read) == (2 * MIB, 2 * MIB)


def test_datasets_stand_for_the_file_that_they_lie_in() -> None:
    made = CaptureFactory(1)
    made.file("/s/f.h5")
    made.file("pressure", within=0)
    made.call(0, Kind.OPEN, "/s/f.h5", layer=Layer.HDF5_FILE)
    made.call(0, Kind.WRITE, "pressure", MIB, layer=Layer.HDF5_DATASET)
    made.call(0, Kind.WRITE, "/s/f.h5", MIB, 2048)
    found = characterization_data_of(made.captured(), "app")
    (stream,) = found.streams
    assert (stream.name, stream.layer) == ("/s/f.h5", "hdf5_dataset")
    assert (stream.bytes_written, stream.operations) == (MIB, {"open": 1, "write": 1})


def test_noise_is_counted_and_left_out() -> None:
    made = CaptureFactory(1)
    made.call(0, Kind.READ, "/etc/passwd", 100, 0)
    made.call(0, Kind.WRITE, "/home/u/pipe", 100, detail=NOT_A_FILE)
    made.call(0, Kind.WRITE, "/home/u/data", 100, 0)
    found = characterization_data_of(made.captured(), "app")
    assert found.bytes_written == 100
    assert found.left_out == 2
    assert [stream.name for stream in found.streams] == ["/home/u/data"]


def test_programs_without_ranks_are_lanes_by_name() -> None:
    made = CaptureFactory(1, programs=("bash", "cc1", "cc1", "ld"))
    for process in (1, 2):
        made.whole(process, Kind.READ, f"/src/a{process}.c", 4096, 1)
    made.whole(3, Kind.WRITE, "/src/out", 4096, 4)
    found = characterization_data_of(made.captured(), "make")
    assert found.lanes == ["bash", "cc1", "ld"]
    assert found.timeline.labels == ["cc1", "ld"]


def test_data_that_turn_round_make_phases() -> None:
    made = CaptureFactory(2)
    for rank in range(2):
        made.whole(rank, Kind.WRITE, f"/s/f{rank}", MIB, 20)
    made.pause(0.001)
    for rank in range(2):
        made.whole(rank, Kind.READ, f"/s/f{rank}", MIB, 20)
    assert [p.kind for p in characterization_data_of(made.captured(), "app").phases] == [
        "write",
        "read",
    ]


def test_thousands_of_names_become_few_streams() -> None:
    made = CaptureFactory(1)
    for i in range(400):
        letters = "".join(chr(97 + int(c)) for c in f"{i:03d}")
        made.whole(0, Kind.READ, f"/src/{letters}/{letters}.{'c' if i % 2 else 'h'}", 100, 1)
    found = characterization_data_of(made.captured(), "tar")
    assert len(found.streams) == 2
    assert sum(stream.files for stream in found.streams) == 400


def test_many_lanes_share_rows() -> None:
    made = CaptureFactory(130)
    for rank in range(130):
        made.call(rank, Kind.WRITE, "/s/f", 10, rank * 10)
    timeline = characterization_data_of(made.captured(), "app").timeline
    assert len(timeline.labels) == 44
    assert timeline.labels[1] == "rank 3 to 5"
    assert sum(map(sum, timeline.written)) == 1300


def test_counters_alone_are_refused() -> None:
    captured = shared_file().captured()
    with pytest.raises(UserError, match="no operations"):
        characterization_data_of(Captured(captured.trace), "app")
