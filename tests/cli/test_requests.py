"""`venturi plan --requests`: what one rank does, one line for each operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Cli

WORKLOAD = """workload: 1
name: two-files
parameters: {np: {default: 3, role: ranks}}
groups: {g: {ranks: np}}
files: {f: {path: "f.{rank}", shared: rank}, s: {path: s}}
program:
  g:
    - {phase: make, do: [{create: f}, {write: {to: f, transfer: 100, count: 2}}, {close: f}]}
    - phase: log
      do: [{create: s}, {write: {to: s, pattern: append, transfer: 7, count: 1}}, {close: s}]
"""
LINES = """phase\toperation\toffset\tbytes\tpath
make\tcreate\t-\t0\tf.1
make\twrite\t0\t100\tf.1
make\twrite\t100\t100\tf.1
make\tclose\t-\t0\tf.1
log\topen\t-\t0\ts
log\twrite\t-\t7\ts
log\tclose\t-\t0\ts
"""


@pytest.fixture
def workload(tmp_path: Path) -> str:
    path = tmp_path / "two-files.yaml"
    path.write_text(WORKLOAD, "utf-8")
    return str(path)


def test_lines_and_the_document_say_the_same(cli: Cli, workload: str) -> None:
    done = cli("plan", workload, "--requests", "1")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", LINES)
    document = cli.json("plan", workload, "--requests", "1")
    assert document["rank"] == 1
    names, *rows = [line.split("\t") for line in LINES.splitlines()]
    assert [list(one) for one in document["operations"]] == [names] * len(rows)
    values = [
        ["-" if v is None else str(v) for v in one.values()] for one in document["operations"]
    ]
    assert values == rows


def test_a_rank_that_does_nothing_is_a_whole_document(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rank-0.yaml"
    body = "{phase: p, do: [{when: rank == 0, do: [{create: f}, {close: f}]}]}"
    head = WORKLOAD.partition("program")[0]
    path.write_text(f"{head}program: {{g: [{body}]}}\n", "utf-8")
    first, other = (cli.json("plan", str(path), "--requests", rank) for rank in "01")
    assert [one["operation"] for one in first["operations"]] == ["create", "close"]
    assert other == {"rank": 1, "operations": []}


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_only_a_run_knows_is_said_before_the_first_line(cli: Cli, form: list[str]) -> None:
    done = cli("plan", "io500", "-n", "2", "--requests", "0", *form)
    assert (done.returncode, done.stdout) == (2, "")
    assert "phase 'find': what 'find' meets is known in a run only" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--requests", "3"], "there is no rank 3\n  ranks are 0 to 2"),
        (["--requests", "-1"], "not in the range"),
        (["--requests", "0", "--vary", "np=1,2"], "--requests follows one workload"),
    ],
)
def test_what_cannot_be_followed(cli: Cli, workload: str, words: list[str], told: str) -> None:
    done = cli("plan", workload, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_reader_that_has_seen_enough_ends_it(cli: Cli) -> None:
    """However many operations there are: they are printed as they are worked out."""
    large = ["--set", "block=1 PiB", "--set", "transfer=1 KiB"]
    endless = cli.start("plan", "ior", "-n", "1", *large, "--requests", "0")
    assert endless.stdout is not None
    lines = [endless.stdout.readline() for _ in range(1000)]
    endless.stdout.close()
    endless.wait(timeout=60)
    assert len(set(lines)) == 1000
    assert lines[-1].startswith("write\twrite\t")
