"""The design of a profile: the grid, where it is refined, and sheets that the planner takes."""

from __future__ import annotations

from collections import Counter

import pytest

from profile_factory import curve, data
from venturi.model.plan import Interface, OperationKind
from venturi.model.profile import ContextEffect, FileSharing, Order
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.profile.design import coarse, gaps, setups_of
from venturi.profile.matrix import Family, MatrixCell, Setup, matrix_of

OWN = Setup(1, FileSharing.OWN)


def test_ranks_double_up_to_the_cores() -> None:
    setups = setups_of(6, None, (Interface.POSIX,))
    assert sorted({setup.ranks for setup in setups}) == [1, 2, 4, 6]
    assert Setup(1, FileSharing.SHARED) not in setups
    assert {setup.ranks for setup in setups_of(6, 2, (Interface.POSIX,))} == {1, 2}


MATRICES = coarse(setups_of(2, None, (Interface.POSIX, Interface.STDIO)))


UNDER_MPI = coarse(setups_of(2, None, (Interface.MPIIO, Interface.HDF5), under_mpi=True))


@pytest.mark.parametrize(("setup", "cells"), MATRICES + UNDER_MPI)
def test_every_matrix_can_be_planned_and_reads_what_it_does(
    setup: Setup, cells: list[MatrixCell]
) -> None:
    matrix = matrix_of(setup, cells, 4 * 2**20)
    made = make_plan(matrix.workload, RunSettings())
    assert set(made.totals.phases) == set(matrix.readings)
    assert made.plan.ranks == setup.ranks


def test_the_grid_begins_with_streams_and_names_and_ends_with_the_orders_of_posix() -> None:
    turns = [(setup.interface, cells[0].family) for setup, cells in MATRICES]
    assert {cell.family for cell in MATRICES[0][1]} == {Family.STREAM, Family.SMALL}
    stdio = [place for place, (interface, _) in enumerate(turns) if interface is Interface.STDIO]
    before = {family for interface, family in turns[: stdio[0]]}
    assert before == {Family.STREAM, Family.ITEM, Family.PACED, Family.CONTEXT_EFFECT}
    assert {family for _, family in turns[stdio[-1] + 1 :]} == {Family.RANDOM, Family.STRIDED}


def test_what_computing_costs_is_measured_by_one_rank_through_posix() -> None:
    paced = [(setup, cells) for setup, cells in MATRICES if cells[0].family is Family.PACED]
    assert [setup for setup, _ in paced] == [OWN]
    readings = matrix_of(OWN, paced[0][1], 4 * 2**20).readings.values()
    thinks = {each.access.think_s for found in readings for each in found}
    assert thinks >= {1e-7, 5e-4}
    assert 0.0 not in thinks


def test_each_context_effect_is_measured_beside_a_plain_loop_through_posix_and_stdio() -> None:
    found = [
        (setup, cells) for setup, cells in MATRICES if cells[0].family is Family.CONTEXT_EFFECT
    ]
    assert [setup.interface for setup, _ in found] == [Interface.POSIX, Interface.STDIO]
    for setup, cells in found:
        readings = matrix_of(setup, cells, 4 * 2**20).readings.values()
        each = [(one.access, one.bytes) for many in readings for one in many]
        reads = Counter(m.context_effect for m, _ in each if m.operation is OperationKind.READ)
        assert reads == {
            context_effect: len(cells)
            for context_effect in ContextEffect
            if context_effect is not ContextEffect.NONE
        }
        off = {size for access, size in each if access.context_effect is ContextEffect.OFF_PAGE}
        assert len(off) == len(cells)
        assert all(size % 4096 for size in off)
        assert all(access.interface is setup.interface for access, _ in each)


def test_calls_of_all_ranks_together_are_measured_under_mpi_only() -> None:
    together = [(setup, cells) for setup, cells in UNDER_MPI if setup.collective]
    assert {setup.interface for setup, _ in together} == {Interface.MPIIO, Interface.HDF5}
    assert {cell.family for _, cells in together for cell in cells} >= {Family.STRIDED}
    for setup, cells in together:
        accesses = {
            reading.access.collective
            for readings in matrix_of(setup, cells, 4 * 2**20).readings.values()
            for reading in readings
            if reading.operation in (OperationKind.WRITE, OperationKind.READ)
        }
        assert accesses == {True}
    alone = setups_of(2, None, (Interface.POSIX, Interface.HDF5))
    assert not any(setup.collective for setup in alone)


def test_a_straight_line_is_not_refined_and_a_bend_is_where_it_bends() -> None:
    sizes = (2**9, 2**12, 2**16, 2**20, 2**24)
    done = {OWN: {MatrixCell(Family.STREAM, size) for size in sizes}}

    def with_knee(size: int, ranks: int) -> float:
        return 1e-6 * max(1.0, size / 2**16)

    straight = data("write", lambda size, ranks: 1e-9 * size, "new", sizes=sizes, ranks=(1,))
    bent = data("write", with_knee, "new", sizes=sizes, ranks=(1,))
    steady = [p.model_copy(update={"low": p.seconds, "high": p.seconds}) for p in bent.points]
    bent = bent.model_copy(update={"points": steady})
    assert gaps([straight], done, set()) == []
    found = gaps([bent], done, set())
    assert {gap.cell.bytes for gap in found} == {2**14, 2**18}
    assert gaps([bent], done, {(gap.setup, gap.cell) for gap in found}) == []


def test_noise_is_not_refined() -> None:
    sizes = (2**9, 2**12, 2**16)
    noisy = data(
        "write",
        lambda size, ranks: 1.1e-6 if size == 2**12 else 1e-6,
        "new",
        sizes=sizes,
        ranks=(1,),
    )
    assert gaps([noisy], {}, set()) == []


def test_names_are_no_reason_to_measure_sizes_that_have_none() -> None:
    names = curve("create", lambda size, ranks: 1e-6, sizes=(0,), ranks=(1,))
    assert gaps([names], {}, set()) == []


@pytest.mark.parametrize("interface", [Interface.POSIX, Interface.STDIO, Interface.HDF5])
def test_names_are_measured_through_the_library_that_makes_them(interface: Interface) -> None:
    cell = MatrixCell(Family.STREAM, 4096)
    matrix = matrix_of(Setup(1, FileSharing.OWN, interface), (cell,), 4 * 2**20)
    names = {
        reading.operation.value
        for readings in matrix.readings.values()
        for reading in readings
        if reading.access.interface is interface and reading.access.order is Order.ITEM
    }
    assert names == (set() if interface is Interface.POSIX else {"create", "open", "close"})
