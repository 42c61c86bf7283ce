"""Values that a JUBE file computes: by our own arithmetic, or by a snippet that is trusted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile

from venturi.campaign.jube.node import Node, failed
from venturi.model.expression import ExpressionError, compile_tree, evaluate, tree_of

_PATIENCE_S = 10.0
_MOST_CHARACTERS = 100_000
_WHOLE = re.compile(r"(?:[\s\d+*(),-]|//|%|\bmin\b|\bmax\b)+")
"""Arithmetic of whole numbers, which means the same in Python as here."""
_PYTHON = "import sys\nprint(eval(sys.stdin.read().strip(), {}), end='')"

_PERL = 'perl -e "print {}"'
"""As JUBE has it: a line for the shell, which reads the text first."""


class Scripts:
    """Evaluates each text once."""

    def __init__(self, trusted: bool) -> None:
        self._trusted = trusted
        self._known: dict[tuple[str, str], str] = {}

    def value(self, node: Node, mode: str, text: str) -> str:
        """What a text gives in a mode; UserError if it may not be run."""
        if mode == "text":
            return text
        if mode == "env":
            return self._variable(node, text.strip())
        if (mode, text) not in self._known:
            self._known[mode, text] = self._evaluated(node, mode, text)
        return self._known[mode, text]

    def _variable(self, node: Node, name: str) -> str:
        if name not in os.environ:
            raise failed(node, f"the environment has no variable '{name}'", "export it")
        return os.environ[name]

    def _evaluated(self, node: Node, mode: str, text: str) -> str:
        if mode == "python":
            number = _arithmetic(text)
            if number is not None:
                return number
        if not self._trusted:
            raise failed(
                node,
                f"'{_short(text)}' would have to be run as {mode}",
                "read it; --trust runs such snippets, each in a process of its own",
            )
        line = _PERL.format(text) if mode == "perl" else text
        words = [sys.executable, "-I", "-c", _PYTHON]
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                words if mode == "python" else ["/bin/sh", "-c", line],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            try:
                out, err = process.communicate(text if mode == "python" else "", _PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise failed(node, f"'{_short(text)}' did not end in {_PATIENCE_S:g} s") from None
        if process.returncode or len(out) > _MOST_CHARACTERS:
            said = err.strip().splitlines()[-1:] or ["it failed"]
            raise failed(node, f"'{_short(text)}': {said[0]}")
        return out if mode == "python" else out.rstrip("\n")


def _arithmetic(text: str) -> str | None:
    """The whole number that a text without names gives; None if it is anything else."""
    if not _WHOLE.fullmatch(text):
        return None
    try:
        value = evaluate(compile_tree(tree_of(text.strip()), {}), ())
    except ExpressionError:
        return None
    return str(value) if isinstance(value, int) else None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
