"""Jobs: what one process was started for, with all that it started itself.

A worker may be a family: a compiler runs its front end, then its assembler; a shell runs the
commands of its line. What started the workers (make, xargs, a shell, the first process of a pool)
has one child for each job, and all below that child act together, one after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from venturi.model.operation import Column
from venturi.model.trace import Process

_Node = tuple[str, int]
"""Host and number of a process, whatever programs it became."""


def jobs_of(
    processes: list[Process], workers: Sequence[int], first_ns: Column, last_ns: Column
) -> list[list[int]]:
    """The processes of each job; a worker that shares none is a job alone.

    `first_ns` and `last_ns` bound the requests of each process.
    """
    parents = {_node(one): (one.host, one.parent) for one in processes if one.parent}
    chains = [_chain(_node(one), parents) for one in processes]
    origin = _origin([chains[worker] for worker in workers])
    families: dict[_Node, list[int]] = defaultdict(list)
    for one, chain in enumerate(chains):
        if origin in chain[1:]:
            families[chain[chain.index(origin) - 1]].append(one)
    known = set(workers)
    jobs: list[list[int]] = []
    for family in families.values():
        own = sorted(known.intersection(family), key=lambda one: int(first_ns[one]))
        works_at_once = any(first_ns[later] < last_ns[one] for one, later in pairwise(own))
        jobs += [[one] for one in own] if works_at_once else [family]
    told = {one for job in jobs for one in job}
    return jobs + [[worker] for worker in workers if worker not in told]


def _node(process: Process) -> _Node:
    return process.host, process.process


def _chain(node: _Node, parents: dict[_Node, _Node]) -> list[_Node]:
    """A process and those that it descends from, the nearest first."""
    chain = [node]
    while (above := parents.get(chain[-1])) is not None and above not in chain:
        chain.append(above)
    return chain


def _origin(chains: list[list[_Node]]) -> _Node | None:
    """The nearest process that all of these descend from, or are."""
    others = [set(chain) for chain in chains[1:]]
    return next((node for node in chains[0] if all(node in chain for chain in others)), None)
