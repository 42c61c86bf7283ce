"""What of a submission may be shown: its configuration, its questionnaire, the names of its files.

Only fields of the list's schema are taken, so whoever submitted it, its notes and whatever else a
file says stay where they are; so does a value in which somebody's address or home stands.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from venturi.compat.io500.description import FIELDS
from venturi.compat.io500.plain_word import plain
from venturi.compat.io500.settings import MOST_BYTES
from venturi.model.published import SubmittedFile

QUESTIONS = (
    "system_purpose",
    "availability",
    "storage_system_software",
    "runtime_environment",
    "fault_tolerance_mechanisms",
    "execution",
    "caching",
    "data_source",
    "trust",
)
"""Of the list's questionnaire on reproducibility, without what it tells the list's committee."""
_NOT_SHOWN = frozenset({"institution", "system", "list_name", "note", "10_node_challenge"})
_SHOWN = tuple(name for name in FIELDS if name not in _NOT_SHOWN)
_OLD_NAMES = {
    "storage_vendor": "filesystem_vendor",
    "client_nodes": "num_client_nodes",
    "client_procs_per_node": "procs_per_node",
    "md_nodes": "num_metadata_server_nodes",
    "md_storage_devices": "num_metadata_storage_devices",
    "md_storage_type": "metadata_storage_type",
    "ds_nodes": "num_data_server_nodes",
    "ds_storage_devices": "num_data_storage_devices",
    "ds_storage_type": "data_storage_type",
    "ds_storage_interface": "storage_interface",
    "ds_network": "storage_network",
}
"""As the shell script of the first years called what the schema has."""
_PREFIXES = ("", "info_")
_PRIVATE = re.compile(r"[^\s@]@[^\s@]+\.\w|/(home|Users|root)/", re.IGNORECASE)
_NOTHING = frozenset({"", "null", "none", "n/a", "na", "-", "unknown"})


def configuration_of(information: Mapping[str, str]) -> dict[str, str]:
    """The fields of the list's schema that are filled in, by its names, in its order."""
    found = {}
    for name in _SHOWN:
        words = (name, _OLD_NAMES.get(name, name))
        values = (information.get(f"{prefix}{word}", "") for word in words for prefix in _PREFIXES)
        if value := next((one for one in map(_shown, values) if one), ""):
            found[name] = value
    return found


def questionnaire_of(information: Mapping[str, str]) -> dict[str, str]:
    """The answers to the questionnaire that are there, by its names, in its order."""
    found = {}
    for name in QUESTIONS:
        words = (name, f"questionnaire_{name}", f"questionnaires_{name}")
        values = (_shown(information.get(word, "")) for word in words)
        if value := next((one for one in values if one), ""):
            found[name] = value
    return found


def _shown(text: str) -> str:
    value = plain(text)
    return "" if value.lower() in _NOTHING or _PRIVATE.search(text) else value


def submitted_files(folder: Path, phases: list[str]) -> list[SubmittedFile]:
    """The files in a folder that an import reads, by name; no others are named."""
    found = []
    for name in sorted(set(_names(phases))):
        path = folder / name
        if path.is_file() and not path.is_symlink():
            found.append(_file(path))
    return found


def _names(phases: list[str]) -> Iterator[str]:
    yield from ("result_summary.txt", "result.txt", "config.ini", "config-orig.ini")
    yield "system-information.txt"
    for phase in phases:
        yield from (f"{phase}.txt", f"{phase.replace('-', '_')}.txt")
        if phase.startswith("find"):
            yield f"{phase}.csv"


def _file(path: Path) -> SubmittedFile:
    size = path.stat().st_size
    digest = ""
    if size <= MOST_BYTES:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return SubmittedFile(name=path.name, bytes=size, sha256=digest)
