"""The entry of a storage interface: what it is, needs and can do, as its backend says it.

Entries are written in C++, beside each backend, and carried here by `make gen`; see
`venturi.model.interface` for the entries themselves. Ask an entry instead of comparing names.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from venturi.model.units import BYTES_PER_UNIT


class StackLevel(StrEnum):
    """Where an interface stands in the I/O stack."""

    FILE_CALLS = "file calls"
    """Calls of the system or the C library on plain files."""
    LIBRARY = "library"
    """A library above these calls."""
    NO_STORAGE = "no storage"


class DataPath(StrEnum):
    """How a request leaves the program."""

    CALL = "call"
    MAPPING = "mapping"
    """By page faults of a mapped file."""
    RING = "ring"
    """By a queue that the kernel reads."""


class Namespace(StrEnum):
    """What names are."""

    DIRECTORY_TREE = "directory tree"
    FLAT_KEYS = "flat keys"


class Ownership(StrEnum):
    """How a run proves that it made a file."""

    INODE_AND_BIRTH = "device, inode, birth time"
    MARKER_KEY = "etag, marker key"


class Addressing(StrEnum):
    """What the place of a request means in the file."""

    OFFSETS = "offsets"
    """Its bytes are there, whoever looks."""
    KEYS = "keys"
    """It is the key of what one write stored."""
    OF_FORMAT = "of format"
    """The file's format puts it somewhere."""


class Split(StrEnum):
    """Which independent requests on parts of a dataset a library moves piece by piece."""

    NONE = "none"
    WRITES = "writes"
    ALL = "all"


MOST_WHOLE = 2**53
"""Numbers up to here are exact as doubles, in which the engine holds them."""
_NUMBER = re.compile(r"(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) *([kKMGTP]i?B|B)?")


def _number(text: str, with_unit: bool) -> float:
    """A number as the engine reads it, of bytes with a unit or without; not a number if it does not
    read one."""
    found = _NUMBER.fullmatch(text)
    if found is None or (not with_unit and found.end(1) != len(text)):
        return math.nan
    unit = found[2] or "B"
    return float(found[1]) * BYTES_PER_UNIT.get(unit, math.nan)


@dataclass(frozen=True)
class InterfaceOption:
    """One setting of an interface; `range` has the allowed values in words, `least` and `most` are
    the bounds of a number."""

    name: str
    type: str
    default: str
    about: str
    range: str
    least: float = 0.0
    most: float = math.inf

    def accepts(self, value: str) -> bool:
        """Whether the engine takes the value; of a text, which the interface reads when it is made,
        nothing is known."""
        match self.type:
            case "boolean":
                return value in ("true", "false")
            case "word":
                return value in self.range.split("|")
            case "text":
                return True
        number = _number(value, with_unit=self.type == "bytes")
        is_whole = self.type == "real" or (number % 1 == 0 and abs(number) <= MOST_WHOLE)
        return is_whole and self.least <= number <= self.most


@dataclass(frozen=True)
class OptionWord:
    """One value of one option."""

    option: str
    word: str

    @property
    def text(self) -> str:
        """The option as a workload sets it: `format: netcdf4`."""
        return f"{self.option}: {self.word}"

    @property
    def setting(self) -> str:
        """The option as a command line sets it: `format=netcdf4`."""
        return f"{self.option}={self.word}"


@dataclass(frozen=True)
class FormatLimits:
    """What the files of an interface can hold, and when others can read them."""

    shapes: bool = True
    """Datasets of any shape; otherwise one row of bytes."""
    chunks: bool = True
    chunks_with: OptionWord | None = None
    """With this there are chunks although `chunks` says no."""
    narrow_with: OptionWord | None = None
    """With this, sizes are limited to 32 bits."""
    wide_with: OptionWord | None = None
    """What to choose instead of `narrow_with`."""
    read_while_open: bool = True
    """Another group may read a file that its writer still has open."""
    read_after_sync: bool = False
    """Data can be read after a sync or a close only."""


@dataclass(frozen=True)
class CallNames:
    """The calls behind the verbs, as they stand in the code of an application."""

    write: str = ""
    read: str = ""
    both: str = ""
    """Both of them, as advice names them; empty: an application has no such calls."""
    sync: str = ""
    """Makes data persistent; `{sync}` stands for fsync or fdatasync. Empty: just that call."""
    flush: str = ""
    """Hands buffered data to the system."""
    collective: str = ""
    independent: str = ""
    larger: str = ""
    """How one call moves more in other languages."""


@dataclass(frozen=True)
class OtherNames:
    """What other programs call an interface; empty where they do not have it."""

    ior: str = ""
    mdtest: str = ""
    trace_layers: tuple[str, ...] = ()
    """Layers of a trace in which its calls are counted, the lowest first."""


@dataclass(frozen=True)
class InterfaceEntry:
    """What one storage interface is, needs and can do, whether it is built here or not."""

    level: StackLevel = StackLevel.FILE_CALLS
    data_path: DataPath = DataPath.CALL
    name_space: Namespace = Namespace.DIRECTORY_TREE
    ownership: Ownership = Ownership.INODE_AND_BIRTH
    addressing: Addressing = Addressing.OFFSETS
    capabilities: tuple[str, ...] = ()
    mpi_capabilities: tuple[str, ...] = ()
    """In engines with MPI only."""
    options: tuple[InterfaceOption, ...] = ()
    mpi_options: tuple[InterfaceOption, ...] = ()
    """In engines with MPI only."""
    needs_mpi: bool = False
    buffers: bool = False
    """Data wait in the process until its buffer is full, flushed or closed."""
    gathers: bool = False
    """One of the ranks that share a file makes the calls of all of them."""
    shared_through: str = ""
    """The interface by which ranks reach a shared file below this one; empty: itself."""
    splits: Split = Split.NONE
    files_per_writer: int = 0
    """Files that each writer makes beside its data."""
    label: str = ""
    """The label of results that never reached storage."""
    container: str = ""
    """What a file of keys is called."""
    pieces: str = ""
    """What one write stores in it."""
    format: FormatLimits = FormatLimits()
    calls: CallNames = CallNames()
    elsewhere: OtherNames = OtherNames()

    def can(self, capability: str) -> bool:
        """Return whether some build of the backend has a capability, by its word."""
        return capability in self.capabilities or capability in self.mpi_capabilities

    def has_option(self, name: str) -> bool:
        """Return whether some build of the backend has an option."""
        return any(option.name == name for option in (*self.options, *self.mpi_options))

    @property
    def reaches_storage(self) -> bool:
        """Whether data leave for storage at all."""
        return self.level is not StackLevel.NO_STORAGE

    @property
    def is_simulated(self) -> bool:
        """Whether its time passes on the simulated clock only."""
        return self.can("simulated clock")

    @property
    def is_library(self) -> bool:
        """Whether it is a library above the calls of the system and the C library."""
        return self.level is StackLevel.LIBRARY

    @property
    def is_mapping(self) -> bool:
        """Whether data move by page faults, with no call for a request."""
        return self.data_path is DataPath.MAPPING

    @property
    def makes_calls(self) -> bool:
        """Whether each request is a call that a capture sees."""
        return self.data_path is DataPath.CALL

    @property
    def has_file_calls(self) -> bool:
        """Whether each request is one call of the system or the C library on a plain file."""
        return self.level is StackLevel.FILE_CALLS and self.makes_calls

    @property
    def has_requests(self) -> bool:
        """Whether plain files get requests: by calls or a ring, not by mapping."""
        return self.level is StackLevel.FILE_CALLS and not self.is_mapping

    @property
    def has_descriptors(self) -> bool:
        """Whether requests go to the system as they are, without a buffer in the process."""
        return self.has_requests and not self.buffers

    @property
    def has_bare_files(self) -> bool:
        """Whether files hold the bytes of requests at their offsets, and nothing else."""
        is_plain = self.reaches_storage and self.addressing is Addressing.OFFSETS
        return is_plain and self.has_directories

    @property
    def has_directories(self) -> bool:
        """Whether names are in directories; otherwise they are keys on a server."""
        return self.name_space is Namespace.DIRECTORY_TREE

    @property
    def can_share_writes(self) -> bool:
        """Whether several ranks write one file."""
        return self.can("shared files")

    @property
    def writes_anywhere(self) -> bool:
        """Whether writes go to any offset; otherwise each file is written once, in order."""
        return self.can("random access")

    @property
    def has_keys(self) -> bool:
        """Whether the place of a request is the key of what one write stored."""
        return self.addressing is Addressing.KEYS

    @property
    def has_datasets(self) -> bool:
        """Whether its files keep datasets; the others keep rows of bytes."""
        return self.can("datasets")

    @property
    def has_general_format(self) -> bool:
        """Whether its files describe datasets of any shape."""
        return self.has_datasets and self.format.shapes

    @property
    def is_profiled(self) -> bool:
        """Whether a machine's profile can have curves of it."""
        return self.has_bare_files or self.has_general_format

    @property
    def can_collect(self) -> bool:
        """Whether ranks that share a file can make calls together."""
        return self.can("collective calls")

    @property
    def shares_by_mpi(self) -> bool:
        """Whether ranks that share a file make their calls together through MPI."""
        return self.can_collect and not self.gathers

    @property
    def takes_hints(self) -> bool:
        """Whether it takes hints of MPI-IO."""
        return self.can("hints")

    @property
    def can_stripe(self) -> bool:
        """Whether it makes files that can be striped."""
        return self.can("stripes")

    @property
    def can_append(self) -> bool:
        """Whether a write can go to the end of the file."""
        return self.can("append")

    @property
    def can_truncate(self) -> bool:
        """Whether open files are cut and extended."""
        return self.can("truncate")

    @property
    def can_copy(self) -> bool:
        """Whether files are copied by calls of their own."""
        return self.can("copy")

    @property
    def can_seek(self) -> bool:
        """Whether it has seeks and empty reads."""
        return self.can("seeks and empty reads")
