"""Where results are kept, and the ids of runs."""

from __future__ import annotations

import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

from venturi.execute.installed import user_data
from venturi.model.error import UserError

COPIED_NAMES = ("plan.json", "events.jsonl", "stderr.txt", "workload.yaml", "key")
"""What a record keeps of its journal, beside the manifests."""
HOST_NAME = "host.jsonl"
"""Counters of the host while the run went on, a line for each sample; the record has them."""
STRANGE_NAME = "strange.txt"
"""How the engine ended badly although all was done, if it did."""
KEY_NAME = "key"
"""The random key of a run, in its journal and in its record: only manifests that bear it count."""
ENDED_NAME = "ended"
"""In a journal: the run is over, so no rank of it begins any more."""
ENOUGH_NAME = "enough.txt"
"""Why a run had as many repetitions as it had, where that was left to it."""
DAMAGE_NAME = "damage.csv"
"""Every read that brought wrong bytes, if there was one."""
OPERATIONS_NAME = "operations.npz"
"""Every single operation in columns, if the workload asked for it."""
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def store_directory(chosen: str | None) -> Path:
    """The store: as chosen, else `$VENTURI_STORE`, else in the user's data directory.

    UserError where neither is said and the user has no home, as in many containers.
    """
    named = chosen or os.environ.get("VENTURI_STORE")
    if named:
        return Path(named).absolute()
    data = user_data()
    if data is None:
        raise UserError(
            "this user has no home directory to keep results in",
            "say where: --store DIR, or VENTURI_STORE=DIR in the environment",
        )
    return data


def make_store(store: Path) -> None:
    """Make the store's folders; UserError if that is impossible."""
    try:
        str(store).encode("utf-8")
        for name in ("runs", "running"):
            (store / name).mkdir(parents=True, exist_ok=True)
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is not UTF-8"
        raise UserError(
            f"{str(store)!r}: the store cannot be made: {reason}", "choose another with --store"
        ) from None


def new_id(name: str) -> str:
    """A run's id: sorts by time, says its name, and is unique."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(4))
    return f"{stamp}-{re.sub(r'[^A-Za-z0-9_.-]', '-', name)[:40]}-{tail}"
