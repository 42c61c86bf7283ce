"""Runs: do one, or open what was done."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from venturi.api.document import open_document
from venturi.api.source import is_capture
from venturi.api.table import DataTable
from venturi.api.trace import CaptureView
from venturi.api.view import View
from venturi.api.workload import Source, WorkloadView, settings, workload_of
from venturi.model.document import Document
from venturi.model.record import Record
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.model.verdict import Verdict


class RunView(View):
    """The record of a run."""

    def __init__(self, document: Record, store: Path) -> None:
        self.document, self.store, self.name = document, store, document.id

    @property
    def id(self) -> str:
        """By which commands know it."""
        return self.document.id

    @property
    def verdict(self) -> Verdict:
        """Whether its numbers are what their labels say, and what they may be used for."""
        return self.document.verdict

    @cached_property
    def metrics(self) -> DataTable:
        """A row for each metric: the median, its interval and how sure that is."""
        return DataTable(
            [
                {"metric": name, **value.to_data()}
                for name, value in (self.document.metrics | self.document.scores).items()
            ]
        )

    @cached_property
    def phases(self) -> DataTable:
        """A row for each phase and repetition, with the columns of `venturi report --format csv`;
        `operation` is `all`, times are in seconds."""
        return DataTable([row for row in self._table if row["operation"] == "all"])

    @cached_property
    def operations(self) -> DataTable:
        """A row for each kind of operation in each of them, with its latencies in nanoseconds."""
        return DataTable([row for row in self._table if row["operation"] != "all"])

    @cached_property
    def _table(self) -> list[dict[str, str | int | float | None]]:
        from venturi.report.csv_text import COLUMNS, rows_of

        rows = (dict(zip(COLUMNS, row, strict=True)) for row in rows_of(self.document))
        return [
            {name: None if value == "" else value for name, value in row.items()} for row in rows
        ]

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """What `venturi run` prints at its end."""
        from venturi.report.terminal import print_summary

        print_summary(self.document, console, units)

    def to_html(self, units: Units = Units.IEC) -> str | None:
        """Its report."""
        return report_of([self.document], "html", self.store, units)


class DocumentView(View):
    """A prediction, a campaign, a machine, a history ... that was opened."""

    def __init__(self, document: Document, name: str = "") -> None:
        self.document, self.name = document, name

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """What `venturi predict` and `profile` print; of anything else its page as Markdown."""
        from venturi.model.forecast import Forecast
        from venturi.model.machine import Machine
        from venturi.model.prediction import Prediction
        from venturi.report.forecast import print_forecast
        from venturi.report.machine_text import print_profile
        from venturi.report.prediction import print_prediction
        from venturi.report.render import render_document

        if isinstance(self.document, Forecast):
            print_forecast(self.document, console, units)
        elif isinstance(self.document, Prediction):
            print_prediction(self.document, console, units)
        elif isinstance(self.document, Machine):
            print_profile(self.document, self.name, console, units)
        else:
            text = render_document(self.document, "md", units)
            console.print(text, markup=False, soft_wrap=True, end="")

    def to_html(self, units: Units = Units.IEC) -> str | None:
        """Its page."""
        from venturi.report.render import render_document

        return render_document(self.document, "html", units)


def report_of(records: list[Record], form: str, store: Path, units: str = "iec") -> str:
    """The report of runs as html, md, json or csv; those of io500 beside published results."""
    from venturi.compat.io500.own import is_io500
    from venturi.compat.io500.review import review_of
    from venturi.report.render import render
    from venturi.store.published import load_all

    ours = [record for record in records if is_io500(record)]
    published = list(load_all(store)) if ours else []
    reviews = {record.id: review_of(record, published) for record in ours}
    return render(records, form, units, reviews)


def open(name: str | os.PathLike[str], store: str | None = None) -> View:
    """What a name stands for: a run (`@last`, an id, a folder), a capture (NAME.trace, a log), a
    workload (NAME.yaml), or what `venturi report` draws besides.

    Raises UserError where there is no such thing.
    """
    from venturi.store.archive import find, load_record
    from venturi.store.place import store_directory

    text = os.fspath(name)
    place = store_directory(store)
    if text.startswith("@") or not Path(text).exists():
        return RunView(load_record(find(place, text)), place)
    known = open_document(text) if not _is_workload(Path(text)) else None
    if known is not None:
        return _view_of(known[1], text)
    if _is_workload(Path(text)):
        return WorkloadView.from_yaml(Path(text))
    if is_capture(text):
        return CaptureView(Path(text))
    return RunView(load_record(find(place, text)), place)


def _view_of(document: Document, name: str) -> DocumentView:
    from venturi.api.tune import TuningView
    from venturi.model.tuning import Tuning

    return (TuningView if isinstance(document, Tuning) else DocumentView)(document, name)


def _is_workload(path: Path) -> bool:
    """Whether a file is YAML that begins a workload, and no machine."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return any(line.startswith("workload:") for line in file)


def run(
    workload: Source,
    dir: str | os.PathLike[str],
    *,
    on: str | os.PathLike[str] = "local",
    ranks: int | None = None,
    repeat: int | None = None,
    scale: str = "laptop",
    parameters: Mapping[str, object] | None = None,
    store: str | None = None,
    quiet: bool = False,
) -> RunView:
    """Run a workload in a new directory of its own below `dir`; the record is kept.

    `on` is a machine: local, openmpi, mpich, slurm:PARTITION or a file. Progress goes to standard
    error unless it is to be `quiet`. Raises UserError, TargetProblem or RunFailed where there is
    no record.
    """
    from venturi.execute.launcher import machine_named
    from venturi.probe.background import reader_beside
    from venturi.report.live import LiveView, Setting
    from venturi.store.place import store_directory
    from venturi.store.run import Request, perform, prepare

    opened = workload_of(workload, store)
    place, target = store_directory(store), Path(dir).absolute()
    request = Request(
        workload=opened.document,
        workload_text=opened.text,
        settings=settings(ranks, scale, parameters, repetitions=repeat),
        machine=machine_named(os.fspath(on)),
        directory=target,
        store=place,
        command=["venturi.run", opened.name or opened.document.name],
        background=reader_beside(place, target),
    )
    prepared = prepare(request)
    plan, totals = prepared.made.plan, prepared.made.totals
    setting = Setting(plan.name, plan.repetitions, totals.bytes_by_phase)
    with contextlib.nullcontext() if quiet else LiveView(setting) as live:
        return RunView(perform(prepared, live.feed if live else lambda event: None), place)
