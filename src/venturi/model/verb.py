"""Words of a plan for what is done to files, names and items and how, and what items are."""

from __future__ import annotations

from enum import StrEnum


class OperationKind(StrEnum):
    """The operations whose counts, bytes, times and latencies are kept apart."""

    WRITE = "write"
    READ = "read"
    OPEN = "open"
    CREATE = "create"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    SYNC = "sync"
    RENAME = "rename"
    LINK = "link"
    SYMLINK = "symlink"
    MKNOD = "mknod"
    READ_DIR = "read_dir"
    SET_XATTR = "set_xattr"
    GET_XATTR = "get_xattr"
    TRUNCATE = "truncate"
    FIND = "find"
    """One name of a walk over directories: read, and asked for its size or time if needed."""
    EXEC = "exec"
    """One run of a command."""
    COPY = "copy"
    """A file copied by the kernel, to its end."""
    CLONE = "clone"
    """A file copied by sharing its blocks."""
    SEEK = "seek"
    """The position of an open file moved."""
    EMPTY_READ = "empty_read"
    """A read where the file ends: it brings nothing."""
    SET_ATTRIBUTE = "set_attribute"
    """Mode, owner or times of a file set."""
    MISS = "miss"
    """A name asked for that is not there."""


class NameVerb(StrEnum):
    """What is done to one name."""

    CREATE = "create"
    OPEN = "open"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    READ_DIR = "read_dir"
    RENAME = "rename"
    TRUNCATE = "truncate"
    COPY = "copy"
    SET_MODE = "set_mode"
    """chmod, of an open file fchmod; so are these two chown and utimensat. All set what anybody may
    set of a file of his own: rwxr-xr-x, the same owner, a fixed time."""
    SET_OWNER = "set_owner"
    SET_TIMES = "set_times"
    MISS = "miss"
    """A name that is not there is asked for: that of the file, with `~` behind it."""


class CopyWay(StrEnum):
    """How a file is copied at first; where the storage cannot, it goes on as `range` does, and at
    last by reads and writes."""

    CLONE = "clone"
    """Blocks are shared (FICLONE)."""
    RANGE = "range"
    """By copy_file_range, which some file systems turn into sharing."""
    SEND = "send"
    """By sendfile, which always moves the bytes."""


class ItemVerb(StrEnum):
    """What is done to each item of a tree, one item after the other."""

    CREATE = "create"
    OPEN = "open"
    WRITE = "write"
    READ = "read"
    SYNC = "sync"
    CLOSE = "close"
    STAT = "stat"
    UNLINK = "unlink"
    MKNOD = "mknod"
    """Made as an empty file without being opened."""
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    READ_DIR = "read_dir"
    """All names in the item, which is a directory."""
    RENAME = "rename"
    """Alone, items of a directory move one place on in a cycle: the first aside, each other one to
    the name before it, and at last the first to the last name; one more call than items. Behind
    `create`, the item was made under another name and gets its own with this."""
    LINK = "link"
    """A second name, `<item>.link`."""
    SYMLINK = "symlink"
    """A symbolic link to the item, `<item>.symlink`."""
    UNLINK_LINK = "unlink_link"
    UNLINK_SYMLINK = "unlink_symlink"
    SET_XATTR = "set_xattr"
    """The extended attribute `user.venturi` of the open item."""
    GET_XATTR = "get_xattr"
    COPY = "copy"
    """The item of another tree with the same number is opened, this one is made with the same
    content, and both are closed."""
    SET_MODE = "set_mode"
    """Of an open item its descriptor's, else its name's; so are these two."""
    SET_OWNER = "set_owner"
    SET_TIMES = "set_times"


_COUNTED_AS = {
    "unlink_link": OperationKind.UNLINK,
    "unlink_symlink": OperationKind.UNLINK,
    "set_mode": OperationKind.SET_ATTRIBUTE,
    "set_owner": OperationKind.SET_ATTRIBUTE,
    "set_times": OperationKind.SET_ATTRIBUTE,
}


def operation_of(verb: NameVerb | ItemVerb) -> OperationKind:
    """The operation that the one call of a verb is counted as."""
    return _COUNTED_AS.get(verb.value) or OperationKind(verb.value)


ATTRIBUTE_VERBS = tuple(word for word, kind in _COUNTED_AS.items() if kind.value == "set_attribute")
"""Words, of items and of single names, that set an attribute."""


class CountedFrom(StrEnum):
    """Where the first item of a window is counted from."""

    START = "start"
    OLDEST = "oldest"
    NEWEST = "newest"


class NameField(StrEnum):
    """A number in the name of a directory or an item of a tree."""

    NODE = "node"
    """The directory's number; the root is 0."""
    ITEM = "item"
    """The item's number in the tree: `node * items + index`."""
    INDEX = "index"
    """The item's number in its directory."""


class ItemKind(StrEnum):
    """What the items of a tree are."""

    FILE = "file"
    DIRECTORY = "directory"


class ItemOwner(StrEnum):
    """Whose the items of a tree are."""

    RANK = "rank"
    """Every rank has items of its own."""
    ALL = "all"
    """One set, dealt to the ranks in blocks."""
    SHARED = "shared"
    """One set, and every rank acts on all of it."""


class CachePolicy(StrEnum):
    """What happens to cached pages of the phase's files before the phase starts."""

    KEEP = "keep"
    DROP = "drop"


class OnError(StrEnum):
    """What a rank does once a request, or an operation on an item of a tree, has failed."""

    STOP = "stop"
    """It and all others of its group end the phase, and with it the run."""
    GO_ON = "go on"
    """It goes on with the next one; the result says how many failed, and is INVALID."""


class ComputeMode(StrEnum):
    """How a rank spends the time between its I/O."""

    SLEEP = "sleep"
    SPIN = "spin"


class Arrivals(StrEnum):
    """How the starts of requests lie in time when they follow a rate."""

    FIXED = "fixed"
    POISSON = "poisson"


class Direction(StrEnum):
    """Which way the bytes go."""

    WRITE = "write"
    READ = "read"


class SyncMode(StrEnum):
    """What makes data persistent."""

    NONE = "none"
    FSYNC = "fsync"
    FDATASYNC = "fdatasync"
    FLUSH = "flush"
    FILE_SYSTEM = "file_system"
    """Everything that anybody wrote to the file's file system (`syncfs`)."""


class ClockKind(StrEnum):
    """Whether time passes by itself or only as the simulated storage says."""

    REAL = "real"
    SIMULATED = "simulated"
