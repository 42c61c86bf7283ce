"""Fields of the use case ecmwf in a real FDB: one writer's share of a step, or one reader's.

    fdb_fields.py archive --step S --levels N --fields N --member M --of W --as R
    fdb_fields.py retrieve --step S --levels N --fields N --members M --first F --of W --as R

Works on the FDB in the folder in which it is started and makes it when it is not there. Prints one
JSON object: fields, bytes, the seconds inside of FDB's calls. A field that is not what was
archived is an error. Needs the packages pyfdb and eccodes of PyPI.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pyfdb

SCHEMA = """\
[ class, expver, stream, date, time, domain
    [ type, levtype
        [ step, number, levelist, param ]]]
"""
PARAMETERS = (130, 133, 138, 155, 135, 75, 76, 246, 247, 248, 203)
"""Temperature, humidity, vorticity, ...: eleven fields of ECMWF's model levels."""
TRUNCATION = 639
DAY = 20230101


@dataclass(frozen=True)
class Field:
    """One field of the ensemble."""

    member: int
    step: int
    level: int
    parameter: int

    def key(self) -> dict[str, str]:
        """Where FDB has it."""
        return {
            "class": "rd", "expver": "xxxx", "stream": "enfo", "date": str(DAY), "time": "1200",
            "domain": "g", "type": "pf", "levtype": "ml", "step": str(self.step),
            "number": str(self.member + 1), "levelist": str(self.level),
            "param": str(self.parameter),
        }  # fmt: skip

    def message(self) -> bytes:
        """The sample with this field's metadata, as the source's simulator makes its fields."""
        sample = _sample()
        eccodes.codes_set(sample, "paramId", self.parameter)
        eccodes.codes_set(sample, "level", self.level)
        eccodes.codes_set(sample, "endStep", self.step)
        message: bytes = eccodes.codes_get_message(sample)
        return message


@cache
def _sample() -> int:
    """A field of 822 289 B: T639 in 16 bits, random."""
    sample: int = eccodes.codes_grib_new_from_samples("sh_ml_grib2")
    for key in ("J", "K", "M"):
        eccodes.codes_set(sample, key, TRUNCATION)
    eccodes.codes_set(sample, "bitsPerValue", 16)
    eccodes.codes_set(sample, "dataDate", DAY)
    numbers = np.random.default_rng(0).standard_normal((TRUNCATION + 1) * (TRUNCATION + 2))
    eccodes.codes_set_values(sample, numbers)
    return sample


def opened(folder: Path) -> Any:
    """The FDB below `folder`."""
    root, schema = folder / "fdb", folder / "schema"
    root.mkdir(exist_ok=True)
    whole = folder / f"schema.{os.getpid()}"
    whole.write_text(SCHEMA, "utf-8")
    whole.replace(schema)  # others, which read it now, see all of it
    return pyfdb.FDB(
        {
            "type": "local",
            "engine": "toc",
            "schema": str(schema),
            "spaces": [{"handler": "Default", "roots": [{"path": str(root)}]}],
        }
    )


def share(asked: argparse.Namespace, member: int, count: int) -> list[Field]:
    """The part of a member's first `count` fields that is dealt to this process."""
    return [
        Field(member, asked.step, number // asked.fields + 1, PARAMETERS[number % asked.fields])
        for number in range(asked.rank, count, asked.ranks)
    ]


def archive(asked: argparse.Namespace) -> dict[str, float]:
    """Write the share and make it persistent."""
    fields = share(asked, asked.member, asked.levels * asked.fields)
    messages = [(field.key(), field.message()) for field in fields]
    begin_s = time.perf_counter()
    store = opened(Path.cwd())
    for key, message in messages:
        store.archive(message, key)
    store.flush()
    return said(len(fields), sum(len(message) for _, message in messages), begin_s)


def retrieve(asked: argparse.Namespace) -> dict[str, float]:
    """Read the share and compare it."""
    members = range(asked.members)
    fields = [field for member in members for field in share(asked, member, asked.first)]
    begin_s = time.perf_counter()
    store = opened(Path.cwd())
    found = []
    for field in fields:
        with store.retrieve(field.key()) as handle:
            found.append(handle.readall())
    seen = said(len(fields), sum(len(message) for message in found), begin_s)
    for field, message in zip(fields, found, strict=True):
        if bytes(message) != field.message():
            raise SystemExit(f"fdb_fields: what FDB has of {field} is not what was archived")
    return seen


def said(fields: int, size: int, begin_s: float) -> dict[str, float]:
    """What is printed."""
    return {"fields": fields, "bytes": size, "seconds": time.perf_counter() - begin_s}


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("archive", "retrieve"))
    for name in ("step", "levels", "fields"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--member", type=int, default=0)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="fields of a member that are read")
    parser.add_argument("--of", dest="ranks", type=int, default=1, help="processes of the share")
    parser.add_argument("--as", dest="rank", type=int, default=0, help="this one's number")
    asked = parser.parse_args()
    if asked.fields > len(PARAMETERS):
        parser.error(f"there are {len(PARAMETERS)} fields at a level")
    print(json.dumps(archive(asked) if asked.work == "archive" else retrieve(asked)))


if __name__ == "__main__":
    main()
