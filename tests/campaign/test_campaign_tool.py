"""Metrics of well-known tools, from what they really print."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from campaign.elbencho_output import MKDIRS, READ, WRITE, Phase, csv_text, json_text
from venturi.campaign.metric import check_metric, tool_metrics
from venturi.campaign.tool import names, tool_named
from venturi.model.error import RunFailed, UserError

_REAL = Path(__file__).parent / "real"
_IOR = _REAL.parents[1] / "compat" / "real" / "ior_text.out"
"""What the tools printed in real runs."""


def _values(tmp_path: Path, tool: str, file: str | Path, **confirm: float) -> dict[str, float]:
    shutil.copy(_REAL / file, tmp_path / "stdout")
    found = tool_metrics(tmp_path, tool_named(tool), confirm)
    return {name: value for name, (value, *_) in found.items()}


@pytest.mark.parametrize(
    ("tool", "file", "values"),
    [
        (
            "ior",
            _IOR,
            {
                "write": 830.95,
                "read": 20089,
                "write_operations": 3331.85,
                "read_operations": 81013,
            },
        ),
        (
            "mdtest",
            "mdtest_i3.out",
            {
                "directory_create": 14779.214,
                "directory_stat": 669304.520,
                "directory_rename": 31093.695,
                "directory_remove": 9577.422,
                "file_create": 9272.767,
                "file_stat": 561086.346,
                "file_read": 118262.115,
                "file_remove": 56233.302,
            },
        ),
        (
            "md-workbench",
            "mdw.out",
            {"precreate": 1564.6, "benchmark": 2916.95, "cleanup": 16694.1},
        ),
        (
            "io500",
            "io500_short_run.txt",
            {"bandwidth": 0.731862, "operations": 67.788898, "score": 7.043587},
        ),
        ("hpl", "xhpl_2.3.txt", {"gflops": 19.022}),
        ("hpcg", "hpcg_3.1_valid.txt", {"gflops": 0.675442}),
        ("osu", "osu_latency_7.4_validate_tail.txt", {"latency": 0.55}),
        (
            "hpcc",
            "hpcc_1.5_hpl_fallback.txt",
            {
                "hpl": 0.0169454,
                "dgemm": 37.246,
                "transpose": 0.697847,
                "random_access": 0.00096965,
                "triad": 20.0337,
                "fft": 1.02205,
            },
        ),
        ("iperf3", "iperf3_3.12_tcp.json", {"received": 17592994958.11743, "retransmits": 3}),
    ],
)
def test_what_tools_print(
    tmp_path: Path, tool: str, file: str | Path, values: dict[str, float]
) -> None:
    assert _values(tmp_path, tool, file) == pytest.approx(values)


def test_the_best_bandwidth_of_osu_is_that_of_the_last_size(tmp_path: Path) -> None:
    lines = (_REAL / "osu_bw_7.4.txt").read_text().split("\n")
    rows = [line.split() for line in lines if line[:1].isdecimal()]
    assert _values(tmp_path, "osu", "osu_bw_7.4.txt") == {"bandwidth": float(rows[-1][1])}


def test_what_a_tool_used_is_compared_with_what_it_was_asked(tmp_path: Path) -> None:
    _values(tmp_path, "ior", _IOR, transfer=262144, block=8 * 2**20, tasks=2)
    with pytest.raises(RunFailed, match="transfer: 65536 was asked for, the tool reports 262144"):
        _values(tmp_path, "ior", _IOR, transfer=65536)


@pytest.mark.parametrize("file", ["ior_fail_noent.out", "ior_fail_nospace.out"])
def test_a_tool_that_failed_measured_nothing(tmp_path: Path, file: str) -> None:
    with pytest.raises(RunFailed, match="nothing in stdout is a metric"):
        _values(tmp_path, "ior", file)


def test_stream(tmp_path: Path) -> None:
    """As STREAM 5.10 prints it."""
    (tmp_path / "stdout").write_text(
        "Array size = 10000000 (elements), Offset = 0 (elements)\n"
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        "Copy:           13031.7     0.012402     0.012278     0.012624\n"
        "Scale:          12003.5     0.013476     0.013329     0.013714\n"
        "Add:            13421.0     0.018011     0.017883     0.018177\n"
        "Triad:          13307.1     0.018170     0.018035     0.018289\n"
    )
    assert tool_metrics(tmp_path, tool_named("stream"), {})["triad"][0] == 13307.1


@pytest.mark.needs("fio")
def test_fio(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "fio",
            "--name=x",
            f"--directory={tmp_path}",
            "--size=1M",
            "--rw=write",
            "--bs=64k",
            "--output-format=json",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    (tmp_path / "stdout").write_text(done.stdout)
    found = tool_metrics(tmp_path, tool_named("fio"), {})
    assert found["write"][0] == json.loads(done.stdout)["jobs"][0]["write"]["bw_bytes"]


MIXED = Phase("RWMIX70", 1000, 9, 300, 3 << 20, read_bytes=7 << 20)


def test_elbencho(tmp_path: Path) -> None:
    """The figures until the last thread ended, of each phase; repetitions by their median."""
    slower = Phase("WRITE", 9000, 5, 1000, 1 << 30)
    phases = (MKDIRS, WRITE, READ, slower, slower, MIXED)
    (tmp_path / "elbencho.json").write_text(json_text(*phases))
    (tmp_path / "elbencho.csv").write_text(csv_text(*phases))
    confirm = {"block": 1048576.0, "threads": 8.0, "depth": 4.0}
    whole = tool_metrics(tmp_path, tool_named("elbencho"), confirm)
    names = {
        "write": (1 << 30, "B/s"),
        "read": (READ.bytes, "B/s"),
        "write_operations": (1000, "op/s"),
        "read_operations": (9048, "op/s"),
        "mixed_write": (3 << 20, "B/s"),
        "mixed_read": (7 << 20, "B/s"),
        "write_files": (5, "op/s"),
        "read_files": (35, "op/s"),
        "make_directories": (1466, "op/s"),
    }
    assert {name: found[:2] for name, found in whole.items()} == names
    rounded = tool_metrics(tmp_path, tool_named("elbencho-csv"), confirm)
    assert set(rounded) == set(whole)
    assert rounded["write"][:2] == (1024, "MiB/s")
    assert rounded["read"][0] == READ.bytes // 2**20
    assert rounded["mixed_read"][:2] == (7, "MiB/s")


def test_elbencho_that_wrote_something_else(tmp_path: Path) -> None:
    tool = tool_named("elbencho")
    with pytest.raises(RunFailed, match=r"there is no elbencho\.json: elbencho --jsonfile"):
        tool_metrics(tmp_path, tool, {})
    (tmp_path / "elbencho.json").write_text(json_text(WRITE))
    with pytest.raises(RunFailed, match="threads: 4 was asked for, the tool reports 8"):
        tool_metrics(tmp_path, tool, {"threads": 4.0})
    (tmp_path / "elbencho.json").write_text(json_text(WRITE)[:-40])
    with pytest.raises(RunFailed, match="is not JSON"):
        tool_metrics(tmp_path, tool, {})
    (tmp_path / "elbencho.json").write_text(json_text(Phase("SYNC", 3, 0)))
    with pytest.raises(RunFailed, match=r"nothing in elbencho\.json is a metric"):
        tool_metrics(tmp_path, tool, {})


def test_every_tool_is_sound() -> None:
    for name in names():
        tool = tool_named(name)
        for metric, rule in [*tool.metrics.items(), *tool.reported.items()]:
            check_metric(f"{name}.{metric}", rule)


def test_a_tool_that_nobody_knows() -> None:
    with pytest.raises(UserError, match="there is no tool 'iro'"):
        tool_named("iro")
