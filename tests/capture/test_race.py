"""Threads that do everything at once: nothing is lost, and the tracer has no data races."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from capture.conftest import PROGRAMS, Capture
from venturi.capture.spool import read_all
from venturi.capture.tracer import TracerSettings, configure

TRACER = Path(__file__).parents[2] / "tracer"
OF_LIBRARIES = {"wrap_mpi.c", "wrap_hdf5.c", "wrap_pnetcdf.c"}
WRITES = 6 * 2 * 200
"""Threads, their turns, and the times that each does everything."""


def test_nothing_is_lost(capture: Capture) -> None:
    run = capture(capture.program("race"))
    count = run.count()
    assert count["write", "shared"] == WRITES
    assert count["write", "child"] == 4
    for kind in ("open", "stat"):
        assert sum(n for (k, name), n in count.items() if k == kind and "file." in name) == WRITES
    assert (
        sum(n for (k, name), n in count.items() if k == "write" and "file." in name) == 2 * WRITES
    )
    counted = [r.counters for r in run.trace.records if r.file.endswith("/shared")]
    assert [counters["WRITES"] for counters in counted] == [WRITES]
    assert run.count("stdio")["write", "stream"] == WRITES
    assert run.trace.gaps == []


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with the tracer in it, not preloaded, under the thread sanitizer.

    Nothing of the tracer is visible to the sanitizer's own library, which must not be traced.
    """
    place = tmp_path_factory.mktemp("sanitized")
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    shutil.copy(TRACER / f"ticks_{'x86' if is_x86 else 'none'}.h", place / "ticks.h")
    shutil.copy(TRACER / "single_glibc.h", place / "single.h")
    shutil.copy(TRACER / "stream_place_glibc.h", place / "stream_place.h")
    own = TRACER / f"call_{platform.machine()}.h"
    shutil.copy(own if own.exists() else TRACER / "call_none.h", place / "call.h")
    old = TRACER / f"old_numbers_{platform.machine()}.h"
    shutil.copy(old if old.exists() else TRACER / "old_numbers_aarch64.h", place / "old_numbers.h")
    hidden = place / "hidden"
    hidden.write_text("{ local: *; };\n")
    left_out = OF_LIBRARIES if own.exists() else {*OF_LIBRARIES, "wrap_syscall.c"}
    sources = [path for path in sorted(TRACER.glob("*.c")) if path.name not in left_out]
    options = ["-std=gnu11", "-O1", "-g1", "-U_FORTIFY_SOURCE", "-fsanitize=thread"]
    folders = [f"-I{TRACER}", f"-I{place}", f"-Wl,--version-script={hidden}"]
    words = [*options, *folders, "-o", str(place / "race"), *map(str, sources)]
    subprocess.run(["gcc", *words, str(PROGRAMS / "race.c"), "-ldl", "-lpthread"], check=True)
    return place / "race"


def test_the_tracer_has_no_data_race(sanitized: Path, tmp_path: Path) -> None:
    spool, here = tmp_path / "spool", tmp_path / "here"
    spool.mkdir()
    here.mkdir()
    configure(spool, TracerSettings())
    environment = {**os.environ, "VENTURI_TRACE_DIR": str(spool), "TSAN_OPTIONS": "exitcode=66"}
    done = subprocess.run(
        [str(sanitized)],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]
    files, broken = read_all(spool)
    assert broken == []
    assert len(files) == 5, "the program was traced"
    assert all(file.damage == () for file in files)
