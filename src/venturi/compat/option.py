"""Command-line options as IOR, mdtest and md-workbench read them.

`-t 4k`, `-t=4k` and `-t4k` are one; flags stand in bundles (`-vvk`, `-v-k`) and are counted; sizes
end in one letter of k m g t p, each a power of two. What these tools let pass in silence (a number
with garbage behind it, a missing value) is an error here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from venturi.model.document import INT64_MAX
from venturi.model.error import UserError

_NUMBER = re.compile(r"([+-]?\d+)(?:([kmgtp])(?:i?b)?|b)?", re.IGNORECASE)
_POWER = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_INTERFACE_OPTION = {"fio": "ioengine"}
"""How tools name their interface, where it is not -a."""
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


class OptionKind(StrEnum):
    """What an option takes."""

    FLAG = "flag"
    """Nothing; giving it again counts. `--flag=2` sets the count."""
    NUMBER = "number"
    """A whole number, with a size's letter where wanted."""
    REAL = "real"
    TEXT = "text"


@dataclass(frozen=True)
class CommandOption:
    """One option: `name` is what the tool's own code reads it by."""

    name: str
    kind: OptionKind = OptionKind.FLAG
    short: str = ""
    """One letter, without its dash."""
    long: str = ""
    """Without its dashes; backends' have a dot: `posix.odirect`."""

    @property
    def spelling(self) -> str:
        """How messages name it: `-t`, `--dryRun`."""
        return f"-{self.short}" if self.short else f"--{self.long}"


@dataclass(frozen=True)
class OptionArgument:
    """An option as the user gave it; a flag's value is the number by which it counts up."""

    option: CommandOption
    value: int | float | str
    is_count: bool = False
    """The value replaces what was counted before (`--flag=2`)."""


def read_options(
    arguments: Sequence[str], table: Sequence[CommandOption], tool: str
) -> list[OptionArgument]:
    """The options in the order in which they were given; UserError for what is none."""
    return list(_ArgumentReader(arguments, table, tool))


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether a command line asks what its options are."""
    return "-h" in words or "--help" in words


def option_list(tool: str, table: Sequence[CommandOption]) -> str:
    """Return the options of a tool, a line for each, and where the page about them is."""
    values = {OptionKind.FLAG: "", OptionKind.NUMBER: "NUMBER", OptionKind.REAL: "NUMBER"}
    lines = [f"venturi compat {tool} -- OPTIONS: those of {tool} that this command knows"]
    for option in table:
        names = [f"-{option.short}"] * bool(option.short) + [f"--{option.long}"] * bool(option.long)
        if names:
            value = values.get(option.kind, "TEXT")
            lines.append(f"  {', '.join(names)} {value}".rstrip())
    lines.append(
        f"docs/compatibility/{tool}.md says what each one does here, or why it is refused."
    )
    return "\n".join(lines)


def in_words_of(tool: str, error: UserError) -> UserError:
    """Return an error whose advice can be followed: these commands have no --set."""
    if "--set" not in error.hint:
        return error
    return UserError(
        error.message,
        f"choose another interface with {_INTERFACE_OPTION.get(tool, '-a')}, or another MPI with "
        f"--on before `--`; "
        f"docs/compatibility/{tool}.md lists the options",
    )


def settle(given: Sequence[OptionArgument]) -> dict[str, int | float | str]:
    """The last value of each option by name; flags are counted."""
    values: dict[str, int | float | str] = {}
    for item in given:
        name, value = item.option.name, item.value
        if item.option.kind is OptionKind.FLAG and not item.is_count:
            value = int(values.get(name, 0)) + int(value)
        values[name] = value
    return values


def read_number(text: str, where: str) -> int:
    """A whole number with an optional letter of a power of two: `4k` is 4096."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UserError(
            f"{where}: '{text}' is not a whole number", "sizes are written 512, 4k, 16m, 1g, 2t"
        )
    value = int(match[1]) << _POWER.get((match[2] or "").lower(), 0)
    if abs(value) > INT64_MAX:
        raise UserError(f"{where}: '{text}' is larger than 2^63 - 1")
    return value


def read_real(text: str, where: str) -> float:
    """A finite decimal number."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?", text.strip()):
        raise UserError(f"{where}: '{text}' is not a number")
    return float(text)


def read_flag(text: str, where: str) -> int:
    """A number of 0 or more, or a word for yes and no."""
    word = text.strip().lower()
    if word in _TRUE or word in _FALSE:
        return int(word in _TRUE)
    return max(read_number(text, where), 0)


def read_value(kind: OptionKind, text: str, where: str) -> int | float | str:
    """The value of an option's text, by what the option takes."""
    if kind is OptionKind.NUMBER:
        return read_number(text, where)
    if kind is OptionKind.REAL:
        return read_real(text, where)
    return read_flag(text, where) if kind is OptionKind.FLAG else text


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint: the known word that is most like this one."""
    lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), list(lower), n=1, cutoff=0.5)
    return f"did you mean '{lower[close[0]]}'?" if close else ""


class _ArgumentReader:
    """Goes through the arguments once."""

    def __init__(self, arguments: Sequence[str], table: Sequence[CommandOption], tool: str) -> None:
        self._rest = list(arguments)
        self._tool = tool
        self._short = {option.short: option for option in table if option.short}
        self._long = {option.long: option for option in table if option.long}

    def __iter__(self) -> Iterator[OptionArgument]:
        while self._rest:
            word = self._rest.pop(0)
            if word.startswith("--") and len(word) > 2:
                yield self._long_option(word)
            elif word.startswith("-") and len(word) > 1:
                yield from self._bundle(word)
            else:
                raise UserError(
                    f"{self._tool}: '{word}' is no option and belongs to none",
                    f"{self._tool} takes options only; is a value missing its option?",
                )

    def _long_option(self, word: str) -> OptionArgument:
        name, sign, text = word[2:].partition("=")
        option = self._long.get(name)
        if option is None:
            hint = nearest(name, list(self._long))
            raise UserError(f"{self._tool}: there is no option --{name}", self._hint(hint))
        if option.kind is OptionKind.FLAG:
            return self._flag(option, text if sign else None)
        return self._valued(option, text if sign else None)

    def _bundle(self, word: str) -> Iterator[OptionArgument]:
        letters, sign, text = word[1:].partition("=")
        for place, letter in enumerate(letters):
            if letter == "-" and place < len(letters) - 1:  # `-z-k`: flags of one bundle
                continue
            option = self._short.get(letter)
            if option is None:
                raise UserError(
                    f"{self._tool}: there is no option -{letter}"
                    + (f" (in '{word}')" if len(word) > 2 else ""),
                    self._hint(nearest(word.lstrip("-"), list(self._long))),
                )
            last = place == len(letters) - 1
            if option.kind is OptionKind.FLAG:
                yield self._flag(option, text if sign and last else None)
                continue
            behind = letters[place + 1 :] + (f"={text}" if sign and not last else "")
            yield self._valued(option, text if sign and last else behind or None)
            return

    def _flag(self, option: CommandOption, text: str | None) -> OptionArgument:
        if text is None:
            return OptionArgument(option, 1)
        return OptionArgument(
            option, read_flag(text, f"{self._tool} {option.spelling}"), is_count=True
        )

    def _valued(self, option: CommandOption, text: str | None) -> OptionArgument:
        where = f"{self._tool} {option.spelling}"
        if text is None:
            if not self._rest:
                raise UserError(f"{where}: a value is missing behind it")
            text = self._rest.pop(0)
        return OptionArgument(option, read_value(option.kind, text, where))

    def _hint(self, near: str) -> str:
        page = f"docs/compatibility/{self._tool}.md lists every option"
        return f"{near} {page}".strip()
