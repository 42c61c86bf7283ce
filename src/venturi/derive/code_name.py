"""Names of code, and the programs that read such files as code.

A module that Python imports is no I/O of the application; the same file searched by grep, packed by
tar or written by a compiler is its data. So the name alone decides only where nothing is known of
the programs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MODULE = re.compile(r"\.(py|pyc|pyo|pth|egg-link|dist-info)$|/pyvenv\.cfg$")
_MODULE_FOLDER = re.compile(r"/(site-packages|dist-packages|__pycache__)(/|$)")
_INTERPRETER = re.compile(
    r"/(lib(64|32)?/(pypy|python)[\d.]*|\.pyenv|\.venv|site-packages|dist-packages)(/|$)"
    r"|/python\d+\.zip$|\._pth$|/pybuilddir\.txt$"
    r"|/(Setup\.local|sitecustomize|usercustomize)$|/bin(/[^/]*python[^/]*)?$"
)
"""What Python asks for when it starts, and folders of executables."""
_ARCHIVE = re.compile(r"\.jar$")
_LIBRARY = re.compile(r"\.so(\.[\d.]+)?$")

_PYTHON = re.compile(r"python|pypy")
_SHELL = re.compile(r"^(ba|da|z|k|mk|a)?sh$")
_WRAPPED = re.compile(f"{_PYTHON.pattern}|{_SHELL.pattern}")
"""Python, and the shells whose scripts start it (`activate`, pyenv's shims)."""
_JAVA = re.compile(r"^(java|jshell)$")

_MOVED = ("BYTES_READ", "BYTES_WRITTEN", "MMAPS")
_USED = (*_MOVED, "OPENS", "LISTS", "UNLINKS", "RENAMES", "LINKS", "MKDIRS", "RMDIRS", "STATS")


def names_code(path: str) -> bool:
    """Whether the name is that of a program's module or library, or of a place of those."""
    kinds = (_MODULE, _MODULE_FOLDER, _INTERPRETER, _ARCHIVE, _LIBRARY)
    return any(kind.search(path) is not None for kind in kinds)


def is_used_as_data(path: str, program: str, starts_others: bool, used: Mapping[str, int]) -> bool:
    """Whether what a program did to a file that names code shows that it is data for it.

    `used` are the program's counters of the file, `starts_others` says whether it starts programs,
    which it looks up first. What its own runtime writes is data as well, but for its caches.
    """
    if not program or not names_code(path):
        return False
    runtime = next((one for name, one in _runtimes() if name.search(path)), None)
    if runtime is not None and runtime.search(program):
        return used.get("BYTES_WRITTEN", 0) > 0 and _MODULE_FOLDER.search(path) is None
    # Who loads a library looks at it and maps it by calls that are the C library's own.
    looks_only = _LIBRARY.search(path) is not None or starts_others
    return any(used.get(counter, 0) > 0 for counter in (_MOVED if looks_only else _USED))


def _runtimes() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """For names, the programs that read such files as code."""
    return [
        (_MODULE, _PYTHON),
        (_MODULE_FOLDER, _PYTHON),
        (_INTERPRETER, _WRAPPED),
        (_ARCHIVE, _JAVA),
        (_LIBRARY, _PYTHON),
    ]
