"""Where a result was measured, and how it was made."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from venturi.model.host_sample import HostSample
from venturi.model.record import Record
from venturi.model.storage_layout import StorageLayout
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
        *_during(record, units),
        *_layout(here.layout, units),
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


def _during(record: Record, units: Units) -> list[tuple[str, str]]:
    """What changed between the first and the last look at the host."""
    samples = record.host_samples
    if len(samples) < 2:
        return []
    rows = []
    loads = [one.load_average for one in samples if one.load_average is not None]
    if loads:
        first, most, last = (quantity.number(load) for load in (loads[0], max(loads), loads[-1]))
        rows.append(("Load during the run", f"{first} first, {most} at most, {last} at the end"))
    free = [one.free_bytes for one in samples if one.free_bytes is not None]
    if free:
        least, last = (quantity.size(each, units) for each in (min(free), free[-1]))
        rows.append(("Space during the run", f"{least} free at least, {last} at the end"))
    if clock := _wall_clock(samples):
        rows.append(("Wall clock", clock))
    return rows


def _wall_clock(samples: Sequence[HostSample]) -> str:
    """Whether the clock was disciplined all the time, and how far off it may have been."""
    known = [one for one in samples if one.clock_synchronized is not None]
    if not known:
        return ""
    kept = sum(bool(one.clock_synchronized) for one in known)
    words = {len(known): "disciplined", 0: "not disciplined by anybody"}
    text = words.get(kept, f"disciplined in {kept} of {len(known)} looks")
    if kept:
        error = max(one.clock_error_s or 0.0 for one in known if one.clock_synchronized)
        text += f", at most {quantity.seconds(error)} off by the kernel's estimate"
    stepped = samples[-1].clock_step_s
    return text + (f", stepped by {quantity.seconds(stepped)}" if stepped else ", not stepped")


def _layout(layout: StorageLayout | None, units: Units) -> list[tuple[str, str]]:
    """Stripes and quota, where the file system says so."""
    if layout is None:
        return []
    rows = [
        ("Layout of new files", ", ".join(f"{name} {value}" for name, value in part.items()))
        for part in layout.parts
    ]
    for one in layout.quotas:
        limit = (
            "no limit" if one.limit_bytes is None else f"of {quantity.size(one.limit_bytes, units)}"
        )
        text = f"{quantity.size(one.used_bytes, units)} used, {limit}"
        if one.used_files is not None:
            most = "" if one.limit_files is None else f" of {quantity.count(one.limit_files)}"
            text += f"; {quantity.count(one.used_files)}{most} files"
        rows.append((f"Quota of {one.whose}", text))
    if layout.remarks:
        rows.append(("Not known of the layout", "; ".join(layout.remarks)))
    return rows


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
