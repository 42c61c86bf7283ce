"""One run, from a workload to its record: check, plan, start, follow, conclude."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import venturi
from venturi.analyse.metric import check_metrics
from venturi.execute import host
from venturi.execute.engine import describe_interfaces, find_engine
from venturi.execute.job import EngineJob
from venturi.execute.launcher import check_nodes, launch_line
from venturi.execute.monitor import Clocks, Monitor, limits
from venturi.execute.stopping import Stopping
from venturi.execute.storage_layout import layout_of
from venturi.execute.target import (
    check_directory,
    check_room,
    check_type,
    file_system_of,
    identity_of,
)
from venturi.model.aim import Aim
from venturi.model.error import ExitCode, RunFailed, TargetProblem, UserError, VenturiError
from venturi.model.event import Event, Failed, Finished, Hello, PhaseFinished, Warning
from venturi.model.machine import Machine
from venturi.model.plan import For, Phase, Plan, Step, When
from venturi.model.record import Record
from venturi.model.result import RUN_OF, RunOf
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.store.archive import load_record
from venturi.store.assemble import RunFacts
from venturi.store.background import BACKGROUND_NAME, BackgroundReader, lines_of, times_of
from venturi.store.ceiling import bounds_at, ceilings
from venturi.store.command import Commands
from venturi.store.journal import RunJournal, conclude, read_events, read_samples
from venturi.store.pacing import Pacing, Patience
from venturi.store.place import ENOUGH_NAME, make_store
from venturi.store.result import read_run_of


@dataclass(frozen=True)
class Request:
    """What to run, where, and for whom."""

    workload: Workload
    workload_text: str
    settings: RunSettings
    machine: Machine
    directory: Path
    store: Path
    command: list[str]
    warnings: tuple[str, ...] = ()
    """What is known beforehand that the reader of the result must know."""
    aim: Aim | None = None
    """When repetitions are enough; None: as many as the settings or the workload say."""
    background: BackgroundReader | None = None
    """Knows what was felt on the file system meanwhile; None: nobody watched it."""
    run_of: RunOf | None = None
    """Of which runs it is one; None: as a campaign says in the environment."""


@dataclass(frozen=True)
class Prepared:
    """A run that can start: its plan, its journal, and the line that starts it."""

    made: PlanResult
    journal: RunJournal
    launch: list[str]
    store: Path
    pacing: Pacing | Patience | None = None
    clocks: Clocks | None = None
    """The clocks that are watched for steps; None: those of this host."""
    background: BackgroundReader | None = None
    """As in the request."""


def prepare(request: Request) -> Prepared:
    """Check and plan a run. Raises UserError or TargetProblem, and then nothing is left."""
    check_directory(request.directory)
    check_type(request.directory, request.machine.expect_fstype)
    make_store(request.store)
    journal = RunJournal(request.store, request.workload.name)
    try:
        made = _planned(request, journal)
        facts = _facts(request, made, journal)
        plan_path = journal.begin(made.plan, facts, request.workload_text)
        line = launch_line(request.machine, made.plan.ranks, plan_path, request.settings.nodes)
    except BaseException:
        journal.discard()
        raise
    return Prepared(
        made,
        journal,
        line,
        request.store,
        _pacing(request, made),
        background=request.background,
    )


def _pacing(request: Request, made: PlanResult) -> Pacing | Patience | None:
    """What may end the run early: what the user wants to know, or the workload's own time."""
    if request.aim is not None:
        return Pacing(request.aim, request.workload, made.parameters)
    return None if made.repeat_within_s is None else Patience(made.repeat_within_s)


def perform(prepared: Prepared, watch: Callable[[Event], None]) -> Record:
    """Do a prepared run and return its record; `watch` is told every event.

    Raises UserError, TargetProblem or RunFailed where there is no record to return, and
    KeyboardInterrupt where the user ended it before there was anything to keep. A Ctrl-C while the
    record is made waits till it is there, then it is the caller's.
    """
    stopping = Stopping()
    with stopping.listening():
        record = _performed(prepared, watch, stopping)
    if stopping.asked and not record.interrupted:
        signal.raise_signal(signal.SIGINT)
    return record


def _performed(prepared: Prepared, watch: Callable[[Event], None], stopping: Stopping) -> Record:
    journal = prepared.journal
    failed: Failed | None = None
    fine = False
    plan = prepared.made.plan
    commands = Commands(journal.folder, Path(plan.directory), prepared.made.commands)
    job = EngineJob(prepared.launch, journal.folder, journal.lock)
    monitor = Monitor(Path(plan.directory).parent, journal.note_host, prepared.clocks)
    try:
        with commands, monitor:
            for text, event in job.events():
                if stopping.asked and not job.interrupts:  # before the job listened
                    job.ask_to_end()
                journal.note(text)
                _observe(monitor, event, job.pid, journal.folder / "plan.json")
                watch(event)
                if prepared.pacing and (why := prepared.pacing.why_enough(event)):
                    (journal.folder / ENOUGH_NAME).write_text(why, "utf-8")
                    job.end_after_repetition()
                if isinstance(event, Failed):
                    failed = event
                    job.failed()
                fine = isinstance(event, Finished) and event.errors == 0
        _keep_background(prepared, lambda: stopping.asked)
    finally:
        code, errors = job.returncode, job.stderr()
        if fine and code and not job.interrupts:
            journal.note_strange_end(_strange_end(code, errors))
        journal.close()
        folder = conclude(prepared.store, journal.folder, interrupted=job.interrupts > 0)
    if folder is None:
        if job.interrupts and (failed is None or failed.code == "interrupted"):
            raise KeyboardInterrupt
        raise _refusal(failed, code, errors)
    return load_record(folder)


def _keep_background(prepared: Prepared, is_hurried: Callable[[], bool]) -> None:
    """Ask what was felt on the file system, and keep it; a run does not fail for want of it."""
    journal = prepared.journal
    if prepared.background is None:
        return
    times = times_of(read_events(journal.folder), list(read_samples(journal.folder)))
    if times is None:
        return
    try:
        journal.keep_text(BACKGROUND_NAME, lines_of(prepared.background(times, is_hurried)))
    except (UserError, OSError) as error:
        what = f"what the probe beside the run felt could not be read: {error}"
        journal.note(Warning(what=what).model_dump_json())


def _observe(monitor: Monitor, event: Event, pid: int, plan: Path) -> None:
    """Read the host's counters where an event says that it is time."""
    if isinstance(event, Hello):
        monitor.begin(pid, plan)
    elif isinstance(event, PhaseFinished):
        monitor.sample_if_due()
    elif isinstance(event, Finished | Failed):
        monitor.sample()


def _planned(request: Request, journal: RunJournal) -> PlanResult:
    """The plan, checked against the engine and the target."""
    settings = replace(
        request.settings,
        most_ranks=request.machine.most_ranks,
        run=journal.run,
        directory=str(request.directory),
        run_directory=str(request.directory / f"venturi-{journal.run}"),
        repetitions=request.aim.most if request.aim else request.settings.repetitions,
        journal=str(journal.folder),
        expect_fstype=request.machine.expect_fstype,
        server_memory_bytes=request.machine.server_memory_bytes,
    )
    made = make_plan(request.workload, settings)
    check_nodes(request.machine, settings.nodes)
    check_foreign(made.plan)
    check_metrics(request.workload, made.totals.phases, made.totals.bytes_by_phase)
    check_built(made.plan, request.machine)
    if any(file.interface.entry.reaches_storage for file in made.plan.files):
        _check_room(request.directory, made)
    return made


def _check_room(directory: Path, made: PlanResult) -> None:
    """Raise TargetProblem where the run does not fit; a phase with a limit need not do it all."""
    totals = made.totals
    try:
        check_room(directory, totals.bytes_written + totals.bytes_prestaged, totals.files)
    except TargetProblem as problem:
        if not any(has_limit(group.program) for group in made.plan.groups):
            raise
        made.warnings.append(f"{problem.message}: a time limit has to end it before that")


def has_limit(steps: Sequence[Step]) -> bool:
    """Whether a phase of a program ends at a time."""
    return any(
        (isinstance(step, Phase) and step.limit_s is not None)
        or (isinstance(step, For | When | Phase) and has_limit(step.body))
        for step in steps
    )


def check_foreign(plan: Plan) -> None:
    """Raise TargetProblem for somebody's file that cannot be read like a file."""
    for file in plan.files:
        if not file.foreign or any(part.value for part in file.path):
            continue
        path = Path("".join(part.text for part in file.path))
        if not path.is_file():
            raise TargetProblem(
                f"files.{file.name}: {path} is not there, or not a regular file",
                "check the path; a relative one begins at -d DIR",
            )


def check_built(plan: Plan, machine: Machine) -> None:
    """Raise UserError for an interface that the engine does not have, or a wrong option."""
    names = tuple(sorted({file.interface.value for file in plan.files}))
    if not names:
        return
    backends = describe_interfaces(find_engine(machine.launcher.mpi), names)
    for file in plan.files:
        backend = backends.get(file.interface.value)
        if backend is None or not backend["built"]:
            reason = backend["reason"] if backend else "unknown to this engine"
            raise UserError(
                f"files.{file.name}: the interface '{file.interface.value}' is not built here "
                f"({reason})",
                "run it on another one with --set interface=posix; the result then says so",
            )
        known = {option["name"] for option in backend["options"]}
        for option in file.options:
            if option.name not in known:
                words = ", ".join(sorted(known)) or "none"
                raise UserError(
                    f"files.{file.name}: {file.interface.value} has no option '{option.name}'",
                    f"its options: {words}",
                )


def _facts(request: Request, made: PlanResult, journal: RunJournal) -> RunFacts:
    files = file_system_of(request.directory)
    return RunFacts(
        id=journal.run,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        command=request.command,
        directory=str(request.directory),
        run_directory=made.plan.directory,
        target_identity=identity_of(request.directory),
        ranks=made.plan.ranks,
        seed=made.plan.seed,
        repetitions_asked=made.plan.repetitions,
        parameters=made.parameters,
        substituted=made.substituted,
        interfaces=sorted({file.interface.value for file in made.plan.files}),
        bounds=bounds_at(request.machine, request.directory.absolute()),
        ceilings=ceilings(
            request.machine,
            request.directory.absolute(),
            request.store,
            platform.node(),
            request.settings.nodes,
        ),
        cold_wanted=made.totals.cold_phases,
        faults=sum(len(file.faults) for file in made.plan.files),
        warnings=[*request.warnings, *made.warnings],
        host=platform.node(),
        kernel=platform.release(),
        system=host.system_name(),
        cpu=host.cpu_name(),
        cores=os.cpu_count() or 1,
        memory_bytes=host.memory_bytes(),
        host_limits=limits(host.memory_bytes()),
        load_average=os.getloadavg()[0],
        file_system=files,
        layout=layout_of(request.directory, files.type, files.source),
        python=sys.version.split()[0],
        venturi=venturi.__version__,
        variables=host.io_variables(),
        workload=json.loads(request.workload.model_dump_json(by_alias=True, exclude_defaults=True)),
        machine=request.machine.name,
        run_of=request.run_of or read_run_of(os.environ.get(RUN_OF)),
    )


def _strange_end(code: int, errors: str) -> str:
    """The engine had said that all was done, and then did not end well."""
    said = next((line.strip() for line in errors.splitlines() if line.strip(" =")), "no message")
    return f"the engine ended with exit code {code} after its last event: {said}"


def _refusal(failed: Failed | None, code: int, errors: str) -> VenturiError:
    """Why the engine measured nothing."""
    if failed is not None:
        kinds = {ExitCode.USAGE: UserError, ExitCode.TARGET: TargetProblem}
        return kinds.get(ExitCode(failed.exit_code), RunFailed)(failed.sentence, failed.hint)
    last = next((line for line in reversed(errors.splitlines()) if line.strip()), "no message")
    return RunFailed(f"the engine did not start (exit code {code}): {last}")
