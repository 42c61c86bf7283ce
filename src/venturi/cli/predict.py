"""`venturi predict`: how long a workload's I/O takes, on a profiled machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from venturi.cli.option import (
    json_option,
    open_workload,
    settings_of,
    store_option,
    units_option,
    workload_options,
    write_text,
)
from venturi.model.error import UserError


@click.command()
@click.argument("workload")
@workload_options
@click.option("--scale-ranks", is_flag=True, help="With --on: extrapolate to more ranks.")
@click.option("-o", "--output", metavar="FILE", help="Keep the forecast (JSON) for a report.")
@store_option
@json_option
@units_option
def command(
    workload: str,
    store: str | None,
    output: str | None,
    scale_ranks: bool,
    as_json: bool,
    units: str,
    **options: Any,
) -> None:
    """I/O time of WORKLOAD by phase on a machine that was profiled (--on MACHINE.yaml)."""
    if options["machine"] == "local":
        raise UserError(
            "--on MACHINE.yaml is missing",
            "venturi profile DIR -o machine.yaml measures one",
        )
    on_machine(workload, store, output, scale_ranks, as_json, units, options)


def on_machine(
    workload: str,
    store: str | None,
    output: str | None,
    scale_ranks: bool,
    as_json: bool,
    units: str,
    options: dict[str, Any],
) -> None:
    """Print, and keep where asked, the forecast for a profiled machine."""
    from dataclasses import replace

    from venturi.execute.launcher import machine_named
    from venturi.plan.make import make_plan
    from venturi.predict.on_machine import forecast

    opened, _ = open_workload(workload, store)
    machine = machine_named(options["machine"])
    settings = replace(
        settings_of(options),
        most_ranks=max(machine.most_ranks, 4096),
        server_memory_bytes=machine.server_memory_bytes,
    )
    found = forecast(make_plan(opened, settings), machine, opened.about, scale_ranks)
    if output is not None:
        write_text(Path(output), found.to_json(indent=1) + "\n")
    if as_json:
        click.echo(found.to_json(indent=1))
        return
    from venturi.cli.console import stdout_console
    from venturi.report.forecast import print_forecast
    from venturi.report.quantity import Units

    print_forecast(found, stdout_console(), Units(units))
