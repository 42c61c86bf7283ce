"""Files of one job are read as one capture; those of different jobs are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from darshan_log import dxt_text_of, log_of, text_of
from outside_data import data_folder
from sources.made_log import MadeLog, Record
from venturi.model.error import UserError
from venturi.model.trace import Layer
from venturi.model.trace_folder import write_trace
from venturi.sources.open import read, read_capture


def program(rank_file: str, start_s: int, job: int = 4711) -> MadeLog:
    """The log of a program of one process that wrote 100 bytes to its own file and to `shared`."""
    segment = [(0, 100, 1.0, 1.5, 0)]
    return MadeLog(
        ranks=1,
        job=job,
        start_s=start_s,
        names={1: rank_file, 2: "/w/shared", 3: "heatmap:POSIX"},
        dxt={"DXT_POSIX": (2, [Record(1, 0, segment, []), Record(2, 0, segment, [])])},
        heat=[("heatmap:POSIX", 0, 0.1 * 2 ** (start_s % 2), [0] * 10 + [200], [0] * 11)],
    )


def test_processes_of_one_job_stand_beside_each_other(tmp_path: Path) -> None:
    program("/w/a", 1_700_000_000).write(tmp_path / "a.darshan")
    program("/w/b", 1_700_000_003).write(tmp_path / "b.darshan")
    (tmp_path / "notes.txt").write_text("not a capture\n")
    captured = read_capture(tmp_path)
    trace, operations = captured.trace, captured.operations
    assert operations is not None
    assert trace.job.ranks == 2
    assert trace.job.seconds == pytest.approx(13.0)
    assert [file.path for file in trace.files] == ["/w/a", "/w/shared", "/w/b"]
    assert [process.rank for process in trace.processes] == [0, 1]
    assert operations.start_ns.tolist() == [10**9, 10**9, 4 * 10**9, 4 * 10**9]
    assert operations.file.tolist() == [0, 1, 2, 1]
    [heatmap] = trace.heatmaps
    assert heatmap.bin_seconds == pytest.approx(0.2)
    assert [row.rank for row in heatmap.rows] == [0, 1]
    assert [row.written.index(200) for row in heatmap.rows] == [5, 25]


def test_different_jobs_are_refused_by_name(tmp_path: Path) -> None:
    program("/w/a", 1_700_000_000, job=1).write(tmp_path / "a.darshan")
    program("/w/b", 1_700_009_000, job=2).write(tmp_path / "b.darshan")
    with pytest.raises(UserError, match=r"a\.darshan.*job 1.*b\.darshan.*job 2"):
        read_capture(tmp_path)


def test_numbers_of_processes_may_differ_where_times_meet(tmp_path: Path) -> None:
    first = program("/w/a", 1_700_000_000, job=1).write(tmp_path / "a.darshan")
    second = program("/w/b", 1_700_000_003, job=2).write(tmp_path / "b.darshan")
    assert read_capture(first, second).trace.job.ranks == 2


def test_forms_of_one_log_are_counted_once(tmp_path: Path) -> None:
    for source in (log_of("dd"), text_of("dd"), dxt_text_of("dd")):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    both = read_capture(tmp_path)
    assert both.trace.operation_count == 128
    assert both.trace.records == read(log_of("dd")).records
    (tmp_path / "dd.darshan").unlink()
    texts = read_capture(tmp_path)
    assert texts.trace.operation_count == 128
    assert texts.trace.records == read(text_of("dd")).records


@pytest.mark.nightly
def test_public_set_of_a_training_job() -> None:
    logs = sorted(data_folder("darshan/public").glob("dlio*"))
    trace = read_capture(*logs).trace
    single = [read(log) for log in logs]
    assert trace.job.ranks == len(logs)
    assert trace.record_count == sum(one.record_count for one in single)
    posix = [r for r in trace.records if r.layer is Layer.POSIX]
    assert {r.rank for r in posix} == set(range(len(logs)))
    assert sum(r.counters["BYTES_READ"] for r in posix) == sum(
        r.counters["BYTES_READ"] for one in single for r in one.records if r.layer is Layer.POSIX
    )


def test_a_folder_that_was_written_is_read_again(tmp_path: Path) -> None:
    captured = read_capture(log_of("miniapp"))
    folder = tmp_path / "miniapp.trace"
    write_trace(folder, captured)
    again = read_capture(folder)
    assert again.trace == captured.trace
    assert again.operations is not None
    assert read_capture(folder / "trace.json").trace == captured.trace


def test_kinds_that_do_not_fit_are_named(tmp_path: Path) -> None:
    trace = tmp_path / "strace.txt"
    trace.write_text("7  1700000000.000100 close(3</w/a>) = 0 <0.000010>\n")
    with pytest.raises(UserError, match=r"dd\.darshan.*strace\.txt|strace\.txt.*dd\.darshan"):
        read_capture(log_of("dd"), trace)
