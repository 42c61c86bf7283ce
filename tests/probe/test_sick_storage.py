"""A storage that hangs, fails, fills and vanishes: each moment counts, and nothing ends."""

from __future__ import annotations

import errno
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from probe.conftest import Place, SickStorage, hold
from venturi.model.probe import ProbeKind
from venturi.probe.ring import ABANDONED, FAILED, MISSED
from venturi.probe.sample import from_ring

pytestmark = pytest.mark.needs("root")


@pytest.fixture
def watched(tmp_path: Path, sick: SickStorage) -> Iterator[Place]:
    place = Place(tmp_path / "store", sick.mount, {"back_off": False, "interval_s": 0.1})
    yield place
    sick.say()
    place.end()


def begin(place: Place, kind: ProbeKind) -> subprocess.Popen[bytes]:
    worker = place.start(kind)
    hold(lambda: place.header(kind).state == "running")
    place.wait_for_samples(kind, 8)
    return worker


@pytest.mark.parametrize(
    ("kind", "operation", "number"),
    [
        (ProbeKind.METADATA, "unlink", 2),
        (ProbeKind.METADATA, "create", 3),
        (ProbeKind.METADATA, "read", 1),
        (ProbeKind.DATA, "write", 4),
        (ProbeKind.DATA, "read", 5),
    ],
)
def test_what_passes_while_an_operation_hangs_is_flagged(
    watched: Place, sick: SickStorage, kind: ProbeKind, operation: str, number: int
) -> None:
    worker = begin(watched, kind)
    sick.say({"operation": operation, "hang": True})
    hold(lambda: watched.header(kind).in_flight_s() > 0.5)
    hung = watched.header(kind)
    assert hung.in_flight_operation == number
    sick.say()
    watched.wait_for_samples(kind, 8)
    assert watched.stop(worker) == 0
    header = watched.header(kind)
    assert header.head == header.done + header.flagged
    assert header.errors == 0
    _, samples = from_ring(watched.make(kind), 0)
    assert samples["sequence"].tolist() == list(range(header.head))
    long = samples[hung.head]
    assert (long["operation"], int(long["flags"]) & MISSED) == (number, 0)
    assert long["response_ns"] >= 0.5e9
    behind = samples[hung.head + 1]
    assert int(behind["flags"]) & MISSED
    end = int(long["scheduled_ns"]) + int(long["response_ns"])
    assert int(behind["scheduled_ns"]) + int(behind["response_ns"]) == pytest.approx(end, abs=5e7)


@pytest.mark.parametrize("name", ["EIO", "ENOSPC", "ESTALE", "EROFS"])
@pytest.mark.parametrize(
    ("kind", "operations"),
    [(ProbeKind.METADATA, "create|unlink|open"), (ProbeKind.DATA, "write|read|open")],
)
def test_errors_are_samples_and_the_pool_survives(
    watched: Place, sick: SickStorage, kind: ProbeKind, operations: str, name: str
) -> None:
    worker = begin(watched, kind)
    sick.say({"operation": operations, "errno": name})
    before = watched.header(kind).errors
    hold(lambda: watched.header(kind).errors >= before + 4)
    sick.say()
    watched.wait_for_samples(kind, 8)
    calm = watched.header(kind).errors
    watched.wait_for_samples(kind, 12)
    assert watched.stop(worker) == 0
    header = watched.header(kind)
    assert header.errors == calm, "it goes on as before once the storage is well"
    _, samples = from_ring(watched.make(kind), 0)
    failed = samples[(samples["flags"] & FAILED) != 0]
    assert set(failed["error"].tolist()) == {getattr(errno, name)}
    answer = watched.remove(kind)
    assert answer["left"] == []
    assert list(watched.directory.iterdir()) == []


def test_a_vanished_mount_is_an_error_and_nothing_is_made_below_it(
    watched: Place, sick: SickStorage
) -> None:
    worker = begin(watched, ProbeKind.METADATA)
    subprocess.run(["umount", "-l", str(sick.mount)], check=True)
    hold(lambda: watched.header(ProbeKind.METADATA).errors >= 4)
    watched.stop(worker)
    assert list(sick.mount.iterdir()) == []


def test_a_worker_that_hangs_ends_when_asked_and_the_next_one_accounts_for_it(
    watched: Place, sick: SickStorage
) -> None:
    kind = ProbeKind.METADATA
    worker = begin(watched, kind)
    sick.say({"operation": "unlink", "hang": True})
    hold(lambda: watched.header(kind).in_flight_s() > 0.3)
    hung = watched.header(kind)
    worker.send_signal(signal.SIGTERM)
    hold(lambda: watched.header(kind).state == "stopped_hung")
    sick.say()  # only now the kernel lets the process go
    assert worker.wait(60) == 3
    worker = watched.start(kind)
    hold(lambda: watched.header(kind).state == "running")
    watched.wait_for_samples(kind, 8)
    watched.stop(worker)
    header = watched.header(kind)
    assert header.head == header.done + header.flagged
    _, samples = from_ring(watched.make(kind), 0)
    left = samples[(samples["flags"] & ABANDONED) != 0]
    assert left["sequence"][0] == hung.head
    assert len(left) >= 5 / 0.025, "the grace of five seconds passed on the grid"
    assert watched.remove(kind)["left"] == []
    assert list(watched.directory.iterdir()) == []
