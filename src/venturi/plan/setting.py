"""What the user settles for one run, apart from the workload itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from venturi.model.workload import DEFAULT_SCALE


@dataclass(frozen=True)
class RunSettings:
    """The choices of one run; `None` leaves the choice to the workload.

    `assignments` are the texts of `--set name=value`; `directory` is the target as given;
    `run_directory` and `journal` are absolute paths that the engine will use.
    """

    ranks: int | None = None
    nodes: int = 1
    scale: str = DEFAULT_SCALE
    repetitions: int | None = None
    seed: int = 1
    assignments: dict[str, str] = field(default_factory=dict)
    most_ranks: int = 4096
    run: str = "unnamed"
    directory: str = "/nonexistent"
    run_directory: str = "/nonexistent/run"
    journal: str = "/nonexistent/journal"
    expect_fstype: str = ""
    server_memory_bytes: int | None = None
