"""Text cases: a workload and the events it must give, under every way to start ranks.

A case is a YAML file: `ranks` to run on, the `workload`, and for each phase in order the numbers
expected of one repetition, as expressions over `ranks`. Times are not part of a case. Where groups
run at once (`order: by name`), rows are compared by path and instance. `refused` gives, for
machines on which the case cannot run, the words of the refusal. Where nothing but the work ended
the phases of a local run, its log equals the stream of operations that Python makes of the plan.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from case.stream import assert_same
from cli.conftest import Cli, cli  # noqa: F401
from venturi.model.expression import Literal, bind, tree_of
from venturi.model.plan import Plan
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

NOT_COMPARED = {"barrier_in_limit", "errors_passed", "injected_fault"}
"""A limit, a deadline or an error ends a phase."""
CASES = sorted((Path(__file__).parent / "text").glob("*.yaml"))


def number(value: int | str, ranks: int) -> int:
    """The value of an expected number."""
    tree = bind(tree_of(value), {"ranks": Literal(ranks)})
    assert isinstance(tree, Literal)
    return int(tree.value)


def seen(row: dict[str, Any]) -> dict[str, Any]:
    """What a case can speak about."""
    kinds = {kind: found["operations"] for kind, found in row["by_operation"].items()}
    return {
        "path": row["path"],
        "group": row["group"],
        "instance": row["instance"],
        "bytes": row["bytes"],
        "errors": row["errors"],
        "stopped_by": row["stopped_by"],
        "flushed": row["flushed"],
        "cache": row["cache"],
        "iteration": row["iteration"],
        "operations": {kind: count for kind, count in kinds.items() if count},
    }


def done_by_kind(rows: list[dict[str, Any]]) -> Counter[str]:
    """Operations, bytes and requests of all phases that stand in no other phase."""
    done: Counter[str] = Counter()
    paths = {row["path"] for row in rows}
    for row in rows:
        if row["path"].rpartition("/")[0] in paths:
            continue
        done["bytes"] += row["bytes"]
        for kind, found in row["by_operation"].items():
            done[kind] += found["operations"]
    return +done


def result_of(file: Path, ranks: int) -> PlanResult:
    workload = parse_yaml(file.read_text("utf-8"), file.name, Workload)
    return make_plan(workload, RunSettings(ranks=ranks))


def plan_of(file: Path, ranks: int) -> Plan:
    return result_of(file, ranks).plan


def planned_by_kind(file: Path, ranks: int) -> Counter[str]:
    """The same, as the planner counts it without any I/O."""
    totals = result_of(file, ranks).totals
    moved = Counter({"bytes": totals.bytes_written + totals.bytes_read})
    return +(totals.operations + moved)


@pytest.mark.parametrize("machine", ["local", "openmpi", "mpich"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(cli: Cli, tmp_path: Path, path: Path, machine: str) -> None:  # noqa: F811
    case = yaml.safe_load(path.read_text("utf-8"))
    file = tmp_path / "workload.yaml"
    is_logged = machine == "local" and path.stem not in NOT_COMPARED
    workload = case["workload"] | {"log_operations": is_logged}
    file.write_text(json.dumps(workload), "utf-8")
    if machine in case.get("refused", {}):
        done = cli("run", str(file), "-d", str(cli.target), "--on", machine)
        assert done.returncode == 2
        assert case["refused"][machine] in " ".join((done.stdout + done.stderr).split())
        return
    # One start for each MPI: test_matrix.py has those with one rank.
    for ranks in case["ranks"] if machine == "local" else [max(case["ranks"])]:
        words = ["-n", str(ranks), "--repeat", "1", "--on", machine]
        code = case.get("code", 0)
        record = cli.json("run", str(file), "-d", str(cli.target), *words, code=code)
        rows = record["phases"]
        if case.get("order") == "by name":
            rows.sort(key=lambda row: (row["path"], row["instance"]))
        assert [row["path"] for row in rows] == [want["path"] for want in case["phases"]]
        for row, want in zip(rows, case["phases"], strict=True):
            found = seen(row)
            for key, value in want.items():
                if key == "operations":
                    counts = {kind: number(n, ranks) for kind, n in value.items()}
                    wanted = {kind: count for kind, count in counts.items() if count}
                    assert found[key] == wanted, (ranks, row["path"])
                elif key in ("bytes", "errors"):
                    assert found[key] == number(value, ranks), (ranks, row["path"], key)
                else:
                    assert found[key] == value, (ranks, row["path"], key)
            assert sum(row["per_rank"]["bytes"]) == row["bytes"]
            assert sum(row["per_rank"]["operations"]) == row["operations"]
            for kind, summary in row["by_operation"].items():
                latencies = sum(summary["histogram"]["count"])
                assert latencies == summary["operations"], kind
        if code == 0 and all(row["stopped_by"] == "work" for row in rows):
            assert done_by_kind(rows) == planned_by_kind(file, ranks)
        if is_logged:
            log = cli.store / "runs" / record["id"] / "operations.npz"
            plan = plan_of(file, ranks)
            for rank in range(ranks):
                assert_same(log, plan, rank, unordered="in_flight" in path.stem)
        assert not list(cli.target.iterdir())
