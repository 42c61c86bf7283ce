"""Why a program cannot be traced, as far as its file tells."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

_ELF = b"\x7fELF"
_PROGRAM_INTERPRETER = 3
_FOREIGN_LOADER = "/ld-musl-"
_HEAD_BYTES = 1 << 16
_MOST_INTERPRETERS = 4
"""A script's interpreter may be a script."""

_STATIC = "it is linked statically; --with strace sees it"
_OF_32_BITS = "it is a program of 32 bits, and the tracer is none; --with strace sees it"
_FOREIGN = "it uses another C library (musl) than the tracer; --with strace sees it"
_SETUID = "it runs with another's rights, and the system then loads no tracer"


def reason_of(program: str) -> str:
    """Why a program was not traced."""
    try:
        known = known_reason(program)
    except OSError as error:
        return f"it could not be examined ({error.strerror})"
    if known is None:
        return "it could not be examined"
    return known or (
        "it did not load the tracer, or records elsewhere or cannot (a capture of its own, another "
        "user, another root)"
    )


def known_reason(program: str) -> str | None:
    """Why a program, or a script's interpreter, surely cannot be traced; empty: nothing is known
    against it; None: there is no such program. Raises OSError where it cannot be read."""
    path = shutil.which(program)
    if path is None:
        return None
    for _ in range(_MOST_INTERPRETERS):
        mode = Path(path).stat().st_mode
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
        interpreter = _interpreter(head)
        if interpreter is None:
            break
        path = interpreter
    if mode & (stat.S_ISUID | stat.S_ISGID):
        return _SETUID
    if head[:4] != _ELF or len(head) < 64:
        return ""
    if _is_static(head):
        return _STATIC
    if _FOREIGN_LOADER in _loader(head):
        return _FOREIGN
    return _OF_32_BITS if _is_32_bits(head) else ""


def must_start_without_tracer(program: str) -> bool:
    """Whether the program would not even start with the tracer."""
    try:
        return known_reason(program) == _FOREIGN
    except OSError:
        return False


def warning_before(program: str) -> str | None:
    """What is to be said before a program starts of which nothing will be seen."""
    try:
        reason = known_reason(program)
    except OSError:
        return None
    return f"'{os.fsdecode(program)}' runs untraced: {reason}" if reason else None


def _interpreter(head: bytes) -> str | None:
    if head[:2] != b"#!":
        return None
    words = head[2:].split(b"\n", 1)[0].split()
    path = os.fsdecode(words[0]) if words else ""
    return path if Path(path).is_file() else None


def _is_32_bits(head: bytes) -> bool:
    return head[4:5] == b"\1"


def _parts(head: bytes) -> list[tuple[int, int, int]]:
    """Kind, offset and size of each part that an ELF file loads."""
    order = "little" if head[5] == 1 else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(head[at : at + size], order)  # type: ignore[arg-type]

    if _is_32_bits(head):
        begin, size, count = number(28, 4), number(42, 2), number(44, 2)
        return [
            (number(at, 4), number(at + 4, 4), number(at + 16, 4))
            for at in range(begin, begin + size * count, size or 1)
        ]
    begin, size, count = number(32, 8), number(54, 2), number(56, 2)
    return [
        (number(at, 4), number(at + 8, 8), number(at + 32, 8))
        for at in range(begin, begin + size * count, size or 1)
    ]


def _is_static(head: bytes) -> bool:
    """Whether an ELF file asks for no dynamic loader."""
    return all(kind != _PROGRAM_INTERPRETER for kind, _, _ in _parts(head))


def _loader(head: bytes) -> str:
    """The dynamic loader that an ELF file asks for; empty where its name is not in the head."""
    for kind, offset, size in _parts(head):
        if kind == _PROGRAM_INTERPRETER:
            return head[offset : offset + size].rstrip(b"\0").decode("utf-8", "replace")
    return ""
