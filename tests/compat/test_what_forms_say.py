"""Other tools' forms of output say what is wrong, and options say which data are written."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest

from compat.conftest import Finished, Tool
from venturi.compat.validity import comment_lines
from venturi.model.record import Level, Record, Verdict

PAGE = 4096


def ior(tool: Tool, words: str, *own: str) -> Finished:
    return tool("ior", "-q", *own, "--", *shlex.split(words), "-o", "./f")


def kept(tool: Tool) -> list[Path]:
    found = tool.target.glob("venturi-*/**/*")
    return sorted(path for path in found if path.is_file() and path.name != ".venturi")


def equal_pages(blob: bytes) -> float:
    pages = [hashlib.sha1(blob[at : at + PAGE]).digest() for at in range(0, len(blob), PAGE)]
    return 1 - len(set(pages)) / len(pages)


def test_a_seed_at_the_write_lets_a_later_test_check(tool: Tool) -> None:
    write = ior(tool, "-w -k -F -G 27 -b 64k -t 4k", "-n", "2")
    assert write.returncode == 0, write.stderr
    fine = ior(tool, "-r -R -k -F -G 27 -b 64k -t 4k", "-n", "2")
    assert fine.returncode == 0, fine.stdout + fine.stderr
    for path in kept(tool):
        spoiled = bytearray(path.read_bytes())
        spoiled[9000] ^= 4
        path.write_bytes(spoiled)
    bad = ior(tool, "-r -R -k -F -G 27 -b 64k -t 4k", "-n", "2", "--output-format", "ior-text")
    assert bad.returncode == 3
    lines = bad.stdout.splitlines()
    assert "WARNING: Incorrect data on read (2 errors found)." in lines
    assert any(line.startswith("# INVALID: ") for line in lines)
    assert "INVALID: " in bad.stderr


@pytest.mark.parametrize("form", ["ior-json", "ior-csv"])
def test_forms_without_remarks_say_it_on_stderr(tool: Tool, form: str) -> None:
    assert ior(tool, "-w -W -k -b 64k -t 4k").returncode == 0
    (path,) = kept(tool)
    path.write_bytes(path.read_bytes()[:40_000] + bytes(24 * 1024))
    words = "-r -R -b 64k -t 4k --warningAsErrors"
    bad = ior(tool, words, "--output-format", form)
    assert bad.returncode == 3
    assert "ERROR: Incorrect data on read" in bad.stderr
    assert "INVALID: " in bad.stderr


@pytest.mark.parametrize("kind", ["", "-l random", "-l incompressible", "-l timestamp"])
def test_transfers_are_all_different(tool: Tool, kind: str) -> None:
    assert ior(tool, f"-w -k -b 1m -t 4k -i 2 -m {kind}", "-n", "2").returncode == 0
    assert equal_pages(b"".join(path.read_bytes() for path in kept(tool))) == 0


def test_the_payload_of_ior_is_to_be_had(tool: Tool) -> None:
    done = ior(tool, "-w -k -b 1m -t 4k", "-n", "2", "--payload", "ior")
    assert done.returncode == 0, done.stderr
    (path,) = kept(tool)
    assert equal_pages(path.read_bytes()) == 1 - 2 / 512
    refused = ior(tool, "-w -r -R", "--payload", "ior")
    assert refused.returncode == 2
    assert "cannot be told apart" in refused.stderr


def test_a_failure_is_told_with_its_reason() -> None:
    verdict = Verdict(level=Level.INVALID, reasons=["the run failed"])
    record = Record.model_construct(verdict=verdict, failure="mkdir of x failed: No such file")
    assert comment_lines([record]) == [
        "# INVALID: the run failed",
        "# failed: mkdir of x failed: No such file",
    ]


def test_the_verdict_stands_in_mdtests_and_workbenchs_output(tool: Tool) -> None:
    done = tool("mdtest", "-q", "--output-format", "mdtest-text", "--", "-n", "10", "-F", "-d", "t")
    assert done.returncode == 0, done.stderr
    version, remark = [line for line in done.stdout.splitlines() if line.startswith("# ")]
    assert version.startswith("# venturi ")
    assert remark[2:] in done.stderr
    other = tool(
        "md-workbench",
        "-q",
        "--output-format",
        "md-workbench-text",
        "--",
        "-o",
        "w",
        "-I",
        "3",
        "-P",
        "3",
        "-D",
        "1",
    )
    assert other.returncode == 0, other.stderr
    assert "INDICATIVE" in other.stderr
