"""What tools write as JSON: IOR, fio, hyperfine, ReFrame, iperf3; told apart by their keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from venturi.importers.imported_run import ImportedRun, plain_parameters, time_of
from venturi.model.output import Better
from venturi.model.result import Measure

_OF_IOR = ("testID", "refnum", "platform", "testFileName", "options")
"""Settings that are another one in each run."""


def readings(data: Any) -> list[ImportedRun] | None:
    """The runs in a document; None where it is of no tool that is known.

    Raises KeyError, TypeError, ValueError or AttributeError for one that is not as its tool writes
    it.
    """
    if not isinstance(data, dict):
        return None
    if "tests" in data and str(data.get("Version", "")):
        return list(_ior(data))
    if "fio version" in data:
        return list(_fio(data))
    if str(data.get("start", {}).get("version", "")).startswith("iperf 3"):
        return [_iperf3(data)]
    if "session_info" in data and "runs" in data:
        return list(_reframe(data))
    results = data.get("results")
    if isinstance(results, list) and results and all("times" in one for one in results):
        return list(_hyperfine(results))
    return None


def _measure(values: list[float], unit: str, better: Better = Better.HIGHER) -> Measure:
    return Measure(unit=unit, better=better, values=[float(value) for value in values])


def _ior(data: dict[str, Any]) -> Iterator[ImportedRun]:
    """One reading for each test of a script; each repetition is a value."""
    tasks = {row["TestID"]: row["numTasks"] for row in data["summary"]}
    for test in data["tests"]:
        rows = [row for row in test["Results"] if isinstance(row, dict)]
        rows += [row for part in test["Results"] if isinstance(part, list) for row in part]
        metrics = {}
        for access in ("write", "read"):
            own = [row for row in rows if row["access"] == access]
            if own:
                metrics[access] = _measure([row["bwMiB"] for row in own], "MiB/s")
                metrics[f"{access}_operations"] = _measure([row["iops"] for row in own], "op/s")
        settings = {k: v for k, v in test["Parameters"].items() if k not in _OF_IOR}
        yield ImportedRun(
            tool="ior",
            name="ior",
            version=data["Version"],
            started=time_of(test["StartTime"], "%a %b %d %H:%M:%S %Y"),
            metrics=metrics,
            parameters=plain_parameters(settings),
            ranks=tasks.get(test["TestID"], 1),
            nodes=max(int(test["Parameters"].get("nodes", 1)), 1),
            failure="" if metrics else "no phase came to its end",
        )


def _fio(data: dict[str, Any]) -> Iterator[ImportedRun]:
    """One reading for each job, or group of jobs."""
    common = data.get("global options", {})
    for job in data["jobs"]:
        metrics = {}
        for way in ("read", "write"):
            if job[way]["total_ios"]:
                metrics[way] = _measure([job[way]["bw_bytes"]], "B/s")
                metrics[f"{way}_operations"] = _measure([job[way]["iops"]], "op/s")
        options = {**common, **job.get("job options", {})}
        options.pop("name", None)
        yield ImportedRun(
            tool="fio",
            name=f"fio-{job['jobname']}",
            version=data["fio version"],
            started=datetime.fromtimestamp(data["timestamp"], UTC).isoformat(),
            metrics=metrics,
            parameters=plain_parameters(options),
            ranks=max(int(options.get("numjobs", 1)), 1),
            failure=f"error {job['error']}" if job["error"] else "",
        )


def _hyperfine(results: list[dict[str, Any]]) -> Iterator[ImportedRun]:
    """One reading for each command; each run is a value, also those that failed nothing."""
    for one in results:
        codes = [code for code in one.get("exit_codes", []) if code]
        parameters = plain_parameters(one.get("parameters", {}))
        yield ImportedRun(
            tool="hyperfine",
            name=one["command"].split()[0].rpartition("/")[2] or "command",
            metrics={"seconds": _measure(one["times"], "s", Better.LOWER)},
            parameters={**parameters, **plain_parameters({"command": one["command"]})},
            work=one["command"],
            failure=f"{len(codes)} runs ended with another exit code than 0" if codes else "",
        )


def _reframe(data: dict[str, Any]) -> Iterator[ImportedRun]:
    """One reading for each test case of each run."""
    session = data["session_info"]
    for case in (case for run in data["runs"] for case in run["testcases"]):
        metrics = {
            row["name"]: _measure([row["value"]], row.get("unit") or "", Better.NONE)
            for row in _performance(case)
        }
        yield ImportedRun(
            tool="reframe",
            name=case["name"].split()[0],
            version=session.get("version", ""),
            started=_moment(session.get("time_start", "")),
            metrics=metrics,
            parameters=plain_parameters(
                {
                    "test": case["name"],
                    "system": case["system"],
                    "environment": case.get("environment") or case.get("environ"),
                }
            ),
            nodes=max(len(case.get("nodelist") or []), 1),
            work=case["name"],
            failure="" if case["result"] in ("success", "pass") else _reason(case),
            facts={"host": session.get("hostname", "")},
        )


_SHORT = 0.9
"""A test that ran for less of the time that was asked for was cut off."""


def _iperf3(data: dict[str, Any]) -> ImportedRun:
    """One test; what it says that it was asked for is held against what it did."""
    start, end = data["start"], data["end"]
    asked = start.get("test_start", {})
    streams = end.get("streams", [])
    metrics = {}
    for name, key in (("sent", "sum_sent"), ("received", "sum_received"), ("received", "sum")):
        if end.get(key, {}).get("bytes"):
            metrics[name] = _measure([end[key]["bits_per_second"] / 8], "B/s")
    sent = end.get("sum_sent", {})
    if "retransmits" in sent:
        metrics["retransmits"] = _measure([sent["retransmits"]], "", Better.LOWER)
    times = [one["sender"]["mean_rtt"] for one in streams if one.get("sender", {}).get("mean_rtt")]
    if times:
        metrics["round_trip"] = _measure([sum(times) / len(times)], "us", Better.LOWER)
    if "jitter_ms" in end.get("sum", {}):
        metrics["jitter"] = _measure([end["sum"]["jitter_ms"] / 1e3], "s", Better.LOWER)
        metrics["lost"] = _measure([end["sum"]["lost_percent"]], "%", Better.LOWER)
    names = {"protocol": "protocol", "num_streams": "streams", "blksize": "block",
             "duration": "seconds", "reverse": "reverse"}  # fmt: skip
    return ImportedRun(
        tool="iperf3",
        name=f"iperf3-{str(asked.get('protocol', 'tcp')).lower()}",
        version=str(start["version"]).removeprefix("iperf "),
        started=datetime.fromtimestamp(start["timestamp"]["timesecs"], UTC).isoformat(),
        metrics=metrics,
        parameters=plain_parameters(
            {name: asked[key] for key, name in names.items() if key in asked}
        ),
        nodes=2,
        failure=_iperf3_failure(data, metrics, asked, len(streams)),
    )


def _iperf3_failure(
    data: dict[str, Any], metrics: dict[str, Measure], asked: dict[str, Any], streams: int
) -> str:
    """Why its numbers are no answer to what was asked for; empty: they are."""
    if data.get("error"):
        return f"it says: {data['error']}"
    if not metrics:
        return "it moved no bytes"
    if streams != asked.get("num_streams", streams):
        return f"{asked['num_streams']} streams were asked for, and it tells of {streams}"
    total = data["end"].get("sum_sent") or data["end"].get("sum") or {}
    seconds = float(total.get("seconds", 0.0))
    if seconds < _SHORT * float(asked.get("duration", 0.0)):
        return f"{asked['duration']} s were asked for, and it ran {seconds:.3g} s"
    return ""


def _performance(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The measured values, as reports of version 3 and of version 4 have them."""
    if case.get("perfvars"):
        return list(case["perfvars"])
    found = case.get("perfvalues") or {}
    return [
        {"name": key.rpartition(":")[2], "value": row[0], "unit": row[4]}
        for key, row in found.items()
        if row[0] is not None
    ]


def _reason(case: dict[str, Any]) -> str:
    return f"{case.get('fail_phase') or 'it'} failed: {case.get('fail_reason') or 'no reason'}"


def _moment(text: str) -> str:
    """A moment as ReFrame writes it; empty where it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")
    except ValueError:
        return ""
