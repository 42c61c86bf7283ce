"""The two routes into a Darshan log agree, and bad logs give one sentence."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from darshan_log import OURS, log_of, text_of, trace_of
from outside_data import data_folder, logs_in
from venturi.model.error import ExitCode, UserError
from venturi.model.trace import CounterRecord, Layer, Trace
from venturi.sources.darshan import POOL
from venturi.sources.open import read, read_capture

OtherLibrary = Callable[..., None]

TEXT_DECIMALS_S = 1e-6
"""darshan-parser prints times with six decimals."""


def test_all_our_logs_are_there() -> None:
    assert len(OURS) == 18


@pytest.mark.parametrize("name", OURS)
def test_text_and_binary_give_the_same_records(name: str) -> None:
    binary, text = trace_of(name), read(text_of(name))
    assert text.source.format == "darshan-parser"
    assert (text.job.ranks, text.job.started) == (binary.job.ranks, binary.job.started)
    assert text.job.seconds == pytest.approx(binary.job.seconds, abs=1e-4)
    assert text.layers == binary.layers
    assert text.mounts == binary.mounts
    theirs = {_key(record): record for record in text.records}
    assert theirs.keys() == {_key(record) for record in binary.records}
    for record in binary.records:
        other = theirs[_key(record)]
        assert (other.file, other.within) == (record.file, record.within)
        assert other.counters == record.counters
        assert other.times == pytest.approx(record.times, abs=TEXT_DECIMALS_S)


def _key(record: CounterRecord) -> tuple[Layer, int, str]:
    return record.layer, record.rank, record.identity


def test_ids_survive_beyond_the_precision_of_a_double() -> None:
    identity = "11862828143211028314"  # as darshan-parser prints it
    assert str(int(float(identity))) != identity
    assert identity in {record.identity for record in trace_of("h5slab").records}


def test_datasets_name_their_file() -> None:
    trace = trace_of("ior_hdf5_coll")
    file = next(r for r in trace.records if r.layer is Layer.HDF5_FILE)
    datasets = [r for r in trace.records if r.layer is Layer.HDF5_DATASET]
    assert len(datasets) == 4
    assert {r.within for r in datasets} == {file.identity}


def test_unknown_counters_are_absent_and_prefixes_gone() -> None:
    record = next(r for r in trace_of("ior_shared_seg").records if r.layer is Layer.POSIX)
    assert record.counters["WRITES"] == 64
    assert "MMAPS" not in record.counters  # Darshan writes -1
    assert record.rank == -1


def test_a_trace_survives_as_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(trace_of("miniapp").to_json())
    assert read(path) == trace_of("miniapp")


def test_the_parent_imports_nothing_heavy() -> None:
    code = (
        "import sys, venturi.sources.darshan, venturi.sources.open\n"
        "assert not {'darshan', 'numpy', 'pandas'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)


def _refusal(path: Path, **options: float) -> UserError:
    with pytest.raises(UserError) as caught:
        read(path, **options)
    error = caught.value
    assert error.exit_code is ExitCode.USAGE
    assert path.name in error.message
    assert "\n" not in error.message
    return error


@pytest.mark.nightly
@pytest.mark.parametrize("name", logs_in("darshan/malformed"))
def test_the_header_of_a_private_build_is_read(name: str) -> None:
    private, repaired = (
        read(data_folder(f"darshan/{kind}/{name}")) for kind in ("malformed", "public/io500")
    )
    assert private.records
    assert private == repaired
    assert private.source.file == name


def _shifted(data: bytes, by: int) -> bytes:
    """A log with so many zero bytes behind its header, which its map of regions counts."""
    maps = list(struct.unpack_from("<130Q", data, 32))
    maps[::2] = [place + by if place else 0 for place in maps[::2]]
    return data[:32] + struct.pack("<130Q", *maps) + data[1072:1328] + bytes(by) + data[1328:]


def test_all_of_a_private_log_is_read(tmp_path: Path) -> None:
    for name in ("ior_hdf5_coll", "miniapp"):
        path = tmp_path / f"{name}.darshan"
        path.write_bytes(_shifted(log_of(name).read_bytes(), 8192))
        private, usual = read_capture(path), read_capture(log_of(name))
        assert private.trace == usual.trace
        assert usual.operations is not None
        assert private.operations is not None
        assert np.array_equal(private.operations.offset, usual.operations.offset)
        assert np.array_equal(private.operations.start_ns, usual.operations.start_ns)


def test_another_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "strange.darshan"
    path.write_bytes(_shifted(log_of("miniapp").read_bytes(), 4096))
    assert "darshan-parser" in _refusal(path).hint


def test_truncated_logs_are_refused(tmp_path: Path) -> None:
    whole = log_of("miniapp").read_bytes()
    for size in (9, 100, 1000, 1400):
        path = tmp_path / f"cut{size}.darshan"
        path.write_bytes(whole[:size])
        _refusal(path)


def test_damaged_logs_never_raise_anything_else(tmp_path: Path) -> None:
    whole = bytearray(log_of("ior_hdf5_coll").read_bytes())
    for place in range(8, len(whole), len(whole) // 12):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path = tmp_path / f"flip{place}.darshan"
        path.write_bytes(damaged)
        outcome: Trace | UserError
        try:
            outcome = read(path)
        except UserError as error:
            outcome = error
        assert isinstance(outcome, Trace) or path.name in outcome.message


def test_a_crash_by_signal_is_one_sentence(other_library: OtherLibrary) -> None:
    other_library("os.kill(os.getpid(), signal.SIGSEGV)")
    assert "signal 11" in _refusal(log_of("dd")).message


def test_a_hang_ends_at_the_time_limit(other_library: OtherLibrary) -> None:
    other_library("time.sleep(60)")
    assert "0.5 s" in _refusal(log_of("dd"), timeout_s=0.5).message


def test_a_missing_library_says_so(other_library: OtherLibrary) -> None:
    other_library("", on_import="raise ImportError('no module')")
    error = _refusal(log_of("dd"))
    assert "library" in error.message
    assert "pip install darshan" in error.hint


def test_a_library_that_kills_the_worker_is_one_sentence(other_library: OtherLibrary) -> None:
    other_library("", on_import="import os; os._exit(7)")
    assert "died" in _refusal(log_of("dd")).message


def test_one_worker_reads_many_logs_and_outlives_their_crashes(tmp_path: Path) -> None:
    read(log_of("dd"))
    first = POOL.number
    for name in ("dd", "miniapp"):
        assert read(log_of(name)).records
    damaged = tmp_path / "damaged.darshan"
    damaged.write_bytes(_shifted(log_of("miniapp").read_bytes(), 4096))
    # The library crashes, or gives nonsense, as its memory happens to lie.
    assert re.search("cannot be read|is malformed", _refusal(damaged).message)
    assert read(log_of("dd")).records
    assert POOL.number == first


def test_a_worker_that_is_killed_is_replaced() -> None:
    read(log_of("dd"))
    first = POOL.number
    os.kill(first, signal.SIGKILL)
    assert read(log_of("dd")).records
    assert POOL.number != first


@pytest.fixture
def other_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherLibrary]:
    """Puts another library in PyDarshan's place: what opening a log runs, and what importing."""

    def put(on_open: str, on_import: str = "") -> None:
        package = tmp_path / "darshan" / "backend"
        package.mkdir(parents=True)
        for folder in (package, package.parent):
            (folder / "__init__.py").touch()
        (package / "cffi_backend.py").write_text(
            f"import os, signal, time\n{on_import}\ndef log_open(path):\n    {on_open or 'pass'}\n"
        )
        search = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        monkeypatch.setenv("PYTHONPATH", search)
        POOL.stop()

    POOL.stop()
    yield put
    POOL.stop()
