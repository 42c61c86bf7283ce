"""A campaign without a file: one workload over a product of its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from venturi.model.error import UserError
from venturi.model.workload import Parameter, Scalar, Workload
from venturi.plan.setting import RunSettings

_RANKS, _NODES = "ranks", "nodes"
_LONGEST_S = 3600.0
"""One run may take so long where nothing else is said."""


@dataclass(frozen=True)
class Sweep:
    """What is varied, and what stays."""

    workload: Workload
    named: str
    """As `venturi run` finds it: a name of the library, or the path of a file."""
    varied: dict[str, list[Scalar]]
    """The levels of each name; `ranks` and `nodes` too."""
    settings: RunSettings
    repeat: int | None = None
    most_s: float | None = None
    """What one run may take."""

    def text(self) -> str:
        """The campaign's file; UserError for a name that is set and varied."""
        for name in self.varied:
            if name in self.settings.assignments:
                raise UserError(f"{name} is both set and varied", "leave out --set or --vary")
        own = {name: re.sub(r"\W", "_", name) for name in self.varied}
        ranks, nodes = self._ranks(), _NODES if self._is_setting(_NODES) else self.settings.nodes
        kept = {name: _plain(value) for name, value in self.settings.assignments.items()}
        varied = {name: f"{{{own[name]}}}" for name in self.varied if name not in (ranks, nodes)}
        step = {
            "workload": _plain(self.named),
            "scale": self.settings.scale,
            "set": {**kept, **varied},
            "nodes": nodes,
            "time": f"{self.most_s or _LONGEST_S:g} s",
        }
        if ranks is not None:
            step["ranks"] = ranks
        repeat = self.repeat or self.workload.repeat
        return yaml.safe_dump(
            {
                "campaign": 1,
                "name": re.sub(r"[^A-Za-z0-9._-]", "-", self.workload.name).strip(".-_") or "sweep",
                "about": " ".join(self.workload.about.split()),
                "space": {"product": {own[name]: ls for name, ls in self.varied.items()}},
                "seed": self.settings.seed,
                "steps": {"run": step},
                **({"repeat": repeat} if repeat else {}),
            },
            sort_keys=False,
            allow_unicode=True,
        )

    def _ranks(self) -> str | int | None:
        """What the step's `ranks` are: `ranks` if that is varied, or `-n`."""
        marked = [
            name
            for name, parameter in self.workload.parameters.items()
            if isinstance(parameter, Parameter) and parameter.role == "ranks"
        ]
        wanted = [name for name in marked if name in self.varied]
        wanted += [_RANKS] if self._is_setting(_RANKS) else []
        if wanted and (len(wanted) > 1 or self.settings.ranks is not None):
            raise UserError(f"{' and '.join(wanted)}: the ranks are given twice", "keep one")
        return _RANKS if _RANKS in wanted else self.settings.ranks

    def _is_setting(self, name: str) -> bool:
        """Whether a name is varied and no parameter of the workload."""
        return name in self.varied and name not in self.workload.parameters


def levels_of(texts: tuple[str, ...]) -> dict[str, list[Scalar]]:
    """The levels that `--vary name=a,b,c` gives to each name; UserError for anything else."""
    found: dict[str, list[Scalar]] = {}
    for text in texts:
        name, sign, rest = text.partition("=")
        words = [word.strip() for word in rest.split(",")]
        name = name.strip()
        if not sign or not re.fullmatch(r"[A-Za-z_][\w.]*", name) or not all(words):
            raise UserError(f"--vary {text}: this is not name=a,b,c")
        if name in found:
            raise UserError(f"--vary {name} stands twice", f"--vary {name}=a,b,c")
        if len(set(words)) < len(words):
            raise UserError(f"--vary {text}: a value stands twice", "keep one of them")
        found[name] = [_scalar(word) for word in words]
    return found


def _scalar(word: str) -> Scalar:
    """A number where the word is one."""
    return int(word) if re.fullmatch(r"-?[0-9]{1,15}", word) else word


def _plain(value: str) -> str:
    """A text in which braces stand for themselves."""
    return value.replace("{", "{{").replace("}", "}}")
