"""The page of an application that was captured: what it did, what hurts, and its proxy."""

from __future__ import annotations

from venturi.model.characterization import Characterization
from venturi.model.characterization_data import (
    Basis,
    CharacterizationData,
    PhaseCharacterization,
    StreamCharacterization,
)
from venturi.model.origin import request_classes
from venturi.model.workload import Finding, Severity
from venturi.report import application, counted_job, fidelity_report, quantity
from venturi.report.block import (
    Block,
    Chapter,
    Code,
    Column,
    Headline,
    Page,
    Paragraph,
    Section,
    TableBlock,
)
from venturi.report.figure import rank_timeline, request
from venturi.report.quantity import Units

_MOST_PHASES = 24
_MOST_NOTES = 12
_MOSTLY = 0.9
_SOURCES = {"venturi": "Venturi's tracer"}
_COUNTED = (
    "This capture holds counters, which add up a run: in which order calls came, and so phases, "
    "pauses and turns between files, is not in them, nor are calls that its source does not count. "
    "venturi capture -- COMMAND records the calls."
)
_VERBS = {"write": "writes", "read": "reads", "both": "reads and writes at once", "names": "names"}


def page_of(characterization: Characterization, units: Units) -> Page:
    """The whole page."""
    activity = characterization.activity
    sections = (
        _timeline(activity, units),
        _findings(characterization.findings),
        _streams(activity, units),
        _requests(activity, units),
        _phases(activity, units),
        counted_job.section(activity.counted, units),
        _proxy(characterization),
        fidelity_report.section(characterization.fidelity, units),
        _missed(activity),
    )
    chapter = Chapter(
        name="application",
        title=activity.name,
        headlines=_headlines(activity, units),
        remarks=tuple(Paragraph(f"Incomplete: {gap}.", "fair") for gap in activity.gaps),
        sections=tuple(section for section in sections if section is not None),
        facts=f"{_who(activity)} · {quantity.seconds(activity.seconds)} · captured by "
        f"{_SOURCES.get(activity.source, activity.source)}"
        f"{' · ' if counted_job.about(activity.counted) else ''}"
        f"{counted_job.about(activity.counted)}",
    )
    return Page(activity.name, summary(activity, units), (chapter,), None, "Venturi")


def _who(activity: CharacterizationData) -> str:
    ranks = [lane for lane in activity.lanes if lane.startswith("rank ")]
    if ranks:
        return quantity.counted(len(ranks), "rank")
    return quantity.counted(len(activity.timeline.labels), "program")


def summary(activity: CharacterizationData, units: Units) -> str:
    """What the application did, in two sentences."""
    moved = []
    if activity.bytes_written:
        moved.append(f"wrote {quantity.size(activity.bytes_written, units)}")
    if activity.bytes_read:
        moved.append(f"read {quantity.size(activity.bytes_read, units)}")
    files = sum(stream.files for stream in activity.streams)
    what = " and ".join(moved) if moved else "moved no data, but worked on names"
    main = ""
    if len(activity.streams) > 1 and (activity.bytes_written + activity.bytes_read):
        first = activity.streams[0]
        share = (first.bytes_written + first.bytes_read) / (
            activity.bytes_written + activity.bytes_read
        )
        main = f" Most of it, {quantity.percent(share)}, is {first.name}."
    where = f"in {quantity.counted(files, 'file')}"
    busiest = ""
    if _knows_time(activity):
        busiest = (
            f" The busiest spent {quantity.seconds(activity.io_seconds)} in I/O, "
            f"{quantity.percent(activity.io_share)} of the run."
        )
    return f"{_who(activity)} {what} {where}.{busiest}{main}"


def _knows_time(activity: CharacterizationData) -> bool:
    """Whether the time in calls is known; counters may lack it."""
    return activity.basis is Basis.OPERATIONS or activity.io_seconds > 0


def _headlines(activity: CharacterizationData, units: Units) -> tuple[Headline, ...]:
    copies = activity.operations.get("copy", 0)  # each is a write, too
    calls = sum(activity.operations.values()) - copies
    data = sum(activity.operations.get(kind, 0) for kind in ("read", "write"))
    calls_of = {**activity.operations, "read": activity.operations.get("read", 0) + copies}
    found = []
    for name, amount, kind in (
        ("Written", activity.bytes_written, "write"),
        ("Read", activity.bytes_read, "read"),
    ):
        spent = activity.seconds_by.get(kind, 0.0)
        detail = f"{quantity.count(calls_of.get(kind, 0))} calls"
        if spent > 0:
            detail += f", {quantity.seconds(spent)} in them"
        if amount:
            found.append(Headline(name, quantity.size(amount, units), detail))
    if _knows_time(activity):
        found.append(
            Headline(
                "Time in I/O",
                quantity.seconds(activity.io_seconds),
                f"the busiest, {quantity.percent(activity.io_share)} of the run",
            )
        )
    names = calls - data
    found.append(
        Headline(
            "Calls that move no data" if activity.basis is Basis.OPERATIONS else "Opens and syncs",
            quantity.count(names),
            f"of {quantity.count(calls)}; {_largest(activity.operations)}",
        )
    )
    return tuple(found)


def _largest(operations: dict[str, int]) -> str:
    rest = {k: n for k, n in operations.items() if k not in ("read", "write", "copy")}
    most = sorted(rest.items(), key=lambda entry: -entry[1])[:3]
    return ", ".join(f"{quantity.count(n)} {kind}" for kind, n in most) or "none of another kind"


def _timeline(activity: CharacterizationData, units: Units) -> Section | None:
    figure = rank_timeline.figure(activity, units)
    if figure is None:
        return None
    return Section("did", "What it did", "", (figure,))


def _findings(findings: list[Finding]) -> Section:
    grave = [finding for finding in findings if finding.severity is not Severity.NOTE]
    notes = [finding for finding in findings if finding.severity is Severity.NOTE]
    blocks: list[Block] = []
    if grave:
        blocks.append(application.notes(grave))
    if notes:
        columns = (Column("What"), Column("Seen"), Column("Try"))
        rows = tuple((f.what, f.evidence, f.advice) for f in notes[:_MOST_NOTES])
        blocks.append(TableBlock("Notes: little time at stake here", columns, rows, folded=True))
    if not findings:
        blocks.append(Paragraph("Nothing looks costly by the rules that we check."))
    lead = (
        "Most severe first, by what mending can bring on the slowest rank. Where only the time "
        "inside the affected calls is known, the evidence says so, and the grade is one lower."
    )
    if not grave and notes:
        lead = "Nothing costs much time in this run; what might with more data is in the notes."
    return Section("findings", "What hurts", lead if findings else "", tuple(blocks))


def sharing(stream: StreamCharacterization) -> str:
    """Who uses a stream's files, in words."""
    who = "all" if stream.ranks > 1 else "one"
    count = "one file" if stream.files == 1 else f"{quantity.count(stream.files)} files"
    if stream.shared_files == stream.files:
        each = "" if stream.files == 1 else ", each"
        return f"{count}{each} of {quantity.counted(stream.ranks, 'rank')}"
    if stream.shared_files:
        return f"{count}, {quantity.count(stream.shared_files)} of several ranks"
    if stream.files == 1:
        return f"{count} of {who} rank" if who == "one" else count
    if stream.files == stream.ranks:
        return f"{count}, one for each rank"
    return f"{count} of {quantity.counted(stream.ranks, 'rank')}"


def ordering(stream: StreamCharacterization) -> str:
    """Return the order of the requests in the file, in words."""
    words = []
    for order in stream.order:
        if not order.followers:
            continue
        shares = {
            "sequential": order.consecutive / order.followers,
            "with forward jumps": order.forward / order.followers,
            "with backward jumps": order.backward / order.followers,
        }
        best = max(shares, key=lambda name: shares[name])
        requests = f"{order.direction.value}s"
        if shares[best] >= _MOSTLY:
            alone = f"{requests} {best}" if best.startswith("with") else f"{best} {requests}"
            words.append(alone)
        else:
            kept = [(s, name) for name, s in shares.items() if s >= 1 - _MOSTLY]
            text = ", ".join(f"{quantity.percent(s)} {name}" for s, name in kept)
            words.append(f"{requests} {text}")
    return "; ".join(words) or "–"


def _sizes(stream: StreamCharacterization, units: Units) -> str:
    words = []
    for direction in ("write", "read"):
        own = [s for s in stream.common_sizes if s.direction.value == direction and s.bytes]
        total = sum(size.count for size in own)
        if not total:
            continue
        share = own[0].count / total
        lead = "all" if share == 1 else "mostly" if share > 0.5 else "many sizes, often"
        words.append(f"{direction}s {lead} {quantity.exact_size(own[0].bytes, units)}")
    return "; ".join(words) or "–"


def _streams(activity: CharacterizationData, units: Units) -> Section | None:
    if not activity.streams:
        return None
    titles = ("Files", "Whose", "Through", "Written", "Read", "Requests", "Order", "Time in calls")
    columns = tuple(Column(title, index in (3, 4, 7)) for index, title in enumerate(titles))
    rows = tuple(
        (
            stream.name,
            sharing(stream),
            stream.layer,
            quantity.size(stream.bytes_written, units) if stream.bytes_written else "–",
            quantity.size(stream.bytes_read, units) if stream.bytes_read else "–",
            _sizes(stream, units),
            ordering(stream),
            quantity.seconds(sum(stream.seconds.values())) if stream.seconds else "–",
        )
        for stream in activity.streams
    )
    blocks: list[Block] = [TableBlock("Files that are used alike", columns, rows)]
    kinds = list(dict.fromkeys(kind for s in activity.streams for kind in s.operations))
    table = tuple(
        (s.name, *(quantity.count(s.operations.get(kind, 0)) for kind in kinds))
        for s in activity.streams
    )
    heads = (Column("Files"), *(Column(kind, True) for kind in kinds))
    blocks.append(TableBlock("Calls of each kind", heads, table, folded=True))
    if text := _amplified(activity, units):
        blocks.append(Paragraph(text))
    lead = "# stands for a number, * for a name; time is that of all ranks together."
    return Section("streams", "Which files it uses, and how", lead, tuple(blocks))


def _amplified(activity: CharacterizationData, units: Units) -> str:
    """How much more libraries move than the application asked for."""
    asked = activity.bytes_written + activity.bytes_read
    moved = activity.storage_written + activity.storage_read
    if not asked or not moved or abs(moved - asked) <= 0.05 * asked:
        return ""
    return (
        f"Libraries turn what the application asked for into {quantity.size(moved, units)} at "
        f"POSIX: {quantity.size(activity.storage_written, units)} written, "
        f"{quantity.size(activity.storage_read, units)} read."
    )


def _requests(activity: CharacterizationData, units: Units) -> Section | None:
    sizes = (bucket for stream in activity.streams for bucket in stream.request_sizes)
    figure = request.of_capture(request_classes(sizes), units)
    return Section("sizes", "How large its requests are", "", (figure,)) if figure else None


def _phases(activity: CharacterizationData, units: Units) -> Section | None:
    if not activity.phases:
        return None
    longest = sorted(activity.phases, key=lambda phase: phase.first_s - phase.last_s)
    shown = [phase for phase in activity.phases if phase in longest[:_MOST_PHASES]]
    titles = ("From", "Lasts", "What", "Written", "Read", "Rate", "Calls", "Who")
    columns = tuple(Column(title, index not in (2, 7)) for index, title in enumerate(titles))
    rows = tuple(_phase(phase, units) for phase in shown)
    rest = len(activity.phases) - len(shown)
    lead = f"{quantity.counted(rest, 'shorter phase')} are left out." if rest else ""
    return Section("phases", "Phase by phase", lead, (TableBlock("Phases", columns, rows),))


def _phase(phase: PhaseCharacterization, units: Units) -> tuple[str, ...]:
    length = phase.last_s - phase.first_s
    moved = phase.bytes_written + phase.bytes_read
    return (
        quantity.seconds(phase.first_s),
        quantity.seconds(length),
        _VERBS[phase.kind],
        quantity.size(phase.bytes_written, units) if phase.bytes_written else "–",
        quantity.size(phase.bytes_read, units) if phase.bytes_read else "–",
        quantity.rate(moved / length, units) if moved and length > 0 else "–",
        quantity.count(phase.operations),
        f"{phase.active} at work",
    )


def _proxy(characterization: Characterization) -> Section:
    title = "Its proxy: a workload that does the same"
    if characterization.proxy is None:
        text = f"None could be derived: {characterization.why_no_proxy}."
        return Section("proxy", title, "", (Paragraph(text, "fair"),))
    blocks: list[Block] = [
        Code("The workload (run it with venturi run)", characterization.proxy_text)
    ]
    origin = characterization.proxy.origin
    if origin is not None and origin.ior:
        blocks.append(Code("The same I/O as an IOR command", origin.ior, "sh"))
    if origin is not None and origin.assumed:
        text = "; ".join(entry.rstrip(".") for entry in origin.assumed)
        blocks.append(Paragraph(f"Assumed: {text}."))
    if origin is not None and origin.confidence:
        blocks.append(application.confidence_table(origin.confidence))
    return Section("proxy", title, "", tuple(blocks))


def _missed(activity: CharacterizationData) -> Section | None:
    is_counted = activity.basis is Basis.COUNTERS
    if not activity.left_out and not activity.gaps and not is_counted:
        return None
    lines = [Paragraph(f"{gap}.") for gap in activity.gaps]
    if is_counted:
        lines.append(Paragraph(_COUNTED))
    if activity.left_out:
        lines.append(
            Paragraph(
                f"{quantity.counted(activity.left_out, 'call')} on systems, libraries, standard "
                "streams and pipes, and by libraries for the calls above, are left out here."
            )
        )
    return Section("missed", "What is not shown", "", tuple(lines))
