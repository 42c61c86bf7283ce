"""Activity from counters: what they hold equals what operations say, and the rest is absent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capture_factory import MIB, CaptureFactory, shared_file
from darshan_log import log_of
from venturi.analyse.characterization import characterization_of
from venturi.analyse.characterization_data import characterization_data_of
from venturi.analyse.counter_data import counter_data_of
from venturi.analyse.fidelity_report import fidelity
from venturi.model.characterization_data import Basis, CharacterizationData
from venturi.model.error import UserError
from venturi.model.fidelity_report import Match
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.report.render import render_document
from venturi.sources.counting import counters_of
from venturi.sources.open import read_capture


def mixed() -> CaptureFactory:
    """Own files in writes with holes, and a table that all ranks read."""
    made = CaptureFactory(4)
    for rank in range(4):
        made.call(rank, Kind.OPEN, f"/w/out.{rank}")
        made.run(rank, Kind.WRITE, f"/w/out.{rank}", MIB, 8, stride=2 * MIB)
        made.call(rank, Kind.SYNC, f"/w/out.{rank}")
        made.call(rank, Kind.OPEN, "/w/table")
        made.run(rank, Kind.READ, "/w/table", 4096, 6, first=rank * 65536)
    return made


def counted(made: CaptureFactory) -> Captured:
    """The same with counters only."""
    captured = made.captured()
    trace = captured.trace
    assert captured.operations is not None
    records = counters_of(captured.operations, trace.files, trace.processes)
    update = {"records": records, "record_count": len(records), "operation_count": 0}
    return Captured(trace.model_copy(update=update))


@pytest.mark.parametrize("make", [mixed, shared_file])
def test_counters_say_what_operations_say(make: Callable[[], CaptureFactory]) -> None:
    made = make()
    whole, sums = (
        characterization_data_of(made.captured(), "app"),
        counter_data_of(counted(made), "app"),
    )
    assert sums.basis is Basis.COUNTERS
    assert (sums.bytes_written, sums.bytes_read) == (whole.bytes_written, whole.bytes_read)
    assert not sums.phases
    theirs = {stream.name: stream for stream in whole.streams}
    for stream in sums.streams:
        other = theirs[stream.name]
        assert (stream.files, stream.shared_files) == (other.files, other.shared_files)
        for kind in ("read", "write"):
            assert stream.operations.get(kind) == other.operations.get(kind)
        assert stream.bytes_by_lane == other.bytes_by_lane
        assert stream.common_sizes == other.common_sizes
        assert stream.request_sizes == other.request_sizes
        if stream.layer == Layer.POSIX.value:
            assert stream.order == other.order
            assert stream.seconds["names"] > 0
        assert sum(stream.seconds.values()) <= sum(other.seconds.values()) + 1e-9


def test_a_capture_of_counters_equals_itself_and_its_operations() -> None:
    made = mixed()
    for left, right in ((counted(made), counted(made)), (counted(made), made.captured())):
        fidelity_report = fidelity(left, right)
        assert fidelity_report.match is Match.EQUAL, fidelity_report.headline
        names = {
            field.name
            for stream in [fidelity_report.total, *fidelity_report.streams]
            for field in stream.fields
        }
        assert "turns to it" not in names
        assert "stretches of one direction" not in names


def test_another_number_of_bytes_is_off() -> None:
    more = mixed()
    more.run(0, Kind.WRITE, "/w/out.0", MIB, 4, first=64 * MIB)
    fidelity_report = fidelity(counted(mixed()), counted(more))
    assert fidelity_report.match is Match.OFF
    assert "bytes written" in {f.name for f in fidelity_report.total.fields if f.match is Match.OFF}


def test_the_page_of_a_log_says_what_counters_can() -> None:
    captured = read_capture(log_of("ior_4rank_shared"))
    captured = Captured(captured.trace.model_copy(update={"operation_count": 0}))
    text = render_document(characterization_of(captured, "app"), "html")
    plain = text.replace("\u00a0", " ")
    assert "4 ranks wrote" in plain
    assert "holds counters, which add up a run" in plain
    assert "Phase by phase" not in plain
    assert "Its proxy" in plain


def test_a_page_needs_no_times() -> None:
    captured = counted(mixed())
    records = [record.model_copy(update={"times": {}}) for record in captured.trace.records]
    bare = Captured(captured.trace.model_copy(update={"records": records}))
    text = render_document(characterization_of(bare, "app"), "md")
    assert "Time in I/O" not in text
    assert "The busiest spent" not in text


def test_nothing_of_an_application_is_one_sentence() -> None:
    made = CaptureFactory(1)
    made.whole(0, Kind.READ, "/etc/passwd", 100, 1)
    with pytest.raises(UserError, match="no counters of an application"):
        counter_data_of(counted(made), "app")


def test_the_document_survives() -> None:
    activity = counter_data_of(counted(mixed()), "app")
    assert CharacterizationData.model_validate_json(activity.to_json()) == activity
