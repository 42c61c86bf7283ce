"""The site's own program is driven, its result imported and packed; here a stand-in for it."""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from compat.conftest import Finished, Tool
from venturi.compat.io500.official import with_settings

STAND_IN = Path(__file__).parent / "official_stand_in.py"


def official(tool: Tool, *words: str) -> Finished:
    binary = tool.target.parent / "io500"
    binary.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    binary.chmod(0o755)
    return tool("run", "io500-official", "-d", ".", "--binary", str(binary), *words)


def packed(tool: Tool, *words: str) -> Any:
    done = official(tool, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_is_imported_and_packed(tool: Tool) -> None:
    (tool.target / "theirs.ini").write_text(
        "; a remark\n[global]\ndatadir = /nowhere\n[ior-easy]\nAPI = MPIIO ; as it is\n"
    )
    found = packed(tool, "--config", "theirs.ini")
    folder = Path(found["folder"])
    assert [path.name for path in tool.target.iterdir()] == ["theirs.ini"]
    ini = (folder / "io500.ini").read_text()
    assert "API = MPIIO ; as it is" in ini
    assert "; a remark" in ini
    assert "/nowhere" not in ini
    result = found["result"]
    assert result["format"] == "c-app"
    assert result["match"]
    assert result["recomputed"]["bw"] == pytest.approx((2 * 0.5 * 3 * 1.5) ** 0.25)
    with tarfile.open(found["archive"]) as pack:
        names = {Path(name).name for name in pack.getnames()}
    assert names >= {
        "result_summary.txt",
        "config.ini",
        "config-orig.ini",
        "io500.ini",
        "io500.sh",
        "system-information.txt",
        "stdout.txt",
    }
    rank = json.loads(tool("results", "rank", "--json").stdout)["rows"]
    assert [row["result"]["key"] for row in rank] == [result["key"]]


def test_what_a_submission_lacks_is_said(tool: Tool) -> None:
    done = official(tool, "--stonewall", "2", "-N", "1")
    assert done.returncode == 3, done.stderr
    text = " ".join(done.stdout.split())
    assert "NOT A SUBMISSION" in text
    assert "not valid: the stonewall was 2 s, the rules want 300 s" in text
    assert "1 client node: awards need at least 10" in text
    assert "lacks institution, system, storage_vendor" in text
    assert "questionnaire" in text
    assert "[RESULT] ior-easy-write" in " ".join(done.stderr.split())


def test_what_the_client_knows_is_filled_in(tool: Tool) -> None:
    found = packed(tool)["information"]
    doctor = json.loads(tool("doctor", ".", "--json").stdout)
    assert found["client_kernel_version"] == doctor["host"]["kernel"]
    assert found["filesystem_type"] == doctor["directory"]["file_system"]["type"]
    assert found["client_total_procs"] == "1"
    assert found["institution"] == ""


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("fail", "ended with 7: io500: storage went away"),
        ("mute", "it wrote no result_summary"),
        ("abort", "ended with 255: FATAL (src/util.c:9) Couldn't create directory /x (Error: No"),
        ("log", "ended with 255: ior ERROR: open64 failed, errno 5"),
        ("signal", "signal 9 (SIGKILL)"),
    ],
)
def test_a_program_that_fails_loses_nothing(
    tool: Tool, way: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENTURI_STAND_IN", way)
    done = official(tool)
    assert done.returncode == 3
    assert words in done.stderr
    assert not list(tool.target.iterdir())
    kept = next((tool.store / "submissions").glob("*/stdout.txt"))
    assert "ior-easy-write" in kept.read_text()
    assert str(kept.parent) in done.stderr


def test_a_run_in_which_find_matches_nothing_is_not_valid(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENTURI_STAND_IN", "lost")
    done = official(tool)
    assert done.returncode == 3, done.stderr
    assert "not valid: find matched no file" in " ".join(done.stdout.split())


def script(tool: Tool, text: str) -> str:
    path = tool.target.parent / "prepare"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_directories_are_set_up_before(tool: Tool) -> None:
    """As for striping: the four directories are there, and what the script says is packed."""
    names = "ior-easy ior-hard mdtest-easy mdtest-hard"
    text = f'for d in {names}; do chmod 700 "$1/$d" && echo "set $d"; done'
    found = packed(tool, "--prepare", script(tool, text))
    folder = Path(found["folder"])
    assert (folder / "prepare.txt").read_text().split() == [
        "set",
        "ior-easy",
        "set",
        "ior-hard",
        "set",
        "mdtest-easy",
        "set",
        "mdtest-hard",
    ]
    with tarfile.open(found["archive"]) as pack:
        assert {"prepare.sh", "prepare.txt"} <= {Path(name).name for name in pack.getnames()}
    assert not list(tool.target.iterdir())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo no such pool; exit 4", "ended with 4: no such pool"),
        ("touch $1/ior-hard/file", "made ior-hard/file"),
        ("mkdir -p $1/mdtest-easy/test-dir.0-0", "made mdtest-easy/test-dir.0-0"),
    ],
)
def test_what_may_not_be_set_up(tool: Tool, text: str, words: str) -> None:
    done = official(tool, "--prepare", script(tool, text))
    assert done.returncode == 2
    assert words in done.stderr
    assert not list(tool.target.iterdir())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--prepare", "nothing"], "there is no such program"),
        (["--mode", "quick"], "knows standard and extended"),
        (["--set", "stonewall=3"], "takes its settings from --config"),
        (["-n", "2"], "need the MPI that it was built with"),
        (["--config", "none.ini"], "no config.ini of io500"),
        (["--dry-run"], "has no plan"),
        (["--stonewall", "2.5"], "a whole number of seconds"),
    ],
)
def test_what_is_refused(tool: Tool, words: list[str], reason: str) -> None:
    done = official(tool, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not list(tool.target.iterdir())
    assert not tool.store.exists()


def test_a_binary_that_is_none(tool: Tool) -> None:
    done = tool("run", "io500-official", "-d", ".")
    assert (done.returncode, "--binary PATH" in done.stderr) == (2, True)
    (tool.target / "text").write_text("no program")
    done = tool("run", "io500-official", "-d", ".", "--binary", "text")
    assert (done.returncode, "there is no such program" in done.stderr) == (2, True)
    done = tool("run", "quick", "-d", ".", "--binary", "text")
    assert (done.returncode, "belongs to io500-official" in done.stderr) == (2, True)


@pytest.mark.needs("openmpi")
def test_two_ranks_by_a_launcher(tool: Tool) -> None:
    assert shutil.which("mpirun.openmpi"), "missing: openmpi-bin"
    found = packed(tool, "-n", "2", "--on", "openmpi")
    assert "mpirun.openmpi" in (Path(found["folder"]) / "io500.sh").read_text()
    assert found["information"]["client_total_procs"] == "2"


def test_settings_are_put_where_they_belong() -> None:
    text = "[Global]\nDataDir = x\nscc = TRUE\n[find]\ndatadir = y\n"
    found = with_settings(text, {("global", "datadir"): "z", ("debug", "stonewall-time"): "3"})
    assert found == (
        "[Global]\ndatadir = z\nscc = TRUE\n[find]\ndatadir = y\n[debug]\nstonewall-time = 3\n"
    )
