"""Files that are not the application's I/O: systems, libraries, standard streams, side files.

Names are used here, to drop files, and in `grouping`, to put files together; nothing else in
this package looks at a name.
"""

from __future__ import annotations

import re

from venturi.derive.file_view import FileView
from venturi.model.plan import Direction, Interface
from venturi.model.trace import Layer

SYSTEM_PREFIXES = (
    "/etc/", "/dev/", "/usr/", "/bin/", "/boot/", "/lib/", "/lib64/", "/opt/", "/sbin/",
    "/sys/", "/proc/", "/var/", "/run/",
)  # fmt: skip
"""The directories that Darshan itself leaves out by default (darshan-config.c), and /run."""

NOT_SYSTEM = ("/dev/shm/", "/var/tmp/", "/run/user/")
"""Directories below these in which applications keep data; as in tracer/filter.c."""

SHARED_MEMORY = re.compile(
    r"/dev/shm/(vader_segment\.|sm_segment\.|open_mpi\.|osc_|coll_sm|pmix_|mpich_|Intel_MPI_"
    r"|ib_shmem|cma_shmem|ucx_shm_|psm2_shm\.|psm_shm\.|nccl-|sem\.|cray-shared-mem-)"
)
"""Memory that ranks of a node share by means of files."""

_CODE = re.compile(
    r"\.(py|pyc|pyo|pth|so|so\.[\d.]+|egg-link|dist-info|jar|mod)$|/pyvenv\.cfg$"
    r"|/(site-packages|dist-packages|__pycache__)(/|$)"
)
"""Programs and libraries: read while something starts, not the application's data."""

_INTERPRETER = re.compile(
    r"/(lib/python[\d.]+|\.pyenv)(/|$)|/python\d+\.zip$|\._pth$|/pybuilddir\.txt$"
    r"|/(Setup\.local|sitecustomize|usercustomize)$|/bin(/[^/]*python[^/]*)?$"
)
"""What Python asks for when it starts, and folders of executables."""

_LIBRARY = re.compile(r"/(lib/python|lib64/|lib/|libexec/)|/\.venv/|/(ld\.so|locale)")
"""Where modules and libraries are looked up, also in vain."""

_LAUNCHER = re.compile(
    r"/(ompi|pmix|prte|prterun|orted|mpiexec)[.\-_][^/]*(/|$)|^/tmp/mpi[a-z]*[.-]"
    r"|/\.(openmpi|pmix|prte)(/|$)|^/tmp$"
)
"""What launchers and MPI libraries keep for themselves, and the folder in which they do."""

_STANDARD_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")

SIDE_FILE_BYTES = 4096
"""MPI-IO libraries keep lock files and shared file pointers (OMPI: 40-byte writes)."""


def without_noise(views: list[FileView]) -> list[FileView]:
    """The files that are the application's own."""
    has_mpiio = any(Layer.MPIIO in view.records for view in views)
    return [
        view
        for view in views
        if not (
            _is_system(view.path)
            or is_standard_stream(view)
            or (has_mpiio and _is_side_file(view))
            or _is_untouched(view)
        )
    ]


def is_standard_stream(view: FileView) -> bool:
    """Whether this is stdin, stdout or stderr: named so, or used without having been opened."""
    if view.path in _STANDARD_STREAMS:
        return True
    if view.interface is not Interface.STDIO:
        return False
    records = view.records[Layer.STDIO]
    is_opened = any(record.times.get("F_OPEN_START_TIMESTAMP", 0.0) > 0.0 for record in records)
    return not is_opened


def is_foreign_path(path: str) -> bool:
    """Whether a file of this name belongs to the system, to a library or to a launcher."""
    if not path or path in _STANDARD_STREAMS or _is_system(path):
        return True
    return bool(_LAUNCHER.search(path) or _INTERPRETER.search(path))


def _is_system(path: str) -> bool:
    if _CODE.search(path) is not None or SHARED_MEMORY.match(path) is not None:
        return True
    return path.startswith(SYSTEM_PREFIXES) and not path.startswith(NOT_SYSTEM)


def _is_side_file(view: FileView) -> bool:
    """A tiny POSIX file beside MPI-IO ones."""
    moved = sum(view.bytes(direction) for direction in Direction)
    return view.interface is Interface.POSIX and moved <= SIDE_FILE_BYTES


def _is_untouched(view: FileView) -> bool:
    return view.operations == 0


def is_code(path: str) -> bool:
    """Whether a name is that of a program's module or library."""
    return _CODE.search(path) is not None or _LIBRARY.search(path) is not None
