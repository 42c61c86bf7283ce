"""Faults by name: ranks, nodes and links that stand out in a session of health."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from venturi.health.judge import MOST_SESSIONS, part_of
from venturi.health.tcp import slow_by_tcp
from venturi.model.event import KernelResult
from venturi.model.health import Health, NamedFault, RankTime
from venturi.model.kernel_value import PointSamples, points_of, rank_samples
from venturi.model.link_model import Pair, judged_links
from venturi.model.rank_model import RankSamples, judged_ranks
from venturi.model.record import Record
from venturi.model.statistic import median

_MOST_RANKS = 1024
"""A session keeps the times of so many."""


def rank_times(record: Record) -> list[RankTime]:
    """What each rank took in each phase whose kernel keeps that."""
    return [
        RankTime(
            phase=path,
            rank=one.rank,
            host=one.host,
            processor=one.processor,
            seconds=median(one.taken_s),
            waited=one.waited,
        )
        for path, samples in _samples(record)
        for one in samples[:_MOST_RANKS]
    ]


def named_faults(record: Record, before: Sequence[Health]) -> list[NamedFault]:
    """The slow ranks, nodes and links; `before` are comparable sessions, oldest first."""
    quiet = [session for session in before if not session.noise][-MOST_SESSIONS:]
    earlier: dict[tuple[str, int], list[float]] = defaultdict(list)
    for session in quiet:
        for one in session.ranks:
            earlier[one.phase, one.rank].append(one.seconds)
    found = []
    for path, samples in _samples(record):
        own = {one.rank: earlier[path, one.rank] for one in samples}
        found += [_fault(path, text) for text in judged_ranks(samples, own).texts]
    links = [*_slow_links(record), *_slow_tcp(record)]
    return found + [_fault(path, text) for path, text in links]


def _fault(path: str, text: str) -> NamedFault:
    return NamedFault(part=part_of(path), phase=path, says=text)


def _results(record: Record) -> dict[str, list[KernelResult]]:
    found: dict[str, list[KernelResult]] = defaultdict(list)
    for row in record.phases:
        found[row.path] += [result for result in row.kernels if not result.failure]
    return {path: results for path, results in found.items() if results}


def _samples(record: Record) -> Iterator[tuple[str, list[RankSamples]]]:
    """The times of the ranks of each phase, over all repetitions."""
    for path, results in _results(record).items():
        facts = {fact.name: fact.value for fact in results[0].facts}
        samples = rank_samples(points_of(results), facts)
        if samples:
            yield path, samples


def _slow_links(record: Record) -> Iterator[tuple[str, str]]:
    for path, results in _results(record).items():
        points = [point for point in points_of(results) if len(point.series.axes) == 2]
        if not points:
            continue
        verdict = judged_links(_pairs(points, "time"), _pairs(points, "retest"))
        if verdict.ranks or verdict.links:
            yield path, verdict.text


def _slow_tcp(record: Record) -> Iterator[tuple[str, str]]:
    for path, results in _results(record).items():
        facts = {fact.name: fact.value for fact in results[0].facts}
        for text in slow_by_tcp(points_of(results), facts):
            yield path, text


def _pairs(points: Sequence[PointSamples], name: str) -> dict[Pair, float]:
    """The seconds of each pair in a series."""
    return {(p.at[0], p.at[1]): p.value for p in points if p.series.name == name}
