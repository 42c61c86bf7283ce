"""What would make a workload's I/O faster, by measurement."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from venturi.api.run import DocumentView
from venturi.api.table import DataTable
from venturi.api.view import checked_budget_s
from venturi.api.workload import Source, WorkloadView, settings, workload_of
from venturi.model.error import UserError
from venturi.model.tuning import Tuning
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.tune.search import SearchState


class TuningView(DocumentView):
    """The changes that were tried on a workload, and what each of them gains."""

    document: Tuning

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """What `venturi tune` prints."""
        from venturi.report.tuning_text import print_tuning

        print_tuning(self.document, console, self.name)

    @cached_property
    def changes(self) -> DataTable:
        """A row for each change, the best first: the ratio of the I/O time with it to that
        without, its interval, and what to do."""
        return DataTable(
            [
                {
                    "change": trial.name,
                    "effect": trial.effect.value,
                    **_gain(trial.gain.to_data() if trial.gain is not None else {}),
                    "durability": trial.meaning.durability.value,
                    "advice": trial.advice,
                }
                for trial in self.document.trials
            ]
        )

    def changed(self, change: str) -> WorkloadView:
        """The workload with one of the changes that were measured afresh, such as
        `transfer=4MiB`. Raises UserError for another one."""
        texts = {t.name: t.workload_text for t in self.document.trials if t.workload_text}
        if change not in texts:
            raise UserError(
                f"'{change}' was not measured afresh", f"these were: {', '.join(texts) or 'none'}"
            )
        return WorkloadView.from_yaml(texts[change])

    def save(self, folder: str | os.PathLike[str]) -> TuningView:
        """The same in a new folder, with the workloads as files. Raises UserError where there is
        one."""
        from venturi.execute.result_folder import folder_for, write_folder

        path = folder_for(os.fspath(folder), "", "")
        return TuningView(self.document, str(write_folder(path, files_of(self.document))))


def _gain(data: Mapping[str, object]) -> dict[str, object]:
    return {name: data.get(name) for name in ("ratio", "low", "high", "confidence", "pairs")}


def files_of(tuning: Tuning) -> dict[str, str]:
    """The document, the workload, and those changes that came to the final, as files to run."""
    texts = {
        "tuning.json": tuning.to_json(indent=1) + "\n",
        "workload.yaml": tuning.workload_text,
    }
    for trial in tuning.trials:
        if trial.workload_text:
            texts[re.sub(r"[^A-Za-z0-9_.=-]", "-", trial.name) + ".yaml"] = trial.workload_text
    return texts


def tune(
    workload: Source,
    dir: str | os.PathLike[str],
    *,
    budget_s: float = 600,
    what_if: str | None = None,
    on: str | os.PathLike[str] = "local",
    ranks: int | None = None,
    scale: str = "laptop",
    parameters: Mapping[str, object] | None = None,
    store: str | None = None,
    quiet: bool = False,
) -> TuningView:
    """Change a workload one thing at a time below `dir`, measure each change and rank the gains.

    `what_if` measures one change alone, such as `transfer=4MiB`. Ctrl-C ends it with what is known
    by then, and the document says so. Raises UserError, TargetProblem or RunFailed where nothing
    was measured.
    """
    from venturi.execute.launcher import machine_named
    from venturi.store.place import store_directory
    from venturi.tune.bench import BenchSetup
    from venturi.tune.session import TuningRequest
    from venturi.tune.session import tune as tuned

    seconds = checked_budget_s(budget_s)
    opened = workload_of(workload, store)
    place = BenchSetup(
        directory=Path(dir).absolute(),
        store=store_directory(store),
        machine=machine_named(os.fspath(on)),
        settings=settings(ranks, scale, parameters),
        command=["venturi.tune", opened.name or opened.document.name],
    )
    with watching(seconds, quiet) as watch:
        return TuningView(tuned(TuningRequest(opened.document, place, seconds, what_if), watch))


@contextlib.contextmanager
def watching(budget_s: float, quiet: bool) -> Iterator[Callable[[SearchState], None]]:
    """What is told of every run."""
    from venturi.report.tuning_text import TuningProgress

    if quiet:
        yield lambda state: None
        return
    progress = TuningProgress(budget_s)
    try:
        yield lambda state: progress.show_run(state.runs, state.doing)
    finally:
        progress.close()
