"""Workloads that ship with Venturi, as data, and how a workload is found by its name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml, parse_yaml


def names() -> list[str]:
    """Names of the workloads that ship."""
    folder = files("venturi.library").joinpath("workload")
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name[0] != ".")


def text_of(name: str) -> str:
    """The YAML text of a workload that ships."""
    return files("venturi.library").joinpath("workload", f"{name}.yaml").read_text("utf-8")


def load(name: str) -> Workload:
    """A workload by its library name or by the path of its file; UserError if neither."""
    if name in names():
        return parse_yaml(text_of(name), f"library/{name}.yaml", Workload)
    path = Path(name)
    if path.suffix in (".yaml", ".yml", ".json") or path.exists():
        return load_yaml(path, Workload)
    raise UserError(
        f"there is no workload '{name}'", f"in the library: {', '.join(names())}; or a YAML file"
    )
