"""The page of a system of IO500: what it is, how it was configured, and each of its results."""

from __future__ import annotations

from collections.abc import Mapping

from venturi.model.published import Check, Io500Result
from venturi.model.site import SystemPage
from venturi.report import quantity
from venturi.report.block import (
    Block,
    Chapter,
    Column,
    Facts,
    Headline,
    Note,
    Notes,
    Page,
    Section,
    TableBlock,
)
from venturi.report.character import bounded
from venturi.report.quantity import Units

_CHECKS = {Check.RIGHT: "right", Check.WRONG: "WRONG", Check.ABSENT: "absent"}
_PARTS = (("Clients", "client"), ("Metadata servers", "md"), ("Data servers", "ds"))
_ROWS = (
    ("Nodes", "nodes"),
    ("Processes", "total_procs"),
    ("Processes per node", "procs_per_node"),
    ("Storage devices", "storage_devices"),
    ("Storage type", "storage_type"),
    ("Storage interface", "storage_interface"),
    ("Memory", "volatile_memory_capacity"),
    ("Network", "network"),
    ("Software version", "software_version"),
    ("Operating system", "operating_system"),
    ("Operating system version", "operating_system_version"),
    ("Kernel version", "kernel_version"),
)
_WHOLE = (
    ("Storage vendor", "storage_vendor"),
    ("File system type", "filesystem_type"),
    ("File system name", "filesystem_name"),
    ("File system version", "filesystem_version"),
    ("Storage capacity", "storage_capacity"),
    ("Storage installed", "storage_install_date"),
    ("Storage refreshed", "storage_refresh_date"),
    ("Network of clients", "clients_interconnect_bandwidth"),
    ("Network of servers", "servers_interconnect_bandwidth"),
    ("Submitted", "submission_date"),
)
_QUESTIONS = (
    ("Purpose of the system", "system_purpose"),
    ("Availability", "availability"),
    ("Storage software", "storage_system_software"),
    ("Runtime environment", "runtime_environment"),
    ("Fault tolerance", "fault_tolerance_mechanisms"),
    ("Execution", "execution"),
    ("Caching", "caching"),
    ("Source of the data", "data_source"),
    ("Trust", "trust"),
)


def system_page(found: SystemPage, units: Units) -> Page:
    """One system: its summary, configuration, reproducibility, results and files."""
    newest = found.results[0]
    title = bounded(found.title)
    summary = _facts(
        (
            ("Institution", newest.institution),
            ("System", newest.system),
            ("Storage vendor", _first(found, "storage_vendor")),
            ("File system", newest.filesystem),
            ("Class", newest.classification),
        )
    )
    sections = [
        Section("summary", "Summary", "", (summary, _results(found))),
        *_configuration(found),
        *_reproducibility(found),
        *(_result(one, index, found) for index, one in enumerate(found.results)),
        *_files(found, units),
    ]
    best = max(found.results, key=lambda one: one.recomputed.score or 0.0)
    places = found.places.get(best.key, {})
    score = best.recomputed
    chapter = Chapter(
        name="system",
        title=title,
        headlines=tuple(
            Headline(name, quantity.number(value), detail)
            for name, value, detail in (
                ("Score", score.score, f"the best of {len(found.results)}"),
                ("Bandwidth", score.bw, "GiB/s"),
                ("Metadata", score.md, "kIOPS"),
            )
            if value is not None
        ),
        sections=tuple(sections),
        facts=" · ".join(f"{place} in {name}" for name, place in places.items()),
    )
    return Page(title, "", (chapter,))


def _first(found: SystemPage, field: str) -> str:
    """What the newest result that says something of a field says."""
    return next((value for one in found.results if (value := str(getattr(one, field)))), "")


def _facts(rows: tuple[tuple[str, str], ...]) -> Facts:
    """Those that are known."""
    return Facts(tuple((name, bounded(value)) for name, value in rows if value.strip()))


def _results(found: SystemPage) -> TableBlock:
    rows = tuple(
        (
            _name(one, index, found),
            bounded(one.release) or "–",
            str(one.nodes or "–"),
            str(one.procs or "–"),
            _number(one.recomputed.score) or "–",
            _number(one.recomputed.bw) or "–",
            _number(one.recomputed.md) or "–",
            ", ".join(f"{place} in {name}" for name, place in found.places.get(one.key, {}).items())
            or "–",
        )
        for index, one in enumerate(found.results)
    )
    titles = ("Result", "BoF", "Nodes", "Processes", "Score", "BW, GiB/s", "MD, kIOPS", "Places")
    columns = tuple(Column(title, title not in ("Result", "BoF", "Places")) for title in titles)
    return TableBlock("Results", columns, rows, stacked=True)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _name(one: Io500Result, index: int, found: SystemPage) -> str:
    """A result by its year, and by its number where several are of that year or none is known."""
    if one.year is None:
        return f"Result {index + 1}"
    same = sum(other.year == one.year for other in found.results)
    return f"Result of {one.year}" + (f", no. {index + 1}" if same > 1 else "")


def _configuration(found: SystemPage) -> list[Section]:
    """Every configuration that was described, newest first, and of which results."""
    results: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for index, one in enumerate(found.results):
        if one.configuration:
            known = tuple(sorted(one.configuration.items()))
            results.setdefault(known, []).append(_name(one, index, found))
    return [
        Section(
            f"configuration-{number}" if number else "configuration",
            "Configuration" if len(results) == 1 else f"Configuration: {names[0]}",
            f"As the submission says: {', '.join(names)}.",
            _configuration_blocks(dict(known)),
        )
        for number, (known, names) in enumerate(results.items())
    ]


def _configuration_blocks(known: Mapping[str, str]) -> tuple[Block, ...]:
    facts = _facts(tuple((title, known.get(name, "")) for title, name in _WHOLE))
    parts = [
        (title, part) for title, part in _PARTS if any(known.get(f"{part}_{n}") for _, n in _ROWS)
    ]
    rows = tuple(
        (title, *(bounded(known.get(f"{part}_{name}", "")) or "–" for _, part in parts))
        for title, name in _ROWS
        if any(known.get(f"{part}_{name}") for _, part in parts)
    )
    columns = (Column("Property"), *(Column(title) for title, _ in parts))
    table = [TableBlock("Clients and servers", columns, rows, stacked=True)] if rows else []
    return (*([facts] if facts.rows else []), *table)


def _reproducibility(found: SystemPage) -> list[Section]:
    """The level and the answers of each result that has any."""
    blocks: list[Block] = []
    for index, one in enumerate(found.results):
        answers = tuple((title, one.questionnaire.get(name, "")) for title, name in _QUESTIONS)
        facts = _facts((("Reproducibility", one.reproducibility), *answers))
        if facts.rows:
            blocks.append(Facts((("Of", _name(one, index, found)), *facts.rows)))
    lead = "The level that the list gives, and the answers to its questionnaire."
    return [Section("reproducibility", "Reproducibility", lead, tuple(blocks))] if blocks else []


def _files(found: SystemPage, units: Units) -> list[Section]:
    """The names of the files that were read, without what they hold."""
    rows = tuple(
        (
            bounded(file.name),
            _name(one, index, found),
            quantity.exact_size(file.bytes, units),
            bounded(file.sha256) or "–",
        )
        for index, one in enumerate(found.results)
        for file in one.files
    )
    if not rows:
        return []
    columns = (Column("File"), Column("Of"), Column("Size", True), Column("SHA-256"))
    table = TableBlock("Files that were read", columns, rows, stacked=True)
    lead = "Names, sizes and digests of what the import read; what is in the files is not here."
    return [Section("files", "Files", lead, (table,))]


def _result(result: Io500Result, index: int, found: SystemPage) -> Section:
    """One result: its phases, and whether its numbers hold."""
    rows = tuple(
        (
            bounded(phase.name),
            quantity.number(phase.value),
            phase.unit,
            "–" if phase.seconds is None else quantity.seconds(phase.seconds),
            "INVALID" if phase.invalid else "scored" if phase.scored else "not scored",
        )
        for phase in result.phases
    )
    titles = ("Phase", "Value", "Unit", "Time", "Counts")
    columns = tuple(Column(title, title in ("Value", "Time")) for title in titles)
    checks = Facts(
        (
            ("Published scores", "follow from the phases" if result.match else "do NOT follow"),
            ("Hash of the score", _CHECKS[result.score_hash]),
            ("Hash of the configuration", _CHECKS[result.config_hash]),
            ("Version", bounded(result.version) or "not said"),
            ("Mode", result.mode),
            ("Known by", bounded(result.key)),
        )
    )
    blocks: list[Block] = [TableBlock("Phases", columns, rows, stacked=True)] if rows else []
    if result.flags:
        notes = tuple(
            Note("not ranked" if flag.excludes else "note", "bad" if flag.excludes else "fair",
                 bounded(flag.id), (("", bounded(flag.what)),))
            for flag in result.flags
        )  # fmt: skip
        blocks.append(Notes(notes))
    return Section(f"result-{index}", _name(result, index, found), "", (checks, *blocks))
