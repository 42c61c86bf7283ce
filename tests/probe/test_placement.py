"""A target for each server: what is asked of Lustre, what is said, and that workers work there."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from venturi.cli.probe import command
from venturi.execute.target import file_system_of
from venturi.model.document import parse_data
from venturi.model.error import TargetProblem, UserError, VenturiError
from venturi.model.probe import ProbeTarget
from venturi.probe import placement

SMALL = ("--pool", "8", "--data", "2 MiB", "--interval", "0.1")
SERVERS = ("scratch-mdt0000", "scratch-mdt0001", "scratch-ost0000", "scratch-ost0002")


@dataclass
class StandIn:
    """A directory that passes for one on Lustre, and the `lfs` that answers."""

    home: Path
    directory: Path
    store: Path
    system: str = "lustre"

    def dialogue(self) -> list[str]:
        """What `lfs` was asked, names of trials shortened; forgotten afterwards."""
        path = self.home / "dialogue"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.replace(str(self.directory), "DIR").split("/venturi-probe-trial")[0]
                for line in lines]  # fmt: skip

    def call(self, verb: str, *words: str) -> Result:
        return CliRunner().invoke(command, [verb, *words, "--store", str(self.store)])

    def refused(self, verb: str, *words: str) -> VenturiError:
        done = self.call(verb, *words)
        assert isinstance(done.exception, VenturiError), done.output
        return done.exception

    def made(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir())


@pytest.fixture
def lustre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    home, directory = tmp_path / "lfs", tmp_path / "scratch"
    for one in (home, directory):
        one.mkdir()
    shutil.copy(Path(__file__).with_name("lfs_stand_in.py"), home)
    (home / "lfs").write_text(f'#!/bin/sh\nexec {sys.executable} -P {home}/lfs_stand_in.py "$@"\n')
    (home / "lfs").chmod(0o755)
    made = StandIn(home, directory, tmp_path / "store")
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    monkeypatch.setattr(
        placement,
        "file_system_of",
        lambda path: file_system_of(path).model_copy(update={"type": made.system}),
    )
    return made


def test_check_says_what_would_be_made_and_makes_nothing(lustre: StandIn) -> None:
    done = lustre.call("check", "--each-server", *SMALL, str(lustre.directory))
    assert done.exit_code == 0, done.exception
    said = "".join(done.output.split()).replace(str(lustre.directory), "DIR")  # lines are broken
    for name in SERVERS:
        assert f"{name}DIR/venturi-probe-{name}" in said
    assert "serverscratch-OST0002,alone" in said
    where = "DIR/venturi-probe-scratch-ost0002"
    assert f"firststartmkdir{where};lfssetstripe-c1-i2{where}" in said
    where = "DIR/venturi-probe-scratch-mdt0001"
    assert f"firststartlfsmkdir-i1{where};lfssetdirstripe-D-c1-i1{where}" in said
    assert "scratch:scratch-OST0001isINACTIVEandleftout" in said
    assert lustre.made() == []
    assert lustre.dialogue() == ["mdts DIR", "osts DIR"]
    document = json.loads(
        lustre.call("check", "--each-server", *SMALL, "--json", str(lustre.directory)).output
    )
    assert [one["target"]["name"] for one in document["costs"]] == list(SERVERS)
    assert document["remarks"] == ["scratch: scratch-OST0001 is INACTIVE and left out"]


def test_each_server_is_measured_in_a_directory_that_is_placed_on_it(lustre: StandIn) -> None:
    words = ["--each-server", *SMALL, "--once", "--yes", str(lustre.directory)]
    done = lustre.call("run", *words)
    assert done.exit_code == 0, (done.output, done.exception)
    for name in SERVERS:
        operation = "data_read" if "ost" in name else "md_create"
        assert f'target="{name}",op="{operation}"' in done.output
    assert lustre.made() == [f"venturi-probe-{name}" for name in SERVERS]
    asked = lustre.dialogue()
    for server, index, verb in (("ost0000", 0, "setstripe -c 1"), ("ost0002", 2, "setstripe -c 1"),
                                ("mdt0001", 1, "setdirstripe -D -c 1")):  # fmt: skip
        assert f"{verb} -i {index} DIR/venturi-probe-scratch-{server}" in asked
    assert "getstripe -i DIR/venturi-probe-scratch-ost0002" in asked
    assert "getdirstripe -m DIR/venturi-probe-scratch-mdt0001" in asked
    for name in SERVERS:
        kind = "data" if "ost" in name else "metadata"
        [root] = (lustre.directory / f"venturi-probe-{name}").iterdir()
        assert root.name.startswith(f"venturi-probe-{kind}-")
    again = lustre.call("run", *words)
    assert again.exit_code == 0, again.exception
    verbs = {line.split()[0] for line in lustre.dialogue()}
    assert verbs == {"osts", "mdts", "getstripe", "getdirstripe"}
    gone = lustre.call("remove", "--yes", *SERVERS)
    assert gone.exit_code == 0, gone.output
    assert lustre.made() == []


def test_a_layout_that_does_not_hold_is_refused(lustre: StandIn) -> None:
    (lustre.home / "forget").touch()
    words = ["--each-server", *SMALL, "--kind", "data", "--once", "--yes", str(lustre.directory)]
    error = lustre.refused("run", *words)
    assert isinstance(error, TargetProblem)
    assert "goes to ost 0, not 2" in error.message
    kept = lustre.directory / "venturi-probe-scratch-ost0002"
    assert not kept.exists()
    kept.mkdir()
    (kept / "somebody's").touch()
    assert "goes to ost 0, not 2" in lustre.refused("run", *words).message
    assert [path.name for path in kept.iterdir()] == ["somebody's"]


def test_a_user_who_may_not_choose_the_mdt_is_told_so(lustre: StandIn) -> None:
    (lustre.home / "refuse").touch()
    error = lustre.refused("run", "--each-server", *SMALL, "--once", "--yes", str(lustre.directory))
    assert "Operation not permitted" in error.message
    assert "enable_remote_dir_gid" in error.hint
    assert "--kind data" in error.hint
    assert lustre.made() == []


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("ext4", "ext4 cannot place files on a server of one's choice"),
        ("nfs4", "nfs4 cannot place files on a server of one's choice"),
        ("beegfs", "BeeGFS chooses the servers of new files and directories itself"),
    ],
)
def test_a_file_system_that_cannot_place_files_is_said(
    lustre: StandIn, system: str, said: str
) -> None:
    lustre.system = system
    for verb in ("check", "run"):
        error = lustre.refused(verb, "--each-server", *SMALL, str(lustre.directory))
        assert isinstance(error, UserError)
        assert error.message == f"{lustre.directory}: no target for each server: {said}"
        assert "name directories that the administrator placed" in error.hint
    assert lustre.made() == lustre.dialogue() == []


def test_a_real_file_system_of_this_host_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["check", "--each-server", str(tmp_path)])
    assert isinstance(done.exception, UserError)
    assert "cannot place files on a server of one's choice" in done.exception.message


def test_without_lfs_or_with_one_that_fails_it_is_one_clear_error(lustre: StandIn) -> None:
    words = ["--each-server", *SMALL, str(lustre.directory)]
    (lustre.home / "lfs").write_text("#!/bin/sh\necho 'lfs: not a lustre' >&2\nexit 2\n")
    assert (
        "does not say which there are: lfs: not a lustre" in lustre.refused("check", *words).message
    )
    (lustre.home / "lfs").unlink()
    assert lustre.refused("check", *words).message == "lfs is not installed here"


def test_what_does_not_fit_on_all_servers_together_is_refused(lustre: StandIn) -> None:
    free = file_system_of(lustre.directory).free_bytes
    words = ["--each-server", "--kind", "data", "--data", f"{free * 2 // 3} B"]
    error = lustre.refused("check", *words, str(lustre.directory))
    assert isinstance(error, TargetProblem)
    assert "the files on all servers need" in error.message


def test_a_configuration_asks_for_each_server_too(lustre: StandIn, tmp_path: Path) -> None:
    config = tmp_path / "probe.yaml"
    config.write_text(
        "schema: venturi.probe/1\ntargets:\n"
        f"  - {{name: fast, directory: {lustre.directory}, each_server: true, kinds: [data],\n"
        "     data: 2 MiB}\n"
        f"  - {{name: whole, directory: {lustre.directory}, data: 2 MiB, pool_files: 8}}\n"
    )
    done = lustre.call("check", "--config", str(config), "--json")
    assert done.exit_code == 0, done.exception
    targets = [parse_data(ProbeTarget, one["target"]) for one in json.loads(done.output)["costs"]]
    assert [one.name for one in targets] == ["fast-ost0000", "fast-ost0002", "whole"]
    assert [one.server.index if one.server else None for one in targets] == [0, 2, None]
