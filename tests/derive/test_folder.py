"""Files that lie in several folders do so in the proxy, too."""

from __future__ import annotations

import re

import pytest
from traced_run import MS, REOPEN, TracedRun, check_exact, derived

from venturi.derive.operation.folder import files_in_each
from venturi.model.operation import Kind
from venturi.model.workload import Workload


def sizes(number: int) -> list[tuple[int, int]]:
    """Requests of a file, other ones for each file, so that no tree of items says them."""
    return [(0, 4096 + 64 * (number * 7 % 13)), (8192, 100 + number * 5 % 11)]


def read_tree(folders: int, each: int) -> TracedRun:
    run = TracedRun(1)
    for number in range(folders * each):
        path = f"tree/part{number // each}/file{number}"
        run.call(0, Kind.STAT, path)
        run.open(0, path, REOPEN)
        run.move(0, Kind.READ, path, sizes(number))
        run.close(0, path)
    return run


def paths(workload: Workload) -> set[str]:
    """Names of files, whatever they begin with."""
    return {re.sub(r"^[A-Za-z]\w*?(?=[./]|_\{)", "X", one.path) for one in workload.files.values()}


def test_files_that_are_read_lie_in_as_many_folders() -> None:
    run = read_tree(6, 10)
    found = derived(run)
    check_exact(run, found, files=60)
    assert paths(found) == {"X/{i // 10}/{i}"}


def test_folders_are_those_that_the_program_makes() -> None:
    run = TracedRun(1)
    for folder in range(20):
        run.call(0, Kind.MKDIR, f"copy/part{folder}")
        for number in range(20):
            path = f"copy/part{folder}/file{number}"
            run.open(0, path)
            run.move(0, Kind.WRITE, path, sizes(20 * folder + number))
            run.close(0, path)
    found = derived(run, simplify=True)
    check_exact(run, found)
    files, folders = "streamA1.{20 * i + j}", "X.{i}"
    assert paths(found) == {folders, f"X.{{(20 * i + j) // 20}}/{files}"}


def test_one_folder_needs_no_name() -> None:
    run = read_tree(1, 40)
    assert paths(derived(run)) == {"X_{i}"}


@pytest.mark.parametrize(
    ("homes", "each"),
    [
        ([["a"] * 8 + ["b"] * 8], 8),
        ([["a"] * 8 + ["b"] * 6], 7),  # nearly even
        ([["a"] * 8 + ["b"] * 8 + ["a"] * 8], 0),  # back in the first one
        ([["a"] * 2 + ["b"] * 2], 0),  # hardly any in each
        ([["a"] * 90 + ["b"] * 8 + ["c"] * 8], 0),  # uneven
        ([["a"] * 8 + ["b"] * 8, ["c"] * 8 + ["d"] * 8], 8),
        ([["a"] * 8 + ["b"] * 8, ["c"] * 4 + ["d"] * 4], 0),  # owners differ
    ],
)
def test_the_rule_of_folders(homes: list[list[str]], each: int) -> None:
    assert files_in_each(homes) == each


def test_a_dump_that_is_read_back_keeps_its_folder() -> None:
    run = TracedRun(1)
    for dump in range(12):
        path = f"run{dump // 6}/dump_{dump}"
        run.open(0, path)
        run.move(0, Kind.WRITE, path, [(0, 2**20), (2**20, 2**20)])
        run.close(0, path)
        run.meet(50 * MS)
    path = "run1/dump_8"
    run.open(0, path, REOPEN)
    run.move(0, Kind.READ, path, [(0, 2**20)])
    run.close(0, path)
    found = derived(run)
    check_exact(run, found, files=12)
    assert paths(found) == {"X/{i // 6}/{i}", "X/1/8"}
