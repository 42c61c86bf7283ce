"""The page of a machine that was profiled: surface, pace, names, and how it was measured."""

from __future__ import annotations

from venturi.model.machine import Machine
from venturi.model.plan import OperationKind
from venturi.model.profile import FileSharing, MeasuredCurve, Order, Profile
from venturi.report import quantity
from venturi.report.block import (
    Chapter,
    Column,
    Facts,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import pace, performance_model
from venturi.report.quantity import Units

_NAMES = (
    OperationKind.CREATE,
    OperationKind.OPEN,
    OperationKind.CLOSE,
    OperationKind.STAT,
    OperationKind.RENAME,
    OperationKind.SET_ATTRIBUTE,
    OperationKind.MISS,
    OperationKind.LINK,
    OperationKind.SYMLINK,
    OperationKind.UNLINK,
    OperationKind.MKDIR,
    OperationKind.RMDIR,
)
_SHOWN = (
    ("Write into memory", "write new sequential own"),
    ("Read from memory", "read cached sequential own"),
    ("Read from the device", "read cold sequential own"),
)


def page_of(machine: Machine, units: Units) -> Page:
    """The whole page; the machine must have a profile."""
    profile = machine.profile
    assert profile is not None
    figures = tuple(performance_model.figures(profile, units))
    paced = pace.figure(profile, units)
    sections = (
        Section("surface", "The surface of this machine", _lead(profile), figures),
        *([Section("pace", "Computing between calls", "", (paced,))] if paced else []),
        Section(
            "names",
            "Names",
            "Seconds of one call, by ranks and by whose directory it is.",
            (names_table(profile),),
        ),
        Section("making", "How it was measured", "", (_facts(machine, profile, units),)),
    )
    remarks = [Paragraph(note, "fair") for note in profile.notes]
    if not profile.complete:
        remarks.insert(0, Paragraph("The coarse grid was not finished.", "fair"))
    chapter = Chapter(
        name="machine",
        title=machine.name,
        about=machine.about,
        headlines=_headlines(profile, units),
        remarks=tuple(remarks),
        sections=sections,
        facts=f"{profile.file_system.type} · {profile.host} · "
        f"{profile.started[:16].replace('T', ' ')}",
    )
    lead = f"What storage below {profile.directory} does, measured once for predictions."
    return Page(machine.name, lead, (chapter,), None, f"Venturi {profile.venturi}")


def _lead(profile: Profile) -> str:
    points = sum(len(curve.points) for curve in profile.curves)
    fewest = min(point.n for curve in profile.curves for point in curve.points)
    return (
        f"{quantity.count(points)} points on {len(profile.curves)} curves, each the median of "
        f"{fewest} repetitions or more; between points it is straight in logarithms."
    )


def _headlines(profile: Profile, units: Units) -> tuple[Headline, ...]:
    found = []
    in_memory = profile.file_system.type in ("tmpfs", "ramfs")
    for name, text in _SHOWN[:2] if in_memory else _SHOWN:
        curve = next((c for c in profile.curves if c.access.text() == text), None)
        points = [p for p in curve.points if p.bytes == 2**20] if curve else []
        if points:
            best = max(points, key=lambda p: p.bytes * p.ranks / max(p.seconds, 1e-12))
            rate = best.bytes * best.ranks / max(best.seconds, 1e-12)
            ranks = quantity.counted(best.ranks, "rank")
            found.append(Headline(name, quantity.rate(rate, units), f"1 MiB requests, {ranks}"))
    return tuple(found)


def names_table(profile: Profile) -> TableBlock:
    """Calls on names of empty files."""
    curves = [
        curve
        for operation in _NAMES
        for curve in profile.curves
        if curve.access.operation is operation
        and curve.access.order is Order.ITEM
        and not curve.access.think_s
    ]
    ranks = sorted({point.ranks for curve in curves for point in curve.points})
    columns = (
        Column("Call"),
        Column("Through"),
        Column("Directory"),
        *(Column(quantity.counted(count, "rank"), True) for count in ranks),
    )
    rows = []
    for curve in curves:
        where = "each rank's own" if curve.access.place is FileSharing.OWN else "shared by all"
        cells = tuple(_cell(curve, count) for count in ranks)
        through = curve.access.interface.value
        rows.append((curve.access.operation.value, through, where, *cells))
    return TableBlock("Calls on names of empty files", columns, tuple(rows))


def _cell(curve: MeasuredCurve, ranks: int) -> str:
    point = next((p for p in curve.points if p.ranks == ranks and p.bytes == 0), None)
    return quantity.seconds(point.seconds) if point else "–"


def _facts(machine: Machine, profile: Profile, units: Units) -> Facts:
    files = profile.file_system
    limit = profile.dirty_limit_bytes
    return Facts(
        (
            ("Date", profile.started),
            ("Host", f"{profile.host}, kernel {profile.kernel}"),
            ("Processor", f"{profile.cpu}, {quantity.counted(profile.cores, 'core')}"),
            ("Memory", quantity.size(profile.memory_bytes, units)),
            (
                "Unwritten data",
                f"writers wait above {quantity.size(limit, units)}" if limit else "not known",
            ),
            ("Directory", profile.directory),
            ("File system", f"{files.type} on {files.mount} from {files.source}"),
            ("Mount options", files.options or "–"),
            ("Device", profile.device or "none"),
            (
                "Ranks started by",
                "Venturi, without MPI" if profile.started_by == "local" else profile.started_by,
            ),
            ("Load before", quantity.number(profile.load_average)),
            (
                "Processors' time of others",
                "not known"
                if profile.others_share is None
                else quantity.percent(profile.others_share),
            ),
            (
                "Time spent",
                f"{quantity.seconds(profile.seconds)} of {quantity.seconds(profile.budget_s)}",
            ),
        )
    )
