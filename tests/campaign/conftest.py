"""What tests of campaigns share: a real Slurm."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_daemon import SlurmDaemon


@pytest.fixture
def slurm() -> Iterator[SlurmDaemon]:
    """A Slurm of this host that ends with the test; the path of a socket must be short."""
    with tempfile.TemporaryDirectory(prefix="slurm") as home:
        daemon = SlurmDaemon(Path(home))
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.stop()
