"""Every command has a manual page that groff and mandoc print as its help says it."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator

import click
import pytest
from codec_program import PROJECT

from generate import manual, roff
from generate.command import EXIT_STATUS, paragraphs
from generate.surroundings import FILES, VARIABLES
from venturi.cli.help import SHOWS_ALL
from venturi.cli.main import COMMANDS, venturi
from venturi.model.error import ExitCode

PAGES = {path.stem: text for path, text in manual.pages()}
PRINTERS = {
    "groff": ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=80n"],
    "mandoc": ["mandoc", "-T", "utf8", "-O", "width=80"],
}
CHECKS = {
    "groff": ["groff", "-man", "-ww", "-z", "-Tutf8"],
    "mandoc": ["mandoc", "-T", "lint", "-W", "all"],
}
needs_roff = pytest.mark.needs("roff")
_OVERSTRIKE = re.compile(r".\x08")
_SECTIONS = re.compile(r"^(?=[A-Z][A-Z ]*$)", re.M)


def contexts(context: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command and of each one below it, but of old names."""
    yield context
    command = context.command
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)
        assert below is not None
        if not below.hidden:
            yield from contexts(click.Context(below, parent=context, info_name=name))


def whole(command: click.Command) -> click.Context:
    """A context of its own, in which all options are shown."""
    context = click.Context(command, info_name="venturi")
    context.meta[SHOWS_ALL] = True
    return context


COMMANDS_WITH_PAGE = {one.command_path.replace(" ", "-"): one for one in contexts(whole(venturi))}


def said_by(words: list[str], page: str) -> str:
    """What a program says of a page; it must not fail."""
    return subprocess.run(words, input=page, capture_output=True, text=True, check=True).stdout


def complaints(checker: str, page: str) -> str:
    """What a checker finds wrong with a page."""
    done = subprocess.run(CHECKS[checker], input=page, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def printed(page: str, printer: str) -> dict[str, str]:
    """The sections of a page as it is printed in 80 columns, by their titles."""
    lines = _OVERSTRIKE.sub("", said_by(PRINTERS[printer], page)).splitlines()
    text = "\n".join(lines[1:-1]).rstrip()  # without the header and the footer
    parts = [part.partition("\n") for part in _SECTIONS.split(text) if part.strip()]
    return {title: body for title, _, body in parts}


def flat(text: str) -> str:
    return " ".join(text.split())


def plain(text: str) -> str:
    """What is left of a text of help in print: backquotes become bold letters."""
    return flat(re.sub(r"`([^`]+)`", r"\1", flat(text)))


def test_every_command_has_a_page_and_no_page_is_left_over() -> None:
    assert set(PAGES) == set(COMMANDS_WITH_PAGE)
    assert {f"venturi-{name}" for name in COMMANDS} < set(PAGES)
    assert {path.name for path in (PROJECT / manual.FOLDER).iterdir()} == {
        f"{name}.1" for name in PAGES
    }


@needs_roff
@pytest.mark.parametrize("checker", CHECKS)
def test_nothing_is_wrong_with_any_page(checker: str) -> None:
    files = [str(path) for path in sorted((PROJECT / manual.FOLDER).iterdir())]
    done = subprocess.run([*CHECKS[checker], *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_roff
def test_a_checker_sees_what_is_wrong() -> None:
    wrong = PAGES["venturi-run"].replace(".SH OPTIONS", ".SX OPTIONS")
    for checker in CHECKS:
        assert "SX" in complaints(checker, wrong)


@needs_roff
@pytest.mark.parametrize("printer", PRINTERS)
def test_print_holds_usage_every_option_and_every_example(printer: str) -> None:
    for name, context in COMMANDS_WITH_PAGE.items():
        sections = printed(PAGES[name], printer)
        assert [*sections][:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"], name
        assert flat(sections["NAME"]).startswith(f"{name} - ")
        usage = [context.command_path, *context.command.collect_usage_pieces(context)]
        assert flat(sections["SYNOPSIS"]) == " ".join(usage)
        options = flat(sections["OPTIONS"])
        for option in context.command.get_params(context):
            if isinstance(option, click.Option):
                words, about = option.get_help_record(context) or ("--help-all", "")
                assert f"{words} {plain(about)}".strip() in options, (name, words)
        examples = [p.lines for p in paragraphs(context.command) if p.text.startswith("Example")]
        shown = [line.strip() for line in sections.get("EXAMPLES", "").splitlines()]
        assert [line for line in shown if line.startswith(("venturi", "module"))] == [
            line for block in examples for line in block
        ]


def test_pages_name_each_other() -> None:
    for name, context in COMMANDS_WITH_PAGE.items():
        section = PAGES[name].partition(".SH SEE ALSO\n")[2].replace("\\-", "-")
        related = re.findall(r"\\fB([\w-]+)\\fR\(1\)", section)
        assert set(related) <= set(PAGES) - {name}
        assert name == "venturi" or "venturi" in related
        above = context.parent
        assert above is None or above.command_path.replace(" ", "-") in related


def test_every_exit_code_is_explained() -> None:
    assert set(EXIT_STATUS) == set(ExitCode)
    for page in PAGES.values():
        section = page.partition(".SH EXIT STATUS\n")[2].partition(".SH")[0]
        codes = re.findall(r"^\.TP\n\\fB(\d+)\\fR$", section, re.M)
        assert codes == [str(code.value) for code in ExitCode]


def test_every_documented_variable_has_an_entry() -> None:
    pages = [*(PROJECT / "docs").rglob("*.md"), PROJECT / "README.md"]
    texts = [page.read_text("utf-8") for page in pages if page.name != "nightly.md"]
    documented = {name for text in texts for name in re.findall(r"\b_?VENTURI_[A-Z_]+\b", text)}
    ours = {one.name for one in VARIABLES if "VENTURI" in one.name}
    assert documented == ours
    for one in VARIABLES:
        assert rf"\fB{one.name}\fR" in PAGES["venturi"]
    assert r"\fBVENTURI_TRACE_DIR\fR" in PAGES["venturi-capture"]
    assert r"\fBVENTURI_TRACE_DIR\fR" not in PAGES["venturi-plan"]


def test_what_a_command_minds_is_said_of_commands_that_there_are() -> None:
    paths = {one.command_path.removeprefix("venturi ") for one in COMMANDS_WITH_PAGE.values()}
    for one in (*VARIABLES, *FILES):
        assert set(one.commands) <= paths, one.name
        assert sum(map(one.is_for, COMMANDS_WITH_PAGE.values())) > len(one.commands)


ALPHABET = r""".'"\-`^~$%&()[]{}<>|/#*_@!?:;,=+aeimnrstEXSPfBRTWÄéß–…µ≥“0149"""


def random_text(source: random.Random) -> str:
    """Words full of what means something to roff, none too long for a line."""
    words = ("".join(source.choices(ALPHABET, k=source.randint(1, 12))) for _ in range(40))
    return " ".join(
        source.choice([word, word, f".{word}", f"'{word}", f"\\{word}"]) for word in words
    )


def random_command(source: random.Random) -> click.Command:
    """A command whose help and options are such words."""
    help_texts = [random_text(source) for _ in range(20)]
    lines = "\n".join(f"  {random_text(source)[:60].rstrip()}" for _ in range(20))
    help_texts.append(f"\b\nExamples:\n{lines}")
    options = [
        click.Option([f"--option-{number}"], metavar="WORD", help=random_text(source))
        for number in range(20)
    ]
    text = "\n\n".join(one.replace("\f", "") for one in help_texts)
    return click.Command("venturi", params=[*options], help=text)


@needs_roff
@pytest.mark.parametrize("printer", PRINTERS)
@pytest.mark.parametrize("seed", range(5))
def test_random_help_is_printed_as_it_is(seed: int, printer: str) -> None:
    command = random_command(random.Random(seed))
    context = whole(command)
    page = manual.page(context)
    assert page.isascii()
    assert complaints(printer, page) == ""
    sections = printed(page, printer)
    blocks = list(paragraphs(command))
    description = [plain(block.text) for block in blocks[:-1]]
    assert flat(sections["DESCRIPTION"]) == flat(" ".join(description))
    shown = [line[11:] for line in sections["EXAMPLES"].splitlines() if line.strip()]
    assert shown == list(blocks[-1].lines)
    records = [option.get_help_record(context) for option in command.get_params(context)]
    told = [f"{record[0]} {plain(record[1])}" for record in records if record is not None]
    assert flat(sections["OPTIONS"]) == flat(" ".join(told))


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (".TH at the start", [r"\&.TH at the start"]),
        ("'br is an apostrophe", [r"\(aqbr is an apostrophe"]),
        (r"a\nb", [r"a\(rsnb"]),
        ("use --dry-run", [r"use \fB\-\-dry\-run\fR"]),
        ("before `--`.", [r"before \fB\-\-\fR."]),
        ("One. Two.", ["One.", "Two."]),
        ("e.g. one of it", [r"e.g.\& one of it"]),
        ("one ` and ~ and ^", [r"one \(ga and \(ti and \(ha"]),
        ("5 µs", [r"5 \[u00B5]s"]),
        ("", []),
    ],
)
def test_prose_in_roff(text: str, source: list[str]) -> None:
    assert list(roff.prose(text)) == source
