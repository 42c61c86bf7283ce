"""Whatever stands in a document is used, noted or refused: a key that nobody knows is one sentence.

A key is planted somewhere in each kind of document: in any mapping, at any depth, as a key whose
value is a word, a number, or a mapping.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from venturi import library
from venturi.analyse.metric import check_metrics
from venturi.campaign.estimate import estimate_of
from venturi.campaign.session import CampaignRequest, planned
from venturi.campaign.task import unused_parameters
from venturi.execute.launcher import machine_named
from venturi.model.error import ExitCode, UserError
from venturi.model.workload import Workload
from venturi.model.yaml_text import load_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings

PLANTED = "qqx_planted"
EXAMPLES = Path(__file__).parents[2] / "examples"
MACHINE = {
    "schema": "venturi.machine/2",
    "name": "cluster",
    "launcher": {"mpi": "openmpi", "command": ["mpirun", "-n", "{ranks}"]},
    "scheduler": {"kind": "slurm", "queue": "batch", "options": ["--exclusive"]},
    "notices": {"mail": {"to": ["a@b.example"]}, "on": []},
    "targets": [{"name": "scratch", "path": "/scratch", "most_files": 10}],
    "bounds": [{"operation": "write", "bytes_per_second": 1e9}],
}
CAMPAIGN = {
    "campaign": 1,
    "name": "planted",
    "space": {
        "product": {"size": ["1 MiB", "2 MiB"]},
        "zip": [{"a": [1, 2], "b": [3, 4]}],
        "sample": {"size": 2},
    },
    "steps": {
        "run": {
            "workload": "ior",
            "set": {"block": "{size}", "interface": "simulated"},
            "ranks": "a + b",
            "thresholds": {"write": {"at_least": "1 B/s"}},
        },
        "own": {
            "command": "echo {size}",
            "metrics": {"m": {"regex": "([0-9]+)", "unit": "s"}},
            "thresholds": {"m": {"at_most": 5}},
        },
    },
    "tables": {"t": {"step": "run", "columns": [{"of": "size"}]}},
}
LEGITIMATE = {
    ("steps", "run", "environment"),
    ("steps", "own", "environment"),
    ("software",),
    ("hints",),
}
"""Mappings of names that the document itself introduces and that reach somebody else."""


def mappings(
    data: Any, place: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    if isinstance(data, dict):
        yield place, data
        for key, value in data.items():
            yield from mappings(value, (*place, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from mappings(value, (*place, index))


def planted(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The document with one more key in one of its mappings."""
    copy: dict[str, Any] = json.loads(json.dumps(document))
    # What options an interface has only the engine knows, which says so when a run starts.
    places = [
        (place, found)
        for place, found in mappings(copy)
        if place not in LEGITIMATE and place[-1:] != ("options",)
    ]
    # Deep places as often as shallow ones.
    depth = chance.choice(sorted({len(place) for place, _ in places}))
    _, found = chance.choice([one for one in places if len(one[0]) == depth])
    found[PLANTED] = chance.choice([1, "word", {"inner": 1}, [1], True])
    return copy


def check(document: dict[str, Any], use: Callable[[Path], list[str]], folder: Path) -> None:
    """Refused in one sentence with a place, or noted by name."""
    file = folder / "document.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    try:
        notes = use(file)
    except UserError as error:
        told = error
    else:
        assert any(PLANTED in note for note in notes), file.read_text()
        return
    assert told.exit_code is ExitCode.USAGE
    assert PLANTED in told.message, told.message
    assert "\n" not in told.message
    where = re.match(r"(.*?): ", told.message)
    assert where is not None, told.message


def use_workload(file: Path) -> list[str]:
    workload = load_yaml(file, Workload)
    made = make_plan(workload, RunSettings())
    check_metrics(workload, made.totals.phases, made.totals.bytes_by_phase)
    return made.warnings


def use_campaign(file: Path) -> list[str]:
    request = CampaignRequest(
        file=file, directory=file.parent, store=file.parent / "store", machine="local"
    )
    made = planned(request, file.with_suffix(".campaign"))
    campaign, tasks, points = made.campaign, made.tasks, made.points
    estimate_of(campaign, tasks, points, file.parent)
    return unused_parameters(campaign)


def use_machine(file: Path) -> list[str]:
    machine_named(str(file))
    return []


@pytest.mark.parametrize("seed", range(120))
def test_of_a_workload(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    name = chance.choice(library.names())
    document = load_data(library.text_of(name))
    check(planted(document, chance), use_workload, tmp_path)


@pytest.mark.parametrize("seed", range(60))
def test_of_a_campaign(tmp_path: Path, seed: int) -> None:
    check(planted(CAMPAIGN, random.Random(seed)), use_campaign, tmp_path)


@pytest.mark.parametrize("seed", range(40))
def test_of_a_machine(tmp_path: Path, seed: int) -> None:
    check(planted(MACHINE, random.Random(seed)), use_machine, tmp_path)


def load_data(text: str) -> dict[str, Any]:
    """A workload's text as plain data, without what nobody wrote."""
    from venturi.model.yaml_text import parse_yaml

    workload = parse_yaml(text, "w", Workload)
    data: dict[str, Any] = workload.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return data


def test_documents_without_a_planted_key_are_fine(tmp_path: Path) -> None:
    for document, use in ((CAMPAIGN, use_campaign), (MACHINE, use_machine)):
        file = tmp_path / "fine.yaml"
        file.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        assert use(file) == []
    for name in library.names():
        made = make_plan(library.load(name), RunSettings())
        assert not [note for note in made.warnings if "nothing in the workload uses it" in note]
