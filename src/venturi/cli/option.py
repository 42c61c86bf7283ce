"""Options that several commands share, and what they mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from venturi.cli.help import rare_option
from venturi.model.budget import is_budget
from venturi.model.error import UserError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_RECORD = "record.json"
_AUTO = "auto"
_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(%?)")
_BUDGET = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(s|min|m|h|)")
_UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
SCALES = ("laptop", "paper", "small", "large")

store_option = rare_option(
    "--store", metavar="DIR", help="Directory of the result store (default: $VENTURI_STORE)."
)
json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document to stdout; messages go to stderr.",
)
machine_option = click.option(
    "--on",
    "machine",
    metavar="MACHINE",
    default="local",
    help="Where to run: local, openmpi, mpich, slurm:PARTITION or a machine file.",
)
seed_option = rare_option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="N",
    default=1,
    help="Seed for all random choices.",
)
payload_option = rare_option(
    "--payload",
    type=click.Choice(["venturi", "ior"]),
    default="venturi",
    help="What is written: data without any repetition, or equal transfers as IOR's.",
)
units_option = rare_option(
    "--units",
    type=click.Choice(["iec", "si"]),
    default="iec",
    help="Show sizes in KiB (iec) or kB (si).",
)


def _each_once(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Raise UserError for a name that is set to two values: only the last one would count."""
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if values.setdefault(name.strip(), value.strip()) != value.strip():
            raise UserError(f"--set {name.strip()} stands twice", "keep one value")
    return texts


ranks_option = click.option("-n", "--ranks", type=int, metavar="N", help="Number of ranks.")
nodes_option = rare_option(
    "-N", "--nodes", type=click.IntRange(min=1), metavar="N", default=1, help="Number of nodes."
)
scale_option = click.option(
    "--scale", type=click.Choice(SCALES), default="laptop", help="Named scale."
)
set_option = click.option(
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_each_once,
    help="Set a parameter.",
)


def workload_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that settle a workload: ranks, scale, parameters, repetitions, seed."""
    repeat_option = click.option(
        "--repeat", metavar="N|auto", help="Repetitions (default: the workload's, or 6)."
    )
    options: list[Decorator] = [
        ranks_option,
        nodes_option,
        scale_option,
        set_option,
        repeat_option,
        seed_option,
        machine_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def until_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options beside `--repeat auto` that say when repetitions are enough."""
    detect = rare_option(
        "--detect",
        metavar="SHARE",
        help="Repeat until a change of this size is detectable, e.g. 10%.",
    )
    budget = rare_option(
        "--budget",
        metavar="TIME",
        help="Total time budget for --repeat auto and --detect (default: 10m).",
    )
    return detect(budget(command))


def parse_assignments(texts: tuple[str, ...]) -> dict[str, str]:
    """`name=value` pairs of `--set`; UserError for anything else."""
    result: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise UserError(f"--set {text}: this is not name=value")
        result[name.strip()] = value.strip()
    return result


def parse_detect(text: str) -> float:
    """The share of `--detect`: `10%` or `0.1`; UserError for what is none above 0 and below 1."""
    found = _SHARE.fullmatch(text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not 0 < share < 1:
        raise UserError(f"--detect {text}: a share between 0 and 100% is needed", "such as 10%")
    return share


def aim_of(options: dict[str, Any]) -> Any:
    """When repetitions are enough, by `--repeat auto` or `--detect`; None: their number is said.

    Raises UserError where options do not fit together.
    """
    repeat, detect, budget = (options.get(name) for name in ("repeat", "detect", "budget"))
    if repeat not in (None, _AUTO) and detect is not None:
        raise UserError(f"--repeat {repeat} says how many, --detect leaves it open", "give one")
    if repeat != _AUTO and detect is None:
        if budget is not None:
            raise UserError("--budget is for --repeat auto and --detect", "give one of them too")
        return None
    from venturi.model.aim import Aim

    seen = None if detect is None else parse_detect(detect)
    return Aim(detect=seen) if budget is None else Aim(detect=seen, budget_s=budget_seconds(budget))


def parse_repeat(text: str | None) -> int | None:
    """The number of `--repeat`; None leaves it to the workload, or to what is found."""
    if text in (None, _AUTO):
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 100_000:
        raise UserError(f"--repeat {text}: a number from 1 to 100000 is needed, or auto")
    return int(text)


def budget_seconds(text: str, may_be_none: bool = False) -> float:
    """The seconds of `--budget`: `90s`, `3m`, `3 min`, `1h` or a bare number of seconds.

    Raises UserError as `seconds_in`, unless it is `0` where there may be none.
    """
    return 0.0 if may_be_none and text.strip() == "0" else seconds_in("--budget", text)


def seconds_in(option: str, text: str) -> float:
    """The seconds of a time that an option was given.

    Raises UserError for what is none, for less than a second, and for more than ten days.
    """
    found = _BUDGET.fullmatch(text.strip())
    seconds = float(Fraction(found[1]) * _UNITS_S[found[2]]) if found else 0.0
    if not is_budget(seconds):
        raise UserError(
            f"{option} {text}: a time from 1s to 240h is needed", "such as 90s, 3m or 1h"
        )
    return seconds


def settings_of(options: dict[str, Any]) -> Any:
    """The settings of the workload options."""
    from venturi.plan.setting import RunSettings

    return RunSettings(
        ranks=options["ranks"],
        nodes=options["nodes"],
        scale=options["scale"],
        repetitions=parse_repeat(options["repeat"]),
        seed=options["seed"],
        assignments=parse_assignments(options["assignments"]),
    )


def refuse_over_input(output: str | None, *inputs: str | None) -> None:
    """Raises UserError where an output would replace what the command reads, or lie in a run.

    What is read may be the only copy: a log, or a workload that was edited. Runs never change.
    """
    if output is None:
        return
    parents = Path(output).resolve().parents
    for name in inputs:
        if name is None or not os.path.exists(name):  # an id, a tag, a name of the library
            continue
        if os.path.exists(output) and os.path.samefile(name, output):
            raise UserError(
                f"{output}: this is read here, and would be lost", "choose another file with -o"
            )
        if (Path(name) / _RECORD).is_file() and Path(name).resolve() in parents:
            raise UserError(
                f"{output}: {name} is a run, which never changes", "choose another file with -o"
            )


def write_text(path: Path, text: str) -> None:
    """Writes a result where the user wants it, as a whole or not at all.

    Raises UserError where that cannot be; a file that was there is then as it was.
    """
    from venturi.store.whole_file import write_whole

    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            path.write_text(text, "utf-8")
        else:
            write_whole(path.resolve(), text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "choose another file with -o") from None


def shown_path(path: Path) -> str:
    """A path as the next command can be given it, from here if that is shorter."""
    return min(str(path), os.path.relpath(path), key=len)


def tell_if_elsewhere(wanted: Path, saved: Path) -> str:
    """Says on standard error that a folder went elsewhere; what to call it."""
    if saved != wanted:
        click.echo(f"venturi: {wanted}: cannot be written; the result is {saved}", err=True)
    return shown_path(saved)
