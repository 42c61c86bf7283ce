"""The official ini as settings: what it sets, what is refused, and in which words."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from compat.conftest import Tool
from venturi.compat.io500.arguments import Io500Arguments, chosen
from venturi.compat.io500.ini import read_ini
from venturi.model.error import UserError


def ini(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.ini"
    path.write_text(text)
    return path


def test_todays_keys(tmp_path: Path) -> None:
    path = ini(
        tmp_path,
        "[global]\ndatadir = ./datafiles\ntimestamp-datadir = TRUE\nscc = TRUE\nverbosity = 1\n"
        "[debug]\nstonewall-time = 30 ; short\n[ior-easy]\ntransferSize = 4m\nblockSize = 72000m\n"
        "[ior-easy-read]\nAPI =\n[mdtest-easy]\nAPI = POSIX\nn = 500000\n[ior-hard]\n"
        "segmentCount = 95000\n[mdtest-hard]\nn = 7\n[find]\nnproc = 4\n"
        "[mdworkbench]\nprecreatePerSet = 40\nfilesPerProc = 30\n",
    )
    found = read_ini(path)
    assert found.assignments == {
        "stonewall": "30 s",
        "least": "30 s",
        "easy_transfer": f"{4 << 20} B",
        "easy_block": f"{72000 << 20} B",
        "easy_items": "500000",
        "hard_segments": "95000",
        "hard_items": "7",
        "work_made": "40",
        "work_objects": "30",
    }
    assert found.notes == ["datadir of the ini is not used: -d and --store say where"]


def test_keys_of_older_generations(tmp_path: Path) -> None:
    path = ini(
        tmp_path,
        "[ior-easy-write]\nnoRun = FALSE\n[ior-easy]\nposix.odirect = TRUE\n[ior-rnd4K]\n"
        "blockSize = 1073741824\nrandomPrefill = 0\n"
        "run = FALSE\n[ior-rnd1MB-write]\nAPI = POSIX\n[ior-rnd4K-easy-read]\n"
        "[ior-hard]\nhintsFileName =\ncollective = FALSE\n[mdworkbench]\nwaitingTime = 0.1\n",
    )
    found = read_ini(path)
    assert found.assignments == {}
    assert found.notes == ["the ini leaves [ior-rnd4k] out, the profile runs all phases"]
    assert found.direct == ("easy",)
    assert not found.drop_caches


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[ior-easy]\nblokSize = 1g\n", "no io500 has a key 'bloksize' in [ior-easy]"),
        ("[ior-eazy]\nblockSize = 1g\n", "no io500 has a section [ior-eazy]"),
        ("[ior-easy]\nblockSize = much\n", "blocksize = much: a number above 0 is needed"),
        ("[debug]\nstonewall-time = -3\n", "a number above 0 is needed"),
        ("[global]\napi = MPIIO\n", "the profile does its I/O by POSIX"),
        ("[ior-easy]\nfilePerProc = FALSE\n", "another benchmark"),
        ("[mdtest-hard]\nfiles-per-dir = 10\n", "another benchmark"),
        ("[ior-hard]\nposix.odirect = TRUE\n", "[ior-hard] asks for O_DIRECT"),
        ("[ior-easy-read]\nAPI = POSIX --posix.odirect\n", "[ior-easy-read] asks for O_DIRECT"),
        ("n = 3\n", "'n' stands before the first [section]"),
        ("", "this is no config.ini"),
        ("\x00\x01\x02", "this is no config.ini"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        read_ini(ini(tmp_path, text))
    assert words in error.value.message
    assert "\n" not in error.value.message


def test_caches_that_are_kept_out(tool: Tool) -> None:
    """Data is read from storage, and the easy files go past the page cache."""
    (tool.target / "c.ini").write_text(
        "[global]\ndrop-caches = TRUE\n[ior-easy]\nblockSize = 4m\nposix.odirect = TRUE\n"
        "[ior-hard]\nsegmentCount = 9\n[mdtest-easy]\nn = 9\n[mdtest-hard]\nn = 9\n"
    )
    done = tool("run", "io500", "-d", ".", "-n", "2", "--config", "c.ini", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert any("caches of data are dropped" in text for text in record["warnings"])
    shares = {row["path"]: row["cached_share"] for row in record["phases"]}
    assert shares["ior-easy-read"] == shares["ior-hard-read"] == 0
    assert record["workload"]["files"]["easy"]["options"] == {"direct": True}
    written = (tool.store / "runs" / record["id"] / "workload.yaml").read_text()
    # Both IOR reads, mdtest-hard-read, and the three random reads of extended modes.
    assert written.count("cache: drop") == 6


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        read_ini(tmp_path / "nothing.ini")
    with pytest.raises(UserError, match="this is no regular file"):
        read_ini(tmp_path)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_stonewall_that_cannot_be(seconds: float) -> None:
    with pytest.raises(UserError, match="seconds above 0 are needed"):
        chosen("io500", Io500Arguments(stonewall_s=seconds), 2, 1)


def test_the_command_line_goes_before_the_ini(tmp_path: Path) -> None:
    path = ini(tmp_path, "[debug]\nstonewall-time = 30\n[mdtest-hard]\nn = 9\n")
    found = chosen("io500", Io500Arguments(stonewall_s=5, mode="extended", config=path), 8, 2)
    assert found.assignments == {
        "stonewall": "5 s",
        "hard_items": "9",
        "extended": "1",
        "apart": "4",
        "stride": "4",
    }


def test_other_workloads_have_no_such_options() -> None:
    assert chosen("ior", Io500Arguments(), 2, 1).assignments == {}
    with pytest.raises(UserError, match="belong to io500, not to ior"):
        chosen("ior", Io500Arguments(stonewall_s=5), 2, 1)
