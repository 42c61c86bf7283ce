"""Samples for other programs: CSV and Parquet."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from venturi.model.error import UserError
from venturi.model.probe import OPERATIONS
from venturi.probe.columns import Array
from venturi.probe.keep import samples_between
from venturi.probe.place import target_of
from venturi.probe.sample import COLUMNS, joined
from venturi.probe.span import Span
from venturi.store.parquet import write_parquet

FLAG_NAMES = (
    "failed",
    "missed",
    "abandoned",
    "cached",
    "cache_unknown",
    "withheld",
    "backed_off",
    "corrupt",
)
"""By bit, the lowest first."""
_TITLES = "scheduled_ns,operation,response_s,service_s,flags,errno\n"


def export_rows(folder: Path, span: Span, output: str | None) -> None:
    """Write samples as CSV to a file, which then is whole, or to standard output."""
    if output is None:
        sys.stdout.write(_TITLES)
        sys.stdout.writelines(_rows(folder, span))
        return
    part = Path(f"{output}.part")
    try:
        with part.open("w", encoding="ascii") as file:
            file.write(_TITLES)
            file.writelines(_rows(folder, span))
        part.replace(output)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"{output}: {error.strerror}", "choose another file with -o") from None


def export_parquet(folder: Path, span: Span, output: str | None) -> None:
    """Write samples as one Parquet file. Raises UserError without a name and without a library."""
    if output is None:
        raise UserError("Parquet goes into a file", "name it with -o FILE")
    parts = [
        part
        for kind in target_of(folder).kinds
        for part in samples_between(folder, kind, span.begin_ns, span.end_ns)
    ]
    samples = joined(parts)
    columns = {name: np.ascontiguousarray(samples[name]) for name in COLUMNS}
    write_parquet(Path(output), columns, is_needed=True)


def _rows(folder: Path, span: Span) -> Iterator[str]:
    for kind in target_of(folder).kinds:
        for samples in samples_between(folder, kind, span.begin_ns, span.end_ns):
            yield from map(_row, _tuples(samples))


def _tuples(samples: Array) -> Iterator[tuple[int, ...]]:
    return iter(samples[list(COLUMNS)].tolist())


def _row(of: tuple[int, ...]) -> str:
    scheduled_ns, response_ns, service_ns, operation, flags, error = of
    words = " ".join(name for bit, name in enumerate(FLAG_NAMES) if flags >> bit & 1)
    symbol = errno.errorcode.get(error, str(error)) if error else ""
    times = f"{response_ns / 1e9:.9f},{service_ns / 1e9:.9f}"
    return f"{scheduled_ns},{OPERATIONS[operation].value},{times},{words},{symbol}\n"
