"""Programs with known shapes, as the tables of operations that a capture of them would hold."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from venturi.derive.workload import derive
from venturi.derive.yaml_text import to_yaml
from venturi.model.operation import COLLECTIVE, KIND_CODES, LAYER_CODES, Kind, operations_of
from venturi.model.plan import SyncMode
from venturi.model.trace import Layer, Process, Trace, TracedFile, TracedJob, TraceSource
from venturi.model.trace_folder import Captured
from venturi.model.workload import DataStep, StepSpec, Workload
from venturi.model.yaml_text import parse_yaml
from venturi.plan.make import PlanResult, make_plan
from venturi.plan.setting import RunSettings

CREATE = 0o100 | 0o1000 | 0o2
APPEND = 0o100 | 0o2000 | 0o1
REOPEN = 0o2
US = 1000
MS = 1_000_000


@dataclass
class TracedRun:
    """Collects operations; every rank has a clock of its own, in nanoseconds."""

    ranks: int
    layer: Layer = Layer.POSIX
    seed: int = 0
    rows: list[tuple[int, int, int, int, int, int, int, int]] = field(default_factory=list)
    paths: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = [1000 * MS] * self.ranks
        self.p_value = random.Random(self.seed)

    def call(
        self, rank: int, kind: Kind, path: str, offset: int = -1, size: int = 0, detail: int = 0
    ) -> None:
        """One operation; it takes 2 to 10 us, and 1 us or so passes before it."""
        start = self.now[rank] + self.p_value.randint(US // 2, 2 * US)
        end = start + self.p_value.randint(2 * US, 10 * US)
        self.now[rank] = end
        file = self.paths.setdefault(path, len(self.paths))
        self.rows.append((rank, KIND_CODES[kind], file, detail, offset, size, start, end))

    def open(self, rank: int, path: str, detail: int = CREATE) -> None:
        """Opens a file."""
        self.call(rank, Kind.OPEN, path, detail=detail)

    def close(self, rank: int, path: str) -> None:
        """Closes a file."""
        self.call(rank, Kind.CLOSE, path)

    def rename(self, rank: int, path: str, to: str) -> None:
        """Gives a file another name, in place of what is there."""
        self.call(rank, Kind.RENAME, path, detail=self.paths.setdefault(to, len(self.paths)))

    def move(
        self,
        rank: int,
        kind: Kind,
        path: str,
        requests: list[tuple[int, int]],
        think: int = 0,
        sync: Kind | None = None,
        together: bool = False,
    ) -> None:
        """Requests (offset, bytes), one after the other."""
        for offset, size in requests:
            self.now[rank] += think and think + self.p_value.randint(0, think // 20)
            detail = COLLECTIVE if together else 0
            self.call(rank, kind, path, offset, size, detail)
            if sync is not None:
                self.call(rank, sync, path)

    def meet(self, pause: int = 0) -> None:
        """All ranks wait for each other, and then compute."""
        latest = max(self.now)
        for rank in range(self.ranks):
            self.now[rank] = latest + pause + self.p_value.randint(0, US)

    def captured(self, with_ranks: bool = True, source: str = "capture") -> Captured:
        """What a capture would hold, in the format `source`: of `venturi` computing is known."""
        names = ("process", "kind", "file", "detail", "offset", "bytes", "start_ns", "end_ns")
        columns = dict(zip(names, map(list, zip(*self.rows, strict=True)), strict=True))
        operations = operations_of(**columns, layer=[LAYER_CODES[self.layer]] * len(self.rows))
        trace = Trace(
            source=TraceSource(format=source, file="run.trace"),
            job=TracedJob(ranks=self.ranks, seconds=max(self.now) / 1e9),
            layers=[self.layer],
            records=[],
            record_count=0,
            files=[TracedFile(path=f"/scratch/{path}") for path in self.paths],
            processes=[
                Process(rank=rank if with_ranks else -1, program="app", process=100 + rank)
                for rank in range(self.ranks)
            ],
            operation_count=len(operations),
        )
        return Captured(trace, operations)


def planned(workload: Workload) -> PlanResult:
    """The plan of a derived workload, which must be one, also as text."""
    assert parse_yaml(to_yaml(workload), "derived", Workload) == workload
    return make_plan(workload, RunSettings())


def check_exact(run: TracedRun, workload: Workload, files: int | None = None) -> PlanResult:
    """Bytes and requests that are planned are those of the run; so are files, where given.

    Where small streams are left out, they are those of the others, which hold nearly everything.
    """
    made = planned(workload)
    sums = {Kind.WRITE: [0, 0], Kind.READ: [0, 0]}
    for row in run.rows:
        for kind, both in sums.items():
            if row[1] == KIND_CODES[kind] and row[5] > 0:
                both[0] += row[5]
                both[1] += 1
    totals = made.totals
    text = to_yaml(workload)
    assert workload.origin is not None
    observed = workload.origin.observed
    if observed is not None and any("small stream" in said for said in workload.origin.assumed):
        kept = {Kind.WRITE: observed.bytes_written, Kind.READ: observed.bytes_read}
        assert sum(kept.values()) >= 0.95 * sum(both[0] for both in sums.values()), text
        sums = {kind: [size, observed.operations.get(kind.value, 0)] for kind, size in kept.items()}
    assert [totals.bytes_written, totals.operations["write"]] == sums[Kind.WRITE], text
    assert [totals.bytes_read, totals.operations["read"]] == sums[Kind.READ], text
    if files is not None:
        assert totals.files == files, text
    return made


def check_one_by_one(run: TracedRun, workload: Workload) -> None:
    """The operations are those of the run, from the first to the last."""
    check_exact(run, workload)
    assert workload.origin is not None
    likeness = workload.origin.likeness
    assert likeness is not None
    assert likeness.is_equal, to_yaml(workload)


def steps_of(workload: Workload) -> list[StepSpec]:
    """All steps, those within others too, in order."""
    found: list[StepSpec] = []

    def walk(steps: list[StepSpec | str]) -> None:
        for step in steps:
            if isinstance(step, StepSpec):
                found.append(step)
                walk(list(step.inner))

    walk(list(next(iter(workload.program.values()))))
    return found


def moves_of(workload: Workload) -> list[DataStep]:
    """All data steps, in order."""
    both = [step.write or step.read for step in steps_of(workload)]
    return [step for step in both if isinstance(step, DataStep)]


def derived(run: TracedRun, simplify: bool = False) -> Workload:
    """The workload of a run; with `simplify`, text alone."""
    return derive(run.captured(), "run", simplify)


__all__ = ["MS", "US", "SyncMode", "TracedRun", "check_exact", "derived", "moves_of", "steps_of"]
