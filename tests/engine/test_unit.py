"""What the sanitizers say: to the unit tests in C++, and to runs of every part of the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.running import ROOT, built
from sanitizer_report import taken

ASAN = ROOT / "build" / "asan"


@pytest.mark.needs("sanitizers")
@pytest.mark.parametrize(("preset", "program"), [("asan", "engine_unit"), ("tsan", "thread_unit")])
def test_unit_tests(preset: str, program: str) -> None:
    done = subprocess.run(
        [built(preset, program)], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_what_a_sanitizer_reports_is_seen(tmp_path: Path, reports: Path) -> None:
    """Also of a program whose exit code and stderr nobody reads."""
    source = tmp_path / "beyond.c"
    source.write_text("int main(int n, char **v) { int a[4] = {0}; (void)v; return a[n + 3]; }")
    program = tmp_path / "beyond"
    subprocess.run(["cc", "-fsanitize=address", "-o", program, source], check=True)
    subprocess.run([program], check=False, capture_output=True)
    assert ["stack-buffer-overflow" in text for text in taken(reports)] == [True]


# Every interface of the engine without MPI, every kind of step, every way to fail; MPI once each.
RUNS = {
    "case/test_matrix.py": [
        f"test_cell[{interface}-local-3]"
        for interface in ("posix", "uring", "mmap", "stdio", "hdf5", "netcdf", "null", "simulated")
    ],
    "case/test_case.py": [
        f"test_case[{case}-local]"
        for case in (
            "conditions",
            "dataset_box",
            "groups_at_once",
            "injected_fault",
            "links_and_attributes",
            "mixes",
            "rates",
            "readers",
            "table_of_requests",
        )
    ],
    "engine/test_conformance.py": [
        "test_totals[alone-posix-False]",
        "test_totals[forked-mmap-True]",
        "test_totals[openmpi-posix-True]",
        "test_totals[mpich-uring-False]",
        "test_items[forked-stdio]",
        "test_nested_phases_and_loops",
        "test_prestaged_data_is_there_and_stays[forked-posix]",
    ],
    "engine/test_dataset.py": [
        "test_what_was_written_is_read_in_another_shape[forked-hdf5]",
        "test_what_was_written_is_read_in_another_shape[forked-cdf5]",
        "test_one_rank_writes_for_all_where_it_is_asked_to[forked]",
        "test_a_fault_on_one_rank_ends_all[forked-write-eio-false]",
    ],
    "engine/test_fault.py": [
        "test_every_operation_on_items_can_fail",
        "test_short_transfers_are_continued_and_counted[forked]",
        "test_verification_finds_a_flipped_bit[forked-read]",
        "test_after_kill_9_clean_removes_what_is_left[forked]",
        "test_a_hang_ends_with_a_signal[alone]",
    ],
    "engine/test_in_flight.py": [
        "test_totals[forked-uring]",
        "test_every_block_is_moved_once[registered-32]",
        "test_one_failure_lets_the_others_land[forked-write-uring]",
        "test_simulated_requests_overlap_exactly[4]",
    ],
    "engine/test_local.py": [
        "test_a_mapped_file_that_was_cut_is_an_error",
        "test_appended_data_follows[stdio]",
        "test_contradictions_are_refused",
    ],
    "engine/test_verify.py": [
        "test_all_that_the_storage_flips_is_found[forked]",
        "test_wrong_items_are_located",
    ],
    "engine/test_log.py": ["test_every_operation_is_logged[5]"],
    "engine/test_twin.py": ["test_random_expressions"],
}


# Every way in which ranks of one machine work together, and that no library has a part in.
THREADS = {
    "case/test_matrix.py": [
        f"test_cell[{interface}-local-3]"
        for interface in ("posix", "uring", "mmap", "stdio", "null", "simulated")
    ],
    "case/test_case.py": [
        f"test_case[{case}-local]"
        for case in ("groups_at_once", "injected_fault", "mixes", "rates", "readers")
    ],
    "engine/test_conformance.py": [
        "test_totals[forked-posix-True]",
        "test_items[forked-posix]",
        "test_prestaged_data_is_there_and_stays[forked-posix]",
    ],
    "engine/test_fault.py": ["test_short_transfers_are_continued_and_counted[forked]"],
    "engine/test_in_flight.py": ["test_totals[forked-uring]"],
    "engine/test_verify.py": ["test_all_that_the_storage_flips_is_found[forked]"],
}


@pytest.mark.needs("sanitizers")
@pytest.mark.parametrize("file", RUNS)
def test_runs_under_the_sanitizers(tmp_path: Path, file: str) -> None:
    """Every error of memory or of arithmetic, and every leak, ends the engine."""
    built("asan", "venturi-engine")
    run_with(ASAN, file, RUNS[file], tmp_path)


@pytest.mark.needs("sanitizers")
@pytest.mark.nightly
@pytest.mark.parametrize("file", THREADS)
def test_ranks_that_are_threads(tmp_path: Path, file: str) -> None:
    """Every data race in what ranks share ends the engine with an exit code of its own."""
    place = tmp_path / "engine"
    place.mkdir()
    (place / "venturi-engine").symlink_to(built("tsan", "venturi-engine-threads"))
    run_with(place, file, THREADS[file], tmp_path)


def run_with(engines: Path, file: str, runs: list[str], tmp_path: Path) -> None:
    """Some tests of a file, with the engines of a folder; whatever they report fails them."""
    words = ["-q", "--tb=short", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'inner'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *(f"tests/{file}::{run}" for run in runs)],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "src"),
            "VENTURI_ENGINE_DIR": str(engines),
        },
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
