"""A campaign from its file to its folder, and back from the folder."""

from __future__ import annotations

import difflib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from venturi import library
from venturi.campaign.build import fetch, source_at
from venturi.campaign.contrast import check_contrasts
from venturi.campaign.estimate import estimate_of
from venturi.campaign.folder import CANCEL, SESSION
from venturi.campaign.journal import CampaignJournal, entries
from venturi.campaign.limit import check_limits
from venturi.campaign.run_session import RunSession
from venturi.campaign.scale import TARGET, at_scale, in_targets, target_names
from venturi.campaign.scheduler import scheduler_of
from venturi.campaign.status import CampaignStatus
from venturi.campaign.supervise import Supervisor
from venturi.campaign.task import CampaignPaths, CampaignTask, tasks_of
from venturi.campaign.unbuilt import without_unbuilt
from venturi.execute.launcher import check_nodes, is_built_in, machine_named
from venturi.execute.stopping import Stopping
from venturi.execute.target import check_directory
from venturi.model.aim import Aim
from venturi.model.campaign import Campaign, CampaignEstimate, CampaignResult, TaskState
from venturi.model.error import UserError
from venturi.model.machine import Machine, SchedulerKind
from venturi.model.workload import DEFAULT_SCALE
from venturi.model.yaml_text import parse_yaml, read_text
from venturi.store.place import new_id
from venturi.store.whole_file import write_whole

ENDING = ".campaign"


@dataclass(frozen=True)
class CampaignRequest:
    """What the user asked for."""

    file: Path
    directory: Path
    store: Path
    machine: str
    repeat: int | None = None
    aim: Aim | None = None
    """When repetitions are enough; None: as the campaign says."""
    pack: int | None = None
    text: str | None = None
    """The campaign, where it stands in no file; then `file` says only where it would."""
    is_here: bool = False
    """Jobs are processes of this host, whatever the machine's file says."""
    scale: str | None = None
    """None: as the file says, or the default."""
    others: tuple[Path, ...] = ()
    """More directories, in each of which every point runs."""

    @property
    def targets(self) -> dict[str, Path]:
        """All directories by what the parameter `target` calls them; empty: there is only one."""
        every = (self.directory, *self.others)
        return dict(zip(target_names(every), every, strict=True)) if self.others else {}


@dataclass(frozen=True)
class PlannedCampaign:
    """A campaign before anything is written."""

    campaign: Campaign
    tasks: list[CampaignTask]
    points: int
    left_out: list[str]
    """Points that cannot run here, in words."""


@dataclass(frozen=True)
class Opened:
    """A campaign with its folder."""

    campaign: Campaign
    machine: Machine
    directory: str
    points: int
    campaign_status: CampaignStatus
    scale: str = ""
    left_out: list[str] = field(default_factory=list)

    def outcome(self, is_whole: bool = True) -> CampaignResult:
        """What was found so far; `is_whole` as in `outcome_of`."""
        from venturi.campaign.outcome import outcome_of

        self.campaign_status.refresh()
        name = self.machine.name
        status, points = self.campaign_status, self.points
        result = outcome_of(self.campaign, status, name, self.directory, points, is_whole)
        own = self.campaign.scales.get(self.scale)  # type: ignore[call-overload]  # it is a name
        return result.model_copy(
            update={
                "scale": self.scale,
                "scale_about": own.about if own is not None else "",
                "left_out": self.left_out,
            }
        )


def directory_of(name: str, machine: str) -> Path:
    """The directory that `-d` means: one of the machine's targets by its name, or a path."""
    targets = {target.name: target.path for target in machine_named(machine).targets}
    return Path(targets.get(name, name)).absolute()


def read_campaign(request: CampaignRequest) -> Campaign:
    """The campaign of a file, with what the command line changes in it."""
    campaign = at_scale(parse_yaml(_text_of(request), str(request.file), Campaign), request.scale)
    check_contrasts(campaign)
    if request.others:
        campaign = in_targets(campaign, list(request.targets))
    changes: dict[str, object] = {}
    if request.repeat is not None:
        changes["repeat"] = request.repeat
        changes["steps"] = {
            name: step.model_copy(
                update={"repeat": None if step.repeat is None else request.repeat}
            )
            for name, step in campaign.steps.items()
        }
        changes["until"] = None
    if request.aim is not None:
        changes["until"] = request.aim
    if request.pack is not None:
        changes["pack"] = request.pack
    return campaign.model_copy(update=changes)


def _text_of(request: CampaignRequest) -> str:
    return campaign_text(request.file) if request.text is None else request.text


def campaign_text(file: Path) -> str:
    """The text of a campaign's file, or of the campaign that ships under this name.

    UserError if it is neither.
    """
    if not file.is_file() and str(file) in library.campaign_names():
        return library.campaign_text(str(file))
    if not file.exists() and not file.suffix:
        near = difflib.get_close_matches(str(file), library.campaign_names(), n=1)
        meant = f"did you mean '{near[0]}'? " if near else ""
        raise UserError(
            f"there is no campaign '{file}'",
            f"{meant}Name a YAML file, or a campaign of `venturi library ls`",
        )
    return read_text(file)


def planned(request: CampaignRequest, folder: Path) -> PlannedCampaign:
    """The campaign, its tasks and the number of its points; nothing is written."""
    campaign = read_campaign(request)
    site = machine_named(request.machine)
    machine = request.machine if is_built_in(request.machine) else str(folder / "machine.yaml")
    home = request.file.absolute().parent
    place = CampaignPaths(
        folder, request.directory, request.store, machine, site, home, request.targets
    )
    steps = {
        name: step.model_copy(update={"workload": str(_workload_file(request, step.workload))})
        if _workload_file(request, step.workload) is not None
        else step
        for name, step in campaign.steps.items()
    }
    tasks, points = tasks_of(campaign.model_copy(update={"steps": steps}), place)
    left_out: list[str] = []
    if campaign.leave_out_unbuilt:
        kept, left_out = without_unbuilt(tasks, site)
        points -= len({task.point for task in tasks} - {task.point for task in kept})
        tasks = kept
    return PlannedCampaign(campaign, tasks, points, left_out)


def create(request: CampaignRequest, folder: Path) -> Opened:
    """Makes a campaign's folder. Raises UserError or TargetProblem, and then nothing is left."""
    made = planned(request, folder)
    campaign, tasks, points = made.campaign, made.tasks, made.points
    estimate = estimate_of(campaign, tasks, points, request.directory)
    machine = machine_named(request.machine)
    if machine.scheduler.kind is SchedulerKind.LOCAL:
        check_nodes(machine, max(task.nodes for task in tasks))
    for name, directory in (request.targets or {"": request.directory}).items():
        check_directory(directory)
        own = _in_target(estimate, name)
        check_limits(own, machine, directory)
    for source in {
        source_at(task.source, task.commit, request.store) for task in tasks if task.commit
    }:
        fetch(source)
    facts = {
        "machine": request.machine if is_built_in(request.machine) else "machine.yaml",
        "directory": ", ".join(map(str, (request.directory, *request.others))),
        "scale": (request.scale or DEFAULT_SCALE) if campaign.scales else "",
        "left_out": made.left_out,
        "is_here": request.is_here,
        "points": points,
        "campaign": campaign.to_data(),
        "tasks": [asdict(task) for task in tasks],
    }
    texts = {
        "campaign.yaml": _text_of(request),
        "plan.json": json.dumps(facts) + "\n",
        "journal.jsonl": "",
        SESSION: _session(campaign, request).text(),
    }
    if not is_built_in(request.machine):
        texts["machine.yaml"] = read_text(Path(request.machine))
    _make_whole(folder, texts)
    return open_folder(folder)


def _in_target(estimate: CampaignEstimate, name: str) -> CampaignEstimate:
    """What of an estimate is done in one of several targets; all of it without a name."""
    rows = [row for row in estimate.rows if row.parameters.get(TARGET, name) == name]
    return estimate.model_copy(update={"rows": rows})


def _session(campaign: Campaign, request: CampaignRequest) -> RunSession:
    """The session that begins here and now."""
    return RunSession(
        name=new_id(campaign.name),
        campaign=campaign.name,
        store=str(request.store),
        started_in=str(Path.cwd()),
    )


def _make_whole(folder: Path, texts: Mapping[str, str]) -> None:
    """Makes a folder with files, as a whole or not at all; UserError where it cannot be."""
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            beside.chmod(0o755)
            for part in ("jobs", "tasks"):
                (beside / part).mkdir()
            for name, text in texts.items():
                write_whole(beside / name, text)
            beside.rename(folder)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}", "choose another place with -o") from None


def open_folder(folder: Path) -> Opened:
    """A campaign that was begun; UserError for a folder that is none."""
    try:
        facts = json.loads((folder / "plan.json").read_text("utf-8"))
        tasks = {entry["name"]: CampaignTask(**entry) for entry in facts["tasks"]}
        campaign = Campaign.model_validate_json(json.dumps(facts["campaign"]), by_alias=True)
    except FileNotFoundError:
        raise UserError(
            f"{folder}: this is no folder of a campaign", "venturi campaign run FILE makes one"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'plan.json'}: damaged: {error}") from None
    name = facts["machine"]
    machine = machine_named(name if is_built_in(name) else str(folder / name))
    if facts.get("is_here"):
        here = machine.scheduler.model_copy(update={"kind": SchedulerKind.LOCAL})
        machine = machine.model_copy(update={"scheduler": here})
    campaign_status = CampaignStatus(folder, tasks)
    campaign_status.replay(entries(folder))
    campaign_status.refresh()
    return Opened(
        campaign,
        machine,
        facts["directory"],
        facts["points"],
        campaign_status,
        facts.get("scale", ""),
        facts.get("left_out", []),
    )


def folder_of(name: str) -> Path:
    """The folder of a begun campaign: itself, or the newest one here of a campaign's file."""
    path = Path(name)
    if path.is_dir():
        return path.absolute()
    campaign = parse_yaml(campaign_text(path), name, Campaign)
    found = [
        folder
        for folder in Path.cwd().glob(f"{campaign.name}*{ENDING}")
        if folder.is_dir() and (folder / "plan.json").is_file()
    ]
    if not found:
        raise UserError(
            f"{name}: no campaign of it was begun here", f"venturi campaign run {name} -d DIR"
        )
    return max(found, key=lambda folder: (folder / "plan.json").stat().st_mtime).absolute()


@contextmanager
def supervising(opened: Opened) -> Iterator[Supervisor]:
    """A supervisor that holds the campaign; SIGINT, SIGTERM and SIGHUP ask it to come back."""
    folder = opened.campaign_status.folder
    journal = CampaignJournal(folder)
    try:
        settings = opened.machine.scheduler
        scheduler = scheduler_of(opened.machine)
        stopping = Stopping()
        supervisor = Supervisor(
            opened.campaign_status, journal, scheduler, settings, opened.campaign.pack, stopping
        )
        with stopping.listening():
            yield supervisor
    finally:
        journal.close()


def follow(opened: Opened, retry: set[TaskState], watch: Callable[[CampaignStatus], None]) -> bool:
    """Goes on with a campaign till its end; whether it came there."""
    with supervising(opened) as supervisor:
        supervisor.again(retry)
        supervisor.follow(watch)
        while not supervisor.stopping.asked and (more := _further(opened)):
            supervisor.extend(more)
            supervisor.follow(watch)
        if supervisor.stopping.asked:
            supervisor.stop()
        return not supervisor.stopping.asked


def _further(opened: Opened) -> list[CampaignTask]:
    """Repetitions that a campaign still wants, where it leaves their number open."""
    if opened.campaign.until is None:
        return []
    from venturi.campaign.adaptive_repetition import additional_tasks

    return additional_tasks(opened.campaign, opened.campaign_status, opened.outcome(False).rows)


def _workload_file(request: CampaignRequest, name: str) -> Path | None:
    """The file that a step's workload names, beside the campaign's own; None for other names."""
    path = (request.file.absolute().parent / name).resolve()
    return path if name and path.is_file() else None


def cancel_tasks(opened: Opened, points: Sequence[str]) -> int:
    """Cancels runs by the names of their points or their own; all without names. How many."""
    names = list(opened.campaign_status.tasks)
    if points:
        for point in points:
            if point not in names and all(task.point != point for task in tasks_in(opened)):
                known = ", ".join(list(dict.fromkeys(task.point for task in tasks_in(opened)))[:8])
                raise UserError(f"there is no point or run '{point}'", f"for instance {known}")
        wanted = set(points)
        names = [task.name for task in tasks_in(opened) if {task.name, task.point} & wanted]
    for name in names:
        home = opened.campaign_status.folder / "tasks" / name
        if not opened.campaign_status.states[name].is_final:
            home.mkdir(parents=True, exist_ok=True)
            (home / CANCEL).touch()
    return _tell(opened, names)


def tasks_in(opened: Opened) -> list[CampaignTask]:
    """All tasks of a campaign."""
    return list(opened.campaign_status.tasks.values())


def _tell(opened: Opened, names: list[str]) -> int:
    """Tells the jobs of tasks that they are not wanted; how many were not at an end."""
    campaign_status = opened.campaign_status
    scheduler = scheduler_of(opened.machine)
    wanted = [name for name in names if not campaign_status.states[name].is_final]
    for job in campaign_status.in_flight:
        own = [name for name in job.tasks if not campaign_status.states[name].is_final]
        if job.number is not None and set(own) & set(wanted):
            scheduler.cancel(job.number, look_only=not set(own) <= set(wanted))
    return len(wanted)


def keep(opened: Opened, result: CampaignResult) -> None:
    """Writes the result into the campaign's folder."""
    write_whole(opened.campaign_status.folder / "result.json", result.to_json(indent=1) + "\n")
