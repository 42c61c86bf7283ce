"""What limited a phase, and where a run of io500 stands among published results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.conftest import Tool
from report import record_factory
from report.record_factory import Shape, operation, phase_row
from venturi.compat.io500.compare import compared_values, named
from venturi.compat.io500.limit import PhaseContext, limit_of, phase_context_of
from venturi.compat.io500.own import result_of
from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.compat.io500.review import review_of
from venturi.compat.io500.score import BANDWIDTH, SCORED, score
from venturi.model.error import UserError
from venturi.model.event import CacheState
from venturi.model.published import Io500Phase, Io500Result, Io500Score
from venturi.model.record import Level, MetricValue, PhaseRow, Record, Verdict
from venturi.model.review import ReviewLimit
from venturi.report.render import render

HERE = PhaseContext(remote=False, crowded="")
AWAY = PhaseContext(remote=True, crowded="")
KINDS = {
    "ior-easy-write": "write",
    "mdtest-easy-write": "create",
    "ior-hard-write": "write",
    "mdtest-hard-write": "create",
    "find": "find",
    "ior-easy-read": "read",
    "mdtest-easy-stat": "stat",
    "ior-hard-read": "read",
    "mdtest-hard-stat": "stat",
    "mdtest-easy-delete": "unlink",
    "mdtest-hard-read": "open",
    "mdtest-hard-delete": "unlink",
}


def row(path: str, latencies: list[int], size: int = 0, **changes: Any) -> PhaseRow:
    """A phase of two ranks that do nothing but these operations."""
    kind = KINDS[path]
    shape = Shape(path, kind, 10, size, 1e8, CacheState.NONE, ())
    made = phase_row(shape, 0, 2, 0.0)
    spent = sum(latencies) / 2e9
    times = made.per_rank.model_copy(update={"total_s": [spent, spent]})
    update = {
        "by_operation": {kind: operation(latencies, size * len(latencies))},
        "per_rank": times,
        **changes,
    }
    return made.model_copy(update=update)


@pytest.mark.parametrize(
    ("path", "latencies", "size", "here", "limit", "words"),
    [
        (
            "mdtest-easy-write",
            [20_000] * 99,
            0,
            HERE,
            ReviewLimit.METADATA,
            "creates, which took 20.0 µs",
        ),
        (
            "mdtest-hard-delete",
            [4_000_000] * 9,
            0,
            HERE,
            ReviewLimit.DEVICE,
            "each waited for the device",
        ),
        (
            "mdtest-easy-stat",
            [1_300] * 99,
            0,
            HERE,
            ReviewLimit.CACHE,
            "the kernel's memory answered",
        ),
        ("mdtest-easy-stat", [300_000] * 99, 0, AWAY, ReviewLimit.NETWORK, "round trips"),
        (
            "mdtest-easy-write",
            [300_000] * 9 + [3_000_000] * 40,
            0,
            AWAY,
            ReviewLimit.METADATA,
            "other",
        ),
        (
            "ior-easy-write",
            [24_000_000] * 9,
            2 << 20,
            HERE,
            ReviewLimit.DEVICE,
            "waited for storage",
        ),
        ("ior-hard-write", [20_000] * 99, 47008, HERE, ReviewLimit.CACHE, "memory took it"),
        ("ior-hard-read", [200_000] * 99, 47008, AWAY, ReviewLimit.NETWORK, "round trips"),
        (
            "ior-easy-read",
            [9_000_000] * 99,
            2 << 20,
            AWAY,
            ReviewLimit.DEVICE,
            "waited for storage",
        ),
        ("find", [50] * 99, 0, HERE, ReviewLimit.METADATA, "looking at names"),
    ],
)
def test_what_limits_a_phase(
    path: str, latencies: list[int], size: int, here: PhaseContext, limit: ReviewLimit, words: str
) -> None:
    found = limit_of(row(path, latencies, size), here)
    assert (found.limit, words in found.evidence) == (limit, True), found.evidence


def test_a_rank_that_lets_the_others_wait() -> None:
    made = row("ior-easy-write", [20_000_000] * 40, 2 << 20)
    times = made.per_rank.model_copy(update={"total_s": [1.0, 1.0, 3.0]})
    found = limit_of(made.model_copy(update={"per_rank": times}), HERE)
    assert found.limit is ReviewLimit.RANKS
    assert "rank 2 needed 3.00 s, the median rank 1.00 s" in found.evidence


def test_ranks_that_are_hardly_ever_in_a_call() -> None:
    made = row("mdtest-easy-write", [20_000] * 40)
    times = made.per_rank.model_copy(update={"total_s": [0.1, 0.1]})
    made = made.model_copy(update={"per_rank": times})
    crowded = PhaseContext(remote=False, crowded="4 ranks shared 2 cores")
    assert limit_of(made, HERE).limit is ReviewLimit.RANKS
    assert "0.4 % of their time; 4 ranks shared" in limit_of(made, crowded).evidence


def test_what_comes_from_memory_or_waits_in_sync() -> None:
    warm = row("ior-easy-read", [9_000_000] * 9, 2 << 20, cached_share=0.93)
    found = limit_of(warm, HERE)
    assert found.limit is ReviewLimit.CACHE
    assert "93 % of its data was in memory" in found.evidence
    made = row("ior-hard-write", [20_000] * 100, 47008)
    operations = {**made.by_operation, "sync": operation([1_000_000])}
    found = limit_of(made.model_copy(update={"by_operation": operations}), HERE)
    assert found.limit is ReviewLimit.DEVICE
    assert "went into sync" in found.evidence


def shape(path: str) -> Shape:
    data = path in BANDWIDTH
    cache = CacheState.COLD if path.endswith("read") else CacheState.NONE
    size, rate = (1 << 20, 1e8) if data else (0, 1.0)
    return Shape(path, KINDS[path], 50, size, rate, cache, ())


def run(repetitions: int = 6, without: tuple[str, ...] = ()) -> Record:
    """A run of all scored phases but some."""
    shapes = tuple(shape(path) for path in SCORED if path not in without)
    made = record_factory.record("io500", shapes, repetitions=repetitions, ranks=2, fidelity=None)
    verdict = Verdict(level=Level.INDICATIVE, reasons=["the stonewall was 2 s"])
    return made.model_copy(update={"verdict": verdict})


def published(number: int, factor: float, like: Io500Result) -> Io500Result:
    """A result whose processes do so many times what those of another do."""
    procs = 100
    phases = [
        Io500Phase(name=p.name, value=p.value / 2 * procs * factor, unit=p.unit)
        for p in like.phases
    ]
    return Io500Result(
        key=f"{number:016x}",
        source=f"list, row {number}",
        format="list",
        institution="Lab",
        system=f"System{number}",
        year=2024,
        procs=procs,
        nodes=10,
        phases=phases,
        published=Io500Score(),
        recomputed=score(phases),
        match=True,
        ranked=True,
    )


def test_a_run_in_the_terms_of_results() -> None:
    made = run()
    own = result_of(made)
    assert not own.ranked
    assert (own.procs, own.nodes) == (2, 1)
    for phase in own.phases:
        rows = [r for r in made.phases if r.path == phase.name]
        kind = KINDS[phase.name]
        values = sorted(
            (r.bytes / 2**30 if phase.name in BANDWIDTH else r.by_operation[kind].operations / 1e3)
            / r.seconds.total
            for r in rows
        )
        assert phase.value == pytest.approx((values[2] + values[3]) / 2)
    assert own.recomputed.score == pytest.approx(score(own.phases).score)
    partial = result_of(run(without=("find",)))
    assert partial.recomputed.score is partial.recomputed.md is None
    assert partial.recomputed.bw is not None
    with pytest.raises(UserError, match="not of io500"):
        result_of(made.model_copy(update={"name": "ior"}))


def test_its_place_is_where_it_would_stand() -> None:
    made = run()
    own = result_of(made)
    results = [published(n, factor, own) for n, factor in enumerate((0.2, 0.5, 1.5, 2, 3, 4, 5))]
    review = review_of(made, results)
    assert review.results == 7
    for phase in review.phases:
        by = {one.per: one for one in phase.ranking_positions}
        assert (by["process"].beaten, by["process"].of) == (2, 7)
        assert by["run"].beaten == 0
        assert by["process"].others == sorted(by["process"].others)
    assert review.ranking_position is not None
    assert review.ranking_position.beaten == 0
    stored = {p.name for p in review.phases if p.limit is not ReviewLimit.CACHE}
    assert set(review.weak) == stored
    assert review.strong == []
    assert set(review.from_memory) == set(SCORED) - stored
    strong = review_of(made, [published(n, 0.1 + n / 100, own) for n in range(6)])
    assert set(strong.strong) == stored
    # Of fewer, and of those that may not stand in a list, nothing is said.
    assert review_of(made, results[:5]).weak == []
    excluded = [result.model_copy(update={"ranked": False}) for result in results]
    assert review_of(made, excluded).results == 0
    rows = rank([*results, own], RankingFilter())
    assert [(row.place, row.result.key) for row in rows][-1] == (8, own.key)
    assert [row.place for row in rank([own, *results], RankingFilter())] == list(range(1, 9))


def test_a_run_moves_nobody() -> None:
    own = result_of(run())
    results = [published(n, factor, own) for n, factor in ((0, 0.001), (1, 4.0))]
    places = [(row.place, row.result.system) for row in rank([own, *results], RankingFilter())]
    assert places == [(1, "System1"), (2, ""), (2, "System0")]


def test_what_looks_like_a_cache_is_said() -> None:
    made = run()
    rows = [
        r.model_copy(update={"cached_share": 0.4}) if r.path == "ior-hard-read" else r
        for r in made.phases
    ]
    fast = phase_row(Shape("ior-rnd4K-easy-read", "read", 9, 4096, 9e9), 0, 2, 0.0)
    fast = fast.model_copy(update={"bytes": 1 << 40})
    found = review_of(made.model_copy(update={"phases": [*rows, fast]}), [])
    text = "\n".join(found.suspicions)
    assert "random 4 KiB reads" in text
    assert "ior-hard-read: 40 % of its data was in the clients' memory" in text
    assert "ior-easy-write wrote 100 MiB, which fits into the clients' memory (8 GiB)" in text


@pytest.mark.parametrize("share", [0.1, 0.3, 0.49, 0.5, 1.0])
def test_what_a_cache_may_have_helped_is_not_praised(share: float) -> None:
    made = run()
    name = "ior-hard-read"
    rows = [
        r.model_copy(update={"cached_share": share}) if r.path == name else r for r in made.phases
    ]
    made = made.model_copy(update={"phases": rows})
    own = result_of(made)
    for factor in (0.1, 10.0):
        found = review_of(made, [published(n, factor, own) for n in range(8)])
        assert name not in found.strong + found.weak
        assert name in found.from_memory
        assert any(text.startswith(f"{name}: ") for text in found.suspicions)


def test_what_nobody_counted_is_not_called_cached() -> None:
    made = row("mdtest-hard-read", [200_000] * 99, 3901, cache=CacheState.WARM, cached_share=None)
    found = limit_of(made, HERE)
    assert found.limit is not ReviewLimit.CACHE
    assert "in memory before" not in found.evidence


def test_the_report_begins_with_the_score() -> None:
    made = run()
    value = MetricValue(
        value=3.0, unit="", median=3.0, low=2.0, high=4.0, n=6, coverage=0.97, values=[3.0] * 6
    )
    made = made.model_copy(update={"metrics": {"score": value, "bandwidth": value}})
    own = result_of(made)
    results = [published(n, 2.0 + n, own) for n in range(7)]
    text = render([made], "md", reviews={made.id: review_of(made, results)})
    assert text.index(
        "- score: **3.00** profile, not a submission (2.00 to 4.00, 97 % sure"
    ) < text.index("## Phase by phase, and what limited each")
    assert "Its score would take place 8 of 8" in text
    assert "| ior-easy-write | cache |" in text or "| ior-easy-write | device |" in text
    html = render([made], "html", reviews={made.id: review_of(made, results)})
    assert "ahead of 0 of 7" in html
    alone = render([made], "md", reviews={made.id: review_of(made, [])})
    assert "venturi results import PATH brings some" in alone
    broken = run(without=("find",))
    text = render([broken], "md", reviews={broken.id: review_of(broken, results)})
    assert "Not finished: find. The run has no score" in text


def test_the_surroundings_are_read_from_the_record() -> None:
    made = run()
    assert phase_context_of(made) == PhaseContext(remote=False, crowded="")
    storage = made.environment.file_system.model_copy(update={"type": "fuse.glusterfs"})
    here = made.environment.model_copy(update={"file_system": storage, "load_average": 7.25})
    found = phase_context_of(made.model_copy(update={"environment": here}))
    assert found == PhaseContext(remote=True, crowded="the load was 7.2 on 2 cores")


def test_two_results_side_by_side() -> None:
    own = result_of(run())
    other = published(3, 2.0, own)
    rows = {one.name: one for one in compared_values(own, other)}
    assert set(rows) == {"score", "bw", "md", *SCORED}
    assert rows["find"].each == pytest.approx(0.5)
    assert rows["find"].ratio == pytest.approx(0.01)
    assert named([other, own], "lab system3") is other
    with pytest.raises(UserError, match="neither a run nor an imported result"):
        named([other], "elsewhere")
    with pytest.raises(UserError, match="2 results fit"):
        named([other, published(4, 1, own)], "Lab")


def test_runs_and_results_by_the_command_line(tool: Tool) -> None:
    small = [
        "--set=easy_items=30",
        "--set=hard_items=110",
        "--set=hard_segments=9",
        "--set=easy_block=4 MiB",
    ]
    assert tool("run", "io500", "-d", ".", "-n", "1", "-q", *small).returncode == 0
    titles = [name.replace("-", "_") for name in SCORED]
    head = ",".join(["institution", "system", "client_total_procs", *titles])
    lines = [f"Lab,System{n},64," + ",".join([str(10.0**-n)] * len(titles)) for n in (1, 9)]
    (tool.target / "list.csv").write_text("\n".join([head, *lines, ""]))
    assert tool("results", "import", "list.csv").returncode == 0
    rows = json.loads(tool("results", "rank", "--run", "@last", "--json").stdout)["rows"]
    assert [row["place"] for row in rows if row["result"]["format"] == "list"] == [1, 2]
    assert len([row for row in rows if row["result"]["format"] == "venturi"]) == 1
    done = tool("results", "compare", "@last", "Lab System1", "System9", "--json")
    pairs = json.loads(done.stdout)
    assert [pair["b"]["system"] for pair in pairs] == ["System1", "System9"]
    shown = tool("results", "compare", "@last", "System9")
    assert "A/B PER PROCESS" in shown.stdout
    assert "Lab, System9: 64 processes on nodes unknown" in " ".join(shown.stdout.split())
    again = tool("compare", "@last", "Lab System1", "System9", "--json")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert tool("compare", "@last", "System9").stdout == shown.stdout
    itself = json.loads(tool("compare", "--io500", "@last", "@last", "--json").stdout)
    assert {row["ratio"] for row in itself[0]["rows"]} == {1.0}
    for words, reason in (
        (["@last", "Lab"], "2 results fit"),
        (["@last", "Nobody"], "there is no such run"),
        (["@last", "System9", "--check"], "--check: published results have one value each"),
        (["@last", "System9", "-o", "x.html"], "-o: published results have one value each"),
    ):
        bad = tool("compare", *words)
        assert (bad.returncode, reason in bad.stderr) == (2, True), bad.stderr
    for words, reason in (
        (["compare", "@last"], "name one or more results"),
        (["compare", "@last", "Nobody"], "neither a run nor an imported result"),
        (["compare", "@last~5", "Lab"], "no such run"),
        (["rank", "--run", "nothing"], "there is no such run"),
    ):
        bad = tool("results", *words)
        assert bad.returncode == 2
        assert reason in bad.stderr
    done = tool("report", "@last", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    page = (tool.target / "r.html").read_text()
    assert "Phase by phase, and what limited each" in page
    assert "Its place among published results" in page
