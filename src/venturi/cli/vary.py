"""`venturi run --vary`: a workload over a product of its parameters, as a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from venturi.cli.option import aim_of, parse_repeat, settings_of
from venturi.model.error import UserError

_OF_ONE_RUN = ("stonewall", "mode", "config", "binary")


def run_varied(workload: str, directory: str, options: dict[str, Any]) -> int:
    """Runs WORKLOAD at every point, repetitions interleaved; its table at the end.

    Each run is a record of its own in the store; all of it stands in NAME.campaign, here.
    Raises UserError for options of a single run.
    """
    from venturi import library
    from venturi.analyse.verdict import ENOUGH_REPETITIONS as FEWEST
    from venturi.campaign.session import ENDING, Wish, create, directory_of, read_campaign
    from venturi.campaign.sweep import Sweep, levels_of
    from venturi.cli.campaign import dry_run, follow_campaign
    from venturi.cli.option import open_workload
    from venturi.execute.result_folder import folder_for
    from venturi.store.place import store_directory

    for name in _OF_ONE_RUN:
        if options.get(name) is not None:
            raise UserError(f"--{name} and --vary do not go together", "leave one of them out")
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
    levels = levels_of(options["varied"])
    sweep = Sweep(opened, named, levels, settings_of(options), repeat)
    wish = Wish(
        file=Path.cwd() / f"{opened.name}.yaml",
        directory=directory_of(directory, options["machine"]),
        store=store_directory(options["store"]),
        machine=options["machine"],
        aim=aim,
        text=sweep.text(),
    )
    folder = folder_for(options["output"], read_campaign(wish).name, ENDING)
    if options["dry_run"]:
        return dry_run(wish, folder, options)
    return follow_campaign(create(wish, folder), set(), {"junit": None, "metrics": None, **options})
