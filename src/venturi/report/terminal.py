"""What commands print when they are done: tables of at most 80 columns, and the next command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from venturi.model.record import Level, Record
from venturi.model.verdict import Outcome
from venturi.model.workload import Finding, Severity, Workload
from venturi.report import application, caveat, coverage, quantity, reference, server, verdict
from venturi.report.block import TableBlock
from venturi.report.figure.arrival import arrivals_of
from venturi.report.figure.balance import slowest
from venturi.report.phase import PhaseSummary, interval_title, named, phases, with_coverage
from venturi.report.printer import Printer
from venturi.report.quantity import Units

if TYPE_CHECKING:
    from rich.console import Console

_LEVEL_STYLES = {
    Level.VALID: "bold green",
    Level.INDICATIVE: "bold yellow",
    Level.INVALID: "bold red",
}
_OUTCOME_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.FAIL: "bold red",
    Outcome.UNDECIDED: "bold yellow",
}
_SEVERITY_STYLES = {
    Severity.HIGH: "bold red",
    Severity.MEDIUM: "bold yellow",
    Severity.LOW: "bold",
    Severity.NOTE: "bold",
}
_UNSTEADY = 0.25
_UNBALANCED = 0.2
_FAR_OFF = 0.3
_MOST_NAMES = 6


def notes(phase: PhaseSummary) -> str:
    """What a reader of one row should know, most severe first; empty if all is well."""
    found = []
    errors = sum(sample.errors for sample in phase.samples)
    if errors:
        found.append(quantity.counted(errors, "error"))
    stopped = phase.words("stopped_by")
    if stopped != "work":
        found.append(f"ended by {stopped}")
    rate = phase.rate
    if rate.median > 0 and (rate.most - rate.least) / rate.median > _UNSTEADY:
        far = max(range(rate.n), key=lambda i: abs(phase.rates[i] - rate.median))
        off = phase.rates[far] / rate.median - 1
        if abs(off) > _FAR_OFF:
            found.append(f"rep {phase.samples[far].repetition + 1} {quantity.signed_percent(off)}")
        else:
            found.append("unsteady")
    arrivals = arrivals_of(phase)
    if arrivals is not None and not arrivals.kept:
        found.append(
            f"asked for {quantity.operation_rate(arrivals.wanted_per_s)}, achieved "
            f"{quantity.operation_rate(arrivals.achieved_per_s)}"
        )
    ranks = phase.median_sample.ranks()
    if len(ranks.busy_s) > 1:
        at, excess = slowest(ranks)
        if excess > _UNBALANCED:
            found.append(f"slow: rank {at}")
    found += [server.sentence(slow) for slow in server.slow_in(phase)]
    return ", ".join(found)


def print_summary(
    record: Record, console: Console, units: Units = Units.IEC, saved: str | None = None
) -> None:
    """The end of a run: phases, verdict, where it is kept (`saved`) and what to do next."""
    out = Printer(console)
    ranks = quantity.counted(record.ranks, "rank")
    out.line((f" {record.name}", "bold"), f"   {ranks}   {caveat.place(record)}")
    out.line()
    rows = []
    shown = [phase for phase in phases(record) if not phase.measures_machine]
    repeated = [phase.rate.coverage for phase in shown if phase.has_interval]
    for phase in shown:
        rate = phase.rate
        bounds = phase.bounds(rate.low, rate.high, units, " .. ")
        extremes = phase.bounds(rate.least, rate.most, units, " .. ")
        rows.append(
            (
                phase.title,
                "-" if phase.idle else phase.text(rate.median, units),
                with_coverage(bounds, rate.coverage) if phase.has_interval else "-",
                extremes if phase.has_interval else "-",
                caveat.flushed(phase) if phase.kinds & {"write", "create"} else "-",
            )
        )
    titles = ("PHASE", "MEDIAN", interval_title(repeated).upper(), "MIN..MAX", "FLUSHED")
    if rows:
        out.table(titles, rows, left=("FLUSHED",))
        for phase in shown:
            if text := notes(phase):
                out.wrapped("NOTE ", f"{phase.title}: {text}")
        out.line()
    _print_metrics(record, out, units)
    _print_published(record, out, units)
    _print_verdict(record, out)
    if saved is not None:
        out.unbroken(" saved   ", saved)
    out.line((" report  ", "dim"), f"venturi report {record.id}")
    out.line((" show    ", "dim"), f"venturi results show {record.id}")


def _print_metrics(record: Record, out: Printer, units: Units) -> None:
    """The workload's own metrics; the rates of its phases stand above."""
    rates = {row.path for row in record.phases}
    own = {name: entry for name, entry in record.metrics.items() if name not in rates}
    if not own:
        return
    rows = []
    for name, entry in own.items():
        low, high = (quantity.with_unit(v, entry.unit, units) for v in (entry.low, entry.high))
        interval = "-" if entry.n < 2 else with_coverage(f"{low} .. {high}", entry.coverage)
        labels = [label for label in entry.labels if label not in record.run_labels]
        median = quantity.with_unit(entry.median, entry.unit, units)
        rows.append((named(name, labels), median, interval))
    title = interval_title(entry.coverage for entry in own.values() if entry.n > 1)
    out.table(("METRIC", "MEDIAN", title.upper()), rows)
    out.line()


def _print_published(record: Record, out: Printer, units: Units) -> None:
    """The workload's references with our values beside them."""
    for each in reference.published(record, units):
        out.line((f" {each.title}", "bold"))
        columns = list(zip((t.upper() for t in each.titles), *each.rows, strict=True))
        is_long = not out.fits(columns)
        if is_long:  # sentences go to the right edge, where they wrap
            columns.sort(key=lambda column: column[0] == "PUBLISHED")
        titles, *rows = zip(*columns, strict=True)
        left = ("CASE", "UNIT", *(("PUBLISHED",) if is_long else ()))
        out.table(titles, rows, left=left, prose=is_long)
        for text in (each.foot, *each.caveats):
            out.wrapped("- ", text)
        out.line()


def _print_verdict(record: Record, out: Printer) -> None:
    level = record.verdict.level
    asked = quantity.counted(record.repetitions_asked, "repetition")
    done = f"{record.repetitions} of {asked}"
    out.line((f" {level.value}", _LEVEL_STYLES[level]), f"   {done}")
    if record.enough:
        out.wrapped("- repetitions: ", record.enough)
    for reason in record.verdict.reasons:
        out.wrapped("- ", reason)
    if record.run_labels:
        out.wrapped("- all numbers: ", ", ".join(record.run_labels))
    for text in (*verdict.use_sentences(record), *record.verdict.notes):
        out.wrapped("- ", text)
    for outcome, text in verdict.threshold_sentences(record):
        out.wrapped(f"{outcome.value:<9} ", text, _OUTCOME_STYLES[outcome])
    for warning in record.warnings:
        out.wrapped("- warning: ", warning)
    if record.left:
        command = record.left_command or "remove them by hand"
        out.wrapped(
            "- ", f"{quantity.counted(len(record.left), 'file')} of the run still there: {command}"
        )
    out.line()


def print_workload_plan(
    summary: Mapping[str, Any], console: Console, units: Units = Units.IEC
) -> None:
    """A plan's totals (`venturi.plan-summary/1`) and whether the workload's promises hold."""
    out = Printer(console)
    totals = summary["totals"]
    out.line((f" {summary['name']}", "bold"), f"   {quantity.counted(summary['ranks'], 'rank')}")
    if len(groups := summary.get("groups", [])) > 1:
        out.wrapped(" ", _groups_text(groups))
    out.line()
    rows = [
        (
            "written",
            quantity.size(totals["bytes_written"], units),
            f"{quantity.count(totals['bytes_written'])} B",
        ),
        (
            "read",
            quantity.size(totals["bytes_read"], units),
            f"{quantity.count(totals['bytes_read'])} B",
        ),
        ("files", quantity.count(totals["files"]), ""),
        ("operations", quantity.count(totals["operations"]), ""),
    ]
    kinds = totals.get("operations_by_kind", {})
    rows += [(f"  {kind}", quantity.count(n), "") for kind, n in kinds.items() if n]
    limits = summary.get("limits", [])
    out.table(("ONE REPETITION", "TOTAL", "AT MOST" if limits else "EXACTLY"), rows)
    out.line()
    if limits:
        out.wrapped(" ", _limits_text(limits))
    out.wrapped(" ", _time_text(summary))
    expected = summary.get("expect", [])
    if expected:
        out.line()
        checks = [
            (
                entry["name"],
                quantity.with_unit(entry["expected"], ""),
                quantity.with_unit(entry["planned"], ""),
                "holds" if entry["holds"] else "DIFFERS",
            )
            for entry in expected
        ]
        out.table(("EXPECTED", "VALUE", "PLANNED", ""), checks)
    for entry in summary.get("substituted", []):
        out.wrapped("- ", f"{entry['file']}: {entry['used']} stands in for {entry['wanted']}")
    for warning in summary.get("warnings", []):
        out.wrapped("- warning: ", warning)


def _groups_text(groups: Sequence[Mapping[str, Any]]) -> str:
    """How the ranks are shared: `member 4, product 3 instances of 2`."""
    parts = []
    for group in groups:
        ranks, instances = str(group["ranks"]), group["instances"]
        parts.append(
            f"{group['name']} {ranks if instances == 1 else f'{instances} instances of {ranks}'}"
        )
    return f"Groups and their ranks: {', '.join(parts)}"


def _limits_text(limits: Sequence[Mapping[str, Any]]) -> str:
    """Which phases end before all is done, if their time is over."""
    by_time: dict[float, list[str]] = {}
    for entry in limits:
        by_time.setdefault(entry["seconds"], []).append(entry["phase"])
    parts = []
    for limit_s, names in by_time.items():
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        parts.append(f"{', '.join(names[:_MOST_NAMES])}{more} after {quantity.seconds(limit_s)}")
    return f"Ended by time, done or not: {'; '.join(parts)}"


def _time_text(summary: Mapping[str, Any]) -> str:
    """How long all repetitions take, as far as that is known without doing them."""
    time = summary.get("time", {})
    computing = quantity.seconds(time.get("computing_s") or 0.0)
    least = time.get("io_at_least_s")
    known = "time unknown (no bounds in the machine file)"
    if least is not None:
        known = f"at least {quantity.seconds(least)}"
    repetitions = quantity.counted(summary.get("repetitions", 1), "repetition")
    return f"{repetitions}: computing {computing}, I/O {known}"


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """What an application does badly, the costliest first, with evidence and advice."""
    out = Printer(console)
    if not findings:
        out.line(" Nothing in the log looks costly by the rules that are checked.")
        return
    order = list(Severity)
    for finding in sorted(findings, key=lambda entry: order.index(entry.severity)):
        style = _SEVERITY_STYLES[finding.severity]
        out.wrapped(f"{finding.severity.value.upper():<7}", finding.what, style)
        out.wrapped("        seen: ", finding.evidence)
        out.wrapped("        try:  ", finding.advice)


def _streams(table: TableBlock, out: Printer) -> None:
    """A column for each stream, or a paragraph where they do not fit beside each other."""
    titles = [column.title.upper() for column in table.columns]
    columns = list(zip(titles, *table.rows, strict=True))
    if out.fits(columns):
        out.table(titles, table.rows, left=titles)
        return
    stand_in_columns = not titles[0]
    names, *streams = columns if stand_in_columns else [titles, *table.rows]
    width = max(len(stream[0]) for stream in streams)
    for title, *values in streams:
        told = zip(names[1:], values, strict=True)
        said = [(n.lower(), v.replace("; ", " / ")) for n, v in told if v != application.NOTHING]
        out.wrapped(f"{title:<{width}}  ", "; ".join(map(" ".join, said)), "bold")


def print_derived(workload: Workload, console: Console, units: Units = Units.IEC) -> None:
    """What was derived from a log: streams, coverage, the IOR line and the findings."""
    out = Printer(console)
    origin = workload.origin
    if origin is None:
        out.line((f" {workload.name}", "bold"), "   nothing is known of its origin")
        return
    out.line((f" {workload.name}", "bold"), f"   from {origin.source}")
    observed = origin.observed
    if observed is not None:
        out.wrapped(
            "",
            f"{quantity.counted(observed.ranks, 'rank')}, "
            f"{quantity.size(observed.bytes_written, units)} written, "
            f"{quantity.size(observed.bytes_read, units)} read",
        )
        out.wrapped("reproduced: ", coverage.reproduced_text(origin))
        for title, text in coverage.left_out_texts(observed, units):
            out.wrapped("", f"{title.lower()}: {text}")
    table = application.stream_table(origin.confidence)
    if table is not None:
        out.line()
        _streams(table, out)
    if unseen := application.blind_spots(origin.confidence):
        out.wrapped("", unseen)
    out.line()
    if origin.ior:
        out.line((" ior  ", "dim"), origin.ior)
        out.line()
    for text in origin.assumed:
        out.wrapped("assumed: ", text)
    print_findings(origin.findings, console)
