"""From calls to the cheapest program of loops and conditions that makes exactly them.

A loop is found by what stands once in each of its turns: every call that comes again is tried. The
turns are laid side by side (`align`), so that what only some of them do becomes a condition, and
what differs from turn to turn an expression of the loop's number (`fit`). The body is a list of
statements again, in which inner loops are found in the same way. Of all that is tried, the cheapest
is kept (`price`). After A. Ketterlin and P. Clauss (CGO 2008), whose nests have neither conditions
nor cycles.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from venturi.derive.nest.align import MOST_CELLS_OF_RANKS, aligned
from venturi.derive.nest.call import COMPUTE, DATA, RankCalls
from venturi.derive.nest.fit import fit_numbers
from venturi.derive.nest.price import LOOP_BITS, LoopScope, price
from venturi.derive.nest.repeat import longest_repeats
from venturi.derive.nest.tree import (
    ABSENT,
    LoopNode,
    Node,
    Statement,
    loose_key,
    merged,
    room,
    statements,
    strict_key,
    turns_done,
    without_empty_turns,
)
from venturi.derive.operation.scene import VARIABLES
from venturi.model.operation import KIND_CODES, Kind

MOST_WORK = 100_000
"""Nodes that are laid side by side in all trials, and a few for each that gets a price; the best
until then is what is told. About three seconds."""
WORK_FOR_BIT = 100
"""As much, at most, for each bit of the cheapest program that other searches found: more cannot be
saved."""
_WORK_OF_PRICE = 20
MOST_SPENT = 100
"""Searches that come to no end: more than there are ways to begin one."""
FEW_NODES = 400
"""Of which a search comes to its end, as a rule."""
LEAST_ROOM = 100_000
ROOM_OF_CALL = 8
"""Places that the turns of a loop may need side by side, some and so many for each call: loops
within each other whose turns differ a hundredfold would need a million for each."""
MOST_CUTS = 20
"""Ways to cut a list into turns that are looked at."""
MOST_TRIED = (6, 4, 3, 2)
"""Those in whose turns loops are looked for, by the number of loops around them."""
_MANY = (4, 5, 6, 8, 10, 12, 16, 20)
"""Turns of an inner loop by which an outer one is found, where nothing else tells its turns."""
_MORE_BITS = 2.0
"""For one more statement of the same kind in a body, which an inner loop may tell."""


def induced(calls: RankCalls, most_spent: int = MOST_SPENT) -> Iterator[list[Node]]:
    """Programs for these calls, likely ones first, at last the calls as they are; none where ranks
    differ too much. No search begins after so many that came to no end.

    In the first each turn of a loop closes what it opens, where that can be: others may use files
    that are not open, and are longer as a rule.
    """
    nodes: list[Node] = [
        Statement(*_keys(calls, number), np.array(number)) for number in range(len(calls))
    ]
    search = _LoopSearch(calls)
    outermost = LoopScope.outermost(calls.ranks)
    if calls.ranks > 1:
        first = np.searchsorted(calls.rank, np.arange(calls.ranks + 1)).tolist()
        programs = [nodes[begin:end] for begin, end in itertools.pairwise(first)]
        rows = aligned(programs, MOST_CELLS_OF_RANKS)
        if rows is None:
            return
        nodes = search.together(rows, outermost)
    chains = []
    for ways in _SAMENESS:
        shortened = list(search.shortened(nodes, outermost, ways))
        short = [part for part in shortened if len(part) <= FEW_NODES]
        chains.append(short or shortened[-1:])
    chains.insert(1, [nodes])
    searches = _Searches(calls, most_spent)
    told: set[int] = set()
    for only_even in (True, False):
        found = {}
        for chain in chains:
            for part in chain:
                result = searches.of(part, only_even)
                if result is None:
                    break
                found[id(result)] = result
                if not result.is_spent:
                    break
        yield from _cheapest_first(
            [(one.program, one.bits) for which, one in found.items() if which not in told]
        )
        told |= found.keys()
    parts = {_content(part): part for part in itertools.chain(*chains)}
    yield from _cheapest_first([(part, price(part, outermost, calls)) for part in parts.values()])


def _content(nodes: list[Node]) -> Hashable:
    """The same for lists of nodes that are the same programs."""
    return tuple(
        (node.loose, node.strict, node.at.shape, node.at.tobytes())
        if isinstance(node, Statement)
        else (node.count.shape, node.count.tobytes(), _content(node.body))
        for node in nodes
    )


@dataclass(frozen=True)
class _SearchResult:
    """What came of a search."""

    program: list[Node]
    bits: float
    is_spent: bool
    """Whether there was more to try than time for it."""
    was_even: bool
    """Whether there were no others than even turns to try."""


class _Searches:
    """Searches in lists of nodes: none is made twice."""

    def __init__(self, calls: RankCalls, most_spent: int) -> None:
        self._calls = calls
        self._left = most_spent
        self._most_work = MOST_WORK
        self._known: dict[tuple[Hashable, bool], _SearchResult] = {}

    def of(self, nodes: list[Node], only_even: bool) -> _SearchResult | None:
        """The result for a list; None where too many others came to no end."""
        content = _content(nodes)
        known = self._known.get((content, only_even))
        if known is not None:
            return known
        even = self._known.get((content, True))
        if even is not None and even.was_even:
            return even
        if self._left <= 0:
            return None
        search = _LoopSearch(self._calls, only_even, self._most_work)
        outermost = LoopScope.outermost(self._calls.ranks)
        program = search.shortened_inside(search.folded(nodes, outermost)[0], outermost)
        bits = price(program, outermost, self._calls)
        result = _SearchResult(program, bits, search.is_spent, not search.was_uneven)
        self._left -= result.is_spent
        self._most_work = min(self._most_work, int(WORK_FOR_BIT * bits))
        self._known[content, only_even] = result
        return result


def _cheapest_first(programs: list[tuple[list[Node], float]]) -> list[list[Node]]:
    return [program for program, _ in sorted(programs, key=lambda one: one[1])]


def _keys(calls: RankCalls, number: int) -> tuple[Hashable, Hashable]:
    kind = int(calls.kind[number])
    if kind == COMPUTE:
        return (kind,), (kind, round(float(np.log(calls.seconds[number]) / np.log(1.6))))
    loose = (
        kind,
        int(calls.makes[number]),
        int(calls.about[number]),
        int(calls.slot[number]),
        int(calls.to_slot[number]),
        bool(calls.appends[number]),
    )
    if kind not in DATA:
        return loose, loose
    return loose, (*loose, int(calls.size[number]), int(calls.move[number]))


@dataclass(frozen=True)
class _Cut:
    """Where turns begin, and behind the last one."""

    begins: tuple[int, ...]
    end: int


_Sameness = tuple[Callable[[Node], Hashable], bool]
"""By what nodes are the same, and whether computing must be, too."""
_LOOSE: Sequence[_Sameness] = ((loose_key, True), (loose_key, False))
_SAMENESS = ((*_LOOSE[1:],), (*_LOOSE,), ((strict_key, True), *_LOOSE))
"""Ways to shorten a list, of which one comes after the other: what a turn does with computing now
and then is one loop at once, or many."""


class _LoopSearch:
    def __init__(
        self, calls: RankCalls, only_even: bool = False, most_work: int = MOST_WORK
    ) -> None:
        """With `only_even`, turns close what they open, where that can be."""
        self._calls = calls
        self._most_work = most_work
        self._only_even = only_even
        self.was_uneven = False
        """Whether there were turns that are not even, and were not tried."""
        self._work = 0
        self._most_room = LEAST_ROOM + ROOM_OF_CALL * len(calls.kind)
        self._prices: dict[int, tuple[Node, float]] = {}
        """Of nodes, each of which stands in one scope only."""

    def _price(self, nodes: list[Node], scope: LoopScope) -> float:
        total = 0.0
        for node in nodes:
            known = self._prices.get(id(node))
            if known is None:
                self._work += (_WORK_OF_PRICE if scope.loops else 1) * _size(node)
                known = self._prices[id(node)] = (node, price([node], scope, self._calls))
            total += known[1]
        return total

    @property
    def is_spent(self) -> bool:
        """Whether there was more to try than time for it."""
        return self._work > self._most_work

    def shortened(
        self, nodes: list[Node], scope: LoopScope, ways: Sequence[_Sameness]
    ) -> Iterator[list[Node]]:
        """The list with what stands in it several times, one behind the other, as loops where that
        is cheaper, until there is no more; each time."""
        if scope.loops >= len(VARIABLES):
            return
        for key_of, with_computing in ways:
            while True:
                loops = self._repeats(nodes, scope, key_of, with_computing)
                if not loops:
                    break
                for cut, loop in sorted(loops, key=lambda one: -one[0].end):
                    nodes = [*nodes[: cut.begins[0]], loop, *nodes[cut.end :]]
                yield nodes

    def shortened_inside(self, nodes: list[Node], scope: LoopScope) -> list[Node]:
        """The list with what stands several times in the bodies of its loops as loops, too, where
        that is cheaper."""
        found: list[Node] = []
        for node in nodes:
            if isinstance(node, Statement):
                found.append(node)
                continue
            inside = scope.inside(node.count)
            body = [node.body, *self.shortened(node.body, inside, _LOOSE)][-1]
            found.append(LoopNode(self.shortened_inside(body, inside), node.count))
        return found

    def _repeats(
        self,
        nodes: list[Node],
        scope: LoopScope,
        key_of: Callable[[Node], Hashable],
        with_computing: bool,
    ) -> list[tuple[_Cut, LoopNode]]:
        """Loops of what stands several times one behind the other, which are cheaper."""
        calls = [
            at for at, node in enumerate(nodes) if with_computing or loose_key(node) != (COMPUTE,)
        ]
        depth = np.cumsum([0, *(self._opened(nodes[at]) for at in calls)])
        keys = _numbered([key_of(nodes[at]) for at in calls])
        loops: list[tuple[_Cut, LoopNode]] = []
        for repeat in longest_repeats(keys, depth.tolist()):
            ends = [repeat.begin + turn * repeat.length for turn in range(repeat.turns + 1)]
            cut = _Cut(tuple(calls[at] for at in ends[:-1]), calls[ends[-1] - 1] + 1)
            loop = self._looped(nodes, cut, scope)
            plain = nodes[cut.begins[0] : cut.end]
            if loop and self._price([loop], scope) < self._price(plain, scope):
                loops.append((cut, loop))
        return loops

    def _opened(self, node: Node) -> int:
        """How many more files are open after a node."""
        if not isinstance(node, Statement):
            return 0
        kind = int(self._calls.kind[node.calls[0]])
        return (kind == KIND_CODES[Kind.OPEN]) - (kind == KIND_CODES[Kind.CLOSE])

    def folded(self, nodes: list[Node], scope: LoopScope) -> tuple[list[Node], float]:
        """The cheapest program for a list of nodes, and its price."""
        best, bits = nodes, self._price(nodes, scope)
        if len(nodes) < 2 or scope.loops >= len(VARIABLES) or self.is_spent:
            return best, bits
        chosen: tuple[_Cut, LoopNode] | None = None
        for cut, loop in self._likely(nodes, scope):
            if self.is_spent:
                break
            inside, inner = self.folded(loop.body, scope.inside(loop.count))
            outside = nodes[: cut.begins[0]] + nodes[cut.end :]
            total = LOOP_BITS + 8.0 + inner + self._price(outside, scope)
            if total < bits:
                bits, chosen = total, (cut, LoopNode(inside, loop.count))
        if chosen is None:
            return best, bits
        cut, loop = chosen
        before, bits_before = self.folded(nodes[: cut.begins[0]], scope)
        after, bits_after = self.folded(nodes[cut.end :], scope)
        whole: list[Node] = [*before, loop, *after]
        return whole, bits_before + bits_after + self._price([loop], scope)

    def _likely(self, nodes: list[Node], scope: LoopScope) -> list[tuple[_Cut, LoopNode]]:
        """The loops that promise the shortest programs: as they stand, or as if of all statements
        of a body that do the same one told the others, too, the cheapest of them or one that costs
        as most do."""
        found: list[tuple[tuple[float, ...], _Cut, LoopNode]] = []
        for cut in self._cuts(nodes):
            loop = self._looped(nodes, cut, scope)
            if self.is_spent:
                return []
            if loop is None:
                continue
            inside = scope.inside(loop.count)
            prices: dict[Hashable, list[float]] = defaultdict(list)
            for node in loop.body:
                prices[loose_key(node)].append(self._price([node], inside))
            rest = self._price(nodes[: cut.begins[0]] + nodes[cut.end :], scope)
            whole = sum(sum(group) for group in prices.values())
            least = sum(min(group) for group in prices.values())
            usual = sum(sum(group) / len(group) for group in prices.values())
            more = _MORE_BITS * (len(loop.body) - len(prices))
            found.append(((rest + least + more, rest + usual + more, rest + whole), cut, loop))
        most = MOST_TRIED[min(scope.loops, len(MOST_TRIED) - 1)]
        chosen: dict[_Cut, LoopNode] = {}
        orders = [sorted(found, key=lambda one: one[0][number]) for number in range(3)]
        for best in zip(*orders, strict=True):
            for _, cut, loop in best:
                if len(chosen) < most:
                    chosen.setdefault(cut, loop)
        return list(chosen.items())

    def _looped(self, nodes: list[Node], cut: _Cut, scope: LoopScope) -> LoopNode | None:
        """The loop of these turns; None where they differ too much."""
        ends = (*cut.begins[1:], cut.end)
        turns = [nodes[begin:end] for begin, end in zip(cut.begins, ends, strict=True)]
        self._work += sum(map(_size, nodes[cut.begins[0] : cut.end]))
        rows = aligned(turns)
        if rows is None or room(rows) > self._most_room:
            return None
        body = self.together(rows, scope.inside(np.full(scope.valid.shape, len(turns))))
        ranks = scope.axes - scope.loops
        if max(one.at.ndim for one in statements(body)) > len(VARIABLES) + ranks:
            return None
        done = turns_done(body, (*scope.valid.shape, len(turns)))
        last = np.where(done, np.arange(1, len(turns) + 1), 0).max(axis=-1)
        loop = LoopNode(body, last)
        if np.array_equal(done.sum(axis=-1), last):
            return loop
        # Turns in which nothing is done stand for a condition, or for other counts.
        dense = without_empty_turns(loop, done)
        return min(loop, dense, key=lambda one: self._price([one], scope))

    def together(self, rows: list[list[Node | None]], inside: LoopScope) -> list[Node]:
        """Turns that are laid side by side as the body of a loop, the innermost of `inside`.

        Statements with one rule for their sizes are the same, and others not.
        """
        body = merged(rows, inside.axes - 1)
        for statement in body:
            if isinstance(statement, Statement) and statement.strict == statement.loose:
                calls = statement.calls
                if int(self._calls.kind[calls[0]]) in DATA:
                    there = statement.at != ABSENT
                    size = fit_numbers(self._calls.size[calls], inside.cells(there))
                    statement.strict = (statement.loose, "" if size is None else size.text)
        return body

    def _cuts(self, nodes: list[Node]) -> list[_Cut]:
        found: dict[_Cut, float] = {}
        depth = np.cumsum([0, *(self._opened(node) for node in nodes)])
        loose = _numbered([loose_key(node) for node in nodes])
        for keys in (_numbered([strict_key(node) for node in nodes]), loose):
            for cut in _cuts_by(keys, loose):
                ends = (*cut.begins[1:], cut.end)
                forms = {tuple(loose[a:b]) for a, b in zip(cut.begins, ends, strict=True)}
                lines = len(set(loose[cut.begins[0] : cut.end]))
                left = len(nodes) - cut.end + cut.begins[0]
                # About what it will come to: a line for each call, and for each that is left over.
                found[cut] = 25.0 * (left + lines) + 6.0 * len(forms) + 0.5 * max(map(len, forms))
        ordered = sorted(found, key=lambda cut: found[cut])
        if self._only_even:
            # All turns but the first begin with as little open as there is in all of them.
            least = [depth[cut.begins[0] : cut.end + 1].min() for cut in ordered]
            most = [depth[list(cut.begins[1:])].max() for cut in ordered]
            even = [cut for cut, a, b in zip(ordered, least, most, strict=True) if a == b]
            self.was_uneven |= 0 < len(even) < len(ordered)
            ordered = even or ordered
        return ordered[:MOST_CUTS]


def _size(node: Node) -> int:
    """How many statements a node is."""
    return sum(1 for _ in statements([node]))


def _numbered(keys: list[Hashable]) -> list[int]:
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]


def _cuts_by(keys: list[int], loose: list[int]) -> Iterator[_Cut]:
    places: dict[int, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    for begins in places.values():
        if len(begins) < 2:
            continue
        for group in _groups(begins):
            yield from _with_ends(group, loose)


def _groups(begins: list[int]) -> Iterator[list[int]]:
    """All of them, and those that follow each other as most do."""
    yield begins
    steps = np.diff(begins)
    usual = float(np.median(steps))
    apart = np.flatnonzero(steps > 2 * usual + 2)
    if len(apart):
        parts = np.split(np.array(begins), apart + 1)
        longest = max(parts, key=len)
        if len(longest) >= 2:
            yield longest.tolist()
    for every in (2, 3, *_MANY):
        if len(begins) >= 3 * every and (every <= 3 or len(begins) % every == 0):
            yield begins[::every]


def _with_ends(begins: list[int], loose: list[int]) -> Iterator[_Cut]:
    inside = set(loose[begins[0] : begins[-1]])
    longest = max(np.diff(begins).tolist())
    end = _end(loose, begins[-1], longest, inside)
    yield _Cut(tuple(begins), end)
    # The last turn may be longer than all others.
    longer = end
    while longer < min(len(loose), end + longest) and loose[longer] in inside:
        longer += 1
    if longer > end:
        yield _Cut(tuple(begins), longer)
    # What stands before the first may belong to its turn, as it does in later ones.
    first = start = begins[0]
    while start > 0 and loose[start - 1] in inside and first - start < longest:
        start -= 1
    if start < first:
        head = loose[start:first]
        later = (
            _moved_back(loose, last, begin, head) for last, begin in itertools.pairwise(begins)
        )
        moved = [start, *later]
        if moved[1:] != begins[1:]:
            lengths = [after - begin for begin, after in zip(begins[:-1], moved[1:], strict=True)]
            inside = set(loose[moved[0] : moved[-1]])
            yield _Cut(tuple(moved), _end(loose, begins[-1], max(lengths), inside))


def _end(loose: list[int], last: int, longest: int, inside: set[int]) -> int:
    """Behind the last turn, which has nothing that no other has."""
    end = min(len(loose), last + longest)
    while end > last + 1 and loose[end - 1] not in inside:
        end -= 1
    return max(end, last + 1)


def _moved_back(loose: list[int], last: int, begin: int, head: list[int]) -> int:
    """Where a turn begins whose first nodes are some of `head`, in order, before `begin`."""
    rest = len(head)
    while begin - 1 > last and rest > 0:
        key = loose[begin - 1]
        at = next((one for one in range(rest - 1, -1, -1) if head[one] == key), None)
        if at is None:
            break
        rest, begin = at, begin - 1
    return begin
