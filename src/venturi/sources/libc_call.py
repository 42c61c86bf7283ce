"""Functions of the C library that tracers record by name: which kind of operation each is."""

from __future__ import annotations

import os
from typing import NamedTuple

from venturi.model.operation import ATTRIBUTES, Attribute, Kind


class FunctionEffect(NamedTuple):
    """What a function does."""

    kind: Kind
    moves: bool = False
    """It moves bytes; the result tells how many."""
    is_counted: bool = False
    """The result counts items of some size (fread, fwrite)."""
    is_placed: bool = False
    """The offset is an argument (pread)."""
    detail: int = 0
    """As in operations, where the function alone tells it."""
    is_symbolic: bool = False
    """It makes a symbolic link."""


OPEN_MODES = {
    "r": os.O_RDONLY,
    "r+": os.O_RDWR,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "w+": os.O_RDWR | os.O_CREAT | os.O_TRUNC,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
}
"""Flags of open(2) for the modes of fopen, without `b` and `e`."""


def _attribute(what: Attribute) -> FunctionEffect:
    return FunctionEffect(Kind.ATTRIBUTE, detail=1 + ATTRIBUTES.index(what))


def _calls() -> dict[str, FunctionEffect]:
    read, write = FunctionEffect(Kind.READ, True), FunctionEffect(Kind.WRITE, True)
    calls = {
        "fread": FunctionEffect(Kind.READ, True, is_counted=True),
        "fwrite": FunctionEffect(Kind.WRITE, True, is_counted=True),
    }
    families = [
        (read, "read readv fgets fgetc getline"),
        (write, "write writev fputs fputc fprintf vfprintf"),
        (FunctionEffect(Kind.READ, True, is_placed=True), "pread pread64 preadv preadv64 preadv2"),
        (
            FunctionEffect(Kind.WRITE, True, is_placed=True),
            "pwrite pwrite64 pwritev pwritev64 pwritev2",
        ),
        (
            FunctionEffect(Kind.OPEN),
            "open open64 openat openat64 creat creat64 fopen fopen64 fdopen",
        ),
        (FunctionEffect(Kind.OPEN), "mkstemp mkostemp"),
        (FunctionEffect(Kind.CLOSE), "close fclose"),
        (FunctionEffect(Kind.SEEK), "lseek lseek64 fseek fseeko fseeko64 rewind"),
        (FunctionEffect(Kind.SYNC), "fsync sync syncfs fflush"),
        (FunctionEffect(Kind.DATA_SYNC), "fdatasync sync_file_range"),
        (
            FunctionEffect(Kind.STAT),
            "stat stat64 lstat lstat64 fstat fstat64 fstatat fstatat64 statx",
        ),
        (FunctionEffect(Kind.STAT), "__xstat __xstat64 __lxstat __lxstat64 __fxstat __fxstat64"),
        (
            FunctionEffect(Kind.STAT),
            "xstat lxstat fxstat __fxstatat access faccessat readlink readlinkat",
        ),
        (FunctionEffect(Kind.UNLINK), "unlink unlinkat remove"),
        (FunctionEffect(Kind.RENAME), "rename renameat renameat2"),
        (FunctionEffect(Kind.LINK), "link linkat"),
        (FunctionEffect(Kind.LINK, is_symbolic=True), "symlink symlinkat"),
        (FunctionEffect(Kind.MKDIR), "mkdir mkdirat"),
        (FunctionEffect(Kind.RMDIR), "rmdir"),
        (FunctionEffect(Kind.LIST), "opendir readdir readdir64 scandir"),
        (FunctionEffect(Kind.TRUNCATE), "truncate truncate64 ftruncate ftruncate64"),
        (FunctionEffect(Kind.ALLOCATE), "fallocate posix_fallocate"),
        (FunctionEffect(Kind.MAP), "mmap mmap64"),
        (_attribute(Attribute.MODE), "chmod fchmod fchmodat"),
        (_attribute(Attribute.OWNER), "chown fchown lchown fchownat"),
        (_attribute(Attribute.TIMES), "utime utimes utimensat futimens"),
    ]
    return calls | {name: shape for shape, names in families for name in names.split()}


CALLS = _calls()
"""By the function's name."""
