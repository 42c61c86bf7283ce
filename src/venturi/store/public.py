"""What of a result may be seen by everybody: an allow-list, so what is new stays private."""

from __future__ import annotations

import re
import socket
from functools import lru_cache

from venturi.execute.host import user_name
from venturi.model.error import UserError
from venturi.model.result import Result, SourceKind, digest_of
from venturi.model.workload import Scalar

PUBLIC_FACTS = frozenset(
    {
        "file system",
        "kernel",
        "CPU",
        "cores",
        "memory, bytes",
        "ranks started by",
        "engine",
        "Venturi",
    }
)
"""Facts that say what a machine is, and not which one."""
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+:%-]*")
_HOST_DIGITS = 6


def public(result: Result, machine: str = "") -> Result:
    """The result as it is shared: figures, parameters, and the facts of the list.

    Host names, paths, users, reasons and logs stay in the store. A machine without a file of its
    own bears a digest of its host's name, or `machine`. Raises UserError where a name that must
    be shared is private; a point that is no plain word is shared as a digest.
    """
    private = _private_words(result.facts.get("host", ""))
    kept = {name: v for name, v in result.parameters.items() if not _is_private(v, private)}
    shared = result.model_copy(
        update={
            "machine": machine or _machine(result),
            "parameters": kept,
            "point": digest_of(result.point)
            if _is_private(result.point, private)
            else result.point,
            "reasons": [],
            "facts": {k: v for k, v in result.facts.items() if k in PUBLIC_FACTS and _fits(v)},
        }
    )
    names = (shared.id, shared.name, shared.machine, shared.session, shared.step, *shared.tags)
    tool = () if shared.source.kind is SourceKind.RUN else (shared.source.tool,)
    measured = (text for one in shared.metrics.values() for text in (one.unit, one.condition))
    for name in (*names, shared.campaign, shared.point, *tool, *shared.metrics, *measured):
        if _holds(name, private):
            raise UserError(
                f"{result.id}: '{name}' would be shared, and names a host, a user or a path",
                "give the campaign, machine or tag another name; --machine NAME for the machine",
            )
    return shared


def withheld(result: Result) -> list[str]:
    """The parameters that `public` leaves out."""
    private = _private_words(result.facts.get("host", ""))
    return [name for name, value in result.parameters.items() if _is_private(value, private)]


def _machine(result: Result) -> str:
    return public_machine(result.machine, result.facts.get("host", ""))


def public_machine(machine: str, host: str) -> str:
    """A machine's name as it is shared: one without a file of its own is told by its host."""
    if machine in ("local", "openmpi", "mpich") and host:
        return f"{machine}-{digest_of(host)[:_HOST_DIGITS]}"
    return machine


def _is_private(value: Scalar, private: frozenset[str]) -> bool:
    return isinstance(value, str) and (not _fits(value) or _holds(value, private))


@lru_cache(maxsize=4096)
def _fits(text: str) -> bool:
    """Whether a text is a plain word or a few: no path, no address."""
    return _WORD.fullmatch(text) is not None


def names_somebody(text: str, *hosts: str) -> bool:
    """Whether a text is a path, or has as a word of its own the name of this user or a host.

    `hosts` are names of hosts beside this one.
    """
    return _holds(text, _private_words(*hosts))


def _private_words(*others: str) -> frozenset[str]:
    """The names of this user, of this host and of others, as they are compared."""
    hosts = {socket.gethostname(), *others}
    short = {one.partition(".")[0] for one in hosts}
    return frozenset(word.casefold() for word in (user_name(), *hosts, *short) if word)


def _holds(text: str, private: frozenset[str]) -> bool:
    return text.startswith(("/", "~")) or not private.isdisjoint(_words(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    """The words of a text; those of thousands of runs are much the same."""
    return frozenset(word.casefold() for word in re.split(r"[^A-Za-z0-9.-]+", text))
