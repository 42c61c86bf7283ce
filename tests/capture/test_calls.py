"""Each kind of call is seen once, where strace sees it, with its file, offset and bytes."""

from __future__ import annotations

import re
import sys

import pytest

from capture.conftest import Capture, Row
from venturi.capture.merge import WATCHED
from venturi.model.operation import ATTRIBUTES, CAPTURED, LAYERS

OF_FOLDERS = ("stat", "list", "open")
ATTRIBUTED = """import os
fd = os.open("named", os.O_CREAT | os.O_RDWR)
folder = os.open(".", os.O_RDONLY)
os.chmod("named", 0o600)
os.fchmod(fd, 0o640)
os.chmod("named", 0o644, dir_fd=folder)
os.chown("named", -1, -1)
os.lchown("named", -1, -1)
os.fchown(fd, -1, -1)
os.chown("named", -1, -1, dir_fd=folder)
os.utime("named")
os.utime(fd)
os.utime("named", dir_fd=folder)
for call, *more in (
    (os.setxattr, "user.a", b"value"), (os.getxattr, "user.a"), (os.listxattr,),
    (os.removexattr, "user.a"),
):
    for target in ("named", fd):
        try:
            call(target, *more)
        except OSError:
            pass
os.symlink("named", "symbolic")
os.link("named", "hard")
"""


def comparable(rows: list[Row]) -> list[Row]:
    """Rows of the POSIX layer that both see alike.

    The C library's own calls for a stream, and those by which it reads a directory, are no calls
    of the program; and strace does not see where an append went.
    """
    return [
        ("posix", kind, name, -1 if name == "copy" and kind == "write" else offset, size, error)
        for layer, kind, name, offset, size, error in rows
        if layer == "posix" and name != "stream" and not (name == "folder" and kind in OF_FOLDERS)
    ]


@pytest.fixture
def seen(capture: Capture) -> tuple[list[Row], list[Row]]:
    traced = capture(capture.program("calls")).rows()
    for path in capture.here.iterdir():
        path.unlink()
    return traced, capture(capture.program("calls"), options=("--with", "strace")).rows()


@pytest.mark.needs("strace")
def test_operations_equal_straces(seen: tuple[list[Row], list[Row]]) -> None:
    traced, straced = seen
    assert comparable(traced) == comparable(straced)
    kinds = {kind for layer, kind, *_ in traced if layer == "posix"}
    assert kinds == {kind.value for kind in CAPTURED} - {"barrier"}


@pytest.mark.parametrize("tool", [(), ("--with", "strace")])
def test_what_attributes_are_set_is_known(capture: Capture, tool: tuple[str, ...]) -> None:
    run = capture(sys.executable, "-c", ATTRIBUTED, options=tool)
    operations = run.captured.operations
    assert operations is not None
    named = [at for at, row in enumerate(run.rows()) if row[1:3] == ("attribute", "named")]
    said = [ATTRIBUTES[detail - 1].value for detail in operations.detail[named].tolist()]
    extended = ["set_xattr"] * 2 + ["get_xattr"] * 4 + ["set_xattr"] * 2
    assert said == ["set_mode"] * 3 + ["set_owner"] * 4 + ["set_times"] * 3 + extended
    links = [row[1:] for row in run.rows() if row[1] == "link"]
    assert links == [("link", "named", -1, 1, 0), ("link", "named", -1, 0, 0)]


def test_offsets_are_where_the_data_went(capture: Capture) -> None:
    rows = capture(capture.program("calls")).rows()
    copied = [row[3:5] for row in rows if row[1:3] == ("write", "copy")]
    assert copied == [(384, 10), (394, 20), (414, 30), (444, 40), (484, 50)]
    stream = [row[1:5] for row in rows if row[0] == "stdio"]
    assert stream == [
        ("open", "stream", -1, 0),
        ("write", "stream", 0, 300),
        ("write", "stream", 300, 6),
        ("write", "stream", 306, 5),
        ("write", "stream", 311, 1),
        ("sync", "stream", -1, 0),
        ("seek", "stream", 0, 0),
        ("read", "stream", 0, 300),
        ("read", "stream", 300, 6),
        ("close", "stream", -1, 0),
    ]
    assert ("posix", "list", "folder", -1, 3, 0) in rows


def test_counters_are_darshans_where_the_meaning_is(capture: Capture) -> None:
    run = capture(capture.program("calls"), options=("--counters",))
    assert run.captured.operations is None
    [data] = [r for r in run.trace.records if r.file.endswith("/data") and r.layer == "posix"]
    expected = {
        "OPENS": 1,
        "READS": 7,
        "WRITES": 7,
        "SEEKS": 4,
        "FSYNCS": 1,
        "FDSYNCS": 1,
        "BYTES_WRITTEN": 3000,
        "BYTES_READ": 1092,
        "MAX_BYTE_WRITTEN": 5499,
        "SIZE_WRITE_0_100": 1,
        "SIZE_WRITE_100_1K": 6,
        "TRUNCATES": 1,
        "ALLOCATES": 2,
        "RW_SWITCHES": 1,
        "ACCESS1_ACCESS": 300,
        "ACCESS1_COUNT": 6,
    }
    assert {name: data.counters.get(name) for name in expected} == expected
    assert 0 < data.times["F_WRITE_TIME"] < run.trace.job.seconds
    assert data.times["F_OPEN_START_TIMESTAMP"] < data.times["F_WRITE_START_TIMESTAMP"]


def test_codes_are_those_of_the_model() -> None:
    """The tracer is C and cannot import the model."""
    from pathlib import Path

    text = (Path(__file__).parents[2] / "tracer" / "format.h").read_text("utf-8")
    kinds = re.findall(r"\bk([A-Z]\w*),", text[text.index("typedef enum {") : text.index("kKinds")])
    assert [kind.lower() for kind in kinds] == [kind.value.replace("_", "") for kind in CAPTURED]
    layers = text[text.index("kPosix") : text.index("kLayers")]
    named = [word.lower() for word in re.findall(r"\bk(\w+),", layers)]
    assert named == [layer.value.replace("_", "") for layer in WATCHED]
    assert list(LAYERS[: len(WATCHED)]) == WATCHED
