"""What a traced job's kernel would know: processes, threads, descriptors, places in files."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from venturi.model.operation import NO_FILE, NOT_A_FILE, UNKNOWN_OFFSET
from venturi.sources.rows import FileTable, Rows
from venturi.sources.strace_line import CURRENT_DIRECTORY, Descriptor

DELETED = " (deleted)"
_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/ptmx", "/dev/console")


class OpenFile:
    """An open file description: what descriptors that were dup'ed or inherited share."""

    __slots__ = ("appends", "file", "label", "offset", "strange")

    def __init__(self, file: int, label: str, offset: int, appends: bool = False) -> None:
        self.file = file
        self.label = label
        """The path that strace shows."""
        self.offset = offset
        self.appends = appends
        is_path = not label or (label.startswith("/") and not label.startswith(_TERMINALS))
        self.strange = 0 if is_path else NOT_A_FILE


@dataclass
class Descriptors:
    """A table of descriptors; threads share one."""

    open: dict[int, OpenFile] = field(default_factory=dict)
    closed_by_exec: set[int] = field(default_factory=set)

    def copy(self) -> Descriptors:
        return Descriptors(dict(self.open), set(self.closed_by_exec))


@dataclass
class Directory:
    """A working directory; threads share one. Empty: not known."""

    path: str = ""


@dataclass
class TracedProcess:
    """A process as it is seen to live."""

    index: int
    number: int
    parent: int
    started_ns: int
    ended_ns: int | None = None
    program: str = ""
    rank: int = -1
    threads: int = 0
    mapped: list[tuple[int, int, int]] = field(default_factory=list)
    """Where memory through which stores reach a file begins and ends, and the file."""


@dataclass
class TracedThread:
    """A thread, or the first thread of a process."""

    process: TracedProcess
    thread: int
    descriptors: Descriptors
    directory: Directory


class World:
    """All that lives, and the rows that come out of it."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.files = FileTable()
        self.sizes: dict[int, int] = {}
        """Sizes of files in bytes, where they are known."""
        self.tasks: dict[int, TracedThread] = {}
        self.processes: list[TracedProcess] = []
        self.descriptor_cache: dict[str, Descriptor] = {}
        self.renamed: dict[str, set[str]] = {}
        """New paths by old path, as far as renames were seen."""
        self.uses_uring = False

    def task(self, number: int, at_ns: int) -> TracedThread:
        """The task of this number; one that was not seen to begin begins here."""
        task = self.tasks.get(number)
        if task is None:
            task = self._begin(number, 0, at_ns, Descriptors(), Directory())
        return task

    def _begin(
        self,
        number: int,
        parent: int,
        at_ns: int,
        descriptors: Descriptors,
        directory: Directory,
    ) -> TracedThread:
        process = TracedProcess(len(self.processes), number, parent, at_ns)
        self.processes.append(process)
        task = TracedThread(process, 0, descriptors, directory)
        self.tasks[number] = task
        return task

    def clone(self, parent: TracedThread, number: int, flags: frozenset[str], at_ns: int) -> None:
        """A new thread or process."""
        descriptors = parent.descriptors
        directory = parent.directory
        if "CLONE_FILES" not in flags:
            descriptors = descriptors.copy()
        if "CLONE_FS" not in flags:
            directory = Directory(directory.path)
        if "CLONE_THREAD" in flags:
            parent.process.threads += 1
            thread = parent.process.threads
            self.tasks[number] = TracedThread(parent.process, thread, descriptors, directory)
            return
        task = self._begin(number, parent.process.number, at_ns, descriptors, directory)
        task.process.program = parent.process.program

    def replace(self, task: TracedThread, program: str) -> None:
        """A successful exec."""
        task.descriptors = task.descriptors.copy()
        for number in task.descriptors.closed_by_exec:
            task.descriptors.open.pop(number, None)
        task.descriptors.closed_by_exec.clear()
        task.process.program = posixpath.basename(program)
        task.thread = 0

    def end(self, number: int, at_ns: int, is_orderly: bool) -> None:
        """A task that is no more."""
        task = self.tasks.pop(number, None)
        if task is not None and task.process.number == number and is_orderly:
            task.process.ended_ns = at_ns

    def opened(self, task: TracedThread, known: Descriptor) -> OpenFile | None:
        """What a descriptor stands for; None where neither history nor strace tells."""
        number, label = known
        found = task.descriptors.open.get(number)
        if found is not None and (not label or found.label == label):
            return found
        if found is not None and self._is_renamed(found, label):
            found.label = label
            return found
        if not label:
            return None
        path = label.removesuffix(DELETED)
        file = self.files.number(path)
        made = OpenFile(file, label, UNKNOWN_OFFSET)
        if found is not None and found.file == file:
            return found
        task.descriptors.open[number] = made
        return made

    def _is_renamed(self, found: OpenFile, label: str) -> bool:
        """Whether the new path of a descriptor is the same file under another name."""
        return label == found.label + DELETED or label in self.renamed.get(found.label, ())

    def path_of(self, task: TracedThread, directory: int, label: str, name: str) -> str:
        """A path as the application named it, absolute where its directory is known."""
        if directory == CURRENT_DIRECTORY:
            if label:
                task.directory.path = label
            base = task.directory.path
        else:
            known = task.descriptors.open.get(directory)
            base = label or (known.label if known else "")
        if not name:
            return base
        if name.startswith("/") or not base:
            return posixpath.normpath(name)
        return posixpath.normpath(posixpath.join(base, name))

    def file_of(self, opened: OpenFile | None) -> int:
        """The file's index, or NO_FILE."""
        return NO_FILE if opened is None else opened.file
