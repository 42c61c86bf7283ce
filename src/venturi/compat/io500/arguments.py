"""What `venturi run io500` is told on its command line, as parameters of the workload."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.io500.ini import DROPPED, Chosen, read_ini
from venturi.model.error import UserError

NAME = "io500"
QUICK_STONEWALL_S = 5.0
"""With 12 scored phases a run then takes about two minutes."""

_EXTENDED = {"extended": "1", "extended-2021": "2"}


@dataclass(frozen=True)
class Io500Arguments:
    """The options that io500 alone has; None where the user did not say."""

    stonewall_s: float | None = None
    mode: str | None = None
    """`standard`, `extended`, `extended-2021` or `quick`."""
    config: Path | None = None


def refuse_obstacles(asked: Chosen, config: Path | None) -> None:
    """UserError for what an ini asks for and the profile cannot do."""
    if asked.obstacles:
        raise UserError(
            f"{config}: {'; '.join(asked.obstacles)}",
            "--dry-run shows what the profile would do without it; run io500-official for this",
        )


def chosen(name: str, arguments: Io500Arguments, ranks: int | None, nodes: int) -> Chosen:
    """The parameters of a run, and what its reader must know.

    The command line goes before the ini. UserError where another workload gets such options, or
    where one of them cannot be.
    """
    if name != NAME:
        if arguments != Io500Arguments():
            raise UserError(
                f"--stonewall, --mode and --config belong to {NAME}, not to {name}",
                "leave them away, or set parameters with --set",
            )
        return Chosen()
    result = read_ini(arguments.config) if arguments.config else Chosen()
    if arguments.mode == "quick":
        result.assignments["stonewall"] = f"{QUICK_STONEWALL_S:g} s"
        result.drop_caches = True
        result.notes = [note for note in result.notes if not note.startswith(DROPPED)]
        result.notes.append(
            f"quick mode: a stonewall of {arguments.stonewall_s or QUICK_STONEWALL_S:g} s; "
            f"{DROPPED} before each phase that reads, because a full run's data "
            "is mostly larger than memory: so the score stands for a full run's"
        )
    if arguments.mode in _EXTENDED:
        result.assignments["extended"] = _EXTENDED[arguments.mode]
    if arguments.stonewall_s is not None:
        if not 0 < arguments.stonewall_s < math.inf:
            raise UserError(f"--stonewall {arguments.stonewall_s:g}: seconds above 0 are needed")
        result.assignments["stonewall"] = f"{arguments.stonewall_s:g} s"
    if nodes > 1 and ranks is not None:
        per_node = str(-(-ranks // nodes))
        result.assignments |= {"apart": per_node, "stride": per_node}
    return result
