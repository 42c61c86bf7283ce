"""`venturi campaign`: many runs over a space of parameters, on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from venturi.cli.ask import make_sure, yes_option
from venturi.cli.group import WholeGroup
from venturi.cli.help import rare_option
from venturi.cli.option import (
    aim_of,
    json_option,
    machine_option,
    parse_repeat,
    refuse_over_input,
    shown_path,
    store_option,
    units_option,
    until_options,
)
from venturi.model.error import ExitCode, UserError

if TYPE_CHECKING:
    from venturi.campaign.session import CampaignRequest, Opened
    from venturi.campaign.status import CampaignStatus
    from venturi.model.campaign import Campaign, CampaignResult, TaskState
    from venturi.model.machine import Machine


_page_option = rare_option(
    "--page",
    metavar="ADDRESS",
    default="",
    help="Address that notices name, e.g. of the CI service's job.",
)


def _ci_options(command: Any) -> Any:
    """Files for CI services."""
    for option in (
        rare_option("--metrics", metavar="FILE", help="Write medians as OpenMetrics (GitLab)."),
        rare_option("--junit", metavar="FILE", help="Write states as JUnit XML."),
    ):
        command = option(command)
    return command


@click.group(cls=WholeGroup)
def command() -> None:
    """Run sweeps and suites over machines and time: run, status, resume, cancel, table, import."""


@command.command("run")
@click.argument("file", metavar="CAMPAIGN")
@click.option(
    "-d",
    "--dir",
    "directories",
    required=True,
    multiple=True,
    metavar="DIR",
    help="Directory for the I/O; several are compared point by point.",
)
@machine_option
@click.option("--scale", metavar="NAME", help="Scale of a campaign that has several: paper ...")
@click.option("--repeat", metavar="N|auto", help="Repetitions (default: the campaign's).")
@until_options
@rare_option("--pack", type=click.IntRange(min=1), metavar="N", help="Number of points per job.")
@click.option("-o", "--output", metavar="FOLDER", help="Output folder (default: NAME.campaign).")
@rare_option("--here", is_flag=True, help="Run jobs on this host, e.g. in an allocation.")
@click.option("--dry-run", is_flag=True, help="Print points, bytes and hours without running.")
@_ci_options
@_page_option
@store_option
@json_option
@units_option
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def run(file: str, directories: tuple[str, ...], **options: Any) -> int:
    """Run CAMPAIGN: every step at every point, repetitions interleaved.

    CAMPAIGN is a YAML file, or the name of one that ships (`venturi library ls`).

    Ctrl-C detaches: batch jobs keep running, jobs on this host stop. `venturi campaign resume`
    continues from there; nothing runs twice.

    \b
    Examples:
      venturi campaign run tasks.yaml -d /scratch/me --dry-run
      venturi campaign run tasks.yaml -d scratch --on cluster.yaml
      venturi campaign run cache-curve -d /scratch/me --scale paper --dry-run
    """
    from venturi.campaign.session import (
        ENDING,
        CampaignRequest,
        create,
        directory_of,
        read_campaign,
    )
    from venturi.execute.result_folder import folder_for
    from venturi.store.place import store_directory

    for written in (options["junit"], options["metrics"]):
        refuse_over_input(written, file, options["machine"])
    places = [directory_of(directory, options["machine"]) for directory in directories]
    request = CampaignRequest(
        file=Path(file),
        directory=places[0],
        others=tuple(places[1:]),
        scale=options["scale"],
        store=store_directory(options["store"]),
        machine=options["machine"],
        repeat=parse_repeat(options["repeat"]),
        aim=aim_of(options),
        pack=options["pack"],
        is_here=options["here"],
    )
    folder = folder_for(options["output"], read_campaign(request).name, ENDING)
    if options["dry_run"]:
        return dry_run(request, folder, options)
    opened = create(request, folder)
    _tell_unused(opened.campaign)
    for sentence in opened.left_out:
        click.echo(f"note: {sentence}", err=True)
    return follow_campaign(opened, set(), options)


@command.command("status")
@click.argument("campaign", metavar="FILE")
@_ci_options
@json_option
@units_option
def status(campaign: str, **options: Any) -> int:
    """Show the status of a campaign. FILE is its file or the folder that `run` created."""
    from venturi.campaign.session import folder_of, open_folder

    for written in (options["junit"], options["metrics"]):
        refuse_over_input(written, campaign)
    _print(open_folder(folder_of(campaign)), options)
    return ExitCode.FINE


@command.command("resume")
@click.argument("campaign", metavar="FILE")
@click.option("--retry", metavar="STATES", help="Rerun tasks in these states: failed,timeout.")
@_ci_options
@_page_option
@json_option
@units_option
@rare_option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def resume(campaign: str, retry: str | None, **options: Any) -> int:
    """Resume a campaign: attach to its jobs and submit the remaining ones."""
    from venturi.campaign.session import folder_of, open_folder

    for written in (options["junit"], options["metrics"]):
        refuse_over_input(written, campaign)
    return follow_campaign(open_folder(folder_of(campaign)), _states(retry), options)


@command.command("cancel")
@click.argument("campaign", metavar="FILE")
@click.argument("points", metavar="[POINT]...", nargs=-1)
@yes_option
def cancel(campaign: str, points: tuple[str, ...], yes: bool) -> int:
    """Cancel a campaign, or single points (run-0003) or runs (run-0003/r2) of it."""
    from venturi.campaign.session import cancel_tasks, folder_of, open_folder

    opened = open_folder(folder_of(campaign))
    if not points:
        make_sure(f"Cancel all of {opened.campaign_status.folder.name}?", yes)
    told = cancel_tasks(opened, points)
    click.echo(f"{told} run{'s' if told != 1 else ''} cancelled")
    return ExitCode.FINE


@command.command("table")
@click.argument("campaign", metavar="FILE")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def table(campaign: str, name: str | None, as_csv: bool) -> int:
    """Print all tables defined in a campaign's file, or one of them."""
    from venturi.campaign.session import folder_of, open_folder
    from venturi.cli.console import stdout_console
    from venturi.report.campaign_table import print_table, table_csv

    folder = folder_of(campaign)
    opened = open_folder(folder)
    tables = opened.campaign.tables
    if not tables:
        raise UserError(
            f"{campaign}: the campaign defines no tables",
            f"its file had no `tables` when it ran; venturi report {folder} shows every metric",
        )
    if name is not None and name not in tables:
        raise UserError(f"{campaign}: there is no table {name!r}", f"it has {', '.join(tables)}")
    result = opened.outcome()
    for own in tables if name is None else [name]:
        if as_csv:
            click.echo(table_csv(tables[own], result), nl=False)
        else:
            print_table(tables[own], result, stdout_console())
    return ExitCode.FINE


@command.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Output file (default: NAME.yaml).",
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Select by JUBE tag.")
@click.option("--trust", is_flag=True, help="Run the file's Python and shell snippets.")
def import_file(file: Path, output: Path | None, tags: tuple[str, ...], trust: bool) -> int:
    """Convert a JUBE file (xml or yaml) to a campaign file.

    If a construct cannot be converted, its file and line are reported and nothing is written.
    Code in the file runs only with --trust.
    """
    from venturi.campaign.jube.convert import convert

    chosen = {tag for text in tags for tag in text.split()}
    made = convert(file, chosen, trust, Path.cwd() if output is None else output.parent)
    path = Path(f"{made.name}.yaml") if output is None else output
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(made.text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "choose another name with -o") from None
    for note in made.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{path}   Next: venturi campaign run {path} -d DIR --dry-run")
    return ExitCode.FINE


@command.command("due")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--on", "machine", metavar="MACHINE", default="local", help="Machine on which they run."
)
@_page_option
@store_option
def due(files: tuple[str, ...], machine: str, page: str, store: str | None) -> int:
    """Report campaigns with overdue results (`every` in their files); exit code 3 if any.

    Intended for a cron job or timer, separate from the one that runs the campaigns.
    """
    from venturi.campaign.notice import tell_if_missed
    from venturi.campaign.send import send
    from venturi.campaign.session import campaign_text
    from venturi.execute.launcher import machine_named
    from venturi.model.campaign import Campaign
    from venturi.model.yaml_text import parse_yaml
    from venturi.store.place import store_directory

    site = machine_named(machine)
    missed = False
    for file in files:
        campaign = parse_yaml(campaign_text(Path(file)), file, Campaign)
        is_missed = tell_if_missed(
            campaign,
            site.name,
            store_directory(store),
            lambda notice: send(notice, site.notices, page),
        )
        click.echo(f"{campaign.name} on {site.name}: {'no result' if is_missed else 'fine'}")
        missed = missed or is_missed
    return ExitCode.MEASUREMENT if missed else ExitCode.FINE


@command.command("tell")
@click.argument("event", metavar="EVENT")
@click.argument("campaign", metavar="NAME")
@click.argument("text", metavar="TEXT")
@click.option(
    "--on",
    "machine",
    metavar="MACHINE",
    default="local",
    help="Machine whose contacts are notified.",
)
@_page_option
def tell(event: str, campaign: str, text: str, machine: str, page: str) -> int:
    """Send a notice of EVENT (regression, failed ...) to the contacts in the machine file.

    \b
    Example, after `venturi results history --check`:
      venturi campaign tell regression nightly "see history" --on cluster.yaml
    """
    from venturi.campaign.notice import notice_of
    from venturi.campaign.send import send
    from venturi.execute.launcher import machine_named
    from venturi.model.notice import Event, Happening

    if event not in [known.value for known in Event]:
        raise UserError(f"{event}: no such event", f"use {', '.join(Event)}")
    site = machine_named(machine)
    happening = Happening(event=Event(event), what=text)
    told = send(notice_of(campaign, site.name, [happening]), site.notices, page)
    click.echo(f"told by {' and '.join(told)}" if told else _silent(event, site), err=True)
    return ExitCode.FINE


def _silent(event: str, site: Machine) -> str:
    """Why nobody was told of an event."""
    if site.notices.mail is None and not site.notices.webhook:
        return f"nobody is told: {site.name} has no mail and no webhook in its notices"
    return f"nobody is told: {site.name} does not want to hear of '{event}' (notices: on)"


def _states(text: str | None) -> set[TaskState]:
    """The states that `--retry` names; UserError for a word that is none."""
    from venturi.model.campaign import TaskState

    names = {state.value.replace(" ", "-"): state for state in TaskState if state.is_final}
    names.pop(TaskState.DONE.value)
    wanted = [word.strip() for word in text.split(",")] if text else []
    for word in wanted:
        if word not in names:
            raise UserError(f"--retry {word}: no such state", f"use {', '.join(names)}")
    return {names[word] for word in wanted}


def follow_campaign(opened: Opened, retry: set[TaskState], options: dict[str, Any]) -> int:
    """Goes on with a campaign till its end, prints what came of it, and tells whom it concerns."""
    from venturi.campaign.session import follow
    from venturi.model.campaign import TaskState
    from venturi.report.campaign_text import states_line
    from venturi.report.one_line import OneLine

    line = OneLine()

    def watch(campaign_status: CampaignStatus) -> None:
        if not options["quiet"]:
            line.show(states_line(line.spent, campaign_status.count()))

    try:
        came_to_end = follow(opened, retry, watch)
    finally:
        if not options["quiet"]:
            line.close()
    result = _print(opened, options)
    _import_results(opened)
    if not came_to_end:
        return ExitCode.INTERRUPTED
    _tell(opened, result, options.get("page", ""))
    if not set(result.states) <= {TaskState.DONE.value}:
        return ExitCode.MEASUREMENT
    return ExitCode.GATE if result.fails_a_gate else ExitCode.FINE


def _tell(opened: Opened, result: CampaignResult, page: str) -> None:
    """Sends what is new to whom the machine's file names; that it cannot be sent fails nothing."""
    from venturi.campaign.notice import tell_result
    from venturi.campaign.run_session import read_session
    from venturi.campaign.send import send

    folder, notices = opened.campaign_status.folder, opened.machine.notices
    try:
        store = Path(read_session(folder).store)
        tell_result(
            result,
            folder,
            store,
            lambda notice: send(notice, notices, page),
            follow_history=bool(notices.mail or notices.webhook),
        )
    except UserError as error:
        click.echo(f"venturi: {error.message}", err=True)


def _write(path: str | None, text: str) -> None:
    """Writes a file for CI, where one is asked for."""
    if path is not None:
        try:
            Path(path).write_text(text, "utf-8")
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}", "choose another place") from None


def _import_results(opened: Opened) -> None:
    """Puts what has ended into the store that was named when the campaign was begun."""
    from venturi.campaign.import_results import import_results
    from venturi.campaign.run_session import read_session

    store = read_session(opened.campaign_status.folder).store
    if store:
        import_results(opened, Path(store))


def _print(opened: Opened, options: dict[str, Any]) -> CampaignResult:
    """Prints the result and keeps it in the campaign's folder, and in files for CI."""
    from venturi.campaign.session import keep
    from venturi.report.junit import junit_text
    from venturi.report.open_metrics import open_metrics_text

    result = opened.outcome()
    keep(opened, result)
    _write(options["junit"], junit_text(result))
    _write(options["metrics"], open_metrics_text(result))
    if options["as_json"]:
        click.echo(result.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.campaign_text import print_result
        from venturi.report.quantity import Units

        folder = shown_path(opened.campaign_status.folder)
        print_result(result, stdout_console(), Units(options["units"]), folder)
    return result


def _tell_unused(campaign: Campaign) -> None:
    """Say on standard error which parameters have no effect."""
    from venturi.campaign.task import unused_parameters

    for name in unused_parameters(campaign):
        click.echo(
            f"note: space: no step depends on the parameter '{name}'; "
            "name it in a text or in 'per'",
            err=True,
        )


def dry_run(request: CampaignRequest, folder: Path, options: dict[str, Any]) -> int:
    """Prints what a campaign would do."""
    from venturi.campaign.estimate import estimate_of
    from venturi.campaign.session import planned

    made = planned(request, folder)
    _tell_unused(made.campaign)
    for sentence in made.left_out:
        click.echo(f"note: {sentence}", err=True)
    found = estimate_of(made.campaign, made.tasks, made.points, request.directory)
    if options["as_json"]:
        click.echo(found.to_json(indent=1))
    else:
        from venturi.cli.console import stdout_console
        from venturi.report.campaign_text import print_estimate
        from venturi.report.quantity import Units

        print_estimate(found, stdout_console(), Units(options["units"]))
    return ExitCode.FINE
