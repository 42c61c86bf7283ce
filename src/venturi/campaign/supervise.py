"""Following a campaign: submit what is ready, see what became of it, until nothing is left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from venturi.campaign.job import JobPlan, Room, packed, write_list
from venturi.campaign.journal import CampaignJournal
from venturi.campaign.scheduler import JobState, SchedulerAdapter, Script, SubmitError
from venturi.campaign.status import CampaignStatus, SubmittedJob
from venturi.campaign.task import CampaignTask
from venturi.execute.stopping import Stopping
from venturi.model.campaign import EndReason, TaskState
from venturi.model.machine import Scheduler as SchedulerSettings
from venturi.model.machine import SchedulerKind
from venturi.store.whole_file import write_whole

_GRACE_S = 60.0
"""How long a job may be known to nobody: file systems show late what a job wrote."""
_QUICK_S = 0.1


class Supervisor:
    """Submits, polls and notes, for one campaign; holds its journal."""

    def __init__(
        self,
        campaign_status: CampaignStatus,
        journal: CampaignJournal,
        scheduler: SchedulerAdapter,
        settings: SchedulerSettings,
        pack: int | None,
        stopping: Stopping,
    ) -> None:
        self._campaign_status = campaign_status
        self._journal = journal
        self._scheduler = scheduler
        self._settings = settings
        self._pack = pack
        self._is_local = settings.kind is SchedulerKind.LOCAL
        self.stopping = stopping
        """Once asked for, nothing more is submitted, and `follow` comes back soon."""

    def follow(self, watch: Callable[[CampaignStatus], None]) -> None:
        """Goes on until all tasks have come to an end, or somebody asks it to stop.

        Raises SubmitError where a job is refused; all that was submitted before goes on.
        """
        pause_s = _QUICK_S
        while True:
            self._look()
            watch(self._campaign_status)
            if self.stopping.asked or self._is_finished():
                return
            if self._submit_ready():
                pause_s = _QUICK_S
            until_s = time.monotonic() + pause_s
            while time.monotonic() < until_s and not self.stopping.asked:
                time.sleep(min(_QUICK_S, pause_s))
            pause_s = min(2 * pause_s, self._settings.poll_s)

    def stop(self) -> None:
        """Ends the jobs of this host so that a later command goes on where they were.

        Jobs of a batch system go on; a later command attaches to them.
        """
        if not self._is_local:
            return
        for job in self._campaign_status.in_flight:
            self._note("stopping", job=job.key)
            if job.number is not None:
                self._scheduler.cancel(job.number)
        while self._campaign_status.in_flight:
            self._look()
            time.sleep(_QUICK_S)
        self._redo_stopped()

    def again(self, states: set[TaskState]) -> list[str]:
        """Plans anew the tasks in these states; what they left stays beside."""
        self._look()
        self._redo_stopped()
        names = [name for name, state in self._campaign_status.states.items() if state in states]
        blocked = [
            n for n, state in self._campaign_status.states.items() if state is TaskState.BLOCKED
        ]
        if names:
            names += [name for name in blocked if name not in names]
        self._redo(names)
        return names

    def extend(self, tasks: Sequence[CampaignTask]) -> None:
        """Adds tasks to those of the campaign's plan."""
        self._note("more", tasks=[asdict(task) for task in tasks])
        self._campaign_status.refresh()

    def _redo_stopped(self) -> None:
        """Tasks that this command's own stop cut short are planned again."""
        self._redo(
            [
                name
                for name, ended in self._campaign_status.ended.items()
                if ended.ending is EndReason.SIGNAL
                and (job := self._campaign_status.job_of.get(name)) is not None
                and job.was_stopped
            ]
        )

    def _redo(self, names: list[str]) -> None:
        for name in names:
            home = self._campaign_status.folder / "tasks" / name
            if home.exists():
                attempt = 1
                while (beside := home.with_name(f"{home.name}.attempt{attempt}")).exists():
                    attempt += 1
                home.rename(beside)
        if names:
            self._note("again", tasks=names)
            self._campaign_status.refresh()

    def _note(self, what: str, **facts: object) -> None:
        self._journal.note(what, **facts)
        self._campaign_status.take({"what": what, **facts})

    def _is_finished(self) -> bool:
        states = self._campaign_status.states.values()
        return all(state.is_final for state in states) and not self._campaign_status.in_flight

    def _look(self) -> None:
        """Asks the scheduler, notes what is over, and reads what jobs wrote."""
        open_jobs = self._campaign_status.in_flight
        known = {job.number: job for job in open_jobs if job.number is not None}
        over: list[SubmittedJob] = []
        for number, state in self._scheduler.poll(list(known)).items():
            job = known[number]
            job.state = state
            if state.is_over or (state is JobState.UNKNOWN and self._is_forgotten(job)):
                over.append(job)
            elif state is not JobState.UNKNOWN:
                job.unknown_since_s = None
        for job in open_jobs:
            if job.number is None:
                number_found = self._scheduler.find(job.name)
                if number_found is not None:
                    self._note("submitted", job=job.key, number=number_found)
                elif self._is_forgotten(job):
                    job.state = JobState.UNKNOWN
                    over.append(job)
        for job in over:
            self._note("over", job=job.key, state=job.state.value)
        self._campaign_status.refresh()

    def _is_forgotten(self, job: SubmittedJob) -> bool:
        """Whether a job is known to nobody for so long that nothing will come of it any more."""
        if job.unknown_since_s is None:
            job.unknown_since_s = time.monotonic()
        patience_s = 1.0 if self._is_local else _GRACE_S
        all_ended = all(
            self._campaign_status.states.get(t, TaskState.PLANNED).is_final for t in job.tasks
        )
        return all_ended or time.monotonic() - job.unknown_since_s >= patience_s

    def _submit_ready(self) -> bool:
        """Hands over what can begin, as far as there is room; whether anything was."""
        campaign_status = self._campaign_status
        room = self._settings.most_jobs - len(campaign_status.in_flight)
        if room <= 0:
            return False
        ready = [
            task
            for name, task in campaign_status.tasks.items()
            if campaign_status.states[name] is TaskState.PLANNED
            and all(campaign_status.states[before].is_final for before in task.after)
        ]
        most = self._settings.most_minutes
        space = Room(self._pack, None if most is None else 60.0 * most, not self._is_local)
        jobs = packed(ready, space, len(campaign_status.jobs) + 1)
        for job in jobs[:room]:
            self._submit(job)
        return bool(jobs)

    def _submit(self, job: JobPlan) -> None:
        folder = self._campaign_status.folder
        name = f"venturi-{folder.name.removesuffix('.campaign')}-{folder.stat().st_ino}-{job.name}"
        write_list(folder, job)
        script = Script(folder / "jobs" / f"{job.name}.sh", folder / "jobs" / f"{job.name}.out")
        write_whole(script.path, self._scheduler.render(job, name, folder, script.output))
        tasks = [task.name for task in job.tasks]
        self._note("submitting", job=job.name, name=name, tasks=tasks)
        try:
            number = self._scheduler.submit(script)
        except SubmitError:
            self._note("over", job=job.name, state=JobState.UNKNOWN.value)
            with contextlib.suppress(OSError):
                Path(script.output).unlink()
            raise
        self._note("submitted", job=job.name, number=number)
