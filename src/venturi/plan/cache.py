"""What happens to caches before and during a phase."""

from __future__ import annotations

from typing import Any

from venturi.model.error import UserError
from venturi.model.plan import CachePolicy
from venturi.model.workload import CacheStep
from venturi.plan.scope import Scope

SERVER_MEMORY = "server_memory"
"""The machine's `server_memory_bytes`, as an overfill may name it."""


def cache_of(
    cache: CacheStep | CachePolicy, scope: Scope, server_memory_bytes: int | None, where: str
) -> dict[str, Any]:
    """The fields of a planned phase that say it.

    Raises UserError where the servers' memory is named and nobody knows it, or for a share above 1.
    """
    if not isinstance(cache, CacheStep):
        return {"cache": cache}
    found: dict[str, Any] = {"cache": cache.policy}
    if cache.overfill is not None:
        found["overfill_bytes"] = _overfill(cache.overfill, scope, server_memory_bytes, where)
    if cache.occupy is not None:
        percent = cache.occupy.removesuffix("%").strip()
        share = float(scope.constant(percent, f"{where}.occupy")) / 100
        if not 0 <= share <= 1:
            raise UserError(
                f"{where}.occupy: {100 * share:g} % is no share of a node's memory",
                "give 0 % to 100 %",
            )
        found["occupy_share"] = share
    return found


def _overfill(
    value: int | float | str, scope: Scope, server_memory_bytes: int | None, where: str
) -> int:
    known = dict(scope.constants)
    uses = isinstance(value, str) and SERVER_MEMORY in value
    if uses and server_memory_bytes is None and SERVER_MEMORY not in known:
        raise UserError(
            f"{where}.overfill: nobody says how much memory the storage servers have",
            "give 'server_memory_bytes' in the machine file, or a size here",
        )
    if server_memory_bytes is not None:
        known.setdefault(SERVER_MEMORY, server_memory_bytes)
    return Scope(known, scope.slots, scope.defined).whole(value, f"{where}.overfill", least=1)
