"""Captures of applications, and the proxies that are derived from them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from venturi.api.table import DataTable
from venturi.api.view import View, name_of
from venturi.api.workload import WorkloadView
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.model.characterization import Characterization
    from venturi.model.trace_folder import Captured


class CaptureView(View):
    """What an application did to storage: a trace, a Darshan log, strace's output."""

    def __init__(self, path: Path, exit_code: int | None = None) -> None:
        self.path, self.name = path, str(path)
        self.exit_code = exit_code
        """Of the application, as a shell says it; None: it was captured before."""

    @cached_property
    def captured(self) -> Captured:
        """The capture itself. Raises UserError where it cannot be read."""
        from venturi.sources.open import read_capture

        return read_capture(self.path)

    @cached_property
    def document(self) -> Characterization:
        """What it does to storage, and what hurts."""
        from venturi.analyse.characterization import characterization_of

        name = self.path.resolve().name.removesuffix(".trace").removesuffix(".darshan")
        return characterization_of(self.captured, name)

    @property
    def findings(self) -> DataTable:
        """What costs time, worst first."""
        return DataTable([one.to_data() for one in self.document.findings])

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """Its page as Markdown."""
        from venturi.report.render import render_document

        text = render_document(self.document, "md", units)
        console.print(text, markup=False, soft_wrap=True, end="")

    def to_html(self, units: Units = Units.IEC) -> str | None:
        """Its page."""
        from venturi.report.render import render_document

        return render_document(self.document, "html", units)


def capture(command: Sequence[str], output: str | os.PathLike[str] | None = None) -> CaptureView:
    """Run a command unchanged and record its I/O in the folder `output` (default: named after it).

    A command that fails is captured too: `exit_code` says so. Raises UserError where it cannot be
    started, or the folder is there already.
    """
    from venturi.capture.run import capture as record
    from venturi.capture.run import place_for
    from venturi.capture.tracer import TracerSettings

    line = tuple(os.fspath(word) for word in command)
    folder = place_for(None if output is None else os.fspath(output), line)
    outcome = record(line, folder, TracerSettings())
    return CaptureView(folder, outcome.finished.shell_code)


def derive(log: str | os.PathLike[str] | CaptureView, name: str | None = None) -> WorkloadView:
    """A compact proxy workload from a capture or a log. Raises UserError where there is none."""
    from venturi.derive.workload import derive as proxy_of
    from venturi.derive.yaml_text import to_yaml

    opened = log if isinstance(log, CaptureView) else CaptureView(Path(name_of(log)))
    title = name or opened.path.resolve().name.split(".")[0]
    document = proxy_of(opened.captured, title)
    return WorkloadView(document, to_yaml(document))
