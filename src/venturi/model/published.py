"""A result that another tool published, in the words of that tool: here of IO500."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from venturi.model.document import Count, Document, Positive, Seconds

PUBLISHED_SCHEMA: Final = "venturi.published/1"

Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Check(StrEnum):
    """What came of recomputing a hash."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSENT = "absent"
    """There is none, or not enough to recompute it."""


class Io500Phase(Document):
    """One phase."""

    name: str
    """As the C application calls it: `ior-easy-write`."""
    value: Rate
    unit: Literal["GiB/s", "kIOPS"]
    seconds: Seconds | None = None
    """From the phase's start to its end, with what the rate leaves out."""
    scored: bool = True
    invalid: bool = False
    """The tool itself says so."""


class Io500Score(Document):
    """The three numbers of a list."""

    bw: Rate | None = None
    """GiB/s: the geometric mean of the bandwidth phases."""
    md: Rate | None = None
    """kIOPS: the geometric mean of the metadata phases."""
    score: Rate | None = None
    """The square root of their product."""


class Flag(Document):
    """Something that a reader of the result must know."""

    id: str
    what: str
    """One sentence with its numbers."""
    excludes: bool = False
    """It costs the result its place in a list."""


class SubmittedFile(Document):
    """A file that an import read: a summary, or what lies beside it."""

    name: str
    """Without its folder."""
    bytes: Count
    sha256: str = ""
    """Empty: it is larger than what an import reads."""


class Io500Result(Document):
    """One run of IO500, as its files or a list tell it."""

    schema_: Literal["venturi.published/1"] = Field("venturi.published/1", alias="schema")
    key: str
    """What it is known by here: from the bytes of its summary."""
    source: str
    """The file, below the folder that was named."""
    format: Literal["bash", "c-app", "list", "venturi"]
    """`venturi`: a run of our own, which is no official result."""
    version: str = ""
    mode: Literal["standard", "extended"] = "standard"
    institution: str = ""
    system: str = ""
    filesystem: str = ""
    storage_vendor: str = ""
    release: str = ""
    """The list that it came out with, in capitals: `SC23`. The site calls it BoF."""
    reproducibility: str = ""
    """The level that the list gives it: `Undefined`, `Limited`, `Proprietary`, `Fully
    Reproducible`, or another word of the list; empty: it gives none."""
    year: Positive | None = None
    procs: Positive | None = None
    """Client processes."""
    nodes: Positive | None = None
    classification: str = ""
    """What its owner calls the system: `production`, `research` ..."""
    configuration: dict[str, str] = {}
    """What the submission says of clients and servers, by the names of the list's schema:
    `md_nodes`, `ds_storage_type` ..."""
    questionnaire: dict[str, str] = {}
    """Answers to the list's questionnaire on reproducibility, by its names: `availability` ..."""
    files: list[SubmittedFile] = []
    phases: list[Io500Phase]
    published: Io500Score
    published_extended: Io500Score | None = None
    recomputed: Io500Score
    """By the official formula, which leaves out phases of 0."""
    recomputed_extended: Io500Score | None = None
    match: bool
    """Everything published is what the phases give."""
    score_hash: Check = Check.ABSENT
    config_hash: Check = Check.ABSENT
    evidence: Count = 0
    """How much was found beside the summary: of copies of one, the one with most is kept."""
    ranked: bool
    """It may stand in a list: no flag excludes it."""
    flags: list[Flag] = []
