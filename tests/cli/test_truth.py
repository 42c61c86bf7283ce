"""What a record says of silence, damage and single operations."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import warm_start
from cli.conftest import Cli, engines_of, wait_for
from venturi.execute.engine import find_engine

HEAD = "workload: 1\nname: {name}\nparameters: {{np: {{default: 2, role: ranks}}}}\n"


def workload(place: Path, name: str, rest: str) -> str:
    path = place / f"{name}.yaml"
    path.write_text(HEAD.format(name=name) + rest)
    return str(path)


def test_a_stopped_rank_is_in_the_record(cli: Cli, tmp_path: Path) -> None:
    path = workload(
        tmp_path,
        "silent",
        "heartbeat: 1 s\ngroups: {g: {ranks: np}}\nfiles: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n"
        "    - {phase: first, do: [{create: f}, {write: {to: f, transfer: 4 KiB, count: 8}}]}\n"
        "    - phase: second\n      deadline: 10 s\n"
        "      do: [{write: {to: f, transfer: 4 KiB, count: 30000, think: 10 ms}}]\n",
    )
    process = cli.start("run", path, "-d", str(cli.target), "--repeat", "1", "-q")

    def written() -> list[int]:
        return [path.stat().st_size for path in cli.target.rglob("*") if path.is_file()]

    # Both ranks are in the second phase: each has written more than the first one's 32 KiB.
    wait_for(lambda: sum(size > 8 * 4096 for size in written()) == 2)
    os.kill(engines_of(process.pid)[2], signal.SIGSTOP)
    process.communicate(timeout=600)
    assert process.returncode == 3
    record = cli.records()[0]
    host = os.uname().nodename
    assert record["partial"]
    assert record["verdict"]["level"] == "INVALID"
    assert f"rank 1 on {host} completed nothing" in record["failure"]
    assert "(phase second)" in record["failure"]
    assert any(f"rank 1 on {host}: no completion" in word for word in record["warnings"])
    assert [row["path"] for row in record["phases"]] == ["first"]
    assert not list(cli.target.iterdir())


def test_damage_is_listed_beside_the_record(cli: Cli, tmp_path: Path) -> None:
    path = workload(
        tmp_path,
        "damaged",
        "groups: {g: {ranks: np}}\nfiles:\n"
        "  f: {path: f, content: {verify: true},"
        " faults: [{kind: flip, operation: write, nth: 3, every: 10, rank: 1}]}\n"
        "program:\n  g:\n"
        "    - {phase: w, do: [{create: f}, {write: {to: f, transfer: 4 KiB, count: 200}}]}\n"
        "    - {phase: r, do: [{read: {from: f, transfer: 4 KiB, count: 200}}]}\n",
    )
    record = cli.json("run", path, "-d", str(cli.target), "--repeat", "1", code=3)
    row = next(row for row in record["phases"] if row["path"] == "r")
    assert (row["corrupt_operations"], row["corrupt_bytes"]) == (20, 20)
    assert len(row["details"]) == 16
    listed = list(csv.DictReader((cli.store / "runs" / record["id"] / "damage.csv").open()))
    assert len(listed) == 20
    assert {(d["rank"], d["path"], d["damage"], d["bytes"]) for d in listed} == {
        ("1", "f", "flipped", "1")
    }
    expected = [(200 + i) * 4096 + 2048 for i in range(2, 200, 10)]
    assert sorted(int(d["offset"]) for d in listed) == expected
    assert any("20 operations failed" in reason for reason in record["verdict"]["reasons"])


def test_single_operations_are_columns_beside_the_record(cli: Cli, tmp_path: Path) -> None:
    path = workload(
        tmp_path,
        "logged",
        "log_operations: true\ngroups: {g: {ranks: np}}\nfiles: {f: {path: f}}\n"
        "program:\n  g:\n"
        "    - {phase: w, do: [{create: f}, {write: {to: f, transfer: 4 KiB, count: 100}}]}\n"
        "    - {phase: r, do: [{read: {from: f, transfer: 4 KiB, count: 50}}]}\n",
    )
    record = cli.json("run", path, "-d", str(cli.target), "--repeat", "2")
    found = np.load(cli.store / "runs" / record["id"] / "operations.npz")
    names = [str(found["phase_names"][serial - 1]) for serial in found["phase"]]
    kinds = [str(found["kind_names"][kind]) for kind in found["kind"]]
    for name, kind, count in (("w", "write", 100), ("r", "read", 50)):
        chosen = np.array([n == name and k == kind for n, k in zip(names, kinds, strict=True)])
        assert chosen.sum() == 2 * 2 * count
        assert set(found["bytes"][chosen]) == {4096}
        assert set(found["rank"][chosen]) == {0, 1}
        first = chosen & (found["rank"] == 1) & (found["repetition"] == 0)
        begin = 100 * 4096 if name == "w" else 50 * 4096
        assert list(found["offset"][first]) == [begin + i * 4096 for i in range(count)]
        latency = (found["end_ns"] - found["begin_ns"])[chosen]
        row = next(r for r in record["phases"] if r["path"] == name and r["repetition"] == 0)
        assert latency.min() >= 0
        assert latency.max() >= row["by_operation"][kind]["latency_ns"]["min"]
    removed = warm_start.venturi("results", "rm", record["id"], environment=cli.environment())
    assert removed.returncode == 0, removed.stderr


def test_an_engine_that_ends_badly_after_its_last_word_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose memory was found to be damaged when it ended."""
    engine = tmp_path / "engine" / "venturi-engine"
    engine.parent.mkdir()
    ending = "trap 'echo damaged memory >&2; exit 66' EXIT"
    engine.write_text(f'#!/bin/sh\n[ "$1" = run ] && {ending}\n"{find_engine(None)}" "$@"\n')
    engine.chmod(0o755)
    monkeypatch.setenv("VENTURI_ENGINE_DIR", str(engine.parent))
    path = workload(
        tmp_path,
        "ended",
        "groups: {g: {ranks: np}}\nfiles: {f: {path: f, shared: rank}}\n"
        "program:\n  g:\n"
        "    - {phase: first, do: [{create: f}, {write: {to: f, transfer: 4 KiB, count: 8}}]}\n",
    )
    record = cli.json("run", path, "-d", str(cli.target), "--repeat", "1")
    said = "the engine ended with exit code 66 after its last event: damaged memory"
    assert said in record["warnings"]
    assert len(record["phases"]) == 1
    assert said in record["verdict"]["reasons"]
