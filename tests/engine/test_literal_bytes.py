"""Given bytes and Fortran records as they come to lie in files, read by strangers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy
import pytest
import yaml
from scipy.io import FortranFile

from cli.conftest import Cli, cli  # noqa: F401

RECORDS = {"interface": "stdio", "options": {"records": "fortran"}}


def start(cli: Cli, steps: list[Any], file: dict[str, Any], *words: str) -> Any:  # noqa: F811
    document = {
        "workload": 1,
        "name": "given",
        "parameters": {"np": {"default": 2, "role": "ranks"}},
        "groups": {"g": {"ranks": "np"}},
        "files": {"f": {"path": "f", "shared": "rank", "keep": True, **file}},
        "program": {"g": [{"phase": "p", "do": steps}]},
    }
    path = cli.target.parent / "w.yaml"
    path.write_text(yaml.safe_dump(document))
    return cli("run", str(path), "-d", str(cli.target), "--repeat", "1", *words)


def written(cli: Cli, *writes: dict[str, Any], **file: Any) -> list[Path]:  # noqa: F811
    steps = [{"create": "f"}, *({"write": {"to": "f", **w}} for w in writes), {"close": "f"}]
    done = start(cli, steps, file)
    assert done.returncode == 0, done.stderr
    (place,) = cli.target.iterdir()
    return sorted(path for path in place.iterdir() if path.name.startswith("f."))


@pytest.mark.parametrize("interface", ["posix", "stdio", "uring", "mmap"])
def test_given_bytes_lie_in_the_file(cli: Cli, interface: str) -> None:  # noqa: F811
    files = written(
        cli,
        {"text": "rank {rank:03d}\n"},
        {"numbers": [1, "rank", -2, 65535], "type": "i16", "at": 9},
        {"numbers": ["rank / 4", 1e300], "type": "f64", "big_endian": True, "at": 17},
        {"numbers": [0.5], "type": "f32", "count": 3, "at": 33},
        interface=interface,
    )
    assert len(files) == 2
    for rank, path in enumerate(files):
        expected = f"rank {rank:03d}\n".encode()
        expected += struct.pack("<hhhH", 1, rank, -2, 65535)
        expected += struct.pack(">dd", rank / 4, 1e300)
        expected += struct.pack("<f", 0.5) * 3
        assert path.read_bytes() == expected


@pytest.mark.parametrize(
    ("write", "words"),
    [
        ({"numbers": [65536], "type": "i16"}, "a number does not fit its type"),
        ({"numbers": [1e39], "type": "f32"}, "a number does not fit into f32"),
        ({"text": "{np * 50:02d}"}, "more digits than its width"),
    ],
)
def test_numbers_that_do_not_fit_end_the_run(
    cli: Cli,  # noqa: F811
    write: dict[str, Any],
    words: str,
) -> None:
    done = start(cli, [{"create": "f"}, {"write": {"to": "f", **write}}, {"close": "f"}], {})
    assert done.returncode in (2, 3)
    assert words in " ".join((done.stdout + done.stderr).split())


def test_scipy_reads_records(cli: Cli) -> None:  # noqa: F811
    writes = ({"numbers": [7, "rank"]}, {"transfer": 800, "count": 3}, {"numbers": [1.4]})
    for path in written(cli, *writes[:2], {**writes[2], "type": "f64"}, **RECORDS):
        with FortranFile(path) as file:
            assert file.read_ints("i4").tolist() == [7, int(path.name[-1])]
            assert [len(file.read_record("u1")) for _ in range(3)] == [800] * 3
            assert file.read_reals("f8").tolist() == [1.4]
        assert path.stat().st_size == 8 + 3 * 800 + 8 + 5 * 8


def test_records_of_a_stranger_are_read(cli: Cli) -> None:  # noqa: F811
    """Whole ones, and the beginning of a longer one, behind which the next one is found."""
    foreign = cli.target.parent / "foreign"
    with FortranFile(foreign, "w") as file:
        for length in (100, 5000, 4):
            file.write_record(numpy.zeros(length, "u1"))
    steps = [{"open": "f"}, *({"read": {"from": "f", "size": n}} for n in (100, 20, 4))]
    file = {"path": str(foreign), "foreign": True, "keep": False, "shared": "all", **RECORDS}
    done = start(cli, [*steps, {"close": "f"}], file)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (struct.pack("<I4xI", 4, 4), "the record is shorter than what is read"),
        (struct.pack("<I8xI", 8, 9), "the markers of the record differ"),
        (struct.pack("<I4x", 8), "the file ends here"),
    ],
)
def test_what_is_no_record_is_named(cli: Cli, content: bytes, words: str) -> None:  # noqa: F811
    foreign = cli.target.parent / "foreign"
    foreign.write_bytes(content)
    steps = [{"open": "f"}, {"read": {"from": "f", "size": 8}}, {"close": "f"}]
    file = {"path": str(foreign), "foreign": True, "keep": False, "shared": "all", **RECORDS}
    done = start(cli, steps, file)
    assert done.returncode == 3
    assert words in " ".join((done.stdout + done.stderr).split())
