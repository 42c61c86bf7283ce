"""The page of a session of health: the parts, the figures beside those before, and the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from venturi.model.health import (
    DEGRADED,
    AuditEntry,
    Drift,
    Health,
    HealthPart,
    HealthRow,
    HealthState,
    NodeAudits,
    worst,
)
from venturi.model.record import Record
from venturi.report import kernel, quantity
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
    Tone,
)
from venturi.report.figure import health_strip
from venturi.report.quantity import Units

TONES: dict[HealthState, Tone] = {
    HealthState.FAILED: "bad",
    HealthState.OK: "good",
    HealthState.WATCH: "fair",
    HealthState.FAIL: "bad",
    HealthState.NOISY: "fair",
    HealthState.NEW: "plain",
    HealthState.NOT_RUN: "plain",
}
_MEANING = {
    HealthState.FAILED: "Some kernel failed its check or could not run: there is no number of it.",
    HealthState.OK: "Every figure is within its band.",
    HealthState.WATCH: "Some figure is in the worse half of its band.",
    HealthState.FAIL: "Some figure is worse than its band, or a rank, node or link is slow.",
    HealthState.NOISY: "Others used the machine: nothing is said of it.",
    HealthState.NEW: "There are too few sessions to compare with.",
    HealthState.NOT_RUN: "Nothing was measured.",
}


def state_of(health: Health) -> HealthState:
    """The state of the whole session: the one of its parts that matters most."""
    states = [part.state for part in health.parts]
    if not all(one.holds for one in health.consistency):
        states.append(HealthState.NOISY if health.noise else HealthState.FAIL)
    return worst(states)


def page_of(health: Health, units: Units) -> Page:
    """The whole page."""
    state = state_of(health)
    host = health.record.environment.host if health.record else health.series.split(", ")[1]
    reasons = [f"{part.name}: {part.state.value}; {part.says}" for part in health.parts]
    if health.noise:
        reasons.insert(0, f"noisy: not comparable; {health.noise}")
    chapter = Chapter(
        name="health",
        title=f"{host}: {health.suite}",
        level=state.value,
        tone=TONES[state],
        meaning=_MEANING[state],
        reasons=tuple(reasons),
        headlines=_headlines(health, units),
        remarks=_remarks(health),
        sections=tuple(_sections(health, units)),
        facts=f"{health.series} · {health.started[:16].replace('T', ' ')} · "
        f"{quantity.seconds(health.seconds)}",
    )
    lead = f"Is {host} itself well? Kernels of class {health.suite}, the node, the sessions before."
    return Page(f"Health of {host}", lead, (chapter,))


def _headlines(health: Health, units: Units) -> tuple[Headline, ...]:
    """One figure for each kind of part, with what is said of it."""
    wanted = ("triad: triad", "chase: load", "arithmetic: multiply-add", "equations: solve",
              "gradients: iterate", "pairs: latency", "pairs: bandwidth",
              "links: median", "tcp: network bandwidth",
              "tcp: loopback bandwidth")  # fmt: skip
    by_name = {row.metric: row for row in health.rows}
    return tuple(
        Headline(
            name, quantity.with_unit(row.value, row.unit, units), f"{row.state.value}: {row.says}"
        )
        for name in wanted
        if (row := by_name.get(name)) is not None
    )


def _remarks(health: Health) -> tuple[Paragraph, ...]:
    found = [Paragraph(f"{one}.", "bad") for one in health.failed]
    tone: Tone = "fair" if health.noise else "bad"
    found += [Paragraph(f"{one.phase}: {one.says}.", tone) for one in health.slow]
    found += [
        Paragraph(f"Broken: {one.what}; it was {one.says}.", tone)
        for one in health.consistency
        if not one.holds
    ]
    found += [Paragraph(text, "fair") for text in degraded_links(health.nodes, health.audit)]
    if health.nodes is not None and (keys := ", ".join(health.nodes.differing())):
        found.append(Paragraph(f"The nodes differ: {keys}.", "fair"))
    if health.changed:
        keys = ", ".join(drift.key for drift in health.changed)
        found.append(Paragraph(f"Changed while the suite ran: {keys}.", "fair"))
    if health.drift:
        keys = ", ".join(drift.key for drift in health.drift)
        found.append(Paragraph(f"Set otherwise than in {health.drift_since}: {keys}.", "fair"))
    return tuple(found)


def degraded_links(nodes: NodeAudits | None, audit: Sequence[AuditEntry]) -> list[str]:
    """A sentence for each PCI link that is below its maximum, with the nodes; `audit` is that of
    the node that started the session, for where no node answered."""
    found: dict[tuple[str, str], list[str]] = {}
    audits = [(node.hosts, node.entries) for node in nodes.distinct] if nodes else []
    for hosts, entries in audits or [([], list(audit))]:
        for entry in entries:
            if entry.value.startswith(DEGRADED):
                place = (entry.key, entry.value.removeprefix(DEGRADED))
                found.setdefault(place, []).extend(hosts)
    return [
        f"{key} is below its maximum: {value}{' on ' if hosts else ''}{', '.join(hosts)}."
        f"{_saves(key)}"
        for (key, value), hosts in found.items()
    ]


def _saves(key: str) -> str:
    """What else than a fault lowers the speed of a link."""
    may = "PCI link of display" in key or "PCI link of accelerator" in key
    return " It may save power while nothing uses it." if may else ""


def _sections(health: Health, units: Units) -> list[Section]:
    strip = health_strip.figure(health.rows, units)
    first: list[Block] = [_parts(health.parts), *([strip] if strip else [])]
    first += [_rows(health.rows, units), _consistency(health)]
    sections = [Section("parts", "How each part does", "", tuple(first))]
    if health.record is not None:
        if (table := _data(health.record, units)) is not None:
            lead = "Times are medians of the slowest rank; what a part is, docs/health.md says."
            sections.append(Section("data", "Big data", lead, (table,)))
        pictures: list[Block] = []
        for run in kernel.kernel_runs(health.record):
            pictures += kernel.blocks_of(run, units)
        sections.append(Section("kernels", "What the kernels measured", "", tuple(pictures)))
    if health.nodes is not None:
        blocks = tuple(nodes_blocks(health.nodes, health.changed))
        sections.append(Section("nodes", "Whether all nodes are alike", "", blocks))
    lead = f"The node that started the session. SHA-256 {health.audit_sha256[:16]}."
    sections.append(Section("node", "What the node is", lead, tuple(_node(health))))
    return sections


_DATA_PARTS = ("read", "compute", "exchange", "write")


def _data(record: Record, units: Units) -> TableBlock | None:
    """Kernels of big data in one row each; None where none ran or all failed."""
    rows = []
    for run in kernel.kernel_runs(record):
        points = {point.series.name: point for point in run.points}
        if run.failures or not {"process", *_DATA_PARTS} <= points.keys():
            continue
        seconds = [points[part].value for part in _DATA_PARTS]
        rows.append(
            (
                run.result.name,
                record.machine,
                quantity.count(run.result.ranks),
                quantity.size(points["process"].at[0], units),
                quantity.with_unit(points["process"].value, "B/s", units),
                quantity.seconds(sum(seconds)),
                *(quantity.seconds(value) for value in seconds),
            )
        )
    titles = ("Kernel", "Machine", "Ranks", "Input", "Rate", "Time", *map(str.title, _DATA_PARTS))
    columns = tuple(Column(title, index > 1) for index, title in enumerate(titles))
    return TableBlock("Kernels of big data", columns, tuple(rows)) if rows else None


def nodes_blocks(nodes: NodeAudits, changed: list[Drift]) -> list[Block]:
    """How many nodes answered, in what they differ, and what changed while the suite ran."""
    hosts = [host for node in nodes.distinct for host in node.hosts]
    blocks: list[Block] = []
    if len(hosts) < nodes.expected:
        why = f": {nodes.why_fewer}" if nodes.why_fewer else ""
        blocks.append(
            Paragraph(f"Only {len(hosts)} of {nodes.expected} nodes answered{why}.", "fair")
        )
    differing = nodes.differing()
    if len(hosts) == 1:
        digest = nodes.distinct[0].sha256[:16]
        blocks.append(Paragraph(f"One node answered: {hosts[0]}. SHA-256 {digest}."))
    elif hosts and not differing:
        digest = nodes.distinct[0].sha256[:16]
        blocks.append(Paragraph(f"All {len(hosts)} nodes identical. SHA-256 {digest}.", "good"))
    elif differing:
        rows = tuple(
            (key, value, ", ".join(host for host in row if row[host] == value))
            for key, row in differing.items()
            for value in dict.fromkeys(row.values())
        )
        columns = (Column("What"), Column("Value"), Column("Nodes"))
        blocks.append(TableBlock(f"Keys in which {len(hosts)} nodes differ", columns, rows))
    if changed:
        rows = tuple((drift.key, drift.before, drift.now) for drift in changed)
        columns = (Column("What"), Column("Before"), Column("After"))
        blocks.append(TableBlock("Changed while the suite ran", columns, rows))
    elif hosts:
        blocks.append(Paragraph("Nothing was set otherwise after the suite than before.", "good"))
    return blocks


def _parts(parts: list[HealthPart]) -> TableBlock:
    rows = tuple((part.name, part.state.value, part.says) for part in parts)
    return TableBlock("Parts", (Column("Part"), Column("State"), Column("Why")), rows)


def _rows(rows: list[HealthRow], units: Units) -> TableBlock:
    table = tuple(
        (
            row.metric,
            row.state.value,
            quantity.with_unit(row.value, row.unit, units),
            quantity.with_unit(row.reference.value, row.unit, units) if row.reference else "–",
            str(len(row.before)),
            row.says,
        )
        for row in rows
    )
    titles = ("Figure", "State", "Value", "Baseline", "Sessions before", "Why")
    columns = tuple(Column(title, index in (2, 3, 4)) for index, title in enumerate(titles))
    return TableBlock("Figures", columns, table)


def _consistency(health: Health) -> Block:
    if not health.consistency:
        return Paragraph("No two numbers of this session can be held against each other.")
    rows = tuple(
        (one.what, "holds" if one.holds else "BROKEN", one.says) for one in health.consistency
    )
    columns = (Column("What must hold"), Column("Does it"), Column("Measured"))
    return TableBlock("Numbers that must fit", columns, rows)


def _node(health: Health) -> list[Block]:
    blocks: list[Block] = []
    loads = tuple(
        (when, f"{load.busy_cpus:.2f} of {load.cpus}", f"{load.load_average:.2f}")
        for when, load in (("before", health.load_before), ("after", health.load_after))
    )
    columns = (Column("When"), Column("CPUs that others kept busy", True),
               Column("Load average of a minute", True))  # fmt: skip
    blocks.append(TableBlock("Load of others", columns, loads))
    if health.drift:
        drifts = tuple((drift.key, drift.before, drift.now) for drift in health.drift)
        columns = (Column("What"), Column("Before"), Column("Now"))
        blocks.append(TableBlock(f"Set otherwise than in {health.drift_since}", columns, drifts))
    elif health.drift_since:
        blocks.append(Paragraph(f"Nothing is set otherwise than in {health.drift_since}.", "good"))
    facts = tuple((entry.key, entry.value) for entry in health.audit)
    blocks.append(TableBlock("Audit", (Column("What"), Column("Value")), facts, folded=True))
    return blocks
