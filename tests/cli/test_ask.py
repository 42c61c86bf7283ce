"""Questions before what cannot be undone: asked on a terminal, answered by --yes."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from cli.conftest import Cli


def typed(cli: Cli, answer: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command whose standard input is a terminal on which somebody types."""
    keyboard, terminal = pty.openpty()
    try:
        os.write(keyboard, answer.encode())
        return subprocess.run(
            cli.line(*words),
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=600,
            env=cli.environment(),
            check=False,
        )
    finally:
        os.close(keyboard)
        os.close(terminal)


def test_a_run_is_removed_when_somebody_agrees(cli: Cli) -> None:
    small = ("--set", "block=1 MiB", "--set", "interface=simulated", "--repeat", "1", "-q")
    assert cli("run", "ior", "-d", str(cli.target), *small).returncode == 0
    refused = typed(cli, "n\n", "results", "rm", "@last")
    assert refused.returncode == 2
    assert "Remove" in refused.stderr
    assert "--yes answers beforehand" in refused.stderr
    assert len(cli.records()) == 1
    agreed = typed(cli, "y\n", "results", "rm", "@last")
    assert agreed.returncode == 0, agreed.stderr
    assert cli.records() == []


@pytest.mark.parametrize("words", [("--yes",), ()])
def test_nobody_is_asked_who_said_yes_or_cannot_answer(cli: Cli, words: tuple[str, ...]) -> None:
    small = ("--set", "block=1 MiB", "--set", "interface=simulated", "--repeat", "1", "-q")
    assert cli("run", "ior", "-d", str(cli.target), *small).returncode == 0
    if words:
        done = typed(cli, "", "results", "rm", "@last", *words)
    else:
        done = cli("results", "rm", "@last")
    assert done.returncode == 0, done.stderr
    assert "?" not in done.stderr
    assert cli.records() == []
