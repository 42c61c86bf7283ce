"""The instructions of expressions in a plan."""

from __future__ import annotations

from enum import StrEnum


class Operator(StrEnum):
    """The closed set of instructions of an expression (integers are checked 64-bit)."""

    INTEGER = "integer"
    REAL = "real"
    VARIABLE = "variable"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    FLOOR_DIVIDE = "floor_divide"
    MODULO = "modulo"
    POWER = "power"
    NEGATE = "negate"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    NOT = "not"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    CEIL = "ceil"
    FLOOR = "floor"
    ISQRT = "isqrt"
    LOG2 = "log2"
    CEIL_TO = "ceil_to"
    NUMROC = "numroc"
    BLOCK = "block"
    SKEW = "skew"
    PERMUTE = "permute"
    DRAW = "draw"
    SAME_SLOT_NEXT_NODE = "same_slot_next_node"
    """(rank, n): the rank at the same place of the n-th next node, by the run's real nodes."""
    RANDOM_REMOTE_RANK = "random_remote_rank"
    """(rank, key): any rank of another node, by the run's real nodes."""
    JUMP = "jump"
    JUMP_IF_FALSE = "jump_if_false"


class Slot(StrEnum):
    """The variables that every expression may read; loop variables follow in later slots."""

    RANK = "rank"
    RANKS = "ranks"
    WORLD = "world"
    INSTANCE = "instance"
    NODE = "node"
    ITERATION = "iteration"
    NODE_RANK = "node_rank"
    """Which of the group's ranks on its node a rank is, from 0."""
    NODE_RANKS = "node_ranks"
    """How many ranks of the group are on the rank's node."""
