"""`venturi report` of documents of several kinds: one page, and the whole page of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.conftest import Cli

LOG = Path(__file__).parents[2] / "examples" / "darshan" / "miniapp" / "miniapp.darshan"
SMALL = ("--set", "block=1 MiB", "--repeat", "1")


def test_a_folder_has_the_answers_and_every_page_that_they_lead_to(
    cli: Cli, tmp_path: Path
) -> None:
    cli("run", "ior", "-d", str(cli.target), *SMALL)
    folder = tmp_path / "answers"
    done = cli("report", str(LOG), "@last", "@last", "-o", f"{folder}/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "index.html")
    text = (folder / "index.html").read_text("utf-8")
    links = set(re.findall(r'<a href="([^"#]+)"', text))
    assert links == {path.name for path in folder.iterdir()} - {"index.html"}
    assert len(links) == 3
    record = cli.json("results", "show", "@last")
    assert f"venturi run ior -d {cli.target}" in text.replace("&#39;", "'")
    assert record["verdict"]["level"] in text


def test_one_file_is_the_page_alone_or_all_documents(cli: Cli, tmp_path: Path) -> None:
    cli("run", "ior", "-d", str(cli.target), *SMALL)
    page, data = tmp_path / "both.html", tmp_path / "both.json"
    assert cli("report", str(LOG), "@last", "-o", str(page)).returncode == 0
    assert 'href="#part-2"' in page.read_text("utf-8")
    assert cli("report", str(LOG), "@last", "-o", str(data)).returncode == 0
    schemas = [one["schema"] for one in json.loads(data.read_text("utf-8"))]
    assert schemas == ["venturi.characterization/1", "venturi.record/2"]
    assert {path.name for path in tmp_path.glob("both*")} == {"both.html", "both.json"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--format", "csv", "-o", "OUT/"), "no report as csv"),
        (("--format", "json", "-o", "OUT/"), "a folder holds pages"),
        (("--proxy", str(LOG), "-o", "OUT/"), "--proxy"),
    ],
)
def test_what_a_folder_cannot_hold_is_refused(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    cli("run", "ior", "-d", str(cli.target), *SMALL)
    out = tmp_path / "answers"
    done = cli("report", str(LOG), "@last", *(word.replace("OUT", str(out)) for word in words))
    assert done.returncode == 2
    assert says in done.stderr
    assert not out.exists()
