"""fio and our engine for the same job, call by call: places, sizes, kinds, syncs, files."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from compat.conftest import Tool
from compat.fio_calls import FileCall, calls_of, moved, trace
from compat.fio_jobs import RandomJob, random_job

pytestmark = pytest.mark.needs("fio", "strace")
_NAME = r"((?:[af]|g|b)(?:\.\d+){0,2})$"
SEEDS = range(16)


def fio_calls(path: Path, tool: Tool) -> tuple[list[list[FileCall]], dict[str, int]]:
    """The calls of each process of fio's job, and the sizes that its files have in the end."""
    place = tool.target / "fio"
    place.mkdir()
    text = trace(["fio", str(path)], place, tool.target / "fio.txt", {})
    parent = text.split(None, 1)[0]
    by_process = calls_of(text, re.compile(rf"^{_NAME}"))
    jobs = [calls for pid, calls in by_process.items() if pid != parent]
    return jobs, {file.name: file.stat().st_size for file in place.iterdir()}


def our_calls(path: Path, tool: Tool) -> list[list[FileCall]]:
    """The calls of each of our ranks."""
    line = tool.line("fio", "-q", "-d", str(tool.target / "ours"), "--", str(path))
    text = trace(line, tool.target, tool.target / "ours.txt", tool.variables())
    by_process = calls_of(text, re.compile(rf"^{_NAME}"))
    return [calls for calls in by_process.values() if moved(calls)]


def job_part(ours: list[FileCall], theirs: list[FileCall], job: RandomJob) -> list[FileCall]:
    """What our rank did in the job's own phase: after it filled the files, where it did so."""
    found = moved(ours)
    if not job.is_filled:
        return found
    return found[len(found) - len(moved(theirs)) :]


def compare(ours: list[FileCall], theirs: list[FileCall], job: RandomJob) -> None:
    mine, fios = job_part(ours, theirs, job), moved(theirs)
    if not job.is_random and not job.is_mixed:
        assert mine == fios
        return
    if not job.is_random:  # how many of each is by chance in fio
        for kind in ("read", "write"):
            places = [call.offset for call in mine if call.kind == kind]
            others = [call.offset for call in fios if call.kind == kind]
            shorter = min(len(places), len(others)) if "loops=2" not in job.lines else 1
            assert places[:shorter] == others[:shorter]
        assert [call.bytes for call in mine] == [call.bytes for call in fios]
        return
    assert [call.kind for call in mine if call.kind.startswith("f")] == [
        call.kind for call in fios if call.kind.startswith("f")
    ]
    data, other = ([c for c in calls if c.bytes] for calls in (mine, fios))
    assert len(data) == len(other)
    assert Counter((c.file, c.bytes) for c in data) == Counter((c.file, c.bytes) for c in other)
    whole = not job.repeats_places and not any("io_size" in x or "number" in x for x in job.lines)
    if whole:
        assert sorted((c.file, c.offset) for c in data) == sorted((c.file, c.offset) for c in other)
    if not job.is_mixed:
        assert {c.kind for c in data} == {c.kind for c in other}


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_are_fios(tool: Tool, seed: int) -> None:
    job = random_job(seed)
    (tool.target / "ours").mkdir()
    path = tool.target / "job.fio"
    path.write_text(job.text() + "unlink=0\n", "utf-8")
    theirs, sizes = fio_calls(path, tool)
    ours = our_calls(path, tool)
    assert len(ours) == len(theirs), job.text()
    (run,) = (tool.target / "ours").glob("venturi-*")
    kept = {file.name: file.stat().st_size for file in run.iterdir() if file.name in sizes}
    if not job.ends_anywhere:
        assert kept == sizes, job.text()

    def key(calls: list[FileCall]) -> tuple[str, list[FileCall]]:
        return (calls[0].file, moved(calls)[-3:])

    for mine, fios in zip(sorted(ours, key=key), sorted(theirs, key=key), strict=True):
        compare(mine, fios, job)
