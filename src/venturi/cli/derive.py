"""`venturi derive`: a proxy workload from a log."""

from __future__ import annotations

import json
from pathlib import Path

import click

from venturi.cli.option import json_option


@click.command()
@click.argument("log")
@click.option("-o", "--output", metavar="FILE", help="Write the workload there (YAML).")
@click.option("--name", help="Name of the workload (default: the log's).")
@json_option
def command(log: str, output: str | None, name: str | None, as_json: bool) -> None:
    """A compact proxy workload from LOG: Darshan's logs and texts, strace, dftracer, Recorder,
    a trace, or a folder with the captures of one job.

    Without -o the workload goes to stdout and the findings to stderr.
    """
    from venturi.derive.workload import derive
    from venturi.derive.yaml_text import to_yaml
    from venturi.model.error import UserError
    from venturi.sources.open import read

    workload = derive(read(Path(log)), name or Path(log).name.split(".")[0])
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
