"""A job of fio: what its options ask for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from venturi.compat.fio_option import FIXED, objection, option_named
from venturi.compat.fio_section import FioSection, FioSetting
from venturi.compat.fio_value import (
    ValueProblem,
    of_direction,
    read_range,
    read_real,
    read_shares,
    read_size,
    read_switch,
    read_time,
    read_whole,
)
from venturi.model.interface import Interface
from venturi.model.interface_entry import InterfaceEntry

INTERFACES = {
    "psync": "posix",
    "sync": "posix",
    "mmap": "mmap",
    "io_uring": "uring",
    "libaio": "uring",
    "null": "null",
}
"""fio's I/O engines, and our interfaces."""
_NO_ENGINE = {
    "posixaio": "it needs threads of the C library; io_uring keeps requests in flight",
    "vsync": "the engine makes no vectored calls; psync has the same places",
    "pvsync": "the engine makes no vectored calls; psync has the same places",
    "pvsync2": "the engine makes no vectored calls; psync has the same places",
    "splice": "the engine moves no data through pipes",
    "cpuio": "`venturi health` measures the processors",
    "exec": "commands are never executed on behalf of a job file",
    **dict.fromkeys(
        ("filecreate", "filestat", "filedelete"),
        "`venturi compat mdtest` measures what is done to names",
    ),
}
_OTHER_ENGINES = (
    *("net", "netsplice", "ftruncate", "falloc", "e4defrag", "gfapi", "gfapi_async", "mtd", "sg"),
    *("io_uring_cmd", "nbd", "rdma", "rados", "rbd", "http", "libhdfs", "libiscsi", "pmemblk"),
    *("dev-dax", "libpmem", "guasi", "windowsaio", "solarisaio", "xnvme", "libblkio", "nfs"),
    *("libzbc", "ime_psync", "ime_psyncv", "ime_aio", "dfs", "external", "filecreate"),
)
_PATTERNS = ("read", "write", "randread", "randwrite", "rw", "randrw")
_IN_FLIGHT = "requests in flight"
_US = 1e-6
_MOST_JOBS = 65536
_DEFAULT_SEED = 1
T = TypeVar("T")


@dataclass(frozen=True)
class Think:
    """Pauses between requests."""

    seconds: float = 0.0
    spin_s: float = 0.0
    """The part of it that is computing."""
    blocks: int = 1
    """Requests before each pause."""


@dataclass(frozen=True)
class FioJob:
    """What one section asks for; sizes in bytes, times in seconds."""

    name: str
    where: str = ""
    begins_file: bool = False
    about: str = ""
    pattern: str = "read"
    block_bytes: int = 4096
    sizes: tuple[tuple[int, int], ...] = ()
    """Sizes of requests and their weights, where they are not all `block_bytes`."""
    size: int | None = None
    io_bytes: int | None = None
    file_bytes: int | None = None
    offset: int = 0
    offset_step: int = 0
    requests: int = 0
    """At most so many, if not 0."""
    clones: int = 1
    filenames: tuple[str, ...] = ()
    directory: str = ""
    name_format: str = "$jobname.$jobnum.$filenum"
    file_count: int = 1
    one_file_after_another: bool = False
    engine: str = "psync"
    depth: int = 1
    direct: bool = False
    open_sync: str = ""
    advice: str = "pattern"
    options: dict[str, bool] = field(default_factory=dict)
    """Of the interface: registered buffers and files, polling."""
    fsync_every: int = 0
    fdatasync_every: int = 0
    end_fsync: bool = False
    runtime_s: float = 0.0
    time_based: bool = False
    ramp_s: float = 0.0
    """The pattern runs so long before it is measured."""
    delay_s: float = 0.0
    think: Think = Think()
    rate_bytes: int = 0
    rate_requests: int = 0
    is_poisson: bool = False
    stonewall: bool = False
    grouped: bool = False
    """Its clones are one entry of the JSON output."""
    wait_for: str = ""
    passes: int = 1
    seed: int | None = None
    """None: another one in each run."""
    replacement: bool = False
    zipf: float = 0.0
    reads_share: float = 0.0
    verify: bool = False
    verify_reads: bool = True
    lays_out: bool = True
    fallocate: str = "native"
    overwrite: bool = False
    invalidate: bool = True
    keep: bool = False
    repeats: bool = False
    logs: tuple[str, ...] = ()

    @property
    def is_random(self) -> bool:
        """Random places."""
        return self.pattern.startswith("rand")

    @property
    def is_mixed(self) -> bool:
        """Reads among writes."""
        return 0.0 < self.reads_share < 1.0

    @property
    def is_interleaved(self) -> bool:
        """Reads and writes each go on from a place of their own."""
        return self.is_mixed and not self.is_random

    @property
    def writes(self) -> bool:
        """Whether it writes anything."""
        return self.reads_share < 1.0

    @property
    def reads(self) -> bool:
        """Whether it reads anything."""
        return self.reads_share > 0.0

    @property
    def interface(self) -> str:
        """Our interface."""
        return INTERFACES[self.engine]

    @property
    def entry(self) -> InterfaceEntry:
        """What our interface is and can do."""
        return Interface(self.interface).entry

    @property
    def is_stored(self) -> bool:
        """Whether there are files at all."""
        return self.entry.reaches_storage

    @property
    def overlaps(self) -> bool:
        """Whether more than one of its requests is in flight."""
        return self.depth > 1 and self.entry.can(_IN_FLIGHT)


def read_job(section: FioSection, problems: list[str]) -> FioJob:
    """The job of a section; what is wrong or refused is added to the problems, each by itself."""
    return _JobReader(section, problems).job()


class _JobReader:
    """Goes once through the options of a section; the last of several equal ones holds."""

    def __init__(self, section: FioSection, problems: list[str]) -> None:
        self._section = section
        self._problems = problems
        self._given: dict[str, FioSetting] = {}
        for setting in section.settings:
            self._given[option_named(setting.key)] = setting
        for setting in self._given.values():
            why = objection(setting.key, setting.value)
            if why:
                self._object(setting, why)
        base = self._given.get("kb_base")
        self._kb_base = 1000 if base is not None and base.value in ("1000", "si") else 1024

    def _object(self, setting: FioSetting, why: str) -> None:
        shown = setting.key if setting.value is None else f"{setting.key}={setting.value}"
        self._problems.append(
            f"{setting.where}: {shown}{' ' if why.startswith('is ') else ': '}{why}"
        )

    def _read(self, name: str, read: Callable[[str], T], default: T) -> T:
        setting = self._given.get(name)
        if setting is None or setting.value is None:
            return default
        try:
            return read(setting.value)
        except ValueProblem as problem:
            self._object(setting, str(problem))
            return default

    def _switch(self, name: str, default: bool) -> bool:
        setting = self._given.get(name)
        if setting is None:
            return default
        return self._read(name, read_switch, setting.value is None)

    def _bytes(self, name: str) -> int | None:
        def read(text: str) -> int | None:
            return read_size(text, self._kb_base)

        return self._read(name, read, None)

    def _word(self, name: str, default: str, known: dict[str, str], reason: str = "") -> str:
        def read(text: str) -> str:
            if text not in known:
                also = f": {reason}" if reason else f"; values that run: {', '.join(known)}"
                raise ValueProblem(f"is refused{also}")
            return known[text]

        return self._read(name, read, default)

    def job(self) -> FioJob:
        """The job."""
        pattern = self._read("rw", _pattern, "read")
        share = self._reads_share(pattern)
        writes = share < 1.0
        section = self._section
        job = FioJob(
            name=self._read("name", str, section.name),
            where=section.where,
            begins_file=section.begins_file,
            about=self._read("description", str, ""),
            pattern=pattern,
            reads_share=share,
            logs=tuple(name for name in self._given if re.fullmatch(r"write_\w+_log", name)),
        )
        for part in (self._requests, self._files, self._ways, self._times, self._order):
            job = replace(job, **part(writes))
        return job

    def _reads_share(self, pattern: str) -> float:
        if not pattern.endswith("rw"):
            return float(pattern.endswith("read"))
        share = self._read("rwmixread", lambda text: read_whole(text, most=100), 50)
        rest = self._read("rwmixwrite", lambda text: 100 - read_whole(text, most=100), share)
        return (rest if "rwmixwrite" in self._given else share) / 100

    def _requests(self, writes: bool) -> dict[str, Any]:
        def one(text: str) -> int:
            size = read_size(of_direction(text, writes) or "4096", self._kb_base)
            other = of_direction(text, not writes) or "4096"
            mixed = "," in text and self._read("rw", _pattern, "read").endswith("rw")
            if mixed and read_size(other, self._kb_base) != size:
                raise ValueProblem("is refused: reads and writes of a mix have one size")
            if not size:
                raise ValueProblem("a request has 1 byte or more")
            return size

        block = self._read("bs", one, 4096)
        sizes = self._sizes(writes, block)
        least = min(size for size, _ in sizes) if sizes else block
        return {
            "block_bytes": least,
            "sizes": sizes,
            "size": self._bytes("size"),
            "io_bytes": self._bytes("io_size"),
            "file_bytes": self._bytes("filesize"),
            "offset": self._bytes("offset") or 0,
            "offset_step": self._bytes("offset_increment") or 0,
            "requests": self._read("number_ios", read_whole, 0),
        }

    def _sizes(self, writes: bool, block: int) -> tuple[tuple[int, int], ...]:
        def split(text: str) -> tuple[tuple[int, int], ...]:
            shares = read_shares(of_direction(text, writes), block, self._kb_base)
            return tuple((size, weight) for size, weight in shares if weight)

        def spread(text: str) -> tuple[tuple[int, int], ...]:
            low, high = read_range(of_direction(text, writes), self._kb_base)
            if not low or high // low > 64:
                raise ValueProblem("is refused: at most 64 sizes, multiples of the least")
            return tuple((size, 1) for size in range(low, high + 1, low))

        none: tuple[tuple[int, int], ...] = ()
        found = self._read("bssplit", split, none) or self._read("bsrange", spread, none)
        if any(not size for size, _ in found):
            self._object(self._given["bssplit"], "a request has 1 byte or more")
            return ()
        return found if len(found) > 1 else ()

    def _files(self, _writes: bool) -> dict[str, Any]:
        none: tuple[str, ...] = ()
        names = self._read("filename", _split, none)
        directories = self._read("directory", _split, none)
        if len(directories) > 1:
            self._object(self._given["directory"], "is refused: a run has one directory")
        count = self._read("nrfiles", lambda text: read_whole(text, least=1), 1)
        order = {"roundrobin": "turn", "roundrobin:1": "turn", "sequential": "after"}
        fallocate = {name: name for name in ("none", "native", "posix", "truncate")}
        file_count = len(names) or count
        opened = self._read("openfiles", lambda text: read_whole(text, least=1), file_count)
        if opened < file_count:
            self._object(self._given["openfiles"], "is refused: all files of a job are open")
        keep = "unlink" in self._given and not self._switch("unlink", False)
        return {
            "filenames": names,
            "directory": directories[0] if directories else "",
            "name_format": self._read("filename_format", _format, FioJob.name_format),
            "file_count": file_count,
            "one_file_after_another": self._word("file_service_type", "turn", order) == "after",
            "clones": self._read("numjobs", lambda text: read_whole(text, 1, _MOST_JOBS), 1),
            "fallocate": self._word(
                "fallocate",
                "native",
                {**fallocate, "0": "none", "1": "posix"},
                "files get their space with their size, or not before they are written",
            ),
            "lays_out": not self._switch("create_on_open", False),
            "overwrite": self._switch("overwrite", False),
            "keep": keep,
        }

    def _ways(self, _writes: bool) -> dict[str, Any]:
        direct = self._switch("direct", not self._switch("buffered", True))
        advice = {"0": "normal", "none": "normal", "1": "pattern"}
        sync = {"none": "", "0": "", "sync": "sync", "1": "sync", "dsync": "dsync"}
        engine = self._read("ioengine", _engine, "psync")
        options = {
            ours: True
            for name, ours in _URING.items()
            if self._switch(name, False) and Interface(INTERFACES[engine]).entry.has_option(ours)
        }
        return {
            "engine": engine,
            "depth": self._read("iodepth", lambda text: read_whole(text, 1, 4096), 1),
            "direct": direct,
            "open_sync": self._word("sync", "", sync),
            "advice": self._word(
                "fadvise_hint",
                "pattern",
                {**advice, **{name: name for name in ("random", "sequential")}},
            ),
            "options": options,
            "invalidate": self._switch("invalidate", True),
            "verify": self._read("verify", _verifies, False),
            "verify_reads": self._switch("do_verify", True),
            "repeats": not self._switch("scramble_buffers", True),
        }

    def _times(self, writes: bool) -> dict[str, Any]:
        def think(text: str) -> float:
            return read_time(text, _US)

        def rate(text: str) -> int:
            return read_size(of_direction(text, writes) or "0", self._kb_base)

        return {
            "runtime_s": self._read("runtime", read_time, 0.0),
            "time_based": self._switch("time_based", False),
            "ramp_s": self._read("ramp_time", read_time, 0.0),
            "delay_s": self._read("startdelay", read_time, 0.0),
            "think": Think(
                self._read("thinktime", think, 0.0),
                self._read("thinktime_spin", think, 0.0),
                self._read("thinktime_blocks", lambda text: read_whole(text, least=1), 1),
            ),
            "rate_bytes": self._read("rate", rate, 0),
            "rate_requests": self._read("rate_iops", rate, 0),
            "is_poisson": self._word("rate_process", "", {"linear": "", "poisson": "x"}) == "x",
            "passes": self._read("loops", lambda text: read_whole(text, least=1), 1),
        }

    def _order(self, _writes: bool) -> dict[str, Any]:
        repeat = self._switch("randrepeat", True) or self._switch("allrandrepeat", False)
        seed = _DEFAULT_SEED if repeat else None
        on_close = self._switch("fsync_on_close", False)
        return {
            "fsync_every": self._read("fsync", read_whole, 0),
            "fdatasync_every": self._read("fdatasync", read_whole, 0),
            "end_fsync": self._switch("end_fsync", False) or on_close,
            "stonewall": self._switch("stonewall", False),
            "grouped": self._switch("group_reporting", False),
            "wait_for": self._read("wait_for", str, ""),
            "seed": self._read("randseed", _seed, seed),
            "replacement": self._switch("norandommap", False),
            "zipf": self._read("random_distribution", _zipf, 0.0),
        }


_URING = {"fixedbufs": "registered_buffers", "registerfiles": "registered_files", "hipri": "poll"}


def _pattern(text: str) -> str:
    if text == "readwrite":
        return "rw"
    if "trim" in text:
        raise ValueProblem(f"is refused: {FIXED['trim_percentage'][1]}")
    if ":" in text:
        raise ValueProblem("is refused: random access goes to a new place with each request")
    if text not in _PATTERNS:
        raise ValueProblem(f"fio has no such pattern; patterns that run: {', '.join(_PATTERNS)}")
    return text


def _engine(text: str) -> str:
    if text in INTERFACES:
        return text
    if text in _NO_ENGINE:
        raise ValueProblem(f"is refused: {_NO_ENGINE[text]}")
    run = f"engines that run: {', '.join(INTERFACES)}"
    if text.partition(":")[0] in _OTHER_ENGINES:
        raise ValueProblem(f"is refused: it reaches no files of a file system; {run}")
    raise ValueProblem(f"fio has no such engine; {run}")


def _split(text: str) -> tuple[str, ...]:
    parts = re.split(r"(?<!\\):", text)
    names = tuple(part.replace("\\:", ":") for part in parts if part)
    if not names:
        raise ValueProblem("a name is needed")
    return names


def _format(text: str) -> str:
    left = re.sub(r"\$(jobname|jobnum|filenum)", "", text)
    if "$" in left:
        raise ValueProblem("is refused: names have $jobname, $jobnum and $filenum")
    return text


def _verifies(text: str) -> bool:
    if text in ("0", "none"):
        return False
    kinds = (
        "md5 crc64 crc32c crc32c-intel crc32 crc16 crc7 xxhash sha512 sha256 sha1 sha3-224 "
        "sha3-256 sha3-384 sha3-512 meta"
    )
    if text not in kinds.split():
        raise ValueProblem("is refused: what is written bears stamps, and nothing else is checked")
    return True


def _zipf(text: str) -> float:
    if text == "random":
        return 0.0
    kind, _, rest = text.partition(":")
    if kind != "zipf" or ":" in rest or "," in rest:
        raise ValueProblem("is refused: places are drawn uniformly or by zipf:THETA")
    return read_real(rest)


def _seed(text: str) -> int | None:
    return read_size(text) % (1 << 31)
