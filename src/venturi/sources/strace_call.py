"""System calls: what each does to files and to descriptors, and the row that it becomes."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple

from venturi.model.operation import (
    ATTRIBUTES,
    KIND_CODES,
    LAYER_CODES,
    NO_FILE,
    STORES_REACH_FILE,
    UNKNOWN_OFFSET,
    Attribute,
    Kind,
)
from venturi.model.trace import Layer
from venturi.sources.strace_line import Descriptor, paths, unescaped
from venturi.sources.strace_state import OpenFile, TracedThread, World


class Call(NamedTuple):
    """A call that has returned."""

    name: str
    arguments: str
    result: int
    """What it returned; 0 where it failed."""
    error: int
    """errno; 0: fine."""
    note: str
    """What strace says behind the result."""
    target: Descriptor
    """The descriptor that the arguments begin with."""
    start_ns: int
    end_ns: int
    place: int | None = None
    """In the file, where the arguments are those of a call at another place."""


MOST_MAPPED = 1024
"""Mappings of a process, the last ones, that an msync is looked up in."""

Handler = Callable[[World, TracedThread, Call], None]

_POSIX = LAYER_CODES[Layer.POSIX]
_OPEN = KIND_CODES[Kind.OPEN]
_CLOSE = KIND_CODES[Kind.CLOSE]
_READ = KIND_CODES[Kind.READ]
_WRITE = KIND_CODES[Kind.WRITE]
_SEEK = KIND_CODES[Kind.SEEK]

_FLAGS = re.compile(r"O_[A-Z_|0-9x]+")
_CLONE = re.compile(r"flags=([A-Z_|0-9x]+)")
_SIZE = re.compile(r"S_IFREG.*?(?:st|stx)_size=(\d{1,18})(?!\d)")
_ENTRIES = re.compile(r"/\* (\d{1,9}) entries \*/")
_MAPPED = re.compile(r"^[^,]*, (\d{1,18}), .*, (-?\d{1,9})(?:<(.*?)>)?, (0x[0-9a-f]{1,15}|\d)$")
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}(?=,)")
_RANGES = re.compile(r"(\d{1,9})(?:<(.*?)>)?, (NULL|\[-?\d{1,18}\])")
_SHARED = re.compile(
    r"FICLONE(?:, |RANGE, \{src_fd=)(\d{1,9})(?:<(.*?)>)?"
    r"(?:, src_offset=(\d{1,18}), src_length=(\d{1,18}))?"
)
_RANK = re.compile(
    r'"(?:OMPI_COMM_WORLD_RANK|PMIX_RANK|PMI_RANK|MV2_COMM_WORLD_RANK|SLURM_PROCID)=(\d+)"'
)

_FLAG_VALUES = {
    name: getattr(os, name, 0)
    for name in (  # noqa: SIM905
        "O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_NOCTTY O_TRUNC O_APPEND O_NONBLOCK O_DSYNC "
        "O_DIRECT O_DIRECTORY O_NOFOLLOW O_NOATIME O_CLOEXEC O_SYNC O_PATH O_TMPFILE"
    ).split()
} | {"O_LARGEFILE": 0o100000}
_flag_cache: dict[str, int] = {}


def _flags_of(text: str) -> int:
    value = _flag_cache.get(text)
    if value is None:
        value = 0
        for name in text.split("|"):
            value |= _FLAG_VALUES.get(name, 0)
        if len(_flag_cache) < 1000:
            _flag_cache[text] = value
    return value


def _row(  # noqa: PLR0913, PLR0917
    world: World,
    task: TracedThread,
    call: Call,
    kind: Kind,
    file: int = NO_FILE,
    detail: int = 0,
    offset: int = UNKNOWN_OFFSET,
    size: int = 0,
) -> None:
    world.rows.add(
        (
            task.process.index,
            task.thread,
            _POSIX,
            KIND_CODES[kind],
            call.error,
            file,
            detail,
            offset,
            size,
            call.start_ns,
            call.end_ns,
        )
    )


def _read(world: World, task: TracedThread, call: Call) -> None:
    """read, readv: at the descriptor's place."""
    opened = world.opened(task, call.target)
    offset = UNKNOWN_OFFSET
    if opened is not None and not opened.strange:
        offset = opened.offset
        if offset >= 0:
            opened.offset = offset + call.result
    _moved(world, task, call, _READ, opened, offset)


def _write(world: World, task: TracedThread, call: Call) -> None:
    """write, writev: at the descriptor's place, or at the end."""
    opened = world.opened(task, call.target)
    offset = UNKNOWN_OFFSET
    if opened is not None and not opened.strange:
        offset = opened.offset
        if opened.appends:
            offset = world.sizes.get(opened.file, UNKNOWN_OFFSET)
        if offset >= 0:
            opened.offset = end = offset + call.result
            size = world.sizes.get(opened.file)
            if size is not None and end > size:
                world.sizes[opened.file] = end
    _moved(world, task, call, _WRITE, opened, offset)


def _grow(world: World, opened: OpenFile, end: int) -> None:
    size = world.sizes.get(opened.file)
    if size is not None and end > size:
        world.sizes[opened.file] = end


def _moved(
    world: World, task: TracedThread, call: Call, kind: int, opened: OpenFile | None, offset: int
) -> None:
    file, strange = (NO_FILE, 0) if opened is None else (opened.file, opened.strange)
    world.rows.add(
        (
            task.process.index,
            task.thread,
            _POSIX,
            kind,
            call.error,
            file,
            strange,
            offset,
            call.result,
            call.start_ns,
            call.end_ns,
        )
    )


def _at(kind: int, argument: int, inner: Handler) -> Handler:
    """pread64, pwritev2 and their like: the offset is the n-th argument from the right."""

    def handle(world: World, task: TracedThread, call: Call) -> None:
        if call.place is None:
            parts = call.arguments.rsplit(", ", argument)
            offset = _number(parts[1]) if len(parts) > argument else UNKNOWN_OFFSET
        else:
            offset = call.place
        if offset < 0 and argument > 1:
            inner(world, task, call)
            return
        opened = world.opened(task, call.target)
        if kind == _WRITE and opened is not None and offset >= 0:
            _grow(world, opened, offset + call.result)
        _moved(world, task, call, kind, opened, offset)

    return handle


def _seek(world: World, task: TracedThread, call: Call) -> None:
    opened = world.opened(task, call.target)
    if opened is not None and not call.error:
        opened.offset = call.result
        if call.arguments.endswith(", 0, SEEK_END"):
            world.sizes[opened.file] = call.result
    offset = UNKNOWN_OFFSET if call.error else call.result
    _row(world, task, call, Kind.SEEK, world.file_of(opened), offset=offset)


def _open(world: World, task: TracedThread, call: Call) -> None:
    named = paths(call.arguments)
    if not named:
        return
    path = world.path_of(task, *named[0])
    if call.name == "creat":
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
    else:
        found = _FLAGS.search(call.arguments, call.arguments.rfind('"') + 1)
        flags = _flags_of(found[0]) if found else 0
    label = unescaped(call.note[1:-1]) if call.note.startswith("<") else ""
    if label and not path.startswith("/"):
        path = label
    file = world.files.number(path)
    if not call.error:
        if flags & os.O_TRUNC or (flags & os.O_CREAT and flags & os.O_EXCL):
            world.sizes[file] = 0
        opened = OpenFile(file, label or path, 0, bool(flags & os.O_APPEND))
        task.descriptors.open[call.result] = opened
        _close_on_exec(task, call.result, bool(flags & os.O_CLOEXEC))
    _row(world, task, call, Kind.OPEN, file, flags)


def _close_on_exec(task: TracedThread, number: int, is_closed: bool) -> None:
    change = task.descriptors.closed_by_exec
    (change.add if is_closed else change.discard)(number)


def _close(world: World, task: TracedThread, call: Call) -> None:
    known = call.target
    file = world.file_of(world.opened(task, known))
    task.descriptors.open.pop(known[0], None)
    _row(world, task, call, Kind.CLOSE, file)


def _close_range(world: World, task: TracedThread, call: Call) -> None:
    parts = call.arguments.split(", ")
    if call.error or len(parts) < 3 or not (parts[0].isdigit() and parts[1].isdigit()):
        return
    inside = [n for n in task.descriptors.open if int(parts[0]) <= n <= int(parts[1])]
    for number in inside:
        if "CLOEXEC" in parts[2]:
            _close_on_exec(task, number, True)
        else:
            del task.descriptors.open[number]


def _dup(world: World, task: TracedThread, call: Call) -> None:
    if call.error:
        return
    opened = world.opened(task, call.target)
    if opened is None:
        task.descriptors.open.pop(call.result, None)
    else:
        task.descriptors.open[call.result] = opened
    _close_on_exec(task, call.result, "O_CLOEXEC" in call.arguments)


def _fcntl(world: World, task: TracedThread, call: Call) -> None:
    if call.error:
        return
    known = call.target
    if ", F_DUPFD" in call.arguments:
        _dup(world, task, call)
        _close_on_exec(task, call.result, "F_DUPFD_CLOEXEC" in call.arguments)
    elif ", F_SETFL" in call.arguments:
        opened = world.opened(task, known)
        if opened is not None:
            opened.appends = "O_APPEND" in call.arguments
    elif ", F_SETFD" in call.arguments:
        _close_on_exec(task, known[0], "FD_CLOEXEC" in call.arguments)


def _on_descriptor(kind: Kind, detail: int = 0) -> Handler:
    def handle(world: World, task: TracedThread, call: Call) -> None:
        opened = world.opened(task, call.target)
        _row(world, task, call, kind, world.file_of(opened), detail)

    return handle


def _on_path(kind: Kind, detail: int = 0) -> Handler:
    def handle(world: World, task: TracedThread, call: Call) -> None:
        named = paths(call.arguments)
        if named:
            file = world.files.number(world.path_of(task, *named[0]))
            if kind is Kind.UNLINK and not call.error:
                world.sizes.pop(file, None)
            _row(world, task, call, kind, file, detail)
        elif kind is Kind.ATTRIBUTE:
            _on_descriptor(kind, detail)(world, task, call)

    return handle


_RIGHTS = '"system.posix_acl_access"'


def _attribute(what: Attribute) -> Handler:
    """On a path or, where there is none, on a descriptor; the name of an extended attribute, which
    stands in quotes as well, is no path."""
    detail = 1 + ATTRIBUTES.index(what)
    on_path, on_descriptor = (each(Kind.ATTRIBUTE, detail) for each in (_on_path, _on_descriptor))

    def handle(world: World, task: TracedThread, call: Call) -> None:
        if what is Attribute.SET_EXTENDED and not call.error and _RIGHTS in call.arguments:
            _attribute(Attribute.MODE)(world, task, call)  # as the mode that they are
            return
        is_open = call.name.startswith("f") and not call.name.endswith(("at", "at2"))
        (on_descriptor if is_open else on_path)(world, task, call)

    return handle


def _on_nothing(kind: Kind) -> Handler:
    return lambda world, task, call: _row(world, task, call, kind)


def _unlinkat(world: World, task: TracedThread, call: Call) -> None:
    kind = Kind.RMDIR if call.arguments.endswith("AT_REMOVEDIR") else Kind.UNLINK
    _on_path(kind)(world, task, call)


def _stat(world: World, task: TracedThread, call: Call) -> None:
    """The stat family, on a path or on a descriptor; it tells a file's size, too."""
    named = paths(call.arguments) if '"' in call.arguments else []
    if named and named[0][2]:
        file = world.files.number(world.path_of(task, *named[0]))
    else:
        file = world.file_of(world.opened(task, call.target))
    found = _SIZE.search(call.arguments)
    if found and not call.error and file != NO_FILE:
        world.sizes[file] = int(found[1])
    _row(world, task, call, Kind.STAT, file)


def _two_paths(kind: Kind) -> Handler:
    """rename and link: the new name's index goes into the row."""

    def handle(world: World, task: TracedThread, call: Call) -> None:
        named = paths(call.arguments)
        if len(named) < 2:
            return
        new = world.path_of(task, *named[1])
        if call.name.startswith("symlink"):
            old = posixpath.normpath(posixpath.join(posixpath.dirname(new), named[0][2]))
        else:
            old = world.path_of(task, *named[0])
        file, other = world.files.number(old), world.files.number(new)
        if kind is Kind.RENAME and not call.error:
            world.renamed.setdefault(old, set()).add(new)
            size = world.sizes.pop(file, None)
            if size is not None:
                world.sizes[other] = size
        _row(world, task, call, kind, file, other, size=int(call.name.startswith("symlink")))

    return handle


def _list(world: World, task: TracedThread, call: Call) -> None:
    opened = world.opened(task, call.target)
    found = _ENTRIES.search(call.arguments)
    entries = int(found[1]) if found else 0
    _row(world, task, call, Kind.LIST, world.file_of(opened), size=entries)


def _truncate(world: World, task: TracedThread, call: Call) -> None:
    named = paths(call.arguments) if call.arguments.startswith('"') else []
    if named:
        file = world.files.number(world.path_of(task, *named[0]))
    else:
        file = world.file_of(world.opened(task, call.target))
    size = _number(call.arguments.rpartition(", ")[2])
    if not call.error and file != NO_FILE and size >= 0:
        world.sizes[file] = size
    _row(world, task, call, Kind.TRUNCATE, file, offset=size)


def _number(text: str) -> int:
    return int(text) if text.isdigit() and len(text) < 19 else UNKNOWN_OFFSET


def _allocate(world: World, task: TracedThread, call: Call) -> None:
    opened = world.opened(task, call.target)
    parts = call.arguments.rsplit(", ", 2)
    offset, size = (_number(parts[1]), _number(parts[2])) if len(parts) == 3 else (-1, 0)
    if opened is not None and not call.error and "KEEP_SIZE" not in call.arguments:
        _grow(world, opened, offset + size)
    _row(world, task, call, Kind.ALLOCATE, world.file_of(opened), offset=offset, size=max(0, size))


def _map(world: World, task: TracedThread, call: Call) -> None:
    found = _MAPPED.match(call.arguments)
    if found is None or found[2].startswith("-"):
        return
    opened = world.opened(task, (int(found[2]), unescaped(found[3] or "")))
    offset = int(found[4], 0)
    reaches = "MAP_SHARED" in call.arguments and "PROT_WRITE" in call.arguments
    if reaches and opened is not None and not call.error:
        task.process.mapped.append((call.result, call.result + int(found[1]), opened.file))
        del task.process.mapped[:-MOST_MAPPED]
    _row(
        world,
        task,
        call,
        Kind.MAP,
        world.file_of(opened),
        STORES_REACH_FILE if reaches else 0,
        offset,
        int(found[1]),
    )


def _memory_sync(world: World, task: TracedThread, call: Call) -> None:
    """msync(address, bytes, flags): of the file that was mapped there last."""
    found = _ADDRESS.match(call.arguments)
    if found is None or "MS_SYNC" not in call.arguments:
        return
    at = int(found[0], 16)
    mapped = reversed(task.process.mapped)
    file = next((file for begin, end, file in mapped if begin <= at < end), NO_FILE)
    if file != NO_FILE:
        _row(world, task, call, Kind.DATA_SYNC, file)


def _copy(world: World, task: TracedThread, call: Call) -> None:
    """copy_file_range(in, place, out, place, ...) and sendfile(out, in, place, ...)."""
    if call.name == "sendfile":
        target = world.opened(task, call.target)
        found = _RANGES.search(call.arguments.partition(", ")[2])
        pairs = [found] if found else []
    else:
        pairs = list(_RANGES.finditer(call.arguments))
        target = None
        if len(pairs) > 1:
            target = world.opened(task, (int(pairs[1][1]), unescaped(pairs[1][2] or "")))
    if not pairs:
        return
    source = world.opened(task, (int(pairs[0][1]), unescaped(pairs[0][2] or "")))
    offset = _number(pairs[0][3].strip("[]"))
    if pairs[0][3] == "NULL" and source is not None:
        offset = source.offset
        if offset >= 0:
            source.offset += call.result
    own_place = call.name == "sendfile" or (len(pairs) > 1 and pairs[1][3] == "NULL")
    if target is not None and own_place and target.offset >= 0:
        target.offset += call.result
        _grow(world, target, target.offset)
    _row(
        world,
        task,
        call,
        Kind.SEND if call.name == "sendfile" else Kind.COPY,
        world.file_of(source),
        world.file_of(target),
        offset,
        call.result,
    )


def _share(world: World, task: TracedThread, call: Call) -> None:
    """ioctl(out, FICLONE, in) and FICLONERANGE; others do nothing to files."""
    found = _SHARED.search(call.arguments)
    if found is None:
        return
    source = world.opened(task, (int(found[1]), unescaped(found[2] or "")))
    target = world.opened(task, call.target)
    offset, size = int(found[3] or 0), int(found[4] or 0)
    if source is not None and size == 0:
        size = max(0, world.sizes.get(source.file, 0) - offset)
    _row(
        world,
        task,
        call,
        Kind.CLONE,
        world.file_of(source),
        world.file_of(target),
        offset,
        0 if call.error else size,
    )


def _clone(world: World, task: TracedThread, call: Call) -> None:
    if not call.error and call.result not in world.tasks:
        world.clone(task, call.result, clone_flags(call.arguments), call.start_ns)


def clone_flags(arguments: str) -> frozenset[str]:
    """The flags of a clone; none for fork and vfork."""
    found = _CLONE.search(arguments)
    return frozenset(found[1].split("|")) if found else frozenset()


def _execute(world: World, task: TracedThread, call: Call) -> None:
    if call.error:
        return
    named = paths(call.arguments)
    found = _RANK.search(call.arguments)
    if found:
        task.process.rank = int(found[1]) if len(found[1]) < 10 else -1
    world.replace(task, named[0][2] if named else "")


def _change_directory(world: World, task: TracedThread, call: Call) -> None:
    if call.error:
        return
    if call.name == "fchdir":
        opened = world.opened(task, call.target)
        task.directory.path = opened.label if opened else ""
    elif named := paths(call.arguments):
        task.directory.path = world.path_of(task, *named[0])


def _get_directory(world: World, task: TracedThread, call: Call) -> None:
    named = paths(call.arguments)
    if not call.error and named and named[0][2].startswith("/"):
        task.directory.path = named[0][2]


def _uring(world: World, task: TracedThread, call: Call) -> None:
    world.uses_uring = True


def _table() -> dict[str, Handler]:
    table: dict[str, Handler] = {
        "read": _read,
        "readv": _read,
        "write": _write,
        "writev": _write,
        "pread64": _at(_READ, 1, _read),
        "preadv": _at(_READ, 1, _read),
        "preadv2": _at(_READ, 2, _read),
        "pwrite64": _at(_WRITE, 1, _write),
        "pwritev": _at(_WRITE, 1, _write),
        "pwritev2": _at(_WRITE, 2, _write),
        "lseek": _seek,
        "close": _close,
        "close_range": _close_range,
        "fcntl": _fcntl,
        "unlink": _on_path(Kind.UNLINK),
        "unlinkat": _unlinkat,
        "rmdir": _on_path(Kind.RMDIR),
        "sync": _on_nothing(Kind.SYNC),
        "msync": _memory_sync,
        "getdents": _list,
        "getdents64": _list,
        "truncate": _truncate,
        "ftruncate": _truncate,
        "fallocate": _allocate,
        "mmap": _map,
        "copy_file_range": _copy,
        "sendfile": _copy,
        "ioctl": _share,
        "chdir": _change_directory,
        "fchdir": _change_directory,
        "getcwd": _get_directory,
        "io_uring_enter": _uring,
    }
    families: list[tuple[Handler, str]] = [
        (_open, "open openat openat2 creat"),
        (_dup, "dup dup2 dup3"),
        (_on_descriptor(Kind.SYNC), "fsync syncfs"),
        (_on_descriptor(Kind.DATA_SYNC), "fdatasync sync_file_range"),
        (_stat, "stat lstat fstat newfstatat fstatat64 statx access faccessat faccessat2"),
        (_on_path(Kind.STAT), "readlink readlinkat"),
        (_on_path(Kind.MKDIR), "mkdir mkdirat"),
        (_two_paths(Kind.RENAME), "rename renameat renameat2"),
        (_two_paths(Kind.LINK), "link linkat symlink symlinkat"),
        (_attribute(Attribute.MODE), "chmod fchmod fchmodat fchmodat2"),
        (_attribute(Attribute.OWNER), "chown lchown fchown fchownat"),
        (_attribute(Attribute.TIMES), "utime utimes futimesat utimensat"),
        (_attribute(Attribute.SET_EXTENDED), "setxattr lsetxattr fsetxattr"),
        (_attribute(Attribute.SET_EXTENDED), "removexattr lremovexattr fremovexattr"),
        (_attribute(Attribute.GET_EXTENDED), "getxattr lgetxattr fgetxattr"),
        (_attribute(Attribute.GET_EXTENDED), "listxattr llistxattr flistxattr"),
        (_clone, "clone clone3 fork vfork"),
        (_execute, "execve execveat"),
    ]
    return table | {name: handler for handler, names in families for name in names.split()}


HANDLERS = _table()
"""By the name of the call; others do nothing to files."""

CLONES = frozenset({"clone", "clone3", "fork", "vfork"})
