"""Limits of the shell that are too low: one sentence that names them, and the right exit code."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Cli, Finished
from venturi.model.limit import is_exhausted

TINY = (
    "workload: 1\nname: tiny\nfiles: {f: {path: f}}\n"
    "program: {all: [{phase: p, do: [{create: f}, {write: {to: f, size: 4 KiB}}]}]}\n"
)


def limited(cli: Cli, limit: str, *words: str) -> Finished:
    line = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *cli.line(*words)]
    return subprocess.run(
        line, capture_output=True, text=True, env=cli.environment(), timeout=600, check=False
    )


@pytest.mark.parametrize("files", [6, 8])
def test_too_few_open_files(cli: Cli, tmp_path: Path, files: int) -> None:
    workload = tmp_path / "tiny.yaml"
    workload.write_text(TINY)
    done = limited(cli, f"-n {files}", "run", str(workload), "-d", str(cli.target), "-q")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "venturi: Too many open files",
        "  the limits of this shell or system are too low: "
        f"allowed are {files} open files (ulimit -n)",
    ]
    assert not list(cli.target.iterdir())


@pytest.mark.parametrize("limit", ["-n 16", "-v 2000000"])
def test_a_page_where_figures_cannot_be_drawn_has_tables(
    cli: Cli, tmp_path: Path, limit: str
) -> None:
    """The drawing library would end the process: V8 reserves 64 GiB of addresses."""
    workload, page = tmp_path / "tiny.yaml", tmp_path / "page.html"
    workload.write_text(TINY)
    assert cli("run", str(workload), "-d", str(cli.target), "--repeat", "1").returncode == 0
    done = limited(cli, limit, "report", "@last", "-o", str(page))
    assert done.returncode == 0, done.stderr
    assert "not drawn: this needs a limit of at least" in page.read_text()
    assert "<svg" not in page.read_text()
    assert cli("report", "@last", "-o", str(page)).returncode == 0
    assert "not drawn" not in page.read_text()


def test_what_runs_out_is_told_from_other_errors() -> None:
    assert is_exhausted(OSError(errno.EMFILE, "Too many open files"))
    assert is_exhausted(MemoryError())
    assert is_exhausted(RuntimeError("can't start new thread"))
    assert not is_exhausted(OSError(errno.ENOSPC, "No space left on device"))
    assert not is_exhausted(RuntimeError("another"))
