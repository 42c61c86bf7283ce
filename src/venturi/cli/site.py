"""`venturi site`: pages of everything that was measured, in a folder."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venturi.cli.group import WholeGroup
from venturi.cli.help import rare_option
from venturi.cli.option import json_option, units_option
from venturi.model.error import ExitCode

if TYPE_CHECKING:
    from venturi.site.build import SiteBuild, SiteRequest

_MOST_SHOWN = 5


@click.group(cls=WholeGroup)
def command() -> None:
    """Make pages of everything that was measured: status, machines, workloads, runs, lists."""


@command.command("build")
@click.argument("sources", metavar="[STORE|CHECKOUT]...", nargs=-1)
@click.option(
    "-o", "--output", metavar="DIR", default="public", help="Directory of the site (public)."
)
@rare_option("--title", metavar="TEXT", default="Results", help="Title of the site.")
@json_option
@units_option
def build_site(
    sources: tuple[str, ...], output: str, title: str, as_json: bool, units: str
) -> None:
    """Build the site of stores and checkouts of results repositories, or bring it up to date.

    Default: the store. Several are joined. Only shared fields are shown: host names, users, paths
    and logs stay. Pages work from disk and from any web server; nothing is loaded from elsewhere.
    Only what changed since the last time is read and drawn; the same results give the same bytes.

    \b
    Examples:
      venturi site build -o public/
      venturi site build results-a/ results-b/ --title 'Storage of three groups'
    """
    from venturi.site.build import build

    request = _request(sources, output, title, units)
    made = build(request)
    if as_json:
        click.echo(json.dumps(asdict(made), indent=1))
    _tell(made)
    if not as_json:
        click.echo(str(request.place / "index.html"))


@command.command("serve")
@click.argument("sources", metavar="[STORE|CHECKOUT]...", nargs=-1)
@click.option(
    "-o", "--output", metavar="DIR", default="public", help="Directory of the site (public)."
)
@rare_option("--title", metavar="TEXT", default="Results", help="Title of the site.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, help="Port; 0: any free one (8000)."
)
@units_option
def serve_site(sources: tuple[str, ...], output: str, title: str, port: int, units: str) -> int:
    """Preview the site: build it, and serve it to this host alone until Ctrl-C.

    Each page that is opened is as new as the sources.

    \b
    Example:
      venturi site serve results/ --port 8080
    """
    from venturi.site.serve import LOOPBACK, SitePreview

    preview = SitePreview(_request(sources, output, title, units), port, _tell)
    click.echo(f"http://{LOOPBACK}:{preview.port}/")
    preview.run()
    return ExitCode.FINE


def _request(sources: tuple[str, ...], output: str, title: str, units: str) -> SiteRequest:
    from venturi.report.quantity import Units
    from venturi.site.build import SiteRequest
    from venturi.store.place import store_directory

    places = tuple(map(Path, sources)) or (store_directory(None),)
    return SiteRequest(places, Path(output), title, Units(units))


def _tell(made: SiteBuild) -> None:
    for sentence in made.problems[:_MOST_SHOWN]:
        click.echo(f"venturi: not shown: {sentence}", err=True)
    if len(made.problems) > _MOST_SHOWN:
        click.echo(f"  and {len(made.problems) - _MOST_SHOWN} more", err=True)
    click.echo(
        f"{made.runs} run{'s' if made.runs != 1 else ''} ({made.read} read anew), "
        f"{made.pages} pages, {made.written} files written, {made.removed} removed",
        err=True,
    )
