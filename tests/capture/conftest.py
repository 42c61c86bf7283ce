"""Programs to capture, and `venturi capture` as its user types it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import warm_start
from venturi.model.operation import KINDS, LAYERS, NO_FILE
from venturi.model.trace import Trace
from venturi.model.trace_folder import Captured, read_trace

PROGRAMS = Path(__file__).parent / "program"
ROOT_MAY = {"openmpi": ("--allow-run-as-root",), "mpich": ()}
"""By MPI, with which words its launcher starts ranks for root."""
Row = tuple[str, str, str, int, int, int]


@dataclass
class Run:
    """One `venturi capture`."""

    done: subprocess.CompletedProcess[str]
    folder: Path

    @property
    def captured(self) -> Captured:
        return read_trace(self.folder)

    @property
    def trace(self) -> Trace:
        return self.captured.trace

    def rows(self) -> list[Row]:
        """Layer, kind, file's name, offset, bytes and errno of each operation, in order."""
        trace, operations = self.captured.trace, self.captured.operations
        if operations is None:
            return []
        return [
            (
                LAYERS[layer].value,
                KINDS[kind].value,
                "" if file == NO_FILE else trace.files[file].path.rsplit("/", 1)[-1],
                offset,
                size,
                error,
            )
            for layer, kind, file, offset, size, error in zip(
                operations.layer.tolist(),
                operations.kind.tolist(),
                operations.file.tolist(),
                operations.offset.tolist(),
                operations.bytes.tolist(),
                operations.error.tolist(),
                strict=True,
            )
        ]

    def count(self, layer: str = "posix") -> Counter[tuple[str, str]]:
        """How often each kind of call was made on each file, fine ones only."""
        return Counter(
            (kind, name)
            for where, kind, name, _, _, error in self.rows()
            if where == layer and not error
        )


@dataclass
class Capture:
    """Captures programs in a directory of their own."""

    place: Path
    library: Path
    here: Path
    """Where commands run."""

    def __call__(
        self, *command: str, options: tuple[str, ...] = (), code: int = 0, limit_s: float = 600
    ) -> Run:
        """Captures `command`; the capture must exit with `code`."""
        folder = self.place / f"{len(list(self.place.glob('*.trace')))}.trace"
        self.here.mkdir(exist_ok=True)
        words = [*self.line(folder), *options, "--", *command]
        done = warm_start.run(
            words, cwd=self.here, capture_output=True, text=True, timeout=limit_s, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout[:500]
        assert not list(self.place.glob(".*spool*")), "the tracer's folder is left behind"
        return Run(done, folder)

    def two_ranks(self, mpi: str, text: str) -> Run:
        """Captures a C program of this text on two ranks under an MPI."""
        source, program = self.place / "program.c", self.place / "program"
        source.write_text(text, "utf-8")
        subprocess.run([f"mpicc.{mpi}", "-o", str(program), str(source)], check=True)
        return self(f"mpirun.{mpi}", *ROOT_MAY[mpi], "-n", "2", str(program))

    def compiled(self, text: str) -> str:
        """The path of a C program of this text."""
        source, program = self.place / "program.c", self.place / "program"
        source.write_text(text, "utf-8")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True)
        return str(program)

    def line(self, folder: Path) -> list[str]:
        """The beginning of a command line that captures into `folder`."""
        return [sys.executable, "-m", "venturi", "capture", "-o", str(folder)]

    def program(self, name: str) -> str:
        """The path of a compiled program of ours."""
        return str(self.library / name)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for source in sorted(PROGRAMS.glob("*.c")):
        compile_program(source, folder / source.stem)
    compile_program(PROGRAMS / "calls.c", folder / "calls_static", "-static")
    compile_program(PROGRAMS / "threads.c", folder / "threads_asan", "-fsanitize=address")
    return folder


def compile_program(source: Path, target: Path, *flags: str) -> None:
    command = ["gcc", "-O1", "-Wall", *flags, "-o", str(target), str(source), "-lpthread"]
    subprocess.run(command, check=True)


@pytest.fixture
def capture(tmp_path: Path, programs: Path) -> Capture:
    return Capture(tmp_path, programs, tmp_path / "here")
