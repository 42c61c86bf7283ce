"""What a derived workload costs, in bits: its text, and what would have to be said to mend it.

One measure for all ways to tell a capture (a description length, after J. Rissanen 1978): the
cheapest is what is told. So the text grows as regularity falls, and never lies to stay short.
"""

from __future__ import annotations

import math
import re
from typing import Final

from venturi.derive.operation.likeness import Judgement
from venturi.derive.yaml_text import to_yaml
from venturi.model.workload import DataStep, PatternKind, RowTable, StepSpec, Workload

BITS_PER_CHARACTER: Final = 5.0
"""Of the text of a program, without what is only for readers: its words come again and again."""
BITS_PER_TABLE: Final = 10_000.0
"""What readers lose with numbers that they cannot read: about fifty lines that they can."""
BITS_PER_LOST_OPERATION: Final = 300.0
"""To say of one operation that is missing, or too much, what it should be: a step of its own."""
BITS_PER_FALSE_OPERATION: Final = 100.0
"""To say the same of one that is told at another place or time: between a value more in a `pick`,
about 40, and a step."""
BITS_PER_DRAWN_OPERATION: Final = 20.0
"""Of a program that says that it leaves places or order to chance: nothing false is said, but what
they were this time is lost: one place of a million, which is about what a table keeps it in. A size
that it never had is as false as elsewhere."""
BITS_PER_PAUSE: Final = 100.0
"""Of computing that is missed: what comes behind it meets a device or a server that had no rest."""

LEAST_SECONDS: Final = 0.01
"""Less computing that is missed or too much is no error: clocks and recording make as much."""
_DRAWN = re.compile(r"\b(permute|draw)\(")
"""Places in an order of their own."""


def cost_bits(workload: Workload, judgement: Judgement, pauses: int) -> float:
    """The price of a workload for an application that computed for long `pauses` times: infinite
    where it would fail in a run; of one that cannot be compared, that of its text alone."""
    if judgement.fault or judgement.beyond:
        return math.inf
    likeness = judgement.likeness
    files = {name: file.model_copy(update={"about": ""}) for name, file in workload.files.items()}
    bare = workload.model_copy(update={"origin": None, "about": "", "files": files})
    bare = bare.model_copy(update={"tables": {}})
    bits = BITS_PER_CHARACTER * len(to_yaml(bare))
    tables = [table for table in workload.tables.values() if isinstance(table, RowTable)]
    bits += BITS_PER_TABLE * bool(tables) + 8 * sum(table.bytes_packed for table in tables)
    if likeness is None:
        return bits
    most = max(likeness.application, likeness.proxy)
    lost, wrong = BITS_PER_LOST_OPERATION, BITS_PER_FALSE_OPERATION
    if _draws(workload):
        lost, wrong = BITS_PER_FALSE_OPERATION, BITS_PER_DRAWN_OPERATION
    false = lost * (most - likeness.alike) + wrong * (likeness.alike - likeness.ordered)
    # The others are taken to be as those that were compared, unless their sizes are not.
    bits += max(false / judgement.share, lost * (likeness.requests - likeness.requests_alike))
    missed = abs(likeness.proxy_seconds_between - likeness.seconds_between)
    if missed > LEAST_SECONDS:
        whole = max(likeness.seconds_between, likeness.proxy_seconds_between)
        bits += BITS_PER_PAUSE * pauses * missed / whole
    return bits


def _draws(workload: Workload) -> bool:
    """Whether some of its requests have their sizes or places by chance."""
    waiting: list[StepSpec | str] = [step for steps in workload.program.values() for step in steps]
    while waiting:
        step = waiting.pop()
        if not isinstance(step, StepSpec):
            continue
        waiting += step.inner
        for data in (step.write, step.read):
            if isinstance(data, DataStep) and (
                data.mix or data.pattern is PatternKind.RANDOM or _DRAWN.search(str(data.at))
            ):
                return True
    return False
