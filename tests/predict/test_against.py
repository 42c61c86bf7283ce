"""An application beside its proxy, by the commands that a user types; and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm_start
from venturi.model.document import parse_json
from venturi.model.prediction import DOCUMENT, Prediction
from venturi.model.statistic import median

WRITER = """
import os
for dump in range(2):
    fd = os.open(f"dump{dump}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    for _ in range(40):
        os.write(fd, b"x" * 65536)
    os.fsync(fd)
    os.close(fd)
"""
BYTES_WRITTEN = 2 * 40 * 65536
IO = "venturi-io"
"""A name like that of a run's own folder."""


def venturi(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as its user types it, in the folder `place`."""
    return warm_start.venturi(
        *words,
        folder=place,
        environment={**os.environ, "VENTURI_STORE": str(place / "store")},
        limit_s=240,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an application, its proxy, and a place for I/O."""
    made = tmp_path_factory.mktemp("predict")
    (made / "app.py").write_text(WRITER, "utf-8")
    (made / IO).mkdir()
    (made / "here").mkdir()
    line = ("capture", "-q", "-o", "../app.trace", "--", sys.executable, "../app.py")
    done = venturi(made / "here", *line)
    assert done.returncode == 0, done.stderr
    return made


def predict(place: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command with what all tests share."""
    line = ("predict", "app.trace", "--against", command, "-d", IO, *words)
    done = venturi(place, *line)
    assert list((place / IO).iterdir()) == [], "something was left behind"
    return done


def test_both_sides_are_run_in_turn_and_compared(place: Path) -> None:
    command = f"{sys.executable} {place}/app.py"
    done = predict(place, command, "--repeat", "2", "--budget", "0", "--json", "-o", "two")
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    found = parse_json(Prediction, (place / "two" / DOCUMENT).read_bytes())
    assert found == parse_json(Prediction, done.stdout)
    for side in (found.application, found.proxy):
        assert side.bytes_written == BYTES_WRITTEN
        assert side.requests == 80
        assert side.ranks == 1
        assert side.seconds == median([turn.seconds for turn in side.runs])
        for turn in side.runs:
            assert turn.seconds == pytest.approx(sum(turn.seconds_by.values()))
            assert 0 < turn.seconds < turn.run_seconds
    assert [turn.place for turn in found.application.runs] == [0, 3]
    assert [turn.place for turn in found.proxy.runs] == [1, 2]
    signed = found.proxy.seconds / found.application.seconds - 1
    assert data["error"]["signed"] == pytest.approx(signed)
    assert data["error"]["low"] <= signed <= data["error"]["high"]
    assert data["repetitions"] == 2
    assert data["application"]["bytes_per_second"] > 0
    assert {part.name for part in found.sorts if part.application} >= {"write", "sync"}
    assert any(part.error is not None for part in found.streams)
    assert [line.name for line in found.baselines] == ["bytes / peak", "call by call"]
    assert all(line.seconds > 0 for line in found.baselines)
    report = venturi(place, "report", "two", "--format", "md", "-o", "-")
    assert report.returncode == 0, report.stderr
    assert "Only 2 runs of each side" in report.stdout


@pytest.mark.parametrize(
    ("command", "words", "code", "said"),
    [
        ("exit 7", (), 5, "exit code 7"),
        ("true", (), 5, "did no I/O"),
        ("head -c 5242880 /dev/zero > $HOME/elsewhere", (), 5, "did no I/O in"),
        ("head -c 100000 /dev/zero > less", (), 5, "100000 bytes written by the application"),
        ("{app}", ("-n", "2"), 2, "the application has 1 ranks and the proxy 2"),
        ("{app}", ("--prepare", "exit 3"), 5, "'exit 3' ended with exit code 3"),
        (" ", (), 2, "--against needs a command"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.setenv("HOME", str(place))
    line = command.replace("{app}", f"{sys.executable} {place}/app.py")
    done = predict(place, line, "-q", *words, "-o", "refused")
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not (place / "refused").exists()


def test_other_amounts_are_compared_where_wanted_and_said_loudly(place: Path) -> None:
    command = "head -c 4000000 /dev/zero > less"
    done = predict(
        place,
        command,
        "--unlike",
        "--no-baselines",
        "--repeat",
        "1",
        "--budget",
        "0",
        "-o",
        "unlike",
    )
    assert done.returncode == 0, done.stderr
    assert "they do not do the same" in done.stdout


def test_a_workload_may_stand_in_the_application_s_stead(place: Path) -> None:
    line = (
        "predict",
        "flash3-ior",
        "--beside",
        "flash3",
        "-d",
        IO,
        "--repeat",
        "1",
        "--budget",
        "0",
        "-q",
    )
    done = venturi(place, *line, "--no-baselines", "--json", "-o", "beside")
    assert done.returncode == 0, done.stderr
    found = parse_json(Prediction, done.stdout)
    moved = 2 * 2 * 20 * 8 * 32**3
    assert (found.application.bytes_written, found.proxy.bytes_written) == (moved, moved)
    assert found.application.requests == 2 * 2 * 20
    assert found.proxy.requests == 4 * found.application.requests
    assert found.command == "venturi run flash3"
    assert list((place / IO).iterdir()) == []
    done = venturi(place, *line, "--prepare", "true")
    assert done.returncode == 2
    assert "--prepare belongs to --against" in done.stderr
