"""The open loop on a simulated clock: each moment is a sample, and stalls have their share."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from probe.conftest import Place
from venturi.execute.engine import find_engine
from venturi.model.probe import ProbeKind
from venturi.probe.columns import Array
from venturi.probe.ring import BACKED_OFF, MISSED, read_header
from venturi.probe.sample import from_ring

_S = 10**9
_HOUR = 3600 * _S
_BEGIN = 1_790_000_000 * _S


def simulate(ring: Path, lasts: int, latency: int, period: int, stall: int, *step: int) -> Array:
    """The samples of the real schedule on a storage that stalls at each multiple of a period."""
    numbers = [lasts, latency, period, stall, _BEGIN, *(step or (0, 0))]
    words = [str(find_engine()), "probe", "--simulate", str(ring), *map(str, numbers)]
    subprocess.run(words, check=True)
    return from_ring(ring, 0)[1]


def closed_loop(lasts: int, latency: int, period: int, stall: int) -> Array:
    """Latencies of a probe that sleeps a second after each operation, as the first ones did."""
    now, found = 0, []
    while now < lasts:
        within = now % period
        took = latency + (stall - within if now >= period and within < stall else 0)
        found.append(took)
        now += took + _S
    return np.array(found)


def test_a_stall_of_a_minute_each_hour_has_its_true_share(place: Place) -> None:
    place.settings["interval_s"] = 1.0
    ring = place.make(ProbeKind.METADATA)
    samples = simulate(ring, 7 * _HOUR, _S // 1000, _HOUR, 60 * _S)
    stat = samples[samples["operation"] == 0]["response_ns"] / 1e9
    due = np.arange(7 * 3600) % 3600  # the first hour has no stall
    wait = np.where((due < 60) & (np.arange(7 * 3600) >= 3600), 60 - due, 0) + 0.001
    assert len(stat) == pytest.approx(7 * 3600, abs=1)
    assert stat.mean() == pytest.approx(wait.mean(), rel=0.01)
    assert np.percentile(stat, 99) == pytest.approx(np.percentile(wait, 99), rel=0.01)
    assert (stat > 1).mean() == pytest.approx((wait > 1).mean(), rel=0.01)
    closed = closed_loop(7 * _HOUR, _S // 1000, _HOUR, 60 * _S) / 1e9
    assert closed.mean() < 0.05 * wait.mean()
    assert np.percentile(closed, 99) < 0.01


def test_every_moment_is_one_sample(place: Place) -> None:
    place.settings["interval_s"] = 1.0
    ring = place.make(ProbeKind.METADATA)
    samples = simulate(ring, 3 * _HOUR, _S // 1000, _HOUR, 600 * _S)
    header = read_header(ring)
    assert header.head == header.done + header.flagged == len(samples)
    assert list(samples["sequence"]) == list(range(len(samples)))
    assert set(np.diff(samples["scheduled_ns"])) == {_S // 4}
    assert np.count_nonzero(samples["flags"] & MISSED) == header.flagged > 0
    assert samples["scheduled_ns"][0] % _S == 0


def test_operations_longer_than_their_interval_are_issued_late_and_not_piled_up(
    place: Place,
) -> None:
    place.settings |= {"interval_s": 1.0, "back_off": False}
    ring = place.make(ProbeKind.DATA)
    samples = simulate(ring, 600 * _S, 2 * _S, _HOUR, 0)
    header = read_header(ring)
    assert header.done == pytest.approx(300, abs=2)
    assert header.flagged == pytest.approx(3 * header.done, abs=8)
    made = samples[(samples["flags"] & MISSED) == 0]
    assert set(made["service_ns"]) == {2 * _S}


def test_a_storage_that_stays_sick_is_asked_a_tenth_as_often(place: Place) -> None:
    place.settings["interval_s"] = 1.0
    ring = place.make(ProbeKind.DATA)
    samples = simulate(ring, _HOUR, 2 * _S, _HOUR, 0)
    slow = samples[(samples["flags"] & BACKED_OFF) != 0]
    assert len(slow) > 100
    assert set(np.diff(slow["scheduled_ns"][:50])) == {5 * _S}
    assert read_header(ring).step_ns == 5 * _S
    made = samples[(samples["flags"] & MISSED) == 0]
    assert len(made) < 1000


@pytest.mark.parametrize("step_s", [3600, -3600, 86_400 * 40])
def test_a_step_of_the_wall_clock_is_counted_and_moves_no_moment(place: Place, step_s: int) -> None:
    place.settings["interval_s"] = 1.0
    ring = place.make(ProbeKind.METADATA)
    at = 1000 * _S
    samples = simulate(ring, 2000 * _S, _S // 1000, _HOUR, 0, at, step_s * _S)
    header = read_header(ring)
    assert header.clock_steps == 1
    assert header.head == pytest.approx(2000 * 4, abs=4)
    jumps = np.diff(samples["scheduled_ns"])
    assert sorted(set(jumps.tolist())) == sorted({_S // 4, step_s * _S + _S // 4})
