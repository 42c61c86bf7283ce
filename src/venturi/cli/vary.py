"""`--vary` of `venturi run` and `venturi plan`: a workload over a product of its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venturi.cli.option import aim_of, parse_repeat, seconds_in, settings_of
from venturi.model.error import UserError

if TYPE_CHECKING:
    from venturi.campaign.session import CampaignRequest
    from venturi.model.workload import Scalar

_OF_ONE_RUN = ("stonewall", "mode", "config", "binary")


def run_varied(workload: str, directory: str, options: dict[str, Any]) -> int:
    """Runs WORKLOAD at every point, repetitions interleaved; its table at the end.

    Each run is a record of its own in the store; all of it stands in NAME.campaign, here.
    Raises UserError for options of a single run.
    """
    from venturi.campaign.session import ENDING, create, directory_of, read_campaign
    from venturi.cli.campaign import dry_run, follow_campaign
    from venturi.execute.result_folder import folder_for

    for name in _OF_ONE_RUN:
        if options.get(name) is not None:
            raise UserError(f"--{name} and --vary do not go together", "leave one of them out")
    levels = _levels(options)
    with _named_as_varied(levels):
        request = _request(workload, directory_of(directory, options["machine"]), levels, options)
        folder = folder_for(options["output"], read_campaign(request).name, ENDING)
        if options["dry_run"]:
            return dry_run(request, folder, options)
        opened = create(request, folder)
    return follow_campaign(opened, set(), {"junit": None, "metrics": None, **options})


def plan_varied(workload: str, options: dict[str, Any]) -> int:
    """What WORKLOAD will do at every point, without any I/O."""
    from venturi.campaign.session import ENDING
    from venturi.cli.campaign import dry_run

    levels = _levels(options)
    with _named_as_varied(levels):
        request = _request(workload, Path.cwd(), levels, options)
        return dry_run(request, request.file.with_suffix(ENDING), options)


def _levels(options: dict[str, Any]) -> dict[str, list[Scalar]]:
    from venturi.campaign.sweep import levels_of

    return levels_of(options["varied"])


def _request(
    workload: str, directory: Path, levels: dict[str, list[Scalar]], options: dict[str, Any]
) -> CampaignRequest:
    """The campaign that the options mean."""
    from venturi import library
    from venturi.analyse.verdict import ENOUGH_REPETITIONS as FEWEST
    from venturi.api.source import open_workload
    from venturi.campaign.session import CampaignRequest
    from venturi.campaign.sweep import Sweep
    from venturi.store.place import store_directory

    opened, _ = open_workload(workload, options["store"])
    named = workload
    if workload not in library.names():
        path = Path(workload).absolute()
        if not path.is_file():
            from venturi.store.archive import find

            path = find(store_directory(options["store"]), workload) / "workload.yaml"
        named = str(path)
    aim = aim_of(options)
    repeat = FEWEST if aim else parse_repeat(options["repeat"])
    most_s = seconds_in("--time", options["time"]) if options.get("time") else None
    sweep = Sweep(opened, named, levels, settings_of(options), repeat, most_s)
    return CampaignRequest(
        file=Path.cwd() / f"{opened.name}.yaml",
        directory=directory,
        store=store_directory(options["store"]),
        machine=options["machine"],
        aim=aim,
        text=sweep.text(),
    )


@contextmanager
def _named_as_varied(levels: dict[str, list[Scalar]]) -> Iterator[None]:
    """Errors about what is varied name the option by which it was given."""
    names = "|".join(map(re.escape, levels))

    def said(text: str) -> str:
        return re.sub(rf"--set (?=({names})(?![\w.]))", "--vary ", text)

    try:
        yield
    except UserError as error:
        error.message, error.hint = said(error.message), said(error.hint)
        raise
