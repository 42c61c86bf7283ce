"""Whole workloads to plans: totals, parameters, refusals, and a size that does not grow."""

from __future__ import annotations

import pytest

from venturi import library
from venturi.analyse.kernel import figure_units
from venturi.model.error import UserError
from venturi.model.plan import ClockKind, Manage, NameVerb, Phase
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan, summary_totals
from venturi.plan.setting import RunSettings


def workload_of(program: str, files: str = "f: {path: f}") -> Workload:
    text = (
        "workload: 1\nname: t\nparameters: {np: {default: 2, role: ranks}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles:\n  {files}\nprogram:\n  g:\n{program}"
    )
    return parse_yaml(text, "t.yaml", Workload)


@pytest.mark.parametrize("name", library.names())
def test_every_workload_of_the_library_keeps_its_promises(name: str) -> None:
    workload = library.load(name)
    made = make_plan(workload, RunSettings())
    assert all(expectation.holds for expectation in made.expectations)
    assert made.totals.operations or figure_units(workload)


def test_flash3_at_the_paper_s_scale() -> None:
    made = make_plan(library.load("flash3"), RunSettings(scale="paper"))
    assert made.plan.ranks == 64
    assert made.totals.bytes_written == 81_920_000_000
    assert made.totals.operations["write"] == 20 * 64


def test_a_plan_does_not_grow_with_ranks_or_operations() -> None:
    small = make_plan(library.load("ior"), RunSettings(ranks=2))
    assignments = {"segments": "1000", "block": "1 GiB"}
    large = make_plan(
        library.load("ior"), RunSettings(ranks=1_000_000, most_ranks=10**7, assignments=assignments)
    )
    assert len(large.plan.to_json()) < 1.1 * len(small.plan.to_json())


def test_set_overrides_and_unknown_names_are_refused() -> None:
    made = make_plan(library.load("ior"), RunSettings(assignments={"transfer": "1 MiB"}))
    assert made.parameters["transfer"] == 2**20
    with pytest.raises(UserError) as caught:
        make_plan(library.load("ior"), RunSettings(assignments={"transfr": "1"}))
    assert "'transfer'" in caught.value.hint


def test_an_interface_that_stands_in_is_listed() -> None:
    made = make_plan(library.load("ior"), RunSettings(assignments={"interface": "null"}))
    assert {(s.wanted, s.used) for s in made.substituted} == {("posix", "null")}
    with pytest.raises(UserError, match="no such interface"):
        make_plan(library.load("ior"), RunSettings(assignments={"interface": "posixx"}))


def test_simulated_files_make_a_simulated_clock() -> None:
    made = make_plan(
        library.load("ior"),
        RunSettings(assignments={"interface": "simulated", "interface.latency_s": "0.001"}),
    )
    assert made.plan.clock is ClockKind.SIMULATED
    assert made.plan.files[0].options[0].name == "latency_s"


def test_what_is_not_said_is_opened_and_closed() -> None:
    program = "    - phase: a\n      do: [{write: {to: f, transfer: 4, size: 8}}]\n"
    made = make_plan(workload_of(program), RunSettings())
    phase = made.plan.groups[0].program[0]
    assert isinstance(phase, Phase)
    verbs = [step.verb for step in phase.body if isinstance(step, Manage)]
    assert verbs == [NameVerb.CREATE, NameVerb.CLOSE]


def test_a_path_with_a_loop_s_variable_counts_its_files() -> None:
    program = (
        "    - for: k\n      in: 3\n      do:\n        - phase: a\n"
        "          do: [{create: f}, {close: f}]\n"
    )
    made = make_plan(workload_of(program, "f: {path: 'f{k:02d}', shared: rank}"), RunSettings())
    assert made.totals.files == 6
    assert summary_totals(made.totals)["operations_by_kind"] == {"close": 6, "create": 6}


@pytest.mark.parametrize(
    ("program", "files", "message"),
    [
        ("    - write: {to: f, size: 8}\n", None, "outside of every phase"),
        ("    - phase: a\n      do: [{read: {from: f, size: 8}}]\n", None, "nothing wrote it"),
        ("    - phase: a\n      do: [{close: f}]\n", None, "closed but not open"),
        ("    - phase: a\n      do: [{open: f}]\n", None, "nothing made it"),
        ("    - phase: a\n      do: [{create: f}, {create: f}]\n", None, "already open"),
        (
            "    - phase: a\n      do:\n        - when: rank == 0\n          do: [barrier]\n",
            None,
            "would wait for ever",
        ),
        (
            "    - phase: a\n      limit: 1 s\n      do: [{for: i, in: 2, do: [barrier]}]\n",
            None,
            "with a limit",
        ),
        (
            "    - {phase: a, do: [{create: f}]}\n    - {phase: a, do: [{close: f}]}\n",
            None,
            "already a phase 'a'",
        ),
        ("    - phase: a\n      do: [{create: f}]\n", "f: {path: ../f}", "leaves the run's own"),
        ("    - phase: a\n      do: [{create: f}]\n", "f: {path: /etc/f}", "leaves the run's own"),
        ("    - phase: a\n      do: [{create: f}]\n", "f: {path: 'f{k}'}", "'k'"),
        ("    - phase: a\n      do: [{create: f}]\n", "f: {path: 'f{rank'}", "brace"),
        (
            "    - phase: a\n      do: [{create: f}]\n",
            "f: {path: /etc/passwd, foreign: true}",
            "somebody else's",
        ),
        ("    - for: rank\n      in: 3\n      do: []\n", None, "already a name"),
        ("    - compute: 1 s\n", None, "has no phase"),
    ],
)
def test_refused_programs(program: str, files: str | None, message: str) -> None:
    with pytest.raises(UserError) as caught:
        make_plan(workload_of(program, files or "f: {path: f}"), RunSettings())
    assert message in caught.value.message


@pytest.mark.parametrize("ranks", [0, -1, 10**9])
def test_impossible_numbers_of_ranks(ranks: int) -> None:
    with pytest.raises(UserError, match="rank"):
        make_plan(library.load("flash3"), RunSettings(ranks=ranks))


def test_a_parameter_may_not_define_itself() -> None:
    workload = library.load("ior")
    with pytest.raises(UserError, match="defined by itself"):
        make_plan(workload, RunSettings(assignments={"block": "transfer", "transfer": "block"}))


def test_random_without_replacement_must_fit() -> None:
    program = (
        "    - phase: a\n      do:\n        - create: f\n"
        "        - write: {to: f, pattern: random, transfer: 4, size: 8, count: 3}\n"
    )
    with pytest.raises(UserError, match="do not fit"):
        make_plan(workload_of(program), RunSettings())


@pytest.mark.parametrize("scale", ["paper", "small", "large"])
def test_a_scale_that_a_workload_has_not_is_refused(scale: str) -> None:
    with pytest.raises(UserError, match=f"--scale {scale}: ior has no such scale"):
        make_plan(library.load("ior"), RunSettings(scale=scale))
    assert make_plan(library.load("ior"), RunSettings(scale="laptop"))


def test_an_option_of_the_command_line_stands_in_place_of_the_file_s_own() -> None:
    files = (
        "f: {path: f, interface: simulated, options: {latency_s: 0.5, bandwidth_bytes_per_s: 2}}"
    )
    opened = workload_of("    - {phase: a, do: [{write: {to: f, size: 1}}]}\n", files)
    settings = RunSettings(assignments={"interface.latency_s": "0.25"})
    options = make_plan(opened, settings).plan.files[0].options
    found = {one.name: float(one.value) for one in options}
    assert found == {"bandwidth_bytes_per_s": 2, "latency_s": 0.25}
    assert len(options) == 2
