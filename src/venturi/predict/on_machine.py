"""A workload and a profiled machine to a forecast: I/O time by phase, and what limits it.

For each phase the slowest rank's operations are looked up on the surface of the machine and
added up. Intervals are those of the points (the extremes of their repetitions, widened where a
straight line may be wrong, and by what runs differ from a profile of another hour), added as if
all came together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from venturi.analyse.performance_model import Estimate, PerformanceModel
from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.expression import ExpressionError
from venturi.model.forecast import (
    NO_TIME,
    Forecast,
    ForecastLimit,
    ForecastPart,
    PhaseForecast,
    Range,
)
from venturi.model.machine import Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import AccessClass, ContextEffect, DataState, FileSharing, Order, Profile
from venturi.model.units import size_text
from venturi.model.workload import Workload
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings
from venturi.predict.cold import PHASE as FORGETTING
from venturi.predict.copying import as_measured
from venturi.predict.demand import Demand, PhaseDemand
from venturi.predict.few_bytes import by_page
from venturi.predict.interpreter import ForecastInterpreter, Settle

_STEEP = 0.5
_CROWDED = 1.6
_SESSION = 1.45
"""By which factor, up or down, a run differs from its profile beyond the profile's own spread.

Of 21 phases on a quiet machine (docs/profile.md) nine in ten were within 1.37 of what was
predicted on ext4, and within 1.19 on tmpfs; 1.96 / 1.645 times the logarithm of the larger.
"""
_SCANNED_BYTES_PER_S = 8e9
"""Of memory that computing walks through, as the engine does while it thinks for up to 10 µs."""
_MORE = 1.1
"""More ranks are worth a word from so many times the rate on."""
_NAMES_MADE = (OperationKind.CREATE, OperationKind.MKDIR)
_NO_JOURNAL = (
    "this ext4 has no journal, so each new name steps over all that were removed in its group in "
    "the last minutes (up to 60 times as long was seen, 20 µs became 1.4 ms)"
)
_COPIED = AccessClass(operation=OperationKind.READ, order=Order.SEQUENTIAL, state=DataState.CACHED)
"""What takes as long as a copy in memory, and a call."""
_SIZED = (OperationKind.WRITE, OperationKind.READ, OperationKind.SYNC)


def forecast_of(
    workload: Workload, settings: RunSettings, machine: Machine, scale_ranks: bool
) -> Forecast:
    """The forecast of a workload, planned first; UserError as `make_plan` and `forecast` raise."""
    return forecast(make_plan(workload, settings), machine, workload.about, scale_ranks)


def forecast(made: PlanResult, machine: Machine, about: str, scale_ranks: bool) -> Forecast:
    """The forecast of a plan.

    Raises UserError where the machine has no profile, or where more ranks than it was measured
    with are asked for without `scale_ranks`.
    """
    profile = profile_of(machine)
    performance_model = PerformanceModel(profile)
    plan = made.plan
    _refuse_stores(plan)
    if plan.ranks > performance_model.most_ranks and not scale_ranks:
        raise UserError(
            f"{plan.ranks} ranks are asked for, but {machine.name} was measured with at most "
            f"{performance_model.most_ranks}",
            "--scale-ranks extrapolates, and says so; or measure with venturi profile -n",
        )
    found: list[PhaseForecast] = []
    longest, computing = NO_TIME, 0.0
    for group in plan.groups:
        phases = _of_group(made, group, performance_model)
        total = NO_TIME
        for phase in phases:
            total = total.plus(phase.seconds)
        longest = max(longest, total, key=lambda time: time.median)
        computing = max(computing, sum(phase.computing_s for phase in phases))
        found += phases
    assumed = [part.assumed for phase in found for part in phase.parts if part.assumed]
    slowed = performance_model.slowed(plan.ranks)
    if slowed >= _MORE:
        assumed.append(
            f"others had {100 * (profile.others_share or 0.0):.0f} % of the processors while the "
            f"profile was measured; without them it may take down to 1/{slowed:.2g} of the time, "
            f"and beside them up to {slowed:.2g} times, because short points slip in between them"
        )
    if len(plan.groups) > 1:
        assumed.append("groups are taken to leave each other's I/O alone")
    return Forecast(
        name=plan.name,
        about=about,
        machine=machine.name,
        profiled=profile.started,
        directory=profile.directory,
        file_system=profile.file_system.type,
        ranks=plan.ranks,
        seconds=longest,
        computing_s=computing,
        bytes=sum(phase.bytes for phase in found),
        phases=found,
        extrapolated=_extrapolated(found, plan.ranks, performance_model.most_ranks),
        assumed=list(dict.fromkeys(assumed)),
        unsaturated=_unsaturated(found, performance_model),
        unknown=list(dict.fromkeys(word for phase in found for word in phase.unknown)),
    )


def profile_of(machine: Machine) -> Profile:
    """What was measured of a machine; UserError where nothing was."""
    if machine.profile is None:
        raise UserError(
            f"machine {machine.name} was not measured: it has no 'profile'",
            "venturi profile DIR -o machine.yaml measures it",
        )
    return machine.profile


def _refuse_stores(plan: p.Plan) -> None:
    """UserError for a field store: a profile has files, and no flush that makes several of them."""
    for file in plan.files:
        if file.interface.entry.files_per_writer:
            raise UserError(
                f"files.{file.name}: no profile says what a flush of a field store costs (data, "
                "index and table one after the other), so there is no forecast of it",
                "measure it: venturi run",
            )


def _extrapolated(phases: Iterable[PhaseForecast], ranks: int, most: int) -> list[str]:
    words = []
    if ranks > most:
        words.append(f"{ranks} ranks, measured were at most {most}")
    sizes: dict[tuple[str, str], list[int]] = {}
    for phase in phases:
        for part in phase.parts:
            if part.extrapolated and ranks <= most:
                sizes.setdefault((part.operation, part.by), []).append(part.bytes)
    for (operation, by), found in sizes.items():
        ends = dict.fromkeys(size_text(size) for size in (min(found), max(found)))
        words.append(f"{operation} of {' to '.join(ends)} ({by})")
    return words


def _unsaturated(phases: Iterable[PhaseForecast], performance_model: PerformanceModel) -> list[str]:
    """Phases whose longest part more ranks would do faster together."""
    words = []
    for phase in phases:
        parts = [part for part in phase.parts if part.rate_growth is not None]
        longest = max(parts, key=lambda part: part.seconds.median, default=None)
        if longest is not None and (longest.rate_growth or 1.0) >= _MORE:
            words.append(
                f"{phase.path}: {performance_model.most_ranks} ranks do "
                f"{longest.rate_growth:.2g} times as many operations per second together "
                f"({longest.by}); {phase.ranks} do not saturate the storage"
            )
    return words


@dataclass
class _Total:
    """All turns of a phase on one rank."""

    demand: PhaseDemand
    seconds: Range = NO_TIME
    computing_s: float = 0.0
    shares: list[float] = field(default_factory=list)
    parts: dict[tuple[str, int, str, str], ForecastPart] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


def _of_group(
    made: PlanResult, group: p.Group, performance_model: PerformanceModel
) -> list[PhaseForecast]:
    """The phases of a group; of each, the rank that takes longest."""
    slowest: dict[str, _Total] = {}
    acting = _acting(made.plan, group, performance_model.profile)
    for rank in _looked_at(group):
        for path, total in _of_rank(made.plan, group, rank, performance_model, acting).items():
            if path not in slowest or total.seconds.median > slowest[path].seconds.median:
                slowest[path] = total
    return [
        _phase(made, group, path, total)
        for path, total in slowest.items()
        if total.parts or path != FORGETTING
    ]


def _looked_at(group: p.Group) -> list[int]:
    """Ranks that stand for all."""
    return sorted({0, 1, group.ranks // 2, group.ranks - 1} & set(range(group.ranks)))


def _interpret(plan: p.Plan, group: p.Group, rank: int, profile: Profile, settle: Settle) -> None:
    """Follow a rank's program; UserError names the rank where it cannot be evaluated."""
    interpreter = ForecastInterpreter(
        plan, group, rank, profile.memory_bytes, profile.dirty_limit_bytes
    )
    try:
        for _ in interpreter.phases(settle):
            pass
    except ExpressionError as error:
        raise UserError(f"group '{group.name}', rank {rank}: {error}") from None


def _acting(plan: p.Plan, group: p.Group, profile: Profile) -> dict[str, set[int]]:
    """By phase, which of the ranks that are looked at have something to do in it."""
    found: dict[str, set[int]] = {}
    if group.ranks == 1:
        return found

    def note(phase: PhaseDemand) -> float:
        ranks = found.setdefault(phase.path, set())
        if phase.demands:
            ranks.add(rank)
        return 1.0

    for rank in _looked_at(group):
        _interpret(plan, group, rank, profile, note)
    return found


def _of_rank(
    plan: p.Plan,
    group: p.Group,
    rank: int,
    performance_model: PerformanceModel,
    acting: dict[str, set[int]],
) -> dict[str, _Total]:
    totals: dict[str, _Total] = {}
    world = group.ranks * group.instances

    def settle(phase: PhaseDemand) -> float:
        total = totals.setdefault(phase.path, _Total(phase))
        if len(acting.get(phase.path, ())) == 1 and group.instances == 1:
            # The others wait: no rank is in its way, and nobody shares its files.
            alone = {"place": FileSharing.OWN}
            phase = replace(
                phase,
                demands=[
                    replace(one, access=one.access.model_copy(update=alone))
                    for one in phase.demands
                ],
            )
            return _settle(phase, total, performance_model, 1)
        return _settle(phase, total, performance_model, world)

    _interpret(plan, group, rank, performance_model.profile, settle)
    return totals


def _settle(
    phase: PhaseDemand, total: _Total, performance_model: PerformanceModel, world: int
) -> float:
    """Adds a phase's turns to its total; the share of its work that its limit lets be done.

    What is done once (open, close, a sync at the end) is done whatever the limit cuts.
    """
    demands = [
        known
        for one in phase.demands
        for part in by_page(one, performance_model)
        for known in as_measured(part, performance_model)
    ]
    phase = replace(phase, demands=demands)
    volume = _volume_of(phase)
    work = [one for one in phase.demands if one.count > 1]
    share = _share(phase, _sum(_part(one, performance_model, world, volume) for one in work))
    turn = NO_TIME
    for demand in phase.demands:
        done = demand if demand.count > 1 else demand.cut_to(share)
        part = _part(done, performance_model, world, volume)
        if part is None:
            total.unknown.append(
                f"{demand.access.text()}: the profile has no point that is near, so its "
                f"{demand.count:.0f} operations are not in the time"
            )
            continue
        if not performance_model.knows(demand.access):
            name = demand.access.interface.value
            total.unknown.append(
                f"no calls through {name} were measured, others stand for them, so the time may "
                f"be many times too short (venturi profile --interfaces {name} measures them)"
            )
        if (
            performance_model.profile.has_journal is False
            and demand.access.operation in _NAMES_MADE
        ):
            total.unknown.append(f"{demand.access.text()}: {_NO_JOURNAL}")
        factor = share if demand.count > 1 else 1.0
        turn = turn.plus(part.seconds.times(factor))
        _merge(total, part, demand, factor * phase.times)
    if share < 1.0:
        # The limit is kept, whatever the calls take.
        turn = Range(median=turn.median, low=turn.median, high=turn.median)
    total.seconds = total.seconds.plus(turn.times(phase.times))
    total.computing_s += phase.computing_s * share * phase.times
    total.shares.append(share)
    return min(share, 1.0)


def _sum(parts: Iterable[ForecastPart | None]) -> float:
    return sum(part.seconds.median for part in parts if part is not None)


def _share(phase: PhaseDemand, work_s: float) -> float:
    """Of its work, what a phase does: less than 1 by its limit, more where it has to last."""
    whole = work_s + phase.computing_s
    if phase.limit_s is not None and whole > phase.limit_s > 0:
        return phase.limit_s / whole
    if 0 < whole < phase.at_least_s:
        return phase.at_least_s / whole
    return 1.0


def _merge(total: _Total, part: ForecastPart, demand: Demand, factor: float) -> None:
    key = part.operation, part.bytes, part.by, part.assumed
    count, seconds = round(demand.count * factor), part.seconds.times(factor)
    before = total.parts.get(key)
    if before is not None:
        count, seconds = count + before.count, seconds.plus(before.seconds)
    total.parts[key] = part.model_copy(update={"count": count, "seconds": seconds})


def _volume_of(phase: PhaseDemand) -> int:
    """What passes through a processor's caches in one turn of a phase.

    It is what a rank writes, or reads if that is more, and what its computing walks through.
    """
    moved = {OperationKind.WRITE: 0.0, OperationKind.READ: 0.0}
    for demand in phase.demands:
        if demand.access.operation in moved and not demand.written_back:
            moved[demand.access.operation] += demand.bytes * demand.count
    return round(max(moved.values()) + phase.computing_s * _SCANNED_BYTES_PER_S)


def _part(
    demand: Demand, performance_model: PerformanceModel, world: int, volume_bytes: int
) -> ForecastPart | None:
    """What the operations take; None where the profile has nothing near."""
    near = performance_model.nearest(demand.access, demand.bytes)
    if near is None:
        return None
    curve, word = near
    estimate = performance_model.at(curve, demand.bytes, world)
    if demand.passes_cache and (copied := performance_model.nearest(_COPIED)) is not None:
        more = performance_model.at(copied[0], demand.bytes, world).seconds
        estimate = replace(estimate, seconds=estimate.seconds.plus(more))
    factor = 1.0
    if curve.access.order is not Order.ITEM and not demand.on_fresh_pages:
        passing = max(volume_bytes, demand.of_bytes)
        factor = performance_model.in_volume(curve.access, demand.bytes, world, passing)
    more_s = _beyond_loop(demand, curve.access, performance_model) * demand.count
    seconds = estimate.seconds.times(demand.count * factor)
    seconds = seconds.plus(Range(median=more_s, low=more_s, high=more_s))
    growth = None
    if world < performance_model.most_ranks:
        most = performance_model.at(
            curve, demand.bytes, performance_model.most_ranks
        ).seconds.median
        alone = estimate.seconds.median
        growth = performance_model.most_ranks / world * alone / most if most > 0 else None
    return ForecastPart(
        operation=demand.access.operation.value,
        bytes=demand.bytes,
        count=round(demand.count),
        seconds=Range(
            median=seconds.median,
            low=min(seconds.low, seconds.median / performance_model.slowed(world)) / _SESSION,
            high=max(seconds.high, seconds.median * performance_model.slowed(world)) * _SESSION,
        ),
        by=curve.access.text(),
        limit=_limit(demand, curve.access, estimate, performance_model.in_memory),
        rate_growth=growth,
        extrapolated=estimate.extrapolated,
        assumed="; ".join(text for text in (word, demand.note) if text),
    )


def _beyond_loop(demand: Demand, access: AccessClass, performance_model: PerformanceModel) -> float:
    """Seconds of a call beyond those in a plain loop that computes nothing.

    Computing and another file's calls displace the same code and data from the caches.
    """
    more = {
        context_effect: share
        * performance_model.more_by_context_effect(access, demand.bytes, context_effect)
        for context_effect, share in demand.context_effects
    }
    computing = performance_model.after_computing(access, demand.bytes, demand.think_s)
    return sum(more.values()) + max(0.0, computing - more.get(ContextEffect.IN_TURN, 0.0))


def _limit(
    demand: Demand, access: AccessClass, estimate: Estimate, in_memory: bool
) -> ForecastLimit:
    """What these operations wait for, by the shape of the surface where they are."""
    steep = estimate.slope >= _STEEP
    if demand.written_back:
        return ForecastLimit.DEVICE
    if in_memory and (access.operation is OperationKind.SYNC or access.state is DataState.COLD):
        return ForecastLimit.CACHE if steep else ForecastLimit.CALLS
    if access.operation is OperationKind.SYNC or access.state is DataState.COLD:
        return ForecastLimit.DEVICE if steep else ForecastLimit.DEVICE_LATENCY
    if estimate.crowding >= _CROWDED:
        return ForecastLimit.RANKS
    is_copy = access.operation is OperationKind.COPY
    if access.operation not in _SIZED or access.order is Order.ITEM:
        return ForecastLimit.CACHE if is_copy and steep else ForecastLimit.NAMES
    return ForecastLimit.CACHE if steep else ForecastLimit.CALLS


def _bytes_of(total: _Total) -> int:
    """Moved by one rank; a copy reads and writes."""
    times = {
        OperationKind.WRITE.value: 1,
        OperationKind.READ.value: 1,
        OperationKind.COPY.value: 2,
        OperationKind.CLONE.value: 2,
    }
    return sum(
        times.get(part.operation, 0) * part.bytes * part.count for part in total.parts.values()
    )


def _phase(made: PlanResult, group: p.Group, path: str, total: _Total) -> PhaseForecast:
    by_limit: dict[ForecastLimit, float] = {}
    for part in total.parts.values():
        by_limit[part.limit] = by_limit.get(part.limit, 0.0) + part.seconds.median
    world = group.ranks * group.instances
    spent = sum(by_limit.values())
    limit = max(by_limit, key=lambda one: by_limit[one]) if spent else ForecastLimit.NOTHING
    done = min(1.0, sum(total.shares) / len(total.shares)) if total.shares else 1.0
    return PhaseForecast(
        path=path,
        group=group.name,
        ranks=world,
        seconds=total.seconds,
        computing_s=total.computing_s,
        bytes=min(made.totals.bytes_by_phase.get(path, 0), _bytes_of(total) * world),
        operations=sum(part.count for part in total.parts.values()) * world,
        limit=limit,
        limit_share=min(1.0, by_limit[limit] / spent) if spent else 0.0,
        done_share=done,
        parts=list(total.parts.values()),
        unknown=total.unknown,
    )
