"""What a program makes anew of what was there before is the program's, and not the engine's."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from venturi.capture.proxy import capture_proxy
from venturi.model.operation import KINDS
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.plan.stream import RequestStream

FILES = ("a", "b", "c")
AS_CAPTURED = {"create": "open"}


def random_text(seed: int) -> str:
    """Files that were there, or were not, are read, removed, made anew, and made over."""
    drawn = random.Random(seed)
    staged = {name: drawn.random() < 0.7 for name in FILES}
    there = dict(staged)
    steps: list[dict[str, Any]] = []
    for _ in range(drawn.randint(6, 14)):
        name = drawn.choice(FILES)
        if not there[name] or drawn.random() < 0.4:
            size = f"{drawn.randint(1, 8)} KiB"
            steps += [{"create": name}, {"write": {"to": name, "size": size}}, {"close": name}]
            there[name] = True
        elif drawn.random() < 0.4:
            steps.append({"unlink": name})
            there[name] = False
        else:
            steps += [{"open": name}, {"read": {"from": name, "size": "1 KiB"}}, {"close": name}]
    files = {
        name: {"path": name, "shared": "rank"} | ({"prestage": "8 KiB"} if was_there else {})
        for name, was_there in staged.items()
    }
    return (
        "workload: 1\nname: anew\nparameters: {np: {default: 1, role: ranks}}\n"
        f"groups: {{g: {{ranks: np}}}}\nfiles: {files}\n"
        f"program: {{g: [{{phase: p, do: {steps}}}]}}\n"
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_capture_of_a_proxy_has_all_that_the_proxy_does(tmp_path: Path, seed: int) -> None:
    text = random_text(seed)
    workload = parse_yaml(text, "anew.yaml", Workload)
    stream = RequestStream(make_plan(workload, RunSettings()).plan, 0)
    asked = [(one.path, one.kind.value) for one in stream.operations()]
    wanted = Counter((path, AS_CAPTURED.get(kind, kind)) for path, kind in asked)
    place = tmp_path / "io"
    place.mkdir()
    found = capture_proxy(workload, text, place, tmp_path / "anew.trace")
    assert found.operations is not None
    names = [Path(file.path).name for file in found.trace.files]
    rows = zip(found.operations.file.tolist(), found.operations.kind.tolist(), strict=True)
    did = Counter((names[file], KINDS[kind].value) for file, kind in rows)
    assert did == wanted
