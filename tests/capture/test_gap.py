"""Why a program was not traced, as far as its file tells."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from venturi.capture.untraced import reason_of


def program(bits: int, interpreter: bool) -> bytes:
    """The head of an ELF file with one part of it described: its loader's name, or code."""
    kind = 3 if interpreter else 1
    if bits == 64:
        head = struct.pack(
            "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0
        )
        return head + struct.pack("<II6Q", kind, 0, 0, 0, 0, 0, 0, 0)
    head = struct.pack(
        "<4sBBB9xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 2, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0
    )
    return head + struct.pack("<8I", kind, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("bits", "interpreter", "words"),
    [
        (64, True, "it did not load the tracer"),
        (64, False, "it is linked statically; --with strace sees it"),
        (32, True, "it is a program of 32 bits"),
        (32, False, "it is linked statically; --with strace sees it"),
    ],
)
def test_programs_by_their_heads(bits: int, interpreter: bool, words: str, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(program(bits, interpreter))
    path.chmod(0o755)
    assert reason_of(str(path)).startswith(words)


def test_a_program_with_another_s_rights(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(program(64, True))
    path.chmod(0o4755)
    assert "another's rights" in reason_of(str(path))


def test_a_program_that_is_gone(tmp_path: Path) -> None:
    assert reason_of(str(tmp_path / "missing")) == "it could not be examined"
