"""Stripes and file views in the language: what reaches the plan, and what is refused."""

from __future__ import annotations

import pytest

from plan.test_issue_mode import made_with
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

WRITE = "w | | write: {to: f, transfer: 4 KiB, size: 64 KiB}"
VIEW = "{path: f, interface: mpiio, options: {view: strided}}"


def stripe_of(text: str, file: str = "path: f", **settings: object) -> p.Stripe | None:
    """The stripes that a file's spec leads to, of a workload with the parameter `targets`."""
    document = (
        "workload: 1\nname: t\nparameters: {targets: 4}\nfiles:\n"
        f"  f: {{{file}, stripe: {text}}}\nprogram:\n"
        "  g:\n    - phase: w\n      do: [{write: {to: f, size: 64 KiB}}]\n"
    )
    workload = parse_yaml(document, "t.yaml", Workload)
    chosen = RunSettings(**settings)  # type: ignore[arg-type]
    return make_plan(workload, chosen).plan.files[0].stripe


@pytest.mark.parametrize(
    ("text", "count", "size_bytes"),
    [
        ("{count: 4, size: 1 MiB}", 4, 1 << 20),
        ("{count: 2 * targets}", 8, 0),
        ("{count: -1}", -1, 0),
        ("{size: targets * 64 KiB}", 0, 1 << 18),
    ],
)
def test_stripes_reach_the_plan_as_numbers(text: str, count: int, size_bytes: int) -> None:
    assert stripe_of(text) == p.Stripe(count=count, bytes=size_bytes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "say how many"),
        ("{count: 70000}", "from 1 to 65534"),
        ("{size: 100 kB}", "stripe.size: 100000 B is no multiple of 64 KiB"),
        ("{size: 4 GiB}", "below 4 GiB"),
        ("{count: rank}", "stripe.count"),
    ],
)
def test_stripes_that_no_file_can_have_are_refused(text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        stripe_of(text)
    assert words in caught.value.message


def test_a_stripe_count_of_zero_is_left_to_the_directory() -> None:
    assert stripe_of("{count: 0, size: 0 B}") is None
    assert stripe_of("{count: 0, size: 1 MiB}") == p.Stripe(bytes=1 << 20)


@pytest.mark.parametrize("interface", ["null", "simulated"])
def test_what_makes_no_files_has_no_stripes(interface: str) -> None:
    with pytest.raises(UserError, match="makes no files that could be striped"):
        stripe_of("{count: 4}", f"path: f, interface: '{interface}'")
    assert stripe_of("{count: 4}", assignments={"interface": interface}) is None
    assert stripe_of("{count: 4}", assignments={"interface": "uring"}) == p.Stripe(count=4)


def test_somebody_else_s_file_keeps_its_stripes() -> None:
    with pytest.raises(UserError, match="only read"):
        stripe_of("{count: 4}", "path: /f, foreign: true")


@pytest.mark.parametrize(
    "step",
    [
        "write: {to: f, pattern: random, transfer: 4 KiB, size: 64 KiB}",
        "write: {to: f, pattern: table, table: [[0, 4 KiB], [8 KiB, 4 KiB]]}",
        "write: {to: f, count: 6, mix: [{bytes: 1 KiB}, {bytes: 2 KiB}]}",
    ],
)
def test_a_view_shows_regular_places_alone(step: str) -> None:
    with pytest.raises(UserError, match="a file view shows regular places"):
        made_with(f"w | | {step}", file=VIEW)
    assert made_with(f"w | | {step}", file="{path: f, interface: mpiio}").plan.files


@pytest.mark.parametrize(
    ("keys", "steps", "words"),
    [
        ("limit: 5 s", "create: f; compute: 1 s; write: {to: f, size: 4 KiB}", "'view' cannot"),
        ("limit: 5 s", "write: {to: f, transfer: 4 KiB, size: 5 KiB}", "a view of its own"),
        ("at_least: 5 s", "write: {to: f, transfer: 4 KiB, size: 8 KiB}", "with 'at_least'"),
        ("", "create: f; {when: rank == 0, do: [{write: {to: f, size: 4 KiB}}]}", "wait for ever"),
    ],
)
def test_sharers_set_views_only_where_all_of_them_come(keys: str, steps: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        made_with(f"w | {keys} | {steps}", file=VIEW)
    own = VIEW.replace("path: f", "path: f, shared: rank")
    assert made_with(f"w | {keys} | {steps}", file=own).plan.files


@pytest.mark.parametrize("keys", ["", "collective: true, "])
def test_a_limited_phase_may_begin_with_a_view(keys: str) -> None:
    step = f"write: {{to: f, {keys}transfer: 4 KiB, size: 64 KiB}}"
    assert made_with(f"w | limit: 5 s | create: f; {step}; close: f", file=VIEW).plan.files


def test_a_stand_in_has_no_views() -> None:
    text = (
        "workload: 1\nname: t\nfiles:\n"
        f"  f: {VIEW}\nprogram:\n  g:\n    - phase: w\n      do:\n"
        "        - write: {to: f, pattern: random, transfer: 4 KiB, size: 64 KiB}\n"
    )
    workload = parse_yaml(text, "t.yaml", Workload)
    plan = make_plan(workload, RunSettings(assignments={"interface": "posix"})).plan
    assert plan.files[0].options == []
