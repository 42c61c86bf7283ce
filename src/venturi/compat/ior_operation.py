"""savePerOpDataCSV: the log of single operations, as one table for each rank and repetition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venturi.compat.ior_result import IorRun

if TYPE_CHECKING:
    import numpy as np

_HEAD = "time,runtime,tp"
_NS_PER_S = 1e9
_ACCESSES = ("write", "read")


def write_operation_tables(run: IorRun, log: Path) -> list[Path]:
    """Write `PREFIX-REPETITION-RANK.csv` of every rank from the record's log; their paths.

    With both a write and a read phase the access stands behind the prefix: IOR's reads overwrite
    the tables of its writes.
    """
    import numpy as np

    both = run.test.writes and run.test.reads
    made = []
    with np.load(log, allow_pickle=False) as columns:
        for access, repetition, rank, rows in _tables(columns):
            prefix = f"{run.test.operation_log}-{access}" if both else run.test.operation_log
            path = Path(f"{prefix}-{repetition}-{rank:05d}.csv")
            path.write_text(_text(rows), "utf-8")
            made.append(path)
    return made


def _tables(columns: Any) -> Iterator[tuple[str, int, int, dict[str, np.ndarray[Any, Any]]]]:
    """The transfers of each access, repetition and rank, in the order in which they began."""
    import numpy as np

    phases, kinds = list(columns["phase_names"]), list(columns["kind_names"])
    data = {name: columns[name] for name in ("begin_ns", "end_ns", "bytes")}
    owners = {name: columns[name] for name in ("phase", "kind", "repetition", "rank")}
    for access in _ACCESSES:
        numbers = [i + 1 for i, name in enumerate(phases) if name == access]
        chosen = np.isin(owners["phase"], numbers) & (owners["kind"] == kinds.index(access))
        keys = zip(owners["repetition"][chosen], owners["rank"][chosen], strict=True)
        for repetition, rank in sorted(set(keys)):
            mine = chosen & (owners["repetition"] == repetition) & (owners["rank"] == rank)
            order = np.argsort(data["begin_ns"][mine], kind="stable")
            rows = {name: column[mine][order] for name, column in data.items()}
            yield access, int(repetition), int(rank), rows


def _text(rows: dict[str, np.ndarray[Any, Any]]) -> str:
    start = int(rows["begin_ns"][0])
    lines = [_HEAD]
    for begin, end, moved in zip(rows["begin_ns"], rows["end_ns"], rows["bytes"], strict=True):
        time_s, took_s = (int(begin) - start) / _NS_PER_S, (int(end) - int(begin)) / _NS_PER_S
        rate = int(moved) / took_s if took_s > 0 else 0.0
        lines.append(f"{time_s:.9e},{took_s:.9e},{rate:.6e}")
    return "\n".join(lines) + "\n"
