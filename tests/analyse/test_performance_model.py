"""The surface between its points, beyond them, and where another curve stands in."""

from __future__ import annotations

import pytest

from profile_factory import curve, data, profile
from venturi.analyse.performance_model import PerformanceModel, bend_at, lines_of
from venturi.model.plan import Interface, OperationKind
from venturi.model.profile import AccessClass, DataState, FileSharing, Order, Volume

WRITE = AccessClass(operation=OperationKind.WRITE, order=Order.SEQUENTIAL, state=DataState.NEW)


def test_points_give_themselves() -> None:
    performance_model = PerformanceModel(
        profile(data("write", lambda size, ranks: 1e-9 * size * ranks, "new"))
    )
    found = performance_model.nearest(WRITE)
    assert found is not None
    estimate = performance_model.at(found[0], 2**16, 2)
    assert found[1] == ""
    assert estimate.seconds.median == pytest.approx(2e-9 * 2**16)
    assert estimate.seconds.low == pytest.approx(0.9 * estimate.seconds.median)
    assert not estimate.extrapolated


def test_a_power_law_is_exact_between_points() -> None:
    sizes = (2**9, 2**13, 2**24)
    law = data("write", lambda size, ranks: 1e-9 * size**0.7, "new", sizes=sizes)
    performance_model = PerformanceModel(profile(law))
    estimate = performance_model.at(law, 47_008, 1)
    assert estimate.seconds.median == pytest.approx(1e-9 * 47_008**0.7)
    assert estimate.slope == pytest.approx(0.7)


def test_a_bend_widens_the_interval() -> None:
    sizes = (2**9, 2**13, 2**17, 2**21)
    bent = data("write", lambda size, _: 1e-6 + 1e-10 * size, "new", sizes=sizes)
    performance_model = PerformanceModel(profile(bent))
    between = performance_model.at(bent, 2**15, 1).seconds
    true = 1e-6 + 1e-10 * 2**15
    assert between.low < true < between.high
    assert between.high / between.median > 1.1


def test_below_the_smallest_a_call_stays_and_above_the_largest_the_rate() -> None:
    law = data("write", lambda size, _: 1e-6 + 1e-9 * size, "new")
    performance_model = PerformanceModel(profile(law))
    small, large = performance_model.at(law, 8, 1), performance_model.at(law, 2**28, 1)
    assert small.extrapolated
    assert small.seconds.median == pytest.approx(1e-6 + 1e-9 * 512)
    assert large.extrapolated
    assert large.seconds.median == pytest.approx(1e-9 * 2**28, rel=0.01)


def test_more_ranks_than_cores_take_turns() -> None:
    law = data("write", lambda size, ranks: 1e-6, "new")
    performance_model = PerformanceModel(profile(law, cores=2))
    eight = performance_model.at(law, 4096, 8)
    assert eight.extrapolated
    assert eight.seconds.median == pytest.approx(4e-6)
    assert eight.seconds.low < 4e-6 <= eight.seconds.high


def test_a_device_that_was_not_full_goes_on_as_before() -> None:
    law = data("read", lambda size, ranks: 1e-4, "cold")
    performance_model = PerformanceModel(profile(law))
    assert performance_model.at(law, 4096, 8).seconds.median == pytest.approx(1e-4)
    assert performance_model.at(law, 4096, 8).seconds.high == pytest.approx(1.1 * 4e-4)


def test_ranks_between_two_counts() -> None:
    law = data("write", lambda size, ranks: 1e-6 * ranks, "new", ranks=(1, 4))
    performance_model = PerformanceModel(profile(law))
    assert performance_model.at(law, 4096, 2).seconds.median == pytest.approx(2e-6)
    assert not performance_model.at(law, 4096, 2).extrapolated


def test_the_nearest_curve_says_what_it_stands_for() -> None:
    performance_model = PerformanceModel(profile(data("write", lambda size, ranks: 1e-6, "new")))
    wanted = WRITE.model_copy(update={"interface": Interface.MPIIO, "place": FileSharing.SHARED})
    found = performance_model.nearest(wanted)
    assert found is not None
    assert "mpiio" in found[1]
    assert performance_model.nearest(AccessClass(operation=OperationKind.RENAME)) is None
    cold = WRITE.model_copy(update={"operation": OperationKind.READ, "state": DataState.COLD})
    assert performance_model.nearest(cold) is None


@pytest.mark.parametrize(
    ("interface", "place", "nearest"),
    [
        (Interface.HDF5, FileSharing.SHARED, Interface.MPIIO),
        (Interface.PNETCDF, FileSharing.SHARED, Interface.MPIIO),
        (Interface.HDF5, FileSharing.OWN, Interface.POSIX),
        (Interface.STDIO, FileSharing.SHARED, Interface.POSIX),
    ],
)
def test_libraries_above_mpi_io_are_like_it_on_shared_files(
    interface: Interface, place: FileSharing, nearest: Interface
) -> None:
    """Its ranks wait for each other when files are opened and closed, those of posix do not."""
    by = {"order": Order.ITEM, "place": place}
    known = [
        curve("close", lambda size, ranks: 1e-6, interface=other, place=place)
        for other in (Interface.POSIX, Interface.MPIIO)
    ]
    wanted = AccessClass(operation=OperationKind.CLOSE, interface=interface, **by)
    found = PerformanceModel(profile(*known)).nearest(wanted)
    assert found is not None
    assert found[0].access.interface is nearest


def test_empty_files_and_full_ones() -> None:
    law = curve("create", lambda size, ranks: 2e-6 if size else 1e-6, sizes=(0, 4096))
    performance_model = PerformanceModel(profile(law))
    assert performance_model.at(law, 0, 1).seconds.median == pytest.approx(1e-6)
    assert performance_model.at(law, 4096, 1).seconds.median == pytest.approx(2e-6)


def test_small_volumes_have_the_ratio_that_was_measured() -> None:
    large = data("write", lambda size, ranks: 4e-6, "new")
    small = data("write", lambda size, ranks: 1e-6, "new", access={"volume": Volume.SMALL})
    performance_model = PerformanceModel(profile(large, small))
    strided = WRITE.model_copy(update={"order": Order.STRIDED})
    assert performance_model.in_volume(WRITE, 4096, 1, 2**25) == 1.0
    assert performance_model.in_volume(strided, 4096, 1, 2**20) == pytest.approx(0.25)
    assert performance_model.in_volume(WRITE, 4096, 1, 2**10) == pytest.approx(0.25)
    middle = performance_model.in_volume(WRITE, 4096, 1, int(2**22.5))
    assert middle == pytest.approx(0.5, rel=0.01)
    cold = WRITE.model_copy(update={"state": DataState.COLD})
    assert performance_model.in_volume(cold, 4096, 1, 2**10) == 1.0


def test_a_bend_is_what_a_line_misses() -> None:
    law = data(
        "write",
        lambda size, ranks: 2e-6 if size == 2**10 else 1e-6,
        "new",
        sizes=(2**9, 2**10, 2**11),
    )
    points = lines_of(law)[1]
    assert bend_at(points, 1) == pytest.approx(0.6931, abs=1e-3)
    assert bend_at(points, 0) == bend_at(points, 2) == 0.0


def test_calls_together_are_looked_up_first_alone_of_their_interface_then_of_posix() -> None:
    shared = WRITE.model_copy(update={"place": FileSharing.SHARED, "interface": Interface.MPIIO})
    wanted = shared.model_copy(update={"collective": True})
    kinds = (
        {},
        {"interface": Interface.MPIIO},
        {"interface": Interface.MPIIO, "collective": True},
    )
    curves = [
        data("write", lambda size, ranks: 1e-6, "new", access={"place": FileSharing.SHARED, **kind})
        for kind in kinds
    ]
    for known in (3, 2, 1):
        found = PerformanceModel(profile(*curves[:known])).nearest(wanted)
        assert found is not None
        assert found[0] == curves[known - 1]
        assert (found[1] == "") == (known == 3)
