"""The library's io500: its operations are the official ones, and so is its score."""

from __future__ import annotations

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, settings_beside
from venturi.compat.io500.own import result_of
from venturi.compat.io500.score import BANDWIDTH, METADATA, score
from venturi.model.published import Io500Phase
from venturi.model.record import Record

ORDER = [
    "ior-easy-write",
    "mdtest-easy-write",
    "timestamp",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
]
RANKS, EASY_ITEMS, HARD_ITEMS, SEGMENTS = 3, 120, 110, 40
EASY_BLOCK = 8 << 20
SMALL = {
    "easy_items": EASY_ITEMS,
    "hard_items": HARD_ITEMS,
    "hard_segments": SEGMENTS,
    "easy_block": EASY_BLOCK,
}
"""A run that its counts end, not its stonewall."""


def run(cli: Cli, *words: str, code: int = 0) -> Any:
    base = ["run", "io500", "-d", str(cli.target), "-n", str(RANKS)]
    limit = [] if "--stonewall" in words else ["--stonewall", "30"]
    return cli.json(*base, *limit, *settings_beside(SMALL, words), *words, code=code)


def test_counts_and_order_are_the_official_ones(cli: Cli) -> None:
    record = run(cli, "--repeat", "2")
    assert not list(cli.target.iterdir())
    rows = [row for row in record["phases"] if row["repetition"] == 1]
    assert [row["path"] for row in rows] == ORDER
    by_path = {row["path"]: row for row in rows}
    assert not any(row["errors"] for row in rows)

    def count(path: str, kind: str) -> int:
        number: int = by_path[path]["by_operation"][kind]["operations"]
        return number

    easy, hard = EASY_BLOCK * RANKS, 47008 * SEGMENTS * RANKS
    assert [by_path[p]["bytes"] for p in BANDWIDTH] == [easy, hard, easy, hard]
    assert count("ior-easy-write", "write") == easy // (2 << 20)
    assert count("ior-hard-read", "read") == SEGMENTS * RANKS
    for path, kind in (("mdtest-easy-write", "create"), ("mdtest-easy-stat", "stat")):
        assert count(path, kind) == EASY_ITEMS * RANKS
    assert count("mdtest-easy-delete", "unlink") == EASY_ITEMS * RANKS
    assert by_path["mdtest-hard-write"]["bytes"] == 3901 * HARD_ITEMS * RANKS
    assert by_path["mdtest-hard-read"]["bytes"] == 3901 * HARD_ITEMS * RANKS
    assert count("mdtest-hard-delete", "unlink") == HARD_ITEMS * RANKS
    # Names of mdtest-hard that have 01 in them, of all those of the right size and newer.
    names = [f"file.mdtest.{r}.{i}" for r in range(RANKS) for i in range(HARD_ITEMS)]
    assert by_path["find"]["found"] == sum("01" in name for name in names) > 0
    # All files, ior-easy, mdtest-easy, mdtest-hard, ior-hard, test-dir.0-0 twice, trees.
    files = RANKS * (1 + EASY_ITEMS + HARD_ITEMS) + 2
    assert by_path["find"]["operations"] == files + 6 + RANKS + 1


def test_the_score_is_the_official_formula(cli: Cli) -> None:
    record = run(cli)
    kinds = {"find": "find", "mdtest-hard-read": "open"}
    phases = []
    for row in record["phases"]:
        seconds = row["seconds"]["total"]
        if row["path"] in BANDWIDTH:
            value = row["bytes"] / seconds / 2**30
        elif row["path"] in METADATA:
            verb = row["path"].rsplit("-", 1)[-1]
            known = {"write": "create", "stat": "stat", "delete": "unlink"}
            kind = kinds.get(row["path"]) or known[verb]
            value = row["by_operation"][kind]["operations"] / seconds / 1000
        else:
            continue
        unit: Any = "GiB/s" if row["path"] in BANDWIDTH else "kIOPS"
        phases.append(Io500Phase(name=row["path"], value=value, unit=unit, seconds=seconds))
    official = score(phases)
    assert "score_extended" not in record["metrics"]
    for name, value in (
        ("bandwidth", official.bw),
        ("metadata", official.md),
        ("score", official.score),
    ):
        assert value is not None
        assert math.isclose(record["metrics"][name]["value"], value, rel_tol=1e-9), name


def test_the_verdict_names_the_rules_that_were_broken(cli: Cli) -> None:
    record = run(cli)
    assert record["verdict"]["level"] == "INDICATIVE"
    [use] = [use for use in record["verdict"]["use"] if use["what"] == "rank"]
    assert (use["allowed"], use["rule_set"]) == (False, "io500")
    reasons = "\n".join(use["broken"])
    assert "the stonewall was 30 s, the rules want 300 s" in reasons
    assert "mdtest-hard-write took" in reasons
    assert "one node: what is read was written on the same node" in reasons
    assert "1 of the 10 client nodes" in reasons
    broken = {row["name"] for row in record["rules"] if not row["holds"]}
    assert broken >= {"stonewall", "other_client", "ten_nodes", "ior_easy_write_time"}
    assert not broken & {"sizes", "found"}


def test_a_find_that_matches_nothing_is_invalid(cli: Cli) -> None:
    """As the official program has it; no name of so few has 01 in it."""
    record = run(cli, "--set=hard_items=50", code=3)
    assert record["verdict"]["level"] == "INVALID"
    assert "find matched no file" in " ".join(record["verdict"]["reasons"])


def test_no_setting_changes_what_the_rules_are(cli: Cli) -> None:
    done = cli("run", "io500", "-d", str(cli.target), "--set=least=1 s")
    assert done.returncode == 2
    assert "least" in done.stderr
    for students, wanted_s in ((0, 300), (1, 30)):
        record = run(cli, f"--set=students={students}", "--stonewall", "3")
        broken = " ".join(text for use in record["verdict"]["use"] for text in use["broken"])
        assert f"the stonewall was 3 s, the rules want {wanted_s} s" in broken


@pytest.mark.needs("strace")
def test_offsets_and_names_of_every_rank(cli: Cli, tmp_path: Path) -> None:
    """By strace: what the official programs' formulas give."""
    ranks, items, segments, block = 2, 5, 3, 3
    small = [f"easy_items={items}", f"hard_items={items}", f"hard_segments={segments}"]
    sets = [f"--set={text}" for text in (*small, f"easy_block={block * 2} MiB")]
    line = cli.line("run", "io500", "-d", str(cli.target), "-n", str(ranks), "-q", *sets)
    out = tmp_path / "calls"
    calls = ["strace", "-f", "-o", str(out), "-e", "trace=openat,openat2,pwrite64,unlinkat"]
    quiet = subprocess.DEVNULL
    done = subprocess.run([*calls, *line], check=False, env=cli.environment(), stdout=quiet)
    assert done.returncode == 3  # so few names that find matches none
    text = out.read_text()
    created = re.findall(r'open\w*\(\d+, "([^"]*)".*O_CREAT', text)
    easy = {f"ior-easy/ior_file_easy.{rank:08d}" for rank in range(ranks)}
    names = [f"file.mdtest.{rank}.{item}" for rank in range(ranks) for item in range(items)]
    assert {name for name in created if "ior" in name} == easy | {"ior-hard/file"}
    assert sorted(name for name in created if "mdtest" in name) == sorted(2 * names)
    writes = re.findall(r"^(\d+) +pwrite64\(.*, (\d+), (\d+)(?:\)| <)", text, re.MULTILINE)
    by_process: dict[str, list[tuple[int, int]]] = {}
    for process, size, offset in writes:
        by_process.setdefault(process, []).append((int(size), int(offset)))
    expected = [
        [
            *((2 << 20, (2 << 20) * request) for request in range(block)),
            *((47008, (segment * ranks + rank) * 47008) for segment in range(segments)),
            *((3901, 0) for _ in range(items)),
        ]
        for rank in range(ranks)
    ]
    assert sorted(by_process.values()) == sorted(expected)
    # -N 1: three turns on, who deletes is another than who made, here with two ranks.
    deleted: dict[str, list[str]] = {}
    for process, name in re.findall(r'^(\d+) +unlinkat\(\d+, "(file.mdtest[^"]*)"', text, re.M):
        deleted.setdefault(process, []).append(name)
    makers = {
        process: name.split(".")[2]
        for process, name in re.findall(r'^(\d+) +openat\(\d+, "(file[^"]*)".*O_CREAT', text, re.M)
    }
    for process, gone in deleted.items():
        if process in makers:
            assert {name.split(".")[2] for name in gone} == {str(1 - int(makers[process]))}


def test_the_extended_mode_adds_its_phases(cli: Cli) -> None:
    sets, made, objects = 10, 12, 7
    words = [f"--set=work_made={made}", f"--set=work_objects={objects}"]
    record = run(cli, "--mode", "extended", *words)
    rows = {row["path"]: row for row in record["phases"]}
    done = rows["mdworkbench-bench"]["by_operation"]
    for kind in ("stat", "open", "read", "unlink", "create", "write"):
        assert done[kind]["operations"] == RANKS * sets * objects, kind
    assert rows["mdworkbench-create"]["by_operation"]["create"]["operations"] == RANKS * sets * made
    assert rows["mdworkbench-delete"]["by_operation"]["unlink"]["operations"] == RANKS * sets * made
    assert not any(row["errors"] for row in record["phases"])
    assert not list(cli.target.iterdir())
    phases = result_of(Record.model_validate_json(json.dumps(record))).phases
    extended = score(phases, extended=True)
    assert extended.score is not None
    assert extended.score != score(phases).score
    value = record["metrics"]["score_extended"]["value"]
    assert math.isclose(value, extended.score, rel_tol=1e-9)
    found = {
        row["path"]: row["found"] for row in record["phases"] if row["path"].startswith("find")
    }
    easy = [f"file.mdtest.{r}.{i}" for r in range(RANKS) for i in range(EASY_ITEMS)]
    hard = [f"file.mdtest.{r}.{i}" for r in range(RANKS) for i in range(HARD_ITEMS)]
    assert found["find-easy"] == sum("01" in name for name in easy)
    assert found["find-hard"] == sum("01" in name for name in hard)
    assert found["find"] == found["find-hard"]


def test_the_extended_mode_of_2021_has_random_phases(cli: Cli) -> None:
    """At their places of that time, and in the score."""
    block = 1 << 20
    words = ["--set=work_made=4", "--set=work_objects=2", f"--set=random_block={block}"]
    record = run(cli, "--mode", "extended-2021", *words)
    paths = [row["path"] for row in record["phases"]]
    order = [
        "ior-easy-write",
        "ior-rnd4K-write",
        "mdtest-easy-write",
        "ior-rnd1MB-write",
        "mdworkbench-create",
        "timestamp",
        "find-easy",
        "ior-hard-write",
        "mdtest-hard-write",
        "find",
        "ior-rnd4K-read",
        "ior-rnd1MB-read",
        "find-hard",
    ]
    assert paths[: len(order)] == order
    assert not any(row["errors"] for row in record["phases"])
    rows = {row["path"]: row for row in record["phases"]}
    for size, name in ((4096, "rnd4K"), (1 << 20, "rnd1MB")):
        for verb in ("write", "read"):
            row = rows[f"ior-{name}-{verb}"]
            assert row["bytes"] == RANKS * block
            assert row["by_operation"][verb]["operations"] == RANKS * block // size
    phases = result_of(Record.model_validate_json(json.dumps(record))).phases
    extended = score(phases, extended=True)
    names = ("bandwidth_extended", "metadata_extended", "score_extended")
    for name, value in zip(names, (extended.bw, extended.md, extended.score), strict=True):
        assert value is not None
        assert math.isclose(record["metrics"][name]["value"], value, rel_tol=1e-9)
    assert not list(cli.target.iterdir())


def test_random_phases_end_at_the_stonewall(cli: Cli) -> None:
    """And what they wrote till then is read, all of it and nothing else."""
    words = ["--set=work_made=4", "--set=work_objects=2", "--stonewall", "0.2"]
    base = ["run", "io500", "-d", str(cli.target), "-n", str(RANKS), "--json"]
    base += settings_beside(SMALL, [])
    done = cli(*base, "--mode", "extended-2021", *words)
    # On a slow machine so few names are made in that time that find matches none of them.
    assert done.returncode in (0, 3), done.stderr
    record = json.loads(done.stdout)
    assert not set(record["verdict"]["reasons"]) - {"find matched no file"} or not done.returncode
    rows = {row["path"]: row for row in record["phases"]}
    for name in ("rnd4K", "rnd1MB"):
        written, found = rows[f"ior-{name}-write"], rows[f"ior-{name}-read"]
        assert written["stopped_by"] in ("limit", "deadline")
        assert 0 < written["bytes"] < RANKS << 30
        assert found["bytes"] == written["bytes"]
        assert found["per_rank"]["bytes"] == written["per_rank"]["bytes"]
    assert not any(row["errors"] for row in record["phases"])
    assert not list(cli.target.iterdir())
