"""Command lines and lines of output that scripts of IOR, mdtest, md-workbench and fio rely on."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from compat.conftest import TOOLS, Finished, Tool
from venturi.compat.ior_interface import hints_of_environment, reach
from venturi.compat.ior_script import read_command_line
from venturi.compat.option import in_words_of
from venturi.model.error import UserError


def run(tool: Tool, name: str, words: str, *own: str) -> Finished:
    return tool(name, "-q", *own, "--", *shlex.split(words))


def test_hints_of_the_environment_reach_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOR_HINT__MPI__romio_cb_write", "enable")
    for api, hints in (("MPIIO", {"romio_cb_write": "enable"}), ("POSIX", {})):
        (test,) = read_command_line(["-w", "-a", api])
        assert reach(test, 1 << 20).hints == hints


def test_a_hints_file_stands_above_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hints"
    file.write_text("IOR_HINT__MPI__a=file\nIOR_HINT__MPI__b=file\n")
    monkeypatch.setenv("IOR_HINT__MPI__a", "environment")
    monkeypatch.setenv("IOR_HINT__MPI__c", "environment")
    (test,) = read_command_line(["-w", "-a", "MPIIO", f"--mpiio.hintsFileName={file}"])
    assert reach(test, 1 << 20).hints == {"a": "file", "b": "file", "c": "environment"}


@pytest.mark.parametrize("name", ["IOR_HINT__GPFS__x", "IOR_HINT__MPI__", "IOR_HINT__x"])
def test_hints_that_nobody_takes_are_refused(name: str) -> None:
    with pytest.raises(UserError, match=name):
        hints_of_environment({name: "1"})


@pytest.mark.parametrize("bundle", ["-z-k", "-zk", "-z-k-e", "-kez"])
def test_dashes_inside_of_a_bundle_only_part_flags(bundle: str) -> None:
    (test,) = read_command_line(["-w", bundle, "-t", "4k"])
    (apart,) = read_command_line(["-w", *(f"-{one}" for one in bundle if one != "-"), "-t", "4k"])
    assert test == apart


def test_a_dash_at_the_end_of_a_bundle_is_no_option() -> None:
    with pytest.raises(UserError, match="no option --"):
        read_command_line(["-w", "-k-"])


@pytest.mark.parametrize("name", TOOLS)
def test_help_lists_the_options_and_runs_nothing(tool: Tool, name: str) -> None:
    done = run(tool, name, "-h")
    assert done.returncode == 0, done.stderr
    assert f"docs/compatibility/{name}.md" in done.stdout
    assert re.search(r"^  --?[A-Za-z]", done.stdout, re.MULTILINE)
    assert not list(tool.target.iterdir())


@pytest.mark.parametrize(
    ("name", "option"), [("ior", "-w"), ("mdtest", "-z"), ("md-workbench", "-D"), ("fio", "--bs")]
)
def test_an_option_of_the_tool_before_the_dashes_says_where_it_belongs(
    tool: Tool, name: str, option: str
) -> None:
    done = tool(name, option, "1")
    assert done.returncode == 2
    assert f"venturi compat {name} -- {option}" in done.stderr


def test_advice_never_names_an_option_that_the_commands_lack() -> None:
    told = in_words_of("ior", UserError("not built here", "run it with --set interface=posix"))
    assert "--set" not in told.hint
    assert "-a" in told.hint
    other = UserError("what", "another hint")
    assert in_words_of("ior", other) is other


def test_mdtest_without_items_makes_its_trees(tool: Tool) -> None:
    done = run(tool, "mdtest", "-z 1 -b 2 -d .", "--output-format", "mdtest-text")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^   Tree creation +[0-9.]+", done.stdout, re.MULTILINE)
    assert "File creation" not in done.stdout


def test_mdtest_s_first_line_and_its_rows_with_v(tool: Tool) -> None:
    done = run(tool, "mdtest", "-n 4 -F -v -i 2 -d .", "--output-format", "mdtest-text")
    assert done.returncode == 0, done.stderr
    head = r"^mdtest-([\d.]+) was launched with (\d+) total task\(s\) on (\d+) node\(s\)\s*$"
    assert re.search(head, done.stdout, re.MULTILINE)
    rows = re.findall(
        r"^V-1: +(File \w+) *: +[\d.]+ sec, +[\d.]+ ops/sec$", done.stdout, re.MULTILINE
    )
    assert rows == [f"File {what}" for what in ("creation", "stat", "read", "removal")] * 2


def test_ior_says_when_phases_begin_and_what_was_moved(tool: Tool) -> None:
    words = "-w -r -vvv -t 4k -b 64k -O stoneWallingWearOutIterations=3 -d 0.1 -o ./f"
    done = run(tool, "ior", words, "--output-format", "ior-text")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for access in ("write", "read"):
        [at] = [i for i, line in enumerate(lines) if line.startswith(f"Commencing {access} ")]
        assert lines[at + 1] == "WARNING: Expected aggregate file size       = 65536"
        assert lines[at + 2] == "WARNING: Using actual aggregate bytes moved = 12288"
        assert lines[at + 3].startswith(access)
    whole = run(tool, "ior", "-w -t 4k -b 64k -o ./f", "--output-format", "ior-text")
    assert "aggregate bytes" not in whole.stdout
    assert "Commencing" not in whole.stdout


def test_md_workbench_goes_on_where_it_ended(tool: Tool) -> None:
    common = "-D 2 -P 5 -I 3 -R 2 -S 10 -o . --run-info-file ./pos"
    assert run(tool, "md-workbench", f"{common} -1 -2").returncode == 0
    assert (tool.target / "pos").read_text() == "pos: 6\n"
    assert run(tool, "md-workbench", f"{common} -2").returncode == 0
    assert (tool.target / "pos").read_text() == "pos: 12\n"
    names = {path.name for path in tool.target.glob("venturi-*/0_0/file-*")}
    assert {f"file-{i}" for i in range(12, 17)} <= names
    assert run(tool, "md-workbench", f"{common} -2 --read-only").returncode == 0
    assert (tool.target / "pos").read_text() == "pos: 12\n"
    (tool.target / "pos").write_text("here\n")
    done = run(tool, "md-workbench", f"{common} -2")
    assert done.returncode == 2
    assert "--run-info-file ./pos" in done.stderr


def test_md_workbench_s_tables_have_a_row_of_each_step(tool: Tool) -> None:
    words = "-D 2 -P 4 -I 3 -R 2 -S 10 -o . -L ./lat"
    assert run(tool, "md-workbench", words, "-n", "2").returncode == 0
    found = {path.name: path.read_text().splitlines() for path in tool.target.glob("lat-*")}
    steps = [
        f"lat-0.00-{n}-{step}.csv" for n in (0, 1) for step in ("read", "stat", "create", "delete")
    ]
    assert set(found) == {*steps, "lat-0.00-0-precreate.csv", "lat-0.00-0-cleanup.csv"}
    for name, lines in found.items():
        assert lines[0] == "time,runtime"
        assert len(lines) == 1 + (8 if "pre" in name or "clean" in name else 6), name
        assert all(float(line.split(",")[1]) >= 0 for line in lines[1:])
    assert run(tool, "md-workbench", f"{words}all --latency-all", "-n", "2").returncode == 0
    assert len((tool.target / "latall-0.00-1-read-all.csv").read_text().splitlines()) == 1 + 12


def test_md_workbench_s_keys_mean_what_they_mean_there(tool: Tool) -> None:
    done = run(tool, "md-workbench", "-D 1 -P 4 -I 3 -o .", "--output-format", "md-workbench-text")
    assert done.returncode == 0, done.stderr
    keys = set(re.findall(r" (\w+)\([0-9.e+-]+s, ", done.stdout))
    assert {"stat", "delete", "read_call", "create_call"} <= keys
    assert not keys & {"read", "create"}


@pytest.mark.parametrize(
    "content", ["repeats: true", "compressibility: 0.5", "duplicates: 0.25", ""]
)
def test_data_that_compress_are_part_of_the_name(tool: Tool, content: str) -> None:
    (tool.target / "w.yaml").write_text(
        "workload: 1\nname: t\nrepeat: 1\n"
        f"files: {{a: {{path: a, content: {{{content}}}}}, b: {{path: b}}}}\n"
        "program: {g: [{phase: one, do: [{create: a}, {write: {to: a, size: 64 KiB}}, {close: a}]},"
        " {phase: two, do: [{create: b}, {write: {to: b, size: 64 KiB}}, {close: b}]}]}\n"
    )
    record = json.loads(tool("run", "w.yaml", "-d", ".", "-q", "--json").stdout)
    assert ("compressible data" in record["labels"]["one"]) == bool(content)
    assert ("compressible data" in record["metrics"]["one"]["labels"]) == bool(content)
    assert "compressible data" not in record["labels"]["two"]


def test_ior_s_own_payload_has_the_label_in_the_text(tool: Tool) -> None:
    words = ("--payload", "ior", "--output-format", "ior-text")
    done = run(tool, "ior", "-w -t 4k -b 64k -o ./f", *words)
    assert re.search(r"^# write: .*compressible data", done.stdout, re.MULTILINE), done.stdout
