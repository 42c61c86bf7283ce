"""What each rank wrote beside the events: wrong data, single operations; merged for the record."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venturi.model.event import Event, PhaseStarted
from venturi.model.plan import OperationKind, Plan
from venturi.store.place import DAMAGE_NAME, OPERATIONS_NAME

if TYPE_CHECKING:
    import numpy as np

_WINDOW_BYTES = 1 << 20
_ROW = [
    ("begin_ns", "<u8"),
    ("end_ns", "<u8"),
    ("offset", "<u8"),
    ("bytes", "<u8"),
    ("phase", "<u4"),
    ("repetition", "<u4"),
    ("file", "<u4"),
    ("kind", "<u4"),
]
"""One row of a rank's log; a window holds as many whole rows as fit."""
_COLUMNS = {
    "begin_ns": "i8",
    "end_ns": "i8",
    "offset": "i8",
    "bytes": "i8",
    "phase": "u4",
    "repetition": "u4",
    "file": "u2",
    "kind": "u1",
}


def merge_logs(journal: Path, events: Sequence[Event], record: Path) -> None:
    """Write `damage.csv` and `operations.npz` into a record's folder, where ranks logged any."""
    damage = _parts(journal, "damage")
    if damage:
        (record / DAMAGE_NAME).write_text(_damage_text(damage), "utf-8")
    operations = _parts(journal, "operations")
    if operations:
        plan = Plan.model_validate_json((journal / "plan.json").read_text("utf-8"))
        _write_operations(operations, plan, events, record / OPERATIONS_NAME)


def _parts(journal: Path, name: str) -> list[tuple[int, Path]]:
    """The ranks' files of one kind, in rank order."""
    found = [(path.suffix.removeprefix("."), path) for path in journal.glob(f"{name}.*")]
    return sorted((int(rank), path) for rank, path in found if rank.isdigit())


def _damage_text(parts: Sequence[tuple[int, Path]]) -> str:
    """One line for each read that brought wrong bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rank", "phase", "repetition", "path", "offset", "bytes", "damage"])
    for rank, path in parts:
        for line in path.read_text("utf-8", "replace").splitlines():
            writer.writerow([rank, *line.split("\t")])
    return text.getvalue()


def _write_operations(
    parts: Sequence[tuple[int, Path]], plan: Plan, events: Sequence[Event], out: Path
) -> None:
    """Columns of all ranks' operations, one after the other, so that only one is in memory.

    Times are on each rank's own clock; ranks of one host share it. `phase` counts the started
    phases from 1, and its name is `phase_names[phase - 1]`; an offset of -1 is none.
    """
    import numpy as np

    started = [event for event in events if isinstance(event, PhaseStarted)]
    logs = [(rank, list(_rows(path, _serials(plan, rank, started)))) for rank, path in parts]
    names = {
        "phase_names": np.array([event.path for event in started], dtype=str),
        "kind_names": np.array([kind.value for kind in OperationKind], dtype=str),
        "file_names": np.array([file.name for file in plan.files], dtype=str),
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        ranks = [np.full(sum(map(len, rows)), rank, dtype="u4") for rank, rows in logs]
        _add(archive, "rank", np.concatenate(ranks))
        for name, kind in _COLUMNS.items():
            windows = [window[name] for _, rows in logs for window in rows]
            column = np.concatenate(windows) if windows else np.empty(0, dtype="<u8")
            _add(archive, name, column.astype("i8").astype(kind))
        for name, column in names.items():
            _add(archive, name, column)


def _serials(plan: Plan, rank: int, started: Sequence[PhaseStarted]) -> np.ndarray[Any, Any]:
    """The number of each phase of a rank's group among all phases, by its number in the group."""
    import numpy as np

    own = next(
        (
            (g.name, (rank - g.first) // g.ranks)
            for g in plan.groups
            if 0 <= rank - g.first < g.ranks * g.instances
        ),
        ("", 0),
    )
    numbers = [
        number
        for number, event in enumerate(started, start=1)
        if (event.group, event.instance) == own
    ]
    return np.array([0, *numbers], dtype="<u4")


def _rows(path: Path, serials: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """The rows that were written, window by window."""
    import numpy as np

    row = np.dtype(_ROW)
    if path.stat().st_size == 0:
        return
    blob = np.memmap(path, dtype="u1", mode="r")
    for begin in range(0, len(blob), _WINDOW_BYTES):
        count = min(_WINDOW_BYTES, len(blob) - begin) // row.itemsize
        rows = blob[begin : begin + count * row.itemsize].view(row)
        # A phase whose start was never reported has no name.
        used = rows[(rows["phase"] > 0) & (rows["phase"] < len(serials))].copy()
        used["phase"] = serials[used["phase"]]
        if len(used):
            yield used


def _add(archive: zipfile.ZipFile, name: str, column: np.ndarray[Any, Any]) -> None:
    import numpy as np

    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, column, allow_pickle=False)
