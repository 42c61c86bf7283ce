"""mdtest's command line as workloads: its trees, names, phases and order in our own words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from venturi.compat.mdtest_option import MdtestArguments
from venturi.compat.mdtest_place import place_of
from venturi.compat.mdtest_result import MdtestRow
from venturi.compat.mdtest_shape import (
    StrideShift,
    TreeShape,
    shape_of,
    stride_over_nodes,
    task_counts,
)
from venturi.compat.perform import PlannedRun
from venturi.model.error import UserError
from venturi.model.workload import Workload

Step = dict[str, Any]
PREPARATION = "preparation"
"""The phase that makes what is only looked at, read or removed."""


@dataclass(frozen=True)
class MdtestRunSettings:
    """What is settled beside mdtest's own options.

    `limit_s` ends every measured phase but the trees'; `items` is what a status file says.
    """

    ranks: int
    nodes: int = 1
    limit_s: float = 0.0
    items: int | None = None


def trials_of(arguments: MdtestArguments, asked: MdtestRunSettings) -> list[PlannedRun]:
    """The runs of one command line, one for each number of tasks of -f, -l and -s."""
    counts = task_counts(arguments.first, arguments.last, arguments.step, asked.ranks)
    return [_test(arguments, replace(asked, ranks=ranks)) for ranks in counts]


def requested_shape(arguments: MdtestArguments, asked: MdtestRunSettings) -> TreeShape:
    """The trees of a command line; a status file replaces -n and -I."""
    items, per_directory = arguments.items, arguments.per_directory
    if asked.items is not None and not arguments.phases.create:
        items, per_directory = asked.items, 0
    return shape_of(
        branch=arguments.branch,
        depth=arguments.depth,
        items=items,
        per_directory=per_directory,
        leaves_only=arguments.leaves,
    )


def _test(arguments: MdtestArguments, asked: MdtestRunSettings) -> PlannedRun:
    data = _MdtestLowering(arguments, asked).workload()
    return PlannedRun(
        workload=Workload.model_validate_json(json.dumps(data)),
        ranks=asked.ranks,
        repetitions=arguments.iterations,
        seed=arguments.random_seed or 1,
        warnings=_warnings(arguments, asked),
    )


def _warnings(arguments: MdtestArguments, asked: MdtestRunSettings) -> tuple[str, ...]:
    warnings = []
    if arguments.stride % asked.ranks and asked.nodes == 1:
        warnings.append(f"-N {arguments.stride} on one node: a task's neighbour has the same cache")
    if not arguments.phases.create:
        warnings.append(
            f"nothing is created (no -C): the run made its own items in the phase '{PREPARATION}'"
        )
    return tuple(warnings)


class _MdtestLowering:
    """Writes the workload of one number of tasks."""

    def __init__(self, arguments: MdtestArguments, asked: MdtestRunSettings) -> None:
        self._arguments = arguments
        self._asked = asked
        self._shape = requested_shape(arguments, asked)
        self._stride = stride_over_nodes(arguments.stride, asked.ranks, asked.nodes)
        self._parts = place_of(arguments.directories).parts
        if len(self._parts) > asked.ranks:
            raise UserError(
                f"mdtest -d: {len(self._parts)} directories for {asked.ranks} tasks",
                "give more tasks with -n",
            )
        limited = arguments.limit_s or asked.limit_s
        if limited and self._shape.trees > 1:
            raise UserError(
                "mdtest -W or --limit with -n and -I: where a limit ends a loop over trees is not "
                "known to the phases behind it",
                "use one tree: -n alone, or -I alone",
            )
        if limited and arguments.collective:
            raise UserError(
                "mdtest -W or --limit with -c: where a limit stopped task 0, the others would open "
                "files that it did not make",
                "leave one of them away",
            )

    def workload(self) -> dict[str, Any]:
        """The whole workload, as its YAML would be read."""
        a = self._arguments
        where = "a directory for each task" if a.unique else "directories that all tasks share"
        return {
            "workload": 1,
            "name": "mdtest",
            "about": f"mdtest's phases in {where}",
            "origin": {"source": "a command line of mdtest"},
            "repeat": a.iterations,
            **({"log_operations": True} if a.operation_csv else {}),
            "parameters": {"np": {"default": self._asked.ranks, "role": "ranks"}},
            "groups": {"tasks": {"ranks": "np"}},
            "files": self._files(),
            "program": {"tasks": self._program()},
        }

    # The trees and their names.

    def _files(self) -> dict[str, Any]:
        files: dict[str, Any] = {}
        for number, part in enumerate(self._parts):
            place = part.replace("{", "{{").replace("}", "}}") + "/" if part else ""
            base = f"{place}test-dir.{{iteration}}-{'{tree}' if self._shape.trees > 1 else 0}"
            files[f"test_{number}"] = {"path": base, **self._common()}
            files[f"files_{number}"] = self._tree(base, "file")
            if self._arguments.on_directories:
                files[f"directories_{number}"] = self._tree(base, "dir")
        return files

    def _common(self) -> dict[str, Any]:
        a = self._arguments
        common: dict[str, Any] = {"interface": a.interface}
        if a.phases.create and not a.phases.remove:
            common["keep"] = True
        return common

    def _tree(self, base: str, prefix: str) -> dict[str, Any]:
        a, shape = self._arguments, self._shape
        stride = self._stride % self._asked.ranks
        owner = f"(rank + {stride}) % ranks" if stride else "rank"
        root = f"mdtest_tree.{{{owner}}}.0" if a.unique else "mdtest_tree.0"
        node = f"mdtest_tree.{{{owner}}}.{{node}}" if a.unique else "mdtest_tree.{node}"
        task = "shared" if a.shared_file else "{rank}"
        tree: dict[str, Any] = {
            "depth": shape.depth,
            "branch": shape.branch,
            "items": shape.per_directory,
            "names": {"directory": node, "item": f"{prefix}.mdtest.{task}.{{item}}"},
        }
        if shape.leaves_only:
            tree["leaves"] = True
        if a.shared_file:
            tree["owner"] = "shared"
        spec: dict[str, Any] = {"path": f"{base}/{root}", **self._common(), "tree": tree}
        if a.unique:
            spec["shared"] = "rank"
        if prefix == "file":
            tree["size"] = self._size
            spec["content"] = {"seed": a.seed, "verify": a.verifies}
            if a.direct:
                spec["options"] = {"direct": True}
        else:
            tree["kind"] = "directory"
        return spec

    @property
    def _size(self) -> int:
        a = self._arguments
        return a.write_bytes if a.phases.create else max(a.write_bytes, a.read_bytes)

    # The phases, in mdtest's order.

    def _program(self) -> list[Step]:
        a = self._arguments
        steps: list[Step] = []
        if a.phases.create:
            bases = [{"mkdir": f"test_{n}"} for n in range(len(self._parts))]
            steps.append({"phase": "test directory", "do": self._over_trees(bases)})
            steps.append(
                self._phase(MdtestRow.TREE_CREATION, self._over_trees(self._trees("mkdir")))
            )
        else:
            steps.append({"phase": PREPARATION, "do": self._preparation()})
        if a.on_directories:
            steps += self._delay() + self._directory_phases()
        if a.on_files:
            steps += self._delay() + self._file_phases()
        if a.phases.remove and not self._asked.limit_s:
            steps.append(
                self._phase(MdtestRow.TREE_REMOVAL, self._over_trees(self._trees("rmdir")))
            )
        return steps

    def _preparation(self) -> list[Step]:
        """What mdtest expects to find: a run touches only what it made itself.

        With -u and -N a task's items lie in a directory that another task makes, hence the barrier.
        """
        bases = [{"mkdir": f"test_{n}"} for n in range(len(self._parts))]
        steps = self._over_trees(bases) + self._over_trees(self._trees("mkdir"))
        steps.append({"barrier": "all"})
        if self._arguments.on_directories:
            steps += self._items("directories", ["mkdir"], StrideShift.CREATE)
        if self._arguments.on_files:
            verbs = ["create", "write", "close"] if self._size else ["create", "close"]
            steps += self._items("files", verbs, StrideShift.CREATE)
        return steps

    def _directory_phases(self) -> list[Step]:
        phases, rows = self._arguments.phases, []
        if phases.create:
            rows.append((MdtestRow.DIRECTORY_CREATION, "mkdir", StrideShift.CREATE))
        if phases.stat:
            rows.append((MdtestRow.DIRECTORY_STAT, "stat", StrideShift.STAT))
        if phases.rename and self._shape.items > 1:
            rows.append((MdtestRow.DIRECTORY_RENAME, "rename", StrideShift.RENAME))
        if phases.remove:
            rows.append((MdtestRow.DIRECTORY_REMOVAL, "rmdir", StrideShift.REMOVE))
        steps = []
        for row, verb, turn in rows:
            if self._arguments.collective and verb in ("mkdir", "rmdir"):
                body = self._by_first("directories", [verb], turn)
            else:
                body = self._items("directories", [verb], turn)
            steps.append(self._phase(row, body))
        return steps

    def _file_phases(self) -> list[Step]:
        a, steps = self._arguments, []
        if a.phases.create:
            steps.append(self._phase(MdtestRow.FILE_CREATION, self._creation()))
        if a.phases.stat:
            steps.append(
                self._phase(MdtestRow.FILE_STAT, self._items("files", ["stat"], StrideShift.STAT))
            )
        if a.phases.read:
            verbs = ["open", "read", "close"] if a.read_bytes else ["open", "close"]
            steps.append(
                self._phase(MdtestRow.FILE_READ, self._items("files", verbs, StrideShift.READ))
            )
        if a.phases.remove:
            steps.append(self._phase(MdtestRow.FILE_REMOVAL, self._removal()))
        return steps

    def _creation(self) -> list[Step]:
        a = self._arguments
        if a.mknod:
            return self._items("files", ["mknod"], StrideShift.CREATE)
        first = "open" if a.collective else "create"
        written = ["write", *(["sync"] if a.fsync else []), *(["read"] if a.verify_write else [])]
        verbs = [first, *(written if a.write_bytes else []), "close"]
        own = self._items("files", verbs, StrideShift.CREATE)
        if not a.collective:
            return own
        return [
            *self._by_first("files", ["create", "close"], StrideShift.CREATE),
            {"barrier": "all"},
            *own,
        ]

    def _removal(self) -> list[Step]:
        if self._arguments.collective:
            return self._by_first("files", ["unlink"], StrideShift.REMOVE)
        items = self._items("files", ["unlink"], StrideShift.REMOVE)
        return [{"when": "rank == 0", "do": items}] if self._arguments.shared_file else items

    # Parts of phases.

    def _phase(self, row: MdtestRow, body: list[Step]) -> Step:
        a = self._arguments
        step: Step = {"phase": row.value, "do": [*body, *self._sync()]}
        makes = row in (MdtestRow.FILE_CREATION, MdtestRow.DIRECTORY_CREATION)
        limit_s = a.limit_s if makes and a.limit_s else self._asked.limit_s
        if limit_s and row not in (MdtestRow.TREE_CREATION, MdtestRow.TREE_REMOVAL):
            step["limit"] = f"{limit_s:g} s"
        return step

    def _sync(self) -> list[Step]:
        return [{"sync": "file_system"}] if self._arguments.sync_all else []

    def _delay(self) -> list[Step]:
        delay_s = self._arguments.delay_s
        return [{"compute": f"{delay_s} s"}] if delay_s else []

    def _trees(self, verb: str) -> list[Step]:
        """All directories of the trees; a task makes those that bear its number."""
        step = {verb: "files"}
        if self._arguments.unique and self._stride % self._asked.ranks:
            step["from"] = f"shift {-self._stride % self._asked.ranks}"
        if self._arguments.collective and self._arguments.unique:
            return self._first_for_all(step, 0)
        return self._in_places(step)

    def _items(self, files: str, verbs: Sequence[str], turn: StrideShift) -> list[Step]:
        step = self._each(files, verbs, turn)
        if turn * self._stride % self._asked.ranks:
            step["from"] = f"shift {turn * self._stride % self._asked.ranks}"
        return self._over_trees(self._in_places(step))

    def _by_first(self, files: str, verbs: Sequence[str], turn: StrideShift) -> list[Step]:
        """Task 0 does it for all."""
        shift = turn * self._stride % self._asked.ranks
        return self._over_trees(self._first_for_all(self._each(files, verbs, turn), shift))

    def _first_for_all(self, step: Step, shift: int) -> list[Step]:
        placed = self._in_places({**step, "from": f"shift task + {shift}"})
        inner = {"for": "task", "in": "ranks", "do": placed}
        return [{"when": "rank == 0", "do": [inner]}]

    def _each(self, files: str, verbs: Sequence[str], turn: StrideShift) -> Step:
        each: Step = {"on": files, "do": list(verbs)}
        if (
            self._arguments.shuffled
            and turn in (StrideShift.STAT, StrideShift.READ)
            and verbs[0] != "rename"
        ):
            each["order"] = "shuffled"
        if (
            turn == StrideShift.READ
            and "read" in verbs
            and self._arguments.read_bytes not in (0, self._size)
        ):
            each["bytes"] = self._arguments.read_bytes
        return {"each": each}

    def _over_trees(self, body: list[Step]) -> list[Step]:
        if self._shape.trees == 1:
            return body
        return [{"for": "tree", "in": self._shape.trees, "do": body}]

    def _in_places(self, step: Step) -> list[Step]:
        """The step in the directory of each task: of several, those take turns."""
        places = len(self._parts)
        steps = [_with_number(step, number) for number in range(places)]
        if places == 1:
            return steps
        return [{"when": f"rank % {places} == {n}", "do": [one]} for n, one in enumerate(steps)]


def _with_number(step: Step, number: int) -> Step:
    """The step on the files of one directory."""
    if "each" in step:
        return {**step, "each": {**step["each"], "on": f"{step['each']['on']}_{number}"}}
    verb = next(verb for verb in ("mkdir", "rmdir") if verb in step)
    return {**step, verb: f"{step[verb]}_{number}"}
