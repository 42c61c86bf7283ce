"""What a rank did just before each of its operations."""

from __future__ import annotations

import numpy as np

from venturi.model.operation import Column


def follows_of(file: Column, rank: Column) -> Column:
    """Whether the operation of the same rank just before, in time, was on the same file."""
    order = np.argsort(rank, kind="stable")
    sorted_file, sorted_rank = file[order], rank[order]
    same = np.zeros(len(file), bool)
    same[1:] = (sorted_file[1:] == sorted_file[:-1]) & (sorted_rank[1:] == sorted_rank[:-1])
    result = np.empty(len(file), bool)
    result[order] = same
    return result
