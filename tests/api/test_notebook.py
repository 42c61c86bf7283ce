"""docs/python.md, cell by cell, in a real notebook."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from profile_factory import curve, data, profile
from venturi.profile.machine_file import write_machine

PAGE = Path(__file__).parents[2] / "docs/python.md"


def _cells() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M)


def _executed(place: Path, cells: list[str], store: Path) -> Any:
    """A notebook of these cells after its last one; its kernel keeps runs in `store`."""
    written = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = NotebookClient(
        written, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(place)}}
    )
    environment = {**os.environ, "VENTURI_STORE": str(store), "IPYTHONDIR": str(place / ".ipython")}
    return client.execute(env=environment)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each cell of the page shows, by its last line; beside it a machine of known law."""
    place = tmp_path_factory.mktemp("notebook")
    law = profile(
        data("write", lambda size, ranks: 1e-6 + 1e-9 * size, "new"),
        *(curve(name, lambda size, ranks: 1e-6, sizes=(0,)) for name in ("create", "close")),
    )
    write_machine(place / "machine.yaml", law, None)
    done = _executed(place, _cells(), place / "store")
    return {cell.source.splitlines()[-1]: _shown(cell) for cell in done.cells}


def _shown(cell: Any) -> dict[str, str]:
    """By kind of content; what was printed is `stdout` and `stderr`."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        found |= output.data if "data" in output else {output.name: output.text}
    return found


def test_a_plan_and_a_run_show_their_numbers(notebook: dict[str, Any]) -> None:
    assert notebook["plan.totals.bytes_written"]["text/plain"] == str(4 << 24)
    requests = notebook["plan.requests(rank=1).to_pandas()"]["text/plain"]
    assert re.search(r"1 +write +write +16777216 +1048576 +state", requests)
    assert "INDICATIVE" in notebook["run.verdict.level, run.verdict.reasons"]["text/plain"]
    phases = notebook['run.phases.to_pandas()[["phase", "repetition", "seconds", "bytes"]]']
    assert len(re.findall(r"write +\d +0\.\d+ +8388608", phases["text/plain"])) == 3
    runs = notebook['v.runs("name:checkpoint").to_pandas()[["id", "level"]]']["text/plain"]
    assert len(re.findall(r"-checkpoint-", runs)) == 2
    rows = notebook['v.compare(*folders).rows.to_pandas()[["name", "unit", "change"]]'][
        "text/plain"
    ]
    assert re.search(r"write +B/s ", rows)


@pytest.mark.parametrize(
    "call",
    [
        "v.compare(run, again)",
        'v.compare_places(".", "/dev/shm", checkpoint, repeat=4, quiet=True)',
        'v.predict(proxy, on="machine.yaml")',
    ],
)
def test_results_are_pages_in_a_frame_that_runs_nothing(
    notebook: dict[str, Any], call: str
) -> None:
    page = notebook[call]["text/html"]
    assert page.startswith('<iframe sandbox srcdoc="&lt;!DOCTYPE html&gt;')
    assert page.count("<") == 2  # of the frame alone: the page is quoted
    assert notebook[call]["text/plain"].strip()


def test_a_capture_names_its_findings_and_its_proxy_stands_for_it(notebook: dict[str, Any]) -> None:
    assert "small-requests" in notebook["found.findings"]["text/html"]
    assert "is_equal=True" in notebook["proxy.likeness"]["text/plain"]
    assert notebook['v.compare("table.trace", "table.yaml").is_off']["text/plain"] == "False"


def test_a_tuning_ranks_its_change(notebook: dict[str, Any]) -> None:
    assert "transfer=64KiB" in notebook["tuning.changes"]["text/html"]


def test_a_wrong_name_says_what_to_do(notebook: dict[str, Any]) -> None:
    said = notebook['    print(error.message, "-", error.hint)']["stdout"]
    assert "there is no workload 'quik' - did you mean 'quick'?" in said
