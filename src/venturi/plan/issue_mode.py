"""How the requests of a data step are made: their pattern, mix, direction and rate in a plan."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import Literal
from venturi.model.name_step import Value
from venturi.model.workload import DataStep, FileSpec, PatternKind
from venturi.plan.part import Access, Boxes
from venturi.plan.scope import Scope, duration
from venturi.plan.step_context import StepContext

_MOST_RATE = 1e9
_MOST_STATS = 1000


@dataclass(frozen=True)
class IssueMode:
    """Directions and starts of a step's requests."""

    reads: float
    rate_per_s: float
    arrivals: p.Arrivals
    think_s: float
    memory_bytes: int
    fresh: float
    seeks: float
    empty_reads: float

    @property
    def looks_about(self) -> bool:
        """Whether calls that move nothing come before requests."""
        return bool(self.seeks or self.empty_reads)


def issue_mode_of(
    rich: DataStep, spec: FileSpec, is_write: bool, scope: Scope, where: str
) -> IssueMode:
    """The manner of a step; UserError for what does not go together."""
    reads = float(scope.constant(rich.reads, f"{where}.reads"))
    if not 0 <= reads <= 1:
        raise UserError(f"{where}.reads: a share between 0 and 1 is needed, not {reads:g}")
    rate = 0.0
    if rich.rate is not None:
        rate = float(scope.constant(rich.rate, f"{where}.rate"))
        if not 0 < rate <= _MOST_RATE:
            raise UserError(f"{where}.rate: above 0 and at most {_MOST_RATE:g}, not {rate:g}")
    elif rich.arrivals is not p.Arrivals.FIXED:
        raise UserError(f"{where}: 'arrivals' belongs to a 'rate'")
    _check_direction(rich, spec, is_write, reads, where)
    if rate and rich.think:
        raise UserError(
            f"{where}: 'rate' says when requests begin, so 'think' cannot",
            "drop one of the two",
        )
    fresh = float(scope.constant(rich.fresh, f"{where}.fresh"))
    if not 0 <= fresh <= 1:
        raise UserError(f"{where}.fresh: a share between 0 and 1 is needed, not {fresh:g}")
    if fresh and is_write:
        raise UserError(f"{where}: 'fresh' memory holds nothing that could be written")
    think = duration(rich.think, scope, f"{where}.think", or_none=True)
    memory = scope.whole(rich.memory, f"{where}.memory", least=0)
    seeks, empty = (
        _looks(getattr(rich, key), rich, scope, f"{where}.{key}")
        for key in ("seeks", "empty_reads")
    )
    return IssueMode(reads, rate, rich.arrivals, think, memory, fresh, seeks, empty)


def _looks(value: Value, rich: DataStep, scope: Scope, where: str) -> float:
    """How often a call that moves nothing comes before a request."""
    times = float(scope.constant(value, where))
    if not 0 <= times <= _MOST_STATS:
        raise UserError(f"{where}: a number between 0 and {_MOST_STATS} is needed, not {times:g}")
    alone = rich.rate is None and not rich.collective and not rich.reads and rich.depth == 1
    if times and not alone:
        raise UserError(
            f"{where}: it belongs to requests that follow each other",
            "drop 'rate', 'depth', 'reads' and 'collective', or this",
        )
    return times


def _check_direction(
    rich: DataStep, spec: FileSpec, is_write: bool, reads: float, where: str
) -> None:
    """Reads among writes, and writes at the end of a file."""
    appends = rich.pattern is PatternKind.APPEND
    if reads and not is_write:
        raise UserError(f"{where}: 'reads' is the share of reads in a 'write'")
    goes_on = rich.pattern is PatternKind.SEQUENTIAL
    if reads and (appends or goes_on or rich.pattern is PatternKind.TABLE):
        raise UserError(f"{where}: 'reads' does not go with the pattern '{rich.pattern.value}'")
    if appends and not is_write:
        raise UserError(f"{where}: only a 'write' can append")
    if appends and spec.content.verify and spec.shared != "rank":
        raise UserError(
            f"{where}: a shared file that ranks append to cannot be verified: nobody knows where "
            "a request ends up",
            "give each rank a file of its own ('shared: rank'), or drop 'verify'",
        )


def pattern_of(access: Access, scope: Scope, where: str) -> p.Pattern:
    """The pattern of one part."""
    if access.boxes is not None:
        return _box(access.boxes, scope, where)
    base = scope.compile(access.base, where)
    if access.run is not None:
        count = scope.compile(access.run.count, where)
        if access.run.is_sequential:
            return p.Sequential(base=base if access.run.moves_position else None, count=count)
        return p.Append(count=count) if access.run.appends else p.Packed(base=base, count=count)
    if access.rows is not None:
        return p.Table(
            base=base,
            turns=scope.compile(access.rows.turns, where),
            stride=scope.compile(access.rows.stride, where),
            rows=[p.TableRow(offset=offset, bytes=size) for offset, size in access.rows.rows],
        )
    if access.shuffle is None:
        loops = [
            p.Loop(count=scope.compile(count, where), stride=scope.compile(stride, where))
            for count, stride in access.loops
        ]
        return p.Nest(base=base, loops=loops)
    shuffle = access.shuffle
    return p.Random(
        base=base,
        slots=scope.compile(shuffle.slots, where),
        count=scope.compile(shuffle.count, where),
        first=scope.compile(shuffle.first, where),
        step=scope.compile(shuffle.step, where),
        replacement=shuffle.replacement,
        zipf=shuffle.zipf,
    )


def _box(boxes: Boxes, scope: Scope, where: str) -> p.Box:
    return p.Box(
        dataset=boxes.dataset,
        first_copy=None if boxes.copy == Literal(0) else scope.compile(boxes.copy, where),
        start=[scope.compile(start, where) for start in boxes.start],
        extent=[scope.compile(extent, where) for extent in boxes.extent],
        loops=[
            p.BoxLoop(
                dimension=dimension,
                count=scope.compile(Literal(count), where),
                step=scope.compile(Literal(step), where),
            )
            for dimension, count, step in boxes.loops
        ],
    )


def mix_of(access: Access, scope: Scope, where: str) -> list[p.MixPart]:
    """The sizes of one part's requests."""
    return [
        p.MixPart(bytes=scope.compile(share.bytes, where), weight=share.weight)
        for share in access.mix
    ]


def check_sequential(rich: DataStep, place: StepContext, where: str) -> None:
    """Refuse 'sequential' where a step may be done in part, or again."""
    if rich.pattern is PatternKind.SEQUENTIAL and (place.is_limited or place.repeats):
        raise UserError(
            f"{where}: 'pattern: sequential' does not go with a phase's 'limit' or 'at_least'",
            "say where the requests lie with 'at'",
        )
