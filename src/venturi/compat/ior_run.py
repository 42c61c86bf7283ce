"""Tests of IOR, run one after the other by our engine: each is a run with its own record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from venturi.compat.ior_file import directory_of, existing_files, read_status, write_status
from venturi.compat.ior_key import TOOL
from venturi.compat.ior_lower import Lowered, TaskLayout, lower
from venturi.compat.ior_operation import write_operation_tables
from venturi.compat.ior_result import IorRun, wrong_data
from venturi.compat.ior_test import IorTest
from venturi.compat.option import in_words_of
from venturi.compat.payload import Payload, with_payload
from venturi.compat.validity import validity_lines
from venturi.derive.yaml_text import to_yaml
from venturi.model.error import ExitCode, UserError
from venturi.model.event import Event, PhaseFinished
from venturi.model.machine import Machine
from venturi.model.record import Level, PhaseRow, Record
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.probe.background import reader_beside
from venturi.store.archive import find_stored, load_record, remove_files
from venturi.store.place import OPERATIONS_NAME
from venturi.store.run import Prepared, Request, perform, prepare

_RANK_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
MINUTE_S = 60.0
"""The unit of -T."""


@dataclass(frozen=True)
class Choices:
    """What the command settles beside IOR's own options."""

    machine: Machine
    store: Path
    command: list[str]
    arguments: Sequence[str]
    directory: str | None = None
    ranks: int | None = None
    nodes: int = 1
    seed: int = 1
    payload: Payload = Payload.VENTURI


@dataclass(frozen=True)
class Ready:
    """A test that can run."""

    test: IorTest
    layout: TaskLayout
    lowered: Lowered
    settings: RunSettings
    directory: Path


Feed = Callable[[Event], None]
Watch = Callable[[PlanResult], Feed]
"""Given what is planned, who is told the events."""


def check_start(tool: str = TOOL) -> None:
    """Raise UserError if an MPI launcher started this command: the command starts the ranks."""
    for name in _RANK_VARIABLES:
        if os.environ.get(name, "1") not in ("", "1"):
            raise UserError(
                f"{tool}: this was started on {os.environ[name]} ranks ({name})",
                "start it once, without mpirun: -n RANKS says how many, --on openmpi or mpich how",
            )


def layout_of(test: IorTest, choices: Choices) -> TaskLayout:
    """The tasks of a test and the nodes that they are on."""
    most = choices.ranks or 0
    wanted = test.tasks if test.tasks > 0 else most or 1
    if most and wanted > most:
        raise UserError(f"{TOOL}: -N {wanted}: the command has {most} ranks", "choose a larger -n")
    nodes = choices.nodes
    if test.nodes > 0 and test.nodes != nodes:
        raise UserError(f"{TOOL}: numNodes={test.nodes}: the command has {nodes} (--nodes)")
    layout = TaskLayout(wanted, nodes)
    if test.tasks_on_node > 0 and test.tasks_on_node != layout.ranks_per_node:
        raise UserError(
            f"{TOOL}: numTasksOnNode0={test.tasks_on_node}: there are {layout.ranks_per_node}",
            "tasks lie in blocks, node by node",
        )
    return layout


def make_ready(test: IorTest, choices: Choices) -> Ready:
    """Lower a test; UserError or TargetProblem say what does not go."""
    layout = layout_of(test, choices)
    if test.status_file and not test.writes:
        test = replace(test, wear_out_transfers=read_status(test))
    directory = directory_of(test, choices.directory)
    existing = existing_files(test, layout.ranks, directory)
    seed = _seed(test, choices.seed)
    lowered = lower(test, layout, existing, seed)
    lowered = replace(lowered, workload=with_payload(lowered.workload, choices.payload))
    settings = RunSettings(
        nodes=layout.nodes,
        seed=seed,
        most_ranks=choices.machine.most_ranks,
    )
    return Ready(test, layout, lowered, settings, directory)


def plan_of(ready: Ready) -> PlanResult:
    """What a test would do, without any I/O."""
    try:
        return make_plan(ready.lowered.workload, ready.settings)
    except UserError as error:
        raise in_words_of(TOOL, error) from None


def run_test(ready: Ready, choices: Choices, watch: Watch) -> IorRun:
    """Run one test. Raises what `venturi.store.run` raises where there is no record."""
    workload = ready.lowered.workload
    request = Request(
        workload=workload,
        workload_text=to_yaml(workload),
        settings=ready.settings,
        machine=choices.machine,
        directory=ready.directory,
        store=choices.store,
        command=choices.command,
        warnings=tuple(ready.lowered.warnings),
        background=reader_beside(choices.store, ready.directory),
    )
    try:
        prepared = prepare(request)
    except UserError as error:
        raise in_words_of(TOOL, error) from None
    feed = watch(prepared.made)
    record = perform(prepared, _until(ready.test, prepared, feed))
    settled = _settle(ready.test, record, choices.store)
    run = IorRun(ready.test, ready.layout, settled, choices.arguments)
    log = find_stored(choices.store, record.id) / OPERATIONS_NAME
    if ready.test.operation_log and log.exists():
        write_operation_tables(run, log)
    return run


def exit_code(run: IorRun) -> ExitCode:
    """What the shell is told of a test: bad data never exit 0, however many there are."""
    record, test = run.record, run.test
    if record.interrupted:
        return ExitCode.INTERRUPTED
    bad = record.verdict.level is Level.INVALID
    bad |= test.warnings_fail and bool(record.warnings)
    bad |= test.single_attempt and any(row.short_transfers for row in record.phases)
    return ExitCode.MEASUREMENT if bad else ExitCode.FINE


def complaints(run: IorRun, shown: bool) -> list[str]:
    """What a test's own options want to be warned of; the record's too, unless it is `shown`."""
    lines = [] if shown else list(run.record.warnings)
    if not shown:
        lines += validity_lines(run.record)
    kind = "ERROR" if run.test.warnings_fail else "WARNING"
    lines += [f"{kind}: {line}" for line in wrong_data(run)]
    if run.test.single_attempt and any(row.short_transfers for row in run.record.phases):
        lines.append("-x: there were short transfers")
    if run.test.outlier_s:
        lines += [line for row in run.record.phases for line in _outliers(row, run.test.outlier_s)]
    return lines


def _seed(test: IorTest, default: int) -> int:
    if test.random and test.random_seed >= 0:
        return test.random_seed
    if test.reorder_random and test.reorder_seed:
        return abs(test.reorder_seed)
    return default


def _until(test: IorTest, prepared: Prepared, feed: Feed) -> Feed:
    """With -T no repetition begins after that many minutes."""
    if not test.most_minutes:
        return feed
    end = time.monotonic() + test.most_minutes * MINUTE_S

    def watch(event: Event) -> None:
        feed(event)
        if isinstance(event, PhaseFinished) and time.monotonic() >= end:
            (prepared.journal.folder / "stop").touch()

    return watch


def _settle(test: IorTest, record: Record, store: Path) -> Record:
    """What a test's options want done after it: the status file, the files of -K."""
    writes = [row for row in record.phases if row.path == "write"]
    if test.status_file and writes:
        written = writes[-1].by_operation.get("write")
        write_status(test, written.operations // record.ranks if written else 0)
    errors = any(row.errors for row in record.phases)
    if test.keep_with_error and not test.keep and not errors and record.left:
        folder = find_stored(store, record.id)
        remove_files(folder)
        return load_record(folder)
    return record


def _outliers(row: PhaseRow, most_s: float) -> list[str]:
    """Ranks whose times are further from the mean than -j allows."""
    ranks = row.per_rank
    ends = [start + total for start, total in zip(ranks.start_s, ranks.total_s, strict=True)]
    times = {
        "start": ranks.start_s,
        "open": ranks.open_s,
        "transfer": ranks.transfer_s,
        "close": ranks.close_s,
        "end": ends,
    }
    lines = []
    for what, values in times.items():
        mean = sum(values) / len(values)
        lines += [
            f"{row.path}, repetition {row.repetition + 1}: rank {rank}: {what} {value:.3g} s is "
            f"further than {most_s:g} s from the mean, {mean:.3g} s"
            for rank, value in enumerate(values)
            if abs(value - mean) > most_s
        ]
    return lines
