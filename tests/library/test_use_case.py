"""Use cases: planned totals at the published scale and at awkward sizes; how one is added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from venturi import library
from venturi.cli.main import venturi
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

USE_CASES = [name for name in library.names() if library.readme_of(name)]


def planned(name: str, scale: str = "laptop", **assignments: object) -> PlanResult:
    words = {key: str(value) for key, value in assignments.items()}
    return make_plan(library.load(name), RunSettings(scale=scale, assignments=words))


def check_promises(made: PlanResult) -> None:
    assert made.expectations
    for entry in made.expectations:
        assert entry.holds, entry


@pytest.mark.parametrize("name", USE_CASES)
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_a_use_case_promises_its_totals(name: str, scale: str) -> None:
    check_promises(planned(name, scale))


@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_says_what_it_is_compared_with(name: str) -> None:
    workload = library.load(name)
    assert workload.references
    for reference in workload.references:
        assert reference.source
        assert reference.machine
    assert {"laptop", "paper"} <= set((library.readme_of(name) or "").lower().split())


def test_ecmwf_has_the_published_totals() -> None:
    totals = planned("ecmwf", "paper").totals
    assert totals.operations["write"] == 110_000
    assert totals.bytes_written == 110_000 * 822_289
    assert f"{totals.bytes_written / 2**30:.2f}" == "84.24"
    assert totals.operations["read"] == 77_000


def test_ecmwf_deals_every_field_once_at_awkward_sizes() -> None:
    sizes = {"members": 3, "writers": 5, "levels": 7, "fields": 3, "readers": 4, "steps": 2}
    made = planned("ecmwf", **sizes)
    check_promises(made)
    assert made.totals.operations["write"] == 2 * 3 * 7 * 3
    assert made.totals.operations["read"] == 2 * 3 * 14  # floor(0.7 * 21)


def test_ecmwf_makes_a_table_and_two_files_for_each_writer() -> None:
    assert planned("ecmwf", "paper").totals.files == 1 + 2 * 5 * 32
    assert planned("ecmwf", members=3, writers=5, pgen=0).totals.files == 31


def test_ecmwf_without_products_has_only_its_writers() -> None:
    made = planned("ecmwf", pgen=0)
    assert [group.name for group in made.plan.groups] == ["member"]
    assert made.totals.bytes_read == 0
    check_promises(made)


def test_lqcd_has_the_published_sizes() -> None:
    totals = planned("lqcd-bc", "paper").totals
    assert totals.bytes_written == 8 * 4_831_838_208 + 4 * 300_000
    assert totals.bytes_read == 2 * 1_207_959_552 + 8 * 4_831_838_208 + 26_000 + 13_000
    assert planned("lqcd-a", "paper").totals.bytes_written == 5 * 1_207_959_552


@pytest.mark.parametrize("name", ["lqcd-a", "lqcd-bc"])
@pytest.mark.parametrize("buffer", [10_007, 2**30])
def test_lqcd_moves_every_site_at_awkward_sizes(name: str, buffer: int) -> None:
    check_promises(planned(name, np=3, extent=5, times=7, buffer=buffer))


@pytest.mark.parametrize(("name", "files", "mib"), [("tsmp-a", 87, 358), ("tsmp-b", 141, 9161)])
def test_tsmp_has_the_published_files_and_volumes(name: str, files: int, mib: int) -> None:
    totals = planned(name, "paper").totals
    assert totals.operations["create"] == files
    assert totals.files == files + 1  # and what COSMO reads
    assert totals.bytes_written / 2**20 == pytest.approx(mib, rel=2e-4)


@pytest.mark.parametrize(
    ("name", "run_s", "hours", "io_s"),
    [
        ("tsmp-a", 195, 8, {"cosmo": 7.11 / 7, "clm": 1.78 / 7, "parflow": 2.51 / 8}),
        ("tsmp-b", 423, 15, {"cosmo": 75.6 / 15, "clm": 10.7 / 13, "parflow": 111.4 / 14}),
    ],
)
def test_tsmp_computes_what_periods_and_the_run_time_leave(
    name: str, run_s: float, hours: int, io_s: dict[str, float]
) -> None:
    made = make_plan(library.load(name), RunSettings(scale="paper"))
    periods = {model: made.parameters[f"{model}_gap"] + io_s[model] for model in io_s}
    assert made.parameters["hours"] == hours
    assert max(periods.values()) * (hours - 1) == pytest.approx(run_s)
    assert min(made.parameters[f"{model}_gap"] for model in io_s) > 0
    if name == "tsmp-a":
        assert periods["cosmo"] == pytest.approx(27.7)
        assert periods["clm"] == pytest.approx(26.7)


@pytest.mark.parametrize("name", ["tsmp-a", "tsmp-b"])
def test_tsmp_at_awkward_sizes(name: str) -> None:
    check_promises(
        planned(name, cosmo_ranks=3, parflow_ranks=7, cosmo=10_007, nx=7, ny=11, nz=3, hours=20)
    )


def test_ecmwf_has_51_members_and_one_model_at_high_resolution() -> None:
    plain, high = planned("ecmwf"), planned("ecmwf", high=1)
    steps, level_fields = plain.parameters["steps"], 10 * 4
    written = steps * level_fields * high.parameters["high_field"]
    assert high.totals.bytes_written == plain.totals.bytes_written + written
    assert high.totals.bytes_by_phase["high_archive"] == written
    assert high.totals.bytes_by_phase["high_generate"] == 0.7 * written
    check_promises(high)
    large = planned("ecmwf", "large")
    check_promises(large)
    assert large.plan.ranks == 51 * 32 + 10 * 64 + 32 + 10 * 64
    assert large.totals.bytes_by_phase["archive"] == 51 * 10 * 200 * 11 * 822289


NEW = """\
workload: 1
name: eleventh
about: an application that writes one file
parameters: {np: {default: 2, paper: 64, role: ranks}}
groups: {app: {ranks: np}}
files: {out: {path: out}}
program:
  app:
    - phase: dump
      do: [{create: out}, {write: {to: out, size: 1 MiB, transfer: 64 KiB}}, {close: out}]
expect: {bytes_written: np * 1 MiB}
references: [{metric: dump, value: 90, unit: MiB/s, source: table 1, machine: theirs}]
"""


def test_a_use_case_is_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What CONTRIBUTING says: a folder with two files, and it is there."""
    own = tmp_path / "library" / "eleventh"
    own.mkdir(parents=True)
    (own / "workload.yaml").write_text(NEW)
    (own / "README.md").write_text("# eleventh: on a laptop and as in the paper\n")
    monkeypatch.setattr(library, "_folder", lambda: own.parent)
    monkeypatch.setenv("VENTURI_STORE", str(tmp_path / "store"))
    listed = json.loads(_said("library", "ls", "--json"))
    assert [entry["name"] for entry in listed if "kind" not in entry] == ["eleventh"]
    assert "eleventh" in _said("library", "show", "eleventh", "--readme")
    said = _said("run", "eleventh", "-d", str(tmp_path), "--repeat", "1", "-q")
    assert "Published beside ours: table 1" in said
    assert " 90 " in said


def _said(*words: str) -> str:
    """What a command prints, in this process: the library is another one here."""
    done = CliRunner().invoke(venturi, list(words))
    assert done.exit_code == 0, done.output
    return done.output
