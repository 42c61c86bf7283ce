"""The tracer counts on real programs what strace counts there.

None of them uses the C library's streams on files: their own requests only strace sees.
"""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

from capture.conftest import Capture, Run

KINDS = {"read", "write", "sync", "data_sync", "unlink", "rename", "mkdir", "rmdir", "truncate"}

PREPARE = "mkdir d; for i in 1 2 3; do dd if=/dev/zero of=d/$i bs=70000 count=1 2>/dev/null; done; "
PROGRAMS = {
    "tar": PREPARE + "tar cf t.tar d; mkdir e; tar xf t.tar -C e; rm -r e",
    "sqlite3": "sqlite3 x.db 'create table t(a); insert into t values(1); delete from t;'",
    "python": """python3 -c "
import os, shutil
for k in range(20):
    with open(f'f{k}', 'wb', buffering=0) as out:
        out.write(bytes(1000)); out.write(bytes(k)); os.fsync(out.fileno())
    os.rename(f'f{k}', f'g{k}')
with open('g3', 'rb') as source: source.read()
os.truncate('g4', 10)
" """,
    "shell": "for i in 1 2 3; do echo $i >> log; done; cat log log > twice; mv twice other; rm log",
    "dd": "dd if=/dev/zero of=x bs=4096 count=50 status=none; dd if=x of=y bs=1000 conv=fsync",
}


def counts(run: Run, place: str) -> Counter[tuple[str, str]]:
    """Calls that went well, by kind and file, on files in the directory of the run."""
    trace, rows = run.trace, run.rows()
    inside = {f.path.rsplit("/", 1)[-1] for f in trace.files if f.path.startswith(place)}
    return Counter(
        (kind, name)
        for layer, kind, name, _, _, error in rows
        if layer == "posix" and kind in KINDS and name in inside and not error
    )


@pytest.mark.needs("strace")
@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_equal_straces(capture: Capture, name: str) -> None:
    command = ("sh", "-c", PROGRAMS[name])
    traced = counts(capture(*command), str(capture.here))
    shutil.rmtree(capture.here)
    straced = counts(capture(*command, options=("--with", "strace")), str(capture.here))
    assert traced.total() > 3
    assert traced == straced
