"""Files that are not the application's I/O: systems, libraries, standard streams, side files.

Names are used here, to drop files, and in `grouping`, to put files together; nothing else in
this package looks at a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from venturi.derive.code_name import names_code
from venturi.derive.file_view import FileView
from venturi.model.trace import INTERFACES, Layer, TracedFile

SYSTEM_PREFIXES = (
    "/etc/",
    "/dev/",
    "/usr/",
    "/bin/",
    "/boot/",
    "/lib/",
    "/lib64/",
    "/opt/",
    "/sbin/",
    "/sys/",
    "/proc/",
    "/var/",
    "/run/",
)
"""The directories that Darshan itself leaves out by default (darshan-config.c), and /run."""

NOT_SYSTEM = ("/dev/shm/", "/var/tmp/", "/run/user/")
"""Directories below these in which applications keep data; as in tracer/filter.c."""

SHARED_MEMORY = re.compile(
    r"/dev/shm/(vader_segment\.|sm_segment\.|open_mpi\.|osc_|coll_sm|pmix_|mpich_|Intel_MPI_"
    r"|ib_shmem|cma_shmem|ucx_shm_|psm2_shm\.|psm_shm\.|nccl-|sem\.|cray-shared-mem-)"
)
"""Memory that ranks of a node share by means of files."""

_LIBRARY = re.compile(r"/(lib/python|lib64/|lib/|libexec/)|/\.venv/|/(ld\.so|locale)")
"""Where modules and libraries are looked up, also in vain."""

_LAUNCHER = re.compile(
    r"/(ompi|pmix|prte|prterun|orted|mpiexec)[.\-_][^/]*(/|$)|^/tmp/mpi[a-z]*[.-]"
    r"|/\.(openmpi|pmix|prte)(/|$)|^/tmp$"
)
"""What launchers and MPI libraries keep for themselves, and the folder in which they do."""

_RUNTIME = re.compile(r"/hsperfdata_[^/]+(/|$)|/(clr-debug-pipe|dotnet-diagnostic)-\d+-[^/]*$")
"""Counters and pipes that the runtimes of Java and .NET keep, so that tools can look at them."""

STDOUT = "<STDOUT>"
_STANDARD_STREAMS = ("<STDIN>", STDOUT, "<STDERR>")

_SIDE_FILE = re.compile(
    r"^(?:\.(?P<hidden>.+)\.shfp\.-?\d+|(?P<plain>.+?)(?:-\d+-\d+\.lock|\.locktest\.\d+"
    r"|\.(?:meta)?data\.\d+)|(?P<anywhere>.+?)_cid-+\d+-\d+\.sm)$"
)
"""Lock files and shared file pointers beside a file of MPI-IO: `.NAME.shfp.N` (ROMIO),
`NAME.locktest.N`, `NAME-JOB-N.lock`, `NAME.data.N`, `NAME.metadata.N`, and `NAME_cid-N-N.sm` in a
folder of its own (Open MPI)."""


class Noise(StrEnum):
    """Why a file is no I/O of the application."""

    FOREIGN = "files of the system, of libraries, launchers and interpreters"
    STREAM = "standard streams, pipes and sockets"
    LOOKED_AT = "files that are only looked at (stat, access)"


def without_noise(views: list[FileView]) -> list[FileView]:
    """The files that are the application's own."""
    return [view for view, noise in with_noise_named(views) if noise is None]


def with_noise_named(views: list[FileView]) -> list[tuple[FileView, Noise | None]]:
    """Each file, and why it is no I/O of the application; None where it is."""
    side = side_files(
        (view.path for view in views),
        (view.path for view in views if Layer.MPIIO in view.records),
    )
    return [(view, _noise_of(view, side)) for view in views]


def _noise_of(view: FileView, side: set[str]) -> Noise | None:
    if is_standard_stream(view):
        return Noise.STREAM
    if view.path and is_foreign_path(view.path, view.is_data):
        return Noise.FOREIGN
    if view.interface is INTERFACES[Layer.POSIX] and view.path in side:
        return Noise.FOREIGN
    return Noise.LOOKED_AT if view.operations == 0 else None


def side_files(paths: Iterable[str], of_mpiio: Iterable[str]) -> set[str]:
    """The paths that an MPI-IO library itself keeps beside its files `of_mpiio`, by their names.

    How small a file is says nothing: an application's files may be small, too.
    """
    files = set(of_mpiio)
    names = {path.rpartition("/")[2] for path in files}
    return {path for path in paths if files and _is_side_file(path, files, names)}


def _is_side_file(path: str, files: set[str], names: set[str]) -> bool:
    folder, slash, name = path.rpartition("/")
    match = _SIDE_FILE.match(name)
    if match is None:
        return False
    if match["anywhere"]:
        return match["anywhere"] in names
    return folder + slash + (match["hidden"] or match["plain"]) in files


def is_standard_stream(view: FileView) -> bool:
    """Whether this is stdin, stdout or stderr: named so, or used without having been opened."""
    if view.path in _STANDARD_STREAMS:
        return True
    if not view.interface.entry.buffers:
        return False
    records = view.records[Layer.STDIO]
    is_opened = any(record.times.get("F_OPEN_START_TIMESTAMP", 0.0) > 0.0 for record in records)
    return not is_opened


def is_foreign(file: TracedFile) -> bool:
    """Whether a file belongs to the system, to a library or to a launcher."""
    return is_foreign_path(file.path, file.is_data)


def is_foreign_path(path: str, is_data: bool = False) -> bool:
    """Whether a file of this name belongs to the system, to a library or to a launcher.

    `is_data` says that the application used it as data, even if its name is that of code.
    """
    if not path or path in _STANDARD_STREAMS or SHARED_MEMORY.match(path) is not None:
        return True
    if path.startswith(SYSTEM_PREFIXES) and not path.startswith(NOT_SYSTEM):
        return True
    if names_code(path) and not is_data:
        return True
    return any(kind.search(path) for kind in (_LAUNCHER, _RUNTIME))


def is_code(file: TracedFile) -> bool:
    """Whether a file is a program's module or library."""
    named = names_code(file.path) or _LIBRARY.search(file.path) is not None
    return named and not file.is_data
