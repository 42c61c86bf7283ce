"""Runs on a Ceph pool whose clients need a key: data, removal, failures, other people's objects."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cli.ceph import OF_OBJECTS, Ceph, key_of, refuse_where_missing
from cli.conftest import Cli, Finished, engines_of, wait_for
from venturi.compat.ior_interface import RADOS_POOL

pytestmark = [pytest.mark.nightly, pytest.mark.needs("ceph")]

MIB = 1 << 20
POOL = "shelf"
WORKLOAD = """
workload: 1
name: objects
parameters: {{np: {{default: 2, role: ranks}}, count: 12}}
groups: {{g: {{ranks: np}}}}
files:
  own:
    path: "d/own.{{rank}}"
    interface: rados
    shared: rank
    keep: {keep}
    options: &pool {{pool: shelf, timeout_s: 20}}
    content: {{verify: true}}
  one: {{path: one, interface: rados, options: *pool, content: {{verify: true}}}}
program:
  g:
    - phase: write
      do:
        - {{create: own}}
        - {{write: {{to: own, transfer: 256 KiB, pattern: random, count: count, sync: fsync}}}}
        - {{close: own}}
        - {{create: one}}
        - {{write: {{to: one, transfer: 64 KiB, size: 1 MiB}}}}
        - {{close: one}}
{between}
    - phase: stat
      do: [{{stat: own}}]
    - phase: read
      do:
        - {{open: own}}
        - {{read: {{from: own, transfer: 256 KiB, pattern: random, count: count}}}}
        - {{close: own}}
        - {{read: {{from: one, transfer: 64 KiB, size: 1 MiB}}, from: shift 1}}
    - phase: unlink
      do: [{{unlink: one}}]
"""


@dataclass
class RadosCli(Cli):
    """`venturi` in an environment that names the cluster."""

    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **self.variables}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Ceph]:
    refuse_where_missing(OF_OBJECTS)
    made = Ceph(Path(tempfile.mkdtemp(prefix="ceph")), stores=1)
    try:
        made.start()
        made.make_pool(POOL)
        photo = made.folder / "photo"
        photo.write_bytes(b"of somebody else")
        made.rados(POOL, "put", "photo", photo)
        made.rados(POOL, "-N", "venturi/other", "put", "d/own.0", photo)
        yield made
    finally:
        made.stop()


STRANGE = [("", "photo"), ("venturi/other", "d/own.0")]
"""Objects of somebody else in the pool, by namespace and name."""


def objects(cluster: Ceph) -> list[tuple[str, str]]:
    """Everything in the pool."""
    lines = cluster.rados(POOL, "ls", "--all").splitlines()
    found = [tuple(line.split("\t")) for line in lines if line]
    return sorted((name_space, name) for name_space, name in found)


def check_clean(cluster: Ceph) -> None:
    """Nothing of a run is there, and all of what somebody else has."""
    assert objects(cluster) == STRANGE
    copy = cluster.folder / "copy"
    for name_space, name in STRANGE:
        cluster.rados(POOL, "-N", name_space, "get", name, copy)
        assert copy.read_bytes() == b"of somebody else"


@pytest.fixture
def rados(tmp_path: Path, cluster: Ceph) -> Iterator[RadosCli]:
    (tmp_path / "target").mkdir()
    variables = {"CEPH_CONF": str(cluster.settings)}
    yield RadosCli(tmp_path / "store", tmp_path / "target", variables=variables)
    for name_space, name in objects(cluster):  # what a test that failed has left
        if (name_space, name) not in STRANGE:
            cluster.rados(POOL, "-N", name_space, "rm", name)


def run_words(
    rados: RadosCli, *more: str, keep: bool = False, between: str = "", **changed: str
) -> list[str]:
    """`run` of the workload, once; a shell command may stand between writes and reads."""
    text = WORKLOAD.format(keep=str(keep).lower(), between=_phase(between))
    for before, after in changed.items():
        assert before in text
        text = text.replace(before, after)
    file = rados.target.parent / "workload.yaml"
    file.write_text(text, "utf-8")
    return ["run", str(file), "-d", str(rados.target), "--repeat", "1", *more]


def _phase(command: str) -> str:
    """A phase in which a command runs; `$own` is the namespace of the run."""
    if not command:
        return ""
    line = 'own=venturi/$(basename "$(dirname "$PWD")"); ' + command
    return f"    - phase: meddle\n      do: [{{exec: {{command: {json.dumps(line)}}}}}]"


def told(done: Finished) -> str:
    return " ".join((done.stdout + done.stderr).split())


def test_a_run_writes_reads_and_removes_its_objects(rados: RadosCli, cluster: Ceph) -> None:
    """Each rank its own at random places, and one object that both write."""
    record = rados.json(*run_words(rados))
    phases = {row["path"]: row for row in record["phases"]}
    assert phases["write"]["bytes"] == phases["read"]["bytes"] == 2 * (3 * MIB + MIB)
    assert all(row["errors"] == 0 for row in phases.values())
    assert phases["read"]["cache"] == "unknown"
    assert phases["unlink"]["operations"] == 1
    assert record["left"] == []
    check_clean(cluster)
    assert not list(rados.target.iterdir())


@pytest.mark.parametrize("machine", ["openmpi", "mpich"])
def test_ranks_of_an_mpi(rados: RadosCli, cluster: Ceph, machine: str) -> None:
    record = rados.json(*run_words(rados, "--on", machine))
    assert not any(row["errors"] for row in record["phases"])
    check_clean(cluster)


def test_a_changed_byte_is_found(rados: RadosCli, cluster: Ceph) -> None:
    patch = cluster.folder / "patch"
    patch.write_bytes(b"\0" * 16)
    damage = f"rados -p {POOL} -N $own put d/own.1 {patch} --offset 524288"
    done = rados(*run_words(rados, between=damage))
    assert done.returncode == 3, told(done)
    rows = [row for row in rados.records()[0]["phases"] if row["errors"]]
    assert [row["path"] for row in rows] == ["read"]
    assert rows[0]["errors"] == 1
    check_clean(cluster)


def test_a_taken_name_is_neither_written_nor_removed(rados: RadosCli, cluster: Ceph) -> None:
    """Somebody puts an object of their own in the place of the run's."""
    photo = cluster.folder / "photo"
    swap = f"rados -p {POOL} -N $own rm one && rados -p {POOL} -N $own put one {photo}"
    done = rados(*run_words(rados, between=swap))
    assert done.returncode == 3, told(done)
    assert "it is not what this run made" in told(done)
    (left,) = [entry for entry in objects(cluster) if entry[1] == "one"]
    assert "is not of this run; it was left alone" in told(done)
    cluster.rados(POOL, "-N", left[0], "get", "one", cluster.folder / "copy")
    assert (cluster.folder / "copy").read_bytes() == b"of somebody else"
    for name in ("one", ".venturi"):
        cluster.rados(POOL, "-N", left[0], "rm", name)
    check_clean(cluster)


def test_kept_objects_stay_until_they_are_removed(rados: RadosCli, cluster: Ceph) -> None:
    record = rados.json(*run_words(rados, keep=True))
    left = sorted(record["left"])
    assert len(left) == 2
    assert all(path.startswith(f"rados://{POOL}/venturi/") for path in left)
    del rados.variables["CEPH_CONF"]
    done = rados("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 5, told(done)
    assert "the configuration of Ceph cannot be read" in told(done)
    assert len(objects(cluster)) == len(STRANGE) + 3, "the marker stays with them"
    rados.variables["CEPH_CONF"] = str(cluster.settings)
    done = rados("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 0, told(done)
    check_clean(cluster)


@pytest.mark.parametrize("what", ["all", "engines"])
def test_a_killed_run_leaves_nothing_behind(rados: RadosCli, cluster: Ceph, what: str) -> None:
    ready = rados.target.parent / "ready"
    started = rados.start(*run_words(rados, between=f"touch {ready}; sleep 300"))
    wait_for(lambda: ready.exists() or started.poll() is not None, 60)
    assert started.poll() is None
    assert len(objects(cluster)) == len(STRANGE) + 4
    engines = engines_of(started.pid)
    for pid in [*engines, started.pid] if what == "all" else engines:
        os.kill(pid, signal.SIGKILL)
    started.communicate()
    wait_for(lambda: rados("results", "ls").returncode == 0 and objects(cluster) == STRANGE, 60)
    check_clean(cluster)
    assert not list(rados.target.iterdir())


def refused(rados: RadosCli, cluster: Ceph, words: list[str], code: int = 5) -> str:
    """What is said of a run that is refused before it begins."""
    done = rados(*words)
    assert done.returncode == code, told(done)
    assert not list(rados.target.iterdir())
    check_clean(cluster)
    return told(done)


def test_a_wrong_key_is_refused(rados: RadosCli, cluster: Ceph, tmp_path: Path) -> None:
    keyring = tmp_path / "keyring"
    keyring.write_text(key_of("client.admin"))
    rados.variables["CEPH_ARGS"] = f"--keyring={keyring}"
    said = refused(rados, cluster, run_words(rados))
    assert "the monitors did not accept client.admin" in said
    assert "key =" not in said


def test_a_user_without_a_key_is_refused(rados: RadosCli, cluster: Ceph) -> None:
    said = refused(rados, cluster, run_words(rados, timeout_s="user: client.nobody, timeout_s"))
    assert "the monitors did not accept client.nobody" in said


def test_no_monitor(rados: RadosCli, cluster: Ceph, tmp_path: Path) -> None:
    conf = tmp_path / "ceph.conf"
    conf.write_text(f"[global]\nmon host = v2:127.0.0.1:1/0\nkeyring = {cluster.folder}/keyring\n")
    rados.variables["CEPH_CONF"] = str(conf)
    words = run_words(rados, "-n", "1", **{"timeout_s: 20": "timeout_s: 2"})
    assert "no monitor of the cluster answered within 2 s" in refused(rados, cluster, words)


@pytest.mark.parametrize(
    ("pool", "code", "words"),
    [("nowhere", 5, "the cluster has no pool 'nowhere'"), ("''", 2, "needs the name of a pool")],
)
def test_a_pool_that_is_not_there(
    rados: RadosCli, cluster: Ceph, pool: str, code: int, words: str
) -> None:
    changed = run_words(rados, **{"pool: shelf": f"pool: {pool}"})
    assert words in refused(rados, cluster, changed, code)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("{stat: own}", "{mkdir: own}", "has no 'mkdir'"),
        ("keep: false", "stripe: {count: 2}", "makes no files that could be striped"),
        ("timeout_s: 20", "prefix: ../x", "is no prefix of keys"),
    ],
)
def test_what_objects_cannot_be(
    rados: RadosCli, cluster: Ceph, before: str, after: str, words: str
) -> None:
    assert words in refused(rados, cluster, run_words(rados, **{before: after}), 2)


def test_an_object_that_is_too_large(rados: RadosCli, cluster: Ceph) -> None:
    """Objects end at 128 MiB unless the cluster says otherwise."""
    small, large = "transfer: 64 KiB, size: 1 MiB", "transfer: 16 MiB, size: 144 MiB"
    done = rados(*run_words(rados, "-n", "1", **{small: large}))
    assert done.returncode == 3, told(done)
    assert "osd_max_object_size" in told(done)
    check_clean(cluster)


def test_iors_command_line(rados: RadosCli, cluster: Ceph) -> None:
    """IOR's pool, a shared object and objects of tasks; every byte that was read is checked."""
    cluster.make_pool(RADOS_POOL)
    for more in ([], ["-F"]):
        words = ["-a", "RADOS", "-w", "-r", "-R", "-t", "64k", "-b", "256k", "-s", "2", *more]
        done = rados("ior", "-n", "2", "--", *words, "-o", str(rados.target / "x"))
        assert done.returncode == 0, told(done)
        assert "Incorrect data" not in told(done)
        assert cluster.rados(RADOS_POOL, "ls", "--all") == ""
    check_clean(cluster)
