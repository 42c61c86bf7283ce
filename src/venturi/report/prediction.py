"""The page of a prediction: application and proxy in turn, the error, and how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from venturi.model.prediction import Prediction, Side
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Code,
    Column,
    Facts,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import turns
from venturi.report.figure.turns import interval
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

AIM = 0.10
"""What proxies of this kind have reached on other machines (Shan, Antypas and Shalf 2008)."""
_FEWEST = 6
_MOST_PHASES = 40


def page_of(found: Prediction, units: Units) -> Page:
    """The whole page."""
    sections = (
        Section("runs", "Run by run", "", _figures(found)),
        _phases(found),
        _streams(found),
        _baselines(found),
        _making(found, units),
    )
    tone, level, meaning = _verdict(found)
    chapter = Chapter(
        name="prediction",
        title=found.name,
        level=level,
        tone=tone,
        meaning=meaning,
        headlines=_headlines(found, units),
        remarks=tuple(Paragraph(f"{_capital(text)}.", "fair") for text in remarks(found)),
        sections=tuple(section for section in sections if section is not None),
        facts=" · ".join(
            (
                quantity.counted(found.application.ranks, "rank"),
                f"{found.repetitions} runs of each",
                found.place.file_system,
                found.place.host,
                found.started[:16].replace("T", " "),
            )
        ),
    )
    return Page(found.name, found.headline, (chapter,), None, f"Venturi {found.venturi}")


def _verdict(found: Prediction) -> tuple[Tone, str, str]:
    """The word for the error, its colour, and what it means."""
    far = abs(found.error.signed)
    if far <= AIM:
        return "good", "WITHIN 10 %", "the error of the I/O time is at most 10 %"
    if found.within_spread:
        meaning = "the error is no larger than the spread of the application's own runs"
        return "fair", "WITHIN ITS SPREAD", meaning
    meaning = (
        "the error is above 10 % and above the spread of the application's own runs, so this proxy "
        f"is not shown to stand for it here. {_what_next(found)}"
    )
    return "bad", "MORE THAN 10 % OFF", meaning


def _what_next(found: Prediction) -> str:
    """What to do about a proxy that misses, as a sentence without its full stop."""
    if found.error.low <= AIM and found.error.high >= -AIM:
        return (
            "The interval reaches to where it would: ask again with more runs (--budget, --repeat)"
        )
    apart = max(found.sorts, key=lambda part: abs(part.proxy - part.application), default=None)
    where = f"They differ most in {apart.name}" if apart is not None else "See where they differ"
    return (
        f"{where}; 'venturi derive LOG --check' says whether the proxy does what the application "
        "did, and docs/predict.md what made other proxies miss"
    )


def remarks(found: Prediction) -> list[str]:
    """What the reader must know, without full stops."""
    texts = list(found.remarks)
    if found.repetitions < _FEWEST:
        texts.append(f"only {quantity.counted(found.repetitions, 'run')} of each side")
    if found.place.load_before > found.place.cores:
        texts.append(
            f"the machine was busy with other things: {quantity.number(found.place.load_before)} "
            f"processes wanted its {found.place.cores} cores"
        )
    return texts


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _headlines(found: Prediction, units: Units) -> tuple[Headline, ...]:
    error = found.error
    lines = [
        Headline(
            "Error of the I/O time",
            quantity.signed_percent(error.signed),
            f"95 % interval {interval(error.low, error.high)}",
        ),
        Headline(
            "Spread of the application",
            quantity.percent(found.application.spread),
            "standard deviation of its runs over their mean",
        ),
        Headline("Application in I/O", quantity.seconds(found.application.seconds), "median"),
        Headline("Proxy in I/O", quantity.seconds(found.proxy.seconds), "median"),
    ]
    if (span := found.span_error) is not None:
        lines.append(
            Headline(
                "Error from first request to last",
                quantity.signed_percent(span.signed),
                f"of {quantity.seconds(found.application.span_seconds)}, computing included",
            )
        )
    if found.bandwidth_error is not None:
        rate = quantity.rate(found.application.bytes_per_second, units)
        lines.append(
            Headline(
                "Error of the bandwidth",
                quantity.signed_percent(found.bandwidth_error.signed),
                f"of {rate}; its mean request is 1 MiB or more",
            )
        )
    return tuple(lines)


def _figures(found: Prediction) -> tuple[Block, ...]:
    bars = turns.bars(found)
    return (turns.figure(found), bars) if bars is not None else (turns.figure(found),)


def _phases(found: Prediction) -> Section | None:
    if not found.phases:
        return None
    lead = "Stretches of work between pauses, of the rank that spends most in each."
    table = turns.parts_table("Phases", found.phases[:_MOST_PHASES])
    return Section("phases", "Phase by phase", lead, (table,))


def _streams(found: Prediction) -> Section | None:
    if not found.streams:
        return None
    lead = "Time of all ranks together in files that are used alike; – where only one side has it."
    return Section(
        "streams", "File by file", lead, (turns.parts_table("Streams of files", found.streams),)
    )


def _baselines(found: Prediction) -> Section | None:
    if not found.baselines:
        return None
    titles = ("Prediction", "Seconds", "Error", "What it is")
    rows = [
        (
            "the proxy",
            quantity.seconds(found.proxy.seconds),
            quantity.signed_percent(found.error.signed),
            "this page",
        ),
    ]
    rows += [
        (
            line.name,
            quantity.seconds(line.seconds),
            quantity.signed_percent(line.signed),
            line.about,
        )
        for line in found.baselines
    ]
    columns = tuple(Column(title, 0 < index < 3) for index, title in enumerate(titles))
    return Section(
        "baselines",
        "Beside simpler predictions",
        "",
        (TableBlock("Baselines", columns, tuple(rows)),),
    )


def _amounts(side: Side, units: Units) -> str:
    return (
        f"{quantity.size(side.bytes_written, units)} written, "
        f"{quantity.size(side.bytes_read, units)} read, {quantity.count(side.requests)} requests, "
        f"{quantity.count(side.calls)} calls, run time {quantity.seconds(side.run_seconds)}"
    )


def _making(found: Prediction, units: Units) -> Section:
    here = found.place
    share = quantity.percent(found.capture_share)
    rows = [
        ("Application", found.command),
        ("Its input", found.prepare),
        ("Application did", _amounts(found.application, units)),
        ("Proxy did", _amounts(found.proxy, units)),
        ("Order", "in turn, there and back (ABBA); one run of each before was not counted"),
        ("Runs", f"{found.repetitions} of each" + (f": {found.enough}" if found.enough else "")),
        ("Caches", found.cache),
        ("Capture", f"{found.capture}; it adds about {share} to the time (estimate)"),
        ("I/O time", "time inside calls on its files, of the rank that spends most in them"),
        ("First request to last", "of all ranks on its files, with the computing between"),
        ("Interval", "bootstrap of the pairs' medians, expanded percentiles"),
        ("Directory", f"{here.directory} ({here.file_system})"),
        ("Host", f"{here.host}, {here.system}, Linux {here.kernel}"),
        ("CPU, memory", f"{here.cpu}, {here.cores} cores, {quantity.size(here.memory_bytes)}"),
        (
            "Load",
            f"{quantity.number(here.load_before)} before, {quantity.number(here.load_after)} after",
        ),
    ]
    blocks: tuple[Block, ...] = (
        Facts(tuple((name, value) for name, value in rows if value)),
        Code("The proxy", found.workload_text, "yaml", folded=True),
    )
    return Section("making", "How it was made", "", blocks)


def print_prediction(found: Prediction, console: Console, units: Units = Units.IEC) -> None:
    """The prediction on a terminal."""
    out = Printer(console)
    styles: dict[Tone, str] = {"good": "bold green", "fair": "bold yellow", "bad": "bold red"}
    tone, level, meaning = _verdict(found)
    out.line((f" {level}", styles[tone]))
    out.wrapped("", found.headline)
    if tone == "bad":
        out.wrapped("", f"{_capital(meaning)}.")
    out.line()
    rows = [
        (
            "I/O time",
            quantity.seconds(found.application.seconds),
            quantity.seconds(found.proxy.seconds),
            quantity.signed_percent(found.error.signed),
            interval(found.error.low, found.error.high),
        ),
    ]
    if (span := found.span_error) is not None:
        rows.append(
            (
                "first request to last",
                quantity.seconds(found.application.span_seconds),
                quantity.seconds(found.proxy.span_seconds),
                quantity.signed_percent(span.signed),
                interval(span.low, span.high),
            )
        )
    table = turns.parts_table("", [p for p in found.sorts if p.application or p.proxy])
    out.table(("", "APPLICATION", "PROXY", "ERROR", "95 % INTERVAL"), [*rows, *table.rows])
    out.line()
    for line in found.baselines:
        off = quantity.signed_percent(line.signed)
        out.line(f" {line.name} would say {quantity.seconds(line.seconds)} ({off})")
    for text in remarks(found):
        out.wrapped("- ", text)
