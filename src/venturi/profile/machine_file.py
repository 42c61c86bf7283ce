"""The machine file: what a profile is written into, and what is there already."""

from __future__ import annotations

from pathlib import Path

import yaml

from venturi.model.error import UserError
from venturi.model.machine import Machine, Target
from venturi.model.profile import Profile
from venturi.model.yaml_text import load_yaml
from venturi.store.whole_file import write_whole

_HEAD = "# A machine for Venturi; the part 'profile' is measured, the rest may be edited.\n"


def check_output(path: Path) -> Machine | None:
    """The machine in a file whose profile will be replaced; None where there is no file.

    Raises UserError for a file that people wrote: what they said in comments would be lost.
    """
    if not path.exists():
        if not path.parent.is_dir():
            raise UserError(f"{path.parent}: there is no such directory", "choose another with -o")
        return None
    machine = load_yaml(path, Machine)
    if machine.profile is None:
        raise UserError(
            f"{path}: a machine file without a profile is there",
            "choose another file with -o; nothing is written over",
        )
    return machine


def write_machine(path: Path, profile: Profile, before: Machine | None) -> Machine:
    """Write the machine with its profile, whole or not at all; what else it says is kept."""
    fields = {"profile": profile}
    machine = before.model_copy(update=fields) if before else _fresh(profile)
    data = machine.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    data = {"schema": machine.schema_, **data}
    text = yaml.safe_dump(
        data, sort_keys=False, default_flow_style=None, width=160, allow_unicode=True
    )
    try:
        write_whole(path, _HEAD + text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "choose another file with -o") from None
    return machine


def _fresh(profile: Profile) -> Machine:
    about = f"{profile.file_system.type} on {profile.host}, measured {profile.started[:10]}"
    return Machine(
        name=profile.host or "here",
        about=about,
        most_ranks=1024,
        targets=[Target(name="profiled", path=profile.directory)],
        profile=profile,
    )
