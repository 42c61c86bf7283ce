"""Outputs of benchmarks of the machine: their numbers, and what makes them none.

`real/` and `campaign/real/` hold what OSU 7.4, HPL 2.3, HPCG 3.1, HPCC 1.5 and iperf3 3.12 wrote.
LinkTest's lines follow its documented form, with the numbers of a published run.
"""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest

from venturi.importers.import_path import ImportRequest, import_path
from venturi.importers.machine_output import EMPTY
from venturi.model.error import UserError
from venturi.model.output import Better
from venturi.model.result import Result
from venturi.store.archive import results

HERE = Path(__file__).parent / "real"
CAMPAIGN = Path(__file__).parents[1] / "campaign" / "real"
HPL = CAMPAIGN / "xhpl_2.3.txt"
STREAM = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
Array size = 10000000 (elements), Offset = 0 (elements)
Number of Threads counted = 2
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           20562.8     0.007951     0.007781     0.008182
Scale:          12943.6     0.012526     0.012361     0.012689
Add:            14563.2     0.016651     0.016480     0.016829
Triad:          14609.4     0.016583     0.016428     0.016751
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""
LINKTEST = """\
Parallel Results for step 1: min: 376.34 us (2.5949 GiB/s) avg: 4.9153 ms (203.45 MiB/s) \
max: 7.3305 ms (136.42 MiB/s) avg. bisection bw: 4.0 GiB/s
Parallel Results for step 2: min: 400.00 us (2.4414 GiB/s) avg: 4.0000 ms (250.00 MiB/s) \
max: 5.0000 ms (200.00 MiB/s) avg. bisection bw: 6.0 GiB/s
"""


def only(tmp_path: Path, path: Path, **requested: str) -> Result:
    assert import_path(tmp_path / "store", path, ImportRequest("vm", requested)) == 1
    [found] = results(tmp_path / "store")
    return found


def of_text(tmp_path: Path, text: str, **requested: str) -> Result:
    path = tmp_path / "output.txt"
    path.write_text(text, "utf-8")
    return only(tmp_path, path, **requested)


def value(found: Result, metric: str) -> float:
    [number] = found.metrics[metric].values
    return number


def test_osu_bandwidth(tmp_path: Path) -> None:
    found = only(tmp_path, CAMPAIGN / "osu_bw_7.4.txt")
    assert (found.name, found.source.tool, found.source.version) == ("osu-bandwidth", "osu", "7.4")
    assert value(found, "bandwidth at 1 B") == 8.31
    assert value(found, "bandwidth at 1 MiB") == 5045.72
    assert found.metrics["bandwidth at 32 B"].unit == "MB/s"
    assert (found.parameters["rows"], found.parameters["most"]) == (21, 1 << 20)
    assert found.level == "INDICATIVE"


def test_osu_latency_with_validation_and_tail(tmp_path: Path) -> None:
    found = only(tmp_path, CAMPAIGN / "osu_latency_7.4_validate_tail.txt")
    assert value(found, "latency at 8 KiB") == 19.90
    assert value(found, "p50 latency at 8 KiB") == 3.66
    assert value(found, "p99 latency at 64 KiB") == 31.99
    assert found.metrics["latency at 1 B"].better is Better.LOWER
    assert len(found.metrics) == 4 * 17


def test_osu_row_that_failed_is_no_number(tmp_path: Path) -> None:
    text = (CAMPAIGN / "osu_latency_7.4_validate_tail.txt").read_text()
    spoilt = text.replace("0.47              Pass", "0.47              Fail")
    assert spoilt != text
    found = of_text(tmp_path, spoilt)
    assert (found.level, found.reasons) == ("INVALID", ["its validation failed at 8 B"])
    assert not found.metrics


def test_osu_rates_of_several_pairs(tmp_path: Path) -> None:
    found = only(tmp_path, HERE / "osu_mbw_mr_7.4.txt")
    assert value(found, "bandwidth at 64 KiB") == 13552.48
    assert value(found, "message rate at 1 B") == 11692861.42
    assert (found.parameters["pairs"], found.parameters["window"], found.ranks) == (2, 64, 4)


def test_osu_collective(tmp_path: Path) -> None:
    found = only(tmp_path, HERE / "osu_allreduce_full_7.4.txt")
    assert found.name == "osu-allreduce-latency"
    assert value(found, "latency at 4 KiB") == 3.87
    assert value(found, "max latency at 4 KiB") == 3.93
    assert not any("iter" in name for name in found.metrics)


def test_empty_table_of_osu_is_a_failure(tmp_path: Path) -> None:
    """OSU 7.4 skips size 0, prints its headings and ends with 0."""
    found = only(tmp_path, HERE / "osu_latency_7.4_size0_empty.txt")
    assert (found.level, found.reasons) == ("INVALID", [EMPTY])
    assert not found.metrics


def test_hpl(tmp_path: Path) -> None:
    found = only(tmp_path, HPL, N="4000", NB="192")
    assert value(found, "gflops") == 19.022
    assert found.parameters == {"N": 4000, "NB": 192, "P": 1, "Q": 2}
    assert (found.ranks, found.started, found.level) == (
        2,
        "2026-11-21T19:16:44+00:00",
        "INDICATIVE",
    )


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("              0 tests completed and failed", "              1 tests completed and failed",
         "1 of its tests failed their residual check"),
        ("0 tests skipped", "2 tests skipped", "2 of its tests were skipped"),
        ("N      :    4000 ", "N      :    4000 8000 ", "N 8000 was asked for, and it ran 4000"),
        ("Finished      1 tests", "", "it did not come to its end"),
        ("WR11C2R4 ", "", EMPTY),
        ("The following parameter", "HPL ERROR from process # 0\nThe following parameter",
         "it says HPL ERROR"),
    ],
)  # fmt: skip
def test_hpl_that_failed(tmp_path: Path, before: str, after: str, why: str) -> None:
    text = HPL.read_text()
    assert before in text
    found = of_text(tmp_path, text.replace(before, after, 1))
    assert found.level == "INVALID"
    assert why in found.reasons[0]
    assert not found.metrics


def test_hpcc_that_ran_another_size_is_a_failure(tmp_path: Path) -> None:
    """It was asked for 1500, had too few ranks, and chose 3520 by itself; it says Success=1."""
    path = CAMPAIGN / "hpcc_1.5_hpl_fallback.txt"
    found = only(tmp_path, path, N="1500")
    assert (found.level, found.reasons) == (
        "INVALID",
        ["N 1500 was requested, and it ran 3520"],
    )
    fine = only(tmp_path / "right", path, N="3520")
    assert (fine.level, fine.ranks) == ("INDICATIVE", 2)
    assert value(fine, "hpl") == 0.0169454
    assert fine.parameters["NB"] == 80


def test_setting_that_is_not_said_is_not_met(tmp_path: Path) -> None:
    found = only(tmp_path, HPL, threads="4")
    assert found.level == "INVALID"
    assert "does not say its threads (but N, NB, P, Q)" in found.reasons[0]


def test_hpcg(tmp_path: Path) -> None:
    path = CAMPAIGN / "hpcg_3.1_valid.txt"
    found = only(tmp_path, path, nx="32")
    assert value(found, "gflops") == 0.675442
    assert (found.ranks, found.source.version) == (2, "3.1")
    assert found.facts == {"seconds, of the 1800 that an official result needs": "5.11966"}
    spoilt = path.read_text().replace("HPCG result is VALID with", "HPCG result is INVALID with")
    (tmp_path / "bad").mkdir()
    bad = of_text(tmp_path / "bad", spoilt)
    assert (bad.level, bad.metrics) == ("INVALID", {})


def test_stream(tmp_path: Path) -> None:
    found = of_text(tmp_path, STREAM, size="10000000")
    assert value(found, "triad") == 14609.4
    assert found.parameters == {"size": 10000000, "threads": 2}
    (tmp_path / "bad").mkdir()
    bad = of_text(tmp_path / "bad", STREAM.replace("Solution Validates", "Failed Validation"))
    assert (bad.level, bad.metrics) == ("INVALID", {})


def test_linktest_by_a_published_run(tmp_path: Path) -> None:
    """1 MiB in 376.34 us is 2.5949 GiB/s, in 4.9153 ms 203.45 MiB/s, in 7.3305 ms 136.42 MiB/s."""
    found = of_text(tmp_path, LINKTEST)
    assert value(found, "min time") == pytest.approx(376.34e-6)
    assert value(found, "max time") == pytest.approx(7.3305e-3)
    assert value(found, "avg time") == pytest.approx((4.9153e-3 + 4e-3) / 2)
    assert value(found, "avg rate") == pytest.approx(2**20 / 4.45765e-3, rel=1e-3)
    assert value(found, "avg bisection") == pytest.approx(5 * 2**30)
    assert found.parameters["size"] == pytest.approx(2**20, rel=1e-3)
    assert found.parameters["steps"] == 2
    (tmp_path / "bad").mkdir()
    bad = of_text(tmp_path / "bad", LINKTEST.replace("376.34 us", "37.634 us"))
    assert (bad.level, bad.metrics) == ("INVALID", {})


def iperf3(tmp_path: Path, **changes: object) -> Path:
    data = json.loads((CAMPAIGN / "iperf3_3.12_tcp.json").read_text())
    data["start"]["test_start"] |= changes
    path = tmp_path / "iperf3.json"
    path.write_text(json.dumps(data))
    return path


def test_iperf3(tmp_path: Path) -> None:
    found = only(tmp_path, iperf3(tmp_path), streams="1", seconds="2")
    assert value(found, "sent") == pytest.approx(17632099846.288845 / 8)
    assert value(found, "retransmits") == 3
    assert value(found, "round_trip") == 56
    assert (found.source.version, found.parameters["protocol"]) == ("3.12", "TCP")


def test_iperf3_that_was_cut_off_is_a_failure(tmp_path: Path) -> None:
    found = only(tmp_path, iperf3(tmp_path, duration=10))
    assert (found.level, found.reasons) == ("INVALID", ["10 s were asked for, and it ran 2 s"])
    (tmp_path / "more").mkdir()
    found = only(tmp_path / "more", iperf3(tmp_path / "more", num_streams=4))
    assert found.reasons == ["4 streams were asked for, and it tells of 1"]


@pytest.mark.parametrize("seed", range(8))
def test_damaged_output_is_taken_in_or_refused(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    texts = [path.read_text() for path in (HPL, CAMPAIGN / "osu_bw_7.4.txt")]
    texts += [(HERE / "osu_mbw_mr_7.4.txt").read_text(), STREAM, LINKTEST]
    texts += [(CAMPAIGN / name).read_text() for name in ("hpcg_3.1_valid.txt",)]
    for number, text in enumerate(texts):
        place = tmp_path / str(number)
        place.mkdir()
        letters = list(text)
        for _ in range(draw.randrange(1, 40)):
            at = draw.randrange(len(letters))
            letters[at] = draw.choice(["", "x", "-", " ", "9", "\n", "e", "."])
        with contextlib.suppress(UserError):
            path = place / "output.txt"
            path.write_text("".join(letters[: draw.randrange(1, len(letters))]), "utf-8")
            assert import_path(place / "store", path) in (None, 1)
