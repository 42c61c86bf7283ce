"""Runs a tutorial as its reader does: its files are written, its commands typed, in their order.

A fenced block with a title (```python title="job.py") is a file. Of a block ```console a line
behind `$ ` is a command (`> ` continues it), and the lines below it are what it prints:

* a number stands for any number, with its unit;
* `...` stands for any text, on a line of its own for any lines;
* all other text has to be there as it is, and nothing else;
* every command has to exit with 0. To show another code a tutorial prints it, as readers see it:
  `$ COMMAND; echo "exit code $?"`, and of such a line the number counts.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$", re.M | re.S
)
_UNIT = r"(?:[KMGTP]i?B|[kB]B?|ops|k?IOPS|[nµm]?s|min|h|%|x)(?:/s)?"
_FIGURE = re.compile(rf"(?<!exit code )(?<![\w.])[-+−±]?\d+(?:[.,:]\d+)*(?:\s?{_UNIT}(?!\w))?")
"""A number, with its unit; the digits of names such as `h5py` are none."""
_LIMIT_S = 600


@dataclass
class TypedCommand:
    """A command of a tutorial, with what the text says that it prints."""

    line: str
    shown: list[str] = field(default_factory=list)


@dataclass
class TutorialText:
    """What a tutorial asks its reader to do."""

    files: dict[str, str]
    commands: list[TypedCommand]


def parsed(text: str) -> TutorialText:
    """Return files and commands of a tutorial's text."""
    files: dict[str, str] = {}
    commands: list[TypedCommand] = []
    for block in _FENCE.finditer(text):
        if block["title"]:
            files[block["title"]] = block["text"]
        elif block["kind"] == "console":
            commands += _commands(block["text"])
    return TutorialText(files, commands)


def _commands(block: str) -> Iterator[TypedCommand]:
    command = None
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command
            command = TypedCommand(line[2:])
        elif command is None:
            raise ValueError(f"a block of commands begins with '$ ', not with {line!r}")
        elif line.startswith("> ") and not command.shown:
            command.line += f"\n{line[2:]}"
        elif line.strip():
            command.shown.append(line)
    if command:
        yield command


def complaints(text: str, home: Path) -> Iterator[str]:
    """Do what a tutorial says in the directory `home`; yield what differs from its text."""
    tutorial = parsed(text)
    for name, content in tutorial.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content, "utf-8")
    notes = home.parent / f"{home.name}.output"
    notes.mkdir()
    _run(tutorial.commands, home, notes)
    for number, command in enumerate(tutorial.commands):
        code, output = notes / f"{number}.code", notes / f"{number}.text"
        printed = output.read_text("utf-8") if output.exists() else ""
        if not code.exists():
            yield f"$ {command.line}\nwas not reached or did not end:\n{printed}"
            return
        if code.read_text().strip() != "0":
            yield f"$ {command.line}\nexits with {code.read_text().strip()}:\n{printed}"
            return
        missing = first_missing(command.shown, printed)
        if missing is not None:
            yield f"$ {command.line}\ndoes not print\n  {missing}\nbut\n{printed}"


def _run(commands: list[TypedCommand], home: Path, notes: Path) -> None:
    """Type all commands into one shell, so that a `cd` or a job in the background stays."""
    script = "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n"
    for number, command in enumerate(commands):
        output, code = (shlex.quote(str(notes / f"{number}.{end}")) for end in ("text", "code"))
        script += f"{{\n{command.line}\n}} >{output} 2>&1; echo $? >{code}\n"
        script += f'test "$(cat {code})" = 0 || exit 1\n'
    shell = ["bash", "--norc", "-c", script]
    subprocess.run(shell, cwd=home, env=_environment(home), timeout=_LIMIT_S, check=False)


def _environment(home: Path) -> Mapping[str, str]:
    """Return a new user's surroundings, in whose path Venturi is."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VENTURI_", "XDG_"))}
    programs = f"{sysconfig.get_path('scripts')}:{Path(sys.executable).parent}:{kept['PATH']}"
    return {**kept, "HOME": str(home), "PATH": programs, "NO_COLOR": "1", "COLUMNS": "100"}


def first_missing(shown: list[str], printed: str) -> str | None:
    """Return the first shown line that is not printed where the text has it; None: all are.

    Lines are broken where a terminal's width, or the length of a path, wants it: so all white
    space is the same.
    """
    real = _plain(printed)
    pattern = ""
    for line in shown:
        pattern += _pattern(line)
        if re.match(pattern, real, re.S) is None:
            return line
    if not shown or re.fullmatch(pattern, real, re.S):
        return None
    return "only what the text shows"


def _pattern(line: str) -> str:
    """Return what finds a shown line, with the white space before it."""
    parts = [re.escape(_plain(part)) for part in line.split("...")]
    end = "" if line.endswith("...") else r"(?!\S)"
    return r"\s*" + r"\s*.*?\s*".join(parts) + end


def _plain(text: str) -> str:
    """Return a text with '#' in place of each figure, and one space between words."""
    return _FIGURE.sub("#", " ".join(text.split()))
