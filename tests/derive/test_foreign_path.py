"""Which names are those of systems and launchers, and which hold an application's data."""

from __future__ import annotations

import pytest

from venturi.derive.noise import is_foreign_path


@pytest.mark.parametrize(
    ("path", "is_foreign"),
    [
        ("/dev/shm/run/state.dat", False),
        ("/var/tmp/state.dat", False),
        ("/run/user/1000/state.dat", False),
        ("/data/state.dat", False),
        ("/dev/shm/vader_segment.host.0.1", True),
        ("/dev/shm/sem.mp-x", True),
        ("/dev/null", True),
        ("/var/log/state.dat", True),
        ("/run/state.dat", True),
        ("/tmp/hsperfdata_somebody/4242", True),
        ("/tmp/clr-debug-pipe-17-9-in", True),
        ("/data/hsperfdata.csv", False),
        ("/dev/shm/venv/lib/python3.11/site-packages/x.py", True),
    ],
)
def test_data_in_memory_is_the_applications_own(path: str, is_foreign: bool) -> None:
    assert is_foreign_path(path) is is_foreign
