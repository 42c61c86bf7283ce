"""How large a job's files are, and how many requests it makes: fio's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from venturi.compat.fio_job import FioJob
from venturi.model.row_table import MOST_ROWS


@dataclass(frozen=True)
class JobShape:
    """Files and requests of each clone of a job."""

    file_bytes: int
    """Of each of its files."""
    slots: int
    """Places for a request in each file, from `offset` on."""
    requests: int
    """Of one pass over all files."""
    passes: int
    """Whole passes."""
    rest: int = 0
    """Requests of a last pass that is none."""
    leaves_bytes: bool = False
    """The end of the file is too short for a request: fio looks for one more after the last."""

    def in_pass(self) -> int | str:
        """Requests of a pass; an expression of `pass` where the last one is shorter."""
        if not self.rest:
            return self.requests
        if not self.passes:
            return self.rest
        return f"{self.requests} if turn < {self.passes} else {self.rest}"

    @property
    def turns(self) -> int:
        """Passes, and the last one that is none."""
        return self.passes + (self.rest > 0)


def shape_of(job: FioJob, existing_bytes: int | None, problems: list[str]) -> JobShape | None:
    """The shape of a job; `existing_bytes` is the size of a file that is there.

    None, and a problem more, where there is none.
    """
    size = job.size
    if size is None and job.file_bytes is not None:
        size = job.file_bytes * job.file_count
    if size is None and existing_bytes is not None:
        size = existing_bytes - job.offset
    if size is None:
        problems.append(f"{job.where}: job {job.name}: size is needed: its files are not there")
        return None
    if job.file_bytes is not None:
        region = job.file_bytes - job.offset
        file_bytes = job.file_bytes
    else:
        region = size // job.file_count
        file_bytes = job.offset + region
    last = job.offset_step * (job.clones - 1)
    file_bytes = file_bytes + last if job.file_bytes is None else file_bytes
    if existing_bytes is not None and file_bytes > existing_bytes:
        problems.append(
            f"{job.where}: job {job.name}: filename={job.filenames[0]} is refused: the file is "
            f"somebody else's and has {existing_bytes} B; the job needs {file_bytes} B"
        )
        return None
    return _counted(job, file_bytes, region, size, problems)


def _counted(
    job: FioJob, file_bytes: int, region: int, size: int, problems: list[str]
) -> JobShape | None:
    slots = max(0, region) // job.block_bytes
    in_pass = slots * job.file_count
    by_size = -(-size // job.block_bytes)
    if job.file_bytes is not None:
        in_pass = min(in_pass, by_size)
    # Where no map says which places are left, and where each way has its own, the bytes end a pass.
    by_bytes = job.is_interleaved or (job.is_random and bool(job.replacement or job.zipf))
    if in_pass and by_bytes:
        in_pass = min(by_size, 2 * slots) if job.is_interleaved else by_size
    if not in_pass:
        problems.append(
            f"{job.where}: job {job.name}: size: there is no room for a request of "
            f"{job.block_bytes} B in a file's {max(region, 0)} B"
        )
        return None
    wanted = in_pass * job.passes
    if job.io_bytes:
        wanted = math.ceil(job.io_bytes / job.block_bytes)
    if job.requests:
        wanted = min(wanted, job.requests)
    passes, rest = divmod(wanted, in_pass)
    is_cut = by_bytes or bool(job.io_bytes or job.requests or job.file_bytes)
    leaves_bytes = not is_cut and region % job.block_bytes > 0
    if job.is_interleaved and in_pass > MOST_ROWS:
        problems.append(
            f"{job.where}: job {job.name}: rw=rw is refused: {in_pass} requests stand in no table; "
            f"{MOST_ROWS} do"
        )
        return None
    return JobShape(file_bytes, slots, in_pass, passes, rest, leaves_bytes)


def rate_of(job: FioJob) -> float:
    """Requests per second of each clone; 0 without a limit."""
    rates = [job.rate_bytes / job.block_bytes, float(job.rate_requests)]
    return min((rate for rate in rates if rate), default=0.0)


def is_step_by_step(job: FioJob) -> bool:
    """Whether each request is a step of its own, because something stands between them, or because
    each clone has an order of its own in a file that all share."""
    if job.is_interleaved:
        return True
    between = job.fsync_every or job.fdatasync_every or job.think.seconds
    return bool(between or (job.file_count > 1) or (job.is_random and shares_files(job)))


def shares_files(job: FioJob) -> bool:
    """Whether the clones of a job have the same files."""
    own = not job.filenames and "$jobnum" in job.name_format
    return job.clones > 1 and not own


_Applies = Callable[[FioJob], bool]

COMBINATIONS: dict[str, tuple[_Applies, str]] = {
    "iodepth with nrfiles": (
        lambda job: job.file_count > 1,
        "a step has its requests in flight on one file; give each job one file",
    ),
    "iodepth with rw=rw": (
        lambda job: job.is_interleaved,
        "reads and writes each go on from a place of their own, one request after the other",
    ),
    "iodepth with fsync": (
        lambda job: bool(job.fsync_every or job.fdatasync_every),
        "a sync between requests leaves nothing to be in flight",
    ),
    "iodepth with thinktime_blocks": (
        lambda job: job.think.seconds > 0 and job.think.blocks > 1,
        "a pause between requests leaves nothing to be in flight",
    ),
    "iodepth with filename of several clones in random order": (
        lambda job: job.is_random and shares_files(job),
        "each clone has an order of its own, and no requests in flight; give each job its own file",
    ),
}
"""What does not go with more than one request in flight."""

PAIRS: dict[str, tuple[_Applies, str]] = {
    "time_based without runtime": (
        lambda job: job.time_based and not job.runtime_s,
        "there is no time to fill",
    ),
    "ramp_time without time_based": (
        lambda job: job.ramp_s > 0 and not (job.time_based and job.runtime_s),
        "the measured phase begins its pattern anew, which is the same only where a time ends it; "
        "add time_based and runtime",
    ),
    "ramp_time with sequential reads": (
        lambda job: job.ramp_s > 0 and job.reads and not job.is_random,
        "a phase begins its pattern anew, and finds in memory what a ramp read",
    ),
    "ramp_time with sequential writes through memory": (
        lambda job: job.ramp_s > 0 and not job.is_random and not job.direct,
        "a phase begins its pattern anew, and writes over pages that a ramp left in memory; add "
        "direct=1",
    ),
    "ramp_time with random_distribution": (
        lambda job: job.ramp_s > 0 and job.zipf > 0,
        "places by Zipf's law would be those that the ramp took",
    ),
    "ramp_time with verify, create_on_open or mmap": (
        lambda job: (
            job.ramp_s > 0
            and (job.verify or not job.lays_out or job.entry.is_mapping or not job.is_stored)
        ),
        "the files of a ramp are there before it, and what it writes is not kept apart",
    ),
    "time_based with invalidate": (
        lambda job: (
            job.time_based and job.reads and job.invalidate and not job.direct and job.is_stored
        ),
        "fio drops the file from memory before each pass over it, and a phase cannot between its "
        "repetitions; add direct=1, or invalidate=0",
    ),
    "time_based with io_size": (
        lambda job: job.time_based and bool(job.io_bytes or job.requests),
        "the time alone ends the job; leave io_size and number_ios away",
    ),
    "io_size with loops": (
        lambda job: bool(job.io_bytes) and job.passes > 1,
        "say with io_size alone how much is moved",
    ),
    "loops with number_ios": (
        lambda job: bool(job.requests) and job.passes > 1,
        "say with number_ios alone how much is moved",
    ),
    "fsync, fdatasync or end_fsync with loops or time_based": (
        lambda job: (
            job.writes
            and (job.passes > 1 or job.time_based)
            and bool(job.fsync_every or job.fdatasync_every or job.end_fsync)
        ),
        "fio counts and syncs over all passes, and a phase anew in each of its repetitions",
    ),
    "runtime with loops": (
        lambda job: bool(job.runtime_s) and not job.time_based and job.passes > 1,
        "a limit holds for one pass; add time_based",
    ),
    "rate with a job of several files, fsync, thinktime or a shared file in random order": (
        lambda job: rate_of(job) > 0 and is_step_by_step(job),
        "a rate is that of one step's requests",
    ),
    "rw=rw with several files": (
        lambda job: job.is_interleaved and job.file_count > 1,
        "reads and writes each go on from a place of their own in one file",
    ),
    "rw=rw with io_size": (
        lambda job: job.is_interleaved and bool(job.io_bytes or job.requests),
        "reads and writes are dealt over the whole file",
    ),
    "rate with randrw": (
        lambda job: rate_of(job) > 0 and job.is_mixed,
        "reads and writes of a mix have one rate together",
    ),
    "fsync with randrw": (
        lambda job: bool(job.fsync_every or job.fdatasync_every) and job.is_mixed,
        "the number of writes between two syncs is not known where reads come among them",
    ),
    "fsync with nrfiles": (
        lambda job: bool(job.fsync_every or job.fdatasync_every) and job.file_count > 1,
        "which of the files a sync meets is not known",
    ),
    "fsync with fdatasync": (
        lambda job: bool(job.fsync_every and job.fdatasync_every),
        "use one of the two",
    ),
    "random_distribution with a job of several files, fsync, thinktime or a shared file": (
        lambda job: job.zipf > 0 and is_step_by_step(job),
        "places by Zipf's law are those of one step's requests",
    ),
    "nrfiles with file_service_type=sequential and io_size": (
        lambda job: job.one_file_after_another and bool(job.io_bytes or job.requests),
        "each file is taken whole",
    ),
    "file_service_type=sequential with norandommap": (
        lambda job: job.one_file_after_another and job.is_random and job.replacement,
        "how many requests each file gets is not known",
    ),
    "bssplit or bsrange with random access, or with what stands between requests": (
        lambda job: bool(job.sizes) and (job.is_random or is_step_by_step(job)),
        "sizes by chance belong to requests that lie behind each other",
    ),
    "bssplit or bsrange with io_size, number_ios, rate or verify": (
        lambda job: (
            bool(job.sizes) and bool(job.io_bytes or job.requests or rate_of(job) or job.verify)
        ),
        "how many requests there are follows from the sizes",
    ),
    "offset_increment with files of each clone": (
        lambda job: bool(job.offset_step) and job.clones > 1 and not shares_files(job),
        "it sets the clones apart in one file; add filename",
    ),
    "filename_format without $filenum": (
        lambda job: job.file_count > 1 and not job.filenames and "$filenum" not in job.name_format,
        "all files of the job would have one name",
    ),
    "startdelay with stonewall": (
        lambda job: job.delay_s > 0 and (job.stonewall or bool(job.wait_for)),
        "fio counts the delay from the beginning of all jobs, whenever the others end",
    ),
    "direct with mmap": (
        lambda job: job.direct and job.entry.is_mapping,
        "mapped files are in memory",
    ),
    "sync with mmap": (
        lambda job: bool(job.open_sync) and job.entry.is_mapping,
        "a copy to mapped memory does not wait for storage; use fsync",
    ),
    "verify with randrw": (
        lambda job: job.verify and job.is_mixed,
        "write in one job and read in another",
    ),
    "verify with null": (
        lambda job: job.verify and not job.is_stored,
        "nothing is stored that could be checked",
    ),
    "verify with norandommap or random_distribution": (
        lambda job: job.verify and bool(job.replacement or job.zipf),
        "places that are written twice are checked in the state of their last write only",
    ),
    "verify with runtime": (
        lambda job: job.verify and job.writes and bool(job.runtime_s),
        "what was written is known only where a job comes to its end",
    ),
    "verify with several passes, files, fsync, thinktime, or a file that clones write": (
        lambda job: (
            job.verify
            and job.writes
            and (is_step_by_step(job) or job.passes > 1 or shares_files(job))
        ),
        "what is checked is what one step wrote",
    ),
    "verify with scramble_buffers=0": (
        lambda job: job.verify and job.repeats,
        "equal data cannot be told apart",
    ),
}
"""Options that do not go together here: whether a job has them, and why they do not."""


def check_together(job: FioJob, problems: list[str]) -> None:
    """Add a problem for each combination of options that does not run."""
    found = dict(PAIRS)
    if job.overlaps:
        found |= COMBINATIONS
    for name, (asked, reason) in found.items():
        if asked(job):
            problems.append(f"{job.where}: job {job.name}: {name} is refused: {reason}")
