"""System calls by their number are as good as the C library's functions."""

from __future__ import annotations

import pytest

from capture.conftest import Capture, Run, compile_program


def calls(run: Run) -> list[tuple[object, ...]]:
    """What was done, without the program's loading and the system's files."""
    return [row for row in run.rows() if row[0] == "posix"]


def test_functions_and_numbers_leave_the_same_trace(capture: Capture) -> None:
    by = {way: capture(capture.program("numbers"), way, way) for way in ("function", "number")}
    expected, found = calls(by["function"]), calls(by["number"])
    # The folders have other names.
    assert len(expected) > 50
    apart = [
        pair
        for pair in zip(expected, found, strict=True)
        if pair[0] != pair[1] and {"function", "number"} != {pair[0][2], pair[1][2]}
    ]
    assert apart == []
    assert [gap.what for gap in by["number"].trace.gaps] == []
    assert [process.ended_s is None for process in by["number"].trace.processes] == [False]


FAILS = """
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>
int main(int count, char** words) {
  char value[8];
  int fd = open("file", O_CREAT | O_WRONLY, 0600);
  if (count < 2 || fd < 0 || symlink("loop", "loop") != 0 || mkdir("full", 0700) != 0) return 9;
  if (mkdir("full/more", 0700) != 0 || mkfifo("pipe", 0600) != 0) return 9;
  for (int i = 0; i < atoi(words[1]); ++i) {
    if (open("loop", O_RDONLY) >= 0 || errno != ELOOP) return 1;
    if (rmdir("full") == 0 || errno != ENOTEMPTY) return 2;
    if (open("pipe", O_WRONLY | O_NONBLOCK) >= 0 || errno != ENXIO) return 3;
    if (unlink("full") == 0 || errno != EISDIR) return 4;
    if (getxattr("file", "user.none", value, 8) >= 0) return 5;
    if (rename("full", "full/more/less") == 0 || errno != EINVAL) return 6;
    if (link("file", "pipe") == 0 || errno != EEXIST) return 7;
    if (rename("full/more", "/proc/none") == 0 || errno != EXDEV) return 8;
  }
  return 0;
}
"""


@pytest.mark.needs("strace")
def test_a_failed_call_costs_no_system_call(capture: Capture) -> None:
    """But where the kernel may not have read its paths: both of one of the eight, and the one of
    another where the file system has no extended attributes."""
    program = capture.compiled(FAILS)
    counts = []
    for times in (100, 300):
        log = capture.place / f"strace{times}"
        capture(
            "sh",
            "-c",
            f"rm -rf {times}; mkdir {times}; cd {times}; "
            f"exec strace -o {log} -e trace=rt_sigprocmask {program} {times}",
        )
        counts.append(len(log.read_text("utf-8").splitlines()))
    assert counts[1] - counts[0] <= 3 * 200


def test_descriptors_are_followed(capture: Capture) -> None:
    source = capture.place / "again.c"
    source.write_text(AGAIN, "utf-8")
    compile_program(source, capture.place / "again")
    run = capture(str(capture.place / "again"))
    assert run.count()["write", "first"] == 1
    assert run.count()["write", "second"] == 2


AGAIN = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  int fd = open("first", O_CREAT | O_WRONLY, 0600);
  if (write(fd, "a", 1) != 1) return 9;
  syscall(SYS_close, fd);
  if (syscall(SYS_openat, AT_FDCWD, "second", O_CREAT | O_WRONLY, 0600) != fd) return 8;
  if (write(fd, "a", 1) != 1 || syscall(SYS_dup3, fd, 50, 0) != 50) return 7;
  return write(50, "b", 1) == 1 ? 0 : 6;
}
"""
