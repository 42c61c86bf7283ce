"""Two things of a kind side by side, by their names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from venturi.api.source import is_capture
from venturi.api.table import DataTable
from venturi.api.view import View, name_of
from venturi.campaign.folder import is_campaign
from venturi.model.comparison import ComparisonSet, RunComparison
from venturi.model.error import UserError
from venturi.model.fidelity_report import FidelityReport, Match
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from venturi.model.result import Result

Comparison = FidelityReport | RunComparison | ComparisonSet


class ComparisonView(View):
    """How well a proxy stands for its application, or what differs between runs."""

    def __init__(self, document: Comparison) -> None:
        self.document = document

    @property
    def is_off(self) -> bool:
        """Whether a field of a proxy is off, or a metric of a run is significantly worse."""
        return is_off(self.document)

    @property
    def rows(self) -> DataTable:
        """Fields of a proxy, or metrics of runs: as many as were compared."""
        found = self.document
        if isinstance(found, FidelityReport):
            return DataTable([field.to_data() for field in found.total.fields])
        parts = found.parts if isinstance(found, ComparisonSet) else [found]
        return DataTable([row.to_data() for part in parts for row in part.rows])

    def draw(self, console: Console, units: Units = Units.IEC) -> None:
        """What `venturi compare` prints."""
        from venturi.report.fidelity_report import print_fidelity_report
        from venturi.report.run_comparison import print_run_comparison, print_set_comparison

        found = self.document
        if isinstance(found, FidelityReport):
            print_fidelity_report(found, console, units)
        elif isinstance(found, ComparisonSet):
            print_set_comparison(found, console, units)
        else:
            print_run_comparison(found, console, units)

    def to_html(self, units: Units = Units.IEC) -> str | None:
        """The page of a comparison of runs."""
        from venturi.report.render import render_document

        if isinstance(self.document, FidelityReport):
            return None
        return render_document(self.document, "html", units)


Thing = str | os.PathLike[str] | View


def compare(first: Thing, second: Thing, store: str | None = None) -> ComparisonView:
    """Two captures, a capture and a workload that is not run, two runs, or two sets of runs.

    By name, as `venturi compare` takes it (a folder, an id, `tag:golden`, a campaign's folder), or
    as opened. Raises UserError where they are not of a kind.
    """
    return ComparisonView(compared(name_of(first), name_of(second), store))


def compared(first: str, second: str, store: str | None) -> Comparison:
    """Two captures, a capture and a workload that is not run, or two runs or sets of runs, which
    a campaign's folder is, too.

    Raises UserError where one is a capture and one a run, or there is no such thing.
    """
    _refuse_unmeasured(first, second)
    if is_capture(first) and Path(second).suffix in (".yaml", ".yml") and Path(second).is_file():
        return _compared_with_plan(Path(first), Path(second))
    captures = [n for n in (first, second) if is_capture(n) and not is_campaign(n)]
    if len(captures) == 1:
        run = second if captures == [first] else first
        if not _is_run(run, store):
            raise UserError(
                f"'{run}' is neither a capture nor a run", "see venturi results ls for the runs"
            )
        raise UserError(
            f"'{captures[0]}' is a capture of an application and '{run}' is the record of a run: "
            "they do not hold the same figures",
            "capture the run too: venturi derive LOG --check -d DIR, or venturi capture",
        )
    if not captures:
        return _compared_runs(first, second, store)
    from venturi.analyse.fidelity_report import fidelity
    from venturi.sources.open import read_capture

    both = [read_capture(Path(name)) for name in (first, second)]
    return fidelity(both[0], both[1], (Path(first).name, Path(second).name), is_proxy=False)


def _refuse_unmeasured(*names: str) -> None:
    """Raise UserError for a directory without a run or capture, and for two workloads."""
    from venturi import library
    from venturi.sources.open import is_bare
    from venturi.store.archive import holds_run

    if all(name in library.names() or name.endswith((".yaml", ".yml")) for name in names):
        raise UserError(
            f"neither {names[0]} nor {names[1]} is a run or a capture",
            f"of two workloads, venturi predict {names[1]} --beside {names[0]} -d DIR says how far "
            "their I/O times are apart",
        )
    bare = [n for n in names if Path(n).is_dir() and not holds_run(n) and is_bare(Path(n))]
    if len(bare) == len(names):
        raise UserError(
            f"{bare[0]} and {bare[1]} are directories without a run or a capture",
            f"to measure which is faster: venturi compare {bare[0]} {bare[1]} --with quick",
        )
    if bare:
        raise UserError(
            f"{bare[0]} is a directory without a run or a capture", "venturi results ls lists runs"
        )


def _compared_with_plan(capture: Path, workload: Path) -> Comparison:
    from venturi.analyse.planned_fidelity import planned_fidelity
    from venturi.model.workload import Workload
    from venturi.model.yaml_text import load_yaml
    from venturi.sources.open import read_capture

    proxy = load_yaml(workload, Workload)
    return planned_fidelity(read_capture(capture), proxy, (capture.name, workload.name))


def _compared_runs(first: str, second: str, store: str | None) -> Comparison:
    """Two runs of ours in every detail; other runs, and sets of them, by their results."""
    from venturi.analyse.run_comparison import compared_runs
    from venturi.analyse.set_comparison import compared_sets
    from venturi.store.archive import find, has_record, is_choice, load_record
    from venturi.store.place import store_directory

    place = store_directory(store)
    names = (first, second)
    if not any(is_choice(name) or is_campaign(name) for name in names):
        folders = [find(place, name) for name in names]
        if all(has_record(folder) for folder in folders):
            one, other = (load_record(folder) for folder in folders)
            return compared_runs(one, other)
    sides = [_results(place, name) for name in names]
    found = compared_sets(sides[0][0], sides[1][0], names)
    return found.model_copy(update={"incomplete": [said for _, said in sides if said]})


def _results(store: Path, name: str) -> tuple[list[Result], str]:
    """The runs that a name means, and which of a campaign's there are not, in a sentence."""
    from venturi.campaign.import_results import results_in
    from venturi.store.archive import find, is_choice, results
    from venturi.store.result import load_result

    if is_choice(name):
        return results(store, name), ""
    if is_campaign(name):
        return results_in(Path(name).absolute())
    return [load_result(find(store, name))], ""


def _is_run(name: str, store: str | None) -> bool:
    from venturi.model.error import UserError
    from venturi.store.archive import find
    from venturi.store.place import store_directory

    if is_campaign(name):
        return True
    try:
        find(store_directory(store), name)
    except UserError:
        return False
    return True


def is_off(found: Comparison) -> bool:
    """Whether a field of a proxy is off, or a metric of a run is significantly worse."""
    if isinstance(found, FidelityReport):
        return found.match is Match.OFF
    parts = found.parts if isinstance(found, ComparisonSet) else [found]
    return any(row.is_worse for part in parts for row in part.rows)
