"""What others did while a probe measured: read from their files, in the right hour, and drawn."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from click.testing import CliRunner, Result

from campaign.slurm_daemon import SlurmDaemon
from compat.io500_submission import PHASES
from darshan_log import OURS, log_of, text_of
from probe.conftest import Place, hold
from probe.history import BEGIN_NS, put, samples_of
from venturi.cli import report as report_command
from venturi.cli.probe import command
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.probe_history import PhaseSource, ProbeHistory, ProbePhase
from venturi.probe import interval_file
from venturi.probe.collector import MOST_MEASURED, PhaseValues
from venturi.probe.history import history_of
from venturi.probe.interval_file import runs_of
from venturi.probe.local_time import LocalZone, TwoTimesError, interval_ns, zone_of
from venturi.probe.rollup import HOUR_NS
from venturi.probe.run_phase import TimedPhase, TimedRun
from venturi.probe.slurm_jobs import jobs_of
from venturi.probe.span import Span
from venturi.report.figure.probe_bands import (
    ClockAxis,
    RunBand,
    bands_of,
    bars_of,
    layers_of,
    shaded_words,
)
from venturi.sources.open import read

BERLIN = zone_of("Europe/Berlin")
DAY = Span(BEGIN_NS, BEGIN_NS + 24 * HOUR_NS)
STEP_NS = 10**9
SACCT = "JobID|JobName|State|ElapsedRaw|Start|End\n"


def utc_ns(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 10**9


def told(path: Path, zone: LocalZone = BERLIN) -> list[TimedRun]:
    return runs_of(path, zone, DAY)[0]


@pytest.fixture
def day(place: Place) -> Place:
    """Three hours of a probe from BEGIN_NS on, a Friday at midnight UTC."""
    place.settings |= {"interval_s": 4.0, "ring_days": 2, "kinds": ["metadata"]}
    put(place, samples_of(0, 3 * 3600, BEGIN_NS, STEP_NS, 1e6))
    return place


def plot(place: Place, *words: str) -> Result:
    return CliRunner().invoke(command, ["plot", "t", "--store", str(place.store), *words])


@pytest.mark.parametrize(
    ("begin", "end", "seconds", "meant"),
    [
        ("2024-10-27T01:30:00", "2024-10-27T03:30:00", None, ("26T23:30", "27T02:30")),
        ("2024-10-27T01:50:00", "2024-10-27T02:20:00", 1800, ("26T23:50", "27T00:20")),
        ("2024-10-27T01:50:00", "2024-10-27T02:20:00", 5400, ("26T23:50", "27T01:20")),
        ("2024-10-27T02:50:00", "2024-10-27T02:10:00", None, ("27T00:50", "27T01:10")),
        ("2024-10-27T02:30:00+01:00", "2024-10-27T02:40:00+01:00", None, ("27T01:30", "27T01:40")),
        ("1729990200", "1729990800", None, ("27T00:50", "27T01:00")),
    ],
)
def test_the_hour_that_clocks_show_twice_is_told_by_what_is_known_besides(
    begin: str, end: str, seconds: float | None, meant: tuple[str, str]
) -> None:
    found = interval_ns(BERLIN, begin, end, seconds)
    assert found == tuple(utc_ns(f"2024-10-{text}:00") for text in meant)


def test_where_nothing_tells_the_hour_it_is_not_guessed() -> None:
    with pytest.raises(TwoTimesError, match="may be two times in Europe/Berlin"):
        interval_ns(BERLIN, "2024-10-27T02:10:00", "2024-10-27T02:20:00", 600)
    with pytest.raises(ValueError, match="there was no 2024-03-31T02:30:00 in Europe/Berlin"):
        interval_ns(BERLIN, "2024-03-31T02:30:00", "2024-03-31T04:00:00")
    with pytest.raises(ValueError, match=r"ends .* before it begins"):
        interval_ns(BERLIN, "2024-05-01T02:30:00", "2024-05-01T02:00:00")
    fixed = interval_ns(zone_of("+02:00"), "2024-10-27T02:10:00", "2024-10-27T02:20:00")
    assert fixed[0] == utc_ns("2024-10-27T00:10:00")
    with pytest.raises(UserError, match="there is no time zone 'Mars'"):
        zone_of("Mars")


def test_this_hosts_zone_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("TZ", "America/New_York")
        time.tzset()
        assert zone_of(None).moments_ns("2024-10-04T20:00:00") == [utc_ns("2024-10-05T00:00:00")]
        assert len(zone_of(None).moments_ns("2024-11-03T01:30:00")) == 2
        assert zone_of(None).moments_ns("2024-03-10T02:30:00") == []
    finally:
        monkeypatch.undo()
        time.tzset()


def test_jobs_of_sacct_without_steps_and_without_what_did_not_begin() -> None:
    text = SACCT + (
        "7|a|b|COMPLETED|600|2024-10-04T03:00:00|2024-10-04T03:10:00\n"
        "7.batch|batch|COMPLETED|600|2024-10-04T03:00:00|2024-10-04T03:10:00\n"
        "8|waits|PENDING|0|Unknown|Unknown\n"
        "9_4|runs|RUNNING|60|2024-10-04T04:00:00|Unknown\n"
        "10|gone|CANCELLED by 5|0|None|2024-10-04T03:10:00\n"
    )
    jobs, remark = jobs_of(text, BERLIN, DAY)
    assert [(job.run, job.phases[0].path) for job in jobs] == [
        ("job 7", "a|b"),
        ("job 9_4", "runs"),
    ]
    assert jobs[0].phases[0].begin_ns == utc_ns("2024-10-04T01:00:00")
    assert jobs[0].phases[0].end_ns == utc_ns("2024-10-04T01:10:00")
    assert jobs[1].phases[0].end_ns == DAY.end_ns
    assert {job.source for job in jobs} == {PhaseSource.SLURM}
    assert remark == ""


def test_a_job_in_the_hour_that_was_twice_is_left_out_and_said() -> None:
    text = SACCT + (
        "1|a|COMPLETED|600|2024-10-27T02:10:00|2024-10-27T02:20:00\n"
        "2|b|COMPLETED|4200|2024-10-27T01:10:00|2024-10-27T02:20:00\n"
    )
    jobs, remark = jobs_of(text, BERLIN, DAY)
    assert [job.run for job in jobs] == ["job 2"]
    assert remark.startswith("1 job is left out, for example job 1: 2024-10-27T02:10:00")
    assert "SLURM_TIME_FORMAT=%s" in remark


def io500_text(begin: datetime, seconds: float) -> str:
    """Phases that follow each other, as the program writes them in Berlin."""
    lines = ["[run]", "procs           = 40", ""]
    at_s = begin.timestamp()
    for name in PHASES:
        took_s = 0.0001 if name == "timestamp" else seconds
        first, last = (
            datetime.fromtimestamp(s, ZoneInfo("Europe/Berlin")).strftime("%Y-%m-%d %H:%M:%S")
            for s in (at_s, at_s + took_s)
        )
        lines += [f"[{name}]", f"t_start         = {first}", "exe             = ./ior -C %s",
                  f"t_delta         = {took_s:.4f}", f"t_end           = {last}", ""]  # fmt: skip
        at_s += took_s + 1
    return "\n".join(lines)


@pytest.mark.parametrize("seconds", [60.4, 300.2, 900.0])
def test_an_io500_during_which_clocks_went_back_is_where_it_ran(
    tmp_path: Path, seconds: float
) -> None:
    begin = datetime(2024, 10, 26, 23, 50, tzinfo=UTC)
    (tmp_path / "result.txt").write_text(io500_text(begin, seconds))
    [run] = told(tmp_path)
    assert [one.path for one in run.phases] == [name for name in PHASES if name != "timestamp"]
    at_ns = utc_ns("2024-10-26T23:50:00")
    for phase in run.phases:
        assert 0 <= phase.begin_ns - at_ns < 30e9
        assert phase.end_ns - phase.begin_ns == pytest.approx(seconds * 1e9, abs=1.1e9)
        at_ns = phase.end_ns
    assert run.source is PhaseSource.IO500


def test_an_io500_within_the_hour_that_was_twice_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    path.write_text(io500_text(datetime(2024, 10, 27, 0, 5, tzinfo=UTC), 60))
    with pytest.raises(UserError, match=r"ior-easy-write: .* two times") as refused:
        told(path)
    assert refused.value.hint == "say which time is meant: --zone +02:00"
    [run] = told(path, zone_of("+02:00"))
    assert run.phases[0].begin_ns == utc_ns("2024-10-27T00:05:00")


@pytest.mark.parametrize("name", OURS[:4])
def test_darshan_logs_say_when_their_jobs_ran_in_both_forms(name: str, tmp_path: Path) -> None:
    log = log_of(name)
    job = read(log).job
    [run] = told(log)
    [phase] = run.phases
    assert phase.begin_ns / 1e9 == pytest.approx(
        datetime.fromisoformat(str(job.started)).timestamp(), abs=1
    )
    assert phase.end_ns - phase.begin_ns == pytest.approx(job.seconds * 1e9, abs=1e8)
    text = tmp_path / "counters.txt"
    shutil.copy(text_of(name), text)
    [again] = told(text)
    assert (again.run, again.phases[0].path) == (run.run, phase.path)
    assert again.phases[0].begin_ns == pytest.approx(phase.begin_ns, abs=1e9)
    assert phase.path in text.read_text().splitlines()[2]
    shutil.copy(log, tmp_path / "a.darshan")
    shutil.copy(log, tmp_path / "b.darshan")
    assert len(told(tmp_path)) == 2


def test_a_table_of_begins_ends_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("start,end,label\n2024-10-04T03:00,2024-10-04T04:00,maintenance\n")
    [run] = told(path)
    assert run.phases[0] == TimedPhase(
        "maintenance", 0, utc_ns("2024-10-04T01:00:00"), utc_ns("2024-10-04T02:00:00")
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a", "JobID|Start\n", "no field End"),
        ("a", SACCT + "1|x|2024-10-04T03:00:00\n", "line 2: 3 fields, but the first line has 6"),
        (
            "a",
            SACCT + "1|x|D|1|yesterday|2024-10-04T03:00:00\n",
            "line 2: job 1: 'yesterday' is no",
        ),
        ("a", SACCT + "1|x|D|1|2024-03-31T02:30:00|2024-03-31T04:00:00\n", "clocks went forward"),
        ("result_summary.txt", "[RESULT] find 1.2 kIOPS : time 3 seconds\n", "does not say when"),
        ("a", "[find]\nt_start = soon\nt_delta = 3\n", "phase find: 'soon' is no time"),
        ("a", "[find]\nt_start = 2024-10-04 03:00:00\nt_delta = x\n", "t_delta 'x' is no number"),
        ("a", "begin,end,label\n1,2,3\n", "line 2: '1' is no time"),
        ("a", "nothing of the kind\n", "this file is not known"),
        ("a", "\0\1\2", "this file is not known"),
        ("a", "", "this file is not known"),
    ],
)
def test_bad_files_are_one_clear_error(
    day: Place, tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    done = plot(
        day, "--shade", str(path), "--zone", "Europe/Berlin", "-o", str(tmp_path / "p.html")
    )
    assert isinstance(done.exception, UserError)
    assert done.exception.message.startswith(str(path))
    assert said in done.exception.message
    assert not (tmp_path / "p.html").exists()


def test_what_has_no_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device says that it has 0 bytes."""
    monkeypatch.setattr(interval_file, "_MOST_BYTES", 10_000)
    with pytest.raises(UserError, match="/dev/zero has more than 10000 bytes"):
        runs_of(Path("/dev/zero"), zone_of("UTC"), Span(0, 1))


def test_a_cut_darshan_log_a_folder_without_any_and_no_file(tmp_path: Path) -> None:
    cut = tmp_path / "cut.darshan"
    cut.write_bytes(log_of(OURS[0]).read_bytes()[:200])
    with pytest.raises(UserError, match="the Darshan log is damaged"):
        told(cut)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"neither result\.txt nor Darshan logs"):
        told(tmp_path / "empty")
    with pytest.raises(UserError, match="No such file"):
        told(tmp_path / "none")


def test_the_page_names_jobs_tells_what_the_probe_felt_and_report_draws_it_again(
    day: Place, tmp_path: Path
) -> None:
    jobs = tmp_path / "jobs.txt"
    jobs.write_text(
        SACCT + "17|lammps|COMPLETED|3600|2024-10-04T03:00:00|2024-10-04T04:00:00\n"
        "18|cp2k|COMPLETED|1800|2024-10-04T03:10:00|2024-10-04T03:40:00\n"
    )
    words = ["--shade", str(jobs), "--zone", "Europe/Berlin"]
    page, document = tmp_path / "p.html", tmp_path / "p.json"
    for path in (page, document):
        done = plot(day, *words, "-o", str(path))
        assert (done.exit_code, done.output) == (0, f"{path}\n")
    text = page.read_text()
    assert text.count(">lammps (job 17)<") == 2
    assert "Shaded: Slurm jobs; the deeper, the more at once." in text
    assert "Most during" in text
    found = parse_json(ProbeHistory, document.read_bytes())
    assert [(one.run, one.begin_s) for one in found.phases] == [("job 17", 3600), ("job 18", 4200)]
    rows = {row.phase: row.samples for row in found.targets[0].series[0].during}
    assert rows == {0: 900, 1: 450}
    again = tmp_path / "again.html"
    done = CliRunner().invoke(report_command.command, [str(document), "-o", str(again)])
    assert done.exit_code == 0, done.output
    assert again.read_text() == text


def test_a_file_of_another_time_is_said(day: Place, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.txt"
    jobs.write_text(SACCT + "17|x|COMPLETED|3600|2024-11-04T03:00:00|2024-11-04T04:00:00\n")
    done = plot(day, "--shade", str(jobs), "--zone", "UTC", "-o", str(tmp_path / "p.html"))
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "what it has ran from 2024-11-04 03:00 to 2024-11-04 04:00 UTC" in said
    assert "nothing in the time shown (2024-10-04 00:00 to 2024-10-04 02:59 UTC)" in said


def test_jobs_do_not_take_measurements_from_what_is_usual(day: Place) -> None:
    whole = [TimedPhase("x", 0, BEGIN_NS, BEGIN_NS + 4 * HOUR_NS)]
    span = Span(BEGIN_NS, BEGIN_NS + 3 * HOUR_NS)

    def usual_s(source: PhaseSource) -> float | None:
        runs = [TimedRun("r", "", True, whole, source)]
        return history_of([day.folder], span, runs).targets[0].series[0].usual_s

    assert usual_s(PhaseSource.RUN) is None
    assert usual_s(PhaseSource.SLURM) == pytest.approx(0.001, rel=0.1)


def test_of_very_many_jobs_the_longest_are_measured(day: Place) -> None:
    runs = [
        TimedRun(f"job {n}", "", True,
                 [TimedPhase("x", 0, BEGIN_NS, BEGIN_NS + (n + 1) * 10 * STEP_NS)],
                 PhaseSource.SLURM)
        for n in range(MOST_MEASURED + 100)
    ]  # fmt: skip
    found = history_of([day.folder], Span(BEGIN_NS, BEGIN_NS + 3 * HOUR_NS), runs)
    assert len(found.phases) == MOST_MEASURED + 100
    during = found.targets[0].series[0].during
    assert [row.phase for row in during] == list(range(100, MOST_MEASURED + 100))


def test_the_median_of_a_long_phase_is_right_within_one_percent() -> None:
    values = (np.random.default_rng(1).lognormal(0, 1, 200_000) * 1e6).astype(np.int64)
    found = PhaseValues()
    for part in np.array_split(values, 9):
        found.add(part)
    assert found.count == 200_000
    assert found.longest == values.max()
    assert found.median_ns() == pytest.approx(float(np.median(values)), rel=0.01)


CLOCK = ClockAxis(BEGIN_NS, 0.0, 86_400.0)


def test_bars_and_their_names_never_stand_on_one_another() -> None:
    random = np.random.default_rng(2)
    begins = random.uniform(-5000, 86_000, 1500)
    lengths = random.lognormal(7, 1.2, 1500)
    bands = [RunBand(f"name-{n}", float(b), float(b + long))
             for n, (b, long) in enumerate(zip(begins, lengths, strict=True))]  # fmt: skip
    bars = bars_of(bands, CLOCK, 800)
    taken: dict[int, list[tuple[float, float]]] = {}
    for bar in bars:
        high = max(bar.end_px, bar.at_px + 6.2 * len(bar.name)) if bar.name else bar.end_px
        taken.setdefault(bar.lane, []).append((min(bar.begin_px, bar.at_px), high))
    for parts in taken.values():
        parts.sort()
        assert all(left[1] <= right[0] for left, right in itertools.pairwise(parts))
        assert parts[0][0] >= 0
        assert parts[-1][1] <= 800
    longest = max(bands, key=lambda one: one.end_s - one.begin_s)
    assert longest.name in {bar.name for bar in bars}
    phases = [ProbePhase(run=f"job {n}", path="x", repetition=0, begin_s=one.begin_s,
                         end_s=one.end_s, source=PhaseSource.SLURM)
              for n, one in enumerate(bands)]  # fmt: skip
    words = shaded_words(phases, CLOCK, 800)
    seen = len(bands_of(phases, CLOCK, 800))
    named = sum(bool(bar.name) for bar in bars_of(bands_of(phases, CLOCK, 800), CLOCK, 800))
    assert f"the names of {named} of {seen:,}: there is no room for more" in words


def test_the_shade_is_deeper_where_more_went_on_at_once_and_stays_small() -> None:
    bands = [RunBand("a", 0, 50_000), RunBand("b", 10_000, 20_000), RunBand("c", 12_000, 15_000)]
    layers = layers_of(bands, CLOCK, {}, 864)
    opacities = [layer["mark"]["opacity"] for layer in layers]
    assert opacities == sorted(opacities)
    assert len(set(opacities)) == 3
    parts = [[(row["x"] - BEGIN_NS / 1e6, row["x2"] - BEGIN_NS / 1e6)
              for row in layer["data"]["values"]] for layer in layers]  # fmt: skip
    assert parts == [
        [(0, 10_000_000), (20_000_000, 50_000_000)],
        [(10_000_000, 12_000_000), (15_000_000, 20_000_000)],
        [(12_000_000, 15_000_000)],
    ]
    many = [RunBand("x", n * 10.0, n * 10.0 + 500) for n in range(8000)]
    assert sum(len(layer["data"]["values"]) for layer in layers_of(many, CLOCK, {}, 864)) <= 864


@pytest.fixture
def slurm() -> Iterator[SlurmDaemon]:
    """A Slurm that keeps no accounts, but writes down the jobs that are over."""
    with tempfile.TemporaryDirectory(prefix="slurm") as home:
        completed = f"JobCompType=jobcomp/filetxt\nJobCompLoc={home}/log/completed\n"
        daemon = SlurmDaemon(Path(home), completed)
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.stop()


@pytest.mark.needs("slurm")
def test_a_job_of_a_real_slurm_by_its_file_and_by_asking(
    place: Place, slurm: SlurmDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.settings |= {"interval_s": 4.0, "kinds": ["metadata"]}
    before_ns = time.time_ns() // 10**9 * 10**9
    job = slurm.asked("sbatch", "--parsable", "-o", "/dev/null", "-J", "i|o", "--wrap=sleep 2")
    words = ["sacct", "-c", "--parsable2", "-o", "JobID,JobName,State,Start,End"]
    text = hold(lambda: (t := slurm.asked(*words)).count("COMPLETED") and t)
    put(place, samples_of(0, 1200, before_ns - 600 * 10**9, STEP_NS, 1e6))
    jobs, document = tmp_path / "jobs.txt", tmp_path / "p.json"
    jobs.write_text(text)
    monkeypatch.setenv("SLURM_CONF", str(slurm.configuration))
    monkeypatch.setenv("TZ", "America/New_York")  # of the command alone: what it asks is in UTC
    found = []
    for more in (["--shade", str(jobs), "--zone", datetime.now().astimezone().strftime("%z")],
                 ["--slurm"]):  # fmt: skip
        done = plot(place, *more, "-o", str(document))
        assert done.exit_code == 0, (done.output, done.exception)
        found.append(parse_json(ProbeHistory, document.read_bytes()).phases)
        assert ("keeps no accounts" in done.output) == (more == ["--slurm"])
    [by_file], [by_asking] = found
    assert by_file == by_asking
    assert (by_file.run, by_file.path) == (f"job {job.strip()}", "i|o")
    assert by_file.end_s - by_file.begin_s >= 2
    assert 599 <= by_file.begin_s <= by_file.end_s <= (time.time_ns() - before_ns) / 1e9 + 601


def test_a_slurm_that_keeps_accounts_is_asked_in_universal_time(
    day: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = tmp_path / "bin" / "sacct"
    stand_in.parent.mkdir()
    stand_in.write_text(
        f'#!/bin/sh\necho "$TZ $SLURM_TIME_FORMAT $*" > {tmp_path}/asked\n'
        f"printf '{SACCT.strip()}\\n5|x|COMPLETED|60|2024-10-04T01:00:00|2024-10-04T01:01:00\\n'\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_TIME_FORMAT", "relative")
    document = tmp_path / "p.json"
    done = plot(day, "--slurm", "--zone", "Europe/Berlin", "-o", str(document))
    assert done.exit_code == 0, done.exception
    [phase] = parse_json(ProbeHistory, document.read_bytes()).phases
    assert phase.begin_s == 3600
    asked = (tmp_path / "asked").read_text()
    assert re.match(r"UTC  -X --parsable2 -S 2024-10-04T00:00:00 -E 2024-10-04T03:00:0\d ", asked)
    stand_in.write_text("#!/bin/sh\necho 'sacct: error: no such cluster' >&2; exit 1\n")
    done = plot(day, "--slurm", "-o", str(document))
    assert isinstance(done.exception, UserError)
    assert "no such cluster" in done.exception.message


def test_without_slurm_asking_it_is_one_clear_error(
    day: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("sacct") is None
    done = plot(day, "--slurm", "-o", str(tmp_path / "p.html"))
    assert isinstance(done.exception, UserError)
    assert "sacct is not installed here" in done.exception.message
    assert "--shade FILE" in str(done.exception.hint)
