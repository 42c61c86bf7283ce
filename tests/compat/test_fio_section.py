"""Job files and command lines of fio: sections, defaults, includes, variables, and bad input."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from venturi.compat.fio_command import read_command
from venturi.compat.fio_job import FioJob, read_job
from venturi.compat.fio_section import FioSection
from venturi.compat.fio_workload import fio_run
from venturi.model.error import UserError
from venturi.plan.make import make_plan


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def jobs_of(*words: str) -> list[FioJob]:
    command = read_command(words)
    problems = list(command.problems)
    found = [read_job(section, problems) for section in command.sections]
    assert not problems
    return found


def problems_of(*words: str) -> str:
    with pytest.raises(UserError) as caught:
        fio_run(read_command(words))
    return caught.value.message


def words(text: str) -> list[str]:
    return text.split()


def write(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines) + "\n", "utf-8")
    return name


def test_globals_hold_for_the_jobs_below_them() -> None:
    file = write(
        "f", "[global]", "bs=8k", "size=64k", "[a]", "[b]", "bs=1k", "[global]", "rw=write", "[c]"
    )
    a, b, c = jobs_of(file)
    assert [job.block_bytes for job in (a, b, c)] == [8192, 1024, 8192]
    assert [job.pattern for job in (a, b, c)] == ["read", "read", "write"]


def test_a_further_file_waits_and_has_fios_defaults() -> None:
    first = write("f", "[global]", "bs=8k", "[a]", "size=64k")
    second = write("g", "[b]", "size=64k", "[c]", "size=64k")
    a, b, c = jobs_of(first, second)
    assert [job.block_bytes for job in (a, b, c)] == [8192, 4096, 4096]
    assert [job.begins_file for job in (a, b, c)] == [False, True, False]
    run = fio_run(read_command([first, second]))
    assert [job.waits for job in run.jobs] == [frozenset(), frozenset({0}), frozenset({0})]


def test_comments_blanks_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCK", "2")
    file = write(
        "f",
        "; a comment",
        "# another",
        "[a]",
        " bs = ${BLOCK}k ; two",
        "size=64k#x",
        "numjobs=$ncpus",
    )
    (job,) = jobs_of(file)
    assert (job.block_bytes, job.size) == (2048, 65536)
    assert job.clones >= 1


def test_an_included_file_is_part_of_its_section() -> None:
    Path("sub").mkdir()
    write("sub/more", "bs=2k")
    file = write("sub/f", "[a]", "include more", "size=8k")
    (job,) = jobs_of(file)
    assert (job.block_bytes, job.size) == (2048, 8192)


def test_options_of_the_command_line() -> None:
    a, b = jobs_of("--bs=1k", "--name=a", "--size", "64k", "--name", "b", "--rw=write", "--size=4k")
    assert [(job.name, job.block_bytes, job.size) for job in (a, b)] == [
        ("a", 1024, 65536),
        ("b", 1024, 4096),
    ]


def test_only_the_sections_that_are_wanted() -> None:
    file = write("f", "[a]", "size=4k", "[b]", "size=4k", "[c]", "size=4k")
    found = jobs_of("--section=a", "--section=c", file)
    assert [job.name for job in found] == ["a", "c"]


def test_all_that_is_wrong_is_named_at_once_with_its_line() -> None:
    file = write(
        "f", "[a]", "size=1.5k", "bogus=1", "iodepht=4", "end_fsync", "rw=trim", "exec_prerun=true"
    )
    told = problems_of(file)
    assert "6 problems" in told
    for line, text in (
        (2, "size=1.5k: '1.5k' is not a whole number"),
        (3, "bogus=1: fio has no such option"),
        (4, "iodepht=4: fio has no such option; did you mean 'iodepth'?"),
        (5, "end_fsync: a value is needed"),
        (6, "rw=trim is refused"),
        (7, "exec_prerun=true is refused: commands are never executed"),
    ):
        assert f"f:{line}: {text}" in told


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["size=4k"], "f:1: 'size' stands before the first [section]"),
        (["[a", "size=4k"], "f:1: '[a' is not closed by ']'"),
        (["[]", "size=4k"], "f:1: a job needs a name"),
        (["[a]", "size=${NO_SUCH_THING}"], "f:2: ${NO_SUCH_THING} is not set in the environment"),
        (["[a]", "size=(4*1024)"], "f:2: size=(4*1024): '(4*1024)' is not a whole number"),
        (["[a]", "include nowhere"], "f:2: fio: the job file nowhere cannot be read"),
        (["[a]", "include f"], "a file that a section includes has no sections"),
        (["[a]", "rw=write"], "f:1: job a: size is needed"),
        (["[a]", "size=4k", "bs=8k"], "there is no room for a request of 8192 B"),
        (["[a]", "size=9999999999999999999"], "is larger than 2^63 - 1"),
        (["[a]", "size=4k", "runtime=1 year"], "runtime=1 year: '1 year' is not a time"),
        (["[a]", "size=4k", "direct=yes"], "direct=yes: 'yes' is neither 0 nor 1"),
        (["[a]", "size=4k", "bs=0"], "bs=0: a request has 1 byte or more"),
        (["[a]", "size=4k", "bssplit=4k/50:8k/60"], "the percentages do not add up to 100"),
        (["[a]", "size=4k", "numjobs=0"], "numjobs=0: 0 is out of range"),
        (
            ["[a]", "size=4k", "filename=../x", "directory=d"],
            "a run's files lie below its directory",
        ),
        (["[a]", "size=4k", "filename=x:x", "rw=write"], "one name stands there twice"),
        (["[a]", "size=4k", "x" * 9000], "a line has 8192 characters at most"),
    ],
)
def test_bad_job_files(lines: list[str], message: str) -> None:
    assert message in problems_of(write("f", *lines))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size=4k"], "there is no job"),
        (["nowhere"], "the job file nowhere cannot be read"),
        (["--name=a", "--size=4k", "-x"], "'-x' is no option of fio"),
        (["--name=a", "--size=4k", "--output-format=terse"], "there are normal and json"),
        (["--name=a", "--size=4k", "--output=x"], "it is for --output-format=json"),
        (["--name=a", "--size=4k", "--client=host"], "--client is refused"),
        (["--name=a", "--size=4k", "--trigger=rm"], "commands are never executed"),
        (["--readonly", "--name=a", "--size=4k", "--rw=write"], "--readonly forbids it"),
    ],
)
def test_bad_command_lines(words: list[str], message: str) -> None:
    assert message in problems_of(*words)


def test_options_that_no_job_would_have_are_refused() -> None:
    file = write("f", "[a]", "size=4k")
    assert "--direct belongs to no job" in problems_of("--direct=1", file)


def test_what_is_no_text_is_one_sentence() -> None:
    for content in (b"\xff\xfe[a]", b"[a]\0\nsize=4k"):
        Path("f").write_bytes(content)
        assert "cannot be read: it is no text" in problems_of("f")


def test_files_that_include_each_other_end() -> None:
    write("g", "include g")
    assert "more than 16 deep" in problems_of(write("f", "[a]", "include g", "size=4k"))


@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_read_ends_with_a_run_or_a_sentence(seed: int) -> None:
    chance = random.Random(seed)
    keys = words("size bs rw numjobs filename runtime rate bssplit bsrange offset ioengine fsync "
            "thinktime nrfiles loops io_size iodepth verify stonewall startdelay")  # fmt: skip
    values = words("1 0 4k 64k 1m rand randwrite write read -1 10% 1,2 a:b : / , 4k-8k 4k/50:8k/50 "
              "0x10 io_uring mmap sync 1s 18446744073709551616 é { } ${X} zipf:1 50")  # fmt: skip
    lines = ["[a]", "size=64k"] if chance.random() < 0.7 else []
    for _ in range(chance.randint(0, 6)):
        lines.append(f"{chance.choice(keys)}={chance.choice(values)}")
        if chance.random() < 0.2:
            lines.append(chance.choice(["[b]", "[global]", "[", "]", "=", "include f", "x=y=z"]))
    told = ""
    try:
        trial = fio_run(read_command([write("f", *lines)])).trial
        make_plan(trial.workload, trial.settings(nodes=1, most_ranks=1 << 20))
    except UserError as error:
        told = error.message
    assert not told or re.match(r"fio: |files\.|program\.|groups|phase", told)


@pytest.mark.needs("fio")
@pytest.mark.parametrize("base", ["1000", "1024"])
@pytest.mark.parametrize(
    "text", ["4k", "4kb", "4KiB", "4ki", "8192", "0x2000", "8192b", "1m", "1mi", "1MiB"]
)
def test_sizes_are_what_fio_takes_them_for(text: str, base: str) -> None:
    place = Path("place")
    place.mkdir()
    line = ["--name=a", f"--kb_base={base}", f"--size={text}", "--rw=write", "--bs=512"]
    line.append("--directory=place")
    done = subprocess.run(["fio", *line, "--create_only=1"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    (job,) = jobs_of(*line)
    assert (place / "a.0.0").stat().st_size == job.size


def test_a_section_knows_where_it_stands() -> None:
    (section,) = read_command([write("f", "", "[a]", "size=4k")]).sections
    assert isinstance(section, FioSection)
    assert section.where == "f:2"
