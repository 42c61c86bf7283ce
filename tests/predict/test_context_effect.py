"""Forecasts of calls that are no plain loop: off pages, in turn, through much memory."""

from __future__ import annotations

from typing import Any

import pytest

from profile_factory import curve, data, machine
from venturi.model.document import parse_data
from venturi.model.machine import Machine
from venturi.model.profile import ContextEffect
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.predict.on_machine import forecast

CALL = 1e-6
MIB = 2**20
EXTRAS = {
    ContextEffect.OFF_PAGE: 1,
    ContextEffect.IN_TURN: 2,
    ContextEffect.MEMORY: 4,
    ContextEffect.FRESH: 8,
}
"""By how many calls each takes longer than a plain loop."""
MOVES = (("write", "new"), ("write", "cached"), ("read", "cached"))
PLAIN = [
    *(data(operation, lambda size, ranks: CALL, state) for operation, state in MOVES),
    *(curve(name, lambda size, ranks: CALL, sizes=(0,)) for name in ("create", "open", "close")),
    *(
        data(
            "write",
            lambda size, ranks, more=more: (3 + more) * CALL,
            "new",
            ranks=(1,),
            access={"think_s": think_s},
        )
        for more, think_s in ((0, 1e-7), (3, 1e-4))
    ),
]
FILES = {name: {"path": name, "shared": "rank"} for name in ("f", "g")}


def with_context_effects() -> Machine:
    """The extras are those of the least repetition, which is 0.9 of the median."""
    curves = [
        data(
            operation,
            lambda size, ranks, more=more: 10 * CALL + more * CALL / 0.9,
            state,
            ranks=(1,),
            sizes=(8192, 65536),
            access={"context_effect": context_effect},
        )
        for operation, state in MOVES
        for context_effect, more in {ContextEffect.PLAIN: 0, **EXTRAS}.items()
    ]
    return machine(*PLAIN, *curves)


def last_s(on: Machine, *steps: dict[str, Any]) -> float:
    """I/O time of the last phase, in which these steps are."""
    made = {
        "phase": "make",
        "do": [
            {"create": "f"},
            {"create": "g"},
            {"write": {"to": "f", "transfer": MIB, "size": 64 * MIB}},
            {"close": "f"},
            {"close": "g"},
        ],
    }
    opened = [{"open": "f"}, {"open": "g"}]
    workload = parse_data(
        Workload,
        {
            "workload": 1,
            "name": "w",
            "groups": {"g": {"ranks": 1}},
            "files": FILES,
            "program": {"g": [made, {"phase": "last", "do": [*opened, *steps]}]},
        },
    )
    return forecast(make_plan(workload, RunSettings()), on, "", False).phases[-1].seconds.median


def more_calls(*steps: dict[str, Any]) -> float:
    """By how many calls a machine with habits measured is predicted to take longer."""
    return (last_s(with_context_effects(), *steps) - last_s(machine(*PLAIN), *steps)) / CALL


@pytest.mark.parametrize(
    ("size", "more", "calls"),
    [
        (8192, {}, 0),
        (8000, {}, 1),
        (8192, {"at": 100}, 1),
        (1000, {}, 0),
        (8192, {"memory": "64 KiB"}, 0),
        (8192, {"memory": "16 MiB"}, 4),
        (8192, {"memory": "4 MiB"}, 2),
        (8000, {"memory": "1 GiB"}, 5),
        (8192, {"memory": "16 MiB", "fresh": 0.5}, 6),
    ],
)
def test_context_effects_make_each_call_longer(
    size: int, more: dict[str, Any], calls: float
) -> None:
    read = {"read": {"from": "f", "transfer": size, "size": 100 * size, **more}}
    assert more_calls(read) == pytest.approx(100 * calls, abs=1e-6)


def test_the_first_request_after_another_files_takes_longer() -> None:
    one = {"write": {"to": "f", "size": 8192, "at": "8192 * i"}}
    two = {"write": {"to": "g", "transfer": 8192, "size": 16384, "at": "16384 * i"}}
    turns = {"for": "i", "in": 100, "do": [one, two]}
    # Of three requests the one of f and the first of g, but for the very first.
    assert more_calls(turns) == pytest.approx(2 * 199)
    assert more_calls({"for": "i", "in": 100, "do": [one, one]}) == pytest.approx(0, abs=1e-6)


def test_computing_and_turns_displace_the_same() -> None:
    one = {"write": {"to": "f", "size": 8192, "at": "8192 * i"}}
    two = {"write": {"to": "g", "size": 8192, "at": "8192 * i", "think": "100 us"}}
    turns = {"for": "i", "in": 100, "do": [one, two]}
    # Computing adds 3 calls to each write of g, turns 2 to each of both: the larger one counts.
    assert more_calls(turns) == pytest.approx(2 * 99)


def test_the_fill_of_chunks_that_ranks_share_lies_in_memory_without_pages() -> None:
    dataset = {"shape": [2048, 1024], "split": [2, 1], "chunks": [1024, 1024]}
    file = {"path": "f", "interface": "hdf5", "datasets": {"d": dataset}}

    def created_s(on: Machine) -> float:
        workload = parse_data(
            Workload,
            {
                "workload": 1,
                "name": "w",
                "groups": {"g": {"ranks": 2}},
                "files": {"f": file},
                "program": {"g": [{"phase": "make", "do": [{"create": "f"}]}]},
            },
        )
        return forecast(make_plan(workload, RunSettings()), on, "", False).seconds.median

    assert created_s(with_context_effects()) - created_s(machine(*PLAIN)) == pytest.approx(8 * CALL)


def test_no_context_effect_is_known_from_a_profile_without_them() -> None:
    read = {"read": {"from": "f", "transfer": 8000, "size": 800000, "memory": "16 MiB"}}
    assert last_s(machine(*PLAIN), read) == pytest.approx(102 * CALL)
