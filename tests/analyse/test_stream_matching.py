"""The card of a proxy: its streams are known, and what no workload says stands beside."""

from __future__ import annotations

from capture_factory import ENOENT, MIB, O_CREAT, O_WRONLY, CaptureFactory
from venturi.analyse.fidelity_report import fidelity
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured

WORDS = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "gean", "hazel", "ivy")


def application() -> Captured:
    """Two streams whose files have no common name, calls in vain, and a start script."""
    made = CaptureFactory(programs=("make", "app"))
    made.call(0, Kind.READ, "/scratch/start.sh", 100, 0, layer=Layer.STDIO)
    for word in WORDS:
        source, target = f"/scratch/in/{word}", f"/scratch/out/{word}"
        made.call(1, Kind.STAT, target, error=ENOENT)
        made.call(1, Kind.OPEN, source)
        made.run(1, Kind.READ, source, MIB, 8)
        made.call(1, Kind.READ, source, 0, 8 * MIB)
        made.call(1, Kind.CLOSE, source)
        made.whole(1, Kind.WRITE, target, MIB, 8)
    return made.captured()


def proxy(written: int = 8, about: str = "/scratch/out/*") -> Captured:
    """What the engine did in its place."""
    made = CaptureFactory(ranks=1)
    for number in range(len(WORDS)):
        for kind, name, count in ((Kind.READ, "A", 8), (Kind.WRITE, "B", written)):
            path = f"stream{name}1.{number}.00000000"
            made.file(path, stands_for="/scratch/in/*" if name == "A" else about)
            made.call(0, Kind.OPEN, path, detail=O_WRONLY | O_CREAT if name == "B" else 0)
            made.run(0, kind, path, MIB, count)
            made.call(0, Kind.CLOSE, path)
    return made.captured()


def beside(fidelity_report: FidelityReport) -> dict[str, tuple[float, float]]:
    """What stands for information in any stream."""
    return {
        field.name: (field.application, field.proxy)
        for stream in (fidelity_report.total, *fidelity_report.streams)
        for field in stream.fields
        if field.match is Match.BESIDE and "time" not in field.name
    }


def test_streams_are_those_that_the_workload_knows() -> None:
    fidelity_report = fidelity(application(), proxy())
    assert fidelity_report.match is Match.EQUAL, fidelity_report.headline
    found = {stream.name: stream.counterpart for stream in fidelity_report.streams}
    assert found == {
        "/scratch/in/*": "streamA1.#.00000000",
        "/scratch/out/*": "streamB1.#.00000000",
    }
    said = beside(fidelity_report)
    assert said["calls that failed"] == (len(WORDS), 0)
    assert said["requests of 0 bytes"] == (len(WORDS), 0)
    assert said["operations in streams that are left out"] == (1, 0)
    assert said["bytes in streams that are left out"] == (100, 0)


def test_what_the_proxy_does_otherwise_is_off() -> None:
    fidelity_report = fidelity(application(), proxy(written=7))
    assert fidelity_report.match is Match.OFF
    [out] = [stream for stream in fidelity_report.streams if stream.name == "/scratch/out/*"]
    off = {field.name for field in out.fields if field.match is Match.OFF}
    assert {"bytes written", "write operations"} <= off


def test_a_stream_that_the_proxy_lacks_is_named() -> None:
    fidelity_report = fidelity(application(), proxy(about="elsewhere"))
    assert "lacks /scratch/out/*" in fidelity_report.headline
    assert fidelity_report.only_proxy == ["elsewhere"]
