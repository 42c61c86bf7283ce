"""The closure test: what a proxy does, captured, beside what its application did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from venturi.analyse.characterization_data import characterization_data_of
from venturi.analyse.compared_layer import in_layers_of
from venturi.analyse.counter_data import counter_data_of
from venturi.analyse.fidelity_field import (
    WITHIN,
    count_field,
    distance_field,
    information_field,
    share_field,
)
from venturi.analyse.stream_matching import LEFT_OUT, UNSAID, StreamMatch, matched_streams
from venturi.derive.operation.likeness import likeness_of_captures
from venturi.model.characterization_data import Basis, CharacterizationData, StreamCharacterization
from venturi.model.fidelity_report import (
    FIDELITY_REPORT_SCHEMA,
    FidelityField,
    FidelityReport,
    FidelityStream,
    Match,
)
from venturi.model.likeness import Likeness
from venturi.model.operation import LAYER_CODES
from venturi.model.plan import Direction
from venturi.model.trace import Layer
from venturi.model.trace_folder import Captured
from venturi.model.workload import REQUEST_EDGES_BYTES, request_class

BETWEEN = 0.1
"""Of the application's run time: by more than this its computing must not be missed."""

LEAST_LIKENESS = 0.25
"""Streams that are less alike than this are no counterparts."""

_LIBRARIES = (
    (Layer.HDF5_FILE, Layer.HDF5_DATASET),
    (Layer.PNETCDF_FILE, Layer.PNETCDF_VARIABLE),
)
_WORST = (Match.BESIDE, Match.EQUAL, Match.WITHIN, Match.OFF)


def fidelity(
    application: Captured,
    proxy: Captured,
    names: tuple[str, str] = ("application", "proxy"),
    is_proxy: bool = True,
) -> FidelityReport:
    """Compares two captures, in total and stream by stream.

    Names of files do not matter: a stream's counterpart is the one that is most alike in
    size, direction, operations and sharing. Where one has counters only, counters are compared.
    Calls of a library that only one of them uses (HDF5, PnetCDF) are left out: what it calls below
    stands for them, as in the proxy of an application. Raises UserError where a capture holds no
    I/O of an application.

    Where the second is the capture of a proxy, which knows what its files stand for, streams are
    those of the workload, and what a workload does not say stands beside. Files are compared in the
    layer that the proxy replays. Else it is one only if the caller knows so (`is_proxy`).
    """
    application = in_layers_of(application, proxy)
    matched = matched_streams(application, proxy)
    if matched is not None:
        return _report_of_matched(matched, names, _one_by_one(application, proxy, matched))
    both = (_beside_other(application, proxy), _beside_other(proxy, application))
    has_all = all(captured.operations is not None for captured in both)
    look = characterization_data_of if has_all else counter_data_of
    ours, theirs = (look(captured, name) for captured, name in zip(both, names, strict=True))
    return fidelity_report_of(ours, theirs, _one_by_one(*both) if has_all else [], is_proxy)


def _one_by_one(
    application: Captured, proxy: Captured, matched: tuple[StreamMatch, StreamMatch] | None = None
) -> list[FidelityField]:
    """How far the operations themselves are the same, of the streams that both know."""
    both = (application, proxy)
    known = [{file.path for file in captured.trace.files} for captured in both]
    if matched is not None:
        known = [
            {
                file.path
                for file, name in zip(captured.trace.files, one.streams, strict=True)
                if name
            }
            for captured, one in zip(both, matched, strict=True)
        ]
    likeness = likeness_of_captures(application, proxy, (known[0], known[1]))
    if likeness is None:
        return []
    return [*likeness_fields(likeness), _between(likeness, application.trace.job.seconds)]


def likeness_fields(likeness: Likeness) -> list[FidelityField]:
    """Which share of the operations is not the same."""
    most = max(likeness.application, likeness.proxy, 1)
    return [
        distance_field("operations, one by one: kind and size", 1 - likeness.alike / most),
        distance_field("operations, one by one: place", 1 - likeness.placed / most),
        distance_field("operations, one by one: order", 1 - likeness.ordered / most),
    ]


def _between(likeness: Likeness, seconds: float) -> FidelityField:
    """The time between operations: it is the program's, but waiting for others is part of it."""
    field = information_field(
        "time between operations, all ranks",
        likeness.seconds_between,
        likeness.proxy_seconds_between,
    )
    error_s = abs(likeness.proxy_seconds_between - likeness.seconds_between) / likeness.ranks
    is_off = error_s > BETWEEN * seconds
    return field.model_copy(update={"match": Match.OFF}) if is_off else field


def _beside_other(captured: Captured, other: Captured) -> Captured:
    """The capture without libraries above MPI-IO that the other one does not use."""
    if captured.operations is None or other.operations is None:
        return captured
    seen = set(np.unique(captured.operations.layer).tolist())
    theirs = set(np.unique(other.operations.layer).tolist())
    alone = [
        code
        for family in _LIBRARIES
        if not theirs & (codes := {LAYER_CODES[layer] for layer in family})
        for code in seen & codes
    ]
    if not alone:
        return captured
    return replace(
        captured, operations=captured.operations.take(~np.isin(captured.operations.layer, alone))
    )


def _report_of_matched(
    matched: tuple[StreamMatch, StreamMatch],
    names: tuple[str, str],
    one_by_one: list[FidelityField],
) -> FidelityReport:
    """The card of an application and its own proxy."""
    both = [
        characterization_data_of(one.captured, name, one.streams)
        for one, name in zip(matched, names, strict=True)
    ]
    theirs = {stream.name: stream for stream in both[1].streams}
    pairs = [(stream, theirs.pop(stream.name, None)) for stream in both[0].streams]
    streams = []
    for ours, other in pairs:
        fidelity_report = _stream(ours, other, *both)
        unsaid = [one.unsaid.get(ours.name, (0,) * len(UNSAID)) for one in matched]
        beside = _all_beside(UNSAID, *unsaid)
        called = matched[1].called.get(ours.name, "") if other else ""
        streams.append(
            fidelity_report.model_copy(
                update={"counterpart": called, "fields": [*fidelity_report.fields, *beside]}
            )
        )
    left_out = _all_beside(LEFT_OUT, matched[0].left_out, matched[1].left_out)
    total = [*_total(*both), *one_by_one, *left_out]
    return assembled((both[0].name, both[1].name), total, streams, list(theirs))


def _all_beside(
    names: Sequence[str], application: Sequence[int], proxy: Sequence[int]
) -> list[FidelityField]:
    """Fields for information, where there is anything to tell."""
    rows = zip(names, application, proxy, strict=True)
    return [
        information_field(name, ours, theirs, "") for name, ours, theirs in rows if ours or theirs
    ]


def fidelity_report_of(
    application: CharacterizationData,
    proxy: CharacterizationData,
    one_by_one: Sequence[FidelityField] = (),
    is_proxy: bool = True,
) -> FidelityReport:
    """The card of two activities, with what is known of their operations `one_by_one`."""
    pairs, only_proxy = counterparts(application.streams, proxy.streams)
    streams = [_stream(ours, theirs, application, proxy) for ours, theirs in pairs]
    total = [*_total(application, proxy), *one_by_one]
    return assembled((application.name, proxy.name), total, streams, only_proxy, is_proxy)


def assembled(
    names: tuple[str, str],
    fields: list[FidelityField],
    streams: list[FidelityStream],
    only_proxy: list[str],
    is_proxy: bool = True,
) -> FidelityReport:
    """The report of an application and a proxy with these names, and the sentence above it."""
    layers = ", ".join(dict.fromkeys(stream.layer for stream in streams if stream.layer))
    total = FidelityStream(name="total", counterpart="total", layer=layers, fields=fields)
    everything = [total, *streams]
    match = _worst(field.match for stream in everything for field in stream.fields)
    if only_proxy:
        match = Match.OFF
    return FidelityReport(
        schema_=FIDELITY_REPORT_SCHEMA,
        application=names[0],
        proxy=names[1],
        is_proxy=is_proxy,
        match=match,
        headline=_headline(everything, only_proxy, is_proxy),
        total=total,
        streams=streams,
        only_proxy=only_proxy,
    )


def _worst(matches: Iterable[Match]) -> Match:
    found = [match for match in matches if match is not Match.BESIDE]
    return max(found, key=_WORST.index, default=Match.EQUAL)


def _total(application: CharacterizationData, proxy: CharacterizationData) -> list[FidelityField]:
    fields = [
        count_field("ranks", _acting(application), _acting(proxy)),
        count_field("bytes written", application.bytes_written, proxy.bytes_written, "B"),
        count_field("bytes read", application.bytes_read, proxy.bytes_read, "B"),
        *_operations(application.operations, proxy.operations),
        count_field("streams", len(application.streams), len(proxy.streams)),
        *(_timeline(application, proxy) if _is_whole(application, proxy) else ()),
    ]
    if _is_whole(application, proxy) or (application.io_seconds and proxy.io_seconds):
        io_s = (application.io_seconds, proxy.io_seconds)
        fields.append(information_field("time in I/O, busiest rank", *io_s))
    for kind in ("read", "write", "names", "sync"):
        left, right = application.seconds_by.get(kind, 0.0), proxy.seconds_by.get(kind, 0.0)
        if left or right:
            fields.append(information_field(f"time in {kind}, all ranks", left, right))
    fields.append(information_field("run time", application.seconds, proxy.seconds))
    return fields


def _is_whole(*both: CharacterizationData) -> bool:
    """Whether both are made of operations: counters know no order of calls."""
    return all(activity.basis is Basis.OPERATIONS for activity in both)


def _timeline(
    application: CharacterizationData, proxy: CharacterizationData
) -> list[FidelityField]:
    """What follows what."""
    intervals = (len(_intervals(application)), len(_intervals(proxy)))
    return [
        count_field("stretches of one direction", *intervals),
        distance_field("bytes of these stretches", _interval_distance(application, proxy)),
        information_field("phases between pauses", len(application.phases), len(proxy.phases), ""),
    ]


def _acting(activity: CharacterizationData) -> int:
    """Lanes that moved data; of a job that moved none, its ranks."""
    if activity.basis is Basis.COUNTERS:
        return activity.ranks
    lanes = [stream.bytes_by_lane for stream in activity.streams]
    moved = sum(1 for column in zip(*lanes, strict=True) if any(column)) if lanes else 0
    return moved or activity.ranks


def _operations(application: dict[str, int], proxy: dict[str, int]) -> list[FidelityField]:
    kinds = dict.fromkeys((*application, *proxy))
    return [
        count_field(f"{kind} operations", application.get(kind, 0), proxy.get(kind, 0))
        for kind in kinds
    ]


def _intervals(activity: CharacterizationData) -> list[tuple[str, int, int]]:
    """Phases that move data, neighbours of one direction as one: which way, written and read.

    How long pauses are depends on the storage too; in which order data go does not.
    """
    found: list[tuple[str, int, int]] = []
    for phase in activity.phases:
        moved = (phase.bytes_written, phase.bytes_read)
        if phase.kind == "names":
            continue
        if found and found[-1][0] == phase.kind:
            _, written, read = found.pop()
            moved = (written + moved[0], read + moved[1])
        found.append((phase.kind, *moved))
    return found


def _interval_distance(application: CharacterizationData, proxy: CharacterizationData) -> float:
    """Of the bytes as they are dealt to stretches, in order and by direction."""
    both = [_intervals(activity) for activity in (application, proxy)]
    count = max(map(len, both))
    distributed = []
    for intervals in both:
        moved = [n for _, written, read in intervals for n in (written, read)]
        distributed.append(moved + [0] * (2 * count - len(moved)))
    return _variation(*distributed)


def _variation(left: Sequence[float], right: Sequence[float]) -> float:
    """Total variation distance of two lists of counts, as shares of their sums."""
    total_left, total_right = sum(left), sum(right)
    if total_left == 0 or total_right == 0:
        return 0.0 if total_left == total_right else 1.0
    pairs = zip(left, right, strict=True)
    value = sum(abs(a / total_left - b / total_right) for a, b in pairs) / 2
    return 0.0 if value < 1e-12 else value


@dataclass(frozen=True)
class _StreamPair:
    likeness: float
    ours: int
    theirs: int


def counterparts(
    ours: Sequence[StreamCharacterization], theirs: Sequence[StreamCharacterization]
) -> tuple[list[tuple[StreamCharacterization, StreamCharacterization | None]], list[str]]:
    """Each stream with the counterpart that is most alike, the most alike pairs first."""
    candidates = [
        _StreamPair(_likeness(a, b) - abs(i - j) * 1e-6, i, j)
        for i, a in enumerate(ours)
        for j, b in enumerate(theirs)
    ]
    found: dict[int, int] = {}
    for pair in sorted(candidates, key=lambda pair: (-pair.likeness, pair.ours, pair.theirs)):
        is_free = pair.ours not in found and pair.theirs not in found.values()
        if is_free and pair.likeness >= LEAST_LIKENESS:
            found[pair.ours] = pair.theirs
    pairs = [(a, theirs[found[i]] if i in found else None) for i, a in enumerate(ours)]
    taken = set(found.values())
    return pairs, [b.name for j, b in enumerate(theirs) if j not in taken]


def _likeness(a: StreamCharacterization, b: StreamCharacterization) -> float:
    """1 for streams that are alike in every figure, 0 for those that share nothing."""
    calls = (sum(a.operations.values()), sum(b.operations.values()))
    figures = (
        (a.bytes_written, b.bytes_written),
        (a.bytes_read, b.bytes_read),
        calls,
        (a.files, b.files),
        (a.shared_files, b.shared_files),
        (a.ranks, b.ranks),
    )
    weights = (3, 3, 2, 1, 1, 1)
    near = [1.0 if x == y else min(x, y) / max(x, y) for x, y in figures]
    near.append(float(a.layer == b.layer))
    near.append(1.0 - _class_distance(a, b))
    return sum(w * n for w, n in zip((*weights, 1, 2), near, strict=True)) / (sum(weights) + 3)


def _stream(
    ours: StreamCharacterization,
    theirs: StreamCharacterization | None,
    application: CharacterizationData,
    proxy: CharacterizationData,
) -> FidelityStream:
    if theirs is None:
        fields = [
            count_field("bytes written", ours.bytes_written, 0, "B"),
            count_field("bytes read", ours.bytes_read, 0, "B"),
            *_operations(ours.operations, {}),
        ]
        return FidelityStream(name=ours.name, counterpart="", layer=ours.layer, fields=fields)
    fields = [
        count_field("files", ours.files, theirs.files),
        count_field("files of several ranks", ours.shared_files, theirs.shared_files),
        count_field("bytes written", ours.bytes_written, theirs.bytes_written, "B"),
        count_field("bytes read", ours.bytes_read, theirs.bytes_read, "B"),
        *_operations(ours.operations, theirs.operations),
        count_field("collective operations", ours.collective, theirs.collective),
        distance_field("request sizes, by class", _class_distance(ours, theirs)),
        *_known(ours, theirs, _is_whole(application, proxy)),
        *(
            information_field(f"time in {kind}, all ranks", seconds, theirs.seconds.get(kind, 0.0))
            for kind, seconds in ours.seconds.items()
            if seconds or theirs.seconds.get(kind, 0.0)
        ),
    ]
    layers = "/".join(dict.fromkeys((ours.layer, theirs.layer)))
    return FidelityStream(name=ours.name, counterpart=theirs.name, layer=layers, fields=fields)


def _known(
    ours: StreamCharacterization, theirs: StreamCharacterization, is_whole: bool
) -> list[FidelityField]:
    """Fields that operations always tell, and counters where both have them."""
    fields = []
    if is_whole or (ours.common_sizes and theirs.common_sizes):
        fields.append(distance_field("request sizes, exactly", _size_distance(ours, theirs)))
    if is_whole or (ours.order and theirs.order):
        fields += _order(ours, theirs)
    if is_whole or (ours.bytes_by_lane and theirs.bytes_by_lane):
        fields.append(_ranks(ours, theirs))
    if is_whole:
        fields.append(count_field("turns to it", ours.turns, theirs.turns))
    return fields


def _class_distance(a: StreamCharacterization, b: StreamCharacterization) -> float:
    both = []
    for stream in (a, b):
        counts = [0] * (2 * len(REQUEST_EDGES_BYTES))
        for bucket in stream.request_sizes:
            place = request_class(bucket.up_to_bytes)
            counts[place] += bucket.writes
            counts[len(REQUEST_EDGES_BYTES) + place] += bucket.reads
        both.append(counts)
    return _variation(*both)


def _size_distance(a: StreamCharacterization, b: StreamCharacterization) -> float:
    """Of exact sizes; those beyond the 64 most frequent differ in any case."""
    both = [{(s.direction, s.bytes): s.count for s in stream.common_sizes} for stream in (a, b)]
    keys = list(dict.fromkeys((*both[0], *both[1])))
    lists = [[counts.get(key, 0) for key in keys] for counts in both]
    return _variation(*lists)


def _order(a: StreamCharacterization, b: StreamCharacterization) -> list[FidelityField]:
    """Which share of the requests goes on, jumps ahead, and goes back."""
    fields = []
    for direction in Direction:
        orders = [
            next((o for o in stream.order if o.direction is direction), None) for stream in (a, b)
        ]
        if all(order is None or not order.followers for order in orders):
            continue
        for name in ("consecutive", "forward", "backward"):
            shares = [getattr(o, name) / o.followers if o and o.followers else 0.0 for o in orders]
            fields.append(share_field(f"{direction.value}s {name}", *shares))
    return fields


def _ranks(a: StreamCharacterization, b: StreamCharacterization) -> FidelityField:
    """How the bytes are dealt to the ranks that act; ranks in their order where they are as many,
    else how much more than the mean the busiest moves."""
    ours, theirs = ([n for n in s.bytes_by_lane if n] for s in (a, b))
    if len(ours) == len(theirs):
        if len(a.bytes_by_lane) == len(b.bytes_by_lane):
            return distance_field(
                "shares of the ranks", _variation(a.bytes_by_lane, b.bytes_by_lane)
            )
        return distance_field("shares of the ranks", _variation(ours, theirs))
    peak, proxys = (max(c) * len(c) / sum(c) if c else 0.0 for c in (ours, theirs))
    return count_field("busiest rank over the mean", peak, proxys)


def _headline(streams: Sequence[FidelityStream], only_proxy: Sequence[str], is_proxy: bool) -> str:
    one, other = ("application", "proxy") if is_proxy else ("first", "second")
    judged = [
        (stream, field)
        for stream in streams
        for field in stream.fields
        if field.match is not Match.BESIDE
    ]
    equal = sum(field.match is Match.EQUAL for _, field in judged)
    near = sum(field.match is Match.WITHIN for _, field in judged)
    lost = [stream.name for stream in streams if not stream.counterpart]
    if lost:
        return f"The {other} lacks {_named(lost)}; {equal} of {len(judged)} fields are equal."
    if only_proxy:
        return (
            f"The {other} does more than the {one}: {_named(only_proxy)}; "
            f"{equal} of {len(judged)} fields are equal."
        )
    if equal == len(judged):
        return f"The {other} equals the {one} in all {equal} fields."
    stream, field = max(judged, key=lambda entry: _badness(entry[1]))
    where = "" if stream.name == "total" else f" of {stream.name}"
    rest = len(judged) - equal - near
    counts = f"{equal} of {len(judged)} fields are equal, {near} within {WITHIN:.0%}, {rest} off"
    return f"Furthest off: {field.name}{where} ({_difference(field, one)}); {counts}."


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _badness(field: FidelityField) -> tuple[int, float]:
    size = float("inf") if field.difference is None else abs(field.difference)
    return _WORST.index(field.match), size


def _difference(field: FidelityField, one: str) -> str:
    if field.difference is None:
        return f"{field.proxy:g} where the {one} has none"
    if field.unit == "share":
        return f"{abs(field.difference):.1%} of it differ"
    return f"{field.difference:+.1%}"
