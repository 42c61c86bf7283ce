"""Results of IO500: every generation read, scores and hashes recomputed, bad files refused."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compat.conftest import Tool
from outside_data import data_folder
from venturi.compat.io500.checksum import text_hash
from venturi.compat.io500.ranking import RankingFilter, rank
from venturi.compat.io500.score import SCORED
from venturi.compat.io500.submission import Refused, import_results
from venturi.compat.io500.summary import read_summary
from venturi.model.error import UserError
from venturi.model.published import Check, Io500Result

REAL = Path(__file__).parent / "real" / "io500"
PUBLISHED_ROWS = Path(__file__).parent / "real" / "published_rows.csv"
"""498 rows of the lists and of the database that IO500's site published (source, id), as numbers;
`contradicts` names the scores that do not follow from the phases."""
BANDWIDTH = {"ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read"}


def old_text(rates: dict[str, float], score: str) -> bytes:
    """As the shell script wrote it."""
    lines = [
        f"[RESULT] {'BW  ' if name in BANDWIDTH else 'IOPS'} phase 1  {name.replace('-', '_')} "
        f"{rate:.3f} {'GB/s' if name in BANDWIDTH else 'kiops'} : time 301.00 seconds"
        for name, rate in rates.items()
    ]
    return "\n".join([*lines, score, ""]).encode()


def new_text(rates: dict[str, float], score: str, remark: str = "") -> bytes:
    """As the C application writes it."""
    lines = [
        f"[RESULT] {name:>20} {rate:15.6f} {'GiB/s' if name in BANDWIDTH else 'kIOPS'} : "
        f"time 301.000 seconds{remark}"
        for name, rate in rates.items()
    ]
    return "\n".join(["IO500 version io500-sc24_v1 (standard)", *lines, score, ""]).encode()


def one(folder: Path) -> Io500Result:
    found = list(import_results(folder))
    assert len(found) == 1
    assert isinstance(found[0], Io500Result)
    return found[0]


def written(folder: Path, text: bytes) -> Io500Result:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result_summary.txt").write_bytes(text)
    return one(folder)


def flags(result: Io500Result) -> set[str]:
    """All but that a summary stands alone."""
    return {flag.id for flag in result.flags} - {"unconfirmed"}


EQUAL = {name: 4.0 if name in BANDWIDTH else 9.0 for name in SCORED}
NEW_SCORE = "[SCORE ] Bandwidth 4.000000 GiB/s : IOPS 9.000000 kiops : TOTAL 6.000000"


def test_a_real_run_of_the_program() -> None:
    result = one(REAL)
    assert (result.format, result.mode, result.procs, result.nodes) == ("c-app", "standard", 2, 1)
    assert result.recomputed.score == pytest.approx(7.043587, rel=1e-6)
    assert result.match
    assert result.score_hash is Check.RIGHT
    assert not result.ranked
    assert {"invalid", "invalid-phase", "stonewall", "short-phase"} <= flags(result)


def test_the_generations_agree(tmp_path: Path) -> None:
    old = "[SCORE] Bandwidth 4 GB/s : IOPS 9 kiops : TOTAL 6"
    results = [
        written(tmp_path / "old", old_text(EQUAL, old)),
        written(tmp_path / "new", new_text(EQUAL, NEW_SCORE)),
        written(tmp_path / "2020", new_text(EQUAL, old).replace(b" (standard)", b"")),
    ]
    assert [r.format for r in results] == ["bash", "c-app", "c-app"]
    for result in results:
        assert result.recomputed.bw == pytest.approx(4)
        assert result.recomputed.md == pytest.approx(9)
        assert result.recomputed.score == pytest.approx(6)
        assert result.match
        assert result.ranked
        assert not flags(result)
        assert "nothing stands beside the summary" in result.flags[0].what


def test_numbers_that_do_not_follow(tmp_path: Path) -> None:
    wrong = NEW_SCORE.replace("TOTAL 6", "TOTAL 7")
    result = written(tmp_path / "wrong", new_text(EQUAL, wrong))
    assert not result.match
    assert flags(result) == {"mismatch-score"}
    rootless = "[SCORE] Bandwidth 4 GB/s : IOPS 9 kiops : TOTAL 36"
    result = written(tmp_path / "rootless", old_text(EQUAL, rootless))
    assert "without its root" in result.flags[0].what
    slow = {**EQUAL, "ior-hard-write": 0.0104}
    # What the script's own digits gave: (4 * 4 * 4 * 0.0104) ** (1 / 4).
    rounded = "[SCORE] Bandwidth 0.90323 GB/s : IOPS 9 kiops : TOTAL 2.85112"
    result = written(tmp_path / "slow", old_text(slow, rounded))
    assert flags(result) == {"mismatch-bandwidth", "mismatch-score"}
    assert all("three decimals" in one.what for one in result.flags if one.id != "unconfirmed")
    assert result.ranked


def test_a_dropped_phase_gives_no_place(tmp_path: Path) -> None:
    without = {name: rate for name, rate in EQUAL.items() if name != "ior-hard-write"}
    lacking = written(tmp_path / "lacking", new_text(without, NEW_SCORE))
    zero = written(tmp_path / "zero", new_text({**EQUAL, "find": 0.0}, NEW_SCORE))
    # 9 ** (7 / 8), and its product with 4 under the root.
    score = "[SCORE ] Bandwidth 4.0 GiB/s : IOPS 6.838521 kiops : TOTAL 5.230114"
    fine = written(tmp_path / "fine", new_text({**EQUAL, "find": 1.0}, score))
    assert flags(lacking) == flags(zero) == {"dropped-phase"}
    assert "find" in zero.flags[0].what
    rows = rank([lacking, zero, fine], RankingFilter(every=True))
    assert rows[0].result is fine
    assert [row.place for row in rows] == [1, None, None]
    assert rank([lacking, zero], RankingFilter()) == []


def test_reads_from_a_cache_are_named(tmp_path: Path) -> None:
    rates = {**EQUAL, "ior-rnd4K-easy-read": 5.0}
    text = new_text(rates, NEW_SCORE).replace(b"5.000000 kIOPS", b"5.000000 GiB/s")
    assert flags(written(tmp_path, text)) == {"cache"}


BAD = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "binary": (bytes(range(256)), "no text"),
    "another text": (b"hello\nworld\n", "nor a summary of IO500"),
    "negative": (
        new_text({**EQUAL, "find": -1.0}, NEW_SCORE),
        "line 8: -1.000000 is negative",
    ),
    "no number": (
        new_text(EQUAL, NEW_SCORE.replace("6.000000", "nan")),
        "line 14: nan is no number",
    ),
    "two runs": (new_text(EQUAL, NEW_SCORE) * 2, "was there before"),
    "garbled": (new_text(EQUAL, NEW_SCORE).replace(b": time", b"; time"), "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str) -> None:
    text, reason = BAD[name]
    path = tmp_path / "result_summary.txt"
    path.write_bytes(text)
    found = list(import_results(path))
    assert len(found) == 1
    assert isinstance(found[0], Refused)
    assert reason in found[0].why
    assert "\n" not in found[0].why


def test_nothing_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = list(import_results(tmp_path / "pipe"))
    assert isinstance(found[0], Refused)
    assert "no regular file" in found[0].why
    for name in ("result.txt", "config.ini", "mdtest-easy-write.txt"):
        os.mkfifo(tmp_path / name)
    result = written(tmp_path, new_text(EQUAL, NEW_SCORE))
    assert result.procs is None
    assert result.score_hash is Check.ABSENT


def test_any_cut_is_refused_or_read() -> None:
    text = (REAL / "result_summary.txt").read_bytes()
    for length in range(len(text)):
        try:
            summary = read_summary(text[:length], "cut")
        except UserError:
            continue
        # Nothing but the score's last digits and its remark may be lost unseen.
        assert len(summary.phases) == 14
        assert length > text.index(b"TOTAL")


@pytest.mark.parametrize("line", ["IO500 version v (standard)", "[SCOREX] Bandwidth 1 GiB/s : "])
def test_other_marks_of_the_tool(tmp_path: Path, line: str) -> None:
    text = new_text(EQUAL, NEW_SCORE, " [INVALID]")
    result = written(tmp_path, text)
    assert flags(result) == {"invalid-phase"}
    extended = line.startswith("[SCOREX]")
    tail = (line + "IOPS 1 kiops : TOTAL 1\n").encode() if extended else b""
    result = written(tmp_path, new_text(EQUAL, NEW_SCORE) + tail)
    assert (result.published_extended is not None) == extended
    expected = {f"mismatch-extended-{n}" for n in ("bandwidth", "metadata", "score")}
    assert flags(result) == (expected if extended else set())


def test_a_changed_digit_breaks_the_hash(tmp_path: Path) -> None:
    shutil.copytree(REAL, tmp_path / "run")
    path = tmp_path / "run" / "result.txt"
    path.write_text(path.read_text().replace("461.064527", "561.064527"))
    assert one(tmp_path / "run").score_hash is Check.WRONG
    assert text_hash("a") == 97
    assert text_hash("ab") == 97 * 4 + 98


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("result.txt", b"", "result.txt: the file is empty"),
        ("result.txt", bytes(range(256)), "result.txt: this is no text"),
        ("config.ini", b"", "config.ini: the file is empty"),
        ("config.ini", b"hello\n", "config.ini: it has no key"),
        ("result.txt", None, "it is cut off"),
    ],
)
def test_damage_beside_a_summary_is_named(
    tmp_path: Path, name: str, data: bytes | None, words: str
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(REAL, folder)
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2] if data is None else data)
    result = one(folder)
    found = [flag.what for flag in result.flags if flag.id == "damaged-file"]
    assert len(found) == 1
    assert words in found[0]
    assert Check.ABSENT in (result.score_hash, result.config_hash)
    assert result.match


def test_a_score_of_zero_beside_rates_is_one_mismatch(tmp_path: Path) -> None:
    nothing = "[SCORE ] Bandwidth 0.0 GiB/s : IOPS 0.0 kiops : TOTAL 0.0"
    result = written(tmp_path, new_text(EQUAL, nothing))
    assert flags(result) == {"mismatch-score"}
    assert result.flags[0].what == "the published score is 0, but its phases give 6"
    assert not result.match


def test_options_that_the_hash_does_not_show(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(REAL, folder)
    for name in ("config.ini", "config-orig.ini"):
        text = (folder / name).read_text()
        for section in ("[ior-easy]", "[ior-hard]"):
            text = text.replace(f"{section}\nAPI = \n", f"{section}\n")
            text = text.replace(section, f"{section}\nAPI = MPIIO")
        (folder / name).write_text(text)
    assert any("API=MPIIO" in flag.what for flag in one(folder).flags)


LIST = (
    "information_institution,information_system,information_filesystem_type,"
    "information_client_nodes,information_client_total_procs,"
    + ",".join(name.replace("-", "_") for name in SCORED)
    + ",io500_bw,io500_md,io500_score"
)


def list_text(rows: Sequence[tuple[str, int, float]]) -> str:
    lines = [
        f"Somewhere,{name},Lustre,{nodes},{nodes * 8},"
        + ",".join(str(EQUAL[phase] * factor) for phase in SCORED)
        + f",{4 * factor},{9 * factor},{6 * factor}"
        for name, nodes, factor in rows
    ]
    return "\n".join([LIST, *lines, ""])


def test_a_list_is_ranked_by_any_number(tool: Tool) -> None:
    (tool.target / "list.csv").write_text(list_text([("A", 10, 1), ("B", 100, 5), ("C", 10, 2)]))
    assert tool("results", "import", "list.csv").returncode == 0
    again = tool("results", "import", "list.csv")
    assert "3 results, 0 of them new" in again.stdout

    def names(*words: str) -> list[tuple[str, float]]:
        done = tool("results", "rank", *words, "--json")
        assert done.returncode == 0, done.stderr
        rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
        return [(row["result"]["system"], round(row["value"], 6)) for row in rows]

    assert names() == [("B", 30.0), ("C", 12.0), ("A", 6.0)]
    assert names("--nodes", "10") == [("C", 12.0), ("A", 6.0)]
    assert names("--by", "find", "--per", "node", "--top", "1") == [("C", 1.8)]
    assert names("--filesystem", "gpfs") == []
    bad = tool("results", "rank", "--by", "speed")
    assert bad.returncode == 2
    assert "no such number" in bad.stderr
    for semicolons in (True, False):
        text = list_text([("D", 1, 1)])
        (tool.target / "other.csv").write_text(text.replace(",", ";") if semicolons else text)
        assert tool("results", "import", "other.csv").returncode == 0
    assert len(names()) == 4


def test_a_tree_goes_on_after_bad_files(tool: Tool) -> None:
    tree = tool.target / "Some Lab" / "Big" / "lustre" / "2024" / "submission-77"
    (tree / "a").mkdir(parents=True)
    (tree / "result_summary.txt").write_bytes(new_text(EQUAL, NEW_SCORE))
    (tree / "a" / "result_summary.txt").write_bytes(b"")
    done = tool("results", "import", ".", "--json")
    assert done.returncode == 0
    entries = json.loads(done.stdout)
    assert len(entries) == 1
    assert entries[0]["source"].endswith("submission-77/result_summary.txt")
    assert entries[0]["institution"] == "Some Lab"
    assert entries[0]["year"] == 2024
    assert set(entries[0]) >= {"source", "format", "published", "recomputed", "match", "flags"}
    assert "is empty" in done.stderr
    for path, reason in (
        ("none", "no such file"),
        ("Some Lab/Big/lustre/2024/submission-77/a", ""),
    ):
        bad = tool("results", "import", path)
        assert bad.returncode == 2
        assert reason in bad.stderr


@pytest.mark.nightly
def test_published_results_reproduce() -> None:
    folder = data_folder("io500")
    known = json.loads((folder / "scores.json").read_text())
    expected = {entry["folder"]: entry for entry in known["results"]}
    found = list(import_results(folder / "results"))
    assert len(found) == len(expected) == 13
    for result in found:
        assert isinstance(result, Io500Result)
        entry = expected[result.source.split("/")[0]]
        assert result.match
        for key in ("bw", "md", "score"):
            assert getattr(result.recomputed, key) == pytest.approx(entry["recomputed"][key])
        for name in ("score_hash", "config_hash"):
            word = {True: Check.RIGHT, False: Check.WRONG, None: Check.ABSENT}
            # The table was computed without knowing that programs of 2021 left the means out.
            is_early = name == "score_hash" and result.version.startswith("io500-isc21_v1")
            known_as = Check.RIGHT if is_early else word[entry.get(f"{name}_ok")]
            assert getattr(result, name) is known_as


def test_rows_of_published_lists_reproduce(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(PUBLISHED_ROWS.read_text()), delimiter=";"))
    columns = [*(name.replace("-", "_") for name in SCORED), "bw", "md", "score"]
    path = tmp_path / "lists.csv"
    lines = [";".join(row[name] for name in columns) for row in rows]
    path.write_text("\n".join([";".join(columns), *lines]))
    found = [one for one in import_results(path) if isinstance(one, Io500Result)]
    phases = columns[: len(SCORED)]
    assert len(found) == len([row for row in rows if any(row[name] for name in phases)])
    number = {f"lists.csv, row {index}": row for index, row in enumerate(rows, 2)}
    names = {"bw": "bandwidth", "md": "metadata", "score": "score"}
    for result in found:
        wrong = {f"mismatch-{names[key]}" for key in number[result.source]["contradicts"].split()}
        assert {flag for flag in flags(result) if flag.startswith("mismatch")} == wrong
