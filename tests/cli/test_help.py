"""What help promises: examples that the command line takes, words that a shell completes."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from cli.conftest import Cli
from venturi.cli.help import RareOption
from venturi.cli.main import COMMANDS, venturi

_MOST_SHOWN = 10
"""Options that `--help` may show."""
_TAKES_ARGUMENTS = sorted(set(COMMANDS) - {"library", "results", "campaign"})


def help_of(command: click.Command, *names: str) -> Iterator[tuple[str, str]]:
    """Each command below one by its whole name, with its help."""
    context = click.Context(command, info_name=" ".join(names))
    if not isinstance(command, click.Group):
        yield " ".join(names), command.get_help(context)
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from help_of(below, *names, name)


def understood(words: list[str]) -> None:
    """Parses a command line without doing what it says."""
    command: click.Command = venturi
    parent = None
    while isinstance(command, click.Group):
        parent = click.Context(command, parent=parent)
        found = command.get_command(parent, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    with command.make_context(command.name, list(words), parent=parent):
        pass


def test_every_example_of_help_is_understood() -> None:
    with_examples = set()
    for name, text in help_of(venturi, "venturi"):
        assert max(map(len, text.splitlines())) <= 80
        for line in re.findall(r"^    (venturi .*)$", text, re.M):
            for command in line.split(" && "):
                understood(shlex.split(command)[1:])
            with_examples.add(name.split()[1])
    assert set(_TAKES_ARGUMENTS) <= with_examples


def test_an_example_with_a_wrong_word_is_not() -> None:
    with pytest.raises(click.UsageError):
        understood(["run", "quick", "--place", "here"])


def all_of(command: click.Command, *names: str) -> Iterator[tuple[click.Context, str]]:
    """A context of a command and of each one below it, with its whole name."""
    context = click.Context(command, info_name=" ".join(names))
    yield context, " ".join(names)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        assert below is not None
        yield from all_of(below, *names, name)


def commands_of(command: click.Command, *names: str) -> Iterator[tuple[click.Context, str]]:
    """Those of them that are no group."""
    return (one for one in all_of(command, *names) if not isinstance(one[0].command, click.Group))


@pytest.mark.parametrize(
    ("context", "name"),
    [pytest.param(*found, id=found[1]) for found in commands_of(venturi, "venturi")],
)
def test_help_shows_few_options_and_help_all_shows_the_others(
    context: click.Context, name: str
) -> None:
    command = context.command
    rare = {option.opts[-1] for option in command.params if isinstance(option, RareOption)}
    own = {option.opts[-1] for option in command.params if isinstance(option, click.Option)}
    shown = words_of(command.get_help(context))
    assert len(own & shown) <= _MOST_SHOWN
    if len(rare) < 2:
        assert own <= shown
        return
    assert own - rare <= shown
    assert not rare & shown
    runner = CliRunner()
    every = runner.invoke(venturi, [*name.split()[1:], "--help-all"])
    assert every.exit_code == 0
    assert own - {"--help-all"} <= words_of(every.stdout)
    assert rare <= {value for _, value in completed(" ".join(name.split()[1:]), "--")}


def groups_of(command: click.Command, *names: str) -> Iterator[tuple[click.Group, str]]:
    """Each group of commands below one, with its whole name."""
    for context, name in all_of(command, *names):
        if isinstance(context.command, click.Group) and context.command is not command:
            yield context.command, name


@pytest.mark.parametrize(
    ("group", "name"),
    [pytest.param(*found, id=found[1]) for found in groups_of(venturi, "venturi")],
)
def test_help_all_of_a_group_shows_what_the_help_of_its_commands_hides(
    group: click.Group, name: str
) -> None:
    below = [(context.command, whole) for context, whole in commands_of(group, name)]
    hides = any(
        command.hidden or sum(isinstance(one, RareOption) for one in command.params) > 1
        for command, _ in below
    )
    words = name.split()[1:]
    shown = CliRunner().invoke(venturi, [*words, "--help"]).stdout
    every = CliRunner().invoke(venturi, [*words, "--help-all"])
    assert hides == ("--help-all" in shown) == (every.exit_code == 0)
    assert hides == (("plain", "--help-all") in completed(" ".join(words), "--"))
    if not hides:
        return
    assert "--help-all" not in every.stdout
    assert max(map(len, every.stdout.splitlines())) <= 80
    for command, whole in below:
        options = {one.opts[-1] for one in command.params if isinstance(one, click.Option)}
        part = every.stdout.partition(f"\n{whole} [OPTIONS]")[2].partition("\n\n")[0]
        assert options - {"--help-all"} <= set(re.findall(r"^  .*?(--[a-z0-9-]+)", part, re.M))


def words_of(help_text: str) -> set[str]:
    """The options that begin a line of the list of a help."""
    options = help_text.partition("\nOptions:\n")[2]
    return set(re.findall(r"^  .*?(--[a-z0-9-]+)", options, re.M))


def completed(line: str, incomplete: str) -> set[tuple[str, str]]:
    """Kind and text of what a shell is offered behind `line`."""
    shell = ShellComplete(venturi, {}, "venturi", "_VENTURI_COMPLETE")
    items = shell.get_completions(line.split(), incomplete)
    return {(item.type, item.value) for item in items}


@pytest.mark.parametrize(
    ("line", "incomplete", "offered"),
    [
        ("", "ru", {("plain", "run")}),
        ("results", "ta", {("plain", "tag")}),
        ("", "comp", {("plain", "compare"), ("plain", "compat")}),
        (
            "compat",
            "",
            {("plain", name) for name in ("ior", "mdtest", "md-workbench", "fio")},
        ),
        ("compat ior --on", "o", {("file", "o"), ("plain", "openmpi")}),
        ("run", "qu", {("file", "qu"), ("plain", "quick")}),
        ("run quick -d", "/t", {("dir", "/t")}),
        ("run quick --on", "o", {("file", "o"), ("plain", "openmpi")}),
        ("run quick --scale", "lap", {("plain", "laptop")}),
        ("library show", "flash3-a", {("plain", "flash3-amr")}),
        ("library show", "cache-c", {("plain", "cache-curve")}),
        ("campaign run", "cache-", {("file", "cache-"), ("plain", "cache-curve")}),
        ("report", "@", {("file", "@"), ("plain", "@last")}),
        ("derive", "ap", {("file", "ap")}),
        ("results import", "ap", {("file", "ap")}),
        ("capture -o", "ap", {("dir", "ap")}),
    ],
)
def test_words_are_completed(
    line: str,
    incomplete: str,
    offered: set[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VENTURI_STORE", str(tmp_path))
    assert completed(line, incomplete) == offered


def test_runs_of_the_store_are_completed(tmp_path: Path) -> None:
    for name in ("20260101-000000-one-00000001", "20270101-000000-two-00000002"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    found = completed(f"results show --store {tmp_path}", "2027")
    assert ("plain", "20270101-000000-two-00000002") in found
    assert len(found) == 2


def test_the_readme_s_line_makes_a_shell_complete(cli: Cli) -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    assert 'eval "$(_VENTURI_COMPLETE=bash_source venturi)"' in text
    environment = {**cli.environment(), "_VENTURI_COMPLETE": "bash_source"}
    script = subprocess.run(cli.line(), capture_output=True, text=True, env=environment, check=True)
    told = subprocess.run(
        ["bash", "-c", f"{script.stdout}\ncomplete -p venturi"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.rstrip().endswith("-F _venturi_completion venturi")
