"""Runs on an S3 server that checks every signature: data, removal, failures, other people's."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Cli, Finished, engines_of, wait_for
from cli.s3_server import BUCKET, STRANGE, Answer, Request, Server, serving

MIB = 1 << 20
WORKLOAD = """
workload: 1
name: objects
parameters: {{np: {{default: 2, role: ranks}}, count: 12}}
groups: {{g: {{ranks: np}}}}
files:
  f:
    path: "d/f.{{rank}}.{{i}}"
    interface: s3
    shared: rank
    keep: {keep}
    options: {{bucket: shelf, part_bytes: 5 MiB}}
    content: {{verify: true}}
program:
  g:
    - phase: write
      do:
        - for: i
          in: 2
          do: [{{create: f}}, {{write: {{to: f, transfer: 1 MiB, count: count}}}}, {{close: f}}]
    - phase: stat
      do: [{{for: i, in: 2, do: [{{stat: f}}]}}]
    - phase: read
      do:
        - for: i
          in: 2
          do:
            - {{open: f}}
            - {{read: {{from: f, transfer: 1 MiB, pattern: random, count: count}}}}
            - {{close: f}}
"""


@dataclass
class S3Cli(Cli):
    """`venturi` in an environment that names the server."""

    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **self.variables}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture
def s3(tmp_path: Path, server: Server) -> S3Cli:
    (tmp_path / "target").mkdir()
    return S3Cli(tmp_path / "store", tmp_path / "target", server.environment)


def run_words(s3: S3Cli, *more: str, keep: bool = False) -> list[str]:
    """`run` of the workload, once."""
    file = s3.target.parent / "workload.yaml"
    file.write_text(WORKLOAD.format(keep=str(keep).lower()), "utf-8")
    return ["run", str(file), "-d", str(s3.target), "--repeat", "1", *more]


def changed_words(s3: S3Cli, before: str, after: str) -> list[str]:
    """`run` of the workload with another text in one place."""
    run = run_words(s3)
    text = Path(run[1]).read_text("utf-8")
    assert before in text
    Path(run[1]).write_text(text.replace(before, after), "utf-8")
    return run


def told(done: Finished) -> str:
    return " ".join((done.stdout + done.stderr).split())


def check_clean(server: Server) -> None:
    """Nothing of a run is there, and all of what somebody else has."""
    assert server.objects() == STRANGE
    assert server.uploads() == []


def test_a_run_writes_reads_and_removes_its_objects(s3: S3Cli, server: Server) -> None:
    record = s3.json(*run_words(s3))
    phases = {row["path"]: row for row in record["phases"]}
    assert phases["write"]["bytes"] == phases["read"]["bytes"] == 2 * 2 * 12 * MIB
    assert all(row["errors"] == 0 for row in phases.values())
    assert phases["read"]["cache"] == "unknown"
    assert record["left"] == []
    check_clean(server)
    assert not list(s3.target.iterdir())
    parts = [r for r in server.requests if r.method == "PUT" and "partNumber" in r.query]
    assert len(parts) == 2 * 2 * 3, "12 MiB are two full parts and the rest"
    written = [path for path in s3.store.rglob("*") if path.is_file()]
    secret = server.secret.encode()
    assert written
    assert not [path for path in written if secret in path.read_bytes()]


def test_small_objects_are_one_request(s3: S3Cli, server: Server) -> None:
    signed = ("--set", "interface=s3", "--set", "interface.sign_bodies=true")
    s3.json(*run_words(s3, "--set", "count=1", "-n", "1", *signed))
    puts = [r for r in server.requests if r.method == "PUT" and "/d/f" in r.path]
    assert len(puts) == 2
    assert not any(r.method == "POST" for r in server.requests)
    check_clean(server)


def test_a_changed_byte_is_found(s3: S3Cli, server: Server) -> None:
    damaged: list[str] = []

    def damage(request: Request) -> None:
        if request.method == "GET" and "/d/f." in request.path and not damaged:
            damaged.append(request.path.removeprefix(f"/{BUCKET}/"))
            server.damage(damaged[0], 7 * MIB + 12345)

    server.answers = damage
    done = s3(*run_words(s3))
    assert done.returncode == 3, told(done)
    rows = [row for row in s3.records()[0]["phases"] if row["errors"]]
    assert [row["path"] for row in rows] == ["read"]
    assert rows[0]["errors"] == 1
    check_clean(server)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
        ({"AWS_ACCESS_KEY_ID": "AKIANOBODY"}, "InvalidAccessKeyId"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "connect"),
        ({"AWS_ACCESS_KEY_ID": ""}, "s3 has no credentials"),
    ],
)
def test_a_wrong_key_or_endpoint_is_refused_before_the_run(
    s3: S3Cli, server: Server, changed: dict[str, str], words: str
) -> None:
    s3.variables |= changed
    done = s3(*run_words(s3))
    assert done.returncode == 5, told(done)
    assert words in told(done)
    assert "wrong" not in told(done)
    check_clean(server)
    assert not list(s3.target.iterdir())


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("endpoint=ftp://x", "not the address of a server"),
        ("endpoint=http://key:secret@127.0.0.1", "not the address of a server"),
        ("prefix=../x", "is no prefix of keys"),
        ("sign_bodies=maybe", "sign_bodies: must be true or false"),
    ],
)
def test_options_that_cannot_be(s3: S3Cli, server: Server, option: str, words: str) -> None:
    done = s3(*run_words(s3, "--set", "interface=s3", "--set", f"interface.{option}"))
    assert done.returncode == 2, told(done)
    assert words in told(done)
    assert "secret" not in told(done)
    check_clean(server)


@pytest.mark.parametrize(
    ("bucket", "code", "words"),
    [("nowhere", 5, "NoSuchBucket"), ("''", 2, "s3 needs the name of a bucket")],
)
def test_a_bucket_that_is_not_there(
    s3: S3Cli, server: Server, bucket: str, code: int, words: str
) -> None:
    done = s3(*changed_words(s3, "bucket: shelf", f"bucket: {bucket}"))
    assert done.returncode == code, told(done)
    assert words in told(done)
    check_clean(server)


@pytest.mark.parametrize("what", ["PUT", "POST", "GET"])
def test_a_server_that_throttles_ends_the_run(s3: S3Cli, server: Server, what: str) -> None:
    def throttle(request: Request) -> Answer | None:
        if request.method == what and "/d/f.1." in request.path:
            return 503, "SlowDown", "Please reduce your request rate."
        return None

    server.answers = throttle
    done = s3(*run_words(s3))
    assert done.returncode == 3, told(done)
    assert "503 SlowDown: Please reduce your request rate." in told(done)
    check_clean(server)


def test_a_key_that_somebody_takes_is_left_alone(s3: S3Cli, server: Server) -> None:
    taken: list[str] = []

    def take(request: Request) -> None:
        if request.method == "POST" and "uploadId" in request.query and not taken:
            key = request.path.removeprefix(f"/{BUCKET}/")
            taken.append(key)
            server.client.put_object(Bucket=BUCKET, Key=key, Body=b"mine")

    server.answers = take
    done = s3(*run_words(s3))
    server.answers = lambda _request: None
    objects = server.objects()
    assert objects.pop(taken[0]) == b"mine"
    assert {
        name: body for name, body in objects.items() if not name.endswith(".venturi")
    } == STRANGE
    assert done.returncode == 3, told(done)
    assert "PreconditionFailed" in told(done)


def test_a_prefix_that_somebody_has_is_refused(s3: S3Cli, server: Server) -> None:
    """The marker of the run is there already, with another run's key."""
    seen: list[str] = []

    def take(request: Request) -> None:
        if request.method == "HEAD" and request.path.endswith("/.venturi") and not seen:
            seen.append(request.path.removeprefix(f"/{BUCKET}/"))
            server.client.put_object(Bucket=BUCKET, Key=seen[0], Body=b"venturi run other\n")

    server.answers = take
    done = s3(*run_words(s3))
    assert done.returncode == 5, told(done)
    assert "somebody has this prefix" in told(done)
    assert server.objects() == {**STRANGE, seen[0]: b"venturi run other\n"}


def test_a_server_without_conditional_writes(s3: S3Cli, server: Server) -> None:
    """What it does not know it refuses; the write is then made without the condition."""
    refused: list[str] = []

    def refuse(request: Request) -> Answer | None:
        if request.conditional:
            refused.append(request.path)
            return 501, "NotImplemented", "A header you provided implies what is not there."
        return None

    server.answers = refuse
    s3.json(*run_words(s3, "--set", "count=1"))
    assert refused
    check_clean(server)


def test_kept_objects_stay_until_they_are_removed(s3: S3Cli, server: Server) -> None:
    record = s3.json(*run_words(s3, "--set", "count=1", keep=True))
    left = sorted(record["left"])
    assert len(left) == 4
    assert all(path.startswith("s3://shelf/venturi/") for path in left)
    assert len(server.objects()) == len(STRANGE) + 5, "the marker stays with them"
    s3.variables["AWS_SECRET_ACCESS_KEY"] = "wrong"
    done = s3("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 5, told(done)
    assert len(server.objects()) == len(STRANGE) + 5
    s3.variables["AWS_SECRET_ACCESS_KEY"] = server.secret
    done = s3("results", "rm", "@last", "--files", "--yes")
    assert done.returncode == 0, told(done)
    check_clean(server)


def killed(s3: S3Cli, server: Server, when: Callable[[Request], bool], **more: Any) -> None:
    """Start a run, and kill all of its processes when a request comes."""
    begun: list[Request] = []

    def note(request: Request) -> None:
        if when(request):
            begun.append(request)

    server.answers = note
    started = s3.start(*run_words(s3, "--set", "count=40", **more))
    wait_for(lambda: begun or started.poll() is not None, 60)
    assert begun
    for pid in [*engines_of(started.pid), started.pid]:
        os.kill(pid, signal.SIGKILL)
    started.communicate()
    server.answers = lambda _request: None
    # What a server has begun goes on when the client is dead, and can end after any look.
    wait_for(lambda: not server.under_way, 60)


@pytest.mark.parametrize(
    "when",
    [
        lambda request: request.path.endswith("/.venturi") and request.method == "PUT",
        lambda request: "partNumber=2" in request.query,
        lambda request: request.method == "POST" and "uploadId" in request.query,
        lambda request: request.method == "GET" and "/d/f." in request.path,
        lambda request: request.method == "DELETE",
    ],
    ids=["marker", "part", "complete", "read", "removal"],
)
def test_a_killed_run_leaves_nothing_behind(
    s3: S3Cli, server: Server, when: Callable[[Request], bool]
) -> None:
    killed(s3, server, when)
    wait_for(lambda: s3("results", "ls").returncode == 0 and server.objects() == STRANGE, 60)
    check_clean(server)
    assert not list(s3.target.iterdir())


def test_a_killed_runs_objects_go_without_its_directory(s3: S3Cli, server: Server) -> None:
    killed(s3, server, lambda request: request.method == "GET" and "/d/f." in request.path)
    for path in sorted(s3.target.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    wait_for(lambda: s3("results", "ls").returncode == 0 and server.objects() == STRANGE, 60)
    check_clean(server)


WRITE = "count: count}}, {close"
REFUSED = {
    "ranks cannot share a file": (
        'path: "d/f.{rank}.{i}"\n    interface: s3\n    shared: rank',
        'path: "d/f.{i}"\n    interface: s3',
    ),
    "has no 'mkdir'": ("{stat: f}", "{mkdir: f}"),
    "has no 'set_mode'": ("{stat: f}", "{set_mode: f}"),
    "not at random places": (WRITE, f"pattern: random, {WRITE}"),
    "none can follow each write": (WRITE, WRITE.replace("}}", ", sync: fsync}}")),
    "cannot append": (WRITE, f"pattern: append, {WRITE}"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_objects_cannot_be_is_refused_by_the_plan(
    s3: S3Cli, server: Server, words: str
) -> None:
    before, after = REFUSED[words]
    made = len(server.requests)
    done = s3(*changed_words(s3, before, after))
    assert done.returncode == 2, told(done)
    assert words in told(done)
    assert len(server.requests) == made, "no request was made"
