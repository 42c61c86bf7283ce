"""Random jobs for fio and for us: small, and of every kind that both make call by call."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

KIB = 1024


@dataclass
class RandomJob:
    """A job file, and what a comparison of calls must know of it."""

    lines: list[str] = field(default_factory=list)
    is_random: bool = False
    repeats_places: bool = False
    is_mixed: bool = False
    is_filled: bool = False
    """Its files are full before it begins."""

    @property
    def ends_anywhere(self) -> bool:
        """Whether chance says how long its files become."""
        some = self.repeats_places or any(x.startswith(("io_size", "number")) for x in self.lines)
        grows = {"fallocate=none", "create_on_open=1"} & set(self.lines)
        return self.is_random and some and bool(grows)

    def text(self) -> str:
        return "\n".join(["[a]", *self.lines]) + "\n"


def random_job(seed: int) -> RandomJob:
    """The job of a seed."""
    chance = random.Random(seed)
    job = RandomJob()
    pattern = chance.choice(["read", "write", "write", "randread", "randwrite", "randrw", "rw"])
    block = chance.choice([512, 1000, 4 * KIB, 8 * KIB])
    slots = chance.randint(1, 12)
    job.is_random, job.is_mixed = pattern.startswith("rand"), pattern.endswith("rw")
    job.lines = [f"rw={pattern}", f"bs={block}", f"size={slots * block + chance.choice([0, 300])}"]
    shared = _files(job, chance, block)
    _amount(job, chance, block, slots)
    several = any(word in job.text() for word in ("nrfiles", "f:g"))
    apart = job.is_mixed or several or "loops=2" in job.lines
    if chance.random() < 0.5 and not apart:
        word = chance.choice(["fsync", "fdatasync"])
        job.lines.append(f"{word}={chance.randint(1, 4)}")
    if chance.random() < 0.3:
        job.lines.append("end_fsync=1")
    if job.is_random and chance.random() < 0.3 and "sequential" not in job.text():
        job.lines.append("norandommap")
        job.repeats_places = True
    if chance.random() < 0.2:
        job.lines.append(f"fallocate={chance.choice(['none', 'posix', 'truncate'])}")
    if chance.random() < 0.2 and not shared:
        job.lines.append("create_on_open=1" if pattern == "write" else "thinktime=10")
    if chance.random() < 0.2:
        job.lines.append("overwrite=1")
    job.is_filled = "read" in pattern or job.is_mixed or "overwrite=1" in job.lines
    return job


def _files(job: RandomJob, chance: random.Random, block: int) -> bool:
    """Names of files and clones; whether clones share a file."""
    kinds = ["one", "clones", "shared", "apart", "several", "named", "order"]
    kind = chance.choice(kinds[:4] if job.lines[0] == "rw=rw" else kinds)
    if kind in ("clones", "shared", "apart"):
        job.lines.append("numjobs=2")
    if kind in ("shared", "apart"):
        job.lines.append("filename=f")
    if kind == "apart":
        job.lines.append(f"offset_increment={20 * block}")
    if kind in ("several", "order"):
        job.lines[2] = f"size={chance.randint(6, 20) * block}"
        job.lines.append(f"nrfiles={chance.randint(2, 3)}")
    if kind == "order":
        job.lines.append("file_service_type=sequential")
    if kind == "named":
        job.lines[2] = f"size={chance.randint(6, 20) * block}"
        job.lines.append("filename=f:g")
    if kind == "one" and chance.random() < 0.5:
        job.lines.append(f"offset={chance.randint(1, 5) * 1024}")
    return kind in ("shared", "apart")


def _amount(job: RandomJob, chance: random.Random, block: int, slots: int) -> None:
    """Less or more than the files have."""
    several = any(line.startswith(("nrfiles", "filename=f:g")) for line in job.lines)
    kind = chance.choice(["all", "all", "less", "number", "loops"])
    whole = "file_service_type=sequential" in job.lines or job.lines[0] == "rw=rw"
    if whole and kind != "loops":
        return
    if kind == "less":
        job.lines.append(f"io_size={chance.randint(1, slots * block)}")
    if kind == "number":
        job.lines.append(f"number_ios={chance.randint(1, slots)}")
    if kind == "loops" and not several and not job.is_random:
        job.lines.append("loops=2")
