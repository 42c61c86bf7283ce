"""A probe on a GlusterFS of which one brick stalls: the age shows it, and no moment is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.gluster import Brick, Volume, volume_in_memory
from probe.conftest import hold
from venturi.model.probe import ProbeKind
from venturi.probe.place import ring_path
from venturi.probe.ring import ABANDONED, FAILED, MISSED, RingHeader, read_header
from venturi.probe.sample import from_ring

CONFIG = """
schema: venturi.probe/1
targets:
  - name: volume
    directory: {directory}
    interval_s: 0.5
    pool_files: 24
    data: 4 MiB
    block_bytes: 65536
    back_off: false
    ring_days: 0.02
"""


@dataclass
class Watch:
    """`venturi probe run` on a volume, as its user starts it."""

    volume: Volume
    store: Path
    config: Path
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        line = [sys.executable, "-m", "venturi", "probe", "run", "--config", str(self.config)]
        self.process = subprocess.Popen(
            [*line, "--yes", "--store", str(self.store)], stderr=subprocess.PIPE, text=True
        )
        hold(lambda: all(self._runs(kind) for kind in ProbeKind))

    def _runs(self, kind: ProbeKind) -> bool:
        path = ring_path(self.store / "probe" / "volume", kind)
        return path.exists() and self.header(kind).state == "running" and self.more(kind, 0) > 8

    def header(self, kind: ProbeKind) -> RingHeader:
        return read_header(ring_path(self.store / "probe" / "volume", kind))

    def more(self, kind: ProbeKind, head: int) -> int:
        """Samples since there were so many."""
        return self.header(kind).head - head

    def ages(self) -> dict[str, float]:
        """Of operations under way, as `venturi probe status` tells it."""
        line = [sys.executable, "-m", "venturi", "probe", "status", "--json", "--store"]
        done = subprocess.run([*line, str(self.store)], capture_output=True, check=True, timeout=60)
        [target] = json.loads(done.stdout)["targets"]
        return {row["operation"]: row["in_flight_s"] for row in target["rows"]}

    def end(self) -> str:
        """Ask for the end as an administrator does; what it says. It may not take long."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return said


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    with volume_in_memory() as volume:
        volume.start(4, mbit=[400, 400, 400, 400])
        config = tmp_path / "probe.yaml"
        config.write_text(CONFIG.format(directory=volume.mount))
        made = Watch(volume, tmp_path / "store", config)
        yield made
        for brick in volume.bricks:
            brick.go_on()
        if made.process is not None and made.process.poll() is None:
            made.process.kill()
            made.process.communicate()


def brick_of_the_data(volume: Volume) -> Brick:
    """The brick that holds the data file: the largest of all files."""
    sizes = {
        brick.number: max(
            (path.stat().st_size for path in brick.data.glob("venturi-probe-data-*/*")), default=0
        )
        for brick in volume.bricks
    }
    return volume.bricks[max(sizes, key=lambda number: sizes[number])]


def hung_for(watch: Watch, seconds: float) -> float:
    """How old the oldest operation of the data worker is, once it is so old."""
    return hold(lambda: (age := watch.header(ProbeKind.DATA).in_flight_s()) > seconds and age, 60)


@pytest.mark.needs("glusterfs")
def test_a_brick_that_stalls_shows_at_once_and_every_moment_is_accounted_for(watch: Watch) -> None:
    watch.start()
    brick = brick_of_the_data(watch.volume)
    assert max(watch.ages().values()) < 5
    brick.halt()
    first = hung_for(watch, 1.0)
    told = watch.ages()
    stalled = {name: age for name, age in told.items() if name.startswith("data")}
    assert max(stalled.values()) >= first
    assert hung_for(watch, max(stalled.values()) + 1) > max(stalled.values())
    hung = watch.header(ProbeKind.DATA)
    brick.go_on()
    hold(lambda: watch.more(ProbeKind.DATA, hung.head) > 12)
    assert hold(lambda: max(watch.ages().values()) < 1)
    brick.halt()
    hung_for(watch, 1.0)
    second = watch.header(ProbeKind.DATA)
    said = watch.end()
    assert "data.ring: the worker hangs in the storage and ends when that answers" in said
    brick.go_on()
    hold(lambda: not Path(f"/proc/{second.pid}").exists())
    watch.start()
    hold(lambda: all(watch.more(kind, watch.header(kind).first) > 8 for kind in ProbeKind))
    assert "hangs" not in watch.end()
    for kind in ProbeKind:
        check_account(watch, kind)
    _, samples = from_ring(ring_path(watch.store / "probe" / "volume", ProbeKind.DATA), 0)
    long = samples[hung.head]
    assert int(long["flags"]) & (MISSED | FAILED) == 0
    assert long["response_ns"] >= 2e9
    assert int(samples[hung.head + 1]["flags"]) & MISSED
    assert int(samples[second.head]["flags"]) & ABANDONED
    line = [sys.executable, "-m", "venturi", "probe", "remove", "--yes", "volume", "--store"]
    subprocess.run([*line, str(watch.store)], check=True, timeout=120)
    assert os.listdir(watch.volume.mount) == []


def check_account(watch: Watch, kind: ProbeKind) -> None:
    """Every moment of the grid is a whole operation or a marked sample, in order, none failed."""
    header = watch.header(kind)
    assert header.head == header.done + header.flagged
    assert header.errors == 0
    assert header.head <= header.capacity
    _, samples = from_ring(ring_path(watch.store / "probe" / "volume", kind), 0)
    assert samples["sequence"].tolist() == list(range(header.head))
