"""Adding files to a git repository that others add to at the same moment, without a checkout.

A commit is made from what the repository has now and the new files, and pushed; where somebody
was quicker, it is made anew. As nothing that is there is changed, there are no conflicts.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from venturi.model.error import TargetProblem, UserError

_LIMIT_S = 600
_TRIES = 60
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0
_THEIRS = "refs/heads/theirs"
_QUICKER = (
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "failed to update ref",
    "incorrect old value",
    "reference already exists",
    "stale info",
)
"""What git says where another push came first."""


class Unreachable(TargetProblem):
    """The repository does not answer now."""


class Remote:
    """A repository of others, with a spool of what is to be added to it."""

    def __init__(self, home: Path, address: str, branch: str | None = None) -> None:
        """`home` is where our side is kept; UserError where git or `home` cannot be used."""
        try:
            local = Path(address).expanduser()
        except RuntimeError:  # nobody is called so
            local = Path(address)
        self._address = str(local.absolute()) if local.exists() else address
        self._home = home / hashlib.sha256(self._address.encode()).hexdigest()[:16]
        self._branch = branch
        self._objects = self._home / "objects.git"
        self._spool = self._home / "spool"
        if self._address.startswith("-"):
            raise UserError(f"{address}: this is no repository")
        self._spool.mkdir(parents=True, exist_ok=True)
        if not self._objects.is_dir():
            self._git("init", "-q", "--bare", str(self._objects))

    def put(self, path: str, text: str) -> None:
        """Lays a file into the spool; it is whole or not there."""
        place = self._spool / path
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        beside.write_text(text, "utf-8")
        beside.replace(place)

    def waiting(self) -> list[str]:
        """The files in the spool."""
        return sorted(
            os.path.relpath(os.path.join(top, name), self._spool)
            for top, _, names in os.walk(self._spool)
            for name in names
            if not name.startswith(".")
        )

    def send(self, message: str) -> list[str]:
        """Adds what is in the spool, each file that is not there yet; which were added.

        Raises Unreachable, and then the spool stays as it is, and UserError where the repository
        refuses.
        """
        with self._alone():
            pause_s = _FIRST_PAUSE_S
            for _ in range(_TRIES):
                branch, tip = self._tip()
                there = self._names(tip) if tip else set()
                waiting = self.waiting()
                new = [name for name in waiting if name not in there]
                if not new or self._push(self._commit(tip, new, message), branch):
                    self._forget(waiting)
                    return new
                time.sleep(random.uniform(0.0, pause_s))
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise Unreachable(
            f"{self._address}: others were quicker {_TRIES} times in a row", "try again later"
        )

    def seen(self) -> set[str]:
        """The files that the repository had when we last asked it."""
        found = self._run("rev-parse", "-q", "--verify", _THEIRS)
        return self._names(found.stdout.strip()) if found.returncode == 0 else set()

    def _tip(self) -> tuple[str, str]:
        """The branch, and the commit that it is at, fetched; empty where there is none yet."""
        listed = self._ask("ls-remote", "--symref", self._address, "HEAD", "refs/heads/*")
        heads: dict[str, str] = {}
        chosen = ""
        for line in listed.splitlines():
            value, _, name = line.partition("\t")
            if value.startswith("ref: "):
                chosen = value.removeprefix("ref: refs/heads/")
            elif name.startswith("refs/heads/"):
                heads[name.removeprefix("refs/heads/")] = value
        branch = self._branch or chosen or next(iter(heads), "") or self._unborn()
        if branch not in heads:
            return branch, ""
        self._ask("fetch", "-q", "--no-tags", self._address, f"+refs/heads/{branch}:{_THEIRS}")
        return branch, self._git("rev-parse", _THEIRS).strip()

    def _unborn(self) -> str:
        """The branch that an empty repository beside us is to have; `main` elsewhere."""
        head = {"GIT_DIR": self._address}
        found = self._run("symbolic-ref", "-q", "--short", "HEAD", more=head)
        return found.stdout.strip() or "main"

    def _names(self, tip: str) -> set[str]:
        return set(self._git("ls-tree", "-r", "-z", "--name-only", tip).split("\0"))

    def _commit(self, tip: str, names: Sequence[str], message: str) -> str:
        """A commit on `tip` with these files of the spool."""
        index = {"GIT_INDEX_FILE": str(self._home / f"index.{os.getpid()}")}
        paths = "".join(f"{self._spool / name}\n" for name in names)
        blobs = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", text=paths).split()
        rows = "".join(f"100644 {blob}\t{name}\0" for blob, name in zip(blobs, names, strict=True))
        try:
            self._git("read-tree", tip or "--empty", more=index)
            self._git("update-index", "-z", "--index-info", text=rows, more=index)
            tree = self._git("write-tree", more=index).strip()
        finally:
            Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        above = ["-p", tip] if tip else []
        return self._git("commit-tree", tree, *above, "-m", message).strip()

    def _push(self, commit: str, branch: str) -> bool:
        """Whether the commit was taken; False: somebody else was quicker."""
        done = self._run("push", "--porcelain", self._address, f"{commit}:refs/heads/{branch}")
        if done.returncode == 0:
            return True
        said = f"{done.stdout}\n{done.stderr}"
        if any(word in said for word in _QUICKER):
            return False
        refused = [line for line in done.stdout.splitlines() if line.startswith("!")]
        if refused:
            raise UserError(f"{self._address} refuses: {refused[0].split(chr(9))[-1]}")
        raise self._unreachable(done)

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            (self._spool / name).unlink(missing_ok=True)

    def _ask(self, *words: str) -> str:
        """Git, asking the other side."""
        done = self._run(*words)
        if done.returncode:
            raise self._unreachable(done)
        return done.stdout

    def _unreachable(self, done: subprocess.CompletedProcess[str]) -> Unreachable:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return Unreachable(f"{self._address}: {said[0] if said else 'no answer'}")

    def _git(self, *words: str, text: str = "", more: dict[str, str] | None = None) -> str:
        done = self._run(*words, text=text, more=more)
        if done.returncode:
            raise UserError(f"git {words[0]} failed: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def _run(
        self, *words: str, text: str = "", more: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Git on our side, as nobody in particular, and without asking anybody anything."""
        who = ("-c", "user.name=venturi", "-c", "user.email=venturi@localhost")
        command = ["git", *who, "-c", "commit.gpgsign=false", "-c", "gc.auto=0", *words]
        environment = {
            **os.environ,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
            "LC_ALL": "C",
            **({"GIT_DIR": str(self._objects)} if words[0] != "init" else {}),
            **(more or {}),
        }
        try:
            return subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                check=False,
                env=environment,
                timeout=_LIMIT_S,
            )
        except FileNotFoundError:
            raise UserError("git is not here", "install it; results are shared by git") from None
        except subprocess.TimeoutExpired:
            raise Unreachable(f"{self._address}: no answer within {_LIMIT_S} s") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other commands off our side."""
        with (self._home / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
