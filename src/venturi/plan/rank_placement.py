"""Where ranks sit while a plan is counted: nodes filled one behind the other, each with as many.

A run goes by its real nodes. A plan is made before it and knows their number only; what depends on
who sits where (how many files there are of one for each node, what is dealt to the ranks of a
node) is counted for launchers' usual order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from venturi.model import plan as p
from venturi.model.expression import ExpressionError, NodeFunctions, Number
from venturi.model.shuffle import uniform
from venturi.plan.scope import slots_of

_WORDS = list(p.Slot)
_RANK, _NODE = _WORDS.index(p.Slot.RANK), _WORDS.index(p.Slot.NODE)
_NODE_RANK, _NODE_RANKS = _WORDS.index(p.Slot.NODE_RANK), _WORDS.index(p.Slot.NODE_RANKS)
BY_NODE = frozenset({_NODE, _NODE_RANK, _NODE_RANKS})
"""The slots that only a run knows for certain."""


NAMES_BY_RANK = frozenset({_WORDS[slot].value for slot in (_RANK, *BY_NODE)})
"""The names whose values differ between the ranks of a group."""


class RankPlacement:
    """The places of one group's ranks on the nodes of a run; `nodes` are those of all ranks."""

    def __init__(self, plan: p.Plan, group: p.Group, nodes: int, instance: int = 0) -> None:
        per_node = -(-plan.ranks // nodes)
        first = group.first + instance * group.ranks
        node_of_rank = [(first + rank) // per_node for rank in range(group.ranks)]
        self._own = [node - node_of_rank[0] for node in node_of_rank]
        """Nodes of the group are numbered as they come."""
        self._ranks = Counter(self._own)
        placed: Counter[int] = Counter()
        self._places = []
        for node in self._own:
            self._places.append(placed[node])
            placed[node] += 1

    @property
    def nodes(self) -> int:
        """The nodes that have a rank of the group."""
        return len(self._ranks)

    def placement_of(self, slots: list[Number], rank: int) -> None:
        """Give the slots the values that expressions have on this rank."""
        slots[_RANK], slots[_NODE] = rank, self._own[rank]
        slots[_NODE_RANK], slots[_NODE_RANKS] = self._places[rank], self._ranks[self._own[rank]]

    def by_node(self) -> NodeFunctions:
        """Return what expressions ask about nodes, as `engine/pattern/neighbour.cpp` answers it."""
        return {
            p.Operator.SAME_SLOT_NEXT_NODE: self._same_slot_next_node,
            p.Operator.RANDOM_REMOTE_RANK: self._random_remote_rank,
        }

    def _same_slot_next_node(self, rank: Number, nodes: Number) -> int:
        own = self._node_of(rank)
        wanted = (own + int(nodes)) % self.nodes
        there = [other for other, node in enumerate(self._own) if node == wanted]
        place = self._places[int(rank)] + (int(nodes) if wanted == own else 0)
        return there[place % len(there)]

    def _random_remote_rank(self, rank: Number, key: Number) -> int:
        own, word = self._node_of(rank), int(key) % 2**64
        others = [other for other, node in enumerate(self._own) if node != own]
        if not others:
            return uniform(word, int(rank), len(self._own))
        return others[uniform(word, int(rank), len(others))]

    def _node_of(self, rank: Number) -> int:
        if not 0 <= rank < len(self._own):
            raise ExpressionError("there is no such rank")
        return self._own[int(rank)]

    def files(self, file: p.File) -> int:
        """How many files there are of an entry, shared by as many ranks as it says."""
        ranks = len(self._own)
        match file.sharing:
            case p.Sharing.RANK:
                return ranks
            case p.Sharing.NODE:
                return self.nodes
            case p.Sharing.EVERY:
                return -(-ranks // file.every)
            case p.Sharing.ALL:
                return 1

    def place(self, file: p.File, rank: int) -> int:
        """Which of those who share its file a rank is, from 0."""
        match file.sharing:
            case p.Sharing.RANK:
                return 0
            case p.Sharing.NODE:
                return self._places[rank]
            case p.Sharing.EVERY:
                return rank % file.every
            case p.Sharing.ALL:
                return rank


def depends_on_nodes(codes: Iterable[list[p.Instruction] | None]) -> bool:
    """Whether a value is known only when ranks have their nodes."""
    return any(BY_NODE & slots_of(code) for code in codes)
