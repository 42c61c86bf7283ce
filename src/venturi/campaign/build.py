"""Programs that a campaign builds from a git repository: once for each commit, flags and modules.

A build has a folder of the store, `builds/KEY/`, with the sources in `source/` and `built.json`
when it is whole; every campaign that needs the same finds it. Sources are fetched where the
campaign is begun, because nodes of a cluster seldom reach a network.

`python -m venturi.campaign.build FOLDER SOURCES COMMIT COMMAND` is what a job runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from venturi.model.campaign import Build, Version
from venturi.model.error import UserError
from venturi.store.whole_file import write_whole

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PATIENCE_S = 600.0
BUILT = "built.json"


@dataclass(frozen=True)
class SourceCommit:
    """One commit of a repository, and where the store keeps that repository."""

    address: str
    commit: str
    copy: Path


def source_of(build: Build, address: str, revision: str, store: Path) -> SourceCommit:
    """The commit that a build means now; UserError where there is none."""
    wanted = revision if build.version is Version.PINNED else revision or "HEAD"
    commit = wanted if _COMMIT.fullmatch(wanted) else _resolved(address, wanted)
    return source_at(address, commit, store)


def source_at(address: str, commit: str, store: Path) -> SourceCommit:
    """A commit that is known."""
    name = hashlib.sha256(address.encode()).hexdigest()[:16]
    return SourceCommit(address, commit, store / "builds" / "sources" / f"{name}.git")


def folder_of(
    store: Path, source: SourceCommit, command: str, flags: Mapping[str, str], setup: Sequence[str]
) -> Path:
    """The folder of a build, by all that makes it what it is."""
    facts = [source.address, source.commit, command, sorted(flags.items()), list(setup)]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:20]
    return store / "builds" / key


def fetch(source: SourceCommit) -> None:
    """Brings a commit into the store; UserError where the repository does not have it."""
    with _locked(source.copy):
        if not source.copy.exists():
            beside = source.copy.with_suffix(".new")
            shutil.rmtree(beside, ignore_errors=True)
            _git("clone", "-q", "--mirror", "--", source.address, str(beside))
            beside.rename(source.copy)
        if not _has(source):
            _git("-C", str(source.copy), "remote", "update")
        if not _has(source):
            raise UserError(
                f"{source.address} has no commit {source.commit}", "see 'commit' of the build"
            )


def _has(source: SourceCommit) -> bool:
    words = ["git", "-C", str(source.copy), "cat-file", "-e", f"{source.commit}^{{commit}}"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@lru_cache
def _resolved(address: str, name: str) -> str:
    """The commit of a tag or branch as the repository has it now."""
    found: dict[str, str] = {}
    for line in _git("ls-remote", "--", address, name, f"{name}^{{}}").splitlines():
        commit, _, reference = line.partition("\t")
        found[reference] = commit
    for reference in (f"refs/tags/{name}^{{}}", f"refs/tags/{name}", f"refs/heads/{name}", name):
        if reference in found:
            return found[reference]
    raise UserError(f"{address} has no tag or branch '{name}'", "a commit has all its 40 digits")


def _git(*words: str) -> str:
    """What git prints; UserError with its last word where it fails."""
    try:
        done = subprocess.run(
            ["git", *words],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
    except FileNotFoundError:
        raise UserError("git is not installed here", "builds need it") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"git {words[0]} did not end in {_PATIENCE_S:g} s") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it failed"]
        raise UserError(f"git {words[0]}: {said[-1]}", "see 'source' of the build")
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time makes what stands at a path; the lock ends with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(words: Sequence[str]) -> int:
    """Builds, unless that was done before; the exit code of what failed."""
    folder, sources, commit, command = Path(words[0]), *words[1:]
    with _locked(folder):
        if (folder / BUILT).exists():
            print(f"built before: {folder}")
            return 0
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        begin_s = time.monotonic()
        tree = folder / "source"
        steps = [
            ["git", "clone", "-q", "--no-checkout", sources, str(tree)],
            ["git", "-C", str(tree), "checkout", "-q", commit],
            ["git", "-C", str(tree), "submodule", "-q", "update", "--init", "--recursive"],
        ]
        for step in steps:
            if code := subprocess.call(step):
                return code
        if code := subprocess.call(["/bin/sh", "-c", command], cwd=tree):
            return code
        facts = {"commit": commit, "command": command, "seconds": time.monotonic() - begin_s}
        write_whole(folder / BUILT, json.dumps(facts, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
