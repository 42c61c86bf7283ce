"""The package as it is imported: laziness, types, names that are calls and packages, errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import venturi as v
from venturi.api.table import DataTable

WORKLOAD = """
workload: 1
name: small
groups: {g: {ranks: 1}}
files: {f: {path: f}}
program:
  g:
    - phase: write
      do:
        - create: f
        - write: {to: f, transfer: 1 MiB, size: 2 MiB}
        - close: f
"""

USER = """
import venturi as v
from venturi import Workload

run = v.run("quick", dir="here", repeat=3)
rows: int = len(run.phases)
bytes_written: int = v.plan(Workload.from_yaml("a"), ranks=2).totals.bytes_written
is_equal: bool | None = None if (known := v.derive("log").likeness) is None else known.is_equal
found = v.open("@last")
if isinstance(found, v.Run):
    print(found.phases.to_arrow())
v.predict(v.derive(v.capture(["ls"])), on="machine.yaml").to_html()
"""


def _python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_import_loads_nothing_that_a_call_would_need() -> None:
    said = _python(
        "import sys; before = set(sys.modules); import venturi\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('pydantic', 'rich', 'numpy')"
        " or m.startswith('venturi.')])"
    )
    assert said == "[]\n"


@pytest.mark.parametrize("name", ["capture", "derive", "plan", "predict", "profile", "tune"])
@pytest.mark.parametrize("first", ["call", "package"])
def test_a_package_that_is_a_call_stays_both(name: str, first: str) -> None:
    inner = {
        "capture": "run",
        "derive": "workload",
        "plan": "make",
        "predict": "on_machine",
        "profile": "design",
        "tune": "search",
    }[name]
    steps = [f"assert callable(venturi.{name})", f"import venturi.{name}.{inner} as m; assert m"]
    code = "\n".join(["import venturi", *(steps if first == "call" else steps[::-1])])
    said = _python(f"{code}\nimport inspect; print(inspect.signature(venturi.{name}))")
    assert said.startswith("(")
    assert len(inspect.signature(getattr(v, name)).parameters) > 1


def test_every_name_is_there_and_an_unknown_one_is_not() -> None:
    assert all(getattr(v, name) is not None for name in v.__all__)
    assert set(v.__all__) <= set(dir(v))
    with pytest.raises(AttributeError, match="no attribute 'plam'"):
        _ = v.plam  # type: ignore[attr-defined]


def test_a_program_of_a_user_is_checked_by_its_types(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(USER)
    (tmp_path / "bad.py").write_text(
        "import venturi as v\nv.run('quick', repeat='often')\nv.plam\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run(
        [*words, "good.py", "bad.py"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert all(line.startswith("bad.py:") for line in errors)
    assert any('no attribute "plam"' in line for line in errors)
    assert any('Missing positional argument "dir"' in line for line in errors)
    assert any('"repeat"' in line for line in errors)


def test_an_error_says_what_to_do_where_it_is_shown(tmp_path: Path) -> None:
    with pytest.raises(v.UserError) as caught:
        v.plan("quik")
    assert "did you mean 'quick'?" in "".join(traceback.format_exception(caught.value))
    with pytest.raises(v.UserError, match="workload:3: phazes"):
        v.Workload.from_yaml("workload: 1\nname: x\nphazes: 1\n")
    with pytest.raises(v.TargetProblem):
        v.run(v.Workload.from_yaml(WORKLOAD), dir=tmp_path / "none", store=str(tmp_path / "store"))
    assert not list(tmp_path.glob("store/*/*"))
    with pytest.raises(v.UserError, match="is in no file"):
        v.compare(v.Workload.from_yaml(WORKLOAD), "@last")
    with pytest.raises(v.UserError):
        v.open("nothing.trace")


def test_a_run_is_found_again_and_its_tables_have_all_phases(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    run = v.run(v.Workload.from_yaml(WORKLOAD), dir=tmp_path, repeat=2, store=store, quiet=True)
    found = v.open("@last", store)
    assert isinstance(found, v.Run)
    assert found.document == run.document
    table = found.phases.to_arrow()
    assert table.column("bytes").to_pylist() == [2 << 20] * 2
    assert set(found.operations.to_pandas()["operation"]) == {"create", "write", "close"}
    assert [row["id"] for row in v.runs(store=store)] == [run.id]
    assert [row["repetitions"] for row in v.runs("name:small", store)] == [2]
    assert "small" in repr(found)


def test_a_workload_is_saved_once(tmp_path: Path) -> None:
    saved = v.Workload.from_yaml(WORKLOAD).save(tmp_path / "small.yaml")
    assert v.Workload.from_yaml(tmp_path / "small.yaml").document == saved.document
    assert isinstance(v.open(tmp_path / "small.yaml"), v.Workload)
    with pytest.raises(FileExistsError):
        saved.save(tmp_path / "small.yaml")
    assert v.plan(saved, parameters={}).totals.bytes_written == 2 << 20
    with pytest.raises(v.UserError, match="size"):
        v.plan(saved, parameters={"size": 3})


def test_integers_stay_integers_beside_what_is_missing() -> None:
    rows = DataTable([{"a": 2**60 + 1, "b": 1.0}, {"b": 2.0}, {"a": 3, "b": None}])
    table = rows.to_pandas()
    assert table["a"].dropna().tolist() == [2**60 + 1, 3]
    assert str(table["b"].dtype) == "float64"
    assert rows.to_arrow().column("a").to_pylist() == [2**60 + 1, None, 3]
    assert "<th>a</th>" in rows[:1]._repr_html_()
    assert len(DataTable([]).to_pandas()) == 0
    assert len(DataTable([]).to_arrow()) == 0
