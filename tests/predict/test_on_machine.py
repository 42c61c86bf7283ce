"""Forecasts from profiles that follow known laws: caches, syncs, limits, trees, refusals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from profile_factory import curve, data, machine
from venturi import library
from venturi.model.document import parse_data
from venturi.model.error import UserError
from venturi.model.forecast import Forecast, ForecastLimit
from venturi.model.machine import Machine
from venturi.model.plan import Interface
from venturi.model.profile import DataState, FileSharing, Order, Volume
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.predict.on_machine import forecast

NEW, CACHED, COLD, SYNC, CALL = 1e-9, 5e-10, 1e-8, 4e-9, 1e-6
SESSION = 1.45
"""What runs differ from a profile of another hour."""
SEEK = 1e-4
"""What a read waits for where none went before it."""
MIB = 2**20


def here(**changes: Any) -> Machine:
    return machine(
        data("write", lambda size, ranks: CALL + NEW * size, "new"),
        data("write", lambda size, ranks: CALL + NEW * size / 2, "cached"),
        data("read", lambda size, ranks: CALL + CACHED * size, "cached"),
        data("read", lambda size, ranks: CALL + COLD * size, "cold"),
        data("read", lambda size, ranks: SEEK + COLD * size, "cold",
             access={"order": Order.RANDOM}),
        data("sync", lambda size, ranks: 1e-3 + SYNC * size, "new"),
        data("sync", lambda size, ranks: 1e-3 + SYNC * size, "cached"),
        *(curve(name, lambda size, ranks: CALL, sizes=(0, 4096)) for name in
          ("create", "open", "close", "stat", "unlink")),
        **changes,
    )  # fmt: skip


def predicted(
    steps: list[dict[str, Any]], files: dict[str, Any], on: Machine | None = None, ranks: int = 1,
    scale: bool = False,
) -> Forecast:  # fmt: skip
    workload = parse_data(
        Workload,
        {
            "workload": 1, "name": "w", "groups": {"g": {"ranks": ranks}},
            "files": files, "program": {"g": steps},
        },
    )  # fmt: skip
    return forecast(make_plan(workload, RunSettings()), on or here(), "", scale)


def phase(name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"phase": name, "do": list(steps), **more}


def moving(verb: str, transfer: int, size: int, **more: Any) -> dict[str, Any]:
    preposition = "to" if verb == "write" else "from"
    return {verb: {preposition: "f", "transfer": transfer, "size": size, **more}}


OWN = {"f": {"path": "f", "shared": "rank"}}


def times(found: Forecast) -> dict[str, float]:
    return {each.path: each.seconds.median for each in found.phases}


def test_a_write_is_new_then_replaces_and_a_read_is_cached_until_dropped() -> None:
    steps = [
        phase("new", {"create": "f"}, moving("write", MIB, 4 * MIB), {"close": "f"}),
        phase("again", moving("read", MIB, 4 * MIB)),
        phase("over", moving("write", MIB, 4 * MIB)),
        phase("cold", moving("read", MIB, 4 * MIB), cache="drop"),
        phase("warm", moving("read", MIB, 4 * MIB)),
    ]
    found = times(predicted(steps, OWN))
    assert found["new"] == pytest.approx(4 * (CALL + NEW * MIB) + 2 * CALL)
    opened = 2 * CALL
    assert found["again"] == pytest.approx(4 * (CALL + CACHED * MIB) + opened)
    assert found["over"] == pytest.approx(4 * (CALL + NEW * MIB / 2) + opened)
    assert found["cold"] == pytest.approx(SEEK + 3 * CALL + 4 * COLD * MIB + opened)
    assert found["warm"] == pytest.approx(found["again"])


def test_a_phase_drops_its_own_files_only() -> None:
    files = OWN | {"other": {"path": "other", "shared": "rank"}}
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 4 * MIB)),
        phase("other", {"create": "other"}, {"write": {"to": "other", "size": 1}}, cache="drop"),
        phase("read", moving("read", MIB, 4 * MIB)),
    ]
    found = times(predicted(steps, files))
    assert found["read"] == pytest.approx(4 * (CALL + CACHED * MIB), rel=0.01)


def test_a_sync_writes_what_is_unwritten_once() -> None:
    sync = {"sync": {"on": "f", "mode": "fsync"}}
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 8 * MIB)),
        phase("sync", sync),
        phase("each", moving("write", 4096, 16 * 4096, at=8 * MIB, sync="fsync")),
    ]
    found = predicted(steps, OWN)
    assert times(found)["sync"] == pytest.approx(1e-3 + SYNC * 8 * MIB, rel=0.01)
    each = 16 * (CALL + NEW * 4096 + 1e-3 + SYNC * 4096)
    assert times(found)["each"] == pytest.approx(each, rel=0.01)
    assert found.phases[1].limit is ForecastLimit.DEVICE
    assert found.phases[2].limit is ForecastLimit.DEVICE_LATENCY


def test_more_than_may_be_unwritten_waits_for_the_device() -> None:
    steps = [phase("write", {"create": "f"}, moving("write", MIB, 64 * MIB))]
    free = times(predicted(steps, OWN))["write"]
    found = predicted(steps, OWN, here(dirty_limit_bytes=16 * MIB))
    assert times(found)["write"] == pytest.approx(free + SYNC * 48 * MIB, rel=0.05)
    assert found.phases[0].limit is ForecastLimit.DEVICE


def test_data_beyond_memory_are_read_from_the_device() -> None:
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 64 * MIB)),
        phase("read", moving("read", MIB, 64 * MIB)),
    ]
    found = predicted(steps, OWN, here(memory_bytes=64 * MIB))
    assert times(found)["read"] == pytest.approx(SEEK + 63 * CALL + 64 * COLD * MIB)


def test_random_reads_have_their_own_curve() -> None:
    random = {"pattern": "random", "count": 100}
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 4 * MIB)),
        phase("read", moving("read", 4096, 4 * MIB, **random), cache="drop"),
    ]
    found = predicted(steps, OWN)
    assert times(found)["read"] == pytest.approx(100 * (SEEK + COLD * 4096))
    assert found.phases[1].limit is ForecastLimit.DEVICE_LATENCY


def test_a_limit_of_time_cuts_the_work_and_what_follows() -> None:
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 100 * MIB), limit="50 ms"),
        phase("read", moving("read", MIB, 100 * MIB)),
    ]
    found = predicted(steps, OWN)
    whole = 100 * (CALL + NEW * MIB)
    assert found.phases[0].done_share == pytest.approx(0.05 / whole)
    assert times(found)["write"] == pytest.approx(0.05 + CALL)
    read = 100 * (CALL + CACHED * MIB) * 0.05 / whole
    assert times(found)["read"] == pytest.approx(read, rel=0.01)
    assert found.phases[0].bytes == pytest.approx(100 * MIB * 0.05 / whole, rel=0.01)


def test_long_loops_count_like_short_ones() -> None:
    def looped(turns: int) -> float:
        steps = [
            phase("write", {"create": "f"}, moving("write", MIB, MIB)),
            phase("read", {"for": "i", "in": turns, "do": [moving("read", 4096, MIB)]}),
        ]
        return times(predicted(steps, OWN))["read"]

    assert looped(1000) == pytest.approx(1000 * looped(1))


def test_trees_are_names() -> None:
    files = {"t": {"path": "t", "shared": "rank", "tree": {"depth": 0, "items": 50, "size": 0}}}
    steps = [phase("make", {"create": "t"}), phase("stat", {"stat": "t"})]
    found = predicted(steps, files)
    assert times(found) == pytest.approx({"make": 100 * CALL, "stat": 50 * CALL})
    assert found.phases[0].limit is ForecastLimit.NAMES


def test_what_is_not_known_is_said_and_not_guessed() -> None:
    files = {"t": {"path": "t", "shared": "rank", "tree": {"depth": 0, "items": 5, "size": 0}}}
    steps = [phase("make", {"create": "t"}),
             phase("move", {"each": {"on": "t", "do": ["rename"]}})]  # fmt: skip
    found = predicted(steps, files)
    assert len(found.unknown) == 1
    assert "rename" in found.unknown[0]
    assert times(found)["move"] == 0.0


def test_more_ranks_than_measured_want_a_word() -> None:
    steps = [phase("write", {"create": "f"}, moving("write", 4096, MIB))]
    with pytest.raises(UserError, match="at most 2"):
        predicted(steps, OWN, ranks=8)
    found = predicted(steps, OWN, ranks=8, scale=True)
    assert found.extrapolated == ["8 ranks, measured were at most 2"]
    two = predicted(steps, OWN, ranks=2)
    assert found.seconds.median == pytest.approx(4 * two.seconds.median)


def test_a_crowd_is_a_limit() -> None:
    slow = data(
        "write", lambda size, ranks: 1e-5 * ranks, "new", access={"place": FileSharing.SHARED}
    )
    single = data("write", lambda size, ranks: 1e-5, "new")
    steps = [phase("write", {"create": "f"}, moving("write", 4096, MIB))]
    found = predicted(steps, {"f": {"path": "f"}}, machine(slow, single), ranks=2)
    assert found.phases[0].limit is ForecastLimit.RANKS


def test_a_machine_without_a_profile_is_refused() -> None:
    with pytest.raises(UserError, match="not measured"):
        predicted([phase("write", moving("write", 4096, MIB))], OWN, Machine(name="bare"))


def test_a_field_store_has_no_forecast() -> None:
    with pytest.raises(UserError, match=r"files\.store: no profile says what a flush"):
        forecast(make_plan(library.load("ecmwf"), RunSettings()), here(), "", scale_ranks=True)


def test_a_command_has_no_forecast() -> None:
    with pytest.raises(UserError, match="phase 'p': nothing is known of what its command does"):
        predicted([phase("p", {"exec": {"command": "true"}})], {})


def test_a_kernel_has_no_forecast() -> None:
    """It measures the machine that it runs on, which a forecast is not made on."""
    with pytest.raises(UserError, match="phase 'p': a kernel measures the machine"):
        predicted([phase("p", {"kernel": {"name": "memory_triad"}})], {})


@pytest.mark.parametrize("name", [n for n in library.names() if not n.startswith("health-")])
def test_every_workload_of_the_library_has_a_forecast(name: str) -> None:
    workload = library.load(name)
    has_records = any("records" in file.options for file in workload.files.values())
    assigned = {} if has_records else {"interface": "posix"}
    made = make_plan(workload, RunSettings(assignments=assigned))
    found = forecast(made, here(), "", scale_ranks=True)
    paths = set(made.totals.phases)
    outermost = {path for path in paths if path.rpartition("/")[0] not in paths}
    assert {each.path for each in found.phases} == outermost
    assert found.seconds.median > 0
    assert found.seconds.low <= found.seconds.median <= found.seconds.high


def test_fewer_ranks_than_saturate_are_named_with_what_more_would_move() -> None:
    """Each rank is as fast beside another one: two move twice as much together."""
    steps = [phase("p", {"create": "f"}, moving("write", MIB, 64 * MIB), {"close": "f"})]
    (text,) = predicted(steps, OWN).unsaturated
    assert text.startswith("p: 2 ranks do 2 times as many")
    assert predicted(steps, OWN, ranks=2).unsaturated == []
    taking_turns = machine(
        data("write", lambda size, ranks: NEW * size * ranks, "new"),
        *(curve(name, lambda size, ranks: 1e-9) for name in ("create", "close")),
    )
    assert predicted(steps, OWN, taking_turns).unsaturated == []


@pytest.mark.parametrize(("has_journal", "known"), [(True, True), (None, True), (False, False)])
def test_making_names_on_ext4_without_a_journal_cannot_be_known(
    has_journal: bool | None, known: bool
) -> None:
    """What was removed there before decides, and no profile sees that."""
    steps = [phase("p", {"create": "f"}, {"stat": "f"}, {"close": "f"})]
    found = predicted(steps, OWN, here(has_journal=has_journal))
    assert (found.unknown == []) is known
    if not known:
        (text,) = found.unknown
        assert text.startswith("create ")
        assert "no journal" in text


def test_an_interval_holds_what_runs_of_another_hour_differ_by() -> None:
    steps = [phase("p", {"create": "f"}, moving("write", MIB, 64 * MIB), {"close": "f"})]
    seconds = predicted(steps, OWN).seconds
    assert seconds.high / seconds.median == pytest.approx(1.1 * 1.45, rel=0.02)
    assert seconds.low / seconds.median == pytest.approx(0.9 / 1.45, rel=0.02)


@pytest.mark.parametrize(("together", "rate"), [(True, 3e-9), (False, 1e-9)])
def test_calls_of_all_ranks_together_have_a_curve_of_their_own(together: bool, rate: float) -> None:
    access = {"place": FileSharing.SHARED, "interface": Interface.MPIIO}
    on = machine(
        data("write", lambda size, ranks: 1e-9 * size, "new", access=access),
        data(
            "write", lambda size, ranks: 3e-9 * size, "new", access={**access, "collective": True}
        ),
    )
    files = {"f": {"path": "f", "shared": "all", "interface": "mpiio"}}
    step = moving("write", MIB, 4 * MIB, collective=together)
    found = predicted([phase("p", step)], files, on, ranks=2)
    writes = [part for part in found.phases[0].parts if part.operation == "write"]
    assert writes[0].seconds.median == pytest.approx(rate * MIB * writes[0].count)
    assert ("collective" in writes[0].by) == together


@pytest.mark.parametrize(
    ("split", "together", "count", "size"),
    [
        ([1, 2], False, 1000, 32),
        ([2, 1], False, 1, 32_000),
        ([1, 2], True, 1, 32_000),
    ],
)
def test_a_part_of_a_dataset_costs_as_many_requests_as_it_has_pieces(
    split: list[int], together: bool, count: int, size: int
) -> None:
    """Both MPIs were seen to make 1000 writes of a rank of such a call, and 1 of the other."""
    access = {"place": FileSharing.SHARED, "interface": Interface.HDF5}
    piece = {**access, "interface": Interface.MPIIO, "order": Order.STRIDED}
    joined = {**access, "collective": True, "order": Order.STRIDED}
    on = machine(
        data("write", lambda size, ranks: 1e-3, "new", access=access),
        data("write", lambda size, ranks: 2e-6, "new", access=piece),
        data("write", lambda size, ranks: 5e-3, "new", access=joined),
    )
    field = {"type": "i8", "shape": [1000, 64], "split": split}
    files = {"f": {"path": "f", "interface": "hdf5", "datasets": {"d": field}}}
    step = {"write": {"to": "f.d", "collective": together}}
    found = predicted([phase("p", step)], files, on, ranks=2)
    (part,) = (part for part in found.phases[0].parts if part.operation == "write")
    each_s = 5e-3 if together else 2e-6 if count > 1 else 1e-3
    assert (part.count, part.bytes) == (count, size)
    assert part.seconds.median == pytest.approx(each_s * count)


COPIED = OWN | {"g": {"path": "g", "shared": "rank"}}
ITEM = {"order": Order.ITEM}
SHARE, KERNEL = 1e-5, 2e-10


@pytest.mark.parametrize(
    ("way", "measured", "each_s"),
    [
        ("clone", {"clone": lambda size, ranks: SHARE, "copy": lambda size, ranks: 1.0}, SHARE),
        ("clone", {"copy": lambda size, ranks: CALL + KERNEL * size}, CALL + KERNEL * 4 * MIB),
        ("send", {"clone": lambda size, ranks: SHARE,
                  "copy": lambda size, ranks: CALL + KERNEL * size}, CALL + KERNEL * 4 * MIB),
        ("clone", {}, 2 * CALL + (CACHED + NEW) * 4 * MIB),
    ],
)  # fmt: skip
def test_a_copy_is_what_the_storage_was_seen_to_make_of_it(
    way: str, measured: dict[str, Any], each_s: float
) -> None:
    on = here()
    assert on.profile is not None
    curves = [data(name, law, "cached", access=ITEM) for name, law in measured.items()]
    profile = on.profile.model_copy(update={"curves": [*on.profile.curves, *curves]})
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 4 * MIB), {"close": "f"}),
        phase("copy", {"copy": {"from": "f", "to": "g", "by": way}}),
    ]
    found = predicted(steps, COPIED, on.model_copy(update={"profile": profile}))
    assert times(found)["copy"] == pytest.approx(each_s + 4 * CALL, rel=1e-6)


def test_what_is_copied_cold_comes_from_the_device_first() -> None:
    on = here()
    assert on.profile is not None
    copies = data("copy", lambda size, ranks: CALL + KERNEL * size, "cached", access=ITEM)
    profile = on.profile.model_copy(update={"curves": [*on.profile.curves, copies]})
    steps = [
        phase("write", {"create": "f"}, moving("write", MIB, 4 * MIB), {"close": "f"}),
        phase("copy", {"copy": {"from": "f", "to": "g"}}, cache="drop"),
    ]
    found = predicted(steps, COPIED, on.model_copy(update={"profile": profile}))
    each = 2 * CALL + (COLD + KERNEL) * 4 * MIB + 4 * CALL
    assert times(found)["copy"] == pytest.approx(each, rel=1e-6)


def test_a_library_takes_its_own_time_for_names() -> None:
    files = {"f": {"path": "f", "shared": "rank", "interface": "stdio"}}
    on = here()
    assert on.profile is not None
    made = curve("create", lambda size, ranks: 0.5, sizes=(0,), interface=Interface.STDIO)
    profile = on.profile.model_copy(update={"curves": [*on.profile.curves, made]})
    steps = [phase("p", {"create": "f"}, {"close": "f"}, {"unlink": "f"})]
    found = predicted(steps, files, on.model_copy(update={"profile": profile}))
    assert times(found)["p"] == pytest.approx(0.5 + 2 * CALL)
    assert [text.partition(" is")[0] for text in found.assumed] == ["'close of items own stdio'"]


STAGED = {"f": {"path": "f", "shared": "rank", "prestage": 4 * MIB}}


def test_what_is_read_in_parts_is_cold_once_and_then_warm() -> None:
    nobody = [{"open": "f"}, moving("read", MIB, MIB), {"close": "f"}]
    drop = phase("forget", {"when": "rank < 0", "do": nobody}, cache="drop")
    parts = {"for": "i", "in": 4, "do": [moving("read", MIB, MIB, at="i * 1048576")]}
    first = phase("first", {"open": "f"}, parts, {"close": "f"})
    again = phase("again", {"open": "f"}, parts, {"close": "f"})
    found = times(predicted([drop, first, again], STAGED))
    behind = 3 * (CALL + COLD * MIB)
    assert found["first"] == pytest.approx(2 * CALL + SEEK + COLD * MIB + behind)
    assert found["again"] == pytest.approx(2 * CALL + 4 * (CALL + CACHED * MIB))


@pytest.mark.parametrize("is_cold", [True, False])
def test_a_small_file_comes_from_the_device_by_windows(is_cold: bool) -> None:
    files = {"f": {"path": "f{i}", "shared": "rank", "prestage": 32768}}
    once = {"open": "f"}, moving("read", 8192, 32768), {"close": "f"}
    loop = {"for": "i", "in": 100, "do": list(once)}
    drop = {"for": "i", "in": 100, "do": [{"when": "rank < 0", "do": list(once)}]}
    steps = [*([phase("forget", drop, cache="drop")] if is_cold else []), phase("read", loop)]
    item = {"order": Order.ITEM}
    on = machine(
        data("read", lambda size, ranks: CALL + CACHED * size, "cached"),
        data("read", lambda size, ranks: SEEK + COLD * size, "cold", access=item),
        *(curve(name, lambda size, ranks: CALL, sizes=(0,)) for name in ("open", "close")),
    )
    cold = 2 * (SEEK + COLD * 16384)
    warm = 4 * (CALL + CACHED * 8192)
    found = times(predicted(steps, files, on))
    assert found["read"] == pytest.approx(100 * (2 * CALL + (cold if is_cold else warm)))


def test_turns_that_differ_are_all_counted() -> None:
    turns = {
        "for": "i",
        "in": 300,
        "do": [
            {"write": {"to": "f", "transfer": 4096, "size": "4096 * (i // 100)"}},
            {"when": "i == 177", "do": [moving("write", MIB, MIB)]},
        ],
    }
    found = predicted([phase("write", {"create": "f"}, turns)], OWN)
    counts = Counter[tuple[str, int]]()
    for part in found.phases[0].parts:
        counts[part.operation, part.bytes] += part.count
    assert counts == {("create", 0): 1, ("write", 4096): 300, ("write", MIB): 1}


def test_a_rank_that_acts_alone_has_nobody_in_its_way() -> None:
    on = machine(
        data("write", lambda size, ranks: ranks * NEW * size, "new"),
        *(curve(name, lambda size, ranks: CALL, sizes=(0,)) for name in ("create", "close")),
    )
    write = {"create": "f"}, moving("write", MIB, MIB), {"close": "f"}
    steps = [phase("all", *write), phase("one", {"when": "rank == 0", "do": list(write)})]
    found = times(predicted(steps, OWN, on, ranks=2))
    assert found["all"] == pytest.approx(2 * CALL + 2 * NEW * MIB)
    assert found["one"] == pytest.approx(2 * CALL + NEW * MIB)


@pytest.mark.parametrize("interface", ["hdf5", "uring", "posix"])
def test_an_interface_that_was_not_measured_cannot_be_known(interface: str) -> None:
    files = {"f": {"path": "f", "shared": "rank", "interface": interface}}
    steps = [phase("write", {"create": "f"}, moving("write", MIB, MIB), {"close": "f"})]
    unknown = predicted(steps, files).unknown
    assert len(unknown) == (interface != "posix")
    assert all(f"no calls through {interface} were measured" in word for word in unknown)


@pytest.mark.parametrize(
    ("taken", "ranks", "slower"), [(None, 2, 1.0), (0.5, 1, 1.0), (0.5, 2, 2.0), (0.9, 1, 5.0)]
)
def test_what_others_took_from_a_profile_is_said_and_in_the_interval(
    taken: float | None, ranks: int, slower: float
) -> None:
    steps = [phase("write", {"create": "f"}, moving("write", MIB, MIB), {"close": "f"})]
    quiet = predicted(steps, OWN, here(), ranks=ranks)
    busy = predicted(steps, OWN, here(others_share=taken), ranks=ranks)
    assert busy.seconds.median == quiet.seconds.median
    most = quiet.seconds.median * slower if slower > 1 else quiet.seconds.high / SESSION
    assert busy.seconds.high == pytest.approx(most * SESSION)
    least = quiet.seconds.median / slower if slower > 1 else quiet.seconds.low * SESSION
    assert busy.seconds.low == pytest.approx(least / SESSION)
    assert any("of the processors" in word for word in busy.assumed) == (slower > 1)


def test_few_bytes_need_a_new_page_only_as_often_as_they_fill_one() -> None:
    steps = [phase("write", {"create": "f"}, moving("write", 4, 4096))]
    page, call = CALL + NEW * 512, CALL + NEW * 512 / 2
    small = 1024 * (page * 4 / 512 + call * 508 / 512)
    assert times(predicted(steps, OWN))["write"] == pytest.approx(small + CALL)


def test_only_pages_that_were_given_back_are_in_the_processors_caches() -> None:
    small = {"order": Order.SEQUENTIAL, "place": FileSharing.OWN, "volume": Volume.SMALL}
    on = machine(
        data("write", lambda size, ranks: NEW * size, "new"),
        curve("write", lambda size, ranks: NEW * size / 4, state=DataState.NEW, **small),
        *(curve(name, lambda size, ranks: CALL, sizes=(0,)) for name in ("create", "close",
                                                                         "unlink")),
    )  # fmt: skip
    write = {"create": "f"}, moving("write", MIB, MIB), {"close": "f"}
    steps = [phase("first", *write), phase("second", *write)]
    found = times(predicted(steps, OWN, on))
    assert found["first"] == pytest.approx(2 * CALL + NEW * MIB)
    assert found["second"] == pytest.approx(2 * CALL + NEW * MIB / 4)


PACES_S = (1e-7, 1e-5, 1e-3)


def paced() -> Machine:
    """A call takes 1, 2 and 4 us longer or nothing, by what is computed before it."""
    plain = here()
    assert plain.profile is not None
    curves = [
        data("write", lambda size, ranks, more=more: 5 * CALL + more * CALL, "new",
             ranks=(1,), sizes=(512, 65536), access={"think_s": think_s})
        for more, think_s in zip((0, 1, 3), PACES_S, strict=True)
    ]  # fmt: skip
    curves += [
        curve("stat", lambda size, ranks, more=more: more * CALL, ranks=(1,), sizes=(0,),
              think_s=think_s)
        for more, think_s in zip((1, 2, 4), PACES_S, strict=True)
    ]  # fmt: skip
    return machine(*plain.profile.curves, *curves)


@pytest.mark.parametrize(
    ("think", "more"), [("0 s", 0), ("100 ns", 0), ("1 us", 0.5), ("10 us", 1), ("100 us", 2),
                        ("1 ms", 3), ("1 s", 3)],
)  # fmt: skip
def test_a_call_after_computing_takes_longer(think: str, more: float) -> None:
    write = moving("write", 4096, 32 * MIB, think=think)
    found = times(predicted([phase("write", {"create": "f"}, write)], OWN, paced()))
    calls = 32 * MIB // 4096
    expected = calls * (CALL + NEW * 4096 + more * CALL) + CALL
    assert found["write"] == pytest.approx(expected)


def test_computing_before_a_name_counts_for_that_call_only() -> None:
    stat = {"stat": "f"}
    steps = [
        phase("make", {"create": "f"}),
        phase("plain", stat, stat),
        phase("paced", {"compute": "1 ms"}, stat, stat),
    ]
    found = times(predicted(steps, OWN, paced()))
    assert found["plain"] == pytest.approx(2 * CALL)
    assert found["paced"] == pytest.approx(5 * CALL)


def test_computing_uses_up_the_caches_that_small_volumes_stay_in() -> None:
    def small(think: str) -> float:
        steps = [
            phase("make", {"create": "f"}, moving("write", 4096, MIB)),
            phase("over", moving("write", 4096, MIB, think=think)),
        ]
        quick = data(
            "write", lambda size, ranks: CALL / 2, "cached", access={"volume": Volume.SMALL}
        )
        plain = here()
        assert plain.profile is not None
        return times(predicted(steps, OWN, machine(*plain.profile.curves, quick)))["over"]

    assert small("0 s") == pytest.approx(256 * CALL / 2)
    assert small("1 ms") == pytest.approx(256 * (CALL + NEW * 4096 / 2))


def chunked(cache: str, chunks: list[int]) -> dict[str, Any]:
    dataset = {"shape": [1024, 1024], "split": [1, 1], "chunks": chunks}
    file = {"path": "f", "interface": "hdf5", "options": {"chunk_cache": cache}}
    return {"f": {**file, "shared": "rank", "datasets": {"d": dataset}}}


@pytest.mark.parametrize(
    ("cache", "times_copied"), [("8 MiB", 1), ("128 KiB", 1), ("64 KiB", 0)]
)  # fmt: skip
def test_chunks_that_a_library_keeps_are_copied_once_more(cache: str, times_copied: int) -> None:
    steps = [
        phase("make", {"create": "f"}),
        phase("write", {"write": {"to": "f.d", "transfer": MIB}}, {"close": "f"}),
    ]
    found = times(predicted(steps, chunked(cache, [128, 128])))
    copied = times_copied * (CALL + CACHED * MIB)
    assert found["write"] == pytest.approx(8 * (CALL + NEW * MIB + copied) + CALL)


def test_chunks_that_ranks_share_are_filled_as_they_are_made() -> None:
    dataset = {"shape": [2048, 1024], "split": [2, 1], "chunks": [1024, 1024]}
    files = {"f": {"path": "f", "interface": "hdf5", "datasets": {"d": dataset}}}
    steps = [
        phase("make", {"create": "f"}),
        phase("write", {"write": {"to": "f.d"}}, {"close": "f"}),
    ]
    found = times(predicted(steps, files, ranks=2))
    whole = 8 * MIB
    assert found["make"] == pytest.approx(CALL + NEW * whole + CALL)
    assert found["write"] == pytest.approx(CALL + NEW * whole / 2 + CALL)


def test_seeks_have_their_price() -> None:
    seeks = curve("seek", lambda size, ranks: 2 * CALL, ranks=(1,), sizes=(0,))
    plain = here()
    assert plain.profile is not None
    steps = [
        phase("write", {"create": "f"}, moving("write", 4096, 32 * MIB)),
        phase("read", moving("read", 4096, 32 * MIB, seeks=0.5)),
    ]
    found = times(predicted(steps, OWN, machine(*plain.profile.curves, seeks)))
    calls = 32 * MIB // 4096
    assert found["read"] == pytest.approx(calls * (CALL + CACHED * 4096 + CALL), rel=1e-3)
