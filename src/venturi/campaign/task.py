"""Tasks: each step at each combination of the parameters that it names, each repetition."""

from __future__ import annotations

import contextlib
import functools
import random
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from venturi import library
from venturi.campaign.build import folder_of, source_of
from venturi.campaign.gate import check_command_step
from venturi.campaign.logged import logged_lines, software_of
from venturi.campaign.metric import check_metric
from venturi.campaign.scale import TARGET
from venturi.campaign.space import Point, number_at, points_of
from venturi.campaign.study import check_study
from venturi.campaign.template import filled, names_of
from venturi.campaign.tool import tool_named
from venturi.execute.launcher import start_words
from venturi.model.campaign import Build, Campaign, CampaignStep, QuietWait
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, names_in, tree_of
from venturi.model.machine import Machine
from venturi.model.workload import Scalar, Workload
from venturi.plan.make import ranks_of
from venturi.plan.setting import RunSettings

_FOLDER = "folder_"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = ("dir", "home", "launch", "prefix", "python", "repetition")
"""What texts may name beside parameters, `ranks` and `nodes`."""
_MOST_RUNS = 100_000
"""Of a step: each is a folder, and all are listed before the first one starts."""


@dataclass(frozen=True)
class CampaignPaths:
    """Where a campaign does its I/O and keeps what comes of it."""

    folder: Path
    directory: Path
    store: Path
    machine: str
    """As `--on` takes it."""
    site: Machine
    """What that names."""
    home: Path
    """The folder of the campaign's file."""
    targets: Mapping[str, Path] = field(default_factory=dict)
    """Directories by the parameter `target`; empty: all runs are in `directory`."""


@dataclass(frozen=True)
class CampaignTask:
    """One run: what is started, and what must be done before."""

    name: str
    """`STEP-0001/r1`: its folder below `tasks/`."""
    step: str
    point: str
    """`STEP-0001`."""
    parameters: dict[str, Scalar]
    repetition: int
    argv: list[str]
    environment: dict[str, str]
    budget_s: float
    ranks: int
    nodes: int
    after: list[str] = field(default_factory=list)
    workload: str = ""
    """Empty for a command."""
    scale: str = "laptop"
    assignments: dict[str, str] = field(default_factory=dict)
    """The workload's parameters, as `--set`."""
    confirm: dict[str, float] = field(default_factory=dict)
    """What the tool must report."""
    writes: int = 0
    """Bytes of a command."""
    files: int = 0
    """That a command makes."""
    source: str = ""
    """The repository of what is built."""
    commit: str = ""
    """What is built."""
    waits: list[str] = field(default_factory=list)
    """The command that ends well once the storage is quiet; empty: it is not waited for."""
    waits_s: float = 0.0
    """How long that may take."""

    @property
    def most_s(self) -> float:
        """How long it may take with its wait."""
        return self.waits_s + self.budget_s


def called(task: CampaignTask) -> str:
    """A point as people know it, whose folder is not there yet."""
    said = ", ".join(f"{name}={value}" for name, value in task.parameters.items())
    return f"{task.point} ({said})" if said else task.point


def loaded(name: str) -> Workload:
    """A workload of the library or a file; read once, as long as the file stays the same."""
    path = Path(name)
    stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _loaded(name, stamp)


@functools.lru_cache(maxsize=64)
def _loaded(name: str, stamp_ns: int) -> Workload:
    return library.load(name)


def tasks_of(campaign: Campaign, place: CampaignPaths) -> tuple[list[CampaignTask], int]:
    """All tasks in the order in which they run, and the number of points.

    Repetitions go over all points before a point comes again, each time in another order.
    Raises UserError for what the campaign's texts get wrong.
    """
    points = points_of(campaign.space)
    for name in points[0]:
        if name in _RESERVED or name.startswith(_FOLDER):
            raise UserError(f"space: a parameter may not be called '{name}'", "use another name")
    for name, table in campaign.tables.items():
        if table.step not in campaign.steps:
            raise UserError(f"tables.{name}.step: there is no step '{table.step}'")
    check_study(campaign, points)
    chance = random.Random(campaign.seed)
    folders: dict[str, _Folders] = {}
    tasks: list[CampaignTask] = []
    for name in _in_order(campaign):
        step = campaign.steps[name]
        _check(step, name)
        if campaign.until is not None and step.repeat is None:
            _check_open(step, name)
        own = folders[name] = _Folders(name, _parameters(campaign, name, list(points[0])), points)
        is_measured = bool(step.workload or step.metrics or step.tool)
        repeats = step.repeat or (campaign.repeat if is_measured else 1)
        if repeats * len(own.values) > _MOST_RUNS:
            raise UserError(
                f"steps.{name}: {repeats * len(own.values):,} runs; at most {_MOST_RUNS:,}",
                "repeat less often, or split the campaign",
            )
        quiet = campaign.quiet_wait if is_measured else None
        makers = [
            _Maker(campaign, name, point, _place_at(place, point), folders, quiet)
            for point in own.values
        ]
        for index, maker in enumerate(makers):  # so that an error names the first wrong point
            maker.task(own.name_at(index), 1)
        for repetition in range(1, repeats + 1):
            indices = list(range(len(own.values)))
            chance.shuffle(indices)
            tasks += [makers[index].task(own.name_at(index), repetition) for index in indices]
    return tasks, len(points)


def _place_at(place: CampaignPaths, point: Point) -> CampaignPaths:
    """Where a point does its I/O: in the directory of its `target`, if there are several."""
    directory = place.targets.get(str(point.get(TARGET, "")))
    return place if directory is None else replace(place, directory=directory)


def _waits(when: QuietWait, place: CampaignPaths) -> dict[str, Any]:
    """The command with which a task waits, and how long that takes at most."""
    over_s, within_s = (
        float(number_at(f"when.{key}", value, {}))
        for key, value in (("over", when.over), ("within", when.within))
    )
    words = [sys.executable, "-m", "venturi", "probe", "wait", str(place.directory)]
    words += ["--slowdown", f"{when.slowdown:g}", "--over", f"{over_s:g}s"]
    words += ["--within", f"{within_s:g}s", "--store", str(place.store)]
    return {"waits": words, "waits_s": within_s}


def _check(step: CampaignStep, name: str) -> None:
    """UserError for metrics, tools and thresholds that are none."""
    for metric, rule in step.metrics.items():
        check_metric(f"steps.{name}.metrics.{metric}", rule)
    tool = tool_named(step.tool) if step.tool else None
    if step.command:
        check_command_step(name, step, tool)
    if tool:
        reported = tool.reported
        for setting in step.confirm:
            if setting not in reported:
                known = ", ".join(reported) or "nothing"
                raise UserError(
                    f"steps.{name}.confirm: {step.tool} reports no '{setting}'",
                    f"it reports {known}",
                )


def _check_open(step: CampaignStep, name: str) -> None:
    """UserError for texts that differ from one repetition to the next: further ones have none."""
    for text in _texts(step):
        if own := sorted({"repetition", "run"} & names_of(text)):
            raise UserError(
                f"steps.{name} names {{{own[0]}}}, and 'until' leaves repetitions open",
                "leave one of them out, or give the step a 'repeat'",
            )


def setup_lines(site: Machine, name: str, needs: list[str]) -> list[str]:
    """The lines of shell that make what a step needs available; UserError for what is not there."""
    lines: list[str] = []
    for what in needs:
        if what not in site.software:
            raise UserError(
                f"steps.{name}.needs: the machine {site.name} has no software '{what}'",
                f"known are {', '.join(site.software) or 'none'}; see 'software' in its file",
            )
        software = site.software[what]
        lines += [f"module load {shlex.quote(module)}" for module in software.modules]
        lines += software.setup
    return lines


class _Folders:
    """The combinations of a step's parameters that occur, each once, and their names."""

    def __init__(self, step: str, parameters: list[str], points: list[Point]) -> None:
        self.built: dict[str, Path] = {}
        """Where the build of a combination stands, if its step builds."""
        self._step = step
        self._parameters = parameters
        self._index: dict[tuple[Scalar, ...], int] = {}
        for point in points:
            self._index.setdefault(self._key(point), len(self._index))
        self.values: list[Point] = [dict(zip(parameters, key, strict=True)) for key in self._index]

    def _key(self, point: Point) -> tuple[Scalar, ...]:
        return tuple(point[parameter] for parameter in self._parameters)

    def name_at(self, index: int) -> str:
        """The name of one combination."""
        return f"{self._step}-{index + 1:04d}"

    def name_of(self, point: Point) -> str:
        """The name of the combination that agrees with a point."""
        return self.name_at(self._index[self._key(point)])


def _in_order(campaign: Campaign) -> list[str]:
    """The steps so that each comes after those that it needs; UserError for a circle."""
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise UserError(f"steps: {' after '.join([*above, name])} is a circle")
        if name in order:
            return
        for before in campaign.steps[name].after:
            if before not in campaign.steps:
                raise UserError(
                    f"steps.{name}.after: there is no step '{before}'",
                    f"known are {', '.join(campaign.steps)}",
                )
            visit(before, (*above, name))
        order.append(name)

    for name in campaign.steps:
        visit(name, ())
    return order


def _parameters(campaign: Campaign, name: str, known: list[str]) -> list[str]:
    """The parameters that a step depends on, its own and those of the steps before it."""
    step = campaign.steps[name]
    named: set[str] = set(step.per)
    for unknown in named - set(known):
        raise UserError(
            f"steps.{name}.per: there is no parameter '{unknown}'",
            f"known are {', '.join(known) or 'none'}",
        )
    for text in _texts(step):
        named |= names_of(text)
    for value in (
        step.ranks,
        step.nodes,
        step.time,
        step.writes,
        step.files,
        *step.confirm.values(),
    ):
        with contextlib.suppress(ExpressionError):
            named |= names_in(tree_of(value))
    for before in step.after:
        named |= set(_parameters(campaign, before, known))
    for group in campaign.space.zip:
        if named & set(group) and not _splits(group, named):
            named |= set(group)
    return [parameter for parameter in known if parameter in named]


def _splits(group: Mapping[str, list[Scalar]], named: set[str]) -> bool:
    """Whether all parameters of a zipped group differ more often than those that are named."""
    own = zip(*(levels for name, levels in group.items() if name in named), strict=True)
    return len(set(own)) < len(set(zip(*group.values(), strict=True)))


def unused_parameters(campaign: Campaign) -> list[str]:
    """The parameters of the space on which nothing depends, so that their values have no effect."""
    known = list(points_of(campaign.space)[0])
    used: set[str] = set()
    for name in campaign.steps:
        used |= set(_parameters(campaign, name, known))
    for text in (*campaign.space.derive.values(), *campaign.space.exclude):
        used |= set(_WORD.findall(str(text)))
    for table in campaign.tables.values():
        used |= {*table.sort, *(column.of for column in table.columns)}
    return [name for name in known if name not in used]


def _texts(step: CampaignStep) -> list[str]:
    values = [str(value) for value in step.set.values()]
    if step.build is not None:
        build = step.build
        values += [build.source, build.commit, build.branch, *build.flags.values()]
    return [step.command, step.workload, step.scale, *values, *step.environment.values()]


class _Maker:
    """Makes the tasks of a step at one point."""

    def __init__(
        self,
        campaign: Campaign,
        name: str,
        point: Point,
        place: CampaignPaths,
        folders: Mapping[str, _Folders],
        quiet: QuietWait | None,
    ) -> None:
        self._waits = {} if quiet is None else _waits(quiet, place)
        step = self._step = campaign.steps[name]
        self._seed = campaign.seed
        self._name = name
        self._point = point
        self._place = place
        self._ranks = self._whole("ranks", step.ranks or 1)
        self._nodes = self._whole("nodes", step.nodes)
        self._budget_s = float(number_at(f"steps.{name}.time", step.time, point))
        if self._budget_s <= 0:
            raise UserError(f"steps.{name}.time: '{step.time}' is no time that a run may take")
        self._folders = folders
        self._setup = setup_lines(place.site, name, software_of(step, place.site))
        self._before = {before: folders[before].name_of(point) for before in step.after}
        self._is_alike = not any({"repetition", "run"} & names_of(text) for text in _texts(step))
        self._made: CampaignTask | None = None

    def task(self, folder: str, repetition: int) -> CampaignTask:
        """One repetition; UserError for a text with an unknown parameter."""
        if self._made is None or not self._is_alike:
            self._made = self._task(folder, repetition)
        changes = {"name": f"{folder}/r{repetition}", "repetition": repetition}
        return CampaignTask(**{**vars(self._made), **changes})

    def _task(self, folder: str, repetition: int) -> CampaignTask:
        place = self._place
        tasks = place.folder / "tasks"
        values: dict[str, object] = {
            "run": f"{folder}-r{repetition}",
            "ranks": self._ranks,
            "nodes": self._nodes,
            **self._point,
            "dir": place.directory,
            "home": place.home,
            "python": shlex.quote(sys.executable),
            "repetition": repetition,
            **{
                _FOLDER + name: self._folders[name].built.get(point, tasks / point / "r1")
                for name, point in self._before.items()
            },
        }
        step = self._step
        if "launch" in names_of(step.command):
            words = start_words(place.site, self._ranks, self._nodes)
            values["launch"] = shlex.join(words)
        command = "" if step.build else self._filled("command", step.command, values)
        made = CampaignTask(
            name=f"{folder}/r{repetition}",
            step=self._name,
            point=folder,
            parameters=self._point,
            repetition=repetition,
            argv=["/bin/sh", "-c", "\n".join([*self._setup, *logged_lines(step, command)])],
            environment={
                key: self._filled(f"environment.{key}", text, values)
                for key, text in step.environment.items()
            },
            budget_s=self._budget_s,
            ranks=self._ranks,
            nodes=self._nodes,
            after=[f"{point}/r1" for point in self._before.values()],
            writes=self._whole("writes", step.writes, 0),
            files=self._whole("files", step.files, 0),
            workload=self._filled("workload", step.workload, values),
            scale=self._filled("scale", step.scale, values),
            assignments={
                key: self._filled(f"set.{key}", str(value), values)
                for key, value in step.set.items()
            },
            confirm={
                key: float(number_at(f"steps.{self._name}.confirm.{key}", value, self._point))
                for key, value in step.confirm.items()
            },
            **self._waits,
        )
        if step.build is not None:
            return self._build(made, step.build, values)
        if not made.workload:
            return made
        made = replace(made, argv=self._run_line(made))
        return replace(made, ranks=self._started_ranks(made))

    def _started_ranks(self, task: CampaignTask) -> int:
        """The ranks that the workload starts, whether the step says how many or not."""
        settings = RunSettings(
            ranks=self._ranks if self._step.ranks else None,
            nodes=task.nodes,
            scale=task.scale,
            assignments=task.assignments,
            most_ranks=self._place.site.most_ranks,
        )
        try:
            return ranks_of(loaded(task.workload), settings)
        except UserError as error:
            raise UserError(f"{called(task)}: {error.message}", error.hint) from None

    def _build(
        self, made: CampaignTask, build: Build, values: Mapping[str, object]
    ) -> CampaignTask:
        """The task that builds, which is told where; later steps find it there."""
        store = self._place.store
        address = self._filled("build.source", build.source, values)
        revision = self._filled("build.commit", build.commit or build.branch, values)
        source = source_of(build, address, revision, store)
        flags = {k: self._filled(f"build.flags.{k}", v, values) for k, v in build.flags.items()}
        raw = self._filled("command", self._step.command, {**values, "prefix": "{prefix}"})
        folder = folder_of(store, source, raw, flags, self._setup)
        self._folders[self._name].built[made.point] = folder
        command = self._filled("command", self._step.command, {**values, "prefix": folder})
        line = [sys.executable, "-m", "venturi.campaign.build", str(folder), str(source.copy)]
        return replace(
            made,
            argv=[*line, source.commit, "\n".join([*self._setup, "set -e", command])],
            environment={**made.environment, **flags},
            source=address,
            commit=source.commit,
        )

    def _filled(self, key: str, text: str, values: Mapping[str, object]) -> str:
        return filled(text, values, f"steps.{self._name}.{key}")

    def _whole(self, key: str, value: Scalar, least: int = 1) -> int:
        where = f"steps.{self._name}.{key}"
        number = number_at(where, value, self._point)
        if number != int(number) or number < least:
            raise UserError(f"{where}: '{value}' is {number}, not a whole number above {least - 1}")
        return int(number)

    def _run_line(self, task: CampaignTask) -> list[str]:
        """The command line of `venturi run` for one repetition."""
        place = self._place
        line = [sys.executable, "-m", "venturi", "run", task.workload]
        line += ["-d", str(place.directory), "--store", str(place.store), "--on", place.machine]
        line += ["--repeat", "1", "--json", "-q", "--scale", task.scale]
        line += ["--seed", str(self._seed)]
        if self._step.ranks:
            line += ["-n", str(task.ranks)]
        if task.nodes > 1:
            line += ["-N", str(task.nodes)]
        for key, value in task.assignments.items():
            line += ["--set", f"{key}={value}"]
        if self._setup:
            return ["/bin/sh", "-c", "\n".join([*self._setup, f"exec {shlex.join(line)}"])]
        return line
