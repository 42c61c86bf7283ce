"""LIME: files that a stranger reads, and the time of the rank that writes them for all."""

from __future__ import annotations

import re
import struct
import zlib
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


SHAPE, SITE_BYTES = (3, 5, 2, 7), 24
LATTICE_BYTES = 210 * SITE_BYTES
IN_TURN = {"pattern": "strided", "transfer": 84, "count": 20}
BY_PARTS = {"transfer": 100, "size": LATTICE_BYTES // 3}


def of_a_lattice(how: dict[str, Any], record: str) -> dict[str, Any]:
    """All sites are written; then some of them once more."""
    made = workload(record)
    made["parameters"] |= {"x": 3, "t": 7}
    made["files"]["f"]["content"] = {}
    made["files"]["f"]["options"]["lattice"] = "{x} 5 2 {t}"
    again = {"to": "f", "at": "1001 + 10 * rank", "size": 10}
    made["program"]["g"] = [
        {"phase": "save", "do": [{"create": "f"}, {"write": {"to": "f", **how}}, {"close": "f"}]},
        {
            "phase": "change",
            "do": [{"open": "f"}, {"write": again}, {"close": "f"}],
        },
    ]
    return made


def sums_of(sites: bytes) -> list[int]:
    """CRC-32 of each site, turned by its number: as USQCD describes them."""
    sums = [0, 0]
    for number, at in enumerate(range(0, len(sites), SITE_BYTES)):
        crc = zlib.crc32(sites[at : at + SITE_BYTES])
        for i, modulus in enumerate((29, 31)):
            turns = number % modulus
            sums[i] ^= (crc << turns | crc >> (32 - turns)) & 0xFFFFFFFF
    return sums


@pytest.mark.parametrize(
    ("how", "machine", "changed"),
    [
        (IN_TURN, "local", False),
        (BY_PARTS, "local", False),
        (IN_TURN, "local", True),
        (IN_TURN, "mpich", False),
    ],
)
@pytest.mark.parametrize("record", ["scidac-binary-data", "ildg-binary-data"])
def test_a_stranger_finds_the_checksums_of_all_sites(
    cli: Cli,  # noqa: F811
    how: dict[str, Any],
    machine: str,
    changed: bool,
    record: str,
) -> None:
    made = of_a_lattice(how, record)
    if not changed:
        del made["program"]["g"][1]
    run(cli, made, "--on", machine)
    (path,) = cli.target.glob("*/f.lime")
    records = records_of(path)
    by_kind = {kind: content.decode() for kind, _, content in records if kind != record}
    (flags, sites), (kind, end, said) = records[-2][1:], records[-1]
    assert (flags, kind, end, len(sites)) == (0, "scidac-checksum", ENDS, LATTICE_BYTES)
    found = re.findall("<sum[ab]>([0-9a-f]+)</sum", said.decode())
    assert [int(each, 16) for each in found] == sums_of(sites)
    assert "<spacetime>4</spacetime><dims>3 5 2 7 </dims>" in by_kind["scidac-private-file-xml"]
    sizes = "<typesize>6</typesize><datacount>4" if record[0] == "i" else "<typesize>24</typesize>"
    assert sizes in by_kind["scidac-private-record-xml"]
    if record[0] == "i":
        extents = "<lx>3</lx><ly>5</ly><lz>2</lz><lt>7</lt>"
        assert f"<precision>64</precision>{extents}" in by_kind["ildg-format"]


@pytest.mark.parametrize(
    ("lattice", "told"),
    [
        ("3 5 2 11", "5040 bytes are not as many for each of 330 sites"),
        ("3 5 2", "'3 5 2' are no extents"),
        ("{x} {y} 1 1", "unknown name 'y'"),
    ],
)
def test_a_lattice_that_cannot_be_is_refused(
    cli: Cli,  # noqa: F811
    lattice: str,
    told: str,
) -> None:
    made = of_a_lattice(IN_TURN, "scidac-binary-data")
    made["files"]["f"]["options"]["lattice"] = lattice
    file = cli.target.parent / "w.yaml"
    file.write_text(yaml.safe_dump(made))
    done = cli("run", str(file), "-d", str(cli.target), "--repeat", "1")
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not list(cli.target.iterdir())
