"""A store with a probe's folder, the engine's worker, and a storage that can be made to fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from venturi.execute.engine import find_engine
from venturi.model.probe import ProbeKind, ProbeTarget
from venturi.probe.place import TARGET_NAME, ring_path
from venturi.probe.ring import RingHeader, make_ring, read_header

T = TypeVar("T")
_LIMIT_S = 60.0


def hold(condition: Callable[[], T], limit_s: float = _LIMIT_S) -> T:
    """Wait until a condition is true, and return it."""
    end_s = time.monotonic() + limit_s
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end_s, "the condition never became true"
        time.sleep(0.01)


@dataclass
class Place:
    """A target's folder in a store, with a directory to watch."""

    store: Path
    directory: Path
    settings: dict[str, Any] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def target(self) -> ProbeTarget:
        small = {"pool_files": 8, "data": "1 MiB", "block_bytes": 65536, "interval_s": 0.02}
        said = {"name": "t", "directory": str(self.directory)} | small | self.settings
        if said["interval_s"] < 1:
            said["ring_days"] = 0.005
        return ProbeTarget.model_validate_json(json.dumps(said))

    @property
    def folder(self) -> Path:
        return self.store / "probe" / "t"

    def make(self, kind: ProbeKind) -> Path:
        """The ring of a worker, which is made if there is none."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / TARGET_NAME).write_text(self.target.to_json())
        path = ring_path(self.folder, kind)
        if not path.exists():
            make_ring(path, self.target, kind, 0)
        return path

    def start(self, kind: ProbeKind) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [str(find_engine()), "probe", str(self.make(kind))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.workers.append(worker)
        return worker

    def header(self, kind: ProbeKind) -> RingHeader:
        return read_header(ring_path(self.folder, kind))

    def wait_for_samples(self, kind: ProbeKind, count: int) -> RingHeader:
        """The header once there are so many more samples than now."""
        wanted = self.header(kind).head + count
        return hold(lambda: self.header(kind).head >= wanted and self.header(kind))

    def stop(self, worker: subprocess.Popen[bytes]) -> int:
        worker.send_signal(signal.SIGTERM)
        return worker.wait(_LIMIT_S)

    def remove(self, kind: ProbeKind) -> dict[str, Any]:
        done = subprocess.run(
            [str(find_engine()), "probe", "--remove", str(ring_path(self.folder, kind))],
            capture_output=True,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def end(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait(_LIMIT_S)
            if worker.stderr is not None:
                worker.stderr.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    target = tmp_path / "target"
    target.mkdir()
    made = Place(tmp_path / "store", target)
    yield made
    made.end()


class SickStorage:
    """A mounted pass-through file system whose operations fail as a file of rules says."""

    def __init__(self, folder: Path) -> None:
        self.mount = folder / "mount"
        self.below = folder / "below"
        self._rules = folder / "rules.json"
        for path in (self.mount, self.below):
            path.mkdir()
        self.say()
        script = Path(__file__).with_name("sick_storage.py")
        words = [sys.executable, str(script), str(self.below), str(self.mount), str(self._rules)]
        self._process = subprocess.Popen(words)
        hold(lambda: os.path.ismount(self.mount))

    def say(self, *rules: dict[str, Any]) -> None:
        """From now on these rules hold, and no others."""
        part = self._rules.with_suffix(".part")
        part.write_text(json.dumps(rules))
        part.replace(self._rules)

    def close(self) -> None:
        self.say()
        subprocess.run(["fusermount3", "-u", "-z", str(self.mount)], check=False)
        self._process.terminate()
        self._process.wait(_LIMIT_S)


@pytest.fixture
def sick(tmp_path: Path) -> Iterator[SickStorage]:
    storage = SickStorage(tmp_path)
    yield storage
    storage.close()
