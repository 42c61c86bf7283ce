"""How long a listing took: the time in its calls, not what the program did between them."""

from __future__ import annotations

import sys

import pytest

from capture.conftest import Capture
from venturi.model.operation import Kind

WAYS = {
    "entry by entry": """
with os.scandir('{folder}') as entries:
    for entry in entries:
        time.sleep(0.01)
""",
    "left before its end": """
entries = os.scandir('{folder}')
for count, entry in enumerate(entries):
    time.sleep(0.01)
    if count == 20:
        break
entries.close()
""",
    "folders in a folder": """
for inner in os.scandir('{folder}'):
    if inner.is_dir():
        for entry in os.scandir(inner.path):
            time.sleep(0.01)
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_done_between_entries_is_no_listing(capture: Capture, way: str) -> None:
    folder = capture.here / "listed"
    for inner in ("", "a", "b"):
        (folder / inner).mkdir(parents=True)
        for number in range(25):
            (folder / inner / f"f{number}").touch()
    code = "import os, time\n" + WAYS[way].format(folder=folder)
    run = capture(sys.executable, "-S", "-c", code)
    operations = run.captured.operations
    assert operations is not None
    listings = [
        (int(operations.bytes[row]), int(operations.end_ns[row] - operations.start_ns[row]))
        for row in operations.is_kind(Kind.LIST).nonzero()[0].tolist()
        if run.trace.files[int(operations.file[row])].path.startswith(str(folder))
    ]
    assert len(listings) == {"folders in a folder": 3}.get(way, 1)
    assert all(entries >= 20 for entries, _ in listings)
    assert all(0 < nanoseconds < 0.05e9 for _, nanoseconds in listings), listings
    inside_s = float((operations.end_ns - operations.start_ns).sum()) / 1e9
    assert inside_s < run.trace.job.seconds
