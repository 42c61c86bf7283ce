"""Commands that do no I/O of their own: help, plan, library, doctor, and the docs' examples."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Cli
from venturi.cli.main import COMMANDS
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

ROOT = Path(__file__).parents[2]
HEAVY = {"pydantic", "rich", "numpy", "yaml", "jinja2", "vl_convert", "darshan"}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, contextlib\nsys.argv = ['venturi', '--help']\n"
        "from venturi.cli.main import main\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    loaded = {name.strip("' ").split(".")[0] for name in done.stderr.strip("[]\n").split(",")}
    assert not loaded & HEAVY


def test_an_interrupt_while_commands_are_loaded_is_one_like_any_other() -> None:
    code = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from venturi.__main__ import start\n"
        "start()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli: Cli, command: str) -> None:
    done = cli(command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_plan_as_json(cli: Cli) -> None:
    summary = cli.json("plan", "flash3", "--scale", "paper")
    assert summary["schema"] == "venturi.plan-summary/1"
    assert summary["ranks"] == 64
    assert summary["totals"]["bytes_written"] == 81_920_000_000
    assert summary["expect"] == [
        {
            "name": "bytes_written",
            "expected": 81_920_000_000,
            "planned": 81_920_000_000,
            "holds": True,
        }
    ]


def test_what_a_limit_may_cut_is_told_as_the_most(cli: Cli) -> None:
    summary = cli.json("plan", "quick", "--set", "limit=3 s")
    assert {"phase": "create", "seconds": 3.0} in summary["limits"]
    assert len(summary["limits"]) == 7
    text = cli("plan", "quick", "--set", "limit=3 s").stdout
    assert "AT MOST" in text
    assert "and 1 more after 3.00 s" in " ".join(text.split())
    assert cli.json("plan", "flash3")["limits"] == []
    assert "EXACTLY" in cli("plan", "flash3").stdout


def test_a_broken_promise_is_an_error(cli: Cli, tmp_path: Path) -> None:
    text = cli("library", "show", "flash3").stdout.replace("dumps * np", "dumps * 3 * np")
    (tmp_path / "w.yaml").write_text(text)
    done = cli("plan", str(tmp_path / "w.yaml"))
    assert done.returncode == 2
    assert "DIFFERS" in done.stdout


@pytest.mark.needs("mpich", "openmpi")
def test_doctor(cli: Cli) -> None:
    found = cli.json("doctor", str(cli.target))
    assert found["directory"]["usable"]
    built = {entry["name"]: entry["built"] for entry in found["interfaces"]}
    assert all(built.values()), [name for name, here in built.items() if not here]
    reasons = {entry["name"]: entry["reason"] for entry in found["interfaces"]}
    assert reasons["mpiio"] == "needs MPI ranks: --on openmpi or --on mpich"
    assert reasons["posix"] == ""
    assert reasons["pnetcdf"] == (
        "needs MPI ranks: --on openmpi; "
        "not with mpich: PnetCDF is installed for openmpi only: use that engine"
    )
    assert {entry["name"] for entry in found["engines"] if entry["built"]} == {
        "venturi-engine",
        "venturi-engine-openmpi",
        "venturi-engine-mpich",
    }
    libraries = {entry["name"]: entry["libraries"] for entry in found["engines"]}
    versions = {
        "venturi-engine": r"liburing \d+\.\d+ HDF5 [\d.]+ netCDF [\d.]+ zlib [\d.]+ "
        r"librados [\d.]+",
        "venturi-engine-openmpi": r"Open MPI v[\d.]+ liburing .* HDF5 .* PnetCDF .* zlib .*",
        "venturi-engine-mpich": r"MPICH [\d.]+ liburing .* HDF5 .* netCDF .* zlib .*",
    }
    for name, pattern in versions.items():
        assert re.fullmatch(pattern, " ".join(libraries[name]))
    assert libraries["venturi-engine"][0] in cli("doctor", str(cli.target)).stdout
    assert cli("doctor", str(cli.target / "none")).returncode == 0


def test_examples_in_the_language_s_page_can_be_planned() -> None:
    text = (ROOT / "docs" / "workload.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.S)
    assert blocks
    for block in blocks:
        made = make_plan(parse_yaml(block, "docs/workload.md", Workload), RunSettings())
        assert all(expectation.holds for expectation in made.expectations)


def test_the_readme_s_commands_work(cli: Cli, tmp_path: Path) -> None:
    """Every line of the README that starts with `venturi`, in order; `quick` in a small size."""
    text = (ROOT / "README.md").read_text("utf-8")
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    commands = [words[1:] for words in lines if words[:1] == ["venturi"]]
    assert {words[0] for words in commands} >= {"doctor", "run", "derive", "plan", "report"}
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    small = ["--repeat", "1", "--set", "large=1 MiB", "--set", "limit=50 ms"]
    for words in commands:
        extra = small if words[:2] == ["run", "quick"] else []
        done = subprocess.run(
            cli.line(*words, *extra),
            capture_output=True,
            text=True,
            timeout=600,
            env=cli.environment(),
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
    assert (tmp_path / "quick.html").exists()


@pytest.mark.parametrize(
    "words", ["library show flash3", "library ls", "results ls", "plan quick", "doctor", "--help"]
)
def test_a_reader_that_wants_no_more_is_no_fault(cli: Cli, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(
            cli.line(*words.split()),
            stdout=gone,
            stderr=subprocess.PIPE,
            env=cli.environment(),
            timeout=600,
            check=False,
        )
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_64_forked_ranks_start(cli: Cli) -> None:
    record = cli.json(
        "run",
        "flash3",
        "-d",
        str(cli.target),
        "-n",
        "64",
        "--repeat",
        "1",
        "--set",
        "interface=null",
        "--set",
        "think=0 s",
        "--set",
        "dumps=1",
    )
    assert {row["ranks"] for row in record["phases"]} == {64}
