"""What a command line of md-workbench asks for, and what of it is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venturi.compat.mdtest_option import check_packet, interface_named, refuse_options
from venturi.compat.option import CommandOption, OptionKind, read_options, settle
from venturi.model.error import UserError

TOOL = "md-workbench"
_NUMBER, _REAL, _TEXT = OptionKind.NUMBER, OptionKind.REAL, OptionKind.TEXT

OPTIONS = (
    CommandOption("offset", _NUMBER, "O", "offset"),
    CommandOption("api", _TEXT, "a", "api"),
    CommandOption("objects", _NUMBER, "I", "obj-per-proc"),
    CommandOption("precreated", _NUMBER, "P", "precreate-per-set"),
    CommandOption("datasets", _NUMBER, "D", "data-sets"),
    CommandOption("directory", _TEXT, "o"),
    CommandOption("size", _NUMBER, "S", "object-size"),
    CommandOption("rounds", _NUMBER, "R", "iterations"),
    CommandOption("wait", _REAL, "t", "waiting-time"),
    CommandOption("adaptive", short="T", long="adaptive-waiting"),
    CommandOption("precreate", short="1", long="run-precreate"),
    CommandOption("benchmark", short="2", long="run-benchmark"),
    CommandOption("cleanup", short="3", long="run-cleanup"),
    CommandOption("limit_s", _NUMBER, "w", "stonewall-timer"),
    CommandOption("wear_out", short="W", long="stonewall-wear-out"),
    CommandOption("verify", short="X", long="verify-read"),
    CommandOption("seed", _NUMBER, "G"),
    CommandOption("latency_file", _TEXT, "L", "latency"),
    CommandOption("latency_all", long="latency-all"),
    CommandOption("first_item", _NUMBER, "", "start-item"),
    CommandOption("read_only", long="read-only"),
    CommandOption("detailed", long="print-detailed-stats"),
    CommandOption("by_process", long="process-reports"),
    CommandOption("info_file", _TEXT, "", "run-info-file"),
    CommandOption("ignore_errors", long="ignore-precreate-errors"),
    CommandOption("quiet", short="q", long="quiet"),
    CommandOption("verbose", short="v", long="verbose"),
    CommandOption("packet", _TEXT, "", "dataPacketType"),
    CommandOption("incompressible", long="incompressible-data"),
    CommandOption("gpu_buffer", long="allocateBufferOnGPU"),
    CommandOption("direct", long="posix.odirect"),
    CommandOption("help", short="h", long="help"),
)

REFUSED = {
    "help": (
        "its options are md-workbench's",
        "docs/compatibility/md-workbench.md lists every one of them",
    ),
    "ignore_errors": (
        "an error of the precreation is counted, located and makes the result INVALID",
        "leave it away",
    ),
    "gpu_buffer": ("buffers lie in main memory only", "leave it away"),
}
"""Options that are never run: the reason, and what to do instead."""

ADAPTIVE_FACTORS = (0.0, *(2.0**power for power in range(-4, 3)))
"""Waiting factors of -T, one pass each: 0, 1/16, 1/8 ... 4."""


@dataclass(frozen=True)
class MdWorkbenchArguments:
    """A command line that md-workbench would take and that can be run here."""

    interface: str
    directory: str
    offset: int
    objects: int
    precreated: int
    datasets: int
    size: int
    rounds: int
    factors: tuple[float, ...]
    """Waiting factors: the passes over the objects of each round."""
    precreate: bool
    """Whether the precreation is one of the phases; if not, the objects are made beforehand."""
    benchmark: bool
    cleanup: bool
    limit_s: int
    wear_out: bool
    verify: bool
    seed: int
    read_only: bool
    detailed: bool
    by_process: bool
    quiet: bool
    direct: bool
    first_item: int = 0
    """The number of the first object that is there before the benchmark."""
    latency_prefix: str = ""
    latency_all: bool = False
    info_file: str = ""

    @property
    def passes(self) -> int:
        """How often the working set moves on by `objects`."""
        return self.rounds * len(self.factors) if self.benchmark else 0


def read_arguments(words: Sequence[str]) -> MdWorkbenchArguments:
    """The command line behind `venturi compat md-workbench --`; UserError for what is refused."""
    given = read_options(words, OPTIONS, TOOL)
    refuse_options(given, REFUSED, TOOL)
    values = settle(given)
    arguments = _arguments(values)
    _check(arguments)
    return arguments


_LEAST = {
    "offset": (1, 0),
    "objects": (1000, 1),
    "precreated": (3000, 1),
    "datasets": (10, 1),
    "size": (3901, 0),
    "rounds": (3, 1),
    "limit_s": (0, 0),
    "seed": (0, -1),
    "first_item": (0, 0),
}
"""Defaults, and the least that makes sense."""


def _arguments(values: dict[str, int | float | str]) -> MdWorkbenchArguments:
    spelling = {option.name: option.spelling for option in OPTIONS}
    numbers = {}
    for name, (default, least) in _LEAST.items():
        numbers[name] = int(values.get(name, default))
        if numbers[name] < least:
            raise UserError(f"{TOOL} {spelling[name]} {numbers[name]}: {least} or more is needed")
    wait = float(values.get("wait", 0.0))
    if wait < 0:
        raise UserError(f"{TOOL} -t {wait:g}: 0 or more is needed")
    if values.get("adaptive") and wait:
        raise UserError(f"{TOOL}: -t with -T: the waiting factor is given or found, not both")
    check_packet(str(values.get("packet", "t")), TOOL)
    explicit = any(values.get(name) for name in ("precreate", "benchmark", "cleanup"))
    return MdWorkbenchArguments(
        interface=interface_named(str(values.get("api", "POSIX")), TOOL),
        directory=str(values.get("directory", "./out")),
        factors=ADAPTIVE_FACTORS if values.get("adaptive") else (wait,),
        precreate=not explicit or bool(values.get("precreate")),
        benchmark=not explicit or bool(values.get("benchmark")),
        cleanup=not explicit or bool(values.get("cleanup")),
        wear_out=bool(values.get("wear_out")),
        verify=bool(values.get("verify")),
        read_only=bool(values.get("read_only")),
        detailed=bool(values.get("detailed")),
        by_process=bool(values.get("by_process")),
        quiet=bool(values.get("quiet")),
        direct=bool(values.get("direct")),
        latency_prefix=str(values.get("latency_file", "")),
        latency_all=bool(values.get("latency_all")),
        info_file=str(values.get("info_file", "")),
        **{**numbers, "seed": max(numbers["seed"], 0)},
    )


def _check(arguments: MdWorkbenchArguments) -> None:
    a = arguments
    if a.wear_out and not a.limit_s:
        raise UserError(f"{TOOL} -W: wear-out follows a time limit", "give the limit: -w SECONDS")
    if a.latency_all and not a.latency_prefix:
        raise UserError(f"{TOOL} --latency-all: there is no table", "name it: -L PREFIX")
