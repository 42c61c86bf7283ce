"""What the tests of the documents share: the generator's folder and the engine's codec."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "schema"))


@dataclass(frozen=True)
class Answer:
    """What the engine's codec says to one document: its text, or the path and the message."""

    accepted: bool
    text: str = ""
    path: str = ""
    message: str = ""


@dataclass(frozen=True)
class Codec:
    """The engine's codec as a program."""

    program: Path

    def answers(self, lines: Sequence[tuple[str, str]]) -> list[Answer]:
        """The codec's answers to (document kind, JSON text of one line)."""
        sent = "".join(f"{kind} {text}\n" for kind, text in lines).encode()
        done = subprocess.run([self.program], input=sent, capture_output=True, check=True)
        received = done.stdout.decode().removesuffix("\n").split("\n")
        assert len(received) == len(lines)
        return [_answer(line) for line in received]


def _answer(line: str) -> Answer:
    word, _, rest = line.partition(" ")
    if word == "ok":
        return Answer(accepted=True, text=rest)
    assert word == "error", line
    path, _, message = rest.partition(": ")
    return Answer(accepted=False, path=path, message=message)


@pytest.fixture(scope="session")
def codec_echo() -> Codec:
    """The program `codec_echo`: $VENTURI_CODEC_ECHO, else that of a sanitized or dev build."""
    given = os.environ.get("VENTURI_CODEC_ECHO")
    built = [PROJECT / "build" / preset / "codec_echo" for preset in ("asan", "dev")]
    for program in [Path(given)] if given else built:
        if program.is_file():
            return Codec(program)
    pytest.fail(
        "codec_echo is not built: run `cmake --preset asan && cmake --build --preset asan` "
        "or set VENTURI_CODEC_ECHO"
    )
