"""`venturi derive`: a proxy workload from a log."""

from __future__ import annotations

import json
from pathlib import Path

import click

from venturi.cli.option import json_option


@click.command()
@click.argument("log", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", help="Write the workload there (YAML).")
@click.option("--name", help="Name of the workload (default: the log's).")
@click.option(
    "--scale-ranks",
    "other",
    metavar="LOG",
    help="The same program on another number of ranks: fixes how sizes follow it.",
)
@json_option
def command(
    log: tuple[str, ...], output: str | None, name: str | None, other: str | None, as_json: bool
) -> None:
    """A compact proxy workload from LOG (a trace, Darshan, DXT, strace ...; several of one job).

    Without -o the workload goes to stdout and the findings to stderr.
    """
    from venturi.derive.workload import derive
    from venturi.derive.yaml_text import to_yaml
    from venturi.model.error import UserError
    from venturi.sources.open import read_capture

    title = name or Path(log[0]).name.split(".")[0]
    workload = derive(read_capture(log[0], *log[1:]), title)
    if other is not None:
        from venturi.derive.scale import scaled

        workload = scaled(workload, derive(read_capture(other), title))
    text = to_yaml(workload)
    if output is not None:
        try:
            Path(output).write_text(text, "utf-8")
        except OSError as error:
            raise UserError(f"{output}: {error.strerror}") from None
    if as_json:
        data = json.loads(workload.to_json())
        origin = data["origin"] or {}
        data |= {"ior": origin.get("ior"), "findings": origin.get("findings", [])}
        click.echo(json.dumps(data, indent=1))
        return
    if output is None:
        click.echo(text, nl=False)
    from venturi.cli.console import stderr_console
    from venturi.report.terminal import print_derived

    print_derived(workload, stderr_console())
