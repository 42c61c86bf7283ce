"""Where counters and DXT of one log disagree, the module that holds less is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from darshan_log import OURS, log_of, text_of
from sources.made_log import MadeLog, Record
from venturi.model.trace import CounterRecord, Gap, Layer
from venturi.model.trace_folder import Captured
from venturi.sources.contradiction import contradictions
from venturi.sources.darshan_container import Container
from venturi.sources.darshan_log import read_whole_log
from venturi.sources.open import read


def gaps(captured: Captured) -> list[Gap]:
    return contradictions(captured.trace, captured.operations)


@pytest.mark.parametrize("name", OURS)
def test_our_logs_agree_with_themselves(name: str) -> None:
    assert not read_whole_log(log_of(name)).trace.gaps


def test_a_request_that_only_counters_know_is_missed_in_dxt() -> None:
    captured = read_whole_log(log_of("dd"))
    assert captured.operations is not None
    fewer = replace(captured, operations=captured.operations.take(np.arange(127)))
    [gap] = gaps(fewer)
    assert gap.layer == "DXT_POSIX"
    assert "127 writes of /scratch/run350/z instead of 128" in gap.what


def _changed(
    captured: Captured, change: Callable[[CounterRecord], CounterRecord | None]
) -> Captured:
    records = [change(record) for record in captured.trace.records]
    kept = [record for record in records if record is not None]
    return replace(captured, trace=captured.trace.model_copy(update={"records": kept}))


def test_bytes_that_only_dxt_knows_are_missed_in_the_counters() -> None:
    def less(record: CounterRecord) -> CounterRecord:
        size = record.counters.get("BYTES_WRITTEN", 0)
        counters = record.counters | {"BYTES_WRITTEN": max(0, size - 1)}
        return record.model_copy(update={"counters": counters})

    [gap] = gaps(_changed(read_whole_log(log_of("dd")), less))
    assert gap.layer == "POSIX"
    assert "8388607 bytes written of /scratch/run350/z instead of 8388608" in gap.what


def test_a_layer_without_records_is_missed_beside_its_heatmap() -> None:
    captured = read_whole_log(log_of("ior_mpiio_coll"))
    lost = _changed(captured, lambda record: None if record.layer is Layer.MPIIO else record)
    assert [gap.layer for gap in gaps(replace(lost, operations=None))] == ["MPI-IO"]


def test_what_is_known_to_be_incomplete_is_no_contradiction() -> None:
    captured = read_whole_log(log_of("dd"))
    assert captured.operations is not None
    known = captured.trace.model_copy(update={"gaps": [Gap(layer="DXT_POSIX", what="full")]})
    assert not gaps(Captured(known, captured.operations.take(np.arange(127))))


def test_a_log_of_dxt_alone_misses_its_counters(tmp_path: Path) -> None:
    record = Record(identity=7, rank=0, writes=[(0, 10, 0.1, 0.2, 1)], reads=[])
    made = MadeLog(names={7: "/f"}, dxt={"DXT_POSIX": (1, [record])})
    [gap] = read_whole_log(made.write(tmp_path / "made.darshan")).trace.gaps
    assert gap.layer == "POSIX"
    assert "0 writes of /f instead of 1" in gap.what


@pytest.mark.parametrize(
    ("version", "places"),
    [
        ("3.10", {"POSIX": 1, "STDIO": 7, "DXT_POSIX": 8}),
        ("3.21", {"H5D": 4, "STDIO": 8, "DXT_POSIX": 9, "HEATMAP": 14}),
        ("3.41", {"PNETCDF_VAR": 6, "STDIO": 9, "DXT_POSIX": 10, "HEATMAP": 15}),
    ],
)
def test_modules_are_looked_for_where_a_version_has_them(
    version: str, places: dict[str, int]
) -> None:
    container = Container(MadeLog(version=version, names={7: "/f"}).bytes())
    assert {module: container._places[module] for module in places} == places


def test_the_sum_of_unknown_marks_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "reduced.txt"
    path.write_text(
        text_of("ior_shared_seg").read_text().replace("POSIX_MMAPS\t-1\t", "POSIX_MMAPS\t-2\t")
    )
    trace = read(path)
    assert not trace.gaps
    assert all("MMAPS" not in record.counters for record in trace.records)
