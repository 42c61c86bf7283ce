"""Commands of a run under way: ranks ask for them in the journal, and wait for the answer.

They are run here, beside the engine: a process under MPI should start no other, and an
application has a launcher of its own. All commands of a repetition work in one folder in the
run's directory, which is removed at the end of the run; what they say is kept in the journal.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from pydantic import ValidationError

from venturi.analyse.output import picked
from venturi.execute.command import Command, CommandExit, run_command
from venturi.model.command import STARTED_IN, CommandFiles, CommandRun, ExecStep
from venturi.model.error import RunFailed
from venturi.model.event import CommandRequest, EventLine

COMMANDS_NAME = "commands"
"""A folder of the journal and of the record: what each command said, by its number."""
_RUNS = "runs.jsonl"
_FOLDERS = "folders.jsonl"
_LOOK_S = 0.005
_TAIL_BYTES = 4096


class Commands:
    """Runs what the ranks of one run ask for, while it is entered."""

    def __init__(self, journal: Path, run_directory: Path, steps: Sequence[ExecStep]) -> None:
        self._journal = journal
        self._run_directory = run_directory
        self._steps = steps
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._begun = 0
        self._seen: set[str] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Commands:
        if self._steps:
            (self._journal / COMMANDS_NAME).mkdir()
            self._start(self._watch)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what still runs, and wait for that."""
        self._stop.set()
        while self._threads:
            self._threads.pop().join()

    def _start(self, work: Callable[..., None], *words: object) -> None:
        thread = threading.Thread(target=work, args=words)
        self._threads.append(thread)
        thread.start()

    def _watch(self) -> None:
        while not self._stop.is_set():
            for path in self._journal.glob("command.*.wanted"):
                if path.name not in self._seen:
                    self._seen.add(path.name)
                    self._start(self._serve, path)
            time.sleep(_LOOK_S)

    def _serve(self, path: Path) -> None:
        """Run what one rank asks for, note it, and answer."""
        failure = "the command could not be run"
        try:
            wanted = EventLine.model_validate_json(path.read_text("utf-8")).root
            assert isinstance(wanted, CommandRequest)
            failure = self._run(wanted)
        except (OSError, ValidationError) as error:
            failure = f"a command could not be run: {error}"
        finally:
            answer = path.with_suffix(".answer")
            part = path.with_suffix(".answering")
            part.write_text(failure, "utf-8")
            part.rename(answer)

    def _run(self, wanted: CommandRequest) -> str:
        with self._lock:
            number = self._begun
            self._begun += 1
            folder = self._folder(wanted.repetition)
        output = self._journal / COMMANDS_NAME / str(number)
        output.mkdir()
        began_ns = _now_ns(folder, number)
        shell = Command(wanted.command, folder, output, _places(self._run_directory))
        ended = run_command(shell, wanted.limit_s, self._stop)
        step = self._steps[wanted.number]
        run = CommandRun(
            number=number,
            command=wanted.command,
            path=wanted.path,
            group=wanted.group,
            instance=wanted.instance,
            repetition=wanted.repetition,
            iteration={item.name: item.value for item in wanted.iteration},
            seconds=ended.seconds,
            code=ended.code,
        )
        try:
            _check_end(ended, wanted, output, self._stop.is_set())
            files = {
                name: _found(name, folder, pattern, began_ns)
                for name, pattern in step.files.items()
            }
            _fetch(step, folder, output)
            metrics = {name: picked(name, rule, output) for name, rule in step.metrics.items()}
            run = run.model_copy(update={"files": files, "metrics": metrics})
        except RunFailed as problem:
            where = f"(its output is in {COMMANDS_NAME}/{number} of the result)"
            run = run.model_copy(update={"failure": f"{problem.message} {where}"})
        with self._lock, (self._journal / COMMANDS_NAME / _RUNS).open("a", encoding="utf-8") as to:
            to.write(run.to_json() + "\n")
        return run.failure

    def _folder(self, repetition: int) -> Path:
        """Where the commands of a repetition work: made here, and noted before it is used."""
        folder = self._run_directory / f".commands.{repetition}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            facts = folder.stat()
            noted = {"path": str(folder), "device": facts.st_dev, "inode": facts.st_ino}
            with (self._journal / COMMANDS_NAME / _FOLDERS).open("a", encoding="utf-8") as to:
                to.write(json.dumps(noted) + "\n")
        return folder


def _places(run_directory: Path) -> dict[str, str]:
    """The variables that tell a command of folders.

    A campaign starts each of its runs in a folder of that run. What a command itself starts with
    `venturi` is no run of the campaign.
    """
    started_in = os.environ.get(STARTED_IN) or str(Path.cwd())
    return {"VENTURI_RUN": str(run_directory), "VENTURI_FROM": started_in, STARTED_IN: ""}


def _check_end(ended: CommandExit, wanted: CommandRequest, output: Path, stopped: bool) -> None:
    """RunFailed unless the command ended by itself and well."""
    if ended.code == 0:
        return
    if ended.code is None and stopped:
        raise RunFailed("the command was ended because the run was")
    if ended.code is None:
        raise RunFailed(
            f"the command was ended because it took longer than {wanted.limit_s:g} s; "
            "'time' says how long it may take"
        )
    how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
    last = _last_line(output / "stderr") or _last_line(output / "stdout") or "it said nothing"
    raise RunFailed(f"the command ended with {how}: {last}")


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _now_ns(folder: Path, number: int) -> int:
    """The time as the file system of a folder tells it; its clock may be another host's."""
    mark = folder / f".begin.{number}"
    mark.touch()
    now_ns = mark.stat().st_ctime_ns
    mark.unlink()
    return now_ns


def _found(name: str, folder: Path, pattern: str, began_ns: int) -> CommandFiles:
    """The files that fit and were changed since the command began; RunFailed where none is."""
    sizes = []
    for path in folder.glob(pattern):
        if path.is_file() and (facts := path.stat()).st_ctime_ns >= began_ns:
            sizes.append(facts.st_size)
    if not sizes:
        raise RunFailed(f"files.{name}: the command wrote nothing that fits '{pattern}'")
    return CommandFiles(files=len(sizes), bytes=sum(sizes))


def _fetch(step: ExecStep, folder: Path, output: Path) -> None:
    """Keep the files in which metrics stand beside what the command said."""
    for name in {metric.file for metric in step.metrics.values()} - {"stdout", "stderr"}:
        kept = output / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            shutil.copyfile(folder / name, kept)


def runs_in(journal: Path) -> list[CommandRun]:
    """The commands that came to an end."""
    return [CommandRun.model_validate_json(line) for line in _lines(journal, _RUNS)]


def remove_folders(journal: Path) -> None:
    """Remove where the run's commands worked; what is not what was noted stays."""
    for line in _lines(journal, _FOLDERS):
        noted = json.loads(line)
        if not _is_folder_of(journal, noted["path"]):
            continue
        with contextlib.suppress(OSError):
            facts = os.lstat(noted["path"])
            if (facts.st_dev, facts.st_ino) == (noted["device"], noted["inode"]):
                shutil.rmtree(noted["path"])


def _is_folder_of(journal: Path, path: str) -> bool:
    """Whether a path is one where commands of the journal's run work."""
    plan = json.loads((journal / "plan.json").read_text("utf-8"))
    place, name = os.path.split(path)
    return place == plan["directory"] and re.fullmatch(r"\.commands\.\d+", name) is not None


def _lines(journal: Path, name: str) -> Iterator[str]:
    """The whole lines of a file that may not be there, and may end in the middle of one."""
    path = journal / COMMANDS_NAME / name
    if path.exists():
        yield from path.read_text("utf-8", "replace").split("\n")[:-1]
