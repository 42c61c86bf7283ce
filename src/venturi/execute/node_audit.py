"""The audit of every node of a job: one process on each, started as ranks are.

As a program it writes the audit of its node to stdout, in one line that is short enough to stay in
one piece beside the lines of other nodes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zlib
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from venturi.execute.audit import audited
from venturi.execute.launcher import start_words
from venturi.model.error import UserError
from venturi.model.health import AuditEntry, NodeAudit, NodeAudits
from venturi.model.machine import LauncherKind, Machine, MpiLibrary

_MARK = "venturi-audit:"
_ENTRIES = TypeAdapter(list[AuditEntry])
_HOST_KEY = "host name"
_LONGEST_S = 120.0
_ONE_A_NODE = {
    MpiLibrary.OPENMPI: ["--map-by", "ppr:1:node"],
    MpiLibrary.MPICH: ["-ppn", "1"],
}
"""After the launcher's words, where the machine gives no launch line of its own."""


def audited_nodes(machine: Machine, nodes: int) -> NodeAudits:
    """Audit the nodes on which `machine` starts ranks; what they have in common is kept once.

    A node that does not answer is no error: the result says how many did.
    """
    if machine.launcher.kind is LauncherKind.LOCAL:
        return gathered([audited()], nodes, "")
    try:
        words = start_words(machine, nodes, nodes)
        if not machine.launcher.command and machine.launcher.mpi is not None:
            words += _ONE_A_NODE[machine.launcher.mpi]
        done = subprocess.run(
            [*words, sys.executable, "-m", "venturi.execute.node_audit"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return gathered([], nodes, f"the launcher took more than {_LONGEST_S:.0f} s")
    except (OSError, UserError) as error:
        return gathered([], nodes, str(error))
    lines = done.stderr.strip().splitlines()
    why = "" if done.returncode == 0 else (lines[-1] if lines else f"exit code {done.returncode}")
    return gathered(unpacked(done.stdout), nodes, why)


def packed(entries: Sequence[AuditEntry]) -> str:
    """An audit as one line."""
    text = _ENTRIES.dump_json(list(entries))
    return f"{_MARK}{base64.b64encode(zlib.compress(text, 9)).decode()}:"


def unpacked(text: str) -> list[list[AuditEntry]]:
    """The audits in the output of a launcher; what is torn or something else is left out."""
    found = []
    for line in text.splitlines():
        _, mark, rest = line.partition(_MARK)
        body, end, _ = rest.partition(":")
        if not mark or not end:
            continue
        try:
            found.append(_ENTRIES.validate_json(zlib.decompress(base64.b64decode(body))))
        except (ValueError, zlib.error, ValidationError):
            continue
    return found


def gathered(audits: Sequence[Sequence[AuditEntry]], expected: int, why: str) -> NodeAudits:
    """Audits by what they say, each once, with the hosts that say it; hosts in order."""
    of_host = {_value(entries, _HOST_KEY): entries for entries in audits}
    alike: dict[str, NodeAudit] = {}
    for host, entries in sorted(of_host.items()):
        own = [entry for entry in entries if entry.key != _HOST_KEY]
        digest = digest_of(own)
        alike.setdefault(digest, NodeAudit(hosts=[], sha256=digest, entries=own)).hosts.append(host)
    return NodeAudits(expected=expected, why_fewer=why, distinct=list(alike.values()))


def digest_of(entries: Sequence[AuditEntry]) -> str:
    """SHA-256 of what is not volatile."""
    lines = [f"{entry.key}={entry.value}" for entry in entries if not entry.volatile]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _value(entries: Sequence[AuditEntry], key: str) -> str:
    return next((entry.value for entry in entries if entry.key == key), "")


if __name__ == "__main__":
    os.write(1, f"{packed(audited())}\n".encode())
