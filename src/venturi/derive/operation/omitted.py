"""The operations of an application that are not in its table, each with the reason why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from venturi.derive.noise import Noise
from venturi.derive.remainder import Amount
from venturi.model.operation import KIND_CODES, NOT_A_FILE, Column, Kind, Operations
from venturi.model.workload import LeftOut


class Why(IntEnum):
    """Why an operation is not in the table, the reason that counts first for its file first."""

    NONE = 0
    NO_WORD = 1
    FOLDER = 2
    LOOKED_AT = 3
    PROCESS = 4
    STREAM = 5
    FOREIGN = 6
    FAILED = 7
    UNCOUNTED = 8
    """What an operation of another layer, or of the kernel's, stands for."""


_TEXTS = {
    Why.FOLDER: "folders that are opened",
    Why.LOOKED_AT: Noise.LOOKED_AT.value,
    Why.PROCESS: "I/O of processes without a rank (launchers, shells)",
    Why.STREAM: Noise.STREAM.value,
    Why.FOREIGN: Noise.FOREIGN.value,
    Why.FAILED: "calls that failed",
}
_OF_OTHERS = (Why.STREAM, Why.FOREIGN)
_MOVES = (KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE])
_ASIDE = [KIND_CODES[kind] for kind in (Kind.SEEK, Kind.BARRIER)]
"""No I/O: where a seek goes to stands in the next request."""


@dataclass(frozen=True)
class Omitted:
    """Reasons, by operation."""

    why: Column
    file: Column
    """The number in the trace of each operation's file, for datasets the file around them."""
    bytes: Column
    """0 of what moves no data."""

    def without(self, rows: Column, mask: Column, why: Why) -> Column:
        """The rows that `mask` does not hold; those that it does are left out for this reason."""
        self.why[rows[mask]] = why
        return rows[~mask]

    def left_out(
        self, paths: list[str], no_words: Counter[str], walked: Collection[str]
    ) -> list[LeftOut]:
        """An entry for each reason; files in `walked` are reproduced as walks through folders.

        `paths` are those of the trace's files, `no_words` counts the calls that the workload
        language cannot say. A file counts once, for the first reason of its operations, and only
        if none of them is in the table.
        """
        # Files that rules take apart stand behind those of the trace.
        apart = max(0, int(self.file.max(initial=-1)) + 1 - len(paths))
        paths = [*paths, *([""] * apart)]
        counted = np.flatnonzero(self.why != Why.UNCOUNTED)
        first = np.full(len(paths), int(Why.UNCOUNTED))
        np.minimum.at(first, self.file[counted], self.why[counted])
        told = np.array([path in walked for path in paths] or [False], bool)
        found = []
        for reason, text in _TEXTS.items():
            rows = counted[self.why[counted] == reason]
            rows = rows[~told[self.file[rows]]]
            files = int(np.count_nonzero((first == reason) & ~told[: len(first)]))
            amount = Amount(files, len(rows), int(self.bytes[rows].sum()))
            found += amount.left_out(text, is_application=reason not in _OF_OTHERS)
        rows = counted[self.why[counted] == Why.NO_WORD]
        files = int(np.count_nonzero((first == Why.NO_WORD) & ~told[: len(first)]))
        amount = Amount(files, sum(no_words.values()), int(self.bytes[rows].sum()))
        names = ", ".join(sorted(no_words))
        return amount.left_out(f"no equivalent in the workload language ({names})") + found


def omitted(
    operations: Operations, root: Column, own: Column, ranks: Column, is_replayed: Column
) -> Omitted:
    """All operations, with those reasons that are known before any rule looks at them.

    `root` and `own` say of each file of the trace in which it lies and whether it is the
    application's, `ranks` the rank of each process, `is_replayed` which operations are of the
    layer that stands for their file.
    """
    count = len(root)
    named = np.minimum(operations.file, count)
    why = np.zeros(len(operations), np.uint8)
    is_data = np.isin(operations.kind, _MOVES)
    why[ranks[operations.process] < 0] = Why.PROCESS
    why[is_data & (operations.detail & NOT_A_FILE > 0)] = Why.STREAM
    why[~own[named]] = Why.FOREIGN
    failed = operations.error != 0
    why[failed] = Why.FAILED
    aside = np.isin(operations.kind, _ASIDE) | (named == count) | (failed & ~own[named])
    why[aside | ~is_replayed] = Why.UNCOUNTED
    size = np.where(is_data, operations.bytes, 0)
    return Omitted(why, np.append(root, 0)[named], size)
