"""A file that is open under several numbers, or as a stream of a descriptor, was opened once."""

from __future__ import annotations

import pytest

from capture_factory import MIB, O_CREAT, O_WRONLY, CaptureFactory
from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer


def counted(made: CaptureFactory) -> tuple[dict[str, int], list[str], Interface]:
    """Operations, assumptions, interface."""
    workload = derive(made.captured(), "app")
    assert workload.origin is not None
    assert workload.origin.observed is not None
    [file] = workload.files.values()
    return workload.origin.observed.operations, workload.origin.assumed, file.interface


def test_the_close_of_a_copied_descriptor_ends_nothing() -> None:
    made = CaptureFactory()
    made.call(0, Kind.OPEN, "/d/out", detail=O_WRONLY | O_CREAT)
    made.call(0, Kind.CLOSE, "/d/out")
    made.run(0, Kind.WRITE, "/d/out", MIB, 8)
    made.call(0, Kind.CLOSE, "/d/out")
    operations, assumed, _ = counted(made)
    assert operations == {"open": 1, "write": 8, "close": 1}
    assert any("copied" in said for said in assumed)


def test_two_openings_have_two_ends() -> None:
    made = CaptureFactory()
    for _ in range(2):
        made.call(0, Kind.OPEN, "/d/in")
    for _ in range(2):
        made.run(0, Kind.READ, "/d/in", MIB, 8)
        made.call(0, Kind.CLOSE, "/d/in")
    operations, assumed, _ = counted(made)
    assert operations == {"open": 2, "read": 16, "close": 2}
    assert not any("copied" in said for said in assumed)


def test_a_stream_of_a_descriptor_opens_nothing() -> None:
    made = CaptureFactory()
    made.call(0, Kind.OPEN, "/d/out", detail=O_WRONLY | O_CREAT)
    made.call(0, Kind.OPEN, "/d/out", layer=Layer.STDIO)
    made.run(0, Kind.WRITE, "/d/out", 4096, 8, layer=Layer.STDIO)
    made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
    operations, _, interface = counted(made)
    assert operations == {"open": 1, "write": 8, "close": 1}
    assert interface is Interface.STDIO


def test_a_stream_of_a_copied_descriptor_opens_nothing_either() -> None:
    made = CaptureFactory()
    for flags in (O_WRONLY | O_CREAT, 0):
        made.call(0, Kind.OPEN, "/d/out", detail=flags)
        made.run(0, Kind.WRITE, "/d/out", 128, 1)
        for _ in range(2):  # a library writes two arrays, each through a stream of its own
            made.call(0, Kind.OPEN, "/d/out", layer=Layer.STDIO, detail=flags)
            made.run(0, Kind.WRITE, "/d/out", MIB, 1, layer=Layer.STDIO)
            made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
        made.call(0, Kind.CLOSE, "/d/out")
    operations, _, _ = counted(made)
    assert operations == {"open": 2, "write": 6, "close": 2}


def test_a_stream_that_is_closed_with_its_descriptor_is_followed_by_another() -> None:
    made = CaptureFactory()
    made.call(0, Kind.OPEN, "/d/out", detail=O_WRONLY | O_CREAT)
    for flags in (0, O_WRONLY):
        made.call(0, Kind.OPEN, "/d/out", layer=Layer.STDIO, detail=flags)
        made.run(0, Kind.WRITE, "/d/out", 4096, 8, layer=Layer.STDIO)
        made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
    operations, _, _ = counted(made)
    assert operations == {"open": 2, "write": 16, "close": 2}


def test_what_was_written_unseen_is_not_taken_for_an_older_file() -> None:
    made = CaptureFactory()
    made.call(0, Kind.OPEN, "/d/text", layer=Layer.STDIO, detail=O_WRONLY | O_CREAT | 0o1000)
    made.run(0, Kind.WRITE, "/d/text", 100, 8, layer=Layer.STDIO)
    made.call(0, Kind.CLOSE, "/d/text", layer=Layer.STDIO)
    made.pause(1.0)
    made.whole(0, Kind.READ, "/d/text", 801, 1)
    workload = derive(made.captured(), "app")
    assert all(file.prestage is None for file in workload.files.values())
    assert workload.origin is not None
    assert workload.origin.observed is not None
    assert workload.origin.observed.bytes_written == 801


@pytest.mark.parametrize(("streams", "early"), [(2, 0), (3, 0), (3, 1), (5, 2)])
def test_streams_on_copies_of_a_stream_are_one(streams: int, early: int) -> None:
    """What libtextstyle does: it writes through the last of them and closes all in the end."""
    made = CaptureFactory()
    for _ in range(streams):
        made.call(0, Kind.OPEN, "/d/out", detail=O_WRONLY | O_CREAT, layer=Layer.STDIO)
    for _ in range(early):
        made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
    made.run(0, Kind.WRITE, "/d/out", 4096, 8, layer=Layer.STDIO)
    for _ in range(streams - early):
        made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
    made.call(0, Kind.OPEN, "/d/out", layer=Layer.STDIO)
    made.run(0, Kind.READ, "/d/out", 4096, 8, layer=Layer.STDIO)
    made.call(0, Kind.CLOSE, "/d/out", layer=Layer.STDIO)
    operations, assumed, _ = counted(made)
    assert operations == {"open": 2, "write": 8, "read": 8, "close": 2}
    assert any("streams on copies" in said for said in assumed)
