"""A trace with operations, on disk: one folder, complete or not there."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from venturi.model.document import DocumentError, parse_json
from venturi.model.error import UserError
from venturi.model.folded import FoldedOperations, folded_of, load_folded, save_folded
from venturi.model.operation import Operations
from venturi.model.trace import TRACE_SCHEMA, Trace

DOCUMENT = "trace.json"
SUFFIX = ".trace"


@dataclass(frozen=True)
class Captured:
    """What is known of a job: the document, and its operations where the capture has them."""

    trace: Trace
    operations: Operations | None = None


@dataclass(frozen=True)
class FoldedCapture:
    """The same, as it stands on disk: runs of equal calls are kept once."""

    trace: Trace
    operations: FoldedOperations | None = None

    def unfolded(self) -> Captured:
        """With a row for each call."""
        operations = self.operations
        return Captured(self.trace, None if operations is None else operations.unfolded())


def folded_capture_of(captured: Captured) -> FoldedCapture:
    """A capture as it is, without runs."""
    operations = captured.operations
    return FoldedCapture(captured.trace, None if operations is None else folded_of(operations))


def write_trace(folder: Path, captured: Captured | FoldedCapture) -> None:
    """Writes `folder`, which must not exist; it appears as a whole or not at all.

    Raises UserError where it exists or cannot be written.
    """
    if folder.exists():
        raise UserError(f"'{folder}' exists already", "name another, or move it away")
    try:
        making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise UserError(f"'{folder}' cannot be written: {error.strerror}") from None
    try:
        making.chmod(0o777 & ~_umask())
        if captured.operations is not None:
            operations = captured.operations
            folded = (
                operations if isinstance(operations, FoldedOperations) else folded_of(operations)
            )
            save_folded(folded, making)
        (making / DOCUMENT).write_text(captured.trace.to_json(), "utf-8")
        making.rename(folder)
    except OSError as error:
        raise UserError(f"'{folder}' cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)


def read_trace(folder: Path) -> Captured:
    """The trace in `folder`; its operations are memory-mapped where there are no runs among them.

    Raises UserError where the folder is no trace, or one that does not fit together.
    """
    path = folder / DOCUMENT
    try:
        trace = parse_json(Trace, path.read_bytes())
    except OSError as error:
        raise UserError(f"'{folder}' is no trace: {DOCUMENT}: {error.strerror}") from None
    except DocumentError as error:
        raise UserError(f"'{path}' is not a {TRACE_SCHEMA} document: {error}", error.hint) from None
    if trace.operation_count == 0:
        return Captured(trace)
    operations = load_folded(folder)
    if len(operations) != trace.operation_count:
        raise UserError(
            f"'{folder}' holds {len(operations)} operations where its document counts "
            f"{trace.operation_count}"
        )
    return Captured(trace, operations.unfolded())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
