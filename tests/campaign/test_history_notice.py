"""What of a history people are told, when and how often: mail and JSON from every template."""

from __future__ import annotations

import math
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from post_box import Post
from simulated_night import night_results
from template_script import put_venturi, run_script

import warm_start
from venturi.campaign.history_notice import history_news
from venturi.model.history import KnownChange
from venturi.model.notice import ReportedChange
from venturi.model.result import Result

TEMPLATES = Path(__file__).parents[2] / "examples" / "ci"
NIGHTS, SLOW, FINE_AGAIN = 90, 60, 80
SITE = "https://results.example.org/io"
PAGE = f"{SITE}/workload/nightly.html"
JOB = "https://ci.example.org/job/7"
CAMPAIGN = """
campaign: 1
name: nightly
every: 24 h
space: {product: {size: [1, 2]}}
repeat: 1
steps:
  run:
    time: 60 if size != 2 else 3
    command: "test ! -e {dir}/hangs || sleep {size}0; cat {dir}/{size}"
    metrics:
      write: {regex: "write: (.*)", unit: MiB/s, better: higher}
      create: {regex: "create: (.*)", unit: s}
"""
MACHINE = """
schema: venturi.machine/2
name: cluster
targets: [{name: scratch, path: %s}]
notices:
  mail: {to: [owner@example.org], sender: venturi@example.org, server: "127.0.0.1:%d",
         user: bench, password_from: MAIL_WORD}
  webhook: $HOOK
  site: %s
"""


def _level(night: int, slow: float) -> float:
    return 1.0 - slow if SLOW <= night < FINE_AGAIN else 1.0


def _results(night: int, chance: random.Random, spread: float, slow: float) -> list[Result]:
    """A night on a machine that got another firmware when it became slow."""
    facts = {"firmware": "2" if night >= SLOW else "1"}
    return night_results(night, chance, spread, _level(night, slow), facts)


def _told(
    seed: int, spread: float, slow: float, first: int = 0, known: KnownChange | None = None
) -> list[tuple[int, str, str]]:
    """Each thing that people are told over all nights: when, what kind, and its words."""
    chance = random.Random(seed)
    results: list[Result] = []
    reported: list[ReportedChange] = []
    said = []
    for night in range(NIGHTS):
        results += _results(night, chance, spread, slow)
        if night >= first:
            news = history_news(results, reported, [known] if known else [])
            reported = news.changes
            said += [(night, one.event.value, f"{one.what} {one.why}") for one in news.happenings]
    return said


@pytest.mark.parametrize(
    ("seed", "spread", "slow"), [(1, 0.03, 0.2), (2, 0.06, 0.1), (3, 0.1, 0.3)]
)
def test_a_change_is_told_once_and_so_is_its_end(seed: int, spread: float, slow: float) -> None:
    """However noisy, and though its series show it on different nights."""
    said = _told(seed, spread, slow, first=SLOW - 5)
    nights = list(dict.fromkeys((night, event) for night, event, _ in said))
    (begun, first), (over, last) = nights
    assert (first, last) == ("regression", "recovered")
    assert SLOW + 1 < begun <= SLOW + 8
    assert over >= FINE_AGAIN
    if slow > 2 * spread:  # else it may be placed some nights from where it is
        assert "changed at that time: firmware: 1 → 2" in said[0][2]


def test_a_change_that_somebody_explained_is_not_told() -> None:
    known = KnownChange(at="2026-03-05", about="slower disks", machine="cluster")
    assert [one for one in _told(1, 0.03, 0.2, SLOW - 1, known) if one[1] == "regression"] == []


def test_of_clean_histories_nobody_is_told() -> None:
    """Eight histories of forty nights and six series."""
    for seed in range(8):
        chance = random.Random(f"clean {seed}")
        results: list[Result] = []
        for night in range(40):
            results += _results(night, chance, 0.06, 0.0)
            assert history_news(results, []).happenings == []


class Nights:
    """A campaign whose figures are known for each night, and whom its machine tells."""

    def __init__(self, folder: Path, post: Post, port: int) -> None:
        self.folder, self.post = folder, post
        self.data = folder / "data"
        self.data.mkdir(exist_ok=True)
        (folder / "campaign.yaml").write_text(CAMPAIGN)
        (folder / "machine.yaml").write_text(MACHINE % (self.data, port, SITE))
        commands = folder / "bin"
        commands.mkdir(exist_ok=True)
        put_venturi(commands)
        self.environment = os.environ | {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "VENTURI_STORE": str(folder / "store"),
            "BENCH": str(folder),
            "MAIL_WORD": "secret",
            "HOOK": f"http://127.0.0.1:{post.web.server_port}/hook",
        }

    def measure(self, night: int) -> None:
        """Write down what the next run is going to find."""
        for size in (1, 2):
            chance = random.Random(f"{night} {size}")
            write = 500 * size * _level(night, 0.25) * math.exp(chance.gauss(0.0, 0.03))
            create = 2 / _level(night, 0.25) * math.exp(chance.gauss(0.0, 0.03))
            (self.data / str(size)).write_text(f"write: {write}\ncreate: {create}\n")

    def plain(self) -> None:
        """A night by the command alone, which is quicker than a template's lines."""
        line = ("campaign", "run", "campaign.yaml", "-d", "scratch", "--on", "machine.yaml", "-q")
        done = warm_start.venturi(*line, folder=self.folder, environment=self.environment)
        assert (done.returncode, done.stderr) == (0, "")

    def script(self, text: str, **variables: str) -> int:
        """A script as a runner starts one: bash that ends at the first failure."""
        return run_script(text, self.folder, self.environment | variables)

    def events(self) -> list[list[str]]:
        """What each notice was about; mail and hook have heard the same."""
        found = [[one["event"] for one in hook["happenings"]] for hook in self.post.hooks]
        subjects = [mail["Subject"] for mail in self.post.mails]
        assert subjects == [f"[venturi] {hook['text']}" for hook in self.post.hooks]
        return found


Lines = Callable[[Nights], tuple[list[int], list[int]]]
"""What a template does in a night and at noon: the exit codes of its lines."""


def _gitlab(nights: Nights) -> tuple[list[int], list[int]]:
    data = yaml.safe_load((TEMPLATES / "gitlab.yml").read_text("utf-8"))
    variables = data["variables"] | {"HERE": "", "CI_JOB_URL": JOB, "CI_PIPELINE_URL": JOB}
    shutil.rmtree(nights.folder / "run.campaign", ignore_errors=True)
    night = nights.script("\n".join(data[".campaign"]["script"]), **variables)
    return [night], [nights.script("\n".join(data["watch"]["script"]), **variables)]


def _github(nights: Nights) -> tuple[list[int], list[int]]:
    data = yaml.safe_load((TEMPLATES / "github.yml").read_text("utf-8"))
    secrets = {name: nights.environment[name] for name in ("HOOK", "MAIL_WORD")}
    variables = data["env"] | {"CAMPAIGN": "campaign.yaml", "PAGE": JOB} | secrets
    shutil.rmtree(nights.folder / "run.campaign", ignore_errors=True)
    jobs = [data["jobs"][name]["steps"] for name in ("campaign", "watch")]
    night, noon = (
        [nights.script(step["run"], **variables) for step in steps if "run" in step]
        for steps in jobs
    )
    return night, noon


def _cron(nights: Nights) -> tuple[list[int], list[int]]:
    lines = (TEMPLATES / "crontab").read_text("utf-8").splitlines()
    commands = [line.split(maxsplit=5)[5] for line in lines if line[:1].isdecimal()]
    codes = [nights.script(command) for command in commands]
    return codes[:2], codes[2:]


def _systemd(nights: Nights) -> tuple[list[int], list[int]]:
    night, noon = (
        re.findall(r"(?m)^ExecStart=(.*)$", (TEMPLATES / f"venturi-{name}.service").read_text())
        for name in ("campaign", "due")
    )
    return [nights.script(one) for one in night], [nights.script(one) for one in noon]


@pytest.fixture(scope="module")
def clean_nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sixty nights in which nothing happened, of which nobody was told."""
    folder = tmp_path_factory.mktemp("clean")
    post = Post()
    try:
        nights = Nights(folder, post, post.start())
        for night in range(SLOW):
            nights.measure(night)
            nights.plain()
        assert nights.events() == []
    finally:
        post.stop()
    return folder


@pytest.fixture
def after_clean_nights(clean_nights: Path, tmp_path: Path) -> Iterator[Nights]:
    shutil.copytree(clean_nights, tmp_path, dirs_exist_ok=True)
    post = Post()
    try:
        yield Nights(tmp_path, post, post.start())
    finally:
        post.stop()


def test_ninety_nights_with_a_regression_at_sixty(after_clean_nights: Nights) -> None:
    """Who is told, when and how often: the owner, of the regression and its end, once each."""
    nights, heard = after_clean_nights, {}
    for night in range(SLOW, NIGHTS):
        nights.measure(night)
        before = len(nights.events())
        nights.plain()
        for events in nights.events()[before:]:
            heard[night] = events
    (begun, what), (over, end) = heard.items()
    assert SLOW + 1 < begun < SLOW + 7
    assert set(what) == {"regression"}
    assert FINE_AGAIN + 1 < over < FINE_AGAIN + 7
    assert end == ["recovered"]
    assert all(mail["To"] == "owner@example.org" for mail in nights.post.mails)
    for mail, hook in zip(nights.post.mails, nights.post.hooks, strict=True):
        assert f"Page: {PAGE}\n" in mail.get_content().replace("\r\n", "\n")
        assert hook["pages"] == [PAGE]


@pytest.mark.parametrize("template", [_gitlab, _github, _cron, _systemd])
def test_every_template_tells_once(after_clean_nights: Nights, template: Lines) -> None:
    """Of a regression, and then of a time-out and its end; a result that is missed, too."""
    nights = after_clean_nights
    quiet_nights = 2  # after the one in which it is told
    for night in range(SLOW, SLOW + 8):
        nights.measure(night)
        quiet_nights -= bool(nights.events())
        codes, noon = template(nights)
        assert {*codes, *noon} == {0}
        if not quiet_nights:
            break
    assert [set(events) for events in nights.events()] == [{"regression"}]
    (nights.data / "hangs").touch()
    for _ in range(2):
        codes, noon = template(nights)
        assert (codes[0], noon) == (3, [0])
    (nights.data / "hangs").unlink()
    template(nights)
    assert nights.events()[1:] == [["timeout"], ["recovered"]]
    campaign = (nights.folder / "campaign.yaml").read_text()
    (nights.folder / "campaign.yaml").write_text(campaign.replace("every: 24 h", "every: 0.01"))
    assert template(nights)[1] == [3]
    assert nights.events()[3] == ["missed"]
    by_service = {_gitlab: [JOB], _github: [JOB]}.get(template, [])
    assert all(hook["pages"] == [PAGE, *by_service] for hook in nights.post.hooks)
