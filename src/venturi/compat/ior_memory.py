"""-M: how much of each node's memory is kept from its caches."""

from __future__ import annotations

from venturi.compat.ior_key import TOOL
from venturi.compat.ior_test import IorTest
from venturi.compat.option import read_number, read_real
from venturi.execute.host import memory_bytes
from venturi.model.error import UserError


def occupied_share(test: IorTest, ranks_per_node: int) -> str | None:
    """The share of a node's memory that a test occupies, as `80 %`; None where it does not.

    UserError for more than there is.
    """
    text = test.memory or test.memory_per_task
    if not text:
        return None
    name = "-M" if test.memory else "memoryPerTask"
    if text.endswith("%"):
        percent = read_real(text.removesuffix("%"), f"{TOOL} {name}")
    else:
        percent = 100 * read_number(text, f"{TOOL} {name}") / memory_bytes()
    if test.memory_per_task:
        percent *= ranks_per_node
    if not 0 < percent < 100:
        raise UserError(
            f"{TOOL}: {name} {text}: that would be {percent:.3g} % of a node's memory",
            "a share below 100 %, or bytes",
        )
    return f"{percent:.3f} %"
