"""Words of the language for deadlines, caches, content and logs, as the plan has them."""

from __future__ import annotations

import pytest

from venturi.model.error import UserError
from venturi.model.plan import CachePolicy, Phase, Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings


def planned(
    phase: str = "",
    top: str = "",
    content: str = "{}",
    data: str = "size: 1 MiB",
    **settings: int,
) -> Plan:
    text = (
        f"workload: 1\nname: t\n{top}\nfiles:\n  f: {{path: f, content: {content}}}\n"
        f"program:\n  g:\n    - {{phase: p, do: [{{write: {{to: f, {data}}}}}]{phase}}}\n"
    )
    workload = parse_yaml(text, "t.yaml", Workload)
    return make_plan(workload, RunSettings(**settings)).plan


def phase_of(plan: Plan) -> Phase:
    phase = plan.groups[0].program[0]
    assert isinstance(phase, Phase)
    return phase


def test_without_a_word_nothing_is_limited_but_silence_is_told() -> None:
    plan = planned()
    assert (plan.stall_s, plan.deadline_s, plan.log_operations) == (10.0, None, False)
    phase = phase_of(plan)
    assert (phase.deadline_s, phase.overfill_bytes, phase.occupy_share) == (None, 0, 0.0)
    assert plan.files[0].content.duplicates is None


def test_deadlines_and_the_heartbeat() -> None:
    top = "deadline: 2 h\nheartbeat: 500 ms\nlog_operations: true"
    plan = planned(", deadline: 3 min", top)
    assert (plan.deadline_s, plan.stall_s, plan.log_operations) == (7200.0, 0.5, True)
    assert phase_of(plan).deadline_s == 180.0
    with pytest.raises(UserError, match="longer than 0 s"):
        planned(", deadline: 0 s")


def test_caches() -> None:
    phase = phase_of(planned(", cache: drop"))
    assert phase.cache is CachePolicy.DROP
    phase = phase_of(planned(", cache: {policy: drop, overfill: 2 GiB, occupy: 90 %}"))
    assert (phase.cache, phase.overfill_bytes) == (CachePolicy.DROP, 2 << 30)
    assert phase.occupy_share == pytest.approx(0.9)
    with pytest.raises(UserError):
        planned(", cache: {occupy: 90}")
    with pytest.raises(UserError, match="150 % is no share"):
        planned(", cache: {occupy: 150 %}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("transfer: 4 KiB, count: 1, depth: 1000000", "write.depth: at most 4096"),
        ("transfer: 4 KiB, count: 1, think: -1 ms", "0 s or more is needed, not -1 ms"),
        ("transfer: 4 KiB, count: 1, think: 1e30", "at most 1e"),
        ("transfer: 0, size: 4 KiB", "requests of 0 bytes never come to a size"),
    ],
)
def test_a_number_that_cannot_be_is_refused_by_name(words: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        planned(data=words)


@pytest.mark.parametrize("limit", ["0 s", "-1 s", "1e300"])
def test_a_limit_that_cannot_be_is_refused(limit: str) -> None:
    with pytest.raises(UserError, match=r"limit: (a duration longer than 0 s|at most)"):
        planned(f", limit: {limit}")


def test_the_memory_of_the_servers_comes_from_the_machine() -> None:
    phase = phase_of(planned(", cache: {overfill: 2 * server_memory}", server_memory_bytes=3 << 30))
    assert phase.overfill_bytes == 6 << 30
    with pytest.raises(UserError, match="nobody says how much memory") as caught:
        planned(", cache: {overfill: 2 * server_memory}")
    assert "server_memory_bytes" in (caught.value.hint or "")


def test_duplicates() -> None:
    plan = planned(content="{duplicates: 0.3, compressibility: 0.5}")
    assert plan.files[0].content.duplicates == 0.3


def test_a_fault_that_lasts_less_than_nothing_is_refused() -> None:
    with pytest.raises(UserError, match=r"faults\[0\].seconds: a duration of 0 s or more"):
        planned(content="{}, faults: [{kind: delay, operation: write, seconds: -1}]")


def test_a_fault_of_a_rank_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match=r"faults\[0\].rank: there is no rank 99"):
        planned(content="{}, faults: [{kind: eio, operation: write, rank: 99}]")
