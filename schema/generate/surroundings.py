"""What commands take from their surroundings: variables of the environment, and files."""

from __future__ import annotations

from dataclasses import dataclass

import click

from venturi.cli.main import COMMANDS

_MEASURING = ("run", "compare", "compat", "campaign run", "campaign resume")
_WITH_ENGINE = (
    *_MEASURING,
    *("doctor", "capture", "predict", "tune", "profile", "build-engine", "health"),
    *("probe run", "probe remove"),
)


@dataclass(frozen=True)
class Surrounding:
    """A variable or a file, and which commands mind it: some by name, some by an option.

    With a command, those below it mind it as well, and the page of its group tells of it.
    """

    name: str
    about: str
    commands: tuple[str, ...]
    option: str = ""

    def is_for(self, context: click.Context) -> bool:
        """Whether a command minds it; the page of all commands tells of everything."""
        _, *below = context.command_path.split()
        options = [word for one in context.command.params for word in one.opts]
        named = (words for one in self.commands for words in [one.split()])
        is_named = any(all(map(str.__eq__, words, below)) for words in named)
        return not below or is_named or self.option in options


VARIABLES = (
    Surrounding(
        "VENTURI_STORE", "Directory of the result store, unless --store names one.", (), "--store"
    ),
    Surrounding(
        "VENTURI_ENGINE_DIR",
        "Folder in which the engine and the library of `venturi capture` are looked for first.",
        _WITH_ENGINE,
    ),
    Surrounding(
        "VENTURI_PROBE_STORE",
        "Further stores, separated by colons, whose running probes are read during a run.",
        (*_MEASURING, "probe wait"),
    ),
    Surrounding(
        "VENTURI_TRACE_DIR",
        "Set for recorded programs, beside LD_PRELOAD: a launcher must"
        " hand both on to other hosts.",
        ("capture",),
    ),
    Surrounding(
        "VENTURI_FROM",
        "Set for commands that a workload runs: where venturi was started.",
        (*_MEASURING, "tune"),
    ),
    Surrounding(
        "VENTURI_RUN",
        "Set for commands that a workload runs: the directory of the run.",
        (*_MEASURING, "tune"),
    ),
    Surrounding(
        "_VENTURI_COMPLETE",
        "bash_source, zsh_source or fish_source: print what lets this"
        " shell complete commands, options, workloads and runs.",
        (),
    ),
    Surrounding(
        "XDG_DATA_HOME",
        "The user's data directory (default: ~/.local/share).",
        ("build-engine",),
        "--store",
    ),
    Surrounding(
        "TMPDIR", "Directory in which the engine is built (default: /tmp).", ("build-engine",)
    ),
    Surrounding("NO_COLOR", "If set, print without colors.", tuple(COMMANDS)),
)
FILES = (
    Surrounding(
        "~/.local/share/venturi",
        "The result store, unless --store or VENTURI_STORE names another.",
        (),
        "--store",
    ),
    Surrounding(
        "~/.local/share/venturi/engines", "Engines that `venturi build-engine` built.", _WITH_ENGINE
    ),
    Surrounding(
        "/var/lib/venturi-probe/*",
        "Stores of probes that run as a service.",
        (*_MEASURING, "probe wait"),
    ),
)
