"""A file that is used through several interfaces: who moved its bytes is replayed."""

from __future__ import annotations

import pytest

from capture_factory import MIB, O_CREAT, O_WRONLY, CaptureFactory
from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer
from venturi.model.workload import Workload


def looked_at(layer: Layer, looked_bytes: int) -> Workload:
    """A file that is read in two ways."""
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.OPEN, "/scratch/in.nc", layer=layer)
    made.call(0, Kind.READ, "/scratch/in.nc", looked_bytes, 0, layer=layer)
    made.call(0, Kind.CLOSE, "/scratch/in.nc", layer=layer)
    made.call(0, Kind.OPEN, "/scratch/in.nc")
    for number in range(64):
        made.call(0, Kind.READ, "/scratch/in.nc", MIB, number * MIB)
    made.call(0, Kind.CLOSE, "/scratch/in.nc")
    return derive(made.captured(), "look")


def amplified() -> Workload:
    """One file that a library writes in few calls, and moves 200 times over for them."""
    made = CaptureFactory(ranks=1)
    name = "/scratch/series"
    made.call(0, Kind.OPEN, name, layer=Layer.MPIIO, detail=O_WRONLY | O_CREAT)
    made.call(0, Kind.OPEN, name, detail=O_WRONLY | O_CREAT)
    for number in range(4):
        made.call(0, Kind.WRITE, name, MIB // 4, 0, layer=Layer.MPIIO)
        for turn in range(200):
            made.call(0, Kind.WRITE, name, MIB // 4, (turn + number) % 4 * (MIB // 4))
    made.call(0, Kind.CLOSE, name)
    made.call(0, Kind.CLOSE, name, layer=Layer.MPIIO)
    return derive(made.captured(), "amplified")


def said_of(workload: Workload) -> tuple[Interface, dict[str, int], int, list[str]]:
    """Interface, operations, bytes read, assumptions."""
    [file] = workload.files.values()
    assert workload.origin is not None
    assert workload.origin.observed is not None
    seen = workload.origin.observed
    return file.interface, seen.operations, seen.bytes_read, workload.origin.assumed


@pytest.mark.parametrize(
    ("looked_bytes", "interface", "words"),
    [(8, Interface.POSIX, "looked at"), (64 * MIB, Interface.MPIIO, "seen in several layers")],
)
def test_of_layers_above_each_other_one_is_replayed(
    looked_bytes: int, interface: Interface, words: str
) -> None:
    chosen, _, read, assumed = said_of(looked_at(Layer.MPIIO, looked_bytes))
    assert (chosen, read) == (interface, 64 * MIB)
    assert any(words in said for said in assumed)


def test_what_a_library_moves_many_times_over_is_still_the_library_s() -> None:
    chosen, operations, _, assumed = said_of(amplified())
    assert (chosen, operations) == (Interface.MPIIO, {"write": 4, "open": 1, "close": 1})
    assert any("seen in several layers" in said for said in assumed)


@pytest.mark.parametrize(
    ("looked_bytes", "interface"), [(8, Interface.POSIX), (64 * MIB, Interface.STDIO)]
)
def test_what_streams_and_plain_calls_read_is_both_replayed(
    looked_bytes: int, interface: Interface
) -> None:
    chosen, operations, read, assumed = said_of(looked_at(Layer.STDIO, looked_bytes))
    assert (chosen, read) == (interface, 64 * MIB + looked_bytes)
    assert operations == {"open": 2, "close": 2, "read": 65}
    assert any("as streams" in said for said in assumed) == (interface is Interface.STDIO)


def test_a_file_that_is_opened_as_a_stream_and_written_by_its_descriptor() -> None:
    made = CaptureFactory(ranks=1)
    for number in range(3):
        name = f"/scratch/field{number}"
        made.call(0, Kind.OPEN, name, layer=Layer.STDIO, detail=O_WRONLY | O_CREAT)
        made.run(0, Kind.WRITE, name, MIB, 4)
        made.call(0, Kind.SYNC, name, layer=Layer.STDIO)
        made.call(0, Kind.CLOSE, name, layer=Layer.STDIO)
    chosen, operations, _, assumed = said_of(derive(made.captured(), "field"))
    assert chosen is Interface.POSIX
    assert operations == {"open": 3, "close": 3, "write": 12}
    assert assumed == []
