"""Bytes of a new file that are read though nobody was seen writing them.

A compiler puts the writing of single characters (`putc`) into the program itself, where no call can
be seen. What is missing so at the end of a file is added to its last write; otherwise the file
would seem to have been there before.
"""

from __future__ import annotations

import numpy as np

from venturi.model.operation import Column

MOST_SHARE = 0.01
MOST_BYTES = 64
"""So much of what was written, or so little, may be missing."""


def with_unseen(
    file: Column, offset: Column, size: Column, writes: Column, reads: Column, anew: Column
) -> tuple[Column, int]:
    """The sizes of requests with what is missing, and in how many files.

    `writes`, of streams, and `reads` are masks of rows, `anew` of the rows that begin a file anew.
    """
    count = int(file.max(initial=-1)) + 1
    ends = np.where(offset >= 0, offset + size, 0)
    written, read = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.maximum.at(written, file[writes], ends[writes])
    np.maximum.at(read, file[reads], ends[reads])
    lacks = read - written
    few = (lacks > 0) & (lacks <= np.maximum(MOST_BYTES, MOST_SHARE * written))
    few &= (written > 0) & (np.bincount(file[anew], minlength=count) > 0)
    last = np.flatnonzero(writes & few[file] & (ends == written[file]))
    if not len(last):
        return size, 0
    files, first = np.unique(file[last], return_index=True)
    size = size.copy()
    size[last[first]] += lacks[files]
    return size, len(files)
