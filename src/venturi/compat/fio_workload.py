"""The jobs of fio as a workload: a group for each job, a rank for each of its clones."""

from __future__ import annotations

import json
import math
import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from venturi.compat.fio_command import FioCommand
from venturi.compat.fio_entry import Entries, FileEntry, PlacedJob, is_apart, is_filled, unique
from venturi.compat.fio_job import FioJob, read_job
from venturi.compat.fio_place import one_directory, place_of
from venturi.compat.fio_section import TOOL
from venturi.compat.fio_shape import (
    JobShape,
    check_together,
    is_step_by_step,
    rate_of,
    shape_of,
)
from venturi.compat.perform import PlannedRun
from venturi.model.error import UserError
from venturi.model.row_table import RowTable
from venturi.model.workload import Workload

Step = dict[str, Any]
LAYOUT, VERIFY, OPENING, CACHE, RAMP = "layout", "verify", "opening", "cache", "ramp"
"""What follows a job's name in the names of phases beside its own."""
_READY = "files are there"
_RAMP_STEP = 15_485_863
"""Between the seeds of a job and of its ramp."""
_KEY_STEP = 1_000_003
"""Between the keys of two clones' orders."""


@dataclass(frozen=True)
class FioRun:
    """A command line that can run."""

    trial: PlannedRun
    directory: Path
    jobs: tuple[PlacedJob, ...]


def fio_run(
    command: FioCommand,
    directory: str | None = None,
    seed: int | None = None,
    reserves: Callable[[Path], bool] = lambda target: True,
) -> FioRun:
    """The run of a command line; `directory` stands for that of the jobs.

    `reserves` says whether files in the target get their space beforehand; where they cannot,
    `fallocate=native` goes on without, as fio does.
    `seed` is taken where a job wants another order in each run, or else drawn. Raises UserError
    that names everything that is wrong or refused.
    """
    problems = list(command.problems)
    seed = secrets.randbelow(1 << 31) if seed is None else seed
    jobs = [_seeded(read_job(section, problems), seed) for section in command.sections]
    for job in jobs:
        check_together(job, problems)
        if command.read_only and job.writes:
            problems.append(f"{job.where}: job {job.name}: writes, and --readonly forbids it")
    _complain(problems)
    placed = _placed(jobs, directory, problems)
    _complain(problems)
    target = one_directory(jobs, [each.place for each in placed], problems)
    warnings = _warnings(jobs)
    if any(_may_reserve(each) for each in placed) and not reserves(target):
        placed = [_unreserved(each) for each in placed]
        warnings.append("fallocate=native: this file system cannot reserve space, so none is")
    entries = Entries(placed, problems)
    _complain(problems)
    document: Step = {
        "workload": 1,
        "name": TOOL,
        "about": "; ".join(job.about for job in jobs if job.about) or "jobs of fio",
        "origin": {"source": "a command line of fio"},
        "repeat": 1,
        "groups": {each.group: {"ranks": each.job.clones} for each in placed},
        "files": entries.files(),
        "program": {each.group: _Program(each, placed, entries).steps() for each in placed},
    }
    tables = {_table_of(each): _order(each) for each in placed if each.job.is_interleaved}
    if tables:
        document["tables"] = tables
    if any(job.logs for job in jobs):
        document["log_operations"] = True
    seeds = [job.seed for job in jobs if job.is_random and job.seed is not None]
    trial = PlannedRun(
        Workload.model_validate_json(json.dumps(document)),
        ranks=sum(job.clones for job in jobs),
        repetitions=1,
        seed=seeds[0] if seeds else 1,
        warnings=tuple(warnings),
    )
    return FioRun(trial, target, tuple(placed))


def _seeded(job: FioJob, seed: int) -> FioJob:
    return job if job.seed is not None else replace(job, seed=seed)


def _table_of(placed: PlacedJob) -> str:
    return f"{placed.group}_order"


def _order(placed: PlacedJob) -> Step:
    """Reads and writes of `rw=rw`: the exact share of each in an order by chance; each way has
    places of its own, one behind the other."""
    job, count = placed.job, placed.shape.requests
    most = placed.shape.slots
    reads = min(max(round(count * job.reads_share), count - most), most)
    ways = [0] * reads + [1] * (count - reads)
    random.Random(f"{job.seed} {placed.number}").shuffle(ways)
    done = [0, 0]
    places = []
    for way in ways:
        places.append(done[way])
        done[way] += 1
    table: Step = RowTable.of({"way": ways, "place": places}).model_dump()
    return table


def _may_reserve(placed: PlacedJob) -> bool:
    job = placed.job
    kept = job.is_stored and not job.entry.is_mapping
    return job.fallocate == "native" and kept and job.lays_out and not is_filled(placed)


def _unreserved(placed: PlacedJob) -> PlacedJob:
    if not _may_reserve(placed):
        return placed
    return replace(placed, job=replace(placed.job, fallocate="none"))


def _complain(problems: Sequence[str]) -> None:
    if not problems:
        return
    page = f"docs/compatibility/{TOOL}.md lists every option"
    different = list(dict.fromkeys(problems))
    if len(different) == 1:
        raise UserError(f"{TOOL}: {different[0]}", page)
    raise UserError(f"{TOOL}: {len(different)} problems:\n  " + "\n  ".join(different), page)


def _warnings(jobs: Sequence[FioJob]) -> list[str]:
    found = []
    for job in jobs:
        if job.depth > 1 and not job.overlaps:
            found.append(f"job {job.name}: ioengine={job.engine} has one request in flight")
        if job.logs:
            found.append(
                f"job {job.name}: {', '.join(job.logs)}: fio's log files are not written; "
                "operations.npz of the record has every request"
            )
    return found


def _placed(jobs: Sequence[FioJob], directory: str | None, problems: list[str]) -> list[PlacedJob]:
    """The jobs with their files, their sizes, and whom they wait for."""
    found: list[PlacedJob] = []
    taken: set[str] = set()
    wall: frozenset[int] = frozenset()
    walls = 0
    for number, job in enumerate(jobs):
        if number and (job.stonewall or job.begins_file):
            wall = frozenset(range(number))
            walls += 1
        waits = wall | _waited_for(job, jobs[:number], problems)
        place = place_of(job, directory, problems)
        shape = shape_of(job, place.existing_bytes, problems)
        group = unique(job.name, taken)
        taken.add(group)
        if shape is not None:
            found.append(PlacedJob(number, job, shape, place, group, waits, walls))
    return found


def _waited_for(job: FioJob, before: Sequence[FioJob], problems: list[str]) -> frozenset[int]:
    if not job.wait_for:
        return frozenset()
    found = [number for number, other in enumerate(before) if other.name == job.wait_for]
    if len(found) != 1:
        problems.append(
            f"{job.where}: job {job.name}: wait_for={job.wait_for}: {len(found)} jobs before it "
            "have this name"
        )
    return frozenset(found)


class _Program:
    """The program of one job."""

    def __init__(self, placed: PlacedJob, jobs: Sequence[PlacedJob], entries: Entries) -> None:
        self._placed = placed
        self._job: FioJob = placed.job
        self._shape: JobShape = placed.shape
        self._jobs = jobs
        self._all = entries
        self._entries = entries.of(placed)
        self._by_number = len(self._entries) == 1 and self._job.file_count > 1

    def steps(self) -> list[Any]:
        """All of it: layout, waiting for others, the passes, and the check of what was written."""
        job, placed = self._job, self._placed
        steps: list[Any] = self._layout()
        if len(self._jobs) > 1:
            steps += [{"signal": _READY}, {"wait": _READY}]
        steps += [
            {"wait": f"{other.group} is over"}
            for other in self._jobs
            if other.number in placed.waits
        ]
        if job.delay_s:
            steps.append({"compute": job.delay_s})
        steps += self._passes()
        if job.verify and job.verify_reads and job.writes:
            steps.append(self._verify())
        if any(placed.number in other.waits for other in self._jobs):
            steps.append({"signal": f"{placed.group} is over"})
        return steps

    # --- files ---

    def _makes(self, entry: FileEntry) -> bool:
        """Whether this job is the one that makes these files."""
        first = entry.maker or entry
        is_first = first.first.number == self._placed.number
        return is_first and not is_filled(self._placed) and not self._placed.place.existing

    def _makes_late(self) -> bool:
        """Whether files are made in the job's own phase: a mapping gives them their size then."""
        return self._job.entry.is_mapping or not self._job.is_stored

    def _layout(self) -> list[Step]:
        job = self._job
        made = [entry for entry in self._entries if self._makes(entry)]
        if not made or not job.lays_out or self._makes_late():
            return []
        body: list[Any] = []
        for entry in made:
            steps: list[Step] = [{"create": entry.name}]
            if job.fallocate == "truncate":
                steps.append({"truncate": {"on": entry.name, "size": self._shape.file_bytes}})
            body += self._each_file([*steps, {"close": entry.name}])
        return [{"phase": f"{self._placed.group} {LAYOUT}", "do": body}]

    def _each_file(self, steps: list[Step]) -> list[Step]:
        if not self._by_number:
            return steps
        return [{"for": "file", "in": self._job.file_count, "do": steps}]

    def _opens(self, entry: FileEntry) -> list[Step]:
        fresh = self._makes(entry) and (not self._job.lays_out or self._makes_late())
        if not fresh:
            return self._each_file([{"open": entry.name}])
        made: list[Step] = [{"create": entry.name}]
        if self._shape.turns > 1:
            of = [{"create": entry.name}, {"open": entry.name}]
            made = [{"choose": {"by": "min(turn, 1)", "of": of}}]
        return self._each_file(made)

    # --- passes ---

    def _passes(self) -> list[Step]:
        """The job's own phase, once for each pass over its files."""
        job = self._job
        phase: Step = {"phase": self._placed.group, **self._times(job.runtime_s)}
        before: list[Step] = []
        if job.invalidate and job.is_stored:
            aliased = any(entry.maker for entry in self._entries)
            if aliased or any(self._is_taken_over(entry) for entry in self._entries):
                before = self._forget(aliased)
            if not aliased:
                phase["cache"] = "drop"
        body: list[Any] = [step for entry in self._entries for step in self._opens(entry)]
        body += self._transfers()
        for entry in self._entries:
            ends: list[Step] = []
            if job.end_fsync and job.writes:
                ends.append({"sync": {"on": entry.name, "mode": "fsync"}})
            body += self._each_file([*ends, {"close": entry.name}])
        if job.ramp_s:
            before, phase = [*before, self._ramp(phase)], {**phase}
            phase.pop("cache", None)
        steps = [*before, {**phase, "do": body}]
        if self._shape.turns == 1:
            return steps
        return [{"for": "turn", "in": self._shape.turns, "do": steps}]

    def _ramp(self, phase: Step) -> Step:
        """The pattern before it is measured; caches are dropped before it.

        Random places come in another order: the same one would measure what the ramp left in the
        memory of devices and servers. A whole step has one order, so its ramp draws the places,
        or takes each once where the job draws them.
        """
        job = self._job
        if is_step_by_step(job):
            order = replace(job, seed=(job.seed or 0) + _RAMP_STEP)
        else:
            order = replace(job, replacement=job.is_random and not job.replacement)
        other = replace(self._placed, job=order)
        program = _Program(other, self._jobs, self._all)
        body: list[Any] = [step for entry in self._entries for step in self._opens(entry)]
        body += program._transfers()
        for entry in self._entries:
            body += self._each_file([{"close": entry.name}])
        times = self._times(self._job.ramp_s)
        return {**phase, "phase": f"{self._placed.group} {RAMP}", **times, "do": body}

    def _is_taken_over(self, entry: FileEntry) -> bool:
        """Whether another job made or used these files before."""
        first = entry.maker or entry
        return first.first.number != self._placed.number

    def _forget(self, aliased: bool) -> list[Step]:
        """Phases before the job's own: its ranks come to know files of others, whose pages are
        dropped then. Where another entry makes the files, they can be dropped through that one
        only, in a phase that speaks of a transfer and makes none."""
        makers = [entry.maker or entry for entry in self._entries]
        name = self._placed.group
        seen: list[Any] = []
        dropped: list[Any] = []
        for maker in makers:
            seen += self._each_file([{"open": maker.name}, {"close": maker.name}])
            read = {"read": {**self._wants(maker, "read"), "size": 1, "at": 0}}
            inner = [{"open": maker.name}, read, {"close": maker.name}]
            dropped += self._each_file([{"when": "rank < 0", "do": inner}])
        steps = [{"phase": f"{name} {OPENING}", "do": seen}]
        if aliased:
            steps.append({"phase": f"{name} {CACHE}", "cache": "drop", "do": dropped})
        return steps

    def _times(self, seconds: float) -> Step:
        if not seconds:
            return {}
        keys: Step = {"limit": {"after": seconds, "then": "stop"}}
        if self._job.time_based:
            keys["at_least"] = seconds
        return keys

    def _transfers(self) -> list[Step]:
        if self._job.sizes:
            return self._by_size(self._entries[0])
        if self._job.one_file_after_another:
            return self._files_in_order()
        if is_step_by_step(self._job):
            return self._requests()
        return [self._whole(self._entries[0])]

    def _verify(self) -> Step:
        entry = self._entries[0]
        body = [{"open": entry.name}, self._whole(entry, "read"), {"close": entry.name}]
        cache: Step = {"cache": "drop"} if self._job.invalidate else {}
        return {"phase": f"{self._placed.group} {VERIFY}", **cache, "do": body}

    # --- requests ---

    def _direction(self) -> str:
        return "write" if self._job.writes else "read"

    def _wants(self, entry: FileEntry, verb: str) -> Step:
        wants: Step = {"to" if verb == "write" else "from": entry.name}
        if verb == "read" and not self._job.verify and entry.keys.get("content", {}).get("verify"):
            wants["verify"] = False
        return wants

    def _whole(self, entry: FileEntry, verb: str = "") -> Step:
        """All requests on one file as one step."""
        job, count = self._job, self._shape.in_pass()
        verb = verb or self._direction()
        wants = {**self._wants(entry, verb), "transfer": job.block_bytes, "count": count}
        if job.is_random:
            wants |= {"pattern": "random", "size": self._shape.slots * job.block_bytes}
            if job.zipf:
                wants["zipf"] = job.zipf
            elif job.replacement:
                wants["replacement"] = True
        elif not is_apart(self._placed):
            wants["apart"] = False
        if self._start() != "0":
            wants["at"] = self._start()
        if job.overlaps:
            wants["depth"] = job.depth
        if rate_of(job):
            wants["rate"] = rate_of(job)
            wants |= {"arrivals": "poisson"} if job.is_poisson else {}
        if job.is_mixed:
            wants["reads"] = job.reads_share
        return {verb: wants}

    def _start(self) -> str:
        job = self._job
        if not job.offset_step:
            return str(job.offset)
        return f"{job.offset} + rank * {job.offset_step}"

    def _by_size(self, entry: FileEntry) -> list[Step]:
        """Requests of several sizes behind each other: exact shares, then what is left."""
        job = self._job
        divisor = reduce(math.gcd, (weight for _, weight in job.sizes))
        sizes = [(size, weight // divisor) for size, weight in job.sizes]
        unit = sum(size * weight for size, weight in sizes)
        region = self._shape.slots * job.block_bytes
        whole, left = divmod(region, unit)
        verb = self._direction()
        apart = {} if is_apart(self._placed) else {"apart": False}
        steps: list[Step] = []
        if whole:
            wants = {
                **self._wants(entry, verb),
                **apart,
                "at": self._start(),
                "mix": [{"bytes": size, "weight": weight} for size, weight in sizes],
                "count": whole * sum(weight for _, weight in sizes),
            }
            steps.append({verb: wants})
        if left:
            at = f"{self._start()} + {whole * unit}"
            rest = {"at": at, "size": left, "transfer": job.block_bytes}
            steps.append({verb: {**self._wants(entry, verb), **apart, **rest}})
        return steps

    def _files_in_order(self) -> list[Step]:
        """Each file as a whole, one after the other."""
        job, slots = self._job, self._shape.slots
        steps: list[Step] = []
        for number, entry in enumerate(self._entries):
            steps += self._series(entry, "file" if self._by_number else str(number), slots)
        if self._by_number:
            return [{"for": "file", "in": job.file_count, "do": steps}]
        return steps

    def _requests(self) -> list[Step]:
        """Each request as a step of its own; several files take turns."""
        job, count = self._job, self._shape.in_pass()
        files = job.file_count
        if job.is_interleaved:
            body = [
                self._interleaved(self._entries[0]),
                *self._pause(_table_of(self._placed), job.think.blocks),
            ]
            return [{"for": _table_of(self._placed), "do": body}]
        if files == 1:
            return self._series(self._entries[0], "0", count)
        whole = f"({count}) // {files}"
        steps: list[Step] = [{"for": "place", "in": whole, "do": self._round("place", files)}]
        if isinstance(count, str) or count % files:
            steps += self._round(f"(({count}) // {files})", f"({count}) % {files}")
        return steps

    def _series(self, entry: FileEntry, file: str, count: int | str) -> list[Step]:
        """Requests on one file, in bursts after each of which comes a sync or a pause."""
        every = self._sync_every()
        blocks = self._job.think.blocks if self._job.think.seconds else 1
        size = every or blocks
        if size == 1 and not every:
            body = [self._request(entry, "place", file), *self._pause("place", 1)]
            return [{"for": "place", "in": count, "do": body}]
        # fio syncs before the next request: after the last one only if it looks for another.
        last = 1 if every and not self._shape.leaves_bytes else 0
        whole = f"(({count}) - {last}) // {size}"
        after = [self._sync(entry)] if every else self._pause("burst", 1)
        steps: list[Step] = []
        for start, requests in (
            (f"(burst * {size} + place)", str(size)),
            (f"({whole} * {size} + place)", f"({count}) - {whole} * {size}"),
        ):
            body = [self._request(entry, start, file)]
            body += self._pause(start, blocks) if every else []
            steps.append({"for": "place", "in": requests, "do": body})
        return [{"for": "burst", "in": whole, "do": [steps[0], *after]}, steps[1]]

    def _round(self, place: str, files: int | str) -> list[Step]:
        """A request on each of the first so many files."""
        blocks = self._job.think.blocks
        if self._by_number:
            entry = self._entries[0]
            number = f"({place} * {self._job.file_count} + file)"
            body = [self._request(entry, place, "file"), *self._pause(number, blocks)]
            if isinstance(files, str):  # the loop's length stays fixed, since it names files
                body = [{"when": f"file < {files}", "do": body}]
            return [{"for": "file", "in": self._job.file_count, "do": body}]
        steps: list[Step] = []
        for index, entry in enumerate(self._entries):
            number = f"({place} * {self._job.file_count} + {index})"
            body = [self._request(entry, place, str(index)), *self._pause(number, blocks)]
            if isinstance(files, str):
                steps.append({"when": f"{files} > {index}", "do": body})
            else:
                steps += body
        return steps

    def _request(self, entry: FileEntry, place: str, file: str) -> Step:
        """One request at a place of a file, the number of the place being an expression."""
        job = self._job
        at = place
        key = f"{self._key()} + rank * {_KEY_STEP} + {file}"
        if job.is_random:
            chooser = "draw" if job.replacement else "permute"
            at = f"{chooser}({place}, {self._shape.slots}, {key})"
        size: Step = {"at": f"{self._start()} + {at} * {job.block_bytes}", "size": job.block_bytes}
        if not is_apart(self._placed):
            size["apart"] = False
        if not job.is_mixed:
            verb = self._direction()
            return {verb: {**self._wants(entry, verb), **size}}
        steps = [{verb: {**self._wants(entry, verb), **size}} for verb in ("read", "write")]
        share = round(job.reads_share * 100)
        by = f"0 if draw({place}, 100, {key} + 500009) < {share} else 1"
        return {"choose": {"by": by, "of": steps}}

    def _interleaved(self, entry: FileEntry) -> Step:
        """One request of the table."""
        job = self._job
        where: Step = {"at": f"{self._start()} + place * {job.block_bytes}"}
        where |= {"size": job.block_bytes}
        if not is_apart(self._placed):
            where["apart"] = False
        steps = [{verb: {**self._wants(entry, verb), **where}} for verb in ("read", "write")]
        return {"choose": {"by": "way", "of": steps}}

    def _key(self) -> int:
        return (self._job.seed or 0) * 31 + self._placed.number

    def _sync_every(self) -> int:
        """After how many writes a sync follows; 0: never."""
        job = self._job
        return (job.fsync_every or job.fdatasync_every) if job.writes else 0

    def _sync(self, entry: FileEntry) -> Step:
        mode = "fsync" if self._job.fsync_every else "fdatasync"
        return {"sync": {"on": entry.name, "mode": mode}}

    def _pause(self, number: str, blocks: int) -> list[Step]:
        """What stands between requests: computing, then sleep, after each so many of them."""
        think = self._job.think
        spin = min(think.spin_s, think.seconds)
        pause: list[Step] = []
        if spin:
            pause.append({"compute": {"seconds": spin, "mode": "spin"}})
        if think.seconds > spin:
            pause.append({"compute": {"seconds": think.seconds - spin, "mode": "sleep"}})
        if pause and blocks > 1:
            return [{"when": f"({number} + 1) % {blocks} == 0", "do": pause}]
        return pause
