"""How long an application's I/O takes: on a machine that was profiled, or measured beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from venturi.api.run import DocumentView
from venturi.api.view import View, name_of, progress_lines
from venturi.api.workload import Source, settings, workload_of
from venturi.predict.against import Experiment, predict_against
from venturi.predict.on_machine import forecast_of


def predict(
    workload: Source,
    on: str | os.PathLike[str] | View,
    *,
    ranks: int | None = None,
    scale: str = "laptop",
    parameters: Mapping[str, object] | None = None,
) -> DocumentView:
    """The time of each phase on a machine, with its interval; nothing runs.

    `on` is a machine file with a profile (`venturi profile DIR` measures one). Raises UserError
    where the profile lacks what is needed, or was measured with fewer ranks.
    """
    from venturi.execute.launcher import machine_named

    machine = machine_named(name_of(on))
    chosen = settings(
        ranks,
        scale,
        parameters,
        most_ranks=machine.most_ranks,
        server_memory_bytes=machine.server_memory_bytes,
    )
    found = forecast_of(workload_of(workload).document, chosen, machine, scale_ranks=False)
    return DocumentView(found)


def predict_beside(
    workload: Source,
    command: str,
    dir: str | os.PathLike[str],
    *,
    ranks: int | None = None,
    repeat: int = 6,
    quiet: bool = False,
) -> DocumentView:
    """The time that a proxy predicts for its application, and how far off that is.

    The shell command and the proxy run in turn below `dir`, each at least `repeat` times. Raises
    UserError or TargetProblem where they would compare unlike things.
    """
    opened = workload_of(workload)
    wanted = Experiment(
        workload=opened.document,
        text=opened.text,
        command=command,
        directory=Path(dir).absolute(),
        ranks=ranks,
        rounds=repeat,
    )
    return DocumentView(predict_against(wanted, progress_lines(quiet)))
