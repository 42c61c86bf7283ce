"""The two routes into a Darshan log agree, and bad logs give one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from darshan_log import OURS, log_of, shared, shared_logs, text_of, trace_of
from venturi.model.error import ExitCode, UserError
from venturi.model.trace import CounterRecord, Layer, Trace
from venturi.sources.open import read

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


@pytest.mark.parametrize("name", shared_logs("malformed"))
def test_malformed_logs_are_refused(name: str) -> None:
    assert _refusal(shared(f"malformed/{name}")).hint


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


def test_a_crash_by_signal_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_child(monkeypatch, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert "signal 11" in _refusal(log_of("dd")).message


def test_a_hang_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_child(monkeypatch, "import time; time.sleep(60)")
    assert "0.5 s" in _refusal(log_of("dd"), timeout_s=0.5).message


def test_a_missing_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_child(monkeypatch, "import sys; print('no module', file=sys.stderr); sys.exit(4)")
    error = _refusal(log_of("dd"))
    assert "library" in error.message
    assert "pip install darshan" in error.hint


def test_nonsense_from_the_child_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_child(monkeypatch, "print('{}')")
    assert "impossible values" in _refusal(log_of("dd")).message


def _replace_child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Makes the reader start another program in place of its child."""
    real = subprocess.run

    def run(command: list[str], timeout: float, **_: object) -> subprocess.CompletedProcess[bytes]:
        other = [command[0], "-c", code]
        return real(other, capture_output=True, timeout=timeout, check=False)

    monkeypatch.setattr("venturi.sources.darshan.subprocess.run", run)
