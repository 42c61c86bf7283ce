"""The content of a file decides how it is read; what is no capture is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from darshan_log import log_of, text_of, trace_of
from venturi.model.error import UserError
from venturi.sources import darshan, darshan_text
from venturi.sources import open as opening
from venturi.sources.open import read


def test_names_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(log_of("dd").read_bytes())
    assert read(path).records == trace_of("dd").records
    path.write_text(text_of("dd").read_text())
    assert read(path).source.format == "darshan-parser"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is an empty file"),
        (b"hello\n", "not a capture"),
        (b"{}", "not a venturi.trace/1 document"),
        (b'{"schema": "venturi.trace/1"', "not a venturi.trace/1 document"),
        (b'{"schema": "venturi.plan/2"}', "not a venturi.trace/1 document"),
        (b"\x7fELF\x02\x01", "not a capture"),
        (b"# darshan log version: 3.41\n", "damaged or incomplete"),
        (b"# darshan log version: 3.41\nPOSIX\t0\t1\n", "a row of 3 columns"),
        (b"# darshan log version: 3.41\nPOSIX\t0\t1\tPOSIX_OPENS\tx\t/f\n", "damaged"),
        (b"# darshan log version: 3.41\nPOSIX\t0\t1\tPOSIX_OPENS\t9" + b"9" * 5000, "damaged"),
        (b"3.41\0\0\0\0" + b"\0" * 2000, "Darshan log"),
    ],
)
def test_what_is_no_capture_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read(path)
    assert words in caught.value.message
    assert "input" in caught.value.message


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read(tmp_path / "absent.darshan")
    with pytest.raises(UserError, match="directory"):
        read(tmp_path)


def test_two_documents_are_no_capture(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"schema": "venturi.trace/1"}')
    with pytest.raises(UserError, match=r"'a.json' is .* and 'b.json' is .*: they cannot be read"):
        opening.read_capture(tmp_path)


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(trace_of("dd").to_json())
    monkeypatch.setattr(darshan, "MAX_LOG_BYTES", 10)
    monkeypatch.setattr(darshan_text, "MAX_TEXT_BYTES", 10)
    monkeypatch.setattr(opening, "MAX_TRACE_BYTES", 10)
    for path in (log_of("dd"), text_of("dd"), trace):
        with pytest.raises(UserError, match="10"):
            read(path)


def test_damaged_records_are_left_out_and_said(tmp_path: Path) -> None:
    text = text_of("dd").read_text()
    path = tmp_path / "damaged.txt"
    path.write_text(text.replace("POSIX_OPENS\t2\t", "POSIX_OPENS\t4930337649606639125\t"))
    trace = read(path)
    assert not trace.records
    assert [(gap.layer, gap.what) for gap in trace.gaps] == [
        ("POSIX", "1 damaged records were left out")
    ]


def test_incomplete_modules_become_gaps(tmp_path: Path) -> None:
    path = tmp_path / "partial.txt"
    warning = "# *ERROR*: The POSIX module contains incomplete data!\n"
    path.write_text(text_of("dd").read_text() + warning)
    assert [gap.layer for gap in read(path).gaps] == ["POSIX"]
