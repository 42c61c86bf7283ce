"""What somebody meets who types the first commands: help, names, times, the docs' campaign."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.conftest import Cli
from venturi.cli.option import budget_seconds
from venturi.model.error import UserError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [(), ("results",), ("campaign",), ("library",)])
def test_without_a_command_help_is_printed_as_it_is(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: venturi ")
    assert done.stdout == ""
    assert not re.search(r"\w\.\.\.$", done.stderr, re.M)  # what click cuts off
    assert max(map(len, done.stderr.splitlines())) <= 80


@pytest.mark.parametrize("words", [("plan", "flash"), ("library", "show", "flash")])
def test_an_unknown_workload_names_the_nearest(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert "did you mean 'flash3'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("run",), "see venturi run --help"),
        (("run", "quick", "--place", "x"), "see venturi run --help"),
        (("results", "push"), "see venturi results push --help"),
        (("nothing",), "venturi --help lists them"),
    ],
)
def test_wrong_use_says_where_help_is(cli: Cli, words: tuple[str, ...], hint: str) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert hint in done.stderr
    assert done.stderr.count("--help") == 1


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("3m", 180), ("3 min", 180), ("1.5h", 5400)]
)
def test_budgets_are_written_as_people_write_times(text: str, seconds: float) -> None:
    assert budget_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "fast", "-3m", "3 weeks", "999h", "1e3", "nan"])
def test_other_budgets_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="a time from 1s"):
        budget_seconds(text)


def test_a_tag_names_its_newest_run_as_a_workload(cli: Cli) -> None:
    cli("run", "ior", "-d", str(cli.target), "--repeat", "1", "--set", "block=1 MiB", "-n", "3")
    assert cli("results", "tag", "golden", "@last").returncode == 0
    assert cli.json("plan", "tag:golden")["name"] == "ior"
    assert "no run in" in cli("plan", "tag:other").stderr


def test_the_campaign_of_the_docs_is_planned_as_it_stands(cli: Cli, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "campaign.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(campaign: 1\n.*?)```", text, re.S)
    assert blocks
    for block in blocks:
        (tmp_path / "campaign.yaml").write_text(block)
        line = ("campaign", "run", str(tmp_path / "campaign.yaml"), "-d", str(cli.target))
        done = cli(*line, "--dry-run")
        assert done.returncode == 0, done.stderr
        rows = [row["point"] for row in cli.json(*line, "--dry-run")["rows"]]
        assert rows
        assert all(point in done.stdout for point in rows)
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_import_of_runs_is_one_document(cli: Cli, tmp_path: Path) -> None:
    text = "campaign: 1\nname: told\nspace: {product: {n: [1]}}\nrepeat: 1\n"
    text += (
        "steps: {run: {command: 'echo 5 {n}', metrics: {m: {regex: '([0-9]+)', pick: first}}}}\n"
    )
    (tmp_path / "c.yaml").write_text(text)
    folder = tmp_path / "told.campaign"
    line = ("campaign", "run", str(tmp_path / "c.yaml"), "-d", str(cli.target))
    assert cli(*line, "-o", str(folder)).returncode == 0
    (entry,) = cli.json("results", "import", str(folder), "--store", str(tmp_path / "other"))
    assert entry == {"source": str(folder), "format": "runs", "new_runs": 1}
    table = cli("campaign", "table", str(folder))
    assert table.returncode == 2
    assert "the campaign defines no tables" in table.stderr
    assert f"venturi report {folder} shows every metric" in table.stderr
    page = tmp_path / "told.html"
    assert cli("report", str(folder), "-o", str(page)).returncode == 0
    assert "Made with Venturi." in page.read_text("utf-8")
