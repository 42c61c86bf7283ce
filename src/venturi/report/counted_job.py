"""What a Darshan log counts: its job, each module, and files by name."""

from __future__ import annotations

from venturi.model.characterization_data import CountedCalls, CountedJob
from venturi.report import quantity
from venturi.report.block import Block, Column, Facts, Paragraph, Section, TableBlock
from venturi.report.layer_name import LAYER_NAMES
from venturi.report.quantity import Units

_NOTHING = "–"
_CALLS = ("Opens", "Reads", "Writes", "Seeks", "Stats", "Syncs")
_BYTES = ("Read", "Written")
_TIMES = ("In reads", "In writes", "On names")
_SHOWN = 20
"""Files that stand open on the page; the others are folded."""
_LEAD = (
    "As the log counts it, standard streams and files of the system included. Time is that of all "
    "ranks together. Consecutive: the request begins where the one before it of the same rank and "
    "file ended; sequential: there or further on; one that begins a file counts as neither. Access "
    "sizes: the log keeps the four most common of each file, or of each rank in it, so a module's "
    "may be more than these sums."
)


def about(counted: CountedJob | None) -> str:
    """The job, in the line below the title; empty where nothing is known of it."""
    if counted is None:
        return ""
    parts = [f"job {counted.number}"] if counted.number else []
    if counted.started:
        parts.append(f"started {counted.started[:19].replace('T', ' ')} UTC")
    return " · ".join(parts)


def section(counted: CountedJob | None, units: Units) -> Section | None:
    """The tables; None for a capture that is no log of counters."""
    if counted is None:
        return None
    blocks: list[Block] = [_job(counted), _calls("Modules", "Module", counted.layers, units)]
    if pattern := _pattern(counted.layers):
        blocks.append(pattern)
    if sizes := _sizes(counted.layers, units):
        blocks.append(sizes)
    blocks.append(_use(counted.files, units))
    first, rest = counted.files[:_SHOWN], counted.files[_SHOWN:]
    blocks.append(_calls("Files by name", "File", first, units))
    if rest:
        blocks.append(_calls("More files", "File", rest, units, folded=True))
    if counted.left_out:
        more = quantity.counted(counted.left_out, "file")
        blocks.append(Paragraph(f"{more} that moved less are left out."))
    return Section("counted", "What the log counts", _LEAD, tuple(blocks))


def _job(counted: CountedJob) -> Facts:
    rows = [
        ("Job", counted.number or _NOTHING),
        ("Started", f"{counted.started[:19].replace('T', ' ')} UTC" if counted.started else "–"),
        ("Command", counted.command or _NOTHING),
        ("Darshan", counted.library or _NOTHING),
    ]
    return Facts(tuple(rows))


def _calls(
    title: str, what: str, rows: list[CountedCalls], units: Units, folded: bool = False
) -> TableBlock:
    """Calls, bytes and time; a row for each module, or for each file in each module."""
    is_file = what == "File"
    second = ("Module", "Ranks") if is_file else ("Files", "Ranks")
    columns = [Column(what), Column(second[0], not is_file), Column(second[1], True)]
    times = ("Time",) if is_file else _TIMES
    columns += [Column(name, True) for name in (*_CALLS, *_BYTES, *times)]
    return TableBlock(
        title, tuple(columns), tuple(_row(row, is_file, units) for row in rows), folded=folded
    )


def _row(row: CountedCalls, is_file: bool, units: Units) -> tuple[str, ...]:
    layer = LAYER_NAMES.get(row.layer, row.layer)
    calls = (row.opens, row.reads, row.writes, row.seeks, row.stats, row.syncs)
    sizes = (row.bytes_read, row.bytes_written)
    parts = (row.read_s, row.write_s, row.names_s)
    times = (sum(parts),) if is_file else parts
    return (
        row.name if is_file else layer,
        layer if is_file else quantity.count(row.files),
        quantity.count(row.ranks),
        *(quantity.count(number) if number else _NOTHING for number in calls),
        *(quantity.size(size, units) if size else _NOTHING for size in sizes),
        *(_spent(seconds) for seconds in times),
    )


def _spent(seconds: float) -> str:
    return quantity.seconds(seconds) if seconds > 0 else _NOTHING


def _pattern(layers: list[CountedCalls]) -> TableBlock | None:
    """Where requests lie in their files, of the modules that count it."""
    rows = []
    for layer in layers:
        for word, requests, sequential, consecutive in (
            ("reads", layer.reads, layer.sequential_reads, layer.consecutive_reads),
            ("writes", layer.writes, layer.sequential_writes, layer.consecutive_writes),
        ):
            if requests and sequential is not None and consecutive is not None:
                name = f"{LAYER_NAMES.get(layer.layer, layer.layer)} {word}"
                shares = [_share(part, requests) for part in (sequential, consecutive)]
                rows.append((name, quantity.count(requests), *shares))
    titles = ("Requests", "All", "Sequential", "Consecutive")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("Access pattern", columns, tuple(rows)) if rows else None


def _sizes(layers: list[CountedCalls], units: Units) -> TableBlock | None:
    """The most frequent sizes of the modules that count them, reads and writes together."""
    rows = tuple(
        (
            LAYER_NAMES.get(layer.layer, layer.layer) if place == 0 else "",
            quantity.exact_size(size.bytes, units),
            _share(size.count, max(size.count, layer.reads + layer.writes)),
        )
        for layer in layers
        for place, size in enumerate(layer.common_sizes)
    )
    columns = (Column("Module"), Column("Size", True), Column("Requests", True))
    return TableBlock("Common access sizes", columns, rows) if rows else None


def _share(part: int, whole: int) -> str:
    return f"{quantity.count(part)} ({quantity.percent(min(1.0, part / whole))})"


def _use(files: list[CountedCalls], units: Units) -> TableBlock:
    """How many files were read, written or both."""
    kinds: dict[str, list[CountedCalls]] = {
        "read only": [f for f in files if f.bytes_read and not f.bytes_written],
        "written only": [f for f in files if f.bytes_written and not f.bytes_read],
        "read and written": [f for f in files if f.bytes_read and f.bytes_written],
        "without data": [f for f in files if not f.bytes_read and not f.bytes_written],
    }
    rows = tuple(
        (
            kind,
            quantity.count(len(own)),
            quantity.size(sum(f.bytes_read for f in own), units),
            quantity.size(sum(f.bytes_written for f in own), units),
        )
        for kind, own in kinds.items()
        if own
    )
    titles = ("Files, in each module", "Number", "Read", "Written")
    columns = tuple(Column(title, index > 0) for index, title in enumerate(titles))
    return TableBlock("How files are used", columns, rows)
