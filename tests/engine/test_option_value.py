"""What the planner and the engine take as the value of an option is the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from engine.running import Engine
from venturi.model.error import UserError
from venturi.model.interface_entry import InterfaceOption
from venturi.model.kernel import KERNELS
from venturi.model.plan import Interface, Option
from venturi.model.workload import Workload
from venturi.plan.make import make_plan
from venturi.plan.option import check_option
from venturi.plan.setting import RunSettings

UNITS = ["", "", "B", "KiB", " MiB", "GiB", " TiB", "kB", "KB", "MB", "mib", "s"]
WORDS = ["", "true", "false", "True", "yes", "1e3", "1_000", "+5", " 5", "5 ", "inf", "nan", "0x10"]
BUILT = ("posix", "uring", "mmap", "stdio", "hdf5", "bundle", "null", "simulated", "s3")
"""Interfaces that are in each engine of the tests, without MPI."""


def owners() -> list[tuple[str, bool, InterfaceOption]]:
    """Each option: whose it is, and whether that is a kernel."""
    interfaces = [one for one in Interface if one.value in BUILT]
    of_interfaces = [
        (one.value, False, option) for one in interfaces for option in one.entry.options
    ]
    kernels = {
        name: entry
        for name, entry in KERNELS.items()
        if not entry.needs_mpi and entry.least_ranks == 1
    }
    return of_interfaces + [
        (name, True, o) for name, entry in kernels.items() for o in entry.options
    ]


def drawn_value(chance: random.Random, option: InterfaceOption) -> str:
    """Often one at a bound, or a number with a unit; sometimes nothing of the kind."""
    if chance.random() < 0.2:
        return chance.choice(WORDS)
    if option.type == "word":
        return chance.choice([*option.range.split("|"), option.range, "none"])
    bounds = [option.least, option.most if option.most < 2**60 else 2**60]
    number = chance.choice([*bounds, chance.uniform(*bounds), 10 ** chance.uniform(-3, 20)])
    number += chance.choice([0, 0, 1, -1, 0.5])
    whole = chance.random() < 0.8
    return f"{round(number) if whole else number}{chance.choice(UNITS)}"


class Refusals:
    """Plans of one file, and of one kernel, and what the engine says of their options."""

    def __init__(self, engine: Engine, place: Path) -> None:
        self.engine = engine
        self.plan = make_plan(
            Workload.model_validate(
                {
                    "workload": 1,
                    "name": "options",
                    "files": {"a": {"path": "a"}},
                    "program": {
                        "g": [
                            {
                                "phase": "p",
                                "do": [{"create": "a"}, {"kernel": {"name": "data_sort"}}],
                            }
                        ]
                    },
                }
            ),
            RunSettings(run_directory=str(place / "run"), journal=str(place), repetitions=1),
        ).plan

    def said(self, owner: str, is_kernel: bool, option: Option) -> str | None:
        """What the engine says of an option's value before it does anything; None: it takes it."""
        data = self.plan.model_dump(mode="json", by_alias=True)
        options = [option.model_dump(), {"name": "no such option", "value": ""}]
        if is_kernel:
            step = data["groups"][0]["program"][0]["body"][1]
            step |= {"name": owner, "options": options}
        else:
            data["files"][0] |= {"interface": owner, "options": options}
        Path(self.plan.journal, "plan.json").write_text(json.dumps(data))
        message: str = self.engine.run(self.plan).failed["message"]
        return None if "no such option" in message else message


def refusal(owner: str, entry: InterfaceOption, option: Option) -> str | None:
    """What the planner says of the option, as the engine would; None: it takes it."""
    try:
        check_option(option, [entry], owner, option.name)
    except UserError as error:
        return str(error).replace(":", "", 1)
    return None


@pytest.mark.parametrize("seed", range(4))
def test_the_planner_takes_what_the_engine_takes(engine: Engine, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    refusals = Refusals(engine, tmp_path)
    for owner, is_kernel, entry in chance.sample(owners(), 40):
        option = Option(name=entry.name, value=drawn_value(chance, entry))
        said = refusals.said(owner, is_kernel, option)
        assert said == refusal(owner, entry, option), (owner, option)


def test_every_default_is_taken() -> None:
    for owner, _, entry in owners():
        check_option(Option(name=entry.name, value=entry.default), [entry], owner, "")
