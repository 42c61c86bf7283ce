"""A captured program behaves as alone: its exit code, its streams, its limits, its C library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from capture.conftest import Capture

WRITER = """
#include <fcntl.h>
#include <unistd.h>
int main(int count, char** words) {
  int fd = open("out", O_CREAT | O_WRONLY, 0600);
  for (int i = 0; i < 10; ++i)
    if (write(fd, "abc", 3) != 3) return 9;
  if (count > 1 && words[1][0] == '/') execvp(words[1], words + 1);
  return close(fd);
}
"""


def compiled(here: Path, name: str, *command: str) -> str:
    """A program that writes `out` and then becomes what its words say."""
    here.mkdir(exist_ok=True)
    source = here / f"{name}.c"
    source.write_text(WRITER, "utf-8")
    subprocess.run([*command, "-o", str(here / name), str(source)], check=True)
    return str(here / name)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 7, 126, 127, 130, 255])
def test_the_exit_code_is_the_programs(capture: Capture, code: int) -> None:
    capture("sh", "-c", f"echo x > out; exit {code}", code=code)


@pytest.mark.parametrize("signal", [2, 6, 9, 11, 15])
def test_a_signal_is_told_as_shells_do(capture: Capture, signal: int) -> None:
    run = capture("sh", "-c", f"echo x > out; kill -{signal} $$", code=128 + signal)
    assert f"signal {signal}" in run.done.stderr


def test_a_command_that_is_not_there_is_our_error(capture: Capture) -> None:
    capture.here.mkdir()
    done = subprocess.run(
        [*capture.line(capture.place / "x.trace"), "--", "./nowhere"],
        cwd=capture.here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "./nowhere" in done.stderr


def test_a_program_of_another_c_library_runs_as_alone(capture: Capture) -> None:
    program = compiled(capture.here, "musl", "musl-gcc")
    run = capture(program)
    assert (capture.here / "out").stat().st_size == 30
    assert run.done.stderr.startswith(f"venturi: '{program}' runs untraced: it uses another C")
    assert "relocating" not in run.done.stderr


@pytest.mark.parametrize("way", ["shell", "exec", "python", "script"])
def test_so_does_one_that_a_traced_program_starts(capture: Capture, way: str) -> None:
    program = compiled(capture.here, "musl", "musl-gcc")
    (capture.here / "script").write_text(f"#!{program}\n", "utf-8")
    (capture.here / "script").chmod(0o700)
    line = {
        "shell": ("sh", "-c", f"{program}; true"),
        "exec": (compiled(capture.here, "first", "gcc"), program),
        "python": (
            "python3",
            "-c",
            f"import subprocess; subprocess.run(['{program}'], check=True)",
        ),
        "script": ("sh", "-c", "./script; true"),
    }[way]
    run = capture(*line)
    assert (capture.here / "out").stat().st_size == 30
    assert "relocating" not in run.done.stderr
    [gap] = [gap.what for gap in run.trace.gaps]
    assert "another C library" in gap


def test_a_static_program_is_named_before_it_starts(capture: Capture) -> None:
    program = compiled(capture.here, "fixed", "gcc", "-static")
    run = capture(program)
    assert run.done.stderr.startswith(
        f"venturi: '{program}' runs untraced: it is linked statically"
    )


def test_a_limit_of_descriptors_is_named(capture: Capture) -> None:
    program = compiled(capture.here, "plain", "gcc")
    run = capture("sh", "-c", f"ulimit -n 4; {program}")
    assert (capture.here / "out").stat().st_size == 30
    assert "ld.so" not in run.done.stderr
    assert any("no file descriptor was free" in gap.what for gap in run.trace.gaps)
    assert not any("truncated" in gap.what for gap in run.trace.gaps)


@pytest.mark.parametrize("options", [(), ("-q",)])
def test_captures_of_one_name_at_once_land_beside_each_other(
    capture: Capture, options: tuple[str, ...]
) -> None:
    capture.here.mkdir()
    wait = (
        "touch begun.$$; while [ $(ls begun.* | wc -l) -lt 3 ]; do sleep 0.01; done; echo x > out"
    )
    line = [sys.executable, "-m", "venturi", "capture", *options, "--", "sh", "-c", wait]
    processes = [
        subprocess.Popen(line, cwd=capture.here, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = "".join(process.communicate()[1] for process in processes)
    assert [process.returncode for process in processes] == [0, 0, 0]
    made = sorted(path.name for path in capture.here.glob("*.trace"))
    assert made == ["sh-2.trace", "sh-3.trace", "sh.trace"]
    assert all(name in said for name in made[:2])
