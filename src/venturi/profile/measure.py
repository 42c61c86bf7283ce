"""Measuring a machine: the coarse grid, refinement where it bends, then everything once more."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.execute.stopping import Stopping
from venturi.execute.target import check_directory
from venturi.model.document import parse_json
from venturi.model.error import RunFailed, UserError, VenturiError
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.machine import Machine
from venturi.model.plan import Interface
from venturi.model.profile import FileSharing, Profile
from venturi.model.record import Record
from venturi.plan.setting import RunSettings
from venturi.profile.design import coarse, gaps, noise_of, setups_of
from venturi.profile.facts import ProfileFacts, facts_of
from venturi.profile.journal import JournalEntry, ProfileJournal
from venturi.profile.matrix import SMALL_BYTES, Family, MatrixCell, Setup, matrix_of
from venturi.profile.others import Others
from venturi.profile.sample import curves_of, samples_of
from venturi.store.journal import sweep
from venturi.store.run import Request, perform, prepare

_MIB = 1024**2
_REPETITIONS = 2
"""In one start; every sheet is visited again later, so that repetitions lie apart in time."""
_MOST_VISITS = 6
_CELLS_AT_ONCE = 6
_FULL_BUDGET_S = 180.0
_VOLUME_BYTES = 32 * _MIB
_PROFILED = {interface.value: interface for interface in Interface if interface.entry.is_profiled}

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ProfileRequest:
    """What the user asked for."""

    directory: Path
    output: Path
    budget_s: float
    machine: Machine
    ranks: int | None = None
    interfaces: tuple[Interface, ...] = tuple(
        interface for interface in Interface if interface.entry.has_file_calls
    )
    resume: bool = False


@dataclass(frozen=True)
class ProfileOutcome:
    """The profile, and whether the user ended it."""

    profile: Profile
    journal: ProfileJournal
    interrupted: bool


def measure(request: ProfileRequest, tell: Tell) -> ProfileOutcome:
    """Measure within the budget; what was measured is kept whatever ends it.

    Raises UserError, TargetProblem or RunFailed where nothing was measured.
    """
    check_directory(request.directory)
    journal = ProfileJournal(request.output)
    facts = facts_of(request.directory, request.budget_s, request.machine.name)
    begun, entries = journal.begin(facts.to_json(), request.resume)
    before = parse_json(ProfileFacts, begun)
    if before.started_by != request.machine.name:
        raise UserError(
            f"{journal.folder}: that profile was begun on {before.started_by}",
            f"--on {before.started_by} --resume goes on with it",
        )
    work = _Work(request, before, journal, entries, tell)
    try:
        work.go()
        if work.interrupted and not work.entries:
            raise KeyboardInterrupt
        return ProfileOutcome(work.profile(), journal, work.interrupted)
    finally:
        if not work.entries:
            journal.end()


class _Work:
    """The state of a profile under way."""

    def __init__(
        self,
        request: ProfileRequest,
        facts: ProfileFacts,
        journal: ProfileJournal,
        entries: list[JournalEntry],
        tell: Tell,
    ) -> None:
        self._request = request
        self._facts = facts
        self._journal = journal
        self._tell = tell
        self._begun_s = time.monotonic()
        self._before_s = sum(entry.seconds for entry in entries)
        self.entries = entries
        self.notes: list[str] = []
        self._others = Others()
        self._stopping = Stopping()
        self.complete = False
        self._tried: set[tuple[Setup, MatrixCell]] = set()
        share = min(1.0, request.budget_s / _FULL_BUDGET_S)
        self._volume = max(4 * _MIB, 2 ** (int(_VOLUME_BYTES * share).bit_length() - 1))

    def go(self) -> None:
        """All passes, until the budget is used up or the user ends it."""
        # While an engine works Ctrl-C is its own; between two engines it is only noted, because an
        # exception may come where nobody can catch it.
        with self._stopping.listening():
            try:
                sweep(self._journal.store)
                self._coarse()
                if self.complete:
                    self._refine()
                    self._again()
            except KeyboardInterrupt:
                self._stopping.asked = True

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self._stopping.asked

    def profile(self) -> Profile:
        """What there is now; RunFailed where no point was measured."""
        samples = [sample for entry in self.entries for sample in entry.samples]
        if not samples:
            said = self.notes[0] if self.notes else "it was ended before the first repetition"
            raise RunFailed(f"nothing was measured: {said}", "give it more --budget")
        return Profile(
            **{name: getattr(self._facts, name) for name in ProfileFacts.model_fields},
            seconds=round(self._spent_s(), 1),
            complete=self.complete,
            others_share=self._others.share(),
            small_bytes=SMALL_BYTES,
            large_bytes=self._volume,
            notes=list(dict.fromkeys(self.notes)),
            curves=curves_of(samples),
        )

    def _spent_s(self) -> float:
        return self._before_s + time.monotonic() - self._begun_s

    def _left_s(self) -> float:
        return self._request.budget_s - self._spent_s()

    def _coarse(self) -> None:
        """Every combination once; those that do not fit any more are named."""
        request = self._request
        setups = setups_of(
            self._facts.cores, request.ranks, request.interfaces, has_mpi(request.machine)
        )
        matrices = coarse(setups)
        missed: list[str] = []
        for number, (setup, cells) in enumerate(matrices, 1):
            if self.interrupted:
                return
            if set(cells) <= self._done().get(setup, set()):
                continue
            if self.entries and self._left_s() <= self._cost_s(setup, cells):
                families = dict.fromkeys(cell.family.value for cell in cells)
                missed.append(f"{' and '.join(families)} ({setup.text})")
                continue
            self._measure(setup, cells, f"coarse grid {number} of {len(matrices)}")
        if missed:
            self.notes.append(f"the budget ended before: {'; '.join(missed)}")
        self.complete = not missed and not self.interrupted

    def _refine(self) -> None:
        """Halve gaps while there is time for all of it once more."""
        while not self.interrupted:
            samples = [sample for entry in self.entries for sample in entry.samples]
            found = gaps(curves_of(samples), self._done(), self._tried)
            if not found:
                return
            setup = found[0].setup
            family = found[0].cell.family
            of_family = [g.cell for g in found if (g.setup, g.cell.family) == (setup, family)]
            cells = of_family[:_CELLS_AT_ONCE]
            self._tried |= {(setup, cell) for cell in cells}
            needed = sum(entry.seconds for entry in self._first_visits())
            if self._left_s() < needed + 2 * self._cost_s(setup, cells):
                return
            worst = f"lines miss by up to {100 * found[0].miss:.0f} %"
            self._measure(setup, cells, f"refining, {worst}")

    def _again(self) -> None:
        """Everything once more while there is time, first where repetitions differ most."""
        for visit in range(2, _MOST_VISITS + 1):
            samples = [sample for entry in self.entries for sample in entry.samples]
            noise = noise_of(curves_of(samples))
            matrices = sorted(
                self._matrices(),
                key=lambda matrix: -noise.get((matrix[0], matrix[1][0].family), 0.0),
            )
            fitted = 0
            for setup, cells in matrices:
                if self.interrupted:
                    return
                if self._left_s() >= self._cost_s(setup, cells):
                    self._measure(setup, cells, f"repetition, visit {visit}")
                    fitted += 1
            if fitted < len(matrices):
                return

    def _matrices(self) -> list[tuple[Setup, list[MatrixCell]]]:
        """All that was measured, a sheet for each family, sizes ascending."""
        return [
            (setup, sorted((c for c in cells if c.family is family), key=lambda c: c.bytes))
            for setup, cells in self._done().items()
            for family in Family
            if any(cell.family is family for cell in cells)
        ]

    def _done(self) -> dict[Setup, set[MatrixCell]]:
        found: dict[Setup, set[MatrixCell]] = {}
        for entry in self.entries:
            cells = found.setdefault(_setup_of(entry), set())
            cells |= {MatrixCell(Family(family), size) for family, size in entry.cells}
        return found

    def _first_visits(self) -> Iterable[JournalEntry]:
        seen: set[tuple[Setup, tuple[str, int]]] = set()
        for entry in self.entries:
            keys = {(_setup_of(entry), cell) for cell in entry.cells}
            if not keys <= seen:
                yield entry
            seen |= keys

    def _cost_s(self, setup: Setup, cells: Sequence[MatrixCell]) -> float:
        """What these cells are likely to take, by what like ones took so far; 0: nobody knows."""
        families = {cell.family for cell in cells}

        def alike(entry: JournalEntry) -> int:
            same = sum(Family(family) in families for family, _ in entry.cells)
            return 2 * (same == len(entry.cells)) + (_setup_of(entry) == setup)

        best = max(map(alike, self.entries), default=0)
        chosen = [entry for entry in self.entries if alike(entry) == best]
        measured = sum(len(entry.cells) for entry in chosen)
        return sum(entry.seconds for entry in chosen) / max(measured, 1) * len(cells)

    def _measure(self, setup: Setup, cells: Sequence[MatrixCell], words: str) -> None:
        """One start of the engine; a setup that cannot be is noted, unless it is the first."""
        spent, budget = self._spent_s(), self._request.budget_s
        self._tell(f"{spent:5.0f} of {budget:.0f} s  {words}: {setup.text}")
        begun = time.monotonic()
        matrix = matrix_of(setup, cells, self._volume)
        self._others.begin()
        try:
            record = self._run(matrix.workload)
        except VenturiError as error:
            if not self.entries:
                raise
            self.notes.append(f"{setup.text}: {error.message}")
            return
        self._others.end()
        self._stopping.asked |= record.interrupted
        if record.failure is not None and not record.interrupted:
            self.notes.append(f"{setup.text}: {record.failure}")
        samples = samples_of(record, matrix)
        if not samples:
            return
        entry = JournalEntry(
            ranks=setup.ranks,
            place=setup.place.value,
            interface=setup.interface.value,
            collective=setup.collective,
            cells=[(cell.family.value, cell.bytes) for cell in cells],
            seconds=time.monotonic() - begun,
            samples=samples,
        )
        self._journal.note(entry)
        self.entries.append(entry)

    def _run(self, workload: object) -> Record:
        from venturi.model.workload import Workload

        assert isinstance(workload, Workload)
        store = self._journal.store
        request = Request(
            workload=workload,
            workload_text=workload.model_dump_json(by_alias=True, exclude_defaults=True),
            settings=RunSettings(repetitions=_REPETITIONS),
            machine=self._request.machine,
            directory=self._request.directory,
            store=store,
            command=["venturi", "profile"],
        )
        record = perform(prepare(request), lambda event: None)
        shutil.rmtree(store / "runs" / record.id, ignore_errors=True)
        return record


def _setup_of(entry: JournalEntry) -> Setup:
    return Setup(
        entry.ranks, FileSharing(entry.place), Interface(entry.interface), entry.collective
    )


def has_mpi(machine: Machine) -> bool:
    """Whether ranks are started under an MPI there."""
    return machine.launcher.mpi is not None


def check_interfaces(names: Sequence[str], machine: Machine) -> tuple[Interface, ...]:
    """The interfaces of a list of words; UserError for one that a profile cannot measure there."""
    found = []
    for name in names:
        if name not in _PROFILED:
            raise UserError(f"--interfaces {name}: a profile has {', '.join(_PROFILED)}")
        if _PROFILED[name].entry.needs_mpi and not has_mpi(machine):
            raise UserError(
                f"--interfaces {name}: needs ranks under MPI", "--on openmpi or --on mpich"
            )
        found.append(_PROFILED[name])
    return tuple(dict.fromkeys((DEFAULT_INTERFACE, *found)))
