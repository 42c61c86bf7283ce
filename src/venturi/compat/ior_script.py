"""IOR's command line and its scripts, read into tests.

Options, wherever they stand, are the defaults of a script's tests; what a script sets stays set
for its later tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.compat.ior_key import (
    BACKEND_OPTIONS,
    DIRECTIVES,
    HELP,
    KEY_BY_WORD,
    KEYS,
    LEGACY_KEYS,
    OPTIONS,
    SCRIPT,
    TOOL,
    legacy_option,
)
from venturi.compat.ior_test import IorTest, Scalar, make_test
from venturi.compat.option import OptionArgument, OptionKind, nearest, read_options, read_value
from venturi.model.error import UserError
from venturi.model.yaml_text import read_text

_START, _STOP, _RUN = "ior start", "ior stop", "run"
_GLOBAL = ("summary_format", "summary_file")
"""What holds for the whole output, whichever test sets it."""


@dataclass
class _Values:
    """What has been set so far."""

    test: dict[str, Scalar] = field(default_factory=dict)
    backend: dict[str, Scalar] = field(default_factory=dict)

    @property
    def api(self) -> str:
        """The interface at this place: old keys mean its options."""
        return str(self.test.get("api", "POSIX"))

    def count(self, given: OptionArgument) -> None:
        """Take an option of the command line; flags add up."""
        name, value = given.option.name, given.value
        target = self.backend if name in BACKEND_OPTIONS else self.test
        if given.option.kind is OptionKind.FLAG and not given.is_count:
            value = int(target.get(name, 0)) + int(value)
        target[name] = value


def read_command_line(arguments: Sequence[str]) -> list[IorTest]:
    """The tests of a command line, one or those of its script.

    Raises UserError for whatever IOR or this program does not know, with the nearest known word.
    """
    given = read_options(arguments, OPTIONS, TOOL)
    values, script = _Values(), ""
    api = [item for item in given if item.option.name == "api"]
    for item in [*api, *(item for item in given if item.option.name != "api")]:
        name = item.option.name
        if name == HELP:
            raise UserError(
                f"{TOOL}: its options are IOR's", "docs/compatibility/ior.md lists every one"
            )
        if name == SCRIPT:
            script = str(item.value)
        elif name == DIRECTIVES:
            _directives(str(item.value), values, f"{TOOL} -O")
        else:
            values.count(item)
    if not script:
        return [make_test(values.test, values.backend, 0)]
    return _script_tests(Path(script), values)


def _script_tests(path: Path, values: _Values) -> list[IorTest]:
    tests = read_script(read_text(path), values, str(path))
    if not tests:
        raise UserError(f"{path}: there is no test in it", "a test stands below 'IOR START'")
    last = tests[-1]
    if any(getattr(test, name) != getattr(last, name) for test in tests for name in _GLOBAL):
        raise UserError(
            f"{path}: summaryFormat and summaryFile hold for all tests of a script",
            "set them before the first RUN",
        )
    return tests


def read_script(text: str, values: _Values, where: str) -> list[IorTest]:
    """The tests of a script's text; `values` are the defaults and are changed."""
    tests: list[IorTest] = []
    inside = is_open = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        word = " ".join(line.lower().split())
        place = f"{where}:{number}"
        if word == _START:
            inside = True
        elif word == _STOP:
            break
        elif not inside or not line:
            continue
        elif word == _RUN:
            tests.append(_closed(values, len(tests), place))
            is_open = False
        else:
            _line(line, values, place)
            is_open = True
    if is_open or (inside and not tests):
        tests.append(_closed(values, len(tests), where))
    return tests


def _closed(values: _Values, number: int, place: str) -> IorTest:
    try:
        return make_test(values.test, values.backend, number)
    except UserError as error:
        raise UserError(f"{place}: test {number}: {error.message}", error.hint) from None


def _line(line: str, values: _Values, place: str) -> None:
    if not line.startswith("-"):
        _directives(line, values, place)
        return
    words = line.split()
    for item in read_options(words, OPTIONS, TOOL):
        if item.option.name not in BACKEND_OPTIONS:
            raise UserError(
                f"{place}: '{line}' is an option of the command line",
                "a script's lines are key=value, or --backend.option=value",
            )
        values.backend[item.option.name] = item.value


def _directives(text: str, values: _Values, place: str) -> None:
    for part in text.split(","):
        if part.strip():
            _directive(part, values, place)


def _directive(part: str, values: _Values, place: str) -> None:
    word, sign, value = (piece.strip() for piece in part.partition("="))
    if not sign or not word:
        raise UserError(f"{place}: '{part.strip()}' is not key=value")
    if any(mark in value for mark in " \t"):
        raise UserError(f"{place}: {word}: a value cannot contain blanks")
    key = KEY_BY_WORD.get(word.lower())
    if key is not None:
        values.test[key.name] = read_value(key.kind, value, f"{place}: {word}")
        return
    option = word.removeprefix("--")
    if option not in BACKEND_OPTIONS:
        option = legacy_option(word, values.api) or ""
    if not option:
        known = [*(name for item in KEYS for name in item.keys), *LEGACY_KEYS]
        raise UserError(f"{place}: IOR has no key '{word}'", _hint(nearest(word, known)))
    kind = BACKEND_OPTIONS[option]
    values.backend[option] = read_value(kind, value, f"{place}: {word}")


def _hint(near: str) -> str:
    return f"{near} docs/compatibility/ior.md lists every key".strip()
