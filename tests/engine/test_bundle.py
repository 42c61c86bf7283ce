"""Bundles: pieces of several ranks that a stranger reads, compressed or not; what is no bundle."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.conftest import Cli, cli  # noqa: F401

PIECE = 30_011
WRITE, READ = {"transfer": PIECE, "count": 2}, {"transfer": PIECE, "count": 2}


def workload(level: int = 0, shared: str = "every 2", **content: Any) -> dict[str, Any]:
    """Each rank writes two pieces; two ranks share a file, the last one has one alone."""
    return {
        "workload": 1,
        "name": "pieces",
        "parameters": {"np": {"default": 3, "role": "ranks"}},
        "groups": {"g": {"ranks": "np"}},
        "files": {
            "f": {
                "path": "f",
                "shared": shared,
                "interface": "bundle",
                "options": {"zlib": level},
                "keep": True,
                "content": content,
            }
        },
        "program": {
            "g": [
                {
                    "phase": "save",
                    "do": [{"create": "f"}, {"write": {"to": "f", **WRITE}}, {"close": "f"}],
                },
                {
                    "phase": "load",
                    "do": [{"open": "f"}, {"read": {"from": "f", **READ}}, {"close": "f"}],
                },
            ]
        },
    }


def run(cli: Cli, data: dict[str, Any], *words: str, code: int = 0) -> Any:  # noqa: F811
    file = cli.target.parent / "w.yaml"
    file.write_text(yaml.safe_dump(data))
    call = ["run", str(file), "-d", str(cli.target), "--repeat", "1", *words]
    return cli.json(*call, code=code)


def pieces_of(path: Path) -> tuple[dict[int, bytes], int]:
    """All pieces by their places, read as the description says, and the bytes of the data."""
    text = path.read_bytes()
    index, count, word = struct.unpack("<QQ8s", text[-24:])
    assert word == b"VENBNDL1"
    assert index + 32 * count + 24 == len(text)
    found, end = {}, 0
    for place, size, at, stored in sorted(
        struct.iter_unpack("<4Q", text[index:-24]), key=lambda row: row[2]
    ):
        assert at == end
        end = at + stored
        data = text[at:end]
        found[place] = zlib.decompress(data) if stored < size else data
        assert len(found[place]) == size
    assert end == index
    return found, end


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("machine", ["local", "openmpi", "mpich"])
def test_a_stranger_reads_the_pieces(cli: Cli, machine: str, level: int) -> None:  # noqa: F811
    made = run(cli, workload(level, compressibility=0.5, duplicates=0), "--on", machine)
    save, load = made["phases"]
    assert (save["errors"], load["errors"]) == (0, 0)
    assert save["bytes"] == load["bytes"] == 6 * PIECE
    files = sorted(cli.target.glob("*/f.*"))
    assert [path.name for path in files] == ["f.00000000", "f.00000001"]
    stored = 0
    for path, ranks in zip(files, (2, 1), strict=True):
        pieces, data = pieces_of(path)
        assert sorted(pieces) == [i * PIECE for i in range(2 * ranks)]
        assert len(set(pieces.values())) == 2 * ranks
        stored += data
    assert save["bytes_saved"] == 6 * PIECE - stored
    assert load["bytes_saved"] == 0
    if level:
        assert stored == pytest.approx(3 * PIECE, rel=0.1)
    else:
        assert stored == 6 * PIECE


@pytest.mark.parametrize("shared", ["all", "rank", "node"])
@pytest.mark.parametrize("level", [0, 1])
def test_what_is_read_is_what_was_written(cli: Cli, level: int, shared: str) -> None:  # noqa: F811
    made = run(cli, workload(level, shared, verify=True))
    assert [row["errors"] for row in made["phases"]] == [0, 0]
    assert made["phases"][1]["corrupt_bytes"] == 0
    assert made["phases"][1]["bytes"] == 6 * PIECE


def test_what_cannot_be_made_smaller_stays_as_it_is(cli: Cli) -> None:  # noqa: F811
    made = run(cli, workload(9, "all"), "-n", "1")
    assert made["phases"][0]["bytes_saved"] == 0
    (path,) = cli.target.glob("*/f")
    assert pieces_of(path)[1] == 2 * PIECE


@pytest.mark.parametrize("step", [{"transfer": PIECE - 1}, {"transfer": PIECE, "at": 7}])
def test_a_piece_is_read_as_a_whole(cli: Cli, step: dict[str, Any]) -> None:  # noqa: F811
    data = workload()
    data["program"]["g"][1]["do"][1] = {"read": {"from": "f", "count": 1, **step}}
    record = run(cli, data, "-n", "1", code=3)
    assert "read what one write put there, as a whole" in str(record)


@pytest.mark.parametrize("end", ["cut", "foreign"])
def test_what_is_no_bundle_is_not_opened(cli: Cli, end: str) -> None:  # noqa: F811
    run(cli, workload(shared="all"), "-n", "1")
    (path,) = cli.target.glob("*/f")
    text = path.read_bytes()
    path.write_bytes(text[:-8] if end == "cut" else b"no index " * 100)
    data = workload(shared="all")
    data["files"]["f"] |= {"path": str(path), "foreign": True, "keep": False}
    del data["program"]["g"][0]
    file = path.with_name("w.yaml")
    file.write_text(yaml.safe_dump(data))
    done = cli("run", str(file), "-d", str(cli.target), "-n", "1", "--repeat", "1")
    assert done.returncode == 3
    said = " ".join((done.stdout + done.stderr).split())
    assert "this is no bundle, or its writer did not close it" in said


def test_a_file_is_whole_at_every_sync(cli: Cli) -> None:  # noqa: F811
    """The index behind the last sync counts, and holds what was put before it, too."""
    data = workload(shared="all")
    data["program"]["g"][0]["do"][1:2] = [
        {"write": {"to": "f", **WRITE}},
        {"sync": {"on": "f", "mode": "fsync"}},
        {"write": {"to": "f", **WRITE, "at": "(2 * ranks + 2 * rank) * 30011"}},
    ]
    run(cli, data, "-n", "2")
    (path,) = cli.target.glob("*/f")
    text = path.read_bytes()
    assert text.count(b"VENBNDL1") == 2
    index, count, _ = struct.unpack("<QQ8s", text[-24:])
    assert count == 8
    places = [row[0] for row in struct.iter_unpack("<4Q", text[index:-24])]
    assert places == [i * PIECE for i in range(8)]


def test_sharers_may_be_an_expression(cli: Cli) -> None:  # noqa: F811
    data = workload(shared="every few + 1")
    data["parameters"]["few"] = 1
    run(cli, data)
    assert len(list(cli.target.glob("*/f.*"))) == 2


@pytest.mark.parametrize(("shared", "why"), [("every 0", "1 or more"), ("every rank", "rank")])
def test_sharers_are_one_number(cli: Cli, shared: str, why: str) -> None:  # noqa: F811
    file = cli.target.parent / "w.yaml"
    file.write_text(yaml.safe_dump(workload(shared=shared)))
    done = cli("run", str(file), "-d", str(cli.target))
    assert done.returncode == 2
    assert "files.f.shared" in done.stderr
    assert why in done.stderr
