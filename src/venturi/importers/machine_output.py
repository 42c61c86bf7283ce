"""What benchmarks of the machine itself print: OSU, LinkTest, HPL, HPCG, HPCC and STREAM.

Each is told apart by its heading, and each is a failure where it gives no number or says itself
that a check failed. Sizes are named as our kernels name them (`latency at 8 KiB`), but the run
bears the tool's name: its numbers and ours are different series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from venturi.importers.imported_run import ImportedRun, time_of
from venturi.model.output import Better
from venturi.model.result import Measure
from venturi.model.units import size_text
from venturi.model.workload import Scalar

EMPTY = "an empty table: there is no number below its heading"
_NUMBER = r"([-+0-9.eE]+)"
_OSU = re.compile(r"^# OSU (.+?)(?: Test)?(?: v([0-9.]+))?\s*$", re.MULTILINE)
_OSU_COLUMNS = re.compile(r"^# (Size .*|(?:Avg |Overall).*)$", re.MULTILINE)
_OSU_PAIRS = re.compile(r"^# \[ pairs: (\d+) \] \[ window size: (\d+) \]", re.MULTILINE)
_LINKTEST = re.compile(r"^.*LinkTest.*$|^Parallel Results for step", re.MULTILINE)
_LINKTEST_TIMES = re.compile(
    r"^(Parallel|Serial|Aggregated) Results(?: for step (\d+))?:\s*(.*)$", re.MULTILINE
)
_LINKTEST_VALUE = re.compile(
    r"\b(min|avg|max)[.:]*:?\s*([0-9.eE+-]+)\s*(ns|us|µs|ms|s)\s*\(\s*([0-9.eE+-]+)\s*"
    r"([KMGT]?i?B)/s\s*\)"
)
_BISECTION = re.compile(r"bisection bw:\s*([0-9.eE+-]+)\s*([KMGT]?i?B)/s")
_HPL = re.compile(r"^HPLinpack ([0-9.]+)", re.MULTILINE)
_HPL_ROW = re.compile(
    rf"^W[RC]\w+ +(\d+) +(\d+) +(\d+) +(\d+) +{_NUMBER} +{_NUMBER}\s*$", re.MULTILINE
)
_HPL_ASKED = re.compile(r"^(N|NB|P|Q) +: +([0-9 ]+)$", re.MULTILINE)
_HPL_ENDED = re.compile(r"^Finished +(\d+) tests with the following results:", re.MULTILINE)
_HPL_FAILED = re.compile(r"^ +(\d+) tests completed and failed residual checks", re.MULTILINE)
_HPL_SKIPPED = re.compile(r"^ +(\d+) tests skipped because of illegal input", re.MULTILINE)
_HPL_TIME = re.compile(r"^HPL_pdgesv\(\) start time +(.+?)\s*$", re.MULTILINE)
_HPCC = re.compile(r"HPC Challenge Benchmark version ([0-9.]+)")
_HPCC_TIME = re.compile(r"^Current time \((\d+)\)", re.MULTILINE)
_HPCG = re.compile(r"^(?:HPCG-Benchmark|\S*HPCG\S*)\s*\n(?:\s*\n)*version=([0-9.]+)", re.MULTILINE)
_KEY_VALUE = re.compile(r"^([^=\n]+)=(.*)$", re.MULTILINE)
_STREAM = re.compile(r"^STREAM version \$Revision: ([0-9.]+)", re.MULTILINE)
_STREAM_ROW = re.compile(rf"^(Copy|Scale|Add|Triad): +{_NUMBER}", re.MULTILINE)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OF_HPCC = {
    "HPL_Tflops": ("hpl", "Tflop/s", Better.HIGHER),
    "StarDGEMM_Gflops": ("dgemm", "Gflop/s", Better.HIGHER),
    "PTRANS_GBs": ("transpose", "GB/s", Better.HIGHER),
    "MPIRandomAccess_GUPs": ("random_access", "Gup/s", Better.HIGHER),
    "StarSTREAM_Copy": ("copy", "GB/s", Better.HIGHER),
    "StarSTREAM_Triad": ("triad", "GB/s", Better.HIGHER),
    "MPIFFT_Gflops": ("fft", "Gflop/s", Better.HIGHER),
    "AvgPingPongLatency_usec": ("ping_pong_latency", "us", Better.LOWER),
    "AvgPingPongBandwidth_GBytes": ("ping_pong_bandwidth", "GB/s", Better.HIGHER),
    "RandomlyOrderedRingBandwidth_GBytes": ("ring_bandwidth", "GB/s", Better.HIGHER),
}


def machine_reading(text: str) -> ImportedRun | None:
    """The run that an output tells of; None where it is of none of these tools."""
    for heading, read in _READERS:
        if match := heading.search(text):
            return read(text, match)
    return None


def _measure(value: float, unit: str, better: Better) -> Measure:
    return Measure(unit=unit, better=better, values=[value])


def _osu(text: str, title: re.Match[str]) -> ImportedRun:
    """A metric for each column and size, but those of rows that did not pass the tool's check."""
    words = [word for word in title[1].split() if word not in ("MPI", "/")]
    columns = _osu_columns(text)
    metrics: dict[str, Measure] = {}
    bad: list[str] = []
    rows = 0
    for row in _osu_rows(text, len(columns)):
        rows += 1
        has_size = columns[0] == "Size"
        place = f" at {size_text(int(row[0]))}" if has_size else ""
        if "Fail" in row:
            bad.append(place[4:] or "its only row")
            continue
        for column, value in zip(columns[has_size:], row[has_size:], strict=True):
            named = _osu_metric(column)
            if named is not None:
                name, unit, better = named
                metrics[f"{name}{place}"] = _measure(float(value), unit, better)
    parameters: dict[str, Scalar] = {"rows": rows}
    if pairs := _OSU_PAIRS.search(text):
        parameters |= {"pairs": int(pairs[1]), "window": int(pairs[2])}
    sizes = [int(row[0]) for row in _osu_rows(text, len(columns)) if columns[0] == "Size"]
    if sizes:
        parameters |= {"least": min(sizes), "most": max(sizes)}
    failure = f"its validation failed at {', '.join(bad)}" if bad else ""
    return ImportedRun(
        tool="osu",
        name="osu-" + "-".join(words).lower(),
        version=title[2] or "",
        metrics={} if bad else metrics,
        parameters=parameters,
        ranks=2 * int(pairs[1]) if pairs else 1,
        work=title[1],
        failure=failure or ("" if metrics else EMPTY),
    )


def _osu_columns(text: str) -> list[str]:
    heading = _OSU_COLUMNS.search(text)
    if heading is None:
        raise ValueError("it has no heading of a table")
    found = re.split(r"\s{2,}", heading[1].strip())
    return found if len(found) > 1 or found[0] != "Size" else [*found, "value"]


def _osu_rows(text: str, columns: int) -> Iterator[list[str]]:
    """The rows below a heading; what its allocator says between them is no row."""
    for line in text.splitlines():
        row = line.split()
        if row and len(row) == columns and re.fullmatch(r"[0-9.]+", row[0]):
            yield row


def _osu_metric(column: str) -> tuple[str, str, Better] | None:
    """The name, unit and direction of a column; None for one that counts or checks."""
    plain = column.lower()
    if "messages/s" in plain:
        return "message rate", "1/s", Better.HIGHER
    if "mb/s" in plain:
        return "bandwidth", "MB/s", Better.HIGHER
    if "lat" not in plain:
        return None
    kind = next((k for k in ("min", "max", "p50", "p90", "p95", "p99") if k in plain), "")
    return f"{kind} latency".strip(), "us", Better.LOWER


def _linktest(text: str, match: re.Match[str]) -> ImportedRun:
    """Times and rates of the parallel tests, of all steps together where it says them."""
    del match
    steps: list[dict[str, tuple[float, float]]] = []
    whole: dict[str, tuple[float, float]] = {}
    bisection: list[float] = []
    for kind, step, rest in _LINKTEST_TIMES.findall(text):
        values = {
            name: (float(time) * _SECONDS[unit], float(rate) * _byte_unit(rate_unit))
            for name, time, unit, rate, rate_unit in _LINKTEST_VALUE.findall(rest)
        }
        if kind == "Aggregated":
            whole = values
        elif step and kind == "Parallel":
            steps.append(values)
            bisection += [float(v) * _byte_unit(u) for v, u in _BISECTION.findall(rest)]
    metrics = {}
    for name, (seconds, rate) in (whole or _over_steps(steps)).items():
        metrics[f"{name} time"] = _measure(seconds, "s", Better.LOWER)
        metrics[f"{name} rate"] = _measure(rate, "B/s", Better.HIGHER)
    if bisection:
        least, mean = min(bisection), sum(bisection) / len(bisection)
        metrics["min bisection"] = _measure(least, "B/s", Better.HIGHER)
        metrics["avg bisection"] = _measure(mean, "B/s", Better.HIGHER)
    sizes = [seconds * rate for values in (*steps, whole) for seconds, rate in values.values()]
    differs = bool(sizes) and max(sizes) > 1.02 * min(sizes)
    return ImportedRun(
        tool="linktest",
        name="linktest",
        metrics={} if differs else metrics,
        parameters={"steps": len(steps), **({"size": round(sizes[0])} if sizes else {})},
        ranks=max(len(steps) + 1, 1),
        failure=(
            "its times and rates are of messages of different sizes"
            if differs
            else ("" if metrics else EMPTY)
        ),
    )


def _over_steps(steps: list[dict[str, tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """What all steps come to: the mean time, and the rate of that time."""
    full = [values for values in steps if {"min", "avg", "max"} <= values.keys()]
    if not full:
        return {}
    mean_s = sum(values["avg"][0] for values in full) / len(full)
    size = full[0]["avg"][0] * full[0]["avg"][1]
    return {
        "min": min((values["min"] for values in full), key=lambda pair: pair[0]),
        "avg": (mean_s, size / mean_s),
        "max": max((values["max"] for values in full), key=lambda pair: pair[0]),
    }


def _byte_unit(unit: str) -> float:
    prefix = unit.rstrip("B").rstrip("i")
    if prefix and "i" not in unit:
        return float(1000 ** (list(_BYTES).index(prefix)))
    return float(_BYTES[prefix])


def _hpl(text: str, match: re.Match[str]) -> ImportedRun:
    """The best of its tests; the others are not told from it by their settings."""
    rows = _HPL_ROW.findall(text)
    asked = {name: [int(word) for word in values.split()] for name, values in _asked(text)}
    best = max(rows, key=lambda row: float(row[5]), default=None)
    parameters: dict[str, Scalar] = {}
    if best is not None:
        parameters = dict(zip(("N", "NB", "P", "Q"), map(int, best[:4]), strict=True))
    failure = _hpl_failure(text, len(rows), asked)
    started = _HPL_TIME.search(text)
    return ImportedRun(
        tool="hpl",
        name="hpl",
        version=match[1],
        started=time_of(started[1], "%a %b %d %H:%M:%S %Y") if started else "",
        metrics={"gflops": _measure(float(best[5]), "Gflop/s", Better.HIGHER)}
        if best is not None and not failure
        else {},
        parameters=parameters,
        ranks=int(best[2]) * int(best[3]) if best is not None else 1,
        failure=failure,
    )


def _asked(text: str) -> list[tuple[str, str]]:
    """What it says that it was asked for."""
    return _HPL_ASKED.findall(text)


def _hpl_failure(text: str, rows: int, asked: dict[str, list[int]]) -> str:
    if "HPL ERROR" in text:
        return "it says HPL ERROR"
    if rows == 0:
        return EMPTY
    failed, skipped = _HPL_FAILED.search(text), _HPL_SKIPPED.search(text)
    if failed and int(failed[1]):
        return f"{failed[1]} of its tests failed their residual check"
    if skipped and int(skipped[1]):
        return f"{skipped[1]} of its tests were skipped because of illegal input"
    if not _HPL_ENDED.search(text):
        return "it did not come to its end"
    for name, place in (("N", 0), ("NB", 1)):
        ran = {int(row[place]) for row in _HPL_ROW.findall(text)}
        missing = [value for value in asked.get(name, []) if value not in ran]
        if missing:
            return f"{name} {missing[0]} was asked for, and it ran {', '.join(map(str, ran))}"
    return ""


def _hpcg(text: str, match: re.Match[str]) -> ImportedRun:
    said = {key.strip(): value.strip() for key, value in _KEY_VALUE.findall(text)}
    ratings = [
        float(value)
        for key, value in said.items()
        if key.endswith("HPCG result is VALID with a GFLOP/s rating of")
    ]
    whole = said.get("GFLOP/s Summary::Raw Total")
    bandwidth = said.get("GB/s Summary::Raw Read B/W")
    metrics = {}
    if ratings:
        metrics["gflops"] = _measure(ratings[-1], "Gflop/s", Better.HIGHER)
        if whole:
            metrics["raw gflops"] = _measure(float(whole), "Gflop/s", Better.HIGHER)
        if bandwidth:
            metrics["read bandwidth"] = _measure(float(bandwidth), "GB/s", Better.HIGHER)
    local = "Local Domain Dimensions::"
    parameters: dict[str, Scalar] = {
        name: int(said[local + name]) for name in ("nx", "ny", "nz") if local + name in said
    }
    seconds = said.get("Final Summary::Results are valid but execution time (sec) is", "")
    return ImportedRun(
        tool="hpcg",
        name="hpcg",
        version=match[1],
        metrics=metrics,
        parameters=parameters,
        ranks=int(said.get("Machine Summary::Distributed Processes", "1")),
        failure="" if metrics else "it does not call its result valid",
        facts={"seconds, of the 1800 that an official result needs": seconds} if seconds else {},
    )


def _hpcc(text: str, match: re.Match[str]) -> ImportedRun:
    """Its summary; a size of HPL that it chose by itself shows in `N`."""
    summary = text.partition("Begin of Summary section.")[2]
    said = dict(_KEY_VALUE.findall(summary.partition("End of Summary section.")[0]))
    metrics = {
        name: _measure(float(said[key]), unit, better)
        for key, (name, unit, better) in _OF_HPCC.items()
        if key in said and float(said[key]) > 0.0
    }
    keys = {"N": "HPL_N", "NB": "HPL_NB", "P": "HPL_nprow", "Q": "HPL_npcol"}
    if "HPL ERROR" in text:
        failure = "it says HPL ERROR, and then it chooses another size by itself"
    elif not summary:
        failure = "it has no summary: it did not come to its end"
    else:
        failure = "" if said.get("Success") == "1" else "its summary does not say Success=1"
    began = _HPCC_TIME.search(text)
    return ImportedRun(
        tool="hpcc",
        name="hpcc",
        version=match[1],
        started=datetime.fromtimestamp(int(began[1]), UTC).isoformat() if began else "",
        metrics={} if failure else metrics,
        parameters={name: int(said[key]) for name, key in keys.items() if key in said},
        ranks=int(said.get("CommWorldProcs", "1")),
        failure=failure or ("" if metrics else EMPTY),
    )


def _stream(text: str, match: re.Match[str]) -> ImportedRun:
    metrics = {
        name.lower(): _measure(float(rate), "MB/s", Better.HIGHER)
        for name, rate in _STREAM_ROW.findall(text)
    }
    size = re.search(r"^Array size = (\d+)", text, re.MULTILINE)
    threads = re.search(r"^Number of Threads counted = (\d+)", text, re.MULTILINE)
    failure = "" if metrics else EMPTY
    if "Solution Validates" not in text:
        failure = "it does not say that its solution validates"
    parameters: dict[str, Scalar] = {"size": int(size[1])} if size else {}
    if threads:
        parameters["threads"] = int(threads[1])
    return ImportedRun(
        tool="stream",
        name="stream",
        version=match[1],
        metrics={} if failure else metrics,
        parameters=parameters,
        failure=failure,
    )


_READERS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], ImportedRun]], ...] = (
    (_OSU, _osu),
    (_HPCC, _hpcc),
    (_HPL, _hpl),
    (_HPCG, _hpcg),
    (_STREAM, _stream),
    (_LINKTEST, _linktest),
)
"""HPCC prints the heading of HPL, too, so it comes before that."""
