"""The tracer's library: where it is, and how a program is made to load it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from venturi.capture.untraced import must_start_without_tracer
from venturi.execute.installed import installed_folders
from venturi.model.error import UserError

LIBRARY = "libventuri-tracer.so"
CONFIGURATION = "configuration"
_MOST_GLOB_BYTES = 900


@dataclass(frozen=True)
class TracerSettings:
    """What is recorded."""

    counters_only: bool = False
    limit: int = 50_000_000
    """Operations per process; what comes after them is counted only."""
    only: tuple[str, ...] = ()
    """Globs of paths; empty: all."""
    skip: tuple[str, ...] = ()
    all_paths: bool = False
    """Also system directories, pipes and sockets."""
    with_runs: bool = True
    """Whether runs of equal calls are kept once; tests compare traces with and without."""


def find_tracer() -> Path:
    """The tracer's library; UserError if this installation has none.

    Looked for in the folders of this installation.
    """
    for folder in installed_folders():
        if (folder / LIBRARY).is_file():
            return (folder / LIBRARY).resolve()
    raise UserError(
        f"this installation has no tracer ({LIBRARY} was not found)",
        "install Venturi again, or use --with strace",
    )


def configure(spool: Path, settings: TracerSettings) -> None:
    """Writes what the tracer of each process reads into the trace's folder.

    Raises UserError where globs are too long for it.
    """
    for name, globs in (("--only", settings.only), ("--skip", settings.skip)):
        if sum(len(glob.encode()) + 1 for glob in globs) > _MOST_GLOB_BYTES:
            raise UserError(f"{name}: the globs are longer than {_MOST_GLOB_BYTES} bytes together")
        if any("\n" in glob for glob in globs):
            raise UserError(f"{name}: a glob cannot hold a line break")
    lines = [
        f"limit {settings.limit}",
        f"counters_only {int(settings.counters_only)}",
        f"runs {int(settings.with_runs)}",
        f"all_paths {int(settings.all_paths)}",
        *(f"only {absolute_glob(glob)}" for glob in settings.only),
        *(f"skip {absolute_glob(glob)}" for glob in settings.skip),
    ]
    (spool / CONFIGURATION).write_text("\n".join(lines) + "\n", "utf-8")


def absolute_glob(glob: str) -> str:
    """Globs match whole paths, so one that does not begin at the root may begin anywhere."""
    return glob if glob.startswith(("/", "*")) else f"*/{glob}"


def environment(spool: Path, program: str = "") -> dict[str, str]:
    """The environment of a program that is to be traced into `spool`.

    Without the tracer where `program`, if it is known, would not start with it.
    """
    if must_start_without_tracer(program):
        return {**os.environ, "VENTURI_TRACE_DIR": str(spool)}
    library = str(find_tracer())
    if any(separator in library for separator in " :"):
        raise UserError(
            f"'{library}' cannot be preloaded", "install Venturi in a path without ' ', ':'"
        )
    already = os.environ.get("LD_PRELOAD", "")
    sanitizer = os.environ.get("ASAN_OPTIONS", "")
    return {
        **os.environ,
        "LD_PRELOAD": f"{library}:{already}" if already else library,
        # A sanitized program refuses to start where another library comes before its own.
        "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0".lstrip(":"),
        "VENTURI_TRACE_DIR": str(spool),
    }
