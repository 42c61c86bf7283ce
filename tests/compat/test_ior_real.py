"""Commands that IOR itself ran under Darshan: our plan of each has the totals that were counted."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from venturi.compat.ior_run import Choices, make_ready, plan_of
from venturi.compat.ior_script import read_command_line
from venturi.execute.launcher import machine_named

EXAMPLES = Path(__file__).parents[2] / "examples" / "darshan"
RUNS = sorted(path.parent for path in EXAMPLES.glob("ior_*/command.txt"))
BINARY = ("POSIX", "MPIIO")
"""Interfaces of IOR of whose files every byte is data."""
ZZ_FILE_BYTES = 2 * 64 * (64 << 10)


def command_of(run: Path) -> tuple[int, list[str]]:
    """Ranks and IOR's own words."""
    match = re.match(r"(\d+) ranks: \S*/ior (.*)", (run / "command.txt").read_text("utf-8"))
    assert match is not None
    return int(match[1]), shlex.split(match[2])


def counted(run: Path) -> Counter[str]:
    """Sums of Darshan's POSIX counters over all files and ranks; of POSIX_MAX_*, the largest."""
    sums: Counter[str] = Counter()
    for line in (run / "counters.txt").read_text("utf-8").splitlines():
        words = line.split("\t")
        if len(words) < 5 or words[0] != "POSIX" or "/scratch/" not in words[5]:
            continue
        name, value = words[3], int(float(words[4]))
        sums[name] = max(sums[name], value) if "_MAX_" in name else sums[name] + value
    return sums


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_the_plan_has_the_totals_of_iors_own_run(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ranks, words = command_of(run)
    (test,) = read_command_line([*words, "-o", "./f"])
    if not test.writes:
        (tmp_path / "f").touch()
        with (tmp_path / "f").open("r+b") as file:
            file.truncate(ZZ_FILE_BYTES)
    choices = Choices(machine_named("local"), tmp_path, ["venturi"], words, ranks=ranks)
    totals = plan_of(make_ready(test, choices)).totals
    theirs = counted(run)
    volume = ranks * test.segments * test.block_bytes
    assert totals.bytes_written == (volume if test.writes else 0)
    assert totals.bytes_read == (volume if test.reads else 0)
    if test.api not in BINARY:
        return
    assert totals.bytes_written == theirs["POSIX_BYTES_WRITTEN"]
    assert totals.bytes_read == theirs["POSIX_BYTES_READ"]
    if test.collective:
        return  # aggregators merged the requests
    assert totals.operations["write"] == theirs["POSIX_WRITES"]
    assert totals.operations["read"] == theirs["POSIX_READS"]
    syncs = theirs["POSIX_FSYNCS"]
    assert totals.operations["sync"] == (syncs // 2 if test.fsync_each else syncs)
