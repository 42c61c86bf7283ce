"""What of an application's I/O is outside of the place that is measured, and what is none."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from predict.test_against import venturi

WRITER = """
import os, sys
with open("inside", "wb") as out:
    out.write(b"x" * 2_000_000)
for number in range(400):  # little data, much time
    path = f"{sys.argv[1]}/part{number}"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    os.unlink(path)
"""


@pytest.mark.parametrize("is_outside", [True, False])
def test_time_outside_is_said(tmp_path: Path, is_outside: bool) -> None:
    (tmp_path / "app.py").write_text(WRITER, "utf-8")
    for name in ("here", "io", "elsewhere"):
        (tmp_path / name).mkdir()
    # Without -S this environment's packages are looked for, in folders of the project.
    app = (sys.executable, "-S", str(tmp_path / "app.py"), str(tmp_path / "elsewhere"))
    command = app if is_outside else (*app[:3], ".")
    done = venturi(tmp_path / "here", "capture", "-q", "-o", "../app.trace", "--", *command)
    assert done.returncode == 0, done.stderr
    words = ("--repeat", "2", "--budget", "0", "--json", "--unlike", "-o", "out")
    done = venturi(
        tmp_path, "predict", "app.trace", "--against", " ".join(command), "-d", "io", *words
    )
    assert done.returncode == 0, done.stderr
    said = [text for text in json.loads(done.stdout)["remarks"] if "outside of the place" in text]
    assert len(said) == is_outside
    if is_outside:
        assert said[0].startswith("0% of the application's bytes and ")
        assert f"({tmp_path / 'elsewhere'}" in said[0]


TALKER = """
import multiprocessing, sys
def write(number):
    with open(f"part{number}", "wb") as out:
        for _ in range(50):
            out.write(b"x" * 65536)
            out.flush()
if __name__ == "__main__":
    print("begun", flush=True)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(write, range(16))
    print("done", flush=True)
"""


def test_what_is_printed_is_no_io_of_the_application(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(TALKER, "utf-8")
    for name in ("here", "io"):
        (tmp_path / name).mkdir()
    command = (sys.executable, str(tmp_path / "app.py"))
    done = venturi(tmp_path / "here", "capture", "-q", "-o", "../app.trace", "--", *command)
    assert done.returncode == 0, done.stderr
    words = ("--repeat", "1", "--budget", "0", "--json", "-o", "out")
    line = ("predict", "app.trace", "--against", " ".join(command), "-d", "io", *words)
    done = venturi(tmp_path, *line)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["application"]["ranks"] == said["proxy"]["ranks"]
    assert said["application"]["bytes_written"] == 16 * 50 * 65536
