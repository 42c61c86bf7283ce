"""Where a result was measured, and how it was made."""

from __future__ import annotations

import json
import shlex
from typing import Any

from pydantic import ValidationError

from venturi.model.record import Record
from venturi.model.workload import Workload
from venturi.report import quantity
from venturi.report.block import Block, Code, Facts, Paragraph, Section
from venturi.report.quantity import Units


def environment(record: Record, units: Units) -> Section:
    """Host, file system, clock and versions."""
    here = record.environment
    files, clock = here.file_system, here.clock
    hosts = f"{here.host}" if len(here.hosts) < 2 else f"{len(here.hosts)} nodes, {here.host} first"
    offset = ""
    if len(here.hosts) > 1:
        offset = f", nodes agree within {quantity.seconds(clock.offset_uncertainty_s)}"
    rows = [
        ("Host", hosts),
        ("Processor", f"{here.cpu}, {quantity.counted(here.cores, 'core')}"),
        ("Memory", quantity.size(here.memory_bytes, units)),
        ("Load before the run", quantity.number(here.load_average)),
        ("System", f"{here.system}, kernel {here.kernel}"),
        ("Directory", here.directory),
        ("File system", f"{files.type} on {files.mount} from {files.source}"),
        ("Mount options", files.options or "–"),
        (
            "Space",
            f"{quantity.size(files.free_bytes, units)} free of "
            f"{quantity.size(files.total_bytes, units)}"
            + (f", {quantity.count(files.free_inodes)} free inodes" if files.free_inodes else ""),
        ),
        ("Ranks run as", here.comm),
        (
            "Clock",
            f"{clock.source}, resolution {quantity.number(clock.resolution_ns)} ns, reading it "
            f"costs {quantity.number(clock.overhead_ns)} ns{offset}",
        ),
        ("Versions", f"Venturi {here.venturi}, engine {here.engine}, Python {here.python}"),
    ]
    blocks: list[Block] = [Facts(tuple(rows))]
    if here.variables:
        text = "\n".join(f"{name}={value}" for name, value in sorted(here.variables.items()))
        blocks.append(Code("Environment variables that steer I/O", text, folded=True))
    return Section("environment", "Where it was measured", "", tuple(blocks))


def _lean(data: Any) -> Any:
    """Without nulls and empty parts, which say nothing."""
    if isinstance(data, dict):
        lean = {key: _lean(value) for key, value in data.items()}
        return {key: value for key, value in lean.items() if value not in (None, {}, [], "")}
    if isinstance(data, list):
        return [_lean(value) for value in data]
    return data


def workload_yaml(workload: dict[str, Any]) -> str:
    """The workload as YAML, without defaults and without its origin, which has its own place."""
    import yaml

    data = {key: value for key, value in workload.items() if key != "origin"}
    try:
        parsed = Workload.model_validate_json(json.dumps(data))
        version = {"workload": parsed.workload}
        data = version | parsed.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    except ValidationError:
        data = _lean(data)
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=96)
    return text


def _utc(text: str) -> str:
    """An ISO 8601 time of UTC as people write it."""
    return f"{text.removesuffix('Z').removesuffix('+00:00').replace('T', ' ')} UTC"


def making(record: Record) -> Section:
    """Command, id, seed, repetitions, parameters and the workload itself."""
    done = f"{record.repetitions} of {record.repetitions_asked}"
    done += f": {record.enough}" if record.enough else ""
    parameters = ", ".join(f"{name} = {value}" for name, value in record.parameters.items())
    rows = (
        ("Run", record.id),
        ("Started", _utc(record.started)),
        ("Ranks", quantity.count(record.ranks)),
        ("Repetitions", done),
        ("Seed", str(record.seed)),
        ("Parameters", parameters or "none"),
    )
    return Section(
        "making",
        "How it was made",
        "",
        (
            Code("Command", shlex.join(record.command), "sh"),
            Facts(rows),
            Paragraph(
                "A rate is bytes divided by the time from the first rank's start to the last "
                "rank's end. The interval bounds the median by order statistics and assumes no "
                "distribution; with fewer than six repetitions it cannot reach 95 %."
            ),
            Code("The workload as it was run", workload_yaml(record.workload), "yaml", folded=True),
        ),
    )
