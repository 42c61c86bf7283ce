"""What no call makes is on neither side of a comparison, and the reader is told."""

from __future__ import annotations

import pytest

from venturi.model.document import parse_data
from venturi.model.error import UserError
from venturi.model.workload import Workload
from venturi.predict.against import unseen


def workload(*interfaces: str) -> Workload:
    files = {
        f"{interface}{number}": {"path": f"f{number}", "shared": "rank", "interface": interface}
        for number, interface in enumerate(interfaces)
    }
    steps = [{"write": {"to": name, "size": "1 MiB"}} for name in files]
    data = {
        "workload": 1,
        "name": "app",
        "groups": {"g": {"ranks": 1}},
        "files": files,
        "program": {"g": [{"phase": "all", "do": steps}]},
    }
    return parse_data(Workload, data)


@pytest.mark.parametrize("seen", [["posix"], ["posix", "stdio"], ["mpiio", "hdf5"]])
def test_calls_are_seen(seen: list[str]) -> None:
    assert unseen(workload(*seen)) == []


def test_mapped_files_beside_others_are_a_remark() -> None:
    (said,) = unseen(workload("posix", "mmap", "stdio", "mmap"))
    assert said.startswith("mmap1, mmap3: what the proxy does through mapped memory is not in its")
    assert "nor is what the application does so" in said


@pytest.mark.parametrize("hidden", [["mmap"], ["mmap", "mmap"]])
def test_mapped_files_alone_cannot_be_compared(hidden: list[str]) -> None:
    with pytest.raises(UserError, match="does not see requests through mmap"):
        unseen(workload(*hidden))


@pytest.mark.parametrize("hidden", [["uring"], ["posix", "uring"], ["posix", "mmap", "uring"]])
def test_requests_on_a_queue_cannot_be_compared(hidden: list[str]) -> None:
    with pytest.raises(UserError, match="cannot be compared"):
        unseen(workload(*hidden))
