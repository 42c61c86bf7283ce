"""The text of recorder2text: POSIX, streams and MPI-IO, one file per rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from venturi.model.error import UserError
from venturi.model.operation import COLLECTIVE, KINDS, LAYERS, NO_FILE
from venturi.sources.open import read_capture
from venturi.sources.recorder_text import ASKED

TEXT = """\
0.000100 0.000200 MPI_File_open 0 1 ( MPI_COMM_WORLD /w/f 5 MPI_INFO_NULL fh-0 )
0.000110 0.000120 open 1 0 ( /w/f 66 436 )
0.000300 0.000400 MPI_File_write_at_all 0 1 ( fh-0 {at} %p 100 MPI_INT MPI_STATUS_IGNORE )
0.000310 0.000320 lseek 1 0 ( /w/f {at} 0 )
0.000330 0.000340 write 1 0 ( /w/f %p 400 )
0.000350 0.000360 pread 1 0 ( /w/f %p 64 4096 )
0.000361 0.000362 writev 1 0 ( /w/f 30 2 )
0.000370 0.000375 fopen 0 0 ( /w/log a )
0.000380 0.000390 fwrite 0 0 ( %p 8 10 /w/log )
0.000400 0.000410 mkdir 0 0 ( /w/d 493 )
0.000500 0.000600 MPI_Barrier 0 2 ( MPI_COMM_WORLD )
0.000700 0.000710 MPI_File_close 0 1 ( fh-0 )
"""


def test_ranks_and_layers(tmp_path: Path) -> None:
    for rank in (0, 1, 10):
        (tmp_path / f"{rank}.txt").write_text(TEXT.format(at=rank * 400))
    captured = read_capture(tmp_path)
    trace, operations = captured.trace, captured.operations
    assert operations is not None
    assert sorted(process.rank for process in trace.processes) == [0, 1, 10]
    assert trace.job.ranks == 11
    last = next(n for n, p in enumerate(trace.processes) if p.rank == 10)
    mine = operations.take(operations.process == last)
    assert [
        (
            LAYERS[mine.layer[row]].value,
            KINDS[mine.kind[row]].value,
            "" if mine.file[row] == NO_FILE else trace.files[mine.file[row]].path,
            int(mine.offset[row]),
            int(mine.bytes[row]),
        )
        for row in range(len(mine))
    ] == [
        ("mpiio", "open", "/w/f", -1, 0),
        ("posix", "open", "/w/f", -1, 0),
        ("mpiio", "write", "/w/f", 4000, 400),
        ("posix", "seek", "/w/f", 4000, 0),
        ("posix", "write", "/w/f", 4000, 400),
        ("posix", "read", "/w/f", 4096, 64),
        ("posix", "write", "/w/f", 4400, 30),
        ("stdio", "open", "/w/log", -1, 0),
        ("stdio", "write", "/w/log", 0, 80),
        ("posix", "mkdir", "/w/d", -1, 0),
        ("mpiio", "barrier", "", -1, 0),
        ("mpiio", "close", "/w/f", -1, 0),
    ]
    assert mine.detail[2] == COLLECTIVE
    assert [gap.what for gap in trace.gaps] == [ASKED]
    record = next(r for r in trace.records if (r.layer.value, r.rank) == ("mpiio", 10))
    assert record.counters["COLL_WRITES"] == 1


def test_a_torn_text_is_used(tmp_path: Path) -> None:
    path = tmp_path / "0.txt"
    path.write_text(TEXT.format(at=0)[:-20])
    captured = read_capture(path)
    assert captured.trace.operation_count == 11
    assert any("ends inside a line" in gap.what for gap in captured.trace.gaps)


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "0.txt"
    path.write_text(TEXT.format(at=0).replace("pread 1", "pread one"))
    with pytest.raises(UserError, match=r"0\.txt' is damaged at line 6"):
        read_capture(path)
