"""`venturi run io500-official`: the site's own program, its result, and the folder to submit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.model.error import ExitCode, UserError

if TYPE_CHECKING:
    from venturi.compat.io500.official import OfficialResult


@dataclass(frozen=True)
class OfficialRunOptions:
    """The options of `venturi run` that concern it."""

    workload: str
    directory: str
    store: str | None
    binary: str | None
    config: str | None
    stonewall_s: float | None
    mode: str | None
    dry_run: bool
    prepare: str | None = None


def run_official(asked: OfficialRunOptions, options: dict[str, Any], as_json: bool) -> int:
    """Run it; UserError for options that it cannot honour.

    Exit code 3 where the result is not valid; the program itself ends with 0 then.
    """
    from venturi.compat.io500.official import NAME, OfficialRequest
    from venturi.compat.io500.official import run_official as run
    from venturi.execute.launcher import machine_named
    from venturi.store.place import store_directory

    _check(asked, options, NAME)
    assert asked.binary is not None
    wanted = OfficialRequest(
        binary=Path(asked.binary),
        directory=Path(asked.directory).absolute(),
        store=store_directory(asked.store),
        machine=machine_named(options["machine"]),
        ranks=options["ranks"] or 1,
        nodes=options["nodes"],
        config=Path(asked.config) if asked.config else None,
        stonewall_s=int(asked.stonewall_s) if asked.stonewall_s is not None else None,
        mode=asked.mode or "standard",
        prepare=Path(asked.prepare) if asked.prepare else None,
    )
    packed = run(wanted, lambda text: click.echo(text, err=True))
    if as_json:
        data = {
            "schema": "venturi.io500-official/1",
            "folder": str(packed.folder),
            "archive": str(packed.archive),
            "result": packed.result.to_data(),
            "information": packed.information,
            "missing": packed.missing,
        }
        click.echo(json.dumps(data, indent=1))
    else:
        _print(packed)
    return ExitCode.FINE if packed.result.ranked else ExitCode.MEASUREMENT


def _check(asked: OfficialRunOptions, options: dict[str, Any], name: str) -> None:
    if asked.workload != name:
        raise UserError(f"--binary belongs to {name}, not to {asked.workload}")
    if asked.binary is None:
        raise UserError(
            f"{name} drives the site's own program", "name it with --binary PATH; none is shipped"
        )
    if asked.mode not in (None, "standard", "extended"):
        raise UserError(f"--mode {asked.mode}: {name} knows standard and extended")
    if asked.stonewall_s is not None and (asked.stonewall_s < 1 or asked.stonewall_s % 1):
        raise UserError(f"--stonewall {asked.stonewall_s:g}: a whole number of seconds is needed")
    for key in ("assignments", "repeat", "detect", "budget"):
        option = "--set" if key == "assignments" else f"--{key}"
        if options[key]:
            raise UserError(f"{option}: {name} takes its settings from --config")
    if asked.dry_run:
        raise UserError(f"--dry-run: {name} has no plan", "the program has a --dry-run of its own")


def _print(packed: OfficialResult) -> None:
    from venturi.cli.console import stdout_console
    from venturi.report.published import print_import
    from venturi.report.submission import print_packed

    console = stdout_console()
    print_import([packed.result], 1, [], console)
    print_packed(str(packed.folder), str(packed.archive), packed.missing, console)
