"""A probe beside a run: found on the same file system, read, put into words, never the end."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from analyse.test_verdict import GOOD, metric
from cli.conftest import Cli, cli, told  # noqa: F401
from probe.conftest import Place, SickStorage, hold
from probe.history import BEGIN_NS, put, samples_of
from report.record_factory import record
from venturi.analyse.background import background_notes, background_suspicions, first_suspect
from venturi.analyse.run_comparison import compared_runs
from venturi.analyse.verdict import verdict_of
from venturi.cli import report as report_command
from venturi.model.background import (
    Background,
    BackgroundOperation,
    BackgroundWhen,
    BackgroundWindow,
    outstanding,
)
from venturi.model.probe import ProbeKind, ProbeOperation
from venturi.model.record import Level
from venturi.model.verdict import SuspicionCause
from venturi.probe.background import STORES, background_of, patience_of, reader_beside
from venturi.probe.columns import Array
from venturi.probe.ring import FAILED
from venturi.probe.rollup import HOUR_NS
from venturi.report.comparison import page_of
from venturi.report.html import html_of, render_html
from venturi.report.quantity import Units
from venturi.report.run_comparison import print_run_comparison
from venturi.report.terminal import print_summary
from venturi.store.background import RepetitionTime, RunTimes

A_DAY = 5760
STEP_NS = 15 * 10**9
HELLO_NS = BEGIN_NS + 2 * A_DAY * STEP_NS
MS = 10**6


def times(repetitions: int = 4, length_s: float = 600.0) -> RunTimes:
    return RunTimes(
        HELLO_NS / 1e9,
        [RepetitionTime(n, n * length_s, (n + 1) * length_s) for n in range(repetitions)],
    )


def samples(factors: dict[tuple[float, float], float], hours: int = 48) -> Array:
    """An hour of samples around a run, and as many before as a baseline needs or lacks."""
    count = hours * 240 + 480
    begin_ns = HELLO_NS - hours * HOUR_NS
    found = samples_of(0, count, begin_ns, STEP_NS, 1e6)
    found["response_ns"] = found["service_ns"] = MS
    at_s = (found["scheduled_ns"] - HELLO_NS) / 1e9
    for (first_s, last_s), factor in factors.items():
        found["response_ns"][(at_s >= first_s) & (at_s < last_s)] = int(factor * MS)
    return found


@pytest.fixture
def slow(place: Place) -> Place:
    place.settings |= {"interval_s": 60.0, "ring_days": 7, "kinds": ["metadata"]}
    return place


def beside(place: Place, made: Array) -> Background:
    put(place, made)
    return background_of(place.folder, place.target, times(), HELLO_NS / 1e9 + 2600.0)


def test_before_each_repetition_and_after_are_measured_by_the_baseline(slow: Place) -> None:
    made = samples({(-600, 0): 2, (0, 2400): 1.25, (1200, 1800): 4.1})
    made["flags"][-3] = FAILED
    found = beside(slow, made)
    whens = [(one.when.value, one.repetition) for one in found.windows]
    assert whens == [("before", None), *(("during", n) for n in range(4)), ("after", None)]
    slowdowns = [one.slowdown_of(ProbeOperation.MD_STAT) for one in found.windows]
    assert slowdowns == pytest.approx([2, 1.25, 1.25, 4.1, 1.25, 1], rel=0.01)
    first = found.windows[0].operations[0]
    assert first.samples == 10
    assert first.response_s == pytest.approx(0.002)
    assert (found.windows[0].begin_s, found.windows[0].end_s) == (-600, 0)
    [one] = outstanding(found)
    assert one.repetition == 2
    assert one.slowdown == pytest.approx(4.1, rel=0.01)
    assert one.others == pytest.approx(1.25, rel=0.01)


def test_the_verdict_names_the_repetition_in_which_the_storage_was_busy(slow: Place) -> None:
    found = beside(slow, samples({(0, 2400): 1.25, (1200, 1800): 4.1}))
    [suspicion] = background_suspicions([found])
    assert "latency was 4.1 × its usual value during repetition 3, and 1.2 ×" in suspicion.what
    [note] = background_notes([found])
    assert "4.1 × its usual value during repetition 3, the run itself being part of it" in note
    assert "1 × its usual value before the run" in note


def test_storage_that_was_busy_before_is_a_suspicion_and_quiet_storage_is_none(
    slow: Place,
) -> None:
    [suspicion] = background_suspicions([beside(slow, samples({(-600, 0): 2.5}))])
    assert "the storage was slow before the run: latency was 2.5 ×" in suspicion.what
    assert background_suspicions([beside(slow, samples({(0, 2400): 30}))]) == []


def test_nothing_is_said_while_the_baseline_is_learned_or_of_too_few_samples(slow: Place) -> None:
    found = beside(slow, samples({(1200, 1800): 8}, hours=5))
    assert all(one.slowdown is None for window in found.windows for one in window.operations)
    assert background_suspicions([found]) == []
    assert background_notes([found]) == []
    few = [
        one.model_copy(update={"slowdown": 9.0, "samples": 2})
        for one in found.windows[0].operations
    ]
    window = found.windows[0].model_copy(update={"operations": few})
    assert window.worst is None


def operation(kind: ProbeOperation, factor: float, samples: int = 20) -> BackgroundOperation:
    return BackgroundOperation(
        operation=kind, samples=samples, errors=0, response_s=0.001 * factor, longest_s=0.1,
        slowdown=factor,
    )  # fmt: skip


def made(factor: float, target: str = "t", samples: int = 20) -> Background:
    """A probe whose creates were as slow as this all the time, and whose deletes hardly were."""
    both = [
        operation(ProbeOperation.MD_DELETE, 1 + factor / 4, samples),
        operation(ProbeOperation.MD_CREATE, factor, samples),
    ]
    windows = [
        BackgroundWindow(
            when=when, repetition=0 if when is BackgroundWhen.DURING else None,
            begin_s=0.0, end_s=1.0, operations=both,
        )
        for when in BackgroundWhen
    ]  # fmt: skip
    return Background(
        target=target, directory="/scratch/p", node_class="default", interval_s=1.0,
        windows=windows,
    )  # fmt: skip


def test_a_repetition_is_compared_with_the_others_and_not_with_itself() -> None:
    windows = [
        BackgroundWindow(
            when=BackgroundWhen.DURING, repetition=number, begin_s=0.0, end_s=1.0,
            operations=[operation(ProbeOperation.MD_STAT, factor)],
        )
        for number, factor in enumerate((1.0, 4.0, 2.5))
    ]  # fmt: skip
    found = made(1.0).model_copy(update={"windows": windows})
    [one] = outstanding(found)
    assert (one.repetition, one.others) == (1, 1.75)
    assert outstanding(found.model_copy(update={"windows": windows[:2]})) == []


def test_a_comparison_suspects_the_busier_storage_first() -> None:
    said = first_suspect([made(1.0)], [made(4.1)])
    assert "first suspect: the storage was busier before the second run" in said
    assert "md_create took 4.1 times as long as in the first" in said
    assert "busier before the first run" in first_suspect([made(4.1)], [made(1.0)])
    assert first_suspect([made(1.0)], [made(1.4)]) == ""
    assert first_suspect([made(1.0)], [made(4.1, target="other")]) == ""
    assert first_suspect([made(1.0)], [made(4.1, samples=2)]) == ""
    assert first_suspect([], [made(4.1)]) == ""


def test_pages_show_the_windows_and_numbers_with_and_without_what_was_disturbed(
    slow: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    found = beside(slow, samples({(0, 2400): 1.25, (1200, 1800): 4.1}))
    rates = {"checkpoint": metric(100, 101, 20, 102)}
    run = record(repetitions=4, background=[found], metrics=rates)
    notes = [*run.verdict.notes, *background_notes([found])]
    run = run.model_copy(update={"verdict": run.verdict.model_copy(update={"notes": notes})})
    page = render_html([run])
    assert "What others felt meanwhile" in page
    assert "during repetition 3" in page
    assert "Median without repetition 3" in page
    [row] = re.findall(r"<tr><td>checkpoint</td>.*?</tr>", page.split("With and without")[1])
    assert re.findall(r"[\d.]+(?=\u00a0B/s)", row) == ["100", "101"]
    assert "What others felt meanwhile" not in render_html([record()])
    print_summary(run, Console(width=200, no_color=True))
    assert "4.1 × its usual value during repetition 3" in capsys.readouterr().out


def test_only_a_probe_that_runs_on_the_same_file_system_is_found(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.settings |= {"interval_s": 0.1}
    other = tmp_path / "run"
    other.mkdir()
    none = tmp_path / "none"
    assert reader_beside(none, other, none) is None
    place.make(ProbeKind.METADATA)
    assert reader_beside(place.store, other, none) is None  # nobody runs it
    worker = place.start(ProbeKind.METADATA)
    place.wait_for_samples(ProbeKind.METADATA, 4)
    assert reader_beside(place.store, other, none) is not None
    assert reader_beside(place.store, Path("/dev/shm"), none) is None
    assert reader_beside(none, other, none) is None
    monkeypatch.setenv(STORES, str(place.store))
    assert reader_beside(none, other, none) is not None
    monkeypatch.delenv(STORES)
    served = tmp_path / "served"
    served.mkdir()
    (served / "scratch").symlink_to(place.store)
    assert reader_beside(none, other, served) is not None
    (place.folder / "target.json").write_text("{")
    assert reader_beside(place.store, other, none) is None
    place.stop(worker)


@pytest.mark.parametrize(
    ("intervals_s", "patience_s"),
    [([1.0], 5.0), ([0.1, 1.0], 5.0), ([3.0], 10.0), ([60.0], 0.0), ([60.0, 0.2], 1.0)],
)
def test_nobody_waits_for_a_probe_that_measures_seldom(
    intervals_s: list[float], patience_s: float
) -> None:
    assert patience_of(intervals_s) == patience_s


@pytest.fixture
def watched(cli: Cli) -> Iterator[Place]:  # noqa: F811
    """A target in the store and directory of the command line."""
    found = Place(cli.store, cli.target, {"interval_s": 0.1, "kinds": ["metadata"]})
    yield found
    found.end()


def test_a_run_beside_a_probe_keeps_what_that_felt(
    cli: Cli,  # noqa: F811
    watched: Place,
) -> None:
    now_ns = time.time_ns()
    past = samples_of(0, 26 * 60, now_ns - 26 * HOUR_NS, 4 * STEP_NS, 1e6)
    put(watched, past)
    worker = watched.start(ProbeKind.METADATA)
    watched.wait_for_samples(ProbeKind.METADATA, 40)
    began_s = time.monotonic()
    done = cli("run", "ior", "-d", str(watched.directory), "--repeat", "3", "--json",
               "--store", str(watched.store), "--set", "block=64 MiB")  # fmt: skip
    assert time.monotonic() - began_s < 60
    assert done.returncode == 0, told(done)
    run = json.loads(done.stdout)
    [found] = run["background"]
    assert found["target"] == "t"
    whens = [one["when"] for one in found["windows"]]
    assert whens[0] == "before"
    assert whens[-1] == "after"
    after = found["windows"][-1]["operations"]
    assert all(one["samples"] >= 3 for one in after)
    assert all(one["slowdown"] is not None for one in after)
    assert any("by the probe of t, latency was" in note for note in run["verdict"]["notes"])
    watched.stop(worker)
    page = watched.store / "p.html"
    words = [run["id"], "-o", str(page), "--store", str(watched.store)]
    assert CliRunner().invoke(report_command.command, words).exit_code == 0
    assert "What others felt meanwhile" in page.read_text()
    again = cli.json("run", "ior", "-d", str(watched.directory), "--repeat", "1",
                     "--store", str(watched.store))  # fmt: skip
    assert again["background"] == []


@pytest.mark.needs("root")
def test_what_hangs_when_the_run_is_over_is_said(tmp_path: Path, sick: SickStorage) -> None:
    settings = {"interval_s": 0.1, "kinds": ["metadata"]}
    place = Place(tmp_path / "store", sick.mount, settings)
    place.start(ProbeKind.METADATA)
    hold(lambda: place.header(ProbeKind.METADATA).state == "running")
    run = RunTimes(time.time(), [RepetitionTime(0, 0.0, 0.5)])
    assert background_of(place.folder, place.target, run, time.time()).hanging is None
    sick.say({"operation": "unlink", "hang": True})
    try:
        hold(lambda: place.header(ProbeKind.METADATA).in_flight_s() > 1.2)
        found = background_of(place.folder, place.target, run, time.time())
        assert found.hanging is ProbeOperation.MD_DELETE
        assert found.hanging_s > 1.2
        assert "md_delete of the probe of t had not been answered" in background_notes([found])[-1]
    finally:
        sick.say()
        place.end()


def test_a_probe_that_cannot_be_read_is_a_warning_of_the_run(
    cli: Cli,  # noqa: F811
    watched: Place,
) -> None:
    watched.make(ProbeKind.METADATA)
    hours = watched.folder / "hours"
    hours.mkdir()
    worker = watched.start(ProbeKind.METADATA)
    watched.wait_for_samples(ProbeKind.METADATA, 4)
    day = str(np.datetime64(time.time_ns() // (24 * HOUR_NS) - 1, "D"))
    (hours / f"{day}.metadata").write_bytes(b"this is no file of columns")
    run = cli.json("run", "ior", "-d", str(watched.directory), "--repeat", "1",
                   "--store", str(watched.store))  # fmt: skip
    assert run["background"] == []
    assert any("what the probe beside the run felt could not be read" in text
               for text in run["warnings"])  # fmt: skip
    watched.stop(worker)


def test_a_busy_repetition_makes_a_good_run_indicative_and_drops_nothing(slow: Place) -> None:
    quiet = beside(slow, samples({(0, 2400): 1.25}))
    assert verdict_of(replace(GOOD, background=[quiet])).level is Level.VALID
    busy = beside(slow, samples({(0, 2400): 1.25, (1200, 1800): 4.1}))
    verdict = verdict_of(replace(GOOD, background=[busy]))
    assert verdict.level is Level.INDICATIVE
    assert [one.cause for one in verdict.suspicions] == [SuspicionCause.BACKGROUND]
    assert "during repetition 3" in verdict.reasons[0]


def test_the_first_suspect_stands_on_the_screen_and_on_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = [
        record(id=name, metrics={"checkpoint": metric(*values)}, background=[made(factor)])
        for name, factor, values in (
            ("one", 1.0, (103, 100, 105, 101, 104, 102)),
            ("two", 4.1, (53, 50, 55, 51, 54, 52)),
        )
    ]
    found = compared_runs(runs[0], runs[1])
    assert "md_create took 4.1 times as long" in found.suspect
    print_run_comparison(found, Console(width=250, no_color=True))
    assert found.suspect in capsys.readouterr().out
    assert f"F{found.suspect[1:]}" in html_of(page_of(found, Units.IEC))
    alike = compared_runs(runs[0], runs[0].model_copy(update={"id": "other"}))
    assert alike.suspect == ""
