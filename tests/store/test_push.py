"""Sharing results by git: at the same moment, offline, and only what may be public."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from store.test_store import result, venturi
from venturi.model.error import UserError
from venturi.store.public import PUBLIC_FACTS, public, withheld
from venturi.store.push import Pushed, push
from venturi.store.result import keep, tag

TIMES = 50


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """An empty repository of results."""
    folder = tmp_path / "results.git"
    git(tmp_path, "init", "-q", "--bare", str(folder))
    return folder


def test_two_stores_push_at_the_same_moment(tmp_path: Path, shared: Path) -> None:
    """Fifty times, each two new results at once: all arrive, and none is changed."""
    barrier = threading.Barrier(2)
    came: list[Pushed | BaseException] = []

    def pusher(machine: str) -> None:
        try:
            for number in range(TIMES):
                one = result(f"20260101-000000-{machine}-{number:04d}", machine=machine)
                keep(tmp_path / machine, one, {})
                barrier.wait(timeout=600)
                came.append(push(tmp_path / machine, str(shared), [one]))
        except BaseException as error:
            came.append(error)
            barrier.abort()

    threads = [threading.Thread(target=pusher, args=(name,)) for name in ("alpha", "beta")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert came == [Pushed(1, 0, [])] * (2 * TIMES)
    names = git(shared, "ls-tree", "-r", "--name-only", "HEAD").split()
    assert names == sorted(
        f"results/{machine}/tool/2026-01/20260101-000000-{machine}-{number:04d}.json"
        for machine in ("alpha", "beta")
        for number in range(TIMES)
    )
    changes = git(shared, "log", "--format=", "--name-status", "HEAD").split("\n")
    assert {line[:1] for line in changes if line} == {"A"}


def test_what_cannot_be_sent_waits_for_the_next_push(tmp_path: Path, shared: Path) -> None:
    store, gone = tmp_path / "store", tmp_path / "away.git"
    keep(store, result(), {})
    venturi(tmp_path, "results", "push", str(shared))
    shared.rename(gone)
    two = result("20260102-000000-tool-bbbb")
    keep(store, two, {})
    offline = push(store, str(shared), [two])
    assert (offline.added, offline.waiting) == (0, 1)
    assert str(shared) in offline.problem
    venturi(tmp_path, "results", "push", str(shared), code=5)
    gone.rename(shared)
    assert push(store, str(shared), []) == Pushed(1, 0, [])
    assert push(store, str(shared), [result(), two]) == Pushed(0, 0, [])
    assert len(git(shared, "ls-tree", "-r", "--name-only", "HEAD").split()) == 2


def test_a_refusal_is_said(tmp_path: Path, shared: Path) -> None:
    hook = shared / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    keep(tmp_path / "store", result(), {})
    with pytest.raises(UserError, match=r"refuses.*hook declined"):
        push(tmp_path / "store", str(shared), [result()])


def test_only_what_may_be_public_goes(tmp_path: Path, shared: Path) -> None:
    """Host, directory, reasons, paths in parameters stay; tags and the archive's digest go."""
    host = socket.gethostname()
    one = result(
        machine="local",
        facts={
            "host": host,
            "directory": "/home/ana/x",
            "kernel": "6.1",
            "future": "secret",
            "mount options": "addr=10.0.0.1",
            "CPU": "Fast 3000",
        },
        parameters={"tasks": 4, "input": "/home/ana/mesh", "node": host, "way": "own files"},
        reasons=["/home/ana is full"],
    )
    store = tmp_path / "store"
    keep(store, one, {})
    tag(store, "golden", [one.id])
    done = push(store, str(shared), [one])
    assert (done.added, done.withheld) == (1, ["input", "node"])
    name = git(shared, "ls-tree", "-r", "--name-only", "HEAD").strip()
    text = git(shared, "show", f"HEAD:{name}")
    told = json.loads(text)
    assert set(told["facts"]) == {"kernel", "CPU"} <= PUBLIC_FACTS
    assert told["parameters"] == {"tasks": 4, "way": "own files"}
    assert (told["reasons"], told["tags"]) == ([], ["golden"])
    assert len(told["archive_sha256"]) == 64
    for word in ("ana", host, "10.0.0.1", "secret"):
        assert word not in text
        assert word not in name
    assert (
        git(shared, "log", "--format=%an %ae %cn %ce").strip().split()
        == ["venturi", "venturi@localhost"] * 2
    )
    with pytest.raises(UserError, match="names a host"):
        public(one, machine=host)
    assert withheld(one) == ["input", "node"]


@pytest.mark.parametrize("field", ["campaign", "step", "session", "name", "tool", "unit", "metric"])
def test_no_text_of_a_result_names_somebody(field: str) -> None:
    one = result()
    changes = {
        "tool": {"source": one.source.model_copy(update={"tool": "/home/ana/bench.sh"})},
        "unit": {
            "metrics": {n: m.model_copy(update={"unit": "~ana"}) for n, m in one.metrics.items()}
        },
        "metric": {"metrics": {f"/home/ana/{n}": m for n, m in one.metrics.items()}},
    }
    public(one)
    with pytest.raises(UserError, match="would be shared"):
        public(one.model_copy(update=changes.get(field, {field: "/home/ana/x"})))


def test_a_point_is_shared_as_a_word_or_a_digest() -> None:
    assert public(result(point="p-003")).point == "p-003"
    told = public(result(point="dir=/scratch/ana,np=4")).point
    assert "ana" not in told
    assert told == public(result(point="dir=/scratch/ana,np=4")).point
