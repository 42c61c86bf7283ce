"""Our logs against the truth: one table, written from what ran and never by running derive."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from darshan_log import OURS, PROJECT, trace_of
from outside_data import data_folder
from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.expression import Literal, tree_of
from venturi.model.workload import Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import make_plan
from venturi.plan.setting import RunSettings
from venturi.sources.open import read

TABLE = yaml.safe_load((PROJECT / "tests" / "derive" / "expected.yaml").read_text())
NEWEST = [
    "h5slab",
    "ior_hdf5_coll",
    "ior_mpiio_coll",
    "ior_ncmpi_coll",
    "ior_random_z",
    "ior_shared_seg",
    "mdtest_3901",
    "miniapp",
]
"""Runs that were captured with Darshan's main branch too."""


def test_the_table_names_every_log() -> None:
    assert sorted(TABLE["logs"]) == OURS


@pytest.mark.parametrize("name", OURS)
def test_fields_are_what_ran(name: str) -> None:
    check(derive(trace_of(name), name), TABLE["logs"][name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", NEWEST)
def test_logs_of_the_newest_darshan_give_the_same(name: str) -> None:
    path = data_folder(f"darshan/ours-newest/{name}/{name}.darshan")
    check(derive(read(path), name), TABLE["logs"][name])


def check(workload: Workload, expected: dict[str, Any]) -> None:
    """Compares a derived workload with one entry of the table, field by field."""
    assert workload.origin is not None
    assert workload.origin.ior == expected["ior"]
    found = {(c.stream, c.field): c.value for c in workload.origin.confidence}
    blind = {c.field for c in workload.origin.confidence if c.stream == "all"}
    assert blind == set(TABLE["unknown_everywhere"])
    assert all(found["all", field] == "unknown" for field in blind)
    streams = {c.stream for c in workload.origin.confidence} - {"all"}
    assert len(streams) == len(expected["streams"]) == len(workload.files)
    for number, truth in enumerate(expected["streams"], start=1):
        check_stream(found, f"stream{number}", truth)
    prestaged = any(spec.prestage is not None for spec in workload.files.values())
    assert prestaged == expected.get("prestaged", False)


def check_stream(found: dict[tuple[str, str], str], stream: str, truth: dict[str, Any]) -> None:
    """One stream: fields that hold for it, then those of each direction."""
    for field, value in truth.items():
        if field not in ("write", "read"):
            assert found[stream, field] == value, (stream, field)
    for direction in ("write", "read"):
        for field, value in truth.get(direction, {}).items():
            if field == "volume":
                parts = [of_direction(found, stream, direction, f) for f in ("block", "segments")]
                assert size(parts[0]) * int(parts[1]) == value, (stream, direction, field)
            else:
                assert of_direction(found, stream, direction, field) == value, (stream, direction)


def of_direction(found: dict[tuple[str, str], str], stream: str, direction: str, field: str) -> str:
    """A field of one direction; both share an entry where they agree."""
    own = found.get((stream, f"{direction}.{field}"))
    return own if own is not None else found[stream, field]


def size(text: str) -> int:
    """Bytes of a size as the documents print it."""
    tree = tree_of(text)
    assert isinstance(tree, Literal)
    return int(tree.value)


@pytest.mark.parametrize("name", OURS)
def test_the_plan_moves_what_the_log_counted(name: str) -> None:
    workload = derive(trace_of(name), name)
    check_totals(workload)


def check_totals(workload: Workload) -> None:
    """Bytes, requests and their sizes of one repetition against what was observed."""
    assert workload.origin is not None
    observed = workload.origin.observed
    assert observed is not None
    totals = make_plan(workload, RunSettings(most_ranks=10**6)).totals
    assert totals.bytes_written == observed.bytes_written
    assert totals.bytes_read == observed.bytes_read
    for kind in ("write", "read"):
        assert totals.operations[kind] == observed.operations.get(kind, 0)


@pytest.mark.parametrize("name", OURS)
def test_request_sizes_are_those_of_the_log(name: str) -> None:
    workload = derive(trace_of(name), name)
    assert workload.origin is not None
    assert workload.origin.observed is not None
    totals = make_plan(workload, RunSettings()).totals
    edges = [bucket.up_to_bytes for bucket in workload.origin.observed.request_sizes]
    planned = {(kind, edge): 0 for kind in ("write", "read") for edge in edges}
    for (kind, bytes_), count in totals.sizes.items():
        planned[str(kind), min(edge for edge in edges if bytes_ <= edge)] += count
    for bucket in workload.origin.observed.request_sizes:
        assert planned["write", bucket.up_to_bytes] == bucket.writes
        assert planned["read", bucket.up_to_bytes] == bucket.reads


@pytest.mark.parametrize("name", OURS)
def test_opens_are_those_of_the_log(name: str) -> None:
    """Where POSIX is the application's layer, and but for what a proxy cannot leave out."""
    workload = derive(trace_of(name), name)
    assert workload.origin is not None
    assert workload.origin.observed is not None
    counted = workload.origin.observed.operations.get("open")
    if counted is None:
        assert all(
            s.interface.value in ("mpiio", "hdf5", "pnetcdf") for s in workload.files.values()
        )
        return
    operations = make_plan(workload, RunSettings()).totals.operations
    planned = operations["open"] + operations["create"]
    more = {
        "miniapp": 1,  # one rank makes the shared input, in the proxy both open it
        "serial_app": 1,  # the file stays open between writing and reading
    }
    assert planned - counted == more.get(name, 0)


@pytest.mark.parametrize("name", OURS)
def test_documents_survive_json_and_yaml(name: str) -> None:
    workload = derive(trace_of(name), name)
    assert Workload.model_validate_json(workload.to_json()) == workload
    text = to_yaml(workload)
    assert parse_yaml(text, name, Workload) == workload
    assert max(len(line) for line in text.splitlines()) <= 170


@pytest.mark.parametrize("name", OURS)
def test_simple_workloads_are_short(name: str) -> None:
    """What people read, before the table of confidence, fits on one screen."""
    text = to_yaml(derive(trace_of(name), name))
    head = text[: text.index("origin:")].splitlines()
    assert len(head) <= 50


def test_the_stored_command_line_tells_derive_nothing() -> None:
    """Pages show it; a proxy comes of what was done."""
    for name in OURS:
        trace = trace_of(name)
        assert trace.job.command
        job = trace.job.model_copy(update={"command": "ior -t 3m -b 7m", "number": "77"})
        other = derive(trace.model_copy(update={"job": job}), name)
        assert to_yaml(other) == to_yaml(derive(trace, name))
        assert trace.job.command not in to_yaml(other)


def test_miniapp_is_told_as_it_is() -> None:
    """Checkpoints one after the other, a log of rank 0, an input that one rank writes."""
    text = to_yaml(derive(trace_of("miniapp"), "miniapp"))
    assert "- for: k\n      in: 3\n" in text
    assert 'when: "rank == 0"' in text
    assert 'size: "4 MiB if rank == 0 else 0"' in text
    assert "pattern: strided, transfer: 64 KiB, count: 32" in text


def test_findings_have_evidence() -> None:
    found: dict[str, list[str]] = {}
    for name in OURS:
        origin = derive(trace_of(name), name).origin
        assert origin is not None
        assert all(any(c.isdigit() for c in f.evidence) and f.advice for f in origin.findings)
        found[name] = [finding.id for finding in origin.findings]
    assert "sync-each-write" in found["ior_fsync_each"]
    assert "random-access" in found["ior_random_z"]
    assert "random-access" in found["ior_random_zz_read"]
    assert {"misaligned", "shared-file-contention"} <= set(found["ior_hard_47008"])
    assert "no-collective" in found["ior_mpiio_indep"]
    assert "no-collective" not in found["ior_mpiio_coll"]
    assert "metadata-heavy" in found["mdtest_3901"]
    assert "metadata-heavy" in found["mdtest_empty_dirs"]
    assert "imbalance" in found["miniapp"]
    assert found["ior_small_4k"] == ["small-requests"]
    assert found["h5slab"] == ["amplification", "misaligned"]
    assert found["ior_fpp_1m"] == []
