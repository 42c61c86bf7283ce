"""The lines of strace: how a call, its two halves, an end and a signal look.

Made for `strace -f -ttt -T -y -s 0`, in one file or (-ff) in one file per process.
"""

from __future__ import annotations

import re

_WHO = r"(?:(?:\[pid +)?(\d{1,9})\]? +)?(\d{5,9}|[1-8]\d{9})\.(\d{3,9}) "
_RESULT = r"\) += (\?|0x[0-9a-f]{1,16}|-?\d{1,18})(.*?)(?: <(\d{1,9})\.(\d{1,9})>)?$"

COMPLETE = re.compile(_WHO + r"(\w+)\((.*)" + _RESULT)
"""Process, seconds, their fraction, name, arguments, result, note, seconds that it took."""

UNFINISHED = re.compile(_WHO + r"(\w+)\((.*?) ?<unfinished \.\.\.>$")
RESUMED = re.compile(_WHO + r"<\.\.\. (\w+) resumed>(.*)$")
TAIL = re.compile(r"(.*)" + _RESULT)
ATTACHED = re.compile(r"(.*?)strace: Process \d+ attached$")
"""What strace says on standard error, in the midst of a line that goes on in the next one."""

ENDED = re.compile(_WHO + r"\+\+\+ (exited with|killed by|superseded by execve in pid) (\w+).*$")
SIGNAL = re.compile(_WHO + r"--- .* ---$")
WITHOUT_TIME = re.compile(
    r"(?:(?:\[pid +)?\d+\]? +)?(?:\d\d:\d\d:\d\d(?:\.\d+)? )?\w+\(.*\) += (?:\?|-?\d+|0x)"
)
"""A line of strace without the stamps that are needed."""

_FD = re.compile(r"(-?\d{1,9}|AT_FDCWD)(?!\d)(?:<(.*?)>(?=, |$))?")
_PATH = re.compile(r'(?:(-?\d{1,9}|AT_FDCWD)(?:<([^"]*?)>)?, )?"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-f]{2}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}

Descriptor = tuple[int, str]
"""Number, and the path that strace shows with -y (empty: none)."""

CURRENT_DIRECTORY = -100
"""AT_FDCWD, as Linux numbers it."""


def nanoseconds(seconds: str, fraction: str) -> int:
    """A decimal number of seconds, exactly."""
    return int(seconds) * 1_000_000_000 + int((fraction + "000000")[:9])


def descriptor(text: str, cache: dict[str, Descriptor]) -> Descriptor:
    """The descriptor that arguments begin with; -1 where there is none."""
    end = text.find(">, ")
    key = text if end < 0 else text[: end + 1]
    known = cache.get(key)
    if known is None:
        found = _FD.match(text)
        if found is None:
            return -1, ""
        number = CURRENT_DIRECTORY if found[1] == "AT_FDCWD" else int(found[1])
        known = (number, unescaped(found[2] or ""))
        if len(cache) < 100_000 and end >= 0:
            cache[key] = known
    return known


def paths(text: str) -> list[tuple[int, str, str]]:
    """The paths among arguments: the directory's descriptor and path, and the name."""
    return [
        (
            CURRENT_DIRECTORY if not number or number == "AT_FDCWD" else int(number),
            unescaped(label),
            unescaped(name),
        )
        for number, label, name in _PATH.findall(text)
    ]


def unescaped(text: str) -> str:
    """Text as it was before strace escaped it; bytes that are no UTF-8 become marks."""
    if "\\" not in text:
        return text
    raw = bytearray()
    place = 0
    for found in _ESCAPE.finditer(text):
        raw += text[place : found.start()].encode("utf-8", "replace")
        code = found[1]
        if code[0] in "01234567":
            raw.append(int(code, 8) & 255)
        elif code[0] == "x" and len(code) == 3:
            raw.append(int(code[1:], 16))
        else:
            raw += _ESCAPES.get(code, code).encode("utf-8", "replace")
        place = found.end()
    raw += text[place:].encode("utf-8", "replace")
    return raw.decode("utf-8", "replace")
