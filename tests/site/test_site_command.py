"""`venturi site` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from site_factory import sessions, store_of

import warm_start


def venturi(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "venturi", "site", *words]
    return warm_start.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_a_build_says_what_it_did(tmp_path: Path) -> None:
    store_of(tmp_path / "store", sessions(3, 1000))
    done = venturi("build", "store", "--json", cwd=tmp_path)
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert (said["runs"], said["read"], said["problems"]) == (3, 3, [])
    assert said["written"] >= said["pages"] == len(list((tmp_path / "public").rglob("*.html")))
    assert "3 runs (3 read anew)" in done.stderr


def test_a_wrong_source_is_one_clear_error(tmp_path: Path) -> None:
    done = venturi("build", "nowhere", "-o", "public", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "venturi: nowhere: there is no such directory",
        "  name a store or a checkout",
    ]
    assert list(tmp_path.iterdir()) == []
