"""What stands in for an application of a JUBE suite: it writes files that the suite's patterns fit.

`python jube_stand_in.py RULES STEP < FACTS` in the folder of a work package. FACTS has a line
`name=value` for each parameter, as the tool that runs it has put them in, and is kept beside as
`facts.txt`. What is written follows from the step and these lines alone, so two tools that give
a work package the same parameters get the same files.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

try:
    from re import _parser as parser
except ImportError:  # before Python 3.11
    import sre_parse as parser  # type: ignore[no-redef]

KNOWN = {
    "jube_pat_int": r"([1-9]\d{0,3})",
    "jube_pat_nint": r"(?:[1-9]\d{0,3})",
    "jube_pat_fp": r"([1-9]\d{0,3}\.\d{1,3})",
    "jube_pat_nfp": r"(?:[1-9]\d{0,3}\.\d{1,3})",
    "jube_pat_wrd": r"([a-z]{3,8})",
    "jube_pat_nwrd": r"(?:[a-z]{3,8})",
    "jube_pat_bl": r"(?: {1,3})",
}
"""Narrower than what JUBE's own patterns fit: as programs print."""
ABSENT = 0.1
"""How often a program does not print what a pattern looks for."""
_NAME = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_CATEGORY = {"SPACE": " ", "DIGIT": "0123456789", "WORD": "abcdefgh", "NOT_SPACE": "abcxyz"}


def fitting(pattern: str, chance: random.Random) -> str:
    """A text that a regular expression fits; it knows no conditions on what is around."""
    return "".join(_some(str(code), value, chance) for code, value in parser.parse(pattern))


def _some(code: str, value: Any, chance: random.Random) -> str:
    if code == "LITERAL":
        return chr(value)
    if code == "NOT_LITERAL":
        return chance.choice([c for c in "abcxyz" if ord(c) != value])
    if code == "ANY":
        return chance.choice("abc")
    if code == "IN":
        return _of_set(value, chance)
    if code == "BRANCH":
        return _all(chance.choice(value[1]), chance)
    if code == "SUBPATTERN":
        return _all(value[3], chance)
    if code in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, part = value
        count = chance.randint(least, min(int(most), least + 3))
        return "".join(_all(part, chance) for _ in range(count))
    return ""  # anchors


def _all(parts: Any, chance: random.Random) -> str:
    return "".join(_some(str(code), value, chance) for code, value in parts)


def _of_set(parts: Any, chance: random.Random) -> str:
    kinds = [str(code) for code, _ in parts]
    if kinds[0] == "NEGATE":
        denied = {chr(value) for code, value in parts if str(code) == "LITERAL"}
        return chance.choice([c for c in "abcxyz" if c not in denied])
    code, value = chance.choice(parts)
    if str(code) == "RANGE":
        return chr(chance.randint(*value))
    if str(code) == "CATEGORY":
        return chance.choice(_CATEGORY.get(str(value).removeprefix("CATEGORY_"), "ab"))
    return chr(value)


def substituted(text: str, facts: dict[str, str]) -> str:
    """The text with values in the place of `$name`."""

    def one(match: re.Match[str]) -> str:
        name = match[2] or match[3]
        return "$" if match[1] else KNOWN.get(name, facts.get(name, match[0]))

    return _NAME.sub(one, text)


def contents(patterns: list[str], facts: dict[str, str], chance: random.Random) -> str:
    """Lines of a file: what patterns fit, in any order, among other lines."""
    lines = ["started"]
    for pattern in patterns:
        if chance.random() < ABSENT:
            continue
        for _ in range(chance.randint(1, 3)):
            lines.append(fitting(substituted(pattern, facts), chance))
    lines.append("ended")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the files of one work package."""
    rules = json.loads(Path(sys.argv[1]).read_text())[sys.argv[2]]
    text = sys.stdin.read()
    Path("facts.txt").write_text(text)
    facts = dict(re.findall(r"^(\w+)=<(.*?)>$", text, re.MULTILINE | re.DOTALL))
    digest = hashlib.sha256(f"{sys.argv[2]}\n{text}".encode()).digest()
    chance = random.Random(digest)
    files: dict[str, list[str]] = {}
    for file, patterns in rules:
        name = re.sub(r"\*+", "1", substituted(file, facts)).replace("?", "2")
        files.setdefault(name, []).extend(patterns)
    for name, patterns in files.items():
        text = contents(list(dict.fromkeys(patterns)), facts, chance)
        if name == "stdout":
            sys.stdout.write(text)
        else:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text)


if __name__ == "__main__":
    main()
