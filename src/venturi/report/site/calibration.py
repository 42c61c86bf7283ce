"""The page that shows whether to believe us: forecasts beside what later runs took."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from venturi.model.calibration import Calibration, ForecastTrial, ProxyTrial
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Cell,
    Chapter,
    Column,
    Facts,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import calibration
from venturi.report.quantity import Units
from venturi.report.site import address

MEANT = 0.95
"""The share of runs that a forecast's interval is meant to hold."""
_MOST_ROWS = 200
_MOST_FIGURES = 4
_MOST_OF_WORKLOAD = 2
_FEWEST = 20
"""Runs from which on a share within intervals says something of 95 %."""


def page_of(found: Calibration, units: Units) -> Page:
    """The whole page."""
    del units
    wholes, phases = _parts(found.trials)
    sections: list[Section] = []
    if found.trials:
        sections.append(_summary(found.trials))
        sections += _pictures(found.trials)
        sections.append(_every("runs", "Every run", wholes))
        sections.append(_every("phases", "Every phase", phases))
    if found.proxies:
        sections.append(_proxies(found.proxies))
    chapter = Chapter(
        name="calibration",
        title="Forecasts",
        headlines=_headlines(found, wholes),
        remarks=_remarks(found),
        sections=tuple(one for one in sections if one.blocks),
        facts=f"{quantity.counted(found.forecasts, 'forecast')}, "
        f"{quantity.counted(found.untested, 'forecast')} not tested yet",
    )
    return Page("Do our forecasts hold?", _lead(found, wholes or _judged(phases)), (chapter,))


def of_workload(
    trials: Sequence[ForecastTrial], proxies: Sequence[ProxyTrial]
) -> tuple[Section, ...]:
    """What was forecast of one workload beside what its later runs took, for its own page."""
    found: list[Section] = []
    if trials:
        first = _summary(trials)
        blocks = [block for one in _pictures(trials)[:_MOST_OF_WORKLOAD] for block in one.blocks]
        if not blocks:
            blocks = list(_every("trials", "Every phase", trials).blocks)
        more = Facts((("Forecasts of all workloads", Cell("forecasts", address.CALIBRATION)),))
        found.append(
            replace(
                first,
                name="forecasts",
                title="Predicted, and then measured",
                blocks=(*first.blocks, *blocks, more),
            )
        )
    if proxies:
        found.append(_proxies(proxies))
    return tuple(found)


def _parts(
    trials: Sequence[ForecastTrial],
) -> tuple[list[ForecastTrial], list[ForecastTrial]]:
    """Those of whole runs, and those of phases."""
    return [one for one in trials if not one.phase], [one for one in trials if one.phase]


def _judged(trials: Sequence[ForecastTrial]) -> list[ForecastTrial]:
    """Those that have an interval to lie in."""
    return [one for one in trials if not one.by_work]


def _lead(found: Calibration, counted: Sequence[ForecastTrial]) -> str:
    if counted:
        inside = sum(one.is_inside for one in counted)
        middle = quantity.percent(statistics.median(map(_off, counted)))
        what = "times" if not counted[0].phase else "phases"
        return (
            f"{inside} of {len(counted)} I/O {what} measured after a forecast lie in its interval, "
            f"which is meant to hold {quantity.percent(MEANT)}; the median forecast is off by "
            f"{middle}."
        )
    if found.forecasts:
        return "No forecast has been tested by a later run yet."
    return "No forecast is kept yet: `venturi predict WORKLOAD --on MACHINE.yaml` keeps one."


def _off(one: ForecastTrial) -> float:
    """How far a forecast is off, as a share of what was measured."""
    return abs(one.predicted.median / one.measured - 1.0)


def _headlines(found: Calibration, wholes: Sequence[ForecastTrial]) -> tuple[Headline, ...]:
    if not found.trials:
        return ()
    heads = []
    phases = _judged(_parts(found.trials)[1])
    for title, own in (("Runs", wholes), ("Phases", phases)):
        if own:
            share = quantity.percent(sum(one.is_inside for one in own) / len(own))
            detail = f"of {len(own)} within the interval"
            heads.append(Headline(f"{title} in the interval", share, detail))
    heads.append(Headline("Forecasts tested", str(found.forecasts - found.untested), _kept(found)))
    return tuple(heads)


def _kept(found: Calibration) -> str:
    return f"of {quantity.count(found.forecasts)} kept"


def _remarks(found: Calibration) -> tuple[Paragraph, ...]:
    if not found.trials:
        return ()
    said = [
        "A run tests the newest forecast that was made before it began, of the same work with the "
        "same parameters and ranks, on the same host and file system. What is compared is the time "
        "inside I/O calls on the slowest rank, the median of the repetitions. Phases under 100 µs, "
        "and those of which the profile did not know some operation, are left out; of a phase that "
        "a limit of time ends, the time for the same work is compared, which has no interval. Runs "
        "of one forecast share its error, so they are not independent."
    ]
    runs = len({one.run for one in found.trials})
    if runs < _FEWEST:
        said.append(f"With {quantity.counted(runs, 'run')}, the share says little of 95 % yet.")
    return tuple(Paragraph(text) for text in said)


def _grouped(
    trials: Iterable[ForecastTrial],
) -> dict[tuple[str, str, str], list[ForecastTrial]]:
    groups: dict[tuple[str, str, str], list[ForecastTrial]] = {}
    for one in trials:
        groups.setdefault((one.name, one.machine, one.file_system), []).append(one)
    return dict(sorted(groups.items()))


def _summary(trials: Sequence[ForecastTrial]) -> Section:
    rows = []
    for (name, machine, file_system), own in _grouped(trials).items():
        wholes, phases = _parts(own)
        counted = wholes or phases
        signed = statistics.median(one.predicted.median / one.measured - 1.0 for one in counted)
        worst = max(counted, key=_off)
        rows.append(
            (
                Cell(name, address.workload(name)),
                Cell(machine, address.machine(machine)),
                file_system,
                quantity.count(len({one.forecast for one in own})),
                quantity.count(len({one.run for one in own})),
                _share(wholes),
                _share(_judged(phases)),
                quantity.percent(statistics.median(map(_off, counted))),
                quantity.signed_percent(signed),
                quantity.signed_percent(worst.predicted.median / worst.measured - 1.0),
            )
        )
    titles = (
        *("Workload", "Machine", "File system", "Forecasts", "Runs", "Runs inside"),
        *("Phases inside", "Off by (median)", "Bias (median)", "Worst"),
    )
    columns = tuple(Column(title, at > 2) for at, title in enumerate(titles))
    lead = (
        "Errors are those of the forecast, as a share of what was measured: of whole runs, or of "
        "phases where no forecast is of the whole run. Minus: the run took longer."
    )
    table = TableBlock("By workload and machine", columns, tuple(rows), stacked=True)
    return Section("summary", "How often, and how far off", lead, (table,))


def _share(own: Sequence[ForecastTrial]) -> Cell:
    if not own:
        return Cell("–")
    inside = sum(one.is_inside for one in own)
    tone: Tone = "good" if inside == len(own) else "plain"
    if len(own) >= _FEWEST and inside / len(own) < MEANT:
        tone = "bad"
    return Cell(f"{inside} of {len(own)}", tone=tone)


def _pictures(trials: Sequence[ForecastTrial]) -> list[Section]:
    """A picture for each workload on each machine, those with most runs."""
    groups = sorted(_grouped(trials).items(), key=lambda one: -len(one[1]))[:_MOST_FIGURES]
    found = []
    for at, ((name, machine, file_system), every) in enumerate(groups):
        wholes, phases = _parts(every)
        own = wholes or _judged(phases)
        drawn = calibration.figure(f"trials-{at}", own, _table(own[::-1], f"{name} on {machine}"))
        if drawn is not None:
            title = f"{name} on {machine}, {file_system}"
            found.append(Section(f"over-time-{at}", title, "", (drawn,)))
    return found


def _every(name: str, title: str, trials: Sequence[ForecastTrial]) -> Section:
    blocks: tuple[Block, ...] = (_table(trials[::-1], title),) if trials else ()
    return Section(name, title, "", blocks)


def _table(trials: Sequence[ForecastTrial], title: str) -> TableBlock:
    """Newest first."""
    rows = tuple(
        (
            Cell(one.started[:16].replace("T", " "), address.run(one.run)),
            f"{one.name} {one.phase}".rstrip(),
            one.machine,
            str(one.ranks),
            one.made[:10],
            quantity.seconds(one.predicted.median),
            _interval(one),
            quantity.seconds(one.measured) + (" (by work)" if one.by_work else ""),
            quantity.signed_percent(one.predicted.median / one.measured - 1.0),
            _inside(one),
        )
        for one in trials[:_MOST_ROWS]
    )
    titles = (
        *("Run began (UTC)", "What", "Machine", "Ranks", "Forecast of", "Forecast", "Interval"),
        *("Measured", "Error", "Inside"),
    )
    columns = tuple(Column(text, text in titles[3:4] + titles[5:9]) for text in titles)
    cut = f", the newest {_MOST_ROWS} of {len(trials)}" if len(trials) > _MOST_ROWS else ""
    return TableBlock(f"{title}{cut}", columns, rows, stacked=True, folded=len(trials) > 20)


def _interval(one: ForecastTrial) -> str:
    if one.by_work:
        return "–"
    return f"{quantity.seconds(one.predicted.low)} to {quantity.seconds(one.predicted.high)}"


def _inside(one: ForecastTrial) -> Cell:
    if one.by_work:
        return Cell("–")
    return Cell("yes", tone="good") if one.is_inside else Cell("no", tone="bad")


def _proxies(proxies: Sequence[ProxyTrial]) -> Section:
    """Proxies beside their applications, newest first."""
    shown = proxies[::-1][:_MOST_ROWS]
    rows = tuple(
        (
            one.started[:16].replace("T", " "),
            one.name,
            Cell(one.machine),
            one.file_system,
            str(one.ranks),
            str(one.repetitions),
            quantity.seconds(one.predicted),
            quantity.seconds(one.measured),
            quantity.signed_percent(one.error),
            f"{quantity.signed_percent(one.low)} to {quantity.signed_percent(one.high)}",
            quantity.percent(one.spread),
        )
        for one in shown
    )
    titles = (
        *("Began (UTC)", "Application", "Machine", "File system", "Ranks", "Pairs", "Proxy"),
        *("Application's", "Error", "Interval", "Own spread"),
    )
    columns = tuple(Column(title, at > 3) for at, title in enumerate(titles))
    near = sum(abs(one.error) <= max(0.10, one.spread) for one in proxies)
    middle = quantity.percent(statistics.median(abs(one.error) for one in proxies))
    lead = (
        f"Of {quantity.counted(len(proxies), 'comparison')} of a proxy with its application, run "
        f"in turn by `venturi predict --against`, {near} are within 10 % or the application's own "
        f"spread; the median error is {middle}."
    )
    table = TableBlock("Proxies and applications", columns, rows, stacked=True)
    return Section("proxies", "Applications and their proxies", lead, (table,))
