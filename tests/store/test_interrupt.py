"""A Ctrl-C just before a run and while its record is made: nothing is left, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from venturi import library
from venturi.execute.launcher import machine_named
from venturi.plan.setting import RunSettings
from venturi.store import run
from venturi.store.place import make_store
from venturi.store.run import Request, perform, prepare


def request(tmp_path: Path) -> Request:
    """A short run of `ior`."""
    target = tmp_path / "target"
    target.mkdir()
    settings = RunSettings(repetitions=1, assignments={"block": "1 MiB"})
    return Request(
        workload=library.load("ior"),
        workload_text=library.text_of("ior"),
        settings=settings,
        machine=machine_named("local"),
        directory=target,
        store=tmp_path / "store",
        command=["venturi"],
    )


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Ctrl-C interrupts, also where these tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("earlier", [False, True], ids=["first", "second"])
def test_while_the_record_is_made_ctrl_c_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    real = run.conclude

    def interrupted(store: Path, folder: Path, interrupted: bool) -> Path | None:
        os.kill(os.getpid(), signal.SIGINT)
        return real(store, folder, interrupted=interrupted)

    monkeypatch.setattr(run, "conclude", interrupted)
    asked = request(tmp_path)
    prepared = prepare(asked)
    if earlier:
        once = iter([signal.SIGINT])
        record = perform(prepared, lambda event: [os.kill(os.getpid(), one) for one in once])
        assert record.interrupted
    else:
        with pytest.raises(KeyboardInterrupt):
            perform(prepared, lambda event: None)
    (folder,) = (asked.store / "runs").iterdir()
    assert (folder / "record.json").is_file()
    assert list((asked.store / "running").iterdir()) == []
    assert list(asked.directory.iterdir()) == []


def test_before_the_run_begins_nothing_is_left(tmp_path: Path) -> None:
    make_store(tmp_path)
    code = (
        "import sys; from pathlib import Path; from venturi.store.journal import RunJournal\n"
        "journal = RunJournal(Path(sys.argv[1]), 'run')\n"
        "assert journal.folder.is_dir()\nsys.exit(130)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == 130
    assert list((tmp_path / "running").iterdir()) == []
