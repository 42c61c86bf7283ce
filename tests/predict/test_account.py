"""Seconds in I/O: the slowest rank's, sort by sort, without noise and lower layers."""

from __future__ import annotations

import pytest

from capture_factory import MIB, CaptureFactory
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.predict.account import Account, account_of

LOW = (Layer.POSIX, Layer.STDIO)


def account(made: CaptureFactory, layers: tuple[Layer, ...] = LOW) -> Account:
    found = account_of(made.captured(), layers, "app")
    assert found is not None
    return found


def test_the_slowest_rank_counts_and_its_sorts_add_up() -> None:
    made = CaptureFactory(ranks=2)
    for rank in range(2):
        made.call(rank, Kind.OPEN, "/scratch/out", s=0.5)
        made.call(rank, Kind.WRITE, "/scratch/out", MIB, rank * MIB, s=1.0 + 2 * rank)
        made.call(rank, Kind.SYNC, "/scratch/out", s=0.25)
        made.call(rank, Kind.READ, "/scratch/in", MIB, 0, s=0.125)
    found = account(made)
    assert found.seconds == pytest.approx(3.875)
    assert found.seconds_by == pytest.approx(
        {"read": 0.125, "write": 3.0, "sync": 0.25, "metadata": 0.5}
    )
    assert (found.ranks, found.calls, found.requests, found.bytes_moved) == (2, 8, 4, 4 * MIB)
    assert found.paths == {"/scratch/out": 2 * MIB, "/scratch/in": 2 * MIB}


def test_libraries_and_systems_are_no_io_of_the_application() -> None:
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.WRITE, "/scratch/out", MIB, 0, s=1.0)
    made.call(0, Kind.READ, "/usr/lib/libc.so.6", MIB, 0, s=9.0)
    made.call(0, Kind.READ, "/proc/meminfo", 100, 0, s=9.0)
    assert account(made).seconds == pytest.approx(1.0)


def test_the_span_has_the_computing_between_calls_but_no_start_up() -> None:
    made = CaptureFactory(ranks=2)
    made.call(0, Kind.READ, "/usr/lib/libc.so.6", MIB, 0, s=3.0)
    made.call(0, Kind.LIST, "/scratch", s=0.25)
    made.pause(2.0)
    made.call(0, Kind.WRITE, "/scratch/out", MIB, 0, s=1.0)
    made.pause(7.0)
    made.call(1, Kind.WRITE, "/scratch/out", MIB, MIB, s=0.5)
    made.call(1, Kind.READ, "/usr/lib/libm.so.6", MIB, 0, s=9.0)
    found = account(made)
    assert found.seconds == pytest.approx(1.0)
    assert found.span_seconds == pytest.approx(8.5)


def test_only_the_layers_of_the_proxy_are_compared() -> None:
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.WRITE, "/scratch/out", MIB, 0, s=1.0)
    made.call(0, Kind.WRITE, "/scratch/out", MIB, 0, s=4.0, layer=Layer.MPIIO)
    assert account(made).seconds == pytest.approx(1.0)
    assert account(made, (*LOW, Layer.MPIIO)).seconds == pytest.approx(4.0)


def test_programs_one_after_the_other_act_as_one_rank() -> None:
    made = CaptureFactory(programs=("make", "link"))
    made.call(0, Kind.WRITE, "/scratch/a.o", MIB, 0, s=1.0)
    made.clock_s = [max(made.clock_s)] * 2
    made.call(1, Kind.WRITE, "/scratch/a.out", MIB, 0, s=2.0)
    found = account(made)
    assert (found.ranks, found.seconds) == (1, pytest.approx(3.0))


def test_a_run_without_io_has_no_account() -> None:
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.READ, "/etc/hosts", 100, 0)
    assert account_of(made.captured(), LOW, "app") is None


def test_folders_in_which_modules_are_looked_for_do_not_count() -> None:
    made = CaptureFactory(ranks=1)
    made.call(0, Kind.WRITE, "out", MIB, 0, s=1.0)
    for folder in ("/home/me/modules", "."):
        for kind in (Kind.STAT, Kind.OPEN, Kind.LIST, Kind.CLOSE):
            made.call(0, kind, folder, s=4.0)
    made.call(0, Kind.READ, "app.py", 100, 0, s=9.0)
    for kind in (Kind.OPEN, Kind.LIST):
        made.call(0, kind, "data", s=0.5)
    found = account(made)
    assert found.seconds == pytest.approx(2.0)
    assert found.paths == {"out": MIB, "data": 0}


def test_copies_in_the_kernel_count_as_what_they_moved() -> None:
    made = CaptureFactory(ranks=1)
    for number in range(4):
        source, target = f"/scratch/from/{number}", made.file(f"/scratch/to/{number}")
        made.call(0, Kind.CLONE, source, 0, 0, s=0.25, detail=target, error=95)
        made.call(0, Kind.COPY, source, MIB, 0, s=0.5, detail=target)
        made.call(0, Kind.COPY, source, 0, MIB, s=0.25, detail=target)
    found = account(made)
    assert (found.requests, found.bytes_moved) == (8, 8 * MIB), "a read and a write for each"
    assert found.seconds_by["read"] == pytest.approx(2.0)
