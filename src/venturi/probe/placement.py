"""One target for each server of a parallel file system, so that a slow one is seen by itself.

Lustre places what is made below a directory by that directory's layout: `lfs setstripe` names the
OST of files, `lfs mkdir` the MDT of a directory, and its default layout that of directories in it.
A placed target is therefore an ordinary one whose directory was made so, and a file and a directory
made for trial show that the layout holds. Other file systems choose servers themselves.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.execute.target import check_directory, file_system_of
from venturi.model.error import TargetProblem, UserError
from venturi.model.probe import ProbeKind, ProbeServer, ProbeServerKind, ProbeTarget

_SERVER = re.compile(r"^\s*(\d+): (\S+?)(?:_UUID)? +(\w+)\s*$")
_ACTIVE = "ACTIVE"
_PATIENCE_S = 60.0
_KINDS = {
    ProbeKind.DATA: (ProbeServerKind.OST, "osts"),
    ProbeKind.METADATA: (ProbeServerKind.MDT, "mdts"),
}
_REASONS = {
    "beegfs": "BeeGFS chooses the servers of new files and directories itself",
}
_OWN = "venturi-probe-"
_INSTEAD = (
    "name directories that the administrator placed (a pool of servers, a mount) as targets of "
    "their own in a configuration file"
)


@dataclass(frozen=True)
class PlacedTargets:
    """Targets with those of single servers in place of those that ask for each."""

    targets: Sequence[ProbeTarget]
    remarks: Sequence[str]
    """Servers that are left out, a sentence each."""


def placed(targets: Sequence[ProbeTarget]) -> PlacedTargets:
    """Replace each target that asks for it by one for each server that holds its kinds of data.

    Nothing is made. Raises UserError where the file system cannot place files, TargetProblem where
    it does not say which servers it has.
    """
    found: list[ProbeTarget] = []
    remarks: list[str] = []
    for target in targets:
        if not target.each_server:
            found.append(target)
            continue
        own, left_out = _of_each_server(target)
        found += own
        remarks += left_out
    names = [target.name for target in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"two targets would be called {twice}", "give them other names")
    return PlacedTargets(found, remarks)


def commands_for(target: ProbeTarget) -> list[list[str]]:
    """Return what makes the directory of a placed target; nothing for other targets."""
    server, path = target.server, target.directory
    if server is None:
        return []
    number = str(server.index)
    if server.kind is ProbeServerKind.OST:
        return [["mkdir", path], ["lfs", "setstripe", "-c", "1", "-i", number, path]]
    return [
        ["lfs", "mkdir", "-i", number, path],
        ["lfs", "setdirstripe", "-D", "-c", "1", "-i", number, path],
    ]


def place(target: ProbeTarget) -> None:
    """Make the directory of a placed target, unless it is there, and see that its layout holds.

    Raises TargetProblem where it cannot be made, or what is made in it goes elsewhere.
    """
    if target.server is None:
        return
    if Path(target.directory).is_dir():
        _check(target, target.server)
        return
    try:
        for words in commands_for(target):
            _make(words, target)
        _check(target, target.server)
    except TargetProblem:
        unplace(target)
        raise


def _check(target: ProbeTarget, server: ProbeServer) -> None:
    path = Path(target.directory)
    found = _index_of_trial(path, server)
    if found != str(server.index):
        raise TargetProblem(
            f"{target.name}: what is made in {path} goes to {server.kind.value} {found}, "
            f"not {server.index}",
            "ask lfs getstripe -d and lfs getdirstripe -D for the layout of the directory",
        )


def unplace(target: ProbeTarget) -> None:
    """Remove the directory of a placed target where it is empty; anything else stays."""
    path = Path(target.directory)
    if target.server is not None and path.name.startswith(_OWN):
        try:
            path.rmdir()
        except OSError:
            return


def check_room_together(targets: Sequence[ProbeTarget]) -> None:
    """Raise TargetProblem where the data of all servers of a file system do not fit together."""
    needs: dict[Path, int] = {}
    for target in targets:
        if target.server is not None and not Path(target.directory).exists():
            base = Path(target.directory).parent
            is_data = target.server.kind is ProbeServerKind.OST
            size = target.data_bytes if is_data else target.pool_files * target.file_bytes
            needs[base] = needs.get(base, 0) + size
    for base, size in needs.items():
        free = file_system_of(base).free_bytes
        if size > free:
            raise TargetProblem(
                f"{base}: the files on all servers need {size / 1e9:.1f} GB, but only "
                f"{free / 1e9:.1f} GB are free",
                "name another size of the data file (--data, or data in a configuration file)",
            )


def _of_each_server(target: ProbeTarget) -> tuple[list[ProbeTarget], list[str]]:
    directory = Path(target.directory)
    check_directory(directory)
    system = file_system_of(directory).type
    if system != "lustre":
        why = _REASONS.get(system, f"{system} cannot place files on a server of one's choice")
        raise UserError(f"{directory}: no target for each server: {why}", _INSTEAD)
    found: list[ProbeTarget] = []
    remarks: list[str] = []
    for kind in target.kinds:
        server_kind, what = _KINDS[kind]
        servers = _servers(directory, server_kind, what)
        for server, state in servers:
            if state != _ACTIVE:
                remarks.append(f"{target.name}: {server.name} is {state} and left out")
                continue
            found.append(_target_on(target, kind, server))
    return found, remarks


def _servers(directory: Path, kind: ProbeServerKind, what: str) -> list[tuple[ProbeServer, str]]:
    """The servers as `lfs osts` or `lfs mdts` tells them, with the state of each."""
    words = ["lfs", what, str(directory)]
    answer = _asked(words)
    rows = [row for line in answer.stdout.splitlines() if (row := _SERVER.match(line))]
    if answer.returncode or not rows:
        said = answer.stderr.strip() or answer.stdout.strip() or "it prints nothing"
        raise TargetProblem(f"{directory}: {' '.join(words)} does not say which there are: {said}")
    return [
        (ProbeServer(kind=kind, index=int(row[1]), name=row[2]), row[3].upper()) for row in rows
    ]


def _target_on(target: ProbeTarget, kind: ProbeKind, server: ProbeServer) -> ProbeTarget:
    name = f"{target.name[:48]}-{server.kind.value}{server.index:04d}"
    path = Path(target.directory, f"{_OWN}{name}")
    return target.model_copy(
        update={
            "name": name,
            "directory": str(path),
            "kinds": [kind],
            "each_server": False,
            "server": server,
        }
    )


def _make(words: list[str], target: ProbeTarget) -> None:
    if words[0] == "mkdir":
        try:
            Path(target.directory).mkdir()
        except OSError as error:
            raise TargetProblem(f"{target.directory}: {error.strerror}") from None
        return
    answer = _asked(words)
    if answer.returncode:
        said = (answer.stderr.strip() or answer.stdout.strip() or "failed").splitlines()[-1]
        hint = ""
        if words[1] in ("mkdir", "setdirstripe"):
            hint = (
                "users may do this where the administrator allows it "
                "(mdt.*.enable_remote_dir_gid=-1); --kind data watches the OSTs alone"
            )
        raise TargetProblem(f"{target.name}: {' '.join(words)}: {said}", hint)


def _index_of_trial(path: Path, server: ProbeServer) -> str:
    """Where something new in the directory lies, as Lustre says; the trial is gone afterwards."""
    trial = path / f"{_OWN}trial-{secrets.token_hex(8)}"
    try:
        if server.kind is ProbeServerKind.OST:
            os.close(os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
            words = ["lfs", "getstripe", "-i", str(trial)]
        else:
            trial.mkdir()
            words = ["lfs", "getdirstripe", "-m", str(trial)]
    except OSError as error:
        raise TargetProblem(f"{path}: nothing can be made there: {error.strerror}") from None
    try:
        answer = _asked(words)
    finally:
        trial.rmdir() if server.kind is ProbeServerKind.MDT else trial.unlink()
    said = answer.stdout.strip()
    if answer.returncode or not said.isdecimal():
        raise TargetProblem(
            f"{' '.join(words)} does not say where it lies: {answer.stderr.strip() or said}"
        )
    return said


def _asked(words: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S,
            check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except FileNotFoundError:
        raise UserError(
            f"{words[0]} is not installed here", "it belongs to the client of Lustre"
        ) from None
    except subprocess.TimeoutExpired:
        raise TargetProblem(f"{' '.join(words)} did not answer in {_PATIENCE_S:.0f} s") from None
