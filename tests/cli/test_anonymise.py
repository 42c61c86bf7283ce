"""`venturi anonymise`, as a site uses it that hands a capture to a vendor."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from cli.conftest import Cli, told

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "darshan" / "miniapp" / "miniapp.darshan"


def words_of(table: Path) -> dict[str, str]:
    pairs = (line.split("\t") for line in table.read_text().splitlines())
    return {word: new for new, word in pairs}


def test_a_log_is_handed_over_and_its_answers_are_read(cli: Cli, tmp_path: Path) -> None:
    copy, table, key = tmp_path / "copy.trace", tmp_path / "words", tmp_path / "key"
    done = cli("anonymise", str(LOG), "-o", str(copy), "--table", str(table), "--key", str(key))
    assert done.returncode == 0, told(done)
    trace = json.loads((copy / "trace.json").read_text())
    named = {one["file"] for one in trace["records"]} | {one["path"] for one in trace["files"]}
    assert f"words replaced in the names of {len(named)} files" in done.stderr
    words = words_of(table)
    text = (copy / "trace.json").read_text()
    assert "miniapp" in words
    assert "miniapp" not in text
    for private in (table, key):
        assert stat.S_IMODE(private.stat().st_mode) == 0o600
    before = cli.json("derive", str(LOG))
    after = cli.json("derive", str(copy))
    assert after["origin"]["likeness"] == before["origin"]["likeness"]
    kinds = [[finding["id"] for finding in one["findings"]] for one in (before, after)]
    assert kinds[0] == kinds[1]

    again = tmp_path / "again.trace"
    done = cli("anonymise", str(LOG), "-o", str(again), "--key", str(key))
    assert done.returncode == 0, told(done)
    assert json.loads((again / "trace.json").read_text()) == json.loads(text)
    other = tmp_path / "other.trace"
    assert cli("anonymise", str(LOG), "-o", str(other)).returncode == 0
    assert (other / "trace.json").read_text() != text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "{there}"], "exists already"),
        (["-o", "{new}", "--table", "{there}"], "exists already"),
        (["-o", "{new}", "--key", "{there}"], "is no key"),
        (["-o", "{new}", "--key", "{folder}"], "cannot be read as a key"),
        (["-o", "{folder}/none/new", "--table", "{new}"], "cannot be written"),
        (["-o", "{new}", "--table", "{folder}/none/table"], "cannot be written"),
        (["-o", "{folder}/none/new", "--key", "{new}"], "cannot be written"),
        (["-o", "{new}.trace", "--key", "{new}", "--table", "{new}"], "cannot be written"),
        (["-o", "{folder}/none/new", "--key", "{key}"], "cannot be written"),
        ([], "--output"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_left(
    cli: Cli, tmp_path: Path, words: list[str], said: str
) -> None:
    there = tmp_path / "there"
    there.write_text("mine\n")
    key = tmp_path / "key"
    key.write_text(f"{'5' * 64}\n")
    places = {"there": there, "new": tmp_path / "new", "folder": tmp_path, "key": key}
    before = sorted(tmp_path.rglob("*"))
    done = cli("anonymise", str(LOG), *(word.format(**places) for word in words))
    assert done.returncode == 2, told(done)
    assert said in done.stderr
    assert there.read_text() == "mine\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_proxy_is_no_capture(cli: Cli, tmp_path: Path) -> None:
    proxy = tmp_path / "proxy.yaml"
    assert cli("derive", str(LOG), "-o", str(proxy)).returncode == 0
    done = cli("anonymise", str(proxy), "-o", str(tmp_path / "copy"))
    assert done.returncode == 2
    assert "not a capture" in done.stderr
    assert not (tmp_path / "copy").exists()
