"""Builds from real git repositories: once for each commit, flags and software."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import warm_start

CAMPAIGN = """
campaign: 1
name: %s
space: {product: {level: [1, 2]}}
repeat: 2
steps:
  build:
    needs: [compiler]
    build: {source: "{home}/code", %s, flags: {LEVEL: "{level}"}}
    command: |
      echo "built $LEVEL" >> {dir}/log
      test ! -e broken
      mkdir -p {prefix}/bin
      cp program {prefix}/bin
      echo "echo level=$LEVEL" >> {prefix}/bin/program
  run:
    after: [build]
    command: "sh {folder_build}/bin/program"
    metrics: {version: {regex: "version=(.*)"}, level: {regex: "level=(.*)"}}
"""
MACHINE = """
schema: venturi.machine/2
name: here
software: {compiler: {setup: ["COMPILER=%s"]}}
"""


class Site:
    """A repository, a store, and campaigns that build from the one into the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = folder / "code"
        (folder / "data").mkdir()
        self.git("init", "-q", "-b", "main", str(self.code))
        self.machine("gcc13")
        self.commit("1")
        self.git("tag", "-a", "v1", "-m", "v1")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        at = () if words[0] == "init" else ("-C", str(self.code))
        done = subprocess.run(
            ["git", *who, *at, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, version: str) -> str:
        (self.code / "program").write_text(f"echo version={version}\n")
        self.git("add", "-A")
        self.git("commit", "-qm", version)
        return self.git("rev-parse", "HEAD")

    def machine(self, compiler: str) -> None:
        (self.folder / "m.yaml").write_text(MACHINE % compiler)

    def run(self, name: str, version: str, *words: str) -> subprocess.CompletedProcess[str]:
        (self.folder / f"{name}.yaml").write_text(CAMPAIGN % (name, version))
        line = ("run", f"{name}.yaml", "-d", "data", "--on", "m.yaml", "--json", "-q", *words)
        return warm_start.venturi(
            "campaign",
            *line,
            folder=self.folder,
            environment=os.environ | {"VENTURI_STORE": str(self.folder / "store")},
            limit_s=100,
        )

    def result(self, name: str, version: str) -> dict[str, Any]:
        done = self.run(name, version)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    @property
    def built(self) -> int:
        """How often anything was built."""
        log = self.folder / "data" / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0


def _versions(result: dict[str, Any]) -> set[tuple[float, float]]:
    """(version, level) of all runs."""
    rows = [row for row in result["rows"] if row["step"] == "run"]
    values = [{m["name"]: m["values"] for m in row["metrics"]} for row in rows]
    return {pair for v in values for pair in zip(v["version"], v["level"], strict=True)}


def test_pinned_stays_and_newest_follows(tmp_path: Path) -> None:
    """Built once for each commit, flags and software, in whatever campaign."""
    site = Site(tmp_path)
    first = site.git("rev-parse", "HEAD")
    result = site.result("a", "commit: v1")
    assert {row["commit"] for row in result["rows"]} == {first, ""}
    assert _versions(result) == {(1, 1), (1, 2)}
    assert site.built == 2
    second = site.commit("2")
    assert _versions(site.result("b", f"commit: {first}")) == {(1, 1), (1, 2)}
    assert site.built == 2
    result = site.result("c", "version: newest")
    assert _versions(result) == {(2, 1), (2, 2)}
    assert {row["commit"] for row in result["rows"]} == {second, ""}
    assert site.built == 4
    site.machine("gcc14")
    assert _versions(site.result("d", "version: newest, branch: main")) == {(2, 1), (2, 2)}
    assert site.built == 6
    assert site.result("e", "version: newest")["states"] == {"done": 6}
    assert site.built == 6


def test_a_broken_build_blocks_what_needs_it_and_is_done_again(tmp_path: Path) -> None:
    site = Site(tmp_path)
    (site.code / "broken").touch()
    site.commit("3")
    text = "version: newest"
    done = site.run("a", text)
    assert done.returncode == 3
    assert json.loads(done.stdout)["states"] == {"failed": 2, "blocked": 4}
    (site.code / "broken").unlink()
    site.commit("4")
    assert site.result("b", text)["states"] == {"done": 6}
    assert site.run("c", "commit: v1").returncode == 0


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("commit: v9", "has no tag or branch 'v9'"),
        (f'commit: "{"0" * 40}"', f"has no commit {'0' * 40}"),
        ("version: newest, commit: v1", "the newest version has a 'branch'"),
        ("branch: main", "a pinned version has a 'commit'"),
    ],
)
def test_versions_that_are_none(tmp_path: Path, version: str, said: str) -> None:
    """Nothing of such a campaign is left."""
    site = Site(tmp_path)
    done = site.run("a", version)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.glob("*.campaign"))
