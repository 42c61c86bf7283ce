"""What public readers of IOR's and mdtest's texts look for is in ours, whatever remarks say.

Each entry restates how one public reader finds its numbers; remarks (`# ...`) must change nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import pytest

from compat.conftest import Tool

Reader = Callable[[str], list[str]]
_TWO = r"[ ]+([0-9.]+)[ ]+([0-9.]+)[ ]+([0-9.]+).*"


def by_pattern(*patterns: str) -> Reader:
    def read(text: str) -> list[str]:
        found = [re.findall(pattern, text, re.MULTILINE) for pattern in patterns]
        assert all(found), patterns
        return [str(one) for matches in found for one in matches]

    return read


def below_the_summary(text: str) -> list[str]:
    """By position: the header is one line below the title, the write two, the read three."""
    lines = text.splitlines()
    title = lines.index("Summary of all tests:")
    assert lines[title + 2].split()[0] == "write"
    assert lines[title + 3].split()[0] == "read"
    return [*lines[title + 2].split()[1:4], *lines[title + 3].split()[1:4]]


def first_words_below_the_summary(text: str) -> list[str]:
    """By the first word of a line below the title, and the number of its column."""
    rest = text.partition("Summary of all tests:")[2].splitlines()
    rows = [next(line for line in rest if line.startswith(word)) for word in ("write", "read")]
    return [row.split()[3] for row in rows]


def named_columns_of_the_summary(text: str) -> list[str]:
    """As a table whose columns have names, between the title and `Finished`."""
    match = re.search("Summary of all tests:\n(.*?)Finished", text, re.DOTALL)
    assert match is not None
    rows = list(csv.DictReader(io.StringIO(re.sub(" +", " ", match[1])), delimiter=" "))
    assert [row["Operation"] for row in rows] == ["write", "read"]
    return [row[name] for row in rows for name in ("Mean(MiB)", "Mean(OPs)", "#Tasks", "API")]


def rows_of_results(text: str) -> list[str]:
    """Line by line: columns named by the header below `Results:`, until a line with `Max`."""
    rest = iter(text.partition("Results: ")[2].splitlines())
    columns = next(line for line in rest if line.startswith("access")).split()
    next(rest)
    found = []
    for line in rest:
        if line.startswith("Max"):
            break
        if line.startswith(("write", "read")):
            row = dict(zip(columns, line.split(), strict=True))
            found.append(row["bw(MiB/s)"])
    assert len(found) == 2
    return found


IOR: dict[str, Reader] = {
    "best rates with their unit": by_pattern(r"^Max Write:\s+(\S+) MiB", r"^Max Read:\s+(\S+) MiB"),
    "best rates alone": by_pattern(r"Max Write:\s+(\S+)", r"Max Read:\s+(\S+)"),
    "version": by_pattern(r"^IOR-([3-9]\.[0-9]+\.[0-9]+\S*):"),
    "summary by pattern": by_pattern(rf"^write{_TWO}", rf"^read{_TWO}"),
    "summary by position": below_the_summary,
    "summary by first word": first_words_below_the_summary,
    "summary by named columns": named_columns_of_the_summary,
    "rows of results": rows_of_results,
    "end": by_pattern(r"^Finished            : (\S+ \S+ +\d+ [\d:]+ \d+)$"),
}
MDTEST: dict[str, Reader] = {
    "head": by_pattern(
        r"^mdtest-([\d.]+) was launched with (\d+) total task\(s\) on (\d+) node\(s\)\s*$",
        r"^(\d+) tasks, (\d+) files\s*$",
    ),
    "means": by_pattern(
        *(
            rf"^\s+File {what}\s+:?\s+[0-9.]+\s+[0-9.]+\s+(\S+)\s+"
            for what in ("creation", "stat", "read", "removal")
        ),
        r"^\s+Tree creation\s+:?\s+[0-9.]+\s+[0-9.]+\s+(\S+)\s+",
    ),
    "four numbers": by_pattern(
        r"(\w+\s+\w+)\s*:?\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)$"
    ),
}


def check(text: str, readers: dict[str, Reader]) -> None:
    remarks = [line for line in text.splitlines() if line.startswith("#")]
    assert remarks
    bare = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    for name, read in readers.items():
        found = read(text)
        assert found, name
        assert found == read(bare), name


@pytest.mark.parametrize("form", ["", "-vvv", "-D 5"])
def test_readers_of_ior_s_text(tool: Tool, form: str) -> None:
    words = ["-w", "-r", "-t", "4k", "-b", "64k", "-o", "./f", *form.split()]
    done = tool("ior", "-q", "-n", "2", "--output-format", "ior-text", "--", *words)
    assert done.returncode == 0, done.stderr
    check(done.stdout, IOR)


@pytest.mark.parametrize("form", ["", "-v", "-i 2"])
def test_readers_of_mdtest_s_text(tool: Tool, form: str) -> None:
    words = ["-n", "4", "-F", "-d", ".", *form.split()]
    done = tool("mdtest", "-q", "-n", "2", "--output-format", "mdtest-text", "--", *words)
    assert done.returncode == 0, done.stderr
    check(done.stdout, MDTEST)
