"""Phases with a limit, and what later phases find of their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli

HEAD = (
    "workload: 1\nname: limited\nparameters: {np: {default: 3, role: ranks}}\n"
    "groups: {g: {ranks: np}}\n"
)


def run(cli: Cli, tmp_path: Path, text: str, *words: str) -> list[dict[str, Any]]:
    path = tmp_path / "w.yaml"
    path.write_text(HEAD + text)
    record = cli.json("run", str(path), "-d", str(cli.target), "--repeat", "2", *words)
    assert not list(cli.target.iterdir())
    phases: list[dict[str, Any]] = record["phases"]
    assert len({row["repetition"] for row in phases}) == 2
    return phases


def test_later_phases_take_the_items_that_were_made(cli: Cli, tmp_path: Path) -> None:
    text = (
        "files:\n  t: {path: t, tree: {items: 100000000, size: 10 B}}\nprogram:\n  g:\n"
        "    - phase: make\n      limit: {after: 100 ms, bound: 10 s}\n"
        "      do: [{each: {on: t, do: [create, write, close]}}]\n"
        "    - {phase: stat, do: [{stat: t, from: next node}]}\n"
        "    - {phase: read, do: [{read: t, from: shift 2}]}\n"
        "    - {phase: remove, do: [{unlink: t}]}\n"
    )
    # Inodes and space are checked before a run: plan few, then let the limit be the shorter.
    text = text.replace("100000000", "200000")
    for repetition in range(2):
        rows = {r["path"]: r for r in run(cli, tmp_path, text) if r["repetition"] == repetition}
        made = rows["make"]["by_operation"]["create"]["operations"]
        assert rows["make"]["stopped_by"] == "limit"
        assert 0 < made < 600000
        assert rows["stat"]["by_operation"]["stat"]["operations"] == made
        assert rows["read"]["by_operation"]["read"]["bytes"] == made * 10
        assert rows["remove"]["by_operation"]["unlink"]["operations"] == made
        assert not any(row["errors"] for row in rows.values())


@pytest.mark.parametrize("pattern", ["contiguous", "segmented", "random"])
def test_reads_end_where_a_limited_write_ended(cli: Cli, tmp_path: Path, pattern: str) -> None:
    shape = {
        "contiguous": "size: 512 MiB",
        "segmented": "pattern: segmented, block: 16 KiB, segments: 32768",
        "random": "pattern: random, size: 512 MiB",
    }[pattern]
    writes = "size: 512 MiB" if pattern == "random" else shape
    shared = "rank" if pattern == "random" else "all"
    text = (
        f"files:\n  f: {{path: f, shared: {shared}, content: {{verify: true}}}}\nprogram:\n  g:\n"
        "    - phase: write\n      limit: {after: 60 ms, bound: 20 s}\n      do:\n"
        f"        - create: f\n        - write: {{to: f, transfer: 4 KiB, {writes}}}\n"
        "        - sync: fsync\n        - close: f\n"
        f"    - phase: read\n      do: [{{read: {{from: f, transfer: 1 KiB, {shape}}}}}]\n"
    )
    if pattern == "segmented":
        text = text.replace("transfer: 1 KiB", "transfer: 4 KiB")
    rows = run(cli, tmp_path, text)
    for write, read in zip(rows[::2], rows[1::2], strict=True):
        assert write["stopped_by"] == "limit"
        assert 0 < write["bytes"] < 3 * 512 * 2**20
        assert read["bytes"] == write["bytes"]
        assert read["errors"] == 0


def test_what_ends_the_work_is_done_after_the_limit(cli: Cli, tmp_path: Path) -> None:
    text = (
        "files:\n  f: {path: f, shared: rank}\nprogram:\n  g:\n    - phase: write\n"
        "      limit: {after: 50 ms, bound: 20 s}\n      do:\n        - create: f\n"
        "        - write: {to: f, transfer: 4 KiB, size: 256 MiB}\n"
        "        - sync: fsync\n        - close: f\n"
    )
    for row in run(cli, tmp_path, text):
        assert row["stopped_by"] == "limit"
        assert row["flushed"] == "fsync"
        assert row["by_operation"]["sync"]["operations"] == 3
        assert row["by_operation"]["close"]["operations"] == 3


def test_a_shared_file_cut_short_is_not_read_at_random(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(
        HEAD + "files: {f: {path: f}}\nprogram:\n  g:\n    - phase: write\n"
        "      limit: {after: 20 ms, bound: 20 s}\n"
        "      do: [{create: f}, {write: {to: f, transfer: 4 KiB, size: 512 MiB}}, {close: f}]\n"
        "    - phase: read\n"
        "      do: [{read: {from: f, pattern: random, transfer: 4 KiB, size: 512 MiB}}]\n"
    )
    done = cli("run", str(path), "-d", str(cli.target), "--repeat", "1")
    assert done.returncode == 3
    assert "without a limit" in " ".join((done.stdout + done.stderr).split())
