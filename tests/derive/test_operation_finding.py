"""Findings from operations: each fires on the program that does it, and not on its opposite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capture_factory import (
    ENOENT,
    MIB,
    O_APPEND,
    O_CREAT,
    O_TRUNC,
    O_WRONLY,
    CaptureFactory,
    shared_file,
)
from venturi.derive.finding import findings_of, merged, once, operation_findings
from venturi.model.operation import Kind
from venturi.model.trace import Layer
from venturi.model.workload import Audience, Finding, Severity

Program = Callable[[bool], CaptureFactory]


def small_requests(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    size = 4096 if bad else 4 * MIB
    made.run(0, Kind.WRITE, "/s/f", size, 200, s=0.01)
    return made


def stdio_bulk(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    layer = Layer.STDIO if bad else Layer.POSIX
    made.run(0, Kind.WRITE, "/s/f.txt", 4096, 200, s=0.01, layer=layer)
    return made


def sync_each_write(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(50):
        made.call(0, Kind.WRITE, "/s/log", 200, i * 200)
        if bad or i == 49:
            made.call(0, Kind.DATA_SYNC, "/s/log", s=0.02)
    return made


def sync_time(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(40):
        made.call(0, Kind.WRITE, "/s/f", MIB, i * MIB, s=0.01)
        if i % 10 == 9:
            made.call(0, Kind.SYNC, "/s/f", s=0.5 if bad else 0.001)
    return made


def read_modify_write(bad: bool) -> CaptureFactory:
    made = CaptureFactory(2)
    for rank in range(2):
        made.run(rank, Kind.WRITE, "/s/f", 1000, 50, first=rank * 500, layer=Layer.MPIIO, s=0.02)
    for i in range(4):
        if bad:
            made.call(0, Kind.READ, "/s/f", MIB, i * MIB, s=0.1)
        made.call(0, Kind.WRITE, "/s/f", MIB, i * MIB, s=0.1)
    return made


def no_collective(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        made.run(
            rank,
            Kind.WRITE,
            "/s/f",
            65536,
            50,
            first=rank * 50 * 65536,
            layer=Layer.MPIIO,
            detail=0 if bad else 1,
            s=0.01,
        )
    return made


def chunk_cuts(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    made.file("/s/f.h5")
    made.file("field", within=0, shape=[1000, 1000], element_bytes=8, chunk=[100, 100])
    corners = [(at // 10 * 100_000 + at % 10 * 100) * 8 for at in range(100)]
    # Ten rows are as many bytes as a chunk, but lie in ten of them.
    for begin in range(0, 8_000_000, 80_000) if bad else corners:
        made.call(0, Kind.READ, "field", 80_000, begin, layer=Layer.HDF5_DATASET, s=0.01)
    # Without a cache each chunk is read again for each of the rows that cut it.
    made.run(0, Kind.READ, "/s/f.h5", 80000, 1000 if bad else 100, s=1e-4)
    return made


def too_many_seeks(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(200):
        for _ in range(3 if bad else 1):
            made.call(0, Kind.SEEK, "/s/f", offset=i * MIB)
        made.call(0, Kind.READ, "/s/f", MIB, i * MIB)
    return made


def misaligned(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    made.run(0, Kind.WRITE, "/s/f", 12288, 100, first=512 if bad else 0, s=0.01)
    return made


def random_access(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(200):
        place = (i * 7919 % 200 if bad else i) * 65536
        made.call(0, Kind.READ, "/s/f", 65536, place, s=0.01)
    return made


def shared_file_contention(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        first, stride = (rank * 47008, 4 * 47008) if bad else (rank * 100 * 47008, 47008)
        made.run(rank, Kind.WRITE, "/s/f", 47008, 100, first=first, stride=stride, s=0.01)
    return made


def append_contention(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        name = "/s/log" if bad else f"/s/log.{rank}"
        made.call(rank, Kind.OPEN, name, detail=O_WRONLY | O_APPEND)
        made.run(rank, Kind.WRITE, name, 100, 100, first=rank * 10000, s=0.01)
    return made


def redundant_reads(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        first = 0 if bad else rank * 20 * MIB
        made.run(rank, Kind.READ, "/s/table", MIB, 20, first=first, s=0.05)
    return made


def redundant_writes(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(5):
        made.run(0, Kind.WRITE, "/s/state", MIB, 20, first=0 if bad else i * 20 * MIB, s=0.01)
    return made


def folder_walk(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(20):
        made.call(0, Kind.LIST, f"/s/d{i}", 12, s=0.01)
        for j in range(10):
            made.call(0, Kind.STAT, f"/s/d{i}/f{j}", s=0.001)
            if not bad:
                made.whole(0, Kind.READ, f"/s/d{i}/f{j}", MIB, 1)
    return made


def read_write_switches(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(100):
        made.call(0, Kind.READ, "/s/f", 4096, i * 4096, s=0.01)
        if bad:
            made.call(0, Kind.WRITE, "/s/f", 4096, i * 4096, s=0.01)
    if not bad:
        made.run(0, Kind.WRITE, "/s/f", 4096, 100, s=0.01)
    return made


def write_then_truncate(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for _ in range(2 if bad else 1):
        made.call(0, Kind.OPEN, "/s/f", detail=O_WRONLY | O_CREAT | O_TRUNC)
        made.run(0, Kind.WRITE, "/s/f", MIB, 50, s=0.01)
    return made


def temporary_files(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    made.whole(0, Kind.WRITE, "/s/tmp", MIB, 50, s=0.01)
    made.whole(0, Kind.READ, "/s/tmp", MIB, 50, s=0.01)
    if bad:
        made.call(0, Kind.UNLINK, "/s/tmp")
    return made


def too_many_opens(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(100):
        made.whole(0, Kind.READ, "/s/config" if bad else f"/s/config{i}", 4096, 1, s=0.01)
    return made


def repeated_stats(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(200):
        made.call(0, Kind.STAT, "/s/done" if bad else f"/s/done{i}", s=0.005)
    return made


def metadata_heavy(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    made.call(0, Kind.OPEN, "/s/f", s=5.0 if bad else 0.01)
    made.run(0, Kind.WRITE, "/s/f", 4 * MIB, 20, s=0.1)
    return made


def tiny_files(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(200):
        made.whole(0, Kind.READ, f"/s/image{i}", 20000 if bad else MIB, 1, s=0.005)
    return made


def file_per_process(bad: bool) -> CaptureFactory:
    made = CaptureFactory(600)
    for rank in range(600):
        name = f"/s/f.{rank}" if bad else "/s/f"
        made.call(rank, Kind.OPEN, name, s=0.5)
        made.call(rank, Kind.WRITE, name, 4 * MIB, rank * 4 * MIB)
    return made


def import_storm(bad: bool) -> CaptureFactory:
    made = CaptureFactory(2)
    for rank in range(2):
        for i in range(400):
            name = f"/home/u/venv/lib/python3.11/site-packages/m{i}/__init__.py"
            name = name if bad else f"/home/u/part{i}"
            made.call(rank, Kind.STAT, name, error=ENOENT if i % 2 else 0)
            made.call(rank, Kind.OPEN, name)
    return made


def failed_lookups(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(300):
        made.call(0, Kind.OPEN, f"/home/u/a{i % 9}/part{i}", error=ENOENT if bad else 0)
    return made


def imbalance(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 40 if bad and rank == 0 else 10, s=0.1)
    return made


def straggler(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        s = 0.5 if bad and rank == 2 else 0.1
        made.run(rank, Kind.WRITE, f"/s/f{rank}", 4 * MIB, 10, s=s)
    return made


def slow_file(bad: bool) -> CaptureFactory:
    made = CaptureFactory(1)
    for i in range(8):
        made.run(0, Kind.WRITE, f"/s/part{i}", 4 * MIB, 10, s=0.3 if bad and i == 5 else 0.05)
    return made


def serial_io(bad: bool) -> CaptureFactory:
    made = CaptureFactory(4)
    for rank in range(4):
        made.run(0 if bad else rank, Kind.READ, "/s/in", MIB, 20, first=rank * 20 * MIB, s=0.05)
    made.pause(1.0)
    for rank in range(4):
        made.run(rank, Kind.WRITE, f"/s/out{rank}", 4 * MIB, 4, s=0.05)
    return made


def checkpoint_bursts(bad: bool) -> CaptureFactory:
    made = CaptureFactory(2)
    for dump in range(5):
        for rank in range(2):
            made.run(rank, Kind.WRITE, f"/s/d{dump}.{rank}", 4 * MIB, 10, s=0.1)
        made.pause(5.0 if bad else 0.0)
    return made


PROGRAMS: tuple[Program, ...] = (
    small_requests,
    stdio_bulk,
    sync_each_write,
    sync_time,
    read_modify_write,
    no_collective,
    chunk_cuts,
    too_many_seeks,
    misaligned,
    random_access,
    shared_file_contention,
    append_contention,
    redundant_reads,
    redundant_writes,
    folder_walk,
    read_write_switches,
    write_then_truncate,
    temporary_files,
    too_many_opens,
    repeated_stats,
    metadata_heavy,
    tiny_files,
    file_per_process,
    import_storm,
    failed_lookups,
    imbalance,
    straggler,
    slow_file,
    serial_io,
    checkpoint_bursts,
)


def ids(findings: list[Finding]) -> list[str]:
    """Their ids, in their order."""
    return [finding.id for finding in findings]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_finding_fires_on_what_it_is_for_and_not_on_its_opposite(program: Program) -> None:
    name = program.__name__.replace("_", "-")
    found = {f.id: f for f in operation_findings(program(True).captured())}
    assert name in found, f"only {list(found)}"
    finding = found[name]
    assert finding.at_stake_s is not None
    assert finding.at_stake_s > 0.1
    assert finding.severity is not Severity.NOTE
    assert "at stake" in finding.evidence
    assert len(finding.advice) > 30
    assert name not in ids(operation_findings(program(False).captured()))


@pytest.mark.parametrize("layer", [Layer.HDF5_DATASET, Layer.PNETCDF_VARIABLE])
@pytest.mark.parametrize(("pieces", "detail"), [(500, 0), (500, 1), (1, 0)])
def test_a_library_that_cuts_independent_calls_to_pieces_is_found(
    layer: Layer, pieces: int, detail: int
) -> None:
    """Each rank's one call is large; what reaches POSIX is not, unless ranks call together."""
    made, moved = CaptureFactory(2), 4 * MIB
    for rank in range(2):
        made.call(rank, Kind.WRITE, "/s/f", moved, 0, s=1.0, layer=layer, detail=detail)
        size = moved // pieces
        made.run(rank, Kind.WRITE, "/s/f", size, pieces, first=rank * size, s=1.0)
    found = {f.id: f for f in operation_findings(made.captured())}
    assert ("no-collective" in found) == (pieces > 1 and not detail)
    if "no-collective" in found:
        assert f"{2 * pieces} requests reach POSIX" in found["no-collective"].evidence


def test_a_healthy_program_has_bursts_only() -> None:
    found = operation_findings(shared_file().captured())
    assert ids(found) == ["checkpoint-bursts"]
    assert found[0].audience is Audience.USER


def test_a_small_stake_is_a_note_and_none_is_silence() -> None:
    made = CaptureFactory(1)
    made.run(0, Kind.WRITE, "/s/f", 4096, 200, s=1e-4)
    assert [f.severity for f in operation_findings(made.captured())] == [Severity.NOTE]
    made = CaptureFactory(1)
    made.run(0, Kind.WRITE, "/s/f", 4096, 200, s=1e-7)
    assert operation_findings(made.captured()) == []


def test_severity_follows_the_share_of_the_run() -> None:
    made = small_requests(True)
    grades = [operation_findings(made.captured(s))[0].severity for s in (2, 40, 100, 1000)]
    assert grades == [Severity.MEDIUM, Severity.LOW, Severity.NOTE, Severity.NOTE]
    made = sync_each_write(True)
    [kind] = {f.severity for f in operation_findings(made.captured(2)) if f.id == "sync-each-write"}
    assert kind is Severity.HIGH


def test_the_gravest_comes_first() -> None:
    made = small_requests(True)
    made.run(0, Kind.READ, "/s/other", 100, 20, s=1.0)
    made.run(0, Kind.SEEK, "/s/other", 0, 50, s=0.01)
    stakes = [finding.at_stake_s for finding in operation_findings(made.captured())]
    assert len(stakes) > 1
    found = operation_findings(made.captured())
    order = [(list(Severity).index(f.severity), -(f.at_stake_s or 0)) for f in found]
    assert order == sorted(order)


def test_operations_say_what_counters_would_repeat() -> None:
    captured = small_requests(True).captured()
    by_operations = operation_findings(captured)
    weak = by_operations[0].model_copy(update={"evidence": "counters"})
    other = weak.model_copy(update={"id": "partial-capture"})
    both = merged(by_operations, [weak, other])
    assert sorted(ids(both)) == ["partial-capture", "small-requests"]
    assert all(finding.evidence != "counters" or finding is other for finding in both)
    assert findings_of(captured.trace, []) == []


def test_a_size_that_is_not_known_cuts_nothing_off() -> None:
    made = CaptureFactory(1)
    for _ in range(2):
        made.run(0, Kind.WRITE, "/s/f", MIB, 50, s=0.01)
        made.call(0, Kind.TRUNCATE, "/s/f")
    assert "write-then-truncate" not in {f.id for f in operation_findings(made.captured())}


def test_the_latest_cut_decides_what_is_lost() -> None:
    made = CaptureFactory(1)
    made.call(0, Kind.OPEN, "/s/f", detail=O_WRONLY | O_CREAT | O_TRUNC)
    made.run(0, Kind.WRITE, "/s/f", MIB, 50, s=0.01)
    made.call(0, Kind.TRUNCATE, "/s/f", offset=40 * MIB)
    [found] = [f for f in operation_findings(made.captured()) if f.id == "write-then-truncate"]
    assert "10 MiB in 10 writes" in found.evidence


def test_notes_of_one_kind_are_one() -> None:
    def found(kind: str, severity: Severity, stake_s: float) -> Finding:
        return Finding(
            id=kind, severity=severity, what=kind, evidence="seen", advice="", at_stake_s=stake_s
        )

    grave = [found("small", Severity.HIGH, 9), found("small", Severity.HIGH, 8)]
    notes = [found("small", Severity.NOTE, stake) for stake in (3, 2, 1)]
    kept = once([*grave, *notes, found("slow", Severity.NOTE, 0.5)])
    assert [one.at_stake_s for one in kept] == [9, 8, 3, 0.5]
    assert "2 more groups" in kept[2].evidence
    assert kept[3].evidence == "seen"
