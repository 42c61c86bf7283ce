"""Our forms of IOR's output, read with the same small parsers as what IOR itself printed."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compat.conftest import Tool

REAL = Path(__file__).parent / "real"
MIB = 1 << 20
_LABELLED = re.compile(r"^(?P<label>[A-Za-z][\w .()/]*?) *: ?(?P<value>.*)$")


def real(name: str) -> str:
    """What IOR printed, as its program really did."""
    return (REAL / name).read_text("utf-8")


def ours(tool: Tool, form: str, *words: str) -> str:
    """The same command, run by our engine."""
    line = ["ior", "-q", "-n", "2", "--output-format", form, "--", *words, "-o", "./f"]
    done = tool(*line)
    assert done.returncode == 0, done.stderr
    return done.stdout


def labels(text: str) -> list[str]:
    """Labels of the lines `label : value`, in order."""
    return [m["label"] for line in text.splitlines() if (m := _LABELLED.match(line))]


def table(text: str) -> list[dict[str, str]]:
    """The rows of the table of results, by its head."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["access", "bw(MiB/s)"])
    names = lines[head].split()
    rows = []
    for line in lines[head + 2 :]:
        if line.split()[:1] not in (["write"], ["read"], ["remove"]):
            break
        rows.append(dict(zip(names, line.split(), strict=True)))
    return rows


def summary(text: str) -> list[dict[str, str]]:
    """The lines of the summary of all tests, by its head."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("Operation "))
    names = lines[head].split()
    rows = [line.split() for line in lines[head + 1 :]]
    return [
        dict(zip(names, row, strict=True)) for row in rows if row and row[0] in ("write", "read")
    ]


def shape(value: Any) -> Any:
    """Keys and kinds of a document, without its values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def test_text_has_iors_lines_and_columns(tool: Tool) -> None:
    theirs = real("ior_text_v.out")
    text = ours(tool, "ior-text", "-v", "-w", "-r", "-i", "1", "-t", "256k", "-b", "8m")
    assert labels(text) == labels(theirs)
    without_remarks = [line for line in text.splitlines() if not line.startswith("# ")]
    assert len(without_remarks) == len(theirs.splitlines())
    assert [list(row) for row in table(text)] == [list(row) for row in table(theirs)]
    assert [row["access"] for row in table(text)] == ["write", "read", "remove"]
    assert [list(row) for row in summary(text)] == [list(row) for row in summary(theirs)]
    exact = ("#Tasks", "tPN", "reps", "fPP", "segcnt", "blksiz", "xsize", "aggs(MiB)", "API")
    for row, their in zip(summary(text), summary(theirs), strict=True):
        assert [row[name] for name in exact] == [their[name] for name in exact]


def test_readers_of_the_best_rate_find_it(tool: Tool) -> None:
    """ReFrame and JUBE look for these lines; IOR prints them with -v only, we always."""
    text = ours(tool, "ior-text", "-w", "-r", "-t", "256k", "-b", "8m", "-i", "2")
    for access, word in (("write", "Write"), ("read", "Read")):
        found = re.search(rf"^Max {word}: +(\S+) MiB/sec \((\S+) MB/sec\)", text, re.MULTILINE)
        assert found is not None
        mib, mb = float(found[1]), float(found[2])
        assert mb == pytest.approx(mib * MIB / 1e6, rel=1e-4)
        best = next(row for row in summary(text) if row["Operation"] == access)
        assert float(best["Max(MiB)"]) == pytest.approx(mib, rel=1e-4)


def test_columns_of_text_stand_where_iors_do(tool: Tool) -> None:
    theirs = [line for line in real("ior_text.out").splitlines() if line.startswith("write ")]
    words = shlex.split("-a POSIX -w -r -i 3 -t 256k -b 8m -s 2 -C -e")
    text = ours(tool, "ior-text", *words)
    lines = [line for line in text.splitlines() if line.startswith("write ")]
    assert len(lines) == len(theirs)
    starts = [[m.start() for m in re.finditer(r"\S+", line)] for line in (lines[0], theirs[0])]
    assert starts[0] == starts[1]
    ends = [[m.end() for m in re.finditer(r"\S+", line)] for line in (lines[-1], theirs[-1])]
    assert ends[0] == ends[1]


def test_a_script_of_two_tests_prints_like_iors(tool: Tool) -> None:
    script = real("script.ior").replace("/scratch/run/s/g", "./g")
    (tool.target / "script.ior").write_text(script, "utf-8")
    line = ["ior", "-q", "-n", "2", "--output-format", "ior-text", "--", "-f", "script.ior"]
    done = tool(*line)
    assert done.returncode == 0, done.stderr
    extra = ("Max Write", "Max Read")
    assert [name for name in labels(done.stdout) if name not in extra] == labels(
        real("ior_script.out")
    )
    rows, their = summary(done.stdout), summary(real("ior_script.out"))
    for name in ("Operation", "Test#", "fPP", "reps", "xsize", "aggs(MiB)"):
        assert [row[name] for row in rows] == [row[name] for row in their]
    assert len(list(tool.store.glob("runs/*"))) == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ior_json_file.json", "-a POSIX -w -r -i 2 -t 256k -b 8m"),
        ("ior_json_stonewall.json", "-a POSIX -w -r -t 64k -b 64m -D 1 -O stoneWallingWearOut=1"),
    ],
)
def test_json_has_iors_keys_in_iors_order(tool: Tool, name: str, words: str) -> None:
    theirs = json.loads(real(name))
    text = ours(tool, "ior-json", *shlex.split(words))
    document = json.loads(text)
    assert shape(document) == shape(theirs)
    assert json.dumps(shape(document)) == json.dumps(shape(theirs))
    same = ["operation", "blockSize", "transferSize", "numTasks", "repetitions"]
    same += [] if "-D" in words else ["xsizeMiB"]
    for row, their in zip(document["summary"], theirs["summary"], strict=True):
        assert [row[key] for key in same] == [their[key] for key in same]


def test_json_is_precise_and_adds_up(tool: Tool) -> None:
    words = shlex.split("-v -w -r -i 2 -t 4k -b 1m -s 2")
    document = json.loads(ours(tool, "ior-json", *words))
    test = document["tests"][0]
    assert test["max"]["writeMB"] == pytest.approx(test["max"]["writeMiB"] * MIB / 1e6)
    rows = [row for row in test["Results"] if row["access"] != "remove"]
    assert [row["access"] for row in rows] == ["write", "read", "write", "read"]
    for row in rows:
        assert row["bwMiB"] == pytest.approx(4 / row["totalTime"])
        assert row["iops"] == pytest.approx(1024 / row["wrRdTime"])
        assert 0 < row["latency"] < row["wrRdTime"]
        assert row["latency"] != round(row["latency"], 4)
        assert max(row["openTime"], row["closeTime"], row["wrRdTime"]) <= row["totalTime"]
    writes = [row["bwMiB"] for row in rows if row["access"] == "write"]
    line = document["summary"][0]
    assert line["bwMaxMIB"] == max(writes)
    assert line["bwMeanMIB"] == pytest.approx(sum(writes) / 2)
    assert line["bwStdMIB"] == pytest.approx(abs(writes[0] - writes[1]) / 2)


def test_the_stonewall_is_the_mean_tasks_bandwidth(tool: Tool) -> None:
    """What the tasks had moved when it came stands in the phase's course."""
    words = shlex.split("-w -t 4k -b 8g -D 1 -O stoneWallingWearOut=1,interIODelay=1000")
    line = json.loads(ours(tool, "ior-json", *words))["summary"][0]
    (record,) = tool.store.glob("runs/*/record.json")
    (phase,) = json.loads(record.read_text("utf-8"))["phases"]
    assert phase["stopped_by"] == "limit"
    assert line["xsizeMiB"] * MIB == phase["bytes"] < 2 * 8 * 2**30
    assert line["StoneWallTime"] == 1.0 < phase["seconds"]["total"]
    course = phase["time_line"]
    moved = np.concatenate(([0], np.cumsum(course["bytes_written"])))
    by_then = np.interp(1.0, course["bin_s"] * np.arange(len(moved)), moved)
    assert 0 < by_then <= phase["bytes"]
    assert line["StoneWallbwMeanMIB"] * MIB * 2 == pytest.approx(by_then)


def test_csv_has_iors_columns(tool: Tool) -> None:
    words = shlex.split("-a POSIX -w -r -i 2 -t 256k -b 8m")
    theirs = list(csv.DictReader(io.StringIO(real("ior_csv.csv"))))
    rows = list(csv.DictReader(io.StringIO(ours(tool, "ior-csv", *words))))
    assert [list(row) for row in rows] == [list(row) for row in theirs]
    for name in ("access", "block(KiB)", "xfer(KiB)", "numTasks", "iter"):
        mine, their = ([row[name] for row in table] for table in (rows, theirs))
        assert mine == [str(float(v)) if "KiB" in name else v for v in their]


def test_details_of_the_ranks_are_their_own(tool: Tool) -> None:
    words = shlex.split("-F -w -r -t 256k -b 4m -O saveRankPerformanceDetailsCSV=./ranks.csv")
    document = json.loads(ours(tool, "ior-json", *words))
    rows = list(csv.DictReader((tool.target / "ranks.csv").open(encoding="utf-8")))
    theirs = list(csv.DictReader(io.StringIO(real("ior_rankdetails.csv"))))
    assert [list(row) for row in rows] == [list(row) for row in theirs]
    assert [(row["access"], row["rank"]) for row in rows] == [
        (row["access"], row["rank"]) for row in theirs
    ]
    total = document["tests"][0]["Results"][0]["totalTime"]
    for row in rows[:2]:
        time_s = float(row["runtime-with-openclose"])
        assert 0 < float(row["runtime"]) <= time_s <= total * 1.0001
        rate = float(row["throughput-withopenclose"])
        assert rate * time_s == pytest.approx(4 * MIB, rel=1e-6)


def test_a_summary_file_takes_the_result(tool: Tool) -> None:
    words = "-w -t 256k -b 1m -O summaryFormat=JSON,summaryFile=./out.json -o ./f"
    done = tool("ior", "-q", "--", *shlex.split(words))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Writing output to ./out.json\n"
    document = json.loads((tool.target / "out.json").read_text("utf-8"))
    assert document["tests"][0]["Results"][0]["access"] == "write"


def test_single_operations_have_iors_columns(tool: Tool) -> None:
    words = shlex.split("-F -w -t 256k -b 2m -O savePerOpDataCSV=./op")
    document = json.loads(ours(tool, "ior-json", *words))
    for rank in range(2):
        with (tool.target / f"op-0-{rank:05d}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [list(row) for row in rows] == [["time", "runtime", "tp"]] * 8
        times = [float(row["time"]) for row in rows]
        assert times == sorted(times)
        assert times[0] == 0.0
        spent = sum(float(row["runtime"]) for row in rows)
        assert spent <= document["tests"][0]["Results"][0]["wrRdTime"] * 1.001
