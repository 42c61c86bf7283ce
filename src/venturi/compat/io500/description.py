"""A system in the words of the list's schema, as far as it can be seen from a client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SERVER = (
    "nodes",
    "storage_devices",
    "storage_type",
    "volatile_memory_capacity",
    "storage_interface",
    "network",
    "software_version",
    "operating_system_version",
)
FIELDS = (
    "institution",
    "system",
    "storage_vendor",
    "storage_install_date",
    "storage_refresh_date",
    "storage_capacity",
    "filesystem_type",
    "filesystem_name",
    "filesystem_version",
    "client_nodes",
    "client_total_procs",
    "client_procs_per_node",
    "client_operating_system",
    "client_operating_system_version",
    "client_kernel_version",
    "clients_interconnect_bandwidth",
    "servers_interconnect_bandwidth",
    *(f"md_{name}" for name in _SERVER),
    *(f"ds_{name}" for name in _SERVER),
    "list_name",
    "submission_date",
    "10_node_challenge",
    "note",
)
"""Of the site's table of submissions, without what it fills in by itself."""


def described(doctor: Mapping[str, Any], nodes: int, ranks: int) -> dict[str, str]:
    """Every field of the schema, empty where `venturi doctor` cannot know it."""
    here = doctor["host"]
    storage = doctor["directory"].get("file_system", {})
    system, *version = re.split(r"\s(?=\d)", str(here["system"]), maxsplit=1)
    known = {
        "filesystem_type": str(storage.get("type", "")).removeprefix("fuse."),
        "client_nodes": str(nodes),
        "client_total_procs": str(ranks),
        "client_procs_per_node": str(-(-ranks // nodes)),
        "client_operating_system": system,
        "client_operating_system_version": " ".join(version),
        "client_kernel_version": str(here["kernel"]),
        "10_node_challenge": "1" if nodes == 10 else "0",
    }
    if storage.get("total_bytes"):
        known["storage_capacity"] = f"{storage['total_bytes'] / 2**40:.3g} TiB"
    return {name: known.get(name, "") for name in FIELDS}


def lacking_in(information: Mapping[str, str]) -> list[str]:
    """The fields that somebody has to fill in."""
    return [name for name, value in information.items() if not value and name != "note"]


def written(information: Mapping[str, str]) -> str:
    """The text of system-information.txt."""
    lines = [f'io500_info_{name}="{_plain(value)}"' for name, value in information.items()]
    return "\n".join([*lines, ""])


def _plain(value: str) -> str:
    return "".join(" " if letter in '"\\$`\n' else letter for letter in value)


_LINE = re.compile(r"^\s*io500_info_([\w-]+)\s*=\s*(.*?)\s*$")


def read_information(text: str) -> dict[str, str]:
    """The fields of a system-information.txt that are filled in, without their prefix."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if matched := _LINE.match(line):
            value = matched[2].strip("\"'").strip()
            if value:
                found.setdefault(matched[1].lower(), value)
    return found
