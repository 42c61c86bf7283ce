"""Workloads and campaigns that ship with Venturi, as data, and how one is found by its name.

A workload is a file `workload/NAME.yaml`, or a folder `workload/NAME/` with `workload.yaml` and a
`README.md` where there is more to say than fits into it. A campaign is a file
`campaign/NAME.yaml`.
"""

from __future__ import annotations

import difflib
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from venturi.library.table import with_tables
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml, parse_yaml

_YAML = "workload.yaml"
_README = "README.md"


def names() -> list[str]:
    """Names of the workloads that ship."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".yaml") or entry.joinpath(_YAML).is_file()
    )


def text_of(name: str) -> str:
    """The YAML text of a workload that ships."""
    own = _folder().joinpath(name, _YAML)
    return (own if own.is_file() else _folder().joinpath(f"{name}.yaml")).read_text("utf-8")


def readme_of(name: str) -> str | None:
    """What there is to say about a workload that ships, as Markdown; None: nothing more."""
    readme = _folder().joinpath(name, _README)
    return readme.read_text("utf-8") if readme.is_file() else None


def load(name: str) -> Workload:
    """A workload by its library name or by the path of its file; UserError if neither."""
    if name in names():
        return parse_yaml(text_of(name), f"library/{name}", Workload)
    path = Path(name)
    if path.suffix in (".yaml", ".yml", ".json") or path.exists():
        return with_tables(load_yaml(path, Workload), path.parent)
    raise unknown(name)


def unknown(name: str) -> UserError:
    """The error of a name that no workload has."""
    near = difflib.get_close_matches(name, names(), n=1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    return UserError(
        f"there is no workload '{name}'",
        f"{meant}Name one of `venturi library ls`, a YAML file, or a run (@last, an id)",
    )


def campaign_names() -> list[str]:
    """Names of the campaigns that ship."""
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in _campaigns().iterdir()
        if entry.name.endswith(".yaml")
    )


def campaign_text(name: str) -> str:
    """The YAML text of a campaign that ships."""
    return _campaigns().joinpath(f"{name}.yaml").read_text("utf-8")


def _campaigns() -> Traversable:
    return files("venturi.library").joinpath("campaign")


def _folder() -> Traversable:
    return files("venturi.library").joinpath("workload")
