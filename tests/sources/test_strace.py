"""strace's output, really made here, gives every call with its place in the file."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from venturi.model.error import UserError
from venturi.model.operation import KINDS, NO_FILE, NOT_A_FILE, Kind, Operations
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.sources.open import read_capture

PROGRAM = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define must(call) do { if ((long)(call) < 0) { perror(#call); exit(9); } } while (0)

static char b[4096];
static void *worker(void *unused) {
    int f = open("thread", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 50; i++) must(write(f, b, 100));
    close(f);
    return unused;
}
int main(void) {
    int f = open("a", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 3; i++) must(write(f, b, 1000));
    must(lseek(f, -500, SEEK_CUR));
    must(read(f, b, 4096));
    must(pread(f, b, 10, 20));
    must(pwrite(f, b, 10, 9000));
    int a = open("a", O_WRONLY | O_APPEND);
    must(write(a, b, 7));
    int d = dup(f);
    must(lseek(d, 100, SEEK_SET));
    must(read(f, b, 50));
    struct iovec v[2] = {{b, 10}, {b, 20}};
    must(writev(f, v, 2));
    must(pwritev(f, v, 2, 64));
    must(preadv(f, v, 2, 0));
    if (fork() == 0) {
        must(write(f, b, 11));
        execl("/bin/true", "true", (char *)0);
    }
    wait(0);
    must(write(f, b, 13));
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    for (int i = 0; i < 50; i++) must(pwrite(f, b, 5, i * 5));
    pthread_join(t, 0);
    must(fsync(f));
    must(fdatasync(f));
    must(ftruncate(f, 100));
    must(fallocate(f, 0, 0, 4096));
    struct stat s;
    must(fstat(f, &s));
    must(stat("a", &s));
    lstat("nope", &s);
    must(access("a", R_OK));
    must(mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0) == MAP_FAILED ? -1 : 0);
    int g = open("b \"x\" >\303\244, 1", O_RDWR | O_CREAT, 0600);
    loff_t from = 0;
    must(copy_file_range(f, &from, g, 0, 64, 0));
    must(lseek(f, 204, SEEK_SET));
    must(sendfile(g, f, 0, 32));
    must(write(g, b, 1));
    must(mkdir("d", 0755));
    DIR *list = opendir("d");
    while (readdir(list)) continue;
    closedir(list);
    must(rename("b \"x\" >\303\244, 1", "d/c"));
    must(write(g, b, 2));
    must(symlink("c", "d/s"));
    must(link("d/c", "d/l"));
    must(unlink("d/s"));
    must(unlink("d/l"));
    must(unlink("d/c"));
    must(write(g, b, 3));
    must(rmdir("d"));
    must(chmod("a", 0600));
    open("/nonexistent/x", O_RDONLY);
    int p[2];
    must(pipe(p));
    must(write(p[1], b, 8));
    must(read(p[0], b, 8));
    must(truncate("a", 5));
    must(chdir(".."));
    must(access("home/a", R_OK));
    close(g);
    return 0;
}
"""

EXPECTED = [
    ("open", "a", -1, 0),
    ("write", "a", 0, 1000),
    ("write", "a", 1000, 1000),
    ("write", "a", 2000, 1000),
    ("seek", "a", 2500, 0),
    ("read", "a", 2500, 500),
    ("read", "a", 20, 10),
    ("write", "a", 9000, 10),
    ("open", "a", -1, 0),
    ("write", "a", 9010, 7),
    ("seek", "a", 100, 0),
    ("read", "a", 100, 50),
    ("write", "a", 150, 30),
    ("write", "a", 64, 30),
    ("read", "a", 0, 30),
    ("write", "a", 180, 11),
    ("write", "a", 191, 13),
    *(("write", "a", k * 5, 5) for k in range(50)),
    ("sync", "a", -1, 0),
    ("data_sync", "a", -1, 0),
    ("truncate", "a", 100, 0),
    ("allocate", "a", 0, 4096),
    ("stat", "a", -1, 0),
    ("stat", "a", -1, 0),
    ("stat", "nope", -1, 0),
    ("stat", "a", -1, 0),
    ("map", "a", 0, 4096),
    ("open", 'b "x" >ä, 1', -1, 0),
    ("copy", "a", 0, 64),
    ("seek", "a", 204, 0),
    ("send", "a", 204, 32),
    ("write", 'b "x" >ä, 1', 96, 1),
    ("mkdir", "d", -1, 0),
    ("open", "d", -1, 0),
    ("stat", "d", -1, 0),
    ("list", "d", -1, 2),
    ("list", "d", -1, 0),
    ("close", "d", -1, 0),
    ("rename", 'b "x" >ä, 1', -1, 0),
    ("write", 'b "x" >ä, 1', 97, 2),
    ("link", "d/c", -1, 1),
    ("link", "d/c", -1, 0),
    ("unlink", "d/s", -1, 0),
    ("unlink", "d/l", -1, 0),
    ("unlink", "d/c", -1, 0),
    ("write", 'b "x" >ä, 1', 99, 3),
    ("rmdir", "d", -1, 0),
    ("attribute", "a", -1, 0),
    ("truncate", "a", 5, 0),
    ("stat", "a", -1, 0),
    ("close", 'b "x" >ä, 1', -1, 0),
]
"""Of the first thread and the child: what, on which file, where, how much."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("program")
    (place / "program.c").write_text(PROGRAM)
    command = ["cc", "-O1", "-pthread", "-o", "program", "program.c"]
    subprocess.run(command, cwd=place, check=True)
    return place / "program"


def traced(place: Path, options: list[str], command: list[str]) -> Path:
    """The folder with what strace wrote."""
    (place / "home").mkdir()
    (place / "out").mkdir()
    line = ["strace", *options, "-ttt", "-T", "-y", "-s", "0", "-o", str(place / "out" / "log")]
    subprocess.run([*line, *command], cwd=place / "home", check=True)
    return place / "out"


def operations_of(captured: Captured) -> Operations:
    assert captured.operations is not None
    return captured.operations


def below(captured: Captured, place: Path) -> Iterator[tuple[int, str, str, int, int]]:
    """Thread, kind, name below `place`, offset and bytes of each operation on a file there."""
    operations, files = operations_of(captured), captured.trace.files
    for row in range(len(operations)):
        number = int(operations.file[row])
        path = "" if number == NO_FILE else files[number].path
        if path.startswith(f"{place}/"):
            kind = KINDS[operations.kind[row]].value
            offset, size = int(operations.offset[row]), int(operations.bytes[row])
            yield int(operations.thread[row]), kind, path[len(str(place)) + 1 :], offset, size


@pytest.mark.needs("strace")
@pytest.mark.parametrize("options", [["-f"], ["-ff"]], ids=["one file", "one per process"])
def test_every_family_has_its_place(options: list[str], program: Path, tmp_path: Path) -> None:
    captured = read_capture(traced(tmp_path, options, [str(program)]))
    found = list(below(captured, tmp_path / "home"))
    assert [row[1:] for row in found if row[0] == 0] == EXPECTED
    thread = [row[1:] for row in found if row[0] == 1]
    assert thread == [
        ("open", "thread", -1, 0),
        *(("write", "thread", k * 100, 100) for k in range(50)),
        ("close", "thread", -1, 0),
    ]
    trace = captured.trace
    assert not trace.gaps
    assert trace.job.ranks == 1
    assert [(p.program, p.ended_s is not None) for p in trace.processes] == [
        ("program", True),
        ("true", True),
    ]
    assert trace.processes[1].parent == trace.processes[0].process
    operations = operations_of(captured)
    moves = operations.take(operations.is_kind(Kind.READ, Kind.WRITE))
    assert moves.bytes[moves.detail & NOT_A_FILE != 0].tolist() == [8, 8]
    failed = operations.error == 2
    assert {trace.files[f].path for f in operations.file[failed].tolist()} >= {
        "/nonexistent/x",
        str(tmp_path / "home" / "nope"),
    }


@pytest.mark.needs("strace")
def test_counters_follow_from_calls(program: Path, tmp_path: Path) -> None:
    trace = read_capture(traced(tmp_path, ["-f"], [str(program)])).trace
    [record] = [r for r in trace.records if r.file.endswith("/home/thread")]
    assert (record.layer, record.rank) == (Layer.POSIX, 0)
    assert record.counters["WRITES"] == 50
    assert record.counters["BYTES_WRITTEN"] == 5000
    assert record.counters["CONSEC_WRITES"] == 49
    assert record.counters["ACCESS1_ACCESS"] == 100
    assert not any(r.file.startswith("pipe:") for r in trace.records)


@pytest.mark.needs("mpi", "strace")
def test_children_of_a_launcher_are_ranks(tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_bytes(Path("/bin/bash").read_bytes())
    launcher.chmod(0o755)
    line = "for i in 0 1 2; do dd if=/dev/zero of=f$i bs=1000 count=$((i+1)) 2>&- & done; wait"
    trace = read_capture(traced(tmp_path, ["-f"], [str(launcher), "-c", line])).trace
    assert trace.job.ranks == 3
    written = {r.rank: r.counters["BYTES_WRITTEN"] for r in trace.records if "/home/f" in r.file}
    assert sorted(written) == [0, 1, 2]
    assert sorted(written.values()) == [1000, 2000, 3000]


@pytest.mark.needs("strace")
def test_a_killed_program_is_labelled(tmp_path: Path) -> None:
    line = "echo $$ > pid; exec sleep 60"
    (tmp_path / "home").mkdir()
    log = tmp_path / "log"
    command = ["strace", "-f", "-ttt", "-T", "-y", "-s", "0", "-o", str(log), "sh", "-c", line]
    with subprocess.Popen(command, cwd=tmp_path / "home") as running:
        pid = tmp_path / "home" / "pid"
        while not (log.exists() and "nanosleep" in log.read_text()):
            assert running.poll() is None
            time.sleep(0.02)
        subprocess.run(["kill", "-9", pid.read_text().strip()], check=True)
    captured = read_capture(log)
    [process] = captured.trace.processes
    assert process.program == "sleep"
    assert process.ended_s is None
    writes = operations_of(captured).is_kind(Kind.WRITE)
    assert writes.sum() == 1


def _text(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "log"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_a_call_that_never_returned_is_a_gap(tmp_path: Path) -> None:
    captured = read_capture(
        _text(
            tmp_path,
            "7  1700000000.000100 close(3</w/a>) = 0 <0.000010>",
            '7  1700000000.000200 read(4</w/b>, ""...,  <unfinished ...>',
        )
    )
    assert len(operations_of(captured)) == 1
    assert "1 calls had not returned" in captured.trace.gaps[0].what


def test_the_end_of_a_call_without_its_beginning_is_a_gap(tmp_path: Path) -> None:
    captured = read_capture(
        _text(
            tmp_path,
            "7  1700000000.000100 close(3</w/a>) = 0 <0.000010>",
            '7  1700000000.000200 <... read resumed>""..., 4096) = 4096 <0.000010>',
        )
    )
    assert len(operations_of(captured)) == 1
    assert "1 ends of calls" in captured.trace.gaps[0].what


def test_words_of_strace_itself_cut_lines_in_two(tmp_path: Path) -> None:
    captured = read_capture(
        _text(
            tmp_path,
            '1700000000.000100 execve("/bin/sh", ["sh"], 0x7 /* 3 vars */) = 0 <0.000010>',
            '1700000000.000200 openat(AT_FDCWD</w>, "a", O_WRONLY) = 3</w/a> <0.000010>',
            "1700000000.000300 vfork(strace: Process 8 attached",
            " <unfinished ...>",
            '[pid     8] 1700000000.000400 write(3</w/a>, ""..., 5) = 5 <0.000010>',
            "[pid     7] 1700000000.000500 <... vfork resumed>) = 8 <0.000300>",
            "[pid     7] 1700000000.000600 close(3</w/a>) = 0 <0.000010>",
            "strace: Process 9 attached",
            "[pid     7] 1700000000.000700 clone3({flags=CLONE_THREADstrace: Process 10 attached",
            " => {parent_tid=[10]}, 88) = 10 <0.000010>",
            "[pid     7] 1700000000.000750 wait4(-1,  <unfinished ...>",
            "1700000000.000760 <... wait4 resumed>) = 8 <0.000001>",
            "1700000000.000800 vfork(strace: Process 11 attached",
            " <unfinished ...>",
            "[pid     7] 1700000000.000900 <... vfork resumed>) = 11 <0.000300>",
        )
    )
    assert captured.trace.gaps == []
    assert [p.program for p in captured.trace.processes] == ["sh", "sh", "sh"]
    operations = operations_of(captured)
    assert operations.process.tolist()[-2:] == [1, 0]
    assert operations.offset[operations.is_kind(Kind.WRITE)].tolist() == [0]


def test_a_torn_text_is_used(tmp_path: Path) -> None:
    whole = '7  1700000000.000100 write(3</w/a>, ""..., 5) = 5 <0.000010>\n'
    path = tmp_path / "log"
    path.write_text(whole * 20 + whole[:30])
    captured = read_capture(path)
    assert len(operations_of(captured)) == 20
    assert "line 21" in captured.trace.gaps[0].what


@pytest.mark.needs("strace")
@pytest.mark.parametrize(
    "line",
    ['write(3, ""..., 5) = 5', '12:00:01.000100 write(3, ""..., 5) = 5', "12 brk(NULL) = 0x55"],
)
def test_texts_without_stamps_are_refused_with_the_command(line: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_capture(_text(tmp_path, line, line))
    assert "line 1" in caught.value.message
    assert "strace -f -ttt -T -y -s 0" in caught.value.hint


@pytest.mark.needs("strace")
def test_other_lines_are_counted_and_many_are_refused(tmp_path: Path) -> None:
    good = '7  1700000000.000100 write(3</w/a>, ""..., 5) = 5 <0.000010>'
    captured = read_capture(_text(tmp_path, *[good] * 20, "hello"))
    assert "1 lines are not strace's" in captured.trace.gaps[0].what
    with pytest.raises(UserError, match="line 2"):
        read_capture(_text(tmp_path, good, "hello"))


def test_ranks_from_the_environment(tmp_path: Path) -> None:
    def line(process: int, rank: int) -> str:
        environment = f'["A=b", "OMPI_COMM_WORLD_RANK={rank}"]'
        return (
            f'{process}  1700000000.0001{process} execve("/bin/app", ["app"], {environment}) = 0 '
            "<0.000010>"
        )

    trace = read_capture(_text(tmp_path, line(70, 1), line(71, 0))).trace
    assert trace.job.ranks == 2
    assert [process.rank for process in trace.processes] == [1, 0]


def test_mappings_whose_stores_reach_the_file_are_said(tmp_path: Path) -> None:
    line = "7  1700000000.00010{} mmap(NULL, 4096, {}, {}, 3</w/a>, 0) = 0x7f00 <0.000010>\n"
    maps = [("PROT_READ", "MAP_SHARED"), ("PROT_READ|PROT_WRITE", "MAP_PRIVATE")]
    maps += [("PROT_READ|PROT_WRITE", "MAP_SHARED"), ("PROT_WRITE", "MAP_SHARED_VALIDATE")]
    path = tmp_path / "log"
    path.write_text("".join(line.format(number, *one) for number, one in enumerate(maps)))
    captured = read_capture(path)
    assert operations_of(captured).detail.tolist() == [0, 0, 1, 1]
    assert ["2 writable shared mappings" in gap.what for gap in captured.trace.gaps] == [True]
