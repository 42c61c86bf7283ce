"""Files of one result are compared: what is forged is not ranked unflagged, what is whole is."""

from __future__ import annotations

import io
import json
import random
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from compat import io500_submission as submission
from compat.conftest import Tool
from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.compat.io500.submission import Refused, import_results
from venturi.model.published import Check, Io500Result
from venturi.store.published import load_all, save

SEEDS = range(12)


def read(folder: Path) -> Io500Result:
    found = list(import_results(folder))
    assert len(found) == 1
    assert isinstance(found[0], Io500Result), found
    return found[0]


def words(result: Io500Result) -> str:
    return "\n".join(flag.what for flag in result.flags)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_nobody_touched_has_no_flag(tmp_path: Path, seed: int) -> None:
    one = submission.made(random.Random(seed))
    submission.write(one, tmp_path)
    result = read(tmp_path)
    assert result.flags == []
    assert result.ranked
    assert (result.procs, result.nodes, result.year) == (one.procs, one.nodes, 2024)
    assert (result.institution, result.system, result.filesystem) == ("A Lab", "Big", "Lustre")
    assert (result.score_hash, result.config_hash) == (Check.RIGHT, Check.RIGHT)


@pytest.mark.parametrize("forge", submission.FORGERIES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_forgery_is_ranked_without_a_flag(tmp_path: Path, seed: int, forge: object) -> None:
    rng = random.Random(f"{seed} {forge.__name__}")  # type: ignore[attr-defined]
    one = submission.made(rng)
    submission.write(one, tmp_path)
    before = (tmp_path / "result_summary.txt").read_bytes()
    forge(tmp_path, one, rng)  # type: ignore[operator]
    found = next(iter(import_results(tmp_path)))
    if isinstance(found, Refused):
        return
    assert found.flags, f"{forge} of seed {seed}"
    changed = (tmp_path / "result_summary.txt").read_bytes() != before
    if changed and forge is not submission.cut_line:
        assert not found.ranked, words(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mark_that_is_cut_away_is_still_seen(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    one = submission.made(rng, stonewall_s=rng.choice((1, 2, 30, 299)))
    submission.write(one, tmp_path)
    found = {flag.id for flag in read(tmp_path).flags} - {"short-phase"}
    assert found == {"invalid", "invalid-phase", "stonewall"}
    for name in ("result_summary.txt", rng.choice(("result_summary.txt", "result.txt"))):
        path = tmp_path / name
        path.write_text(path.read_text().replace(" [INVALID]", ""))
    result = read(tmp_path)
    assert not result.ranked
    assert f"the stonewall was {one.stonewall_s} s, the rules want 300 s" in words(result)
    shutil.rmtree(tmp_path)
    submission.write(one, tmp_path)
    for name in ("config.ini", "config-orig.ini"):
        (tmp_path / name).unlink()
    path = tmp_path / "result_summary.txt"
    path.write_text(path.read_text().replace(" [INVALID]", ""))
    result = read(tmp_path)
    assert not result.ranked
    assert "result.txt calls the run invalid, the summary does not" in words(result)


def test_the_sentence_names_both_files(tmp_path: Path) -> None:
    one = submission.made(random.Random(7))
    submission.write(one, tmp_path)
    true = one.rates["find"]
    one.rates["find"] = true * 100
    (tmp_path / "result_summary.txt").write_text(submission.summary_text(one))
    text = words(read(tmp_path))
    assert f"find is {true * 100:g} in the summary and {true:g} in result.txt" in text
    assert f"find is {true * 100:g} in the summary and {true:g} in find.csv" in text


def test_a_short_phase_costs_the_place(tmp_path: Path) -> None:
    one = submission.made(random.Random(3))
    one.times_s["mdtest-hard-write"] = 299.5
    submission.write(one, tmp_path)
    result = read(tmp_path)
    assert not result.ranked
    assert [flag.what for flag in result.flags if flag.excludes] == [
        "mdtest-hard-write took 299.5 s, the rules want 300 s"
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_the_richest_copy_is_kept(tmp_path: Path, order: tuple[int, ...]) -> None:
    """Whatever comes first: a bare summary, one with its logs, or the whole submission."""
    one = submission.made(random.Random(5))
    bare, logs, whole = (tmp_path / name for name in ("bare", "logs", "whole"))
    submission.write(one, whole)
    (whole / "system-information.txt").unlink()
    named = tmp_path / "Lab" / "Big" / "gpfs" / "2024" / "submission-7"
    for folder in (logs, named):
        folder.mkdir(parents=True)
        shutil.copy(whole / "result_summary.txt", folder)
    submission.write_logs(one, logs)
    bare = named
    copies = [read(folder) for folder in (bare, logs, whole)]
    store = tmp_path / "store"
    new = [save(store, copies[index]) for index in order]
    assert new == [True, False, False]
    (kept,) = load_all(store)
    assert (kept.procs, kept.nodes) == (one.procs, one.nodes)
    assert (kept.score_hash, kept.config_hash) == (Check.RIGHT, Check.RIGHT)
    assert (kept.institution, kept.system, kept.filesystem) == ("Lab", "Big", "gpfs")
    assert kept.flags == []


def test_lists_of_the_site(tmp_path: Path) -> None:
    results = []
    for seed in range(30):
        rng = random.Random(seed)
        one = submission.made(rng)
        submission.write(one, tmp_path / "one")
        kind, system = rng.choice(("production", "research", "")), rng.choice(("Big", "Small"))
        results.append(
            read(tmp_path / "one").model_copy(update={"classification": kind, "system": system})
        )
    for name in ("production", "research"):
        rows = rank(results, RankingFilter(lists=(name,)))
        assert {row.result.classification for row in rows} == {name}
        assert len(rows) == sum(one.classification == name for one in results)
    ten = rank(results, RankingFilter(lists=("ten-node",)))
    assert len(ten) == sum(one.nodes == 10 for one in results) > 0
    best = rank(results, RankingFilter(lists=("best",)))
    assert sorted(row.result.system for row in best) == ["Big", "Small"]
    for row in best:
        assert row.value == max(
            one.recomputed.score or 0 for one in results if one.system == row.result.system
        )
    assert [row.place for row in best] == [1, 2]


def packed(folder: Path, path: Path) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as pack:
            for file in folder.iterdir():
                pack.write(file, f"sub/{file.name}")
    else:
        with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as tar:
            tar.add(folder, arcname="sub")
    return path


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.zip"])
def test_a_packed_submission_is_what_it_packs(tmp_path: Path, name: str) -> None:
    submission.write(submission.made(random.Random(11)), tmp_path / "sub")
    direct = read(tmp_path / "sub")
    found = read(packed(tmp_path / "sub", tmp_path / name))
    assert found.source == f"{name}/sub/result_summary.txt"
    assert found.model_copy(update={"source": direct.source}) == direct


def test_archives_that_are_none_or_bad(tool: Tool) -> None:
    folder = tool.target / "sub"
    submission.write(submission.made(random.Random(1)), folder)
    whole = packed(folder, tool.target / "whole.tar.gz").read_bytes()
    cases = {
        "cut.tar.gz": whole[: len(whole) // 2],
        "text.tgz": b"hello\n",
        "empty.zip": b"",
    }
    for name, data in cases.items():
        (tool.target / name).write_bytes(data)
        done = tool("results", "import", name)
        assert done.returncode == 2, name
        assert name in done.stderr
        assert "archive is damaged" in done.stderr
    outside = tool.target.parent / "result_summary.txt"
    with tarfile.open(tool.target / "evil.tar", "w") as tar:
        for path in ("../result_summary.txt", str(outside)):
            member = tarfile.TarInfo(path)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"bad"))
        link = tarfile.TarInfo("result_summary.txt")
        link.type, link.linkname = tarfile.SYMTYPE, str(folder / "result_summary.txt")
        tar.addfile(link)
    assert tool("results", "import", "evil.tar").returncode == 2
    assert not outside.exists()
    done = tool("results", "import", "whole.tar.gz", "--json")
    assert json.loads(done.stdout)[0]["flags"] == []


RELEASES = (
    '"id";"information_system";"information_institution";"information_filesystem_type";'
    '"information_client_nodes";"status";"io500_score";"io500_bw";"io500_md";"ior_easy_write";'
    '"mdtest_easy_write";"ior_hard_write";"mdtest_hard_write";"find_hard";"ior_easy_read";'
    '"mdtest_easy_stat";"ior_hard_read";"mdtest_hard_stat";"mdtest_easy_delete";'
    '"mdtest_hard_read";"mdtest_hard_delete";"ior_easy_write_seconds";"find_easy"'
)


def test_the_sites_own_table(tmp_path: Path) -> None:
    """As in releases.csv: find is in find_easy, else in find_hard; NULL is an empty cell."""
    rng = random.Random(2)
    lines = [RELEASES]
    expected = []
    for number in range(20):
        rates = [f"{rng.uniform(1, 100):.4f}" for _ in range(11)]
        easy, hard = rng.choice((("5", "NULL"), ("NULL", "7"), ("0", "7"), ("5", "7")))
        seconds = rng.choice(("NULL", "301.5", "0", "250"))
        status = rng.choice(("VALID", "VALID", "VALID", "INVALID"))
        cells = [str(number), "S", "I", "Lustre", "10", status, "NULL", "NULL", "NULL"]
        cells += [*rates[:4], hard, *rates[4:], seconds, easy]
        lines.append(";".join(f'"{cell}"' if rng.random() < 0.5 else cell for cell in cells))
        expected.append((5.0 if easy == "5" else 7.0, status == "VALID" and seconds != "250"))
    lines.insert(4, lines[4].replace("VALID", "VALID").replace("Lustre", "x").replace("10", "ten"))
    path = tmp_path / "releases.csv"
    path.write_text("\n".join([*lines, ""]))
    found = list(import_results(path))
    refused = [one for one in found if isinstance(one, Refused)]
    results = [one for one in found if isinstance(one, Io500Result)]
    assert len(refused) == 1
    assert "row 5: " in refused[0].why
    finds = [(next(p.value for p in one.phases if p.name == "find"), one.ranked) for one in results]
    assert finds == expected
