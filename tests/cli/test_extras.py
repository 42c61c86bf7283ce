"""What is said where an optional part of the installation is missing."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

from cli.conftest import Cli
from venturi.report.figure.svg import draw, why_not_drawn

ROOT = Path(__file__).parents[2]
LOG = ROOT / "examples" / "darshan" / "miniapp" / "miniapp.darshan"


def requirements(extra: str) -> list[str]:
    """What pyproject.toml lists for an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: list[str] = project["optional-dependencies"][extra]
    return found


def test_a_darshan_log_without_pydarshan_names_the_extra(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "darshan.py").write_text("raise ModuleNotFoundError(\"No module named 'darshan'\")")
    path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, path)))
    done = cli("derive", str(LOG), "-o", str(tmp_path / "proxy.yaml"))
    assert done.returncode == 2
    assert "PyDarshan (the extra 'darshan') is not installed" in done.stderr
    [command] = re.findall("pip install '(.*?)'", done.stderr)
    assert [command] == requirements("darshan")
    assert not (tmp_path / "proxy.yaml").exists()


def test_a_figure_that_is_not_drawn_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    reason = why_not_drawn()
    assert "the extra 'figures' is not installed" in reason
    assert re.findall("pip install '(.*?)'", reason) == requirements("figures")
    assert draw({}, "name", "label") is None
