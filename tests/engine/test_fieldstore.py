"""The field store: what it leaves, in which order it is written, and keys that are not there."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.conftest import Cli, cli  # noqa: F401
from engine.running import Engine
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

FIELD = 10_000
FIELDS = 5
STEPS = 2


def workload(**changes: Any) -> dict[str, Any]:
    """Each of the ranks puts five fields in each of two steps."""
    put = {"to": "f", "transfer": FIELD, "at": f"(step * ranks + rank) * {FIELD * FIELDS}"}
    whole: dict[str, Any] = {
        "workload": 1,
        "name": "keys",
        "parameters": {"np": {"default": 1, "role": "ranks"}},
        "groups": {"g": {"ranks": "np"}},
        "files": {"f": {"path": "a/store", "interface": "fieldstore", "keep": True}},
        "program": {
            "g": [
                {
                    "for": "step",
                    "in": STEPS,
                    "do": [
                        {
                            "phase": "put",
                            "do": [
                                {"when": "step == 0", "do": [{"create": "f"}]},
                                {"write": {**put, "count": FIELDS}},
                                {"sync": {"on": "f", "mode": "fdatasync"}},
                            ],
                        }
                    ],
                },
                {"phase": "end", "do": [{"close": "f"}]},
            ]
        },
    }
    return whole | changes


def run(
    cli: Cli,  # noqa: F811
    data: dict[str, Any],
    ranks: int,
    *words: str,
    code: int = 0,
) -> Any:
    file = cli.target.parent / "w.yaml"
    file.write_text(yaml.safe_dump(data))
    call = ["run", str(file), "-d", str(cli.target), "-n", str(ranks), "--repeat", "1", *words]
    return cli.json(*call, code=code)


def fields_of(toc: Path) -> dict[int, bytes]:
    """All fields of a store by key, read as its description says, without the engine."""
    found = {}
    text = toc.read_bytes()
    assert len(text) % 1024 == 0
    for at in range(0, len(text), 1024):
        magic, offset, size, count, writer = struct.unpack("8sQQQ992s", text[at : at + 1024])
        assert magic == b"VENTOC1\0"
        assert size % 65_536 == 0
        assert offset % 65_536 == 0
        name = f"{toc.name}{writer.rstrip(bytes(1)).decode()}"
        index = toc.with_name(f"{name}.index").read_bytes()[offset : offset + size]
        data = toc.with_name(f"{name}.data").read_bytes()
        for line in range(count):
            key, begin, length, zero = struct.unpack_from("4Q", index, 32 * line)
            assert zero == 0
            assert key not in found
            found[key] = data[begin : begin + length]
    return found


@pytest.mark.parametrize("buffer", ["1 GiB", "25000"])
def test_a_stranger_reads_what_was_put(cli: Cli, buffer: str) -> None:  # noqa: F811
    record = run(cli, workload(), 3, "--set", f"interface.buffer_bytes={buffer}")
    assert record["phases"][0]["flushed"] == "fdatasync"
    (toc,) = cli.target.glob("*/a/store")
    assert toc.stat().st_size == 1024 * 3 * STEPS
    found = fields_of(toc)
    assert sorted(found) == list(range(0, 3 * STEPS * FIELDS * FIELD, FIELD))
    assert {len(field) for field in found.values()} == {FIELD}
    assert all(any(field) for field in found.values())
    assert len(record["left"]) == 7
    cli("results", "rm", "--files", record["id"])
    assert not list(cli.target.iterdir())


@pytest.mark.needs("strace")
def test_a_flush_is_one_write_of_all_fields_then_index_then_table(
    engine: Engine, tmp_path: Path
) -> None:
    target = tmp_path / "run"
    made = make_plan(
        Workload.model_validate_json(json.dumps(workload())),
        RunSettings(repetitions=1, ranks=1, run_directory=str(target), journal=str(tmp_path)),
    )
    (tmp_path / "plan.json").write_text(made.plan.to_json())
    trace = tmp_path / "trace"
    calls = "trace=pwrite64,fdatasync"
    words = ["strace", "-f", "-y", "-s0", "-e", calls, "-o", str(trace), engine.path(), "run"]
    subprocess.run([*words, str(tmp_path / "plan.json")], check=True, capture_output=True)
    pattern = re.compile(r"(pwrite64|fdatasync)\(\d+<[^>]*/store([^>]*)>(?:, \S+, (\d+))?")
    seen = [
        match.groups() for match in map(pattern.search, trace.read_text().splitlines()) if match
    ]
    one = ".00000000-0"
    flush = [
        ("pwrite64", f"{one}.data", str(FIELD * FIELDS)),
        ("fdatasync", f"{one}.data", None),
        ("pwrite64", f"{one}.index", "65536"),
        ("fdatasync", f"{one}.index", None),
        ("pwrite64", "", "1024"),
        ("fdatasync", "", None),
    ]
    assert seen == flush * STEPS


def reading(step: dict[str, Any]) -> dict[str, Any]:
    """Reads instead of closing at the end."""
    data = workload()
    data["files"]["f"]["keep"] = False
    data["program"]["g"][1] = {"phase": "get", "do": [{"read": {"from": "f", **step}}]}
    return data


def test_a_key_that_was_never_put_is_told(cli: Cli) -> None:  # noqa: F811
    step = {"at": STEPS * FIELDS * FIELD, "transfer": FIELD, "count": 1}
    record = run(cli, reading(step), 1, code=3)
    assert "no field has this key" in record["failure"]
    assert not list(cli.target.iterdir())


def test_more_than_the_field_is_refused(cli: Cli) -> None:  # noqa: F811
    record = run(cli, reading({"at": 0, "transfer": FIELD + 1, "count": 1}), 1, code=3)
    assert "fewer bytes" in record["failure"]


def test_dropped_pages_are_those_of_the_data(cli: Cli) -> None:  # noqa: F811
    data = reading({"at": "rank * 100000", "transfer": FIELD, "count": STEPS * FIELDS})
    data["program"]["g"][1]["cache"] = "drop"
    record = run(cli, data, 3)
    (row,) = [row for row in record["phases"] if row["path"] == "get"]
    assert (row["cache"], row["errors"]) == ("cold", 0)


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [
        (0, b"NOTATOC", "table of contents is damaged"),
        (24, struct.pack("<Q", 2**59), "table of contents is damaged"),
        (16, struct.pack("<Q", 2**62), "an index is cut off"),
        (1023, b"x", "table of contents is damaged"),
    ],
)
def test_a_damaged_store_is_told(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    at: int,
    value: bytes,
    told: str,
) -> None:
    damage = tmp_path / "damage.py"
    damage.write_text(
        "import os, pathlib\n"
        "with (pathlib.Path(os.environ['VENTURI_RUN']) / 'a' / 'store').open('r+b') as file:\n"
        f"    file.seek({at})\n"
        f"    file.write({value!r})\n"
    )
    data = reading({"at": 0, "transfer": FIELD, "count": 1})
    spoil = {"phase": "spoil", "do": [{"exec": {"command": f"{sys.executable} {damage}"}}]}
    data["program"]["g"].insert(1, spoil)
    assert told in run(cli, data, 1, code=3)["failure"]
    assert not list(cli.target.iterdir())
