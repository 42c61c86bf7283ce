"""A call with a pointer that leads nowhere returns what it returns without capture.

The calls are generated: every symbol that the tracer defines and that the kernel gets pointers
from, each pointer bad in turn, in several ways of being bad.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from capture.conftest import Capture
from venturi.capture.tracer import find_tracer

# Arguments: P path, Q second path, S buffer that is written, V parts of memory, O offset, T times,
# E environment or words, K key, W open_how; other texts stand as they are.
CALLS = """
open:P,0 open64:P,0 openat:AT_FDCWD,P,0 openat64:AT_FDCWD,P,0 __open_2:P,0 __open64_2:P,0
__openat_2:AT_FDCWD,P,0 __openat64_2:AT_FDCWD,P,0 openat2:AT_FDCWD,P,W,24 creat:Q,0600
creat64:Q,0600 opendir:P fopen:P,"r" fopen64:P,"r" access:P,0 eaccess:P,0 euidaccess:P,0
faccessat:AT_FDCWD,P,0,0 stat:P,S stat64:P,S lstat:P,S lstat64:P,S fstat:fd,S fstat64:fd,S
fstatat:AT_FDCWD,P,S,0 fstatat64:AT_FDCWD,P,S,0 __xstat:1,P,S __xstat64:1,P,S __lxstat:1,P,S
__lxstat64:1,P,S __fxstat:1,fd,S __fxstat64:1,fd,S __fxstatat:1,AT_FDCWD,P,S,0
__fxstatat64:1,AT_FDCWD,P,S,0 statx:AT_FDCWD,P,0,0x7ff,S readlink:P,S,64
readlinkat:AT_FDCWD,P,S,64 __readlink_chk:P,S,64,64 __readlinkat_chk:AT_FDCWD,P,S,64,64
unlink:P unlinkat:AT_FDCWD,P,0 unlinkat:AT_FDCWD,P,77777 rmdir:P remove:P mkdir:Q,0700
mkdirat:AT_FDCWD,Q,0700 rename:P,Q renameat:AT_FDCWD,P,AT_FDCWD,Q
renameat2:AT_FDCWD,P,AT_FDCWD,Q,0 renameat2:AT_FDCWD,P,AT_FDCWD,Q,77777 rename:MISSING,Q
link:P,Q linkat:AT_FDCWD,P,AT_FDCWD,Q,0 link:MISSING,Q symlink:P,Q symlinkat:P,AT_FDCWD,Q
truncate:P,1 truncate64:P,1 chmod:P,0600 fchmodat:AT_FDCWD,P,0600,0 fchmodat:AT_FDCWD,P,0600,77777
chown:P,-1,-1 lchown:P,-1,-1 fchownat:AT_FDCWD,P,-1,-1,0 utime:P,T utimes:P,T lutimes:P,T
futimesat:AT_FDCWD,P,T utimensat:AT_FDCWD,P,T,0 futimens:fd,T futimes:fd,T
getxattr:P,K,S,64 lgetxattr:P,K,S,64 fgetxattr:fd,K,S,64 setxattr:P,K,S,4,0 lsetxattr:P,K,S,4,0
fsetxattr:fd,K,S,4,0 listxattr:P,S,64 llistxattr:P,S,64 flistxattr:fd,S,64 removexattr:P,K
lremovexattr:P,K fremovexattr:fd,K read:fd,S,8 __read_chk:fd,S,8,8 write:fd,S,8 pread:fd,S,8,0
pread64:fd,S,8,0 __pread_chk:fd,S,8,0,8 __pread64_chk:fd,S,8,0,8 pwrite:fd,S,8,0 pwrite64:fd,S,8,0
readv:fd,V,1 writev:fd,V,1 preadv:fd,V,1,0 preadv64:fd,V,1,0 pwritev:fd,V,1,0 pwritev64:fd,V,1,0
preadv2:fd,V,1,0,0 preadv64v2:fd,V,1,0,0 pwritev2:fd,V,1,0,0 pwritev64v2:fd,V,1,0,0
copy_file_range:fd,O,to,O,8,0 sendfile:to,fd,O,8 sendfile64:to,fd,O,8 splice:fd,O,pipes[1],O,8,0
vmsplice:pipes[1],V,1,0 getdents64:folder,S,512 ioctl:to,0x4020940d,S scandir:P,S,0,0
syscall:SYS_getdents64,folder,S,512 syscall:452,AT_FDCWD,P,0600,0 syscall:SYS_openat,AT_FDCWD,P,0
syscall:SYS_openat2,AT_FDCWD,P,W,24 syscall:SYS_statx,AT_FDCWD,P,0,0x7ff,S syscall:SYS_read,fd,S,8
syscall:SYS_newfstatat,AT_FDCWD,P,S,0 syscall:SYS_faccessat,AT_FDCWD,P,0 syscall:SYS_readv,fd,V,1
syscall:SYS_readlinkat,AT_FDCWD,P,S,64 syscall:SYS_unlinkat,AT_FDCWD,P,0 syscall:SYS_write,fd,S,8
syscall:SYS_mkdirat,AT_FDCWD,Q,0700 syscall:SYS_renameat2,AT_FDCWD,P,AT_FDCWD,Q,0
syscall:SYS_linkat,AT_FDCWD,P,AT_FDCWD,Q,0 syscall:SYS_symlinkat,P,AT_FDCWD,Q
syscall:SYS_truncate,P,1 syscall:SYS_fchmodat,AT_FDCWD,P,0600 syscall:SYS_utimensat,AT_FDCWD,P,T,0
syscall:SYS_getxattr,P,K,S,64 syscall:SYS_setxattr,P,K,S,4,0 syscall:SYS_removexattr,P,K
syscall:SYS_pwritev,fd,V,1,0,0 syscall:SYS_copy_file_range,fd,O,to,O,8,0
syscall:SYS_sendfile,to,fd,O,8
syscall:SYS_splice,fd,O,pipes[1],O,8,0 syscall:SYS_vmsplice,pipes[1],V,1,0
syscall:SYS_ioctl,to,0x4020940d,S syscall:SYS_open,P,0 syscall:SYS_stat,P,S syscall:SYS_rename,P,Q
syscall:SYS_execve,P,E,E execve:P,E,E execv:P,E
execvpe:P,E,E execvp:P,E fexecve:fd,E,E execveat:AT_FDCWD,P,E,E,0 execl:P,"x",NULL
execlp:P,"x",NULL execle:P,"x",NULL,E posix_spawn:&child,P,NULL,NULL,E,E
posix_spawnp:&child,P,NULL,NULL,E,E
"""

# Symbols without a pointer that the kernel reads, or whose pointers the C library itself follows.
OTHERS = """
_Exit _IO_getc _IO_putc __dprintf_chk __fgets_chk __fgets_unlocked_chk __fgetws_chk
__fgetws_unlocked_chk __fprintf_chk __fread_chk __fread_unlocked_chk __fwprintf_chk __getdelim
__isoc23_fscanf __isoc23_fwscanf __isoc23_scanf __isoc23_vfscanf __isoc23_vfwscanf
__isoc23_vscanf __isoc23_vwscanf __isoc23_wscanf __isoc99_fscanf __isoc99_fwscanf __isoc99_scanf
__isoc99_vfscanf __isoc99_vfwscanf __isoc99_vscanf __isoc99_vwscanf __isoc99_wscanf __printf_chk
__vdprintf_chk __vfprintf_chk __vfwprintf_chk __vprintf_chk __vwprintf_chk __wprintf_chk _exit
aio_fsync aio_fsync64 aio_read aio_read64 aio_write aio_write64 close close_range closedir
closefrom dprintf dup dup2 dup3 fallocate fallocate64 fchmod fchown fclose fcntl fcntl64
fdatasync fdopen fflush fflush_unlocked fgetc fgetc_unlocked fgets fgets_unlocked fgetwc
fgetwc_unlocked fgetws fgetws_unlocked fprintf fputc fputc_unlocked fputs fputs_unlocked fputwc
fputwc_unlocked fputws fputws_unlocked fread fread_unlocked freopen freopen64 fscanf fseek
fseeko fseeko64 fsetpos fsetpos64 fsync ftruncate ftruncate64 fwprintf fwrite fwrite_unlocked
fwscanf getc getc_unlocked getchar getchar_unlocked getdelim getline getw getwc getwc_unlocked
getwchar getwchar_unlocked io_cancel io_getevents io_pgetevents io_queue_init io_setup io_submit
io_uring_queue_init io_uring_queue_init_params lio_listio lio_listio64 lseek lseek64 mkdtemp
mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mmap mmap64
msync popen posix_fallocate posix_fallocate64 prctl printf putc putc_unlocked putchar
putchar_unlocked puts putw putwc putwc_unlocked putwchar putwchar_unlocked readdir readdir64
rewind scandir64 scanf seccomp_load shm_open sync sync_file_range syncfs system tee vdprintf
vfprintf vfscanf vfwprintf vfwscanf vprintf vscanf vwprintf vwscanf wprintf wscanf
"""

HEAD = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
typedef long (*Any)();
extern char** environ;
static int fd, to, folder, pipes[2], child;
static char buffer[4096], *guarded;
static void* bad(int how) {
  switch (how) {
    case 0: return (void*)1;
    case 1: return (void*)(INTPTR_MAX - 4096);
    case 2: return guarded + 4096;
    default: return guarded + 4093;  // three characters, then nothing
  }
}
static long openat2_by_number(int at, const char* path, void* how, long bytes) {
  return syscall(SYS_openat2, at, path, how, bytes);
}
static Any found(const char* name) {
  void* there = dlsym(RTLD_DEFAULT, name);
  return there ? (Any)there : (Any)openat2_by_number;  // not in every C library
}
static void one(const char* what, int how, long (*call)(int)) {
  int report[2];
  if (pipe(report)) _exit(9);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    errno = 0;
    const long value = call(how);
    const long got = (int)value == -1 ? -1 : value != 0;
    const long said[2] = {got, got < 1 ? errno : 0};
    if (write(report[1], said, sizeof said) < 0) _exit(8);
    _exit(0);
  }
  close(report[1]);
  long said[2] = {-99, -99};
  if (read(report[0], said, sizeof said) < 0) _exit(7);
  close(report[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  printf("%s bad %d: %ld errno %ld signal %d\\n", what, how, said[0], said[1],
         WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
"""

MAIN = """
int main(void) {
  guarded = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(guarded, 'x', 4096);
  mprotect(guarded + 4096, 4096, PROT_NONE);  // unmapped, others could get the page
  fd = open("named", O_CREAT | O_RDWR, 0600);
  to = open("target", O_CREAT | O_RDWR, 0600);
  folder = open(".", O_RDONLY | O_DIRECTORY);
  if (write(fd, buffer, 64) != 64 || pipe(pipes)) return 9;
  lseek(fd, 0, SEEK_SET);
"""

GOOD = {
    "P": '"named"',
    "Q": '"fresh"',
    "S": "buffer",
    "V": "&(struct iovec){buffer, 8}",
    "O": "&(off_t){0}",
    "T": "NULL",
    "E": "(char*[]){NULL}",
    "K": '"user.a"',
    "W": "&(struct {uint64_t a, b, c;}){0}",
    "MISSING": '"/nowhere/x"',
}


def calls() -> list[tuple[str, list[str]]]:
    entries = (entry.partition(":") for entry in CALLS.split())
    return [(name, arguments.split(",")) for name, _, arguments in entries]


def source() -> str:
    """A program that makes each call once for each pointer and each way of being bad."""
    functions, uses = [], []
    for number, (name, arguments) in enumerate(calls()):
        for place, kind in enumerate(arguments):
            if kind not in GOOD or kind == "MISSING":
                continue
            given = [
                "bad(how)" if at == place else GOOD.get(word, word)
                for at, word in enumerate(arguments)
            ]
            label = f"call_{number}_{place}"
            functions.append(
                f"static long {label}(int how) {{ (void)how; return "
                f'found("{name}")({", ".join(given)}); }}'
            )
            uses.append(f'  for (int how = 0; how < 4; ++how) one("{name} {place}", how, {label});')
    includes = HEAD.replace("#include <errno.h>", "#include <dlfcn.h>\n#include <errno.h>")
    return "\n".join([includes, *functions, MAIN, *uses, "  return 0;", "}", ""])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bad.c"
    path.write_text(source(), "utf-8")
    target = tmp_path / "bad"
    subprocess.run(["gcc", "-w", "-o", str(target), str(path)], check=True)
    return target


def test_every_symbol_is_tried_or_needs_no_try() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", str(find_tracer())],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    symbols = {line.split()[-1] for line in listed.splitlines()}
    symbols = {one for one in symbols if not one.startswith(("MPI", "PMPI", "H5", "nc", "mpi_"))}
    tried = {name for name, _ in calls()}
    assert symbols - tried - set(OTHERS.split()) == set()


def test_bad_pointers_are_errors_as_without_capture(capture: Capture, program: Path) -> None:
    for name in ("alone", "captured"):
        (capture.here / name).mkdir(parents=True)
    alone = subprocess.run(
        [program], check=True, capture_output=True, text=True, cwd=capture.here / "alone"
    )
    run = capture("sh", "-c", f"cd captured && exec {program}")
    expected, found = alone.stdout.splitlines(), run.done.stdout.splitlines()
    assert len(expected) > 4 * len(calls())
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
