"""Histories as pages: what is drawn of how much, what is usual, what runs did, what changed."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from probe.conftest import Place
from probe.history import BEGIN_NS, put, samples_of
from report.record_factory import environment, record
from venturi.cli import report as report_command
from venturi.cli.probe import command
from venturi.model.document import parse_json
from venturi.model.error import UserError
from venturi.model.host_sample import HostSample
from venturi.model.probe import OPERATIONS, ProbeOperation
from venturi.model.probe_history import ProbeHistory, ProbeSeries, UsualSource
from venturi.model.record import Record
from venturi.probe.columns import Array
from venturi.probe.history import extent_of, history_of
from venturi.probe.ring import CACHED, FAILED, MISSED
from venturi.probe.rollup import DAY_NS, HOUR_NS
from venturi.probe.run_phase import TimedPhase, TimedRun, is_on, mount_of, timed_run
from venturi.probe.span import Span
from venturi.probe.status import status_of
from venturi.probe.thin import MOST_OUTLIERS, PART, Thinning
from venturi.report.figure.probe_response import every
from venturi.report.figure.svg import draw
from venturi.report.probe_text import print_baseline, print_status
from venturi.report.render import render_document
from venturi.store.result import result_of
from venturi.store.seal import seal

STEP_NS = 15 * 10**9
A_DAY = 5760
MS = 10**6


@pytest.fixture
def slow(place: Place) -> Place:
    """A target that is asked once a minute, so that a day has few samples."""
    place.settings |= {"interval_s": 60.0, "ring_days": 60, "kinds": ["metadata"]}
    return place


def constant(count: int, value_ns: int, first: int = 0) -> Array:
    samples = samples_of(first, count, BEGIN_NS + first * STEP_NS, STEP_NS, 1e6)
    samples["response_ns"] = samples["service_ns"] = value_ns
    return samples


def history(place: Place, *runs: TimedRun, span: Span | None = None) -> ProbeHistory:
    folders = [place.folder]
    return history_of(folders, extent_of(folders, span or Span()), runs)


def series_of(found: ProbeHistory, operation: ProbeOperation) -> ProbeSeries:
    return next(one for one in found.targets[0].series if one.operation is operation)


def run_of(begin_ns: int, end_ns: int, path: str = "mdtest-hard-write") -> TimedRun:
    return TimedRun("run-1", "/elsewhere", True, [TimedPhase(path, 0, begin_ns, end_ns)])


def test_every_outlier_stays_and_the_others_stand_for_a_known_number() -> None:
    random = np.random.default_rng(1)
    values = (random.lognormal(0, 0.3, 200_000) * MS).astype(np.int64)
    outliers = random.choice(200_000, 3000, replace=False)
    values[outliers] = 200 * MS + np.arange(3000)
    at_ns = np.arange(200_000, dtype=np.int64) * 10**9
    thinning = Thinning()
    for part in np.array_split(np.arange(200_000), 7):
        thinning.add(at_ns[part], values[part])
    points = thinning.points(0)
    drawn = dict(zip(points.at_s, points.value_s, strict=True))
    assert {float(index) for index in outliers} <= drawn.keys()
    assert points.measured == 200_000
    assert points.above_s is not None
    assert points.above_s < 0.1
    assert points.thinned_from == 200_000 - 3000
    assert points.thinned == pytest.approx(PART, abs=80)
    assert len(points.at_s) == 3000 + points.thinned
    assert points.stands_for == points.thinned_from / points.thinned
    assert points.at_s == sorted(points.at_s)


def test_of_very_many_outliers_the_longest_stay_and_the_limit_says_which() -> None:
    values = np.arange(1, 20_001, dtype=np.int64) * MS  # all but a hundred are above 0.1 s
    thinning = Thinning()
    thinning.add(np.arange(20_000, dtype=np.int64) * 10**9, values)
    points = thinning.points(0)
    assert points.above_s == (20_000 - MOST_OUTLIERS) / 1000
    assert sum(value > points.above_s for value in points.value_s) == MOST_OUTLIERS


def test_few_measurements_are_all_drawn() -> None:
    thinning = Thinning()
    thinning.add(np.arange(2500, dtype=np.int64), np.full(2500, MS, np.int64))
    points = thinning.points(0)
    assert len(points.at_s) == points.measured == 2500
    assert (points.above_s, points.thinned_from, points.stands_for) == (None, 0, 1.0)


def test_a_page_says_what_a_phase_did_by_the_baseline(slow: Place) -> None:
    samples = constant(2 * A_DAY, MS)
    samples["response_ns"][-80:] = 8 * MS
    put(slow, samples)
    begin = int(samples["scheduled_ns"][-80])
    found = history(slow, run_of(begin, begin + 80 * STEP_NS))
    for one in found.targets[0].series:
        assert one.source is UsualSource.BASELINE
        assert one.usual_s == pytest.approx(0.001, rel=0.01)
        [during] = one.during
        assert during.samples == 20
        assert during.slowdown == pytest.approx(8, rel=0.01)
    page = render_document(found, "html")
    assert re.search(r"Most during mdtest-hard-write of run-1, repetition 1: md_\w+ took "
                     r"(7\.9|8\.0)\d? times its usual time", page)  # fmt: skip


def test_a_phase_with_two_measurements_is_not_what_the_page_speaks_of(slow: Place) -> None:
    samples = constant(2 * A_DAY, MS)
    samples["response_ns"][-80:] = 3 * MS
    samples["response_ns"][-8:] = 90 * MS
    put(slow, samples)
    first, last = (int(samples["scheduled_ns"][at]) for at in (-80, -8))
    long_run = run_of(first, last, "long")
    short_run = run_of(last, last + 8 * STEP_NS, "short")
    page = render_document(history(slow, long_run, short_run), "md").replace("\\", "")
    assert "Most during long of run-1" in page
    names = re.findall(r"^\| run-1 \| (\w+) ", page, re.M)
    assert names == ["long"] * 4 + ["short"] * 4
    alone = render_document(history(slow, short_run), "md")
    assert "The phases were too short for the probe" in alone


def test_while_the_baseline_is_learned_the_page_says_what_it_compares_with(slow: Place) -> None:
    samples = constant(400, MS)
    samples["response_ns"][100:] = 4 * MS
    put(slow, samples)
    begin = int(samples["scheduled_ns"][100])
    found = history(slow, run_of(begin, begin + 400 * STEP_NS))
    one = series_of(found, ProbeOperation.MD_STAT)
    assert one.source is UsualSource.SHOWN
    assert one.usual_s == pytest.approx(0.001)
    assert one.during[0].slowdown == pytest.approx(4)
    page = render_document(found, "html")
    assert "still being learned (2 of 24 hours)" in page
    assert "medians of what this page shows, outside of runs" in page


def test_page_and_status_say_the_same_of_a_baseline_that_is_being_learned(slow: Place) -> None:
    samples = constant(400, MS)
    cached = samples["operation"] == OPERATIONS.index(ProbeOperation.MD_READ)
    samples["flags"][cached] = CACHED
    put(slow, samples)
    page = render_document(history(slow), "md").replace("\\", "")
    assert "(md_stat, md_delete, md_create: 2 of 24 hours; md_read: 0 of 24 hours)" in page
    now_ns = int(samples["scheduled_ns"][-1]) + 1
    for printed in (print_status, print_baseline):
        console = Console(record=True, width=120)
        printed(status_of([slow.folder], clock=lambda: now_ns), console)
        rows = console.export_text()
        assert re.findall(r"(md_\w+) .*?(\d+ of 24 hours)", rows) == [
            ("md_stat", "2 of 24 hours"),
            ("md_read", "0 of 24 hours"),
            ("md_delete", "2 of 24 hours"),
            ("md_create", "2 of 24 hours"),
        ]


def test_missed_and_failed_moments_are_marked_apart(slow: Place) -> None:
    samples = constant(400, MS)
    samples["flags"][200:220] = MISSED
    samples["response_ns"][200:220] = np.arange(20, 0, -1) * 10**9
    samples["flags"][300:304] = FAILED
    put(slow, samples)
    found = history(slow)
    assert sum(one.missed.measured for one in found.targets[0].series) == 20
    assert sum(one.failed.measured for one in found.targets[0].series) == 4
    assert sum(one.points.measured for one in found.targets[0].series) == 376
    page = render_document(found, "html")
    assert "376 operations, 20 moments passed while one hung, 4 failed" in page
    assert "The longest wait was 20.0 s" in page


def test_parts_of_four_hours_and_a_change_of_behaviour_by_its_date(slow: Place) -> None:
    samples = samples_of(0, 20 * A_DAY, BEGIN_NS, STEP_NS, 1e6)
    changed = samples["scheduled_ns"] >= BEGIN_NS + 12 * DAY_NS
    samples["response_ns"][changed] *= 2
    put(slow, samples)
    one = series_of(history(slow), ProbeOperation.MD_CREATE)
    assert len(one.spans) == 20 * 6
    own = samples[(samples["operation"] == 3)
                  & (samples["scheduled_ns"] < BEGIN_NS + 4 * HOUR_NS)]  # fmt: skip
    p95_s = float(np.percentile(own["response_ns"], 95)) / 1e9
    assert one.spans[0].p95_s == pytest.approx(p95_s, rel=0.02)
    [change] = one.changes
    assert change.at_s == 12 * 86_400
    assert change.after_s / change.before_s == pytest.approx(2, rel=0.02)
    day = str(np.datetime64((BEGIN_NS + 12 * DAY_NS) // DAY_NS, "D"))
    page = render_document(history(slow), "md")
    assert f"changed its level at {day} 00:00 UTC" in page.replace("\\", "")


def test_a_picture_has_a_dot_for_each_point_that_the_page_counts(slow: Place) -> None:
    put(slow, constant(400, MS))
    found = history(slow)
    figure = every(found, found.targets[0])
    assert figure is not None
    svg = draw(figure.spec, "x", "y")
    assert svg is not None
    paths = re.findall(r'<path [^>]*stroke-linecap="round"[^>]*>', svg)
    assert sum(path.count("M") for path in paths) == 400


def test_a_page_of_sixty_days_stays_small(place: Place) -> None:
    place.settings |= {"interval_s": 4.0, "ring_days": 60, "kinds": ["metadata"]}
    count = 60 * 86_400 - 10
    samples = samples_of(0, count, BEGIN_NS, 10**9, 1e6)
    samples["response_ns"][::500] *= 900
    put(place, samples)
    found = history(place)
    one = series_of(found, ProbeOperation.MD_STAT)
    assert one.points.measured == pytest.approx(count / 4, abs=2)
    assert one.points.stands_for > 0
    assert len(render_document(found, "html")) < 2_000_000


def test_runs_are_shown_on_the_file_system_that_they_worked_on(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    line = "{} 1 0:1 / {} rw - ext4 /dev/x rw\n"
    points = ("/", "/scratch", "/scratch/my\\040lab")
    table.write_text("".join(line.format(n, at) for n, at in enumerate(points)))
    assert mount_of("/home/a", table) == "/"
    assert mount_of("/scratchy", table) == "/"
    assert mount_of("/scratch/a/b", table) == "/scratch"
    assert mount_of("/scratch/my lab/b", table) == "/scratch/my lab"
    run = TimedRun("r", "/scratch", False, [])
    assert is_on(run, "/scratch/probe", table)
    assert not is_on(run, "/home/probe", table)
    assert is_on(TimedRun("r", "/scratch", True, []), "/home/probe", table)


def test_phases_stand_where_the_clock_of_their_host_says() -> None:
    sample = HostSample(
        at_s=2.0, wall_s=1_700_000_002.5, cpus=1, user_s=0, system_s=0, io_wait_s=0, steal_s=0,
        running=0, own_processes=1, own_user_s=0, own_system_s=0,
    )  # fmt: skip
    made = record().model_copy(update={"host_samples": [sample]})
    row = made.phases[0]
    first = timed_run(made).phases[0]
    assert first.path == row.path
    assert first.begin_ns == pytest.approx((1_700_000_000.5 + row.at_s) * 1e9, abs=1000)
    assert first.end_ns - first.begin_ns == pytest.approx(row.seconds.total * 1e9, abs=1000)


def kept(place: Place, name: str, mount: str, at_ns: int) -> Record:
    """A run in the store that said hello at a time."""
    here = environment()
    system = here.file_system.model_copy(update={"mount": mount})
    sample = HostSample(
        at_s=0.0, wall_s=at_ns / 1e9, cpus=1, user_s=0, system_s=0, io_wait_s=0, steal_s=0,
        running=0, own_processes=1, own_user_s=0, own_system_s=0,
    )  # fmt: skip
    found = record(
        id=name,
        started=datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(),
        environment=here.model_copy(update={"file_system": system}),
        host_samples=[sample],
    )
    folder = place.store / "runs" / name
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(found.to_json())
    (folder / "result.json").write_text(result_of(found).to_json())
    seal(folder)
    return found


def test_runs_of_the_store_are_shaded_where_they_worked(slow: Place, tmp_path: Path) -> None:
    put(slow, constant(400, MS))
    mount = mount_of(str(slow.directory))
    begin_ns = BEGIN_NS + 40 * 60 * 10**9
    here = kept(slow, "run-here", mount, begin_ns)
    kept(slow, "run-elsewhere", "/elsewhere", begin_ns)
    kept(slow, "run-later", mount, begin_ns + HOUR_NS * 20)
    path = tmp_path / "p.json"
    words = ["t", "-o", str(path), "--store", str(slow.store)]

    def phases(*more: str) -> set[str]:
        done = call(*words, *more)
        assert done.exit_code == 0, done.output
        found = parse_json(ProbeHistory, path.read_bytes())
        return {found.phases[place].run for place in found.targets[0].phases}

    assert phases() == {"run-here"}
    assert phases("--run", "run-elsewhere") == {"run-here", "run-elsewhere"}
    found = parse_json(ProbeHistory, path.read_bytes())
    first = next(one for one in found.phases if one.run == "run-here")
    assert first.path == here.phases[0].path
    assert first.begin_s == pytest.approx(2400 + here.phases[0].at_s, abs=0.01)
    page = tmp_path / "p.html"
    done = CliRunner().invoke(report_command.command, [str(slow.folder), "-o", str(page)])
    assert done.exit_code == 0, done.output
    assert "run-here" in page.read_text()
    assert "run-elsewhere" not in page.read_text()


def call(*words: str) -> Result:
    return CliRunner().invoke(command, ["plot", *words])


def test_the_command_writes_pages_and_a_document_that_report_draws(
    slow: Place, tmp_path: Path
) -> None:
    put(slow, constant(400, MS))
    store = ["--store", str(slow.store)]
    page, text, document = (str(tmp_path / name) for name in ("p.html", "p.md", "p.json"))
    for path in (page, text, document):
        done = call("t", "-o", path, *store)
        assert done.exit_code == 0, done.output
        assert done.output == f"{path}\n"
    whole = Path(page).read_text()
    assert whole.count("<svg") == 3
    assert json.loads(Path(document).read_text())["schema"] == "venturi.probe-history/1"
    again = str(tmp_path / "again.html")
    for source in (document, str(slow.folder)):
        done = CliRunner().invoke(report_command.command, [source, "-o", again])
        assert done.exit_code == 0, done.output
        assert Path(again).read_text() == whole
    done = call(str(slow.folder), "-o", again, "--store", str(tmp_path / "none"))
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["other"], "no target is called other"),
        (["t", "-o", "p.pdf"], "there is no format 'pdf'"),
        (["t", "--begin", "2099-01-01"], "nothing was measured in that time"),
        (["t", "--begin", "yesterday"], "is no time"),
        (["t", "--run", "nothing"], "there is no such run"),
    ],
)
def test_wrong_use_of_plot_is_one_clear_error(
    slow: Place, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(slow, constant(40, MS))
    monkeypatch.chdir(tmp_path)
    done = call(*words, "--store", str(slow.store))
    assert isinstance(done.exception, UserError)
    assert said in done.exception.message
    assert not list(tmp_path.glob("*.html"))


def test_a_target_without_a_sample_is_said(slow: Place) -> None:
    slow.make(slow.target.kinds[0])
    with pytest.raises(UserError, match="nothing was measured yet"):
        extent_of([slow.folder], Span())
