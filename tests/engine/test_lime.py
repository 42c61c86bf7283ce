"""LIME: files that a stranger reads, and the time of the rank that writes them for all."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.conftest import Cli, cli  # noqa: F401

SITES = 30_011
MAGIC = 1_164_413_355
BEGINS, ENDS = 0x8000, 0x4000


def workload(record: str, keep: bool = True) -> dict[str, Any]:
    """All ranks write a lattice through one of them, then read it in the place of others."""
    step = {"size": "block(30011, ranks, rank)", "transfer": 1000}
    place = {"at": "rank * (30011 // ranks) + min(rank, 30011 % ranks)"}
    return {
        "workload": 1,
        "name": "lattice",
        "parameters": {"np": {"default": 3, "role": "ranks"}},
        "groups": {"g": {"ranks": "np"}},
        "files": {
            "f": {
                "path": "f.lime",
                "interface": "lime",
                "options": {"record": record},
                "keep": keep,
                "content": {"verify": True},
            }
        },
        "program": {
            "g": [
                {
                    "phase": "save",
                    "do": [
                        {"create": "f"},
                        {"write": {"to": "f", **step, **place}},
                        {"close": "f"},
                    ],
                },
                {
                    "phase": "load",
                    "do": [{"open": "f"}, {"read": {"from": "f", **step, **place}}, {"close": "f"}],
                },
            ]
        },
    }


def run(cli: Cli, data: dict[str, Any], *words: str) -> Any:  # noqa: F811
    file = cli.target.parent / "w.yaml"
    file.write_text(yaml.safe_dump(data))
    return cli.json("run", str(file), "-d", str(cli.target), "--repeat", "1", *words)


def records_of(path: Path) -> list[tuple[str, int, bytes]]:
    """Type, flags and content of each record, read as the format's description says."""
    text = path.read_bytes()
    found, at = [], 0
    while at < len(text):
        magic, version, flags, size, kind = struct.unpack(">IHHQ128s", text[at : at + 144])
        assert (magic, version) == (MAGIC, 1)
        content = text[at + 144 : at + 144 + size]
        assert len(content) == size
        found.append((kind.rstrip(bytes(1)).decode(), flags, content))
        at += 144 + -(-size // 8) * 8
    assert at == len(text)
    return found


@pytest.mark.parametrize("record", ["scidac-binary-data", "ildg-binary-data"])
def test_a_stranger_reads_the_records(cli: Cli, record: str) -> None:  # noqa: F811
    made = run(cli, workload(record))
    assert [row["errors"] for row in made["phases"]] == [0, 0]
    (path,) = cli.target.glob("*/f.lime")
    records = records_of(path)
    ildg = [("ildg-format", 0)] if record.startswith("ildg") else []
    assert [(kind, flags) for kind, flags, _ in records] == [
        ("scidac-private-file-xml", BEGINS),
        ("scidac-file-xml", ENDS),
        ("scidac-private-record-xml", BEGINS),
        ("scidac-record-xml", 0),
        *ildg,
        (record, ENDS),
    ]
    lattice = records[-1][2]
    assert len(lattice) == SITES
    assert all(any(lattice[at : at + 64]) for at in range(0, SITES - 64, 64))


@pytest.mark.parametrize("machine", ["local", "openmpi", "mpich"])
def test_serving_is_a_part_of_the_transfer(cli: Cli, machine: str) -> None:  # noqa: F811
    made = run(cli, workload("scidac-binary-data", keep=False), "--on", machine)
    for row in made["phases"]:
        assert 0 < row["seconds"]["serving"] < row["seconds"]["transfer"]
    assert not list(cli.target.iterdir())


def test_alone_nobody_is_served(cli: Cli) -> None:  # noqa: F811
    made = workload("scidac-binary-data", keep=False)
    made["files"]["f"]["shared"] = "rank"
    for phase in made["program"]["g"]:
        phase["do"][1][next(iter(phase["do"][1]))]["at"] = 0
    record = run(cli, made)
    assert [row["seconds"]["serving"] for row in record["phases"]] == [0, 0]
    assert [row["errors"] for row in record["phases"]] == [0, 0]


def test_what_is_no_lime_is_told(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    strange = tmp_path / "strange.lime"
    strange.write_bytes(bytes(range(256)) * 4)
    data = workload("scidac-binary-data")
    data["files"]["f"] = {"path": str(strange), "interface": "lime", "foreign": True}
    data["program"]["g"] = [
        {"phase": "load", "do": [{"read": {"from": "f", "size": 100, "at": 0}}]}
    ]
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump(data))
    done = cli("run", str(file), "-d", str(cli.target), "-n", "1", "--repeat", "1")
    assert done.returncode != 0
    assert "no LIME file" in " ".join((done.stdout + done.stderr).split())
