"""A look at a file through another interface does not hide who moved its bytes."""

from __future__ import annotations

import pytest

from capture_factory import MIB, CaptureFactory
from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.plan import Interface
from venturi.model.trace import Layer


@pytest.mark.parametrize(
    ("looked_bytes", "interface", "moved"),
    [(8, Interface.POSIX, 64 * MIB), (64 * MIB, Interface.STDIO, 64 * MIB)],
)
def test_the_layer_that_moved_the_bytes_is_replayed(
    looked_bytes: int, interface: Interface, moved: int
) -> None:
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.OPEN, "/scratch/in.nc", layer=Layer.STDIO)
    made.call(0, Kind.READ, "/scratch/in.nc", looked_bytes, 0, layer=Layer.STDIO)
    made.call(0, Kind.CLOSE, "/scratch/in.nc", layer=Layer.STDIO)
    made.call(0, Kind.OPEN, "/scratch/in.nc")
    for number in range(64):
        made.call(0, Kind.READ, "/scratch/in.nc", MIB, number * MIB)
    made.call(0, Kind.CLOSE, "/scratch/in.nc")
    workload = derive(made.captured(), "look")
    [file] = workload.files.values()
    assert file.interface is interface
    assert workload.origin is not None
    assert workload.origin.observed is not None
    assert workload.origin.observed.bytes_read == moved
    words = "looked at" if interface is Interface.POSIX else "seen in several layers"
    assert any(words in said for said in workload.origin.assumed)
