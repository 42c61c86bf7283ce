"""Waiting for quiet storage: by samples, at the command line, and before a campaign's runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import warm_start
from cli.conftest import Cli, cli, told  # noqa: F401
from probe.conftest import Place
from probe.history import put, samples_of
from venturi.model.campaign import Campaign
from venturi.model.error import UserError
from venturi.model.probe import OPERATIONS, ProbeKind, ProbeOperation
from venturi.model.yaml_text import parse_yaml
from venturi.probe.quiet import QuietCondition, SlowestOperation
from venturi.probe.rollup import HOUR_NS

MS = 10**6
STEP_NS = 15 * 10**9
HOURS = 30
COUNT = HOURS * 240
CREATE = OPERATIONS.index(ProbeOperation.MD_CREATE)


@pytest.fixture
def slow(place: Place) -> Place:
    place.settings |= {"interval_s": 60.0, "ring_days": 7, "kinds": ["metadata"]}
    return place


def history(place: Place, end_ns: int, factor: float = 1.0, count: int = COUNT) -> None:
    """Samples of 1 ms until now; for ten minutes one operation takes `factor` times that."""
    found = samples_of(0, count, end_ns - count * STEP_NS, STEP_NS, 1e6)
    found["response_ns"] = found["service_ns"] = MS
    late = found["scheduled_ns"] >= end_ns - 600 * 10**9
    found["response_ns"][late & (found["operation"] == CREATE)] = int(factor * MS)
    put(place, found)


@pytest.mark.parametrize(
    ("factor", "is_quiet"), [(1.0, True), (1.4, True), (1.6, False), (9, False)]
)
def test_the_slowest_operation_decides(slow: Place, factor: float, is_quiet: bool) -> None:
    now_ns = time.time_ns()
    history(slow, now_ns, factor)
    condition = QuietCondition([slow.folder], 1.5, 600.0)
    found = condition.slowest(now_ns / 1e9)
    assert found is not None
    assert found.slowdown == pytest.approx(factor, rel=0.05)
    told_of: list[SlowestOperation | None] = []
    assert condition.wait(0.0, lambda one, left_s: told_of.append(one), lambda: False) is is_quiet
    if not is_quiet:
        assert found.operation is ProbeOperation.MD_CREATE
        assert "md_create of the probe of t takes" in str(found)


def test_before_there_are_samples_nothing_is_called_quiet(slow: Place) -> None:
    now_ns = time.time_ns()
    history(slow, now_ns - HOUR_NS)
    condition = QuietCondition([slow.folder], 1.5, 600.0)
    assert condition.slowest(now_ns / 1e9) is None
    assert not condition.wait(0.0, lambda one, left_s: None, lambda: False)


def test_what_is_not_known_is_no_condition(slow: Place) -> None:
    history(slow, time.time_ns(), count=240 * 3)
    with pytest.raises(UserError, match=r"measured in [34] of 24 hours"):
        QuietCondition([slow.folder], 1.5, 600.0)
    with pytest.raises(UserError, match="3 times in 180 s, not in 60 s"):
        QuietCondition([slow.folder], 1.5, 60.0)


def test_the_wait_ends_when_it_becomes_quiet_or_is_asked_to(slow: Place) -> None:
    history(slow, time.time_ns(), 5.0)
    condition = QuietCondition([slow.folder], 1.5, 600.0)
    looks: list[float] = []

    def watch(slowest: SlowestOperation | None, left_s: float) -> None:
        looks.append(left_s)
        history(slow, time.time_ns(), 1.0)

    assert condition.wait(60.0, watch, lambda: False)
    assert len(looks) == 1
    history(slow, time.time_ns(), 5.0)
    assert not condition.wait(60.0, watch, lambda: True)


@pytest.fixture
def watched(cli: Cli) -> Iterator[Place]:  # noqa: F811
    """A target in the store and directory of the command line, with a past of a day."""
    found = Place(cli.store, cli.target, {"interval_s": 0.1, "kinds": ["metadata"]})
    yield found
    found.end()


def test_the_command_waits_by_a_probe_that_runs(cli: Cli, watched: Place) -> None:  # noqa: F811
    words = ("probe", "wait", str(cli.target), "--over", "3s", "--within", "2s")
    words += ("--store", str(cli.store))
    done = cli(*words)
    assert done.returncode == 2
    assert "no probe measures on the file system of" in done.stderr
    past = samples_of(0, 26 * 60, time.time_ns() - 26 * HOUR_NS, 4 * STEP_NS, 1e9)
    put(watched, past)  # a second each: whatever comes now is quiet
    worker = watched.start(ProbeKind.METADATA)
    watched.wait_for_samples(ProbeKind.METADATA, 40)
    done = cli(*words)
    assert done.returncode == 0, told(done)
    done = cli(*words, "--slowdown", "1e-9")
    assert done.returncode == 4
    assert "is not quiet after 2s: md_" in done.stderr
    assert watched.stop(worker) == 0


CAMPAIGN = """
campaign: 1
name: nightly
repeat: 2
when: {when}
steps:
  build: {{command: "true"}}
  run:
    after: [build]
    command: "echo n=3"
    metrics: {{n: {{regex: "n=(.*)"}}}}
"""


def test_a_campaign_runs_when_it_is_quiet_and_says_so_when_it_is_not(
    cli: Cli,  # noqa: F811
    watched: Place,
    tmp_path: Path,
) -> None:
    put(watched, samples_of(0, 26 * 60, time.time_ns() - 26 * HOUR_NS, 4 * STEP_NS, 1e9))
    worker = watched.start(ProbeKind.METADATA)
    watched.wait_for_samples(ProbeKind.METADATA, 40)
    found = {}
    for name, most in (("quiet", 1.5), ("busy", 0.000001)):
        when = f"{{slowdown: {most}, over: 3 s, within: 2 s}}"
        (tmp_path / f"{name}.yaml").write_text(CAMPAIGN.format(when=when))
        done = warm_start.venturi(
            "campaign",
            "run",
            f"{name}.yaml",
            "--json",
            "-d",
            str(cli.target),
            "--store",
            str(cli.store),
            "-o",
            f"{name}.campaign",
            folder=tmp_path,
        )
        rows = {row["step"]: row for row in json.loads(done.stdout)["rows"]}
        found[name] = rows["run"]
        assert rows["build"]["states"] == {"done": 1}  # it measures nothing, so it does not wait
    assert found["quiet"]["states"] == {"done": 2}
    assert found["busy"]["states"] == {"blocked": 2}
    assert any("is not quiet after 2s: md_" in why for why in found["busy"]["reasons"])
    watched.stop(worker)


@pytest.mark.parametrize("text", ["slowdown < 0", "slowdown > 2", "slowdown < 1.5.2", "quiet", "2"])
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="when"):
        parse_yaml(CAMPAIGN.format(when=text), "nightly.yaml", Campaign)


def test_the_short_form_is_the_long_one() -> None:
    random = np.random.default_rng()
    for value in (1.5, 2.0, 0.05, *random.uniform(0.001, 100, 20).round(3)):
        short = parse_yaml(CAMPAIGN.format(when=f"slowdown < {value:g}"), "c.yaml", Campaign)
        long = parse_yaml(CAMPAIGN.format(when=f"{{slowdown: {value:g}}}"), "c.yaml", Campaign)
        assert short.quiet_wait == long.quiet_wait
