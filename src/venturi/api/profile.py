"""What each kind of operation takes in a directory, measured once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from venturi.api.run import DocumentView
from venturi.api.view import checked_budget_s, progress_lines
from venturi.profile.into_file import measure_into_file
from venturi.profile.measure import ProfileRequest, check_interfaces


def profile(
    dir: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    budget_s: float = 180,
    on: str | os.PathLike[str] = "local",
    ranks: int | None = None,
    interfaces: Sequence[str] | None = None,
    resume: bool = False,
    quiet: bool = False,
) -> DocumentView:
    """Measure a directory for `budget_s` seconds, for predictions; the machine file is `output`.

    `ranks` is the most that are measured (the number of cores), `interfaces` what is measured
    besides posix (stdio). Ctrl-C ends it with what is known by then, and `resume` goes on. Raises
    UserError, TargetProblem or RunFailed where nothing was measured.
    """
    from venturi.execute.launcher import machine_named

    machine, path = machine_named(os.fspath(on)), Path(output)
    request = ProfileRequest(
        directory=Path(dir).absolute(),
        output=path.absolute(),
        budget_s=checked_budget_s(budget_s),
        machine=machine,
        ranks=ranks,
        resume=resume,
    )
    if interfaces is not None:
        request = replace(request, interfaces=check_interfaces(interfaces, machine))
    return DocumentView(measure_into_file(request, progress_lines(quiet)).machine, str(path))
