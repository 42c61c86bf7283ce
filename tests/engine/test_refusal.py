"""Plans that have the right form and are still wrong: exit 2, and the place is named."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.plans import (
    LOOP,
    RANK,
    Barrier,
    ClockKind,
    Operator,
    PathPart,
    Tree,
    When,
    binary,
    compute,
    fault,
    file,
    items,
    loop,
    manage,
    nest,
    number,
    phase,
    plan,
    read,
    slot,
    times,
    write,
    write_and_read,
)
from engine.running import Engine
from venturi.model.plan import ComputeMode

Data = dict[str, Any]
BODY = "groups[0].program[0].body"


def set_at(*keys: str | int, value: object) -> Callable[[Data], None]:
    """Changes one place of a plan."""

    def change(data: Data) -> None:
        place: Any = data
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


PROGRAM = ("groups", 0, "program", 0)
EDITS = {
    "files[0].interface": set_at("files", 0, "interface", value="mpiio"),
    "files[0].options[0].name": set_at("files", 0, "options", value=[{"name": "no", "value": "1"}]),
    "files[0].options[0].value": set_at(
        "files", 0, "options", value=[{"name": "direct", "value": "1"}]
    ),
    "groups[0].ranks": set_at("groups", 0, "ranks", value=3),
    "groups[0].first": set_at("groups", 0, "first", value=1),
    "slots[0]": set_at("slots", 0, value="ranks"),
    "directory": set_at("directory", value="relative"),
    "journal": set_at("journal", value="relative"),
    "files[0].path": set_at("files", 0, "path", value=[{"text": ".venturi"}]),
    f"{BODY}[1].file": set_at(*PROGRAM, "body", 1, "file", value=7),
    f"{BODY}[1].size[0].integer": set_at(
        *PROGRAM, "body", 1, "size", value=[{"operator": "variable", "integer": 99}]
    ),
    f"{BODY}[1].owner[0].integer": set_at(
        *PROGRAM, "body", 1, "owner", value=[{"operator": "jump", "integer": 0}]
    ),
    "ranks": set_at("ranks", value=0),
    "repetitions": set_at("repetitions", value=2**63),
    "surprise": set_at("surprise", value=1),
}


@pytest.mark.parametrize("where", EDITS)
def test_edited_plans_are_refused_at_the_place(engine: Engine, tmp_path: Path, where: str) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1)
    data = json.loads(made.to_json())
    EDITS[where](data)
    name = Path(made.journal) / "plan.json"
    name.write_text(json.dumps(data))
    done = subprocess.run(
        [engine.path(), "run", str(name)], check=False, capture_output=True, text=True, timeout=600
    )
    event = json.loads(done.stdout)
    assert (done.returncode, event["event"], event["code"]) == (2, "failed", "plan")
    assert event["where"] == where
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("where", ["directory", "journal"])
def test_zero_bytes_in_places_are_refused(engine: Engine, tmp_path: Path, where: str) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1)
    data = json.loads(made.to_json())
    data[where] += "\0other"
    name = Path(made.journal) / "plan.json"
    name.write_text(json.dumps(data))
    done = subprocess.run(
        [engine.path(), "run", str(name)], check=False, capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, json.loads(done.stdout)["where"]) == (2, where)
    assert not Path(made.directory).exists()


GROUPS = {
    "groups[1].first": [(0, 1, 1), (0, 1, 1)],
    "groups[0].first": [(1, 1, 1), (0, 1, 1)],
    "groups[1].ranks": [(0, 1, 1), (1, 2, 1)],
    "groups[0].ranks": [(0, 1, 3), (1, 1, 1)],
    "groups": [(0, 1, 1)],
}


@pytest.mark.parametrize("where", GROUPS)
def test_groups_that_do_not_share_out_the_ranks_are_refused(
    engine: Engine, tmp_path: Path, where: str
) -> None:
    made = write_and_read(tmp_path, 2, size=100, count=1)
    groups = [
        made.groups[0].model_copy(update={"first": first, "ranks": ranks, "instances": instances})
        for first, ranks, instances in GROUPS[where]
    ]
    wrong = made.model_copy(update={"groups": groups})
    (Path(made.journal) / "plan.json").write_text(wrong.to_json())
    outcome = engine.run(wrong)
    assert (outcome.code, outcome.failed["where"]) == (2, where)


ONE = nest(0, (1, 0))
PROGRAMS: dict[str, tuple[list[Any], list[Any], str]] = {
    "not open": ([file()], [phase("p", write(1, ONE))], f"{BODY}[0].file"),
    "wait in a loop in a limit": (
        [file()],
        [phase("p", loop(LOOP, 2, Barrier()), limit_s=1.0)],
        f"{BODY}[0].body[0]",
    ),
    "shared create in a limit": (
        [file()],
        [phase("p", compute(0.0), manage("create"), limit_s=1.0)],
        f"{BODY}[1]",
    ),
    "phase in a limit": ([], [phase("p", phase("p/q"), limit_s=1.0)], f"{BODY}[0]"),
    "uneven wait": ([], [loop(LOOP, RANK, Barrier())], f"{BODY}[0]"),
    "uneven condition": ([], [When(condition=RANK, body=[phase("p")])], f"{BODY}[0]"),
    "variable twice": (
        [],
        [loop(LOOP, 2, loop(LOOP, 2, compute(0.0)))],
        f"{BODY}[0].variable",
    ),
    "reserved variable": ([], [loop(0, 2, compute(0.0))], "groups[0].program[0].variable"),
    "foreign write": (
        [file(path=[{"text": "/etc/hostname"}], foreign=True)],  # type: ignore[list-item]
        [phase("p", manage("open"), write(1, ONE))],
        f"{BODY}[1].operation",
    ),
    "foreign unlink": (
        [file(foreign=True)],
        [phase("p", manage("unlink"))],
        f"{BODY}[0].verb",
    ),
    "transfer to a tree": (
        [file(tree=Tree(items=number(1), size=number(1)))],
        [phase("p", write(1, ONE))],
        f"{BODY}[0].file",
    ),
    "items of a file": ([file()], [phase("p", items("stat"))], f"{BODY}[0].file"),
    "item not open": (
        [file(tree=Tree(items=number(1), size=number(1)))],
        [phase("p", items("stat", "write"))],
        f"{BODY}[0].verbs[1]",
    ),
    "mixed clocks": (
        [file(interface="simulated")],
        [phase("p")],
        "files[0].interface",
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_contradictions_are_refused(engine: Engine, tmp_path: Path, case: str) -> None:
    files, program, where = PROGRAMS[case]
    made = plan(tmp_path, files, program, ranks=2, loops=["i"])
    outcome = engine.run(made)
    assert outcome.code == 2, outcome.events
    assert outcome.failed["where"] == where
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("name", [".venturi", ".venturi/x", ".manifest.0"])
def test_reserved_names_are_refused(engine: Engine, tmp_path: Path, name: str) -> None:
    made = plan(tmp_path, [file(name)], [phase("p", manage("create"))])
    outcome = engine.run(made)
    assert (outcome.code, outcome.failed["where"]) == (2, "files[0].path")
    assert not Path(made.directory).exists()


def test_a_reserved_name_that_only_a_number_completes_is_refused(
    engine: Engine, tmp_path: Path
) -> None:
    parts = [PathPart(text=".manifest.", value=RANK)]
    made = plan(tmp_path, [file(path=parts)], [phase("p", manage("create"))], ranks=2)
    assert engine.run(made).code == 2


@pytest.mark.parametrize("seconds", [1e300, 1.1e9, -1.0])
@pytest.mark.parametrize("mode", ComputeMode)
@pytest.mark.parametrize("clock", ["real", "simulated"])
def test_waits_that_no_clock_can_count_are_refused(
    engine: Engine, tmp_path: Path, seconds: float, mode: ComputeMode, clock: str
) -> None:
    step = compute(seconds).model_copy(update={"mode": mode})
    made = plan(tmp_path, [], [phase("p", step)], clock=ClockKind(clock))
    outcome = engine.run(made)
    assert outcome.code == 3
    assert outcome.failed["code"] == "plan"
    assert not Path(made.directory).exists()


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a//b", "a/../../b"])
def test_paths_stay_inside(engine: Engine, tmp_path: Path, name: str) -> None:
    made = plan(tmp_path, [file(name)], [phase("p", manage("create"))], ranks=2)
    outcome = engine.run(made)
    assert outcome.code == 3
    assert name in outcome.failed["message"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["journal"]


def test_a_plan_that_is_wrong_on_one_rank_ends_all(
    engine: Engine, tmp_path: Path, comm: str
) -> None:
    """Only rank 2 divides by zero, while the others wait for it."""
    ranks = 1 if comm == "alone" else 3
    divisor = binary(Operator.SUBTRACT, RANK, number(ranks - 1))
    base = binary(Operator.FLOOR_DIVIDE, number(1000), divisor)
    wrong = write(1, nest(times(base, -1), (1, 0)))
    made = plan(
        tmp_path,
        [file()],
        [phase("p", manage("create"), wrong, Barrier(), manage("close"))],
        ranks=ranks,
    )
    outcome = engine.run(made, comm)
    assert outcome.code == 3
    assert "division by zero" in outcome.failed["message"]
    assert outcome.phase("p")["stopped_by"] == "error"
    assert not Path(made.directory).exists()


def test_a_wrong_count_on_one_rank_ends_all(engine: Engine, tmp_path: Path, comm: str) -> None:
    """A loop whose count has no value cannot be skipped, so the whole group ends."""
    ranks = 1 if comm == "alone" else 3
    divisor = binary(Operator.SUBTRACT, RANK, number(ranks - 1))
    bad = binary(Operator.MODULO, number(2), divisor)
    made = plan(
        tmp_path,
        [file()],
        [phase("p", manage("create"), loop(LOOP, bad, compute(0.0)), manage("close")), Barrier()],
        ranks=ranks,
        loops=["i"],
    )
    outcome = engine.run(made, comm)
    # Under MPI the launcher may end rank 0 before its event or its stderr has come through.
    if comm in ("openmpi", "mpich"):
        said = outcome.stderr + "".join(event["message"] for event in outcome.of("failed"))
    else:
        said = outcome.failed["message"]
    assert outcome.code != 0
    assert "division by zero" in said
    if comm in ("openmpi", "mpich"):
        assert engine.clean(made)["left"] == []
    assert not Path(made.directory).exists()


@pytest.mark.unsanitized("the address sanitizer ends a program that asks for too much")
def test_a_request_beyond_memory_is_refused(engine: Engine, tmp_path: Path) -> None:
    made = plan(tmp_path, [file()], [phase("p", manage("create"), write(2**50, ONE))], ranks=2)
    outcome = engine.run(made)
    assert outcome.code == 3
    assert "memory" in outcome.failed["message"]


def test_a_billion_ranks_are_refused_at_once(engine: Engine, tmp_path: Path) -> None:
    outcome = engine.run(write_and_read(tmp_path, 10**9, size=100, count=1))
    assert outcome.code == 3
    assert outcome.failed["code"] == "ranks"


def test_text_that_is_no_plan(engine: Engine, tmp_path: Path) -> None:
    for name, text in {"empty": "", "cut": '{"schema": "ven', "list": "[]"}.items():
        place = tmp_path / name
        place.write_text(text)
        done = subprocess.run(
            [engine.path(), "run", str(place)], check=False, capture_output=True, text=True
        )
        assert done.returncode == 2, name
        assert json.loads(done.stdout)["code"] == "plan"
    done = subprocess.run(
        [engine.path(), "run", str(tmp_path / "no")], check=False, capture_output=True
    )
    assert done.returncode == 2


@pytest.mark.needs("mpich", "openmpi")
def test_commands(engine: Engine) -> None:
    def output(*words: str) -> tuple[int, str]:
        done = subprocess.run([engine.path(), *words], check=False, capture_output=True, text=True)
        return done.returncode, done.stdout

    assert output("--version")[1].startswith("venturi-engine ")
    assert "usage" in output("--help")[1]
    assert output("nonsense") == (2, "")
    assert output("run")[0] == 2
    code, text = output("describe")
    told = json.loads(text)
    assert code == 0
    built = {row["name"]: row["built"] for row in told["backends"]}
    assert {name for name, is_built in built.items() if not is_built} == {"mpiio", "pnetcdf"}
    assert all(row["built"] or row["reason"] for row in told["backends"])
    posix = next(row for row in told["backends"] if row["name"] == "posix")
    assert posix["options"][0]["name"] == "direct"
    code, text = output("describe", "posix", "floppy")
    assert (code, json.loads(text)) == (0, [posix])
    for kind in ("openmpi", "mpich"):
        done = subprocess.run(
            [engine.path(f"venturi-engine-{kind}"), "describe"],
            check=False,
            capture_output=True,
            text=True,
        )
        assert json.loads(done.stdout)["comm"] == "mpi"


def test_evaluate_answers_line_by_line(engine: Engine) -> None:
    questions = [
        {"code": [*number(7), *number(-2), {"operator": "floor_divide"}], "slots": []},
        {"code": [*number(7), *number(2), {"operator": "divide"}], "slots": []},
        {"code": slot(1), "slots": [4, 5]},
        {"code": slot(2), "slots": [4, 5]},
        {"code": [*number(1), *number(0), {"operator": "modulo"}], "slots": []},
    ]
    lines = [
        json.dumps(
            {
                "code": [
                    step if isinstance(step, dict) else step.to_data() for step in one["code"]
                ],
                "slots": one["slots"],
            }
        )
        for one in questions
    ]
    done = subprocess.run(
        [engine.path(), "evaluate"],
        input="\n".join(lines) + "\n",
        check=False,
        capture_output=True,
        text=True,
    )
    answers = done.stdout.splitlines()
    assert answers[:3] == ["integer -4", "real 3.5", "integer 5"]
    assert all(answer.startswith("error ") for answer in answers[3:])
    assert len(answers) == 5
    assert fault("eio", "write").nth == 1
    assert read(1, ONE).kind == "transfer"
