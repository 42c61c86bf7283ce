"""Trees and steps on their items: names, sizes, windows, and what they add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError, names_in
from venturi.model.plan import ItemVerb
from venturi.model.shuffle import combine
from venturi.model.verb import ATTRIBUTE_VERBS, operation_of
from venturi.model.workload import RESERVED_NAMES, EachStep, FileSpec, TreeSpec
from venturi.plan.scope import Scope, duration
from venturi.plan.template import Field, template_fields

_ATTRIBUTES = {word: [ItemVerb(word)] for word in ATTRIBUTE_VERBS}

FILE_VERBS = {
    "create": [ItemVerb.CREATE, ItemVerb.CLOSE],
    "write": [ItemVerb.OPEN, ItemVerb.WRITE, ItemVerb.CLOSE],
    "read": [ItemVerb.OPEN, ItemVerb.READ, ItemVerb.CLOSE],
    "stat": [ItemVerb.STAT],
    "unlink": [ItemVerb.UNLINK],
    **_ATTRIBUTES,
}
"""What the short verbs do to each item of a tree of files."""

DIRECTORY_VERBS = {
    "create": [ItemVerb.MKDIR],
    "stat": [ItemVerb.STAT],
    "unlink": [ItemVerb.RMDIR],
    **_ATTRIBUTES,
}
"""And to each item of a tree of directories."""

MAKING = frozenset({ItemVerb.CREATE, ItemVerb.MKNOD, ItemVerb.MKDIR, ItemVerb.COPY})
_REMOVING = frozenset({ItemVerb.UNLINK, ItemVerb.RMDIR})
_DIRECTORY_ONLY = frozenset({ItemVerb.MKDIR, ItemVerb.RMDIR, ItemVerb.READ_DIR})
_ANY_ITEM = frozenset({ItemVerb.STAT, ItemVerb.RENAME, *map(ItemVerb, ATTRIBUTE_VERBS)})

_MAX_DEPTH, _MAX_BRANCH = 64, 1_000_000
_MAX_WIDTH = 20
_MAX_ATTRIBUTE_BYTES = 65_536
_MAX_WEIGHT = 1_000_000


def lower_tree(name: str, file: FileSpec, scope: Scope) -> p.Tree:
    """The plan's tree of a file; UserError where its shape or its names cannot be."""
    spec, where = file.tree, f"files.{name}.tree"
    assert spec is not None
    depth = scope.whole(spec.depth, f"{where}.depth")
    branch = scope.whole(spec.branch, f"{where}.branch", least=1)
    if depth > _MAX_DEPTH or branch > _MAX_BRANCH:
        raise UserError(f"{where}: at most {_MAX_DEPTH} deep and {_MAX_BRANCH} wide")
    if spec.owner is not p.ItemOwner.RANK and file.shared == "rank":
        raise UserError(
            f"{where}.owner: items of a tree that each rank has for itself belong to the rank",
            "leave out 'owner', or say 'shared: all'",
        )
    return p.Tree(
        depth=depth,
        branch=branch,
        items=scope.code(spec.items, f"{where}.items"),
        size=scope.code(spec.size, f"{where}.size"),
        sizes=_sizes(spec, scope, where),
        kind=spec.kind,
        owner=spec.owner,
        leaves=spec.leaves,
        directory_name=_names(spec.names.directory, scope, f"{where}.names.directory", {"node"}),
        item_name=_item_names(spec, file.shared, scope, f"{where}.names.item"),
    )


def _sizes(spec: TreeSpec, scope: Scope, where: str) -> list[p.SizeShare]:
    if spec.sizes and spec.size != 0:
        raise UserError(f"{where}: 'size' and 'sizes' exclude each other")
    shares = []
    for index, share in enumerate(spec.sizes):
        here = f"{where}.sizes[{index}]"
        weight = scope.whole(share.weight, f"{here}.weight", least=1)
        if weight > _MAX_WEIGHT:
            raise UserError(f"{here}.weight: at most {_MAX_WEIGHT}")
        shares.append(p.SizeShare(bytes=scope.code(share.bytes, f"{here}.bytes"), weight=weight))
    return shares


def _item_names(spec: TreeSpec, shared: str, scope: Scope, where: str) -> list[p.NamePart]:
    parts = _names(spec.names.item, scope, where, {"node", "item", "index"})
    if not parts:
        return []
    if not {part.field for part in parts} & {p.NameField.ITEM, p.NameField.INDEX}:
        raise UserError(f"{where}: the items of a directory would share one name", "use {item}")
    own = spec.owner is p.ItemOwner.RANK and shared != "rank"
    if own and all(part.value is None for part in parts):
        raise UserError(
            f"{where}: the ranks' items would share their names",
            "use {rank} in the name, or say 'owner: all' or 'owner: shared'",
        )
    return parts


def _names(text: str | None, scope: Scope, where: str, fields: set[str]) -> list[p.NamePart]:
    if text is None:
        return []
    if not text.isprintable() or "/" in text or text == "":
        raise UserError(f"{where}: {text!r} is no name of a file")
    parts = [_part(piece, scope, where, fields) for piece in template_fields(text, where)]
    if "node" in fields and fields == {"node"} and all(part.field is None for part in parts):
        raise UserError(f"{where}: the directories would share one name", "use {node}")
    return parts


def _part(piece: str | Field, scope: Scope, where: str, fields: set[str]) -> p.NamePart:
    if isinstance(piece, str):
        return p.NamePart(text=piece)
    if piece.width > _MAX_WIDTH:
        raise UserError(f"{where}: at most {_MAX_WIDTH} digits")
    if piece.text in fields:
        return p.NamePart(field=p.NameField(piece.text), width=piece.width)
    tree = scope.tree(piece.text, where)
    outside = names_in(tree) - (set(RESERVED_NAMES) - {"node"})
    if outside:
        raise UserError(
            f"{where}: '{min(outside)}' is no name here",
            f"{', '.join(sorted(fields))}, or an expression over the rank and parameters",
        )
    return p.NamePart(value=scope.compile(tree, where), width=piece.width)


def lower_items(
    each: EachStep,
    files: Mapping[str, int],
    owner: list[p.Instruction],
    scope: Scope,
    where: str,
) -> p.Items:
    """The plan's step; `files` are the numbers of the plan's, `where` names it in errors."""
    attribute = scope.whole(each.attribute, f"{where}.attribute", least=1)
    if attribute > _MAX_ATTRIBUTE_BYTES:
        raise UserError(f"{where}.attribute: at most {_MAX_ATTRIBUTE_BYTES} bytes")
    wait = float(scope.constant(each.wait, f"{where}.wait"))
    if not 0 <= wait <= 1e6:
        raise UserError(f"{where}.wait: a factor between 0 and 10^6 is needed")
    return p.Items(
        file=files[each.on],
        owner=owner,
        verbs=list(each.do),
        shuffled=each.order == "shuffled",
        first=None if each.first == 0 else scope.code(each.first, f"{where}.first"),
        count=None if each.count is None else scope.code(each.count, f"{where}.count"),
        counted_from=each.counted_from,
        bytes=None if each.bytes is None else scope.code(each.bytes, f"{where}.bytes"),
        wait_factor=wait,
        thinks_s=_thinks_s(each, scope, where),
        attribute_bytes=attribute,
        source=None if each.from_ is None else files[each.from_],
        way=None if each.from_ is None else each.by,
    )


def _thinks_s(each: EachStep, scope: Scope, where: str) -> list[float]:
    """Seconds of computing before each verb; empty where there are none."""
    if not isinstance(each.think, list):
        first = duration(each.think, scope, f"{where}.think", or_none=True)
        return [first, *[0.0] * (len(each.do) - 1)] if first else []
    if len(each.think) != len(each.do):
        raise UserError(
            f"{where}.think: {len(each.think)} times for {len(each.do)} operations of an item",
            "give one for each of them, or a single one",
        )
    said = [
        duration(one, scope, f"{where}.think[{number}]", or_none=True)
        for number, one in enumerate(each.think)
    ]
    return said if any(said) else []


def check_each(each: EachStep, file: FileSpec, is_limited: bool, by_rank: bool, where: str) -> None:
    """Refuse verbs that cannot be done to such items, or not in this order."""
    assert file.tree is not None
    is_directory = file.tree.kind is p.ItemKind.DIRECTORY
    for verb in each.do:
        if verb not in _ANY_ITEM and (verb in _DIRECTORY_ONLY) != is_directory:
            raise UserError(
                f"{where}: '{verb.value}' is nothing that is done to an item that is a "
                f"{file.tree.kind.value}",
                "see 'kind' of the tree",
            )
    verbs, shuffled = set(each.do), each.order == "shuffled"
    if (ItemVerb.COPY in verbs) != (each.from_ is not None):
        raise UserError(f"{where}: 'copy' and 'from', the tree that is copied, belong together")
    if ItemVerb.COPY in verbs and (file.content.verify or ItemVerb.RENAME in verbs):
        raise UserError(f"{where}: items are copied without 'verify', and renamed in another step")
    if ItemVerb.RENAME in verbs and not names_itself(each.do) and (len(each.do) > 1 or shuffled):
        raise UserError(
            f"{where}: 'rename' is a chain of its own, in order, or follows 'create'",
            "put nothing beside it and do not shuffle, or make the items in the same step",
        )
    if names_itself(each.do) and (each.do.count(ItemVerb.RENAME) > 1 or _is_open(each.do)):
        raise UserError(f"{where}: an item is renamed once, when it is closed")
    if ItemVerb.RENAME in verbs and file.content.verify:
        raise UserError(
            f"{where}: content that is verified belongs to its name",
            "rename files without 'verify'",
        )
    if by_rank and ItemVerb.CREATE in verbs and file.content.verify:
        raise UserError(
            f"{where}: ranks that do not come here would not know what the files contain",
            "make them on all ranks alike, or without 'verify'",
        )
    if each.counted_from is not p.CountedFrom.START and (each.count is None or file.tree.sizes):
        raise UserError(
            f"{where}.counted_from: which items these are is known in the run only, so 'count' "
            "says how many, and all have one 'size'",
            "give 'count', and the tree 'size' instead of 'sizes'",
        )
    if is_limited and shuffled and verbs & (MAKING | _REMOVING):
        raise UserError(
            f"{where}: files made or removed in shuffled order under a limit could not be found "
            "again",
            "do it in order, or without a limit",
        )


def directories_of(tree: p.Tree) -> int:
    """Directories of a tree, its root included."""
    if tree.branch == 1:
        return tree.depth + 1
    return int((tree.branch ** (tree.depth + 1) - 1) // (tree.branch - 1))


def item_directories_of(tree: p.Tree) -> int:
    """Directories that hold items."""
    return int(tree.branch**tree.depth) if tree.leaves else directories_of(tree)


@dataclass(frozen=True)
class Window:
    """The items that a step takes on one rank: positions in the whole tree."""

    first: int
    count: int
    items: int
    """Items in each directory."""

    @property
    def directories(self) -> int:
        """Directories that the window touches."""
        if self.count == 0:
            return 0
        return (self.first + self.count - 1) // self.items - self.first // self.items + 1


def window_of(
    step: p.Items, tree: p.Tree, owner: int, ranks: int, whole: Callable[[list[p.Instruction]], int]
) -> Window:
    """The window of a step for an owner; `whole` evaluates expressions."""
    items = whole(tree.items)
    total = items * item_directories_of(tree)
    base = 0
    if tree.owner is p.ItemOwner.ALL:
        base = total * owner // ranks
        total = total * (owner + 1) // ranks - base
    first = whole(step.first) if step.first else 0
    if step.counted_from is not p.CountedFrom.START:
        first = 0  # where it is comes out in the run
    count = whole(step.count) if step.count else max(total - first, 0)
    if first > total or count > total - first:
        raise ExpressionError(
            f"a window of {count} items from {first} on reaches beyond the {total} items of each "
            "owner"
        )
    return Window(base + first, count, items)


def sizes_in(
    window: Window, tree: p.Tree, key: int, whole: Callable[[list[p.Instruction]], int]
) -> Counter[int]:
    """Items of a window by their size."""
    if not tree.sizes:
        return Counter({whole(tree.size): window.count})
    shares = [(whole(share.bytes), share.weight) for share in tree.sizes]
    period = sum(weight for _, weight in shares)
    result: Counter[int] = Counter()
    begin, end = window.first, window.first + window.count
    first_whole, last_whole = -(-begin // period), end // period
    if first_whole < last_whole:
        for size, weight in shares:
            result[size] += weight * (last_whole - first_whole)
        loose = [*range(begin, first_whole * period), *range(last_whole * period, end)]
    else:
        loose = list(range(begin, end))
    for position in loose:
        result[size_at(position, shares, key)] += 1
    return result


def size_at(position: int, shares: list[tuple[int, int]], key: int) -> int:
    """Return the bytes of the item at a position, where shares are (bytes, weight).

    The twin of `engine/pattern/item_size.hpp`: each block of as many items as the weights add up to
    goes through the shares in an even spread, turned by a keyed amount.
    """
    period = sum(weight for _, weight in shares)
    stride = period * 5 // 8 + 1
    while gcd(stride, period) != 1:
        stride += 1
    turn = combine(key, position // period) % period
    return _share_at((position % period * stride + turn) % period, shares)


def cut_to(sizes: Counter[int], most: int) -> Counter[int]:
    """Items by the bytes that are moved of each, where that is at most so many."""
    result: Counter[int] = Counter()
    for size, count in sizes.items():
        result[min(size, most)] += count
    return result


def size_key(seed: int, tree: p.Tree, owner: int) -> int:
    """The key of an owner's sizes."""
    return combine(seed, owner if tree.owner is p.ItemOwner.RANK else 0)


def names_itself(verbs: Sequence[ItemVerb]) -> bool:
    """Whether items are made under another name first: renamed behind their making."""
    found = list(verbs)
    return ItemVerb.RENAME in found and ItemVerb.CREATE in found[: found.index(ItemVerb.RENAME)]


def _is_open(verbs: Sequence[ItemVerb]) -> bool:
    before = list(verbs)[: list(verbs).index(ItemVerb.RENAME)]
    return ItemVerb.CLOSE not in before


def calls_of(step: p.Items, window: Window) -> Counter[str]:
    """Calls by operation kind, without writes and reads."""
    calls: Counter[str] = Counter()
    for verb in step.verbs:
        if verb is ItemVerb.RENAME and not names_itself(step.verbs):
            calls["rename"] += window.count + window.directories
        elif verb is ItemVerb.COPY:
            calls += {"open": window.count, "create": window.count, "copy": window.count}
            calls["close"] += 2 * window.count
        elif verb not in (ItemVerb.WRITE, ItemVerb.READ):
            calls[operation_of(verb).value] += window.count
    return calls


def _share_at(place: int, shares: list[tuple[int, int]]) -> int:
    for size, weight in shares:
        if place < weight:
            return size
        place -= weight
    raise AssertionError("a place beyond all shares")
