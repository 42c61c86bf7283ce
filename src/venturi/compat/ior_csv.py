"""IOR's tables of comma-separated values: phases, and each rank's part in them."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.compat.ior_result import REMOVE, IorRun, result_rows
from venturi.model.record import PhaseRow

_HEAD = (
    "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
    "numTasks,iter"
)
_RANK_HEAD = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"


def ior_csv(runs: Sequence[IorRun]) -> str:
    """One line for each phase that moves data, with full precision."""
    lines = [_HEAD]
    for run in runs:
        for row in result_rows(run):
            if row.access == REMOVE:
                continue
            numbers = (
                row.rate_mib_per_s,
                row.iops,
                row.latency_s,
                run.test.block_bytes / 1024,
                run.test.transfer_bytes / 1024,
                row.open_s,
                row.transfer_s,
                row.close_s,
                row.total_s,
            )
            cells = ",".join(repr(float(number)) for number in numbers)
            lines.append(f"{row.access},{cells},{run.layout.ranks},{row.iteration}")
    return "\n".join(lines) + "\n"


def rank_csv(run: IorRun) -> str:
    """One line for each rank of each phase; throughput is of the rank's own bytes."""
    lines = [_RANK_HEAD]
    for phase in run.record.phases:
        if phase.path in ("write", "read"):
            lines += [_rank_line(phase, rank) for rank in range(phase.ranks)]
    return "\n".join(lines) + "\n"


def _rank_line(phase: PhaseRow, rank: int) -> str:
    ranks = phase.per_rank
    total_s = ranks.total_s[rank]
    inner_s = max(0.0, total_s - ranks.open_s[rank] - ranks.close_s[rank])
    rates = [ranks.bytes[rank] / time_s if time_s else 0.0 for time_s in (total_s, inner_s)]
    cells = ",".join(f"{number:.10e}" for number in (total_s, inner_s, *rates))
    return f"{phase.path},{rank},{cells}"
