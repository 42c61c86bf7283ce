"""Where a workload comes from: the library, a file, a run of the store, a log or a capture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from venturi.model.workload import Workload

_RECORD = "record.json"


def open_workload(name: str, store: str | None = None) -> tuple[Workload, str]:
    """A workload and its text: from the library, a file, or a run of the archive.

    Raises UserError where there is none of this name, or it is no workload.
    """
    from venturi import library
    from venturi.library.table import whole_text
    from venturi.model.workload import Workload
    from venturi.model.yaml_text import load_yaml, read_text

    if name.startswith("@") or (not Path(name).exists() and name not in library.names()):
        from venturi.store.archive import chosen, find, folders, is_choice
        from venturi.store.place import store_directory

        place = store_directory(store)
        if is_choice(name):  # tag:golden: the newest of them
            name = chosen(place, name)[-1].id
        known = any(f.name.startswith(name) for f in folders(place))
        if name.startswith("@") or known:
            path = find(place, name) / "workload.yaml"
            return load_yaml(path, Workload), read_text(path)
    workload = library.load(name)
    if name in library.names():
        return workload, library.text_of(name)
    text = read_text(Path(name))
    return workload, whole_text(text, workload) if workload.tables else text


def open_or_derive(name: str, store: str | None = None) -> tuple[Workload, str]:
    """A workload and its text as `open_workload` finds it, or the proxy of a log or capture."""
    from venturi import library

    path = Path(name)
    if name in library.names() or not path.exists() or _is_workload(path):
        return open_workload(name, store)
    from venturi.derive.workload import derive
    from venturi.derive.yaml_text import to_yaml
    from venturi.sources.open import read_capture

    workload = derive(read_capture(path), path.resolve().name.split(".")[0])
    return workload, to_yaml(workload)


def _is_workload(path: Path) -> bool:
    """Whether a file is a workload and no capture, by its content."""
    from venturi.sources.kind import CaptureKind, kind_of

    if path.is_dir():
        return False
    kind = kind_of(path)
    if kind is CaptureKind.TRACE:
        with path.open("rb") as file:
            return b'"workload"' in file.read(200)
    return kind is None


def is_capture(name: str) -> bool:
    """Whether this names a capture of an application, and no record or result of a run."""
    from venturi.store.archive import holds_run

    path = Path(name)
    if path.is_dir():
        return not holds_run(name)
    return path.is_file() and path.name != _RECORD
