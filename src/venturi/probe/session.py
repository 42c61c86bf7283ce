"""A probe at work: targets prepared, workers started, watched, and ended when asked."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from venturi.execute.stopping import Stopping
from venturi.model.error import UserError
from venturi.model.probe import ProbeKind, ProbeTarget
from venturi.probe.place import TARGET_NAME, probe_folder, ring_path, target_of
from venturi.probe.ring import is_held, make_ring, read_header
from venturi.probe.worker import ProbeWorker
from venturi.store.whole_file import write_whole

_END_LIMIT_S = 8.0
_KEEP_EVERY_S = 3600.0
_POLL_S = 0.5
_START_S = 0.3
_MASK = 0xFFFFFFFF


@dataclass
class Session:
    """The workers of some targets."""

    store: Path
    targets: Sequence[ProbeTarget]
    say: Callable[[str], None]
    folders: list[Path] = field(default_factory=list)
    workers: list[ProbeWorker] = field(default_factory=list)
    _keeper: subprocess.Popen[bytes] | None = None
    _keep_at_s: float = 0.0

    def open(self) -> None:
        """Make what is missing in the store and start the workers.

        Raises UserError where another probe has a pool, or a pool was made with other settings.
        """
        for target in self.targets:
            self.folders.append(_folder_for(target, self.store))
        for folder, target in zip(self.folders, self.targets, strict=True):
            for kind in target.kinds:
                path = ring_path(folder, kind)
                if not path.exists():
                    first = _first_number(folder, kind)
                    make_ring(path, target, kind, _offset_ns(target), first)
                self.workers.append(ProbeWorker(path, folder / f"{kind.value}.log"))
        for worker in self.workers:
            worker.start()
        time.sleep(_START_S)
        for worker in self.workers:
            worker.check_start()

    def watch(self, stopping: Stopping, until: Callable[[], bool] = lambda: False) -> None:
        """Keep the workers going till somebody asks for the end or `until` says so."""
        while not stopping.asked and not until():
            for worker in self.workers:
                if said := worker.watch():
                    self.say(said)
            self._keep()
            time.sleep(_POLL_S)

    def close(self) -> list[str]:
        """End all workers; what could not be ended, a sentence each."""
        for worker in self.workers:
            worker.ask_to_end()
        end_s = time.monotonic() + _END_LIMIT_S
        hung = [worker for worker in self.workers if not worker.wait(end_s)]
        if self._keeper is not None:
            self._keeper.terminate()
            self._keeper.wait()
        return [
            f"{worker.ring}: the worker hangs in the storage and ends when that answers"
            for worker in hung
        ]

    def has_measured_once(self, heads: dict[Path, int]) -> bool:
        """Whether each worker has made each of its operations since it had these heads."""
        return all(
            read_header(worker.ring).head - heads[worker.ring] >= 4 for worker in self.workers
        )

    def heads(self) -> dict[Path, int]:
        """How many samples each worker has written."""
        return {worker.ring: read_header(worker.ring).head for worker in self.workers}

    def _keep(self) -> None:
        """Let another process move what is over out of the rings, once an hour."""
        if self._keeper is not None and self._keeper.poll() is not None:
            if self._keeper.returncode != 0:
                self.say("venturi probe keep failed; it is tried again within the hour")
            self._keeper = None
        if self._keeper is None and time.monotonic() >= self._keep_at_s:
            self._keep_at_s = time.monotonic() + _KEEP_EVERY_S
            words = ["-m", "venturi", "probe", "keep", "--store", str(self.store)]
            self._keeper = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )


def _folder_for(target: ProbeTarget, store: Path) -> Path:
    folder = probe_folder(store) / target.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder}: {error.strerror}", "choose another store with --store"
        ) from None
    if not (folder / TARGET_NAME).exists():
        write_whole(folder / TARGET_NAME, target.to_json(indent=1) + "\n")
        return folder
    known = target_of(folder)
    if known != target and not any(ring_path(folder, kind).exists() for kind in ProbeKind):
        write_whole(folder / TARGET_NAME, target.to_json(indent=1) + "\n")
    elif known != target:
        changed = [
            name for name, value in known.to_data().items() if target.to_data()[name] != value
        ]
        raise UserError(
            f"{target.name}: its pool was made with other settings ({', '.join(changed)})",
            f"use another name, or remove the pool first: venturi probe remove {target.name}",
        )
    for kind in target.kinds:
        path = ring_path(folder, kind)
        if path.exists() and is_held(path):
            raise UserError(
                f"{target.name}: another probe works with this pool (process "
                f"{read_header(path).pid})",
                "stop it first; venturi probe status shows it",
            )
    return folder


def _first_number(folder: Path, kind: ProbeKind) -> int:
    """The number of a new ring's first sample; loads what reads files only if there are any."""
    if not (folder / "hours").exists():
        return 0
    from venturi.probe.keep import next_number

    return next_number(folder, kind)


def _offset_ns(target: ProbeTarget) -> int:
    """Where the grid of this host stands within the interval: the same each time."""
    text = f"{platform.node()} {target.directory}".encode()
    interval_ns = round(target.interval_s * 1e9)
    return zlib.crc32(text) * interval_ns // (_MASK + 1)
