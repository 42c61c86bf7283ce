"""One test of IOR: the values that its options and script keys set, and what does not go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from venturi.compat.ior_key import TOOL
from venturi.model.error import UserError

Scalar = int | float | str


@dataclass(frozen=True)
class IorTest:
    """What one test does, under names of our own with units; defaults are IOR's."""

    number: int = 0
    """TestID: its place in the script."""
    api: str = "POSIX"
    reference: int = 0
    block_bytes: int = 1 << 20
    collective: bool = False
    reorder: bool = False
    delay_s: float = 0
    stonewall_s: int = 0
    wear_out: bool = False
    wear_out_transfers: int = 0
    status_file: str = ""
    least_s: int = 0
    fsync: bool = False
    use_existing: bool = False
    file_per_process: bool = False
    barriers: bool = False
    signature: int = 0
    repetitions: int = 1
    outlier_s: int = 0
    keep: bool = False
    keep_with_error: bool = False
    packet: str = "timestamp"
    multi_file: bool = False
    memory: str = ""
    memory_per_task: str = ""
    tasks: int = 0
    """0: as many as the command has."""
    nodes: int = 0
    tasks_on_node: int = 0
    file: str = "testFile"
    node_offset: int = 1
    read: bool = False
    write: bool = False
    check_read: bool = False
    check_write: bool = False
    segments: int = 1
    transfer_bytes: int = 1 << 18
    most_minutes: int = 0
    unique_directory: bool = False
    verbose: int = 0
    single_attempt: bool = False
    reorder_seed: int = 0
    dual_mount: bool = False
    fsync_each: bool = False
    random: int = 0
    """1: every place once, shuffled (-z); 2: places by chance (-zz)."""
    prefill_bytes: int = 0
    random_seed: int = -1
    reorder_random: int = 0
    """1: each rank draws whose data it reads (-Z); 2: a permutation (-ZZ)."""
    warnings_fail: bool = False
    dry_run: bool = False
    think_us: int = 0
    summary_format: str = ""
    summary_file: str = ""
    summary_always: bool = False
    rank_details: str = ""
    operation_log: str = ""
    platform: str = ""
    debug: str = ""
    gpu_buffer: int = 0
    gpu: int = -1
    gpu_direct: bool = False
    quit_on_error: bool = False
    shared_pointer: bool = False
    store_offset: bool = False
    backend: dict[str, Scalar] = field(default_factory=dict)
    """Options of backends by their full name: `posix.odirect`."""

    @property
    def interface(self) -> str:
        """The interface's name in lower case."""
        return self.api.lower()

    @property
    def writes(self) -> bool:
        """Whether there is a write phase."""
        return self.write or not (self.read or self.check_read or self.check_write)

    @property
    def reads(self) -> bool:
        """Whether there is a timed read phase."""
        nothing = not (self.write or self.check_write)
        return self.read or self.check_read or nothing

    @property
    def transfers(self) -> int:
        """Transfers of each task: all of its segments."""
        return self.block_bytes // self.transfer_bytes * self.segments

    @property
    def files(self) -> list[str]:
        """The paths of `-o a@b@c`; without -F IOR takes the first."""
        names = [os.path.abspath(name) for name in self.file.split("@") if name]
        return names if self.file_per_process else names[:1]

    @property
    def directory(self) -> str:
        """Where the files lie."""
        return os.path.dirname(self.files[0])


def make_test(values: Mapping[str, Scalar], backend: Mapping[str, Scalar], number: int) -> IorTest:
    """A test of the values that were given; UserError where they do not go together."""
    known = {item.name: item for item in fields(IorTest)}
    given: dict[str, Any] = {"number": number, "backend": dict(backend)}
    for name, value in values.items():
        is_switch = known[name].type == "bool"
        given[name] = bool(value) if is_switch else value
    test = replace(IorTest(), **given)
    _check_sizes(test)
    _check_choices(test)
    return test


def _wrong(what: str, hint: str = "") -> UserError:
    return UserError(f"{TOOL}: {what}", hint)


def _check_sizes(test: IorTest) -> None:
    least = {
        "-b": (test.block_bytes, 1),
        "-t": (test.transfer_bytes, 1),
        "-s": (test.segments, 1),
        "-i": (test.repetitions, 1),
        "-d": (test.delay_s, 0),
        "-D": (test.stonewall_s, 0),
        "-T": (test.most_minutes, 0),
        "-j": (test.outlier_s, 0),
        "-N": (test.tasks, -1),
        "-G": (test.signature, 0),
        "minTimeDuration": (test.least_s, 0),
        "interIODelay": (test.think_us, 0),
        "-Q": (test.node_offset, 0),
        "stoneWallingWearOutIterations": (test.wear_out_transfers, 0),
    }
    for name, (value, smallest) in least.items():
        if value < smallest:
            raise _wrong(f"{name} {value}: {smallest} or more is needed")
    if test.transfer_bytes > test.block_bytes or test.block_bytes % test.transfer_bytes:
        raise _wrong(
            f"-t {test.transfer_bytes} does not divide -b {test.block_bytes}",
            "a block holds whole transfers",
        )


def _check_choices(test: IorTest) -> None:
    if test.reorder and test.reorder_random:
        raise _wrong("-C and -Z exclude each other", "choose one order of the readers")
    if test.random and (test.reorder or test.reorder_random) and not test.file_per_process:
        raise _wrong("-z with -C or -Z needs -F", "in a shared file -z already mixes the tasks")
    if not test.files:
        raise _wrong(f"-o '{test.file}' names no file")
    if test.unique_directory and not test.file_per_process:
        raise _wrong("-u needs -F", "a directory for each task goes with a file for each task")
    if len(test.files) > 1 and test.unique_directory:
        raise _wrong("-u does not go with several files (-o a@b)")
    if test.status_file and not test.keep:
        raise _wrong("stoneWallingStatusFile needs -k", "it tells a later test how much is there")
    if test.status_file and test.write and not (test.wear_out and test.stonewall_s):
        raise _wrong("stoneWallingStatusFile of a write needs -D and stoneWallingWearOut=1")
    if test.memory and test.memory_per_task:
        raise _wrong("-M (memoryPerNode) and memoryPerTask exclude each other")
    if test.interface == "ncmpi" and (test.file_per_process or test.random):
        raise _wrong("NCMPI takes neither -F nor -z", "IOR refuses them as well")
    if test.packet[:1].lower() not in tuple("toir"):
        raise _wrong(f"-l {test.packet}: no such data", "timestamp, offset, incompressible, random")
