"""The machine: where a workload runs and how jobs are started there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from venturi.model.document import Count, Document, Positive, Seconds
from venturi.model.notice import Event
from venturi.model.profile import Profile

MACHINE_SCHEMA = "venturi.machine/2"


class LauncherKind(StrEnum):
    """How the engine's ranks are started."""

    LOCAL = "local"
    MPIRUN = "mpirun"


class MpiLibrary(StrEnum):
    """The MPI that a launcher belongs to."""

    OPENMPI = "openmpi"
    MPICH = "mpich"


class Launcher(Document):
    """One way to start ranks."""

    kind: LauncherKind = LauncherKind.LOCAL
    """Default: `mpirun` where `mpi` is given."""
    mpi: MpiLibrary | None = None
    command: list[str] = []
    """The launch line up to the engine; `{ranks}` is replaced. Empty: a sound default.

    Commands of campaigns have it as `{launch}`, where `{nodes}` and `{ranks_per_node}` are, too.
    """

    @model_validator(mode="before")
    @classmethod
    def _kind_by_mpi(cls, given: Any) -> Any:
        """Whoever names an MPI wants it used."""
        if isinstance(given, dict) and given.get("mpi") is not None and "kind" not in given:
            return {**given, "kind": LauncherKind.MPIRUN}
        return given

    @model_validator(mode="after")
    def _check_use(self) -> Launcher:
        """Raise ValueError for what would be ignored."""
        if self.kind is LauncherKind.LOCAL and self.mpi is not None:
            raise ValueError("kind 'local' forks ranks without MPI, so 'mpi' would be ignored")
        return self


class SchedulerKind(StrEnum):
    """What jobs are handed to."""

    LOCAL = "local"
    """Processes of this host, one job at a time."""
    SLURM = "slurm"
    PBS = "pbs"
    """PBS Professional or OpenPBS."""
    LSF = "lsf"
    FLUX = "flux"


class Scheduler(Document):
    """How a campaign's jobs are started at this site; campaigns say nothing about it."""

    kind: SchedulerKind = SchedulerKind.LOCAL
    queue: str = ""
    """The partition."""
    account: str = ""
    """Whom the time is charged to: account, project or bank."""
    options: list[str] = []
    """More options of the submission, each a line in the job's script."""
    modules: list[str] = []
    """Loaded at the beginning of each job."""
    setup: list[str] = []
    """Lines of shell at the beginning of each job."""
    most_jobs: Positive = 1
    """Jobs in flight; measurements on one storage disturb each other."""
    most_minutes: Positive | None = None
    """What one job may ask for; more runs are spread over more jobs."""
    poll_s: Seconds = 2.0
    """How long to wait before asking again."""


class Mail(Document):
    """Notices by e-mail."""

    to: Annotated[list[str], Field(min_length=1)]
    sender: str = ""
    """Default: the user at this host."""
    server: str = "localhost:25"
    tls: bool = False
    """STARTTLS, with a certificate that the system trusts."""
    user: str = ""
    password_from: str = ""
    """The name of a variable of the environment."""


class Notices(Document):
    """How this site's people hear of what happens to campaigns."""

    mail: Mail | None = None
    webhook: str = ""
    """An address that takes JSON; `$NAME`: it stands in that variable of the environment."""
    site: str = ""
    """Where the site of results is published: notices name its page of the campaign. `$NAME`: the
    address stands in that variable of the environment."""
    on: list[Event] = list(Event)
    """What they want to hear of."""


class Bound(Document):
    """A known upper limit of a rate; a measurement above it is wrong."""

    operation: Literal["write", "read"]
    bytes_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    about: str = ""
    target: str = ""
    """Only in this one of the machine's targets; empty: in all."""


class Software(Document):
    """How something that campaigns need is to be had at this site."""

    modules: list[str] = []
    setup: list[str] = []
    """Lines of shell."""


class Target(Document):
    """A place where I/O is done; `venturi campaign run -d NAME` takes its name."""

    name: str
    path: str
    about: str = ""
    most_bytes: Count | None = None
    """What one campaign may write here; more is refused before anything runs."""
    most_files: Count | None = None
    """How many files and directories one campaign may make here."""


class Machine(Document):
    """One computer or cluster, as the planner and the launchers see it."""

    schema_: Literal["venturi.machine/2"] = Field("venturi.machine/2", alias="schema")
    name: str
    about: str = ""
    launcher: Launcher = Launcher()
    scheduler: Scheduler = Scheduler()
    notices: Notices = Notices()
    software: dict[str, Software] = {}
    """What a step's `needs` names, for instance a compiler or an MPI."""
    server_memory_bytes: Count | None = None
    """Of all storage servers together; `server_memory` in a workload."""
    expect_fstype: str = ""
    """The type of file system that every target must lie on; empty: any."""
    most_ranks: Positive = 4096
    """Larger values are rejected as typos."""
    targets: list[Target] = []
    bounds: list[Bound] = []
    profile: Profile | None = None
    """What `venturi profile` measured here; `venturi predict --on` reads it."""
