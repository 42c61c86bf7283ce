"""Names that scripts know from before: no list shows them, and they do what the new ones do."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from cli.conftest import Cli
from venturi.cli.main import OLD_NAMES, venturi

WORDS = {
    "ior": ("-w", "-t", "4k", "-b", "16k", "-o"),
    "mdtest": ("-n", "4", "-F", "-C", "-d"),
    "md-workbench": ("-D", "1", "-P", "2", "-I", "2", "-1", "-2", "-o"),
    "fio": ("--name", "a", "--size", "64k", "--directory"),
}


def did(record: dict[str, Any]) -> dict[str, Any]:
    """What a run did, without when, how fast and by which command."""
    phases = [(row["path"], row["bytes"], row["operations"]) for row in record["phases"]]
    return {"name": record["name"], "workload": record["workload"], "phases": phases}


@pytest.mark.parametrize("name", OLD_NAMES)
def test_a_tool_runs_under_its_old_name_as_below_compat(cli: Cli, name: str) -> None:
    place = cli.target / "f" if name == "ior" else cli.target
    line = (name, "-q", "--json", "--", *WORDS[name], str(place))
    old, new = cli(*line), cli("compat", *line)
    assert (old.returncode, new.returncode) == (0, 0), old.stderr + new.stderr
    assert did(json.loads(old.stdout)) == did(json.loads(new.stdout))


@pytest.mark.parametrize("name", OLD_NAMES)
def test_errors_of_an_old_name_say_the_name_that_was_typed(cli: Cli, name: str) -> None:
    told = cli(name, "-Q"), cli("compat", name, "-Q")
    assert [done.returncode for done in told] == [2, 2]
    assert f"venturi {name} has no option -Q" in told[0].stderr
    assert told[1].stderr == told[0].stderr.replace(f"venturi {name}", f"venturi compat {name}")


@pytest.mark.parametrize("name", OLD_NAMES)
def test_options_of_an_old_name_are_completed(name: str) -> None:
    shell = ShellComplete(venturi, {}, "venturi", "_VENTURI_COMPLETE")
    found = [
        {item.value for item in shell.get_completions(line, "--")}
        for line in ([name], ["compat", name])
    ]
    assert found[0] == found[1]
    assert {"--dir", "--output-format"} <= found[0]


def test_old_names_are_in_the_whole_help(cli: Cli) -> None:
    done = cli("--help-all")
    assert done.returncode == 0
    for name in OLD_NAMES:
        assert f"{name} " in done.stdout
        assert f"now: venturi compat {name}\n" in done.stdout
    assert "now: venturi compare\n" in done.stdout


def test_no_list_shows_an_old_name() -> None:
    text = venturi.get_help(click.Context(venturi, info_name="venturi"))
    names = {
        line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()
    }
    assert "compat" in names
    assert not names & set(OLD_NAMES)
