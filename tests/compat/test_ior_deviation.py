"""The deviations of docs/compatibility/ior.md: each row has its test, here or where it is named."""

from __future__ import annotations

import ast
import json
import re
import shlex
import zlib
from pathlib import Path

import pytest

import venturi
from compat.compatibility import DOCS
from compat.conftest import Tool

MIB = 1 << 20
TESTS = Path(__file__).parent
TESTED_BY = {
    "system calls of a transfer": "test_ior_calls.test_one_call_and_one_fsync_for_a_transfer",
    "tables of `savePerOpDataCSV`": "test_ior_operation.test_writes_and_reads_do_not_share_a_table",
    "option `-Y`": "test_ior_calls.test_one_call_and_one_fsync_for_a_transfer",
    "exit code after bad data": (
        "test_ior_command.test_128_bad_transfers_are_found_and_do_not_exit_0"
    ),
    "data": "test_ior_deviation.test_every_word_differs_and_nothing_compresses",
    "options `-R`, `-W`": "test_ior_command.test_128_bad_transfers_are_found_and_do_not_exit_0",
    "column `Latency(s)`": "test_ior_deviation.test_the_latency_is_the_mean_of_all_transfers",
    "bandwidth of `saveRankPerformanceDetailsCSV`": (
        "test_ior_output.test_details_of_the_ranks_are_their_own"
    ),
    "figures `Stonewall(MiB)`, `StoneWallbwMeanMIB`": (
        "test_ior_output.test_the_stonewall_is_the_mean_tasks_bandwidth"
    ),
    "wear-out": "test_ior_deviation.test_the_wear_out_has_an_end_and_says_so",
    "JSON": "test_ior_output.test_json_is_precise_and_adds_up",
    "JSON's `data packet type`": "test_ior_deviation.test_the_kind_of_data_has_its_own_letter",
    "clock": "test_ior_deviation.test_times_are_finer_than_microseconds",
    "text's `Max Write:`, `Max Read:`": "test_ior_output.test_readers_of_the_best_rate_find_it",
    "field `Version`": "test_ior_deviation.test_the_version_says_who_ran_it",
    "a read after `-D`": "test_ior_run.test_a_deadline_with_barriers_and_calls_together",
    "options `-w -zz`": (
        "test_ior_calls.test_blocks_by_chance_lie_where_blocks_do_and_are_moved_in_order"
    ),
    "47008-byte transfers with O_DIRECT": (
        "test_ior_command.test_transfers_that_o_direct_refuses_are_a_clear_error"
    ),
}
"""Row to the test that fails when it is no longer true."""


def test_every_deviation_has_a_test() -> None:
    text = (DOCS / "ior.md").read_text("utf-8").partition("## Where our numbers differ")[2]
    rows = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", text, re.MULTILINE)
    assert set(rows) - {"what"} == set(TESTED_BY)
    for name in TESTED_BY.values():
        module, _, test = name.partition(".")
        tree = ast.parse((TESTS / f"{module}.py").read_text("utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def document(tool: Tool, words: str) -> dict:
    """What `ior-json` prints of two tasks."""
    own = ["-q", "-n", "2", "--output-format", "ior-json"]
    done = tool("ior", *own, "--", *shlex.split(words), "-o", "./f")
    assert done.returncode == 0, done.stderr
    found: dict = json.loads(done.stdout)
    return found


def only_phase(tool: Tool) -> dict:
    """The row of the only phase of the only run."""
    (record,) = tool.store.glob("runs/*/record.json")
    (phase,) = json.loads(record.read_text("utf-8"))["phases"]
    found: dict = phase
    return found


@pytest.mark.parametrize("kind", ["timestamp", "offset", "incompressible", "random"])
def test_every_word_differs_and_nothing_compresses(tool: Tool, kind: str) -> None:
    words = ["-w", "-W", "-k", "-t", "64k", "-b", "1m", "-l", kind, "-o", "./f"]
    assert tool("ior", "-q", "-n", "2", "--", *words).returncode == 0
    (path,) = tool.target.glob("venturi-*/f")
    data = path.read_bytes()
    assert len({data[i : i + 8] for i in range(0, len(data), 8)}) == len(data) // 8 == 2 * MIB // 8
    assert len(zlib.compress(data)) > len(data)


def test_the_latency_is_the_mean_of_all_transfers(tool: Tool) -> None:
    """Only task 0 is slow, and IOR's would be its latency alone: twice what is possible here."""
    slow = "-a DUMMY --dummy.delay-xfer 20000 --dummy.delay-only-rank0"
    found = document(tool, f"-w -t 4k -b 64k {slow}")
    latency = found["tests"][0]["Results"][0]["latency"]
    ranks = only_phase(tool)["per_rank"]
    assert sum(ranks["operations"]) > 2 * 16
    assert sum(ranks["transfer_s"]) <= latency * 2 * 16 * (1 + 1e-6)
    assert latency * 2 * 16 <= sum(ranks["total_s"]) * (1 + 1e-6)


def test_the_wear_out_has_an_end_and_says_so(tool: Tool) -> None:
    """Task 0 has made some transfers when the time is over, and task 1 hundreds of thousands."""
    slow = "-a DUMMY --dummy.delay-xfer 50000 --dummy.delay-only-rank0"
    document(tool, f"-w -t 4k -b 64g -D 1 -O stoneWallingWearOut=1 {slow}")
    phase = only_phase(tool)
    assert phase["stopped_by"] == "deadline"
    first, second = phase["per_rank"]["operations"]
    assert first < second
    (record,) = tool.store.glob("runs/*/record.json")
    reasons = json.loads(record.read_text("utf-8"))["verdict"]["reasons"]
    assert "write: ended at its deadline before all ranks did the same count" in reasons


@pytest.mark.parametrize("letter", "toir")
def test_the_kind_of_data_has_its_own_letter(tool: Tool, letter: str) -> None:
    found = document(tool, f"-w -t 4k -b 4k -l {letter}")
    assert found["tests"][0]["Parameters"]["data packet type"] == letter


def test_times_are_finer_than_microseconds(tool: Tool) -> None:
    found = document(tool, "-w -r -t 4k -b 64k -i 3")
    times = [row["totalTime"] for row in found["tests"][0]["Results"] if "bwMiB" in row]
    assert len(times) == 6
    assert any(abs(time * 1e6 - round(time * 1e6)) > 1e-3 for time in times)


def test_the_version_says_who_ran_it(tool: Tool) -> None:
    assert document(tool, "-w -t 4k -b 4k")["Version"] == f"4.1.0+venturi-{venturi.__version__}"
