"""Outputs of other tools that somebody changed: taken in or refused in a sentence, at random."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.elbencho_output import MKDIRS, READ, WRITE, csv_text, json_text
from venturi.importers.import_path import ImportRequest, import_path
from venturi.model.error import UserError
from venturi.store.archive import verify

HERE = Path(__file__).parent
TIMES = 60
OTHERS: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    [],
    [1],
    {},
    {"a": 1},
    [[]],
    [None],
)


def documents() -> dict[str, Any]:
    """What tools wrote as JSON, by the tool."""
    report = {
        "session_info": {"version": "4.6", "time_start": "2026-11-01T10:00:00+0100"},
        "runs": [
            {
                "testcases": [
                    {
                        "name": "stream %n=1",
                        "system": "alpha",
                        "environment": "gnu",
                        "nodelist": ["n1"],
                        "result": "pass",
                        "perfvalues": {"alpha:default:copy": [1.5, 0, None, None, "GB/s", "pass"]},
                    }
                ]
            }
        ],
    }
    return {
        "ior": json.loads((HERE.parent / "compat/real/ior_json_file.json").read_text()),
        "fio": json.loads((HERE / "real/fio.json").read_text()),
        "hyperfine": json.loads((HERE / "real/hyperfine.json").read_text()),
        "reframe": report,
        "elbencho": json.loads(json_text(MKDIRS, WRITE, READ).splitlines()[-1]),
    }


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container in a document, with each of its keys or indices."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in pairs:
        yield value, key
        if isinstance(part, dict | list):
            yield from places(part)


def damaged(document: Any, chance: random.Random) -> Any:
    """A copy in which one to three places are gone or hold something else."""
    changed = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        found = list(places(changed))
        if not found:
            break
        holder, key = chance.choice(found)
        if chance.random() < 0.5:
            del holder[key]
        else:
            holder[key] = chance.choice(OTHERS)
    return changed


def outcome(store: Path, path: Path) -> str:
    """Why a file is refused; empty where it is taken in, and then what the store has is whole."""
    try:
        taken = import_path(store, path, ImportRequest("vm"))
    except UserError as error:
        return error.message
    assert not taken or all(faults == [] for _, faults in verify(store, [])), path.read_text()
    return ""


@pytest.mark.parametrize("tool", documents())
def test_what_is_damaged_is_taken_in_or_refused(tool: str, tmp_path: Path) -> None:
    chance = random.Random(f"{tool} 1")
    original, refused = documents()[tool], 0
    for number in range(TIMES):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(damaged(original, chance)))
        message = outcome(tmp_path / f"store{number}", path)
        assert not message or (str(path) in message and "Error" not in message), message
        refused += bool(message)
    assert 0 < refused < TIMES


@pytest.mark.parametrize("form", [json_text, csv_text])
def test_what_is_cut_is_taken_in_or_refused(form: Callable[..., str], tmp_path: Path) -> None:
    chance = random.Random(f"{form.__name__} 2")
    text = form(MKDIRS, WRITE, READ)
    for number in range(TIMES):
        path = tmp_path / f"{number}.out"
        path.write_text(text[: chance.randint(0, len(text))])
        message = outcome(tmp_path / f"store{number}", path)
        assert not message or (str(path) in message and "Error" not in message), message
