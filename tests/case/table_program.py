"""Random programs whose calls are the rows of a table."""

from __future__ import annotations

import json
import random
from typing import Any

from venturi.model.row_table import RowTable
from venturi.model.workload import Workload

Rows = list[tuple[int, int, int, int, int, int]]
NAMES = ("step", "file", "at", "size", "before_ns", "length")
BODY: list[dict[str, Any]] = [
    {"create": "made"},
    {"open": "made"},
    {"open": "there"},
    {"write": {"to": "made", "at": "at", "size": "size"}},
    {"read": {"from": "there", "at": "at", "size": "size"}},
    {"sync": {"on": "made"}},
    {"close": "made"},
    {"close": "there"},
    {"write": {"to": "made", "pattern": "sequential", "size": "size"}},
    {"read": {"from": "there", "pattern": "sequential", "at": "at", "size": "size"}},
]
OPENS, THERE = (0, 1, 2), (2, 4, 7, 9)
"""Steps that open a file, and those on one that was there before."""
WRITES, READS, GOES_ON = (3, 8), (4, 9), 8
VERBS = ("create", "open", "open", "write", "read", "sync", "close", "close", "write", "read")


def random_rows(seed: int, calls: int = 60) -> Rows:
    """Calls that can be made: step, file, at, size, computing before, length of the file."""
    chance = random.Random(seed)
    opened: set[tuple[str, int]] = set()
    made: set[int] = set()
    length = {file: chance.randint(1, 99_999) for file in range(4)}
    rows: Rows = []

    def add(step: int, file: int, at: int = 0, size: int = 0) -> None:
        rows.append((step, file, at, size, chance.randint(0, 9000), length[file] * (step == 2)))

    def add_requests(file: int, at_place: int, at_position: int) -> None:
        """One, or some with nothing between them, which differ in size and place alone."""
        step = chance.choice([at_place, at_position])
        for number in range(chance.choice([1, 1, 2, 3, 40])):
            at = chance.randrange(length[file])
            add(step, file, 0 if step == 8 else at, chance.randint(1, length[file] - at))
            if number:
                rows[-1] = (*rows[-1][:4], 0, rows[-1][5])

    while len(rows) < calls:
        file, what = chance.randrange(4), chance.choice(["made", "there"])
        if (what, file) not in opened:
            opened.add((what, file))
            add(2 if what == "there" else int(file in made), file)
            made |= {file} if what == "made" else set()
        elif chance.random() < 0.2:
            opened.discard((what, file))
            add(7 if what == "there" else 6, file)
        elif chance.random() < 0.2 and what == "made":
            add(5, file)
        else:
            add_requests(file, *((3, 8) if what == "made" else (4, 9)))
    for what, file in sorted(opened):
        add(7 if what == "there" else 6, file)
    return rows


def places(rows: Rows) -> list[int | None]:
    """Where the request of each row begins; of other rows None."""
    position: dict[tuple[bool, int], int] = {}
    found: list[int | None] = []
    for step, number, at, size, _, _ in rows:
        file = (step in THERE, number)
        if step in OPENS:
            position[file] = 0
        place = position[file] if step == GOES_ON else at
        if step == GOES_ON:
            position[file] += size
        found.append(place if step in (*WRITES, *READS) else None)
    return found


def rows_of_ranks(seed: int, ranks: int) -> list[Rows]:
    """Calls of each rank, on files of its own; of one rank none."""
    chance = random.Random(seed)
    idle = chance.randrange(ranks)
    found: list[Rows] = []
    for rank in range(ranks):
        calls = 0 if rank == idle else chance.randint(1, 60)
        rows = random_rows(seed * ranks + rank, calls) if calls else []
        found.append([(row[0], row[1] + 4 * rank, *row[2:]) for row in rows])
    return found


def workload_of_ranks(parts: list[Rows]) -> Workload:
    """A program in which each rank takes the rows that are its own."""
    rows = [row for part in parts for row in part]
    ranks = [rank for rank, part in enumerate(parts) for _ in part]
    columns = {"rank": ranks, **dict(zip(NAMES, zip(*rows, strict=True), strict=True))}
    workload = workload_of(rows)
    data = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data["files"]["there"] |= {"shared": "all", "prestage": "(length + ranks - 1) // ranks"}
    loop = data["program"]["g"][0]["do"][0]["do"]
    loop[1]["choose"]["of"][4]["read"]["apart"] = False
    data["groups"] = {"g": {"ranks": len(parts)}}
    return Workload.model_validate_json(
        json.dumps(data | {"tables": {"calls": RowTable.of(columns).to_data()}})
    )


def workload_of(rows: Rows, **more: Any) -> Workload:
    table = RowTable.of(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    files = {
        "made": {"path": "made_{file}", "shared": "rank"},
        "there": {"path": "there_{file}", "shared": "rank", "prestage": "length"},
    }
    loop = [
        {"compute": {"seconds": "before_ns / 1e9", "mode": "spin"}},
        {"choose": {"by": "step", "of": BODY}},
    ]
    data = {
        "workload": 1,
        "name": "table",
        "files": files,
        "tables": {"calls": table.to_data()},
        "program": {"g": [{"phase": "p", "do": [{"for": "calls", "do": loop}]}]},
        **more,
    }
    return Workload.model_validate_json(json.dumps(data))
