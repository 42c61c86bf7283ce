"""Workloads in a notebook: text, plan, operations of a rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from venturi.api.source import open_or_derive
from venturi.api.table import DataTable
from venturi.api.view import View
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.model.likeness import Likeness
    from venturi.plan.make import PlanResult
    from venturi.plan.setting import RunSettings
    from venturi.plan.total import Totals

_MOST_RANKS = 1_000_000
"""What is only planned may be for another machine."""


class WorkloadView(View):
    """A workload and its text."""

    def __init__(self, document: Workload, text: str, name: str = "") -> None:
        self.document, self.text, self.name = document, text, name

    @classmethod
    def from_yaml(cls, source: str | Path) -> WorkloadView:
        """A workload from a file, or from the text of one. Raises UserError with its line."""
        if isinstance(source, str) and "\n" in source:
            return cls(parse_yaml(source, "workload", Workload), source)
        document, text = open_or_derive(str(source))
        return cls(document, text, str(source))

    @property
    def likeness(self) -> Likeness | None:
        """Of a proxy: how many of the application's operations it makes; None: not known."""
        return None if self.document.origin is None else self.document.origin.likeness

    @property
    def findings(self) -> DataTable:
        """Of a proxy: what the application does that costs time."""
        origin = self.document.origin
        return DataTable([one.to_data() for one in origin.findings] if origin is not None else [])

    def save(self, path: str | Path) -> WorkloadView:
        """The same workload in a new file. Raises FileExistsError where there is one."""
        with Path(path).open("x", encoding="utf-8") as file:
            file.write(self.text)
        return WorkloadView(self.document, self.text, str(path))

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """Its text."""
        console.print(self.text, markup=False, soft_wrap=True, end="")


@dataclass(frozen=True, repr=False)
class PlanView(View):
    """What a workload will do, known before it does it."""

    result: PlanResult

    @property
    def totals(self) -> Totals:
        """Bytes, files and operations of one repetition."""
        return self.result.totals

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What `venturi plan --json` prints."""
        from venturi.plan.summary import summary_of

        return summary_of(self.result)

    def requests(self, rank: int = 0, most: int = 100_000) -> DataTable:
        """The first operations of a rank in one repetition, offsets and sizes in bytes."""
        from itertools import islice

        from venturi.plan.stream import RequestStream

        stream = RequestStream(self.result.plan, rank)
        return DataTable(
            [
                {
                    "phase": one.phase,
                    "operation": one.kind.value,
                    "offset_bytes": one.offset,
                    "bytes": one.bytes,
                    "path": one.path,
                }
                for one in islice(stream.operations(), most)
            ]
        )

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """What `venturi plan` prints."""
        from venturi.report.terminal import print_workload_plan

        print_workload_plan(self.summary, console, units)


Source = str | Path | WorkloadView
"""A workload: its name in the library, a file, a log or a capture, or one that was opened."""


def workload_of(source: Source, store: str | None = None) -> WorkloadView:
    """The workload that is meant. Raises UserError where there is none."""
    if isinstance(source, WorkloadView):
        return source
    document, text = open_or_derive(str(source), store)
    return WorkloadView(document, text, str(source))


def settings(
    ranks: int | None, scale: str, parameters: Mapping[str, object] | None, **more: Any
) -> RunSettings:
    """The choices of a run; what is not named keeps the workload's own value."""
    from venturi.plan.setting import RunSettings

    assignments = {name: str(value) for name, value in (parameters or {}).items()}
    return RunSettings(ranks=ranks, scale=scale, assignments=assignments, **more)


def plan(
    workload: Source,
    *,
    ranks: int | None = None,
    scale: str = "laptop",
    parameters: Mapping[str, object] | None = None,
) -> PlanView:
    """What a workload will do, without any I/O. Raises UserError where it cannot be planned."""
    from venturi.plan.make import make_plan

    chosen = settings(ranks, scale, parameters, most_ranks=_MOST_RANKS)
    return PlanView(make_plan(workload_of(workload).document, chosen))
