"""What a command line of mdtest asks for, and what of it is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from venturi.compat.option import (
    CommandOption,
    OptionArgument,
    OptionKind,
    nearest,
    read_options,
    settle,
)
from venturi.model.error import UserError
from venturi.model.interface import Interface

TOOL = "mdtest"
_NUMBER, _REAL, _TEXT = OptionKind.NUMBER, OptionKind.REAL, OptionKind.TEXT

OPTIONS = (
    CommandOption("api", _TEXT, "a"),
    CommandOption("branch", _NUMBER, "b"),
    CommandOption("depth", _NUMBER, "z"),
    CommandOption("per_directory", _NUMBER, "I"),
    CommandOption("items", _NUMBER, "n"),
    CommandOption("directory", _TEXT, "d"),
    CommandOption("iterations", _NUMBER, "i"),
    CommandOption("first", _NUMBER, "f"),
    CommandOption("last", _NUMBER, "l"),
    CommandOption("step", _NUMBER, "s"),
    CommandOption("create", short="C"),
    CommandOption("stat", short="T"),
    CommandOption("read", short="E"),
    CommandOption("remove", short="r"),
    CommandOption("rename", short="U"),
    CommandOption("directories_only", short="D"),
    CommandOption("files_only", short="F"),
    CommandOption("write_bytes", _NUMBER, "w"),
    CommandOption("read_bytes", _NUMBER, "e"),
    CommandOption("stride", _NUMBER, "N"),
    CommandOption("unique", short="u"),
    CommandOption("time_unique", short="t"),
    CommandOption("leaves", short="L"),
    CommandOption("shared_file", short="S"),
    CommandOption("collective", short="c"),
    CommandOption("mknod", short="k"),
    CommandOption("shuffled", short="R"),
    CommandOption("random_seed", _NUMBER, "", "random-seed"),
    CommandOption("limit_s", _NUMBER, "W"),
    CommandOption("status_file", _TEXT, "x"),
    CommandOption("verify_read", short="X", long="verify-read"),
    CommandOption("verify_write", long="verify-write"),
    CommandOption("fsync", short="y"),
    CommandOption("sync_all", short="Y"),
    CommandOption("delay_s", _NUMBER, "p"),
    CommandOption("rate_and_time", short="P"),
    CommandOption("time_only", short="Z"),
    CommandOption("verbose", short="v"),
    CommandOption("verbosity", _NUMBER, "V"),
    CommandOption("seed", _NUMBER, "G"),
    CommandOption("packet", _TEXT, "", "dataPacketType"),
    CommandOption("command_before", _TEXT, "", "run-cmd-before-phase"),
    CommandOption("command_after", _TEXT, "", "run-cmd-after-phase"),
    CommandOption("rank_csv", _TEXT, "", "saveRankPerformanceDetails"),
    CommandOption("operation_csv", _TEXT, "", "savePerOpDataCSV"),
    CommandOption("rank_statistics", long="showRankStatistics"),
    CommandOption("all_processes", long="print-all-procs"),
    CommandOption("lustre_layout", short="g"),
    CommandOption("gpu_buffer", _NUMBER, "", "allocateBufferOnGPU"),
    CommandOption("gpu_id", _NUMBER, "", "GPUid"),
    CommandOption("gpu_direct", long="gpuDirect"),
    CommandOption("warnings_are_errors", long="warningAsErrors"),
    CommandOption("no_barriers", _NUMBER, "B"),
    CommandOption("direct", long="posix.odirect"),
    CommandOption("help", short="h", long="help"),
)

REFUSED = {
    "help": ("its options are mdtest's", "docs/compatibility/mdtest.md lists every one of them"),
    "no_barriers": (
        "mdtest itself always refuses it: phases begin together",
        "leave it away",
    ),
    "command_before": (
        "a run starts no foreign commands between its phases",
        "run the phases as separate commands, or drop caches with 'cache: drop' in a workload",
    ),
    "command_after": (
        "a run starts no foreign commands between its phases",
        "run the phases as separate commands",
    ),
    "lustre_layout": (
        "directory layouts of Lustre are not set: the engine does not use its library",
        "lfs setdirstripe -D on the target directory does it before the run",
    ),
    "gpu_buffer": ("buffers lie in main memory only", "leave it away"),
    "gpu_id": ("buffers lie in main memory only", "leave it away"),
    "gpu_direct": ("buffers lie in main memory only", "leave it away"),
}
"""Options that are never run: the reason, and what to do instead."""

INTERFACES = {
    interface.entry.elsewhere.mdtest: interface.value
    for interface in Interface
    if interface.entry.elsewhere.mdtest
}
"""mdtest's names of interfaces on which small files can be made here."""
PACKETS = ("timestamp", "offset", "incompressible", "random", "t", "o", "i", "r")


@dataclass(frozen=True)
class Phases:
    """Which kinds of phases run."""

    create: bool
    stat: bool
    read: bool
    rename: bool
    remove: bool


@dataclass(frozen=True)
class MdtestArguments:
    """A command line that mdtest would take and that can be run here.

    Numbers are as given: 0 where not. `phases` and `on_files`, `on_directories` are settled.
    """

    interface: str
    branch: int
    depth: int
    per_directory: int
    items: int
    directories: tuple[str, ...]
    iterations: int
    first: int
    last: int
    step: int
    phases: Phases
    on_directories: bool
    on_files: bool
    write_bytes: int
    read_bytes: int
    stride: int
    unique: bool
    leaves: bool
    shared_file: bool
    collective: bool
    mknod: bool
    shuffled: bool
    random_seed: int
    limit_s: int
    status_file: str
    verify_read: bool
    verify_write: bool
    fsync: bool
    sync_all: bool
    delay_s: int
    rate_and_time: bool
    time_only: bool
    seed: int
    rank_csv: str
    operation_csv: str
    rank_statistics: bool
    all_processes: bool
    warnings_are_errors: bool
    verbose: bool
    direct: bool

    @property
    def verifies(self) -> bool:
        """Whether what is written can be recognised when it is read."""
        return self.verify_read or self.verify_write


def read_arguments(words: Sequence[str]) -> MdtestArguments:
    """The command line behind `venturi compat mdtest --`; UserError for what is refused."""
    given = read_options(words, OPTIONS, TOOL)
    refuse_options(given, REFUSED, TOOL)
    values = settle(given)
    _check_numbers(values)
    arguments = _arguments(values)
    _check(arguments)
    return arguments


def refuse_options(
    given: Sequence[OptionArgument], refused: dict[str, tuple[str, str]], tool: str
) -> None:
    """Raise UserError for the first option that is never run."""
    for item in given:
        if item.option.name in refused:
            reason, hint = refused[item.option.name]
            raise UserError(f"{tool} {item.option.spelling} is refused: {reason}", hint)


def interface_named(name: str, tool: str) -> str:
    """The interface that `-a NAME` means; UserError for one without small files."""
    found = {known.upper(): ours for known, ours in INTERFACES.items()}.get(name.upper())
    if found is None:
        known = list(INTERFACES)
        raise UserError(
            f"{tool} -a {name} is refused: small files are made through {' and '.join(known)} only",
            nearest(name, known) or f"known here: {', '.join(known)}",
        )
    return found


def check_packet(name: str, tool: str) -> None:
    """Raise UserError for a word that is no kind of buffer."""
    if name not in PACKETS:
        raise UserError(f"{tool} --dataPacketType {name}: no such kind", ", ".join(PACKETS))


_LEAST = {
    "branch": 0,
    "depth": 0,
    "per_directory": 0,
    "items": 0,
    "iterations": 1,
    "first": 1,
    "last": 0,
    "step": 1,
    "write_bytes": 0,
    "read_bytes": 0,
    "stride": 0,
    "random_seed": 0,
    "limit_s": 0,
    "delay_s": 0,
}
_DEFAULTS = {"branch": 1, "iterations": 1, "first": 1, "step": 1}


def _check_numbers(values: dict[str, int | float | str]) -> None:
    spelling = {option.name: option.spelling for option in OPTIONS}
    for name, least in _LEAST.items():
        value = values.get(name, _DEFAULTS.get(name, 0))
        if int(value) < least:
            raise UserError(f"{TOOL} {spelling[name]} {value}: {least} or more is needed")


def _arguments(values: dict[str, Any]) -> MdtestArguments:
    def flag(name: str) -> bool:
        return bool(values.get(name, 0))

    def number(name: str) -> int:
        return int(values.get(name, _DEFAULTS.get(name, 0)))

    check_packet(values.get("packet", "t"), TOOL)
    chosen = [flag(name) for name in ("create", "stat", "read", "rename", "remove")]
    both = not flag("directories_only") and not flag("files_only")
    has_items = number("items") > 0 or number("per_directory") > 0
    known = MdtestArguments.__dataclass_fields__
    numbers: dict[str, Any] = {name: number(name) for name in (*_LEAST, "seed")}
    flags: dict[str, Any] = {
        option.name: flag(option.name)
        for option in OPTIONS
        if option.kind is OptionKind.FLAG and option.name in known and option.name != "verbose"
    }
    return MdtestArguments(
        interface=interface_named(values.get("api", "POSIX"), TOOL),
        directories=tuple(str(values.get("directory", "./out")).split("@")),
        phases=Phases(*(chosen if any(chosen) else [True] * 5)),
        on_directories=has_items and (both or flag("directories_only")) and not flag("shared_file"),
        on_files=has_items and (both or flag("files_only")),
        verbose=flag("verbose") or int(values.get("verbosity", 0)) > 0,
        status_file=str(values.get("status_file", "")),
        rank_csv=str(values.get("rank_csv", "")),
        operation_csv=str(values.get("operation_csv", "")),
        **numbers,
        **flags,
    )


def _check(arguments: MdtestArguments) -> None:
    """Combinations that mdtest refuses, and those that make no sense."""
    a, several = arguments, len(arguments.directories) > 1
    wrong = {
        "--verify-write with -S: another task may be making the file anew": a.verify_write
        and a.shared_file,
        "-w with -k: a node made by mknod is not written": a.write_bytes > 0 and a.mknod,
        "-u with -S: a file shared by all has no directory for each task": a.unique
        and a.shared_file,
        "-c with -S: one task cannot create for all what all share": a.collective and a.shared_file,
        "-c with several directories": a.collective and several,
        "-N with several directories: a task's neighbour works elsewhere": a.stride > 0 and several,
        "several directories without -u: tasks of a shared tree need one place": several
        and not a.unique,
        "-b 0 with -z: a tree that is deeper than its root branches": a.branch < 1 and a.depth > 0,
        "-n and -I with -u: either says how many items there are": a.unique
        and a.items > 0
        and a.per_directory > 0,
        "-e > -w: more is read than was written": a.phases.create
        and a.phases.read
        and a.read_bytes > a.write_bytes,
        "-X without -E: nothing is read": a.verify_read and not a.phases.read,
        "-X without -e: 0 bytes are read": a.verify_read and a.read_bytes == 0,
        "-f > -l: there is no such number of tasks": 0 < a.last < a.first,
        "an empty name in -d": any(not name for name in a.directories),
    }
    for what, is_so in wrong.items():
        if is_so:
            raise UserError(
                f"{TOOL}: {what}",
                "leave one of them away; docs/compatibility/mdtest.md has the list",
            )
    if a.items > 0 and a.per_directory > 0 and a.items % a.per_directory:
        raise UserError(
            f"{TOOL}: -n {a.items} is no multiple of -I {a.per_directory}",
            "-n / -I is the number of trees",
        )
    if a.items == 0 and a.per_directory == 0 and not a.phases.create:
        raise UserError(f"{TOOL}: neither -n nor -I: there are no items", "say how many: -n 1000")
