"""Writes manual pages in the man(7) macros, so that groff and mandoc print a text as it is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

_SOURCE_COLUMNS = 78
_SPECIAL = str.maketrans(
    {
        "\\": r"\(rs",
        "-": r"\-",  # a plain one is printed as a hyphen, which no shell takes
        "'": r"\(aq",
        '"': r"\(dq",
        "`": r"\(ga",
        "^": r"\(ha",
        "~": r"\(ti",
    }
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LITERAL = re.compile(r"(`[^`]+`|(?<![\w-])--[a-z][a-z0-9-]*)")
"""In prose: what stands between backquotes, and long options."""
_MARK = re.compile(r"(\.{3}|[\[\]|,])")
"""Between the words of a usage or of an option."""
_NO_END = re.compile(r"([.?!]\)?) (?=[^A-Z])")
"""Behind an abbreviation: at the end of a source line it would be taken for a sentence's end."""
_END = re.compile(r"(?<=[.?!]) (?=[A-Z])")


def escaped(text: str) -> str:
    """Return a text in which roff sees no markup; only the start of a line needs more."""
    return _NOT_ASCII.sub(lambda one: f"\\[u{ord(one[0]):04X}]", text.translate(_SPECIAL))


def bold(text: str) -> str:
    """Return markup that prints a text in bold."""
    return rf"\fB{escaped(text)}\fR"


def usage(words: str) -> str:
    """Return the markup of a usage or of an option's names: literal words bold, others italic."""
    return " ".join(map(_usage_word, words.split()))


def _usage_word(word: str) -> str:
    parts = (_usage_part(part) for part in _MARK.split(word) if part)
    return "".join(parts)


def _usage_part(part: str) -> str:
    if part == "|":
        return r"|\:"  # a line may end here
    if _MARK.fullmatch(part) or part == "/":
        return escaped(part)
    return rf"\fI{escaped(part)}\fR" if part[0].isupper() else bold(part)


def prose(text: str) -> Iterator[str]:
    """Yield the source lines of a paragraph: a new one for each sentence."""
    flat = " ".join(text.split())
    parts = _LITERAL.split(flat)
    marked = "".join(
        bold(part.strip("`")) if number % 2 else escaped(part) for number, part in enumerate(parts)
    )
    for sentence in _END.split(_NO_END.sub(r"\1\\& ", marked)):
        yield from filled(sentence)


def filled(markup: str) -> Iterator[str]:
    """Yield markup in lines of text, none of which is taken for a request."""
    lines = textwrap.wrap(markup, _SOURCE_COLUMNS, break_long_words=False, break_on_hyphens=False)
    yield from map(_text_line, lines)


def verbatim(lines: Iterable[str]) -> Iterator[str]:
    """Yield an indented block whose lines stay as they are."""
    yield from (".RS 4", ".EX")
    yield from (_text_line(escaped(line.expandtabs().rstrip())) for line in lines)
    yield from (".EE", ".RE")


def entry(tag: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield an entry of a list: markup that stands out, and what it means."""
    body = list(lines)
    yield from (".TP", _text_line(tag), *(body or [r"\&"]))


def head(name: str, date: str, source: str) -> Iterator[str]:
    """Yield the title of a page of section 1; words are not hyphenated, so they can be copied."""
    yield f'.TH {escaped(name.upper())} 1 {date} "{escaped(source)}" "Venturi manual"'
    yield from (".nr HY 0", ".nh", ".ad l")  # HY: groff's macros hyphenate again in each section


def _text_line(markup: str) -> str:
    return rf"\&{markup}" if markup.startswith(".") else markup
