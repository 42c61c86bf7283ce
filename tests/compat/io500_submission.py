"""Submissions of IO500 as its program leaves them, made from a seed, and ways to forge them.

Every file says the same: the numbers are made up, the formats, formulas and hashes are the
program's.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BANDWIDTH = ("ior-easy-write", "ior-hard-write", "ior-easy-read", "ior-hard-read")
PHASES = (
    "ior-easy-write",
    "mdtest-easy-write",
    "timestamp",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
)
WRITES = ("ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write")
SCORED = tuple(name for name in PHASES if name != "timestamp")
_ROWS = {"write": "creation", "stat": "stat", "read": "read", "delete": "removal"}


@dataclass
class Made:
    """The numbers of one submission; `write` makes its files."""

    rates: dict[str, float]
    times_s: dict[str, float]
    procs: int
    nodes: int
    version: str
    stonewall_s: int = 300
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    chosen: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def is_invalid(self) -> bool:
        return self.stonewall_s != 300

    @property
    def bw(self) -> float:
        return _mean([round(self.rates[name], 6) for name in BANDWIDTH])

    @property
    def md(self) -> float:
        return _mean([round(self.rates[n], 6) for n in SCORED if n not in BANDWIDTH])


def made(rng: random.Random, stonewall_s: int = 300) -> Made:
    """A consistent submission, other numbers for each seed."""
    nodes = rng.choice((1, 4, 10, 10, 37))
    rates = {
        name: math.exp(rng.uniform(0, 5) if name in BANDWIDTH else rng.uniform(2, 8))
        for name in SCORED
    }
    times = {
        name: rng.uniform(stonewall_s + 1, 900) if name in WRITES else rng.uniform(20, 900)
        for name in SCORED
    }
    one = Made(
        rates=rates,
        times_s={**times, "timestamp": 0.0},
        procs=nodes * rng.randint(1, 64),
        nodes=nodes,
        version=rng.choice(("io500-isc23", "io500-sc24_v1", "io500-isc25_v2", "")),
        stonewall_s=stonewall_s,
    )
    one.chosen = {
        "global": {"datadir": "/scratch/data", "resultdir": "/scratch/results"},
        "debug": {"stonewall-time": str(stonewall_s)},
        "ior-easy": {"transferSize": rng.choice(("2m", "16m")), "blockSize": "99000m"},
        "mdtest-easy": {"n": str(rng.randint(10**5, 10**6))},
        "mdtest-hard": {"n": str(rng.randint(10**6, 10**7))},
    }
    one.options = _resolved(one.chosen)
    return one


def _resolved(chosen: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    defaults: dict[str, dict[str, str]] = {
        "global": {
            "datadir": "./datafiles",
            "timestamp-datadir": "TRUE",
            "resultdir": "./results",
            "timestamp-resultdir": "TRUE",
            "api": "POSIX",
            "drop-caches": "FALSE",
            "verbosity": "1",
            "scc": "FALSE",
        },
        "debug": {"stonewall-time": "300", "pause-dir": ""},
        "ior-easy": {
            "API": "",
            "transferSize": "2m",
            "blockSize": "9920000m",
            "filePerProc": "TRUE",
            "uniqueDir": "FALSE",
            "run": "TRUE",
            "verbosity": "",
        },
        "mdtest-easy": {"API": "", "n": "1000000", "run": "TRUE"},
        "ior-hard": {"API": "", "segmentCount": "10000000", "run": "TRUE", "verbosity": ""},
        "mdtest-hard": {"API": "", "n": "1000000", "files-per-dir": "", "run": "TRUE"},
        "find": {
            "external-script": "",
            "external-mpi-args": "",
            "external-extra-args": "",
            "nproc": "",
            "run": "TRUE",
            "pfind-queue-length": "10000",
        },
    }
    return {name: {**keys, **chosen.get(name, {})} for name, keys in defaults.items()}


def write(one: Made, folder: Path, hashes_of: Made | None = None) -> None:
    """All files of a submission; `hashes_of` leaves the hashes of another one in them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result_summary.txt").write_text(summary_text(one))
    (folder / "result.txt").write_text(_result_text(one, hashes_of or one))
    (folder / "config.ini").write_text(_ini_text(one.options))
    (folder / "config-orig.ini").write_text(_ini_text(one.chosen))
    (folder / "system-information.txt").write_text(
        'io500_info_institution="A Lab"\nio500_info_system="Big"\n'
        'io500_info_system_classification="production"\nio500_info_filesystem_type="Lustre"\n'
    )
    write_logs(one, folder)


def write_logs(one: Made, folder: Path) -> None:
    for name in SCORED:
        if name == "find":
            text = f"runtime: 10.0 rate: {one.rates[name] * 1000:f}\nrank, errors\n"
            (folder / "find.csv").write_text(text)
            continue
        kind = name.rsplit("-", 1)[1]
        if name.startswith("ior"):
            mib = f"{one.rates[name] * 1024:.6g}"
            text = f"nodes               : {one.nodes}\ntasks               : {one.procs}\n"
            text += f"\n{kind:<9} {mib}   1.0   2.0   3   0\n"
        else:
            text = (
                f"mdtest-4.1 was launched with {one.procs} total task(s) on {one.nodes} node(s)\n"
            )
            text += f"   File {_ROWS[kind]}   {one.rates[name] * 1000:.3f}   1.0   1.0   0.000\n"
        (folder / f"{name}.txt").write_text(text)


def summary_text(one: Made) -> str:
    bad = " [INVALID]" if one.is_invalid else ""
    lines = [f"IO500 version {one.version} (standard)"]
    for name in PHASES:
        mark = "RESULT" if name in SCORED else "      "
        unit = "GiB/s" if name.startswith("ior") else "kIOPS"
        wrong = bad if name in WRITES else ""
        lines.append(
            f"[{mark}] {name:>20} {one.rates.get(name, 0.0):15.6f} {unit} : time "
            f"{one.times_s[name]:.3f} seconds{wrong}"
        )
    total = math.sqrt(one.bw * one.md)
    lines.append(
        f"[SCORE ] Bandwidth {one.bw:f} GiB/s : IOPS {one.md:f} kiops : TOTAL {total:f}{bad}"
    )
    return "\n".join([*lines, ""])


def _result_text(one: Made, hashed: Made) -> str:
    lines = ["[run]", f"procs           = {one.procs}", f"version         = {one.version}"]
    lines.append(f"config-hash     = {_xor(_option_texts(hashed)):X}")
    lines += ["result-dir      = /scratch/results", "mode            = standard"]
    second = 0.0
    for name in PHASES:
        lines += ["", f"[{name}]", f"t_start         = {_clock(second)}"]
        if name in WRITES:
            flag = "-D" if name.startswith("ior") else "-W"
            lines.append(f"exe             = ./{name.split('-')[0]} -k {flag} {one.stonewall_s} -C")
        if name == "find":
            lines += ["nproc           = 1", "found           = 7", "total-files     = 9"]
        if name in SCORED:
            lines.append(f"score           = {one.rates[name]:f}")
        second += one.times_s[name]
        lines += [
            f"t_delta         = {one.times_s[name]:.4f}",
            f"t_end           = {_clock(second)}",
        ]
        second += 5
    bad = " [INVALID]" if one.is_invalid else ""
    total = math.sqrt(one.bw * one.md)
    lines += ["", "[SCORE]", f"MD              = {one.md:f}", f"BW              = {one.bw:f}"]
    lines += [f"SCORE           = {total:f}{bad}", f"hash            = {score_hash(hashed):X}"]
    return "\n".join([*lines, ""])


def _clock(second: float) -> str:
    minutes, seconds = divmod(int(second), 60)
    return f"2024-05-01 {minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"


def _ini_text(sections: dict[str, dict[str, str]]) -> str:
    parts = [
        "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in keys.items()), ""])
        for name, keys in sections.items()
    ]
    return "\n".join(parts)


def score_hash(one: Made) -> int:
    texts = [f"version{one.version}", *(f"{name}{one.rates[name]:f}" for name in SCORED)]
    texts += [f"MD{one.md:f}", f"BW{one.bw:f}", f"SCORE{math.sqrt(one.bw * one.md):f}"]
    return _xor([*texts, *(["validNO"] if one.is_invalid else [])])


def _option_texts(one: Made) -> list[str]:
    kept = {"external-mpi-args", "external-extra-args"}
    return [
        key + value
        for keys in one.options.values()
        for key, value in keys.items()
        if value or key in kept
    ]


def _xor(texts: list[str]) -> int:
    found = 0
    for text in texts:
        value = 0
        for byte in text.encode():
            value = ((value << 2 | value >> 30) + byte) & 0xFFFFFFFF
        found ^= value
    return found


def _mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _factor(rng: random.Random) -> float:
    return rng.choice((1.05, 1.5, 10.0, 100.0))


def _times_all(one: Made, rng: random.Random) -> None:
    factor = _factor(rng)
    one.rates = {name: rate * factor for name, rate in one.rates.items()}


def _times_one(one: Made, rng: random.Random) -> None:
    one.rates[rng.choice(SCORED)] *= _factor(rng)


def _swapped(one: Made, rng: random.Random) -> None:
    group = [name for name in SCORED if (name in BANDWIDTH) == (rng.random() < 0.5)] or SCORED
    first, second = rng.sample(
        [n for n in SCORED if (n in BANDWIDTH) == (group[0] in BANDWIDTH)], 2
    )
    one.rates[first], one.rates[second] = one.rates[second], one.rates[first]


CHANGES: tuple[Callable[[Made, random.Random], None], ...] = (_times_all, _times_one, _swapped)
"""Of the rates, so that the scores follow from them."""


def forge_summary(folder: Path, one: Made, rng: random.Random) -> None:
    """Other rates in the summary alone."""
    rng.choice(CHANGES)(one, rng)
    (folder / "result_summary.txt").write_text(summary_text(one))


def forge_both(folder: Path, one: Made, rng: random.Random) -> None:
    """Other rates in the summary, in result.txt and in the logs, with the hash of the true ones."""
    true = Made(**{**vars(one), "rates": dict(one.rates)})
    rng.choice(CHANGES)(one, rng)
    write(one, folder, hashes_of=true)


def forge_hash(folder: Path, one: Made, rng: random.Random) -> None:
    """Other rates with the right hash; the logs stay."""
    rng.choice(CHANGES)(one, rng)
    (folder / "result_summary.txt").write_text(summary_text(one))
    (folder / "result.txt").write_text(_result_text(one, one))


def forge_result(folder: Path, one: Made, rng: random.Random) -> None:
    """Other rates in result.txt alone."""
    true = Made(**{**vars(one), "rates": dict(one.rates)})
    rng.choice(CHANGES)(one, rng)
    (folder / "result.txt").write_text(_result_text(one, true))


def forge_procs(folder: Path, one: Made, rng: random.Random) -> None:
    """Fewer processes, in one of the places that name them."""
    fewer = max(1, one.procs // rng.choice((2, 3, 10)))
    if fewer == one.procs:
        fewer = one.procs + 1
    names = ["result.txt", *(f"{name}.txt" for name in SCORED if name != "find")]
    path = folder / rng.choice(names)
    text = path.read_text()
    for pattern in (r"(procs\s+= )\d+", r"(tasks\s+: )\d+", r"(launched with )\d+"):
        text = re.sub(pattern, rf"\g<1>{fewer}", text)
    path.write_text(text)


def forge_time(folder: Path, one: Made, rng: random.Random) -> None:
    """A longer phase in the summary."""
    one.times_s[rng.choice(SCORED)] += rng.uniform(1, 200)
    (folder / "result_summary.txt").write_text(summary_text(one))


def cut_line(folder: Path, one: Made, rng: random.Random) -> None:
    """A line is gone that says a rate, a time, a hash, a version or an option."""
    path = folder / rng.choice(("result_summary.txt", "result.txt", "config.ini"))
    lines = path.read_text().splitlines(keepends=True)
    told = re.compile(
        r"\[RESULT\]|IO500 version \w|(score|SCORE|MD|BW|hash|config-hash|t_delta)\s+="
    )
    option = re.compile(r"(API|n|transferSize|blockSize|stonewall-time|verbosity|api) = \S")
    fits = option if path.name == "config.ini" else told
    gone = rng.choice([index for index, line in enumerate(lines) if fits.match(line)])
    path.write_text("".join(lines[:gone] + lines[gone + 1 :]))


def cut_end(folder: Path, one: Made, rng: random.Random) -> None:
    """result.txt or config.ini ends early."""
    path = folder / rng.choice(("result.txt", "config.ini"))
    text = path.read_text()
    path.write_text(text[: rng.randrange(len(text) * 9 // 10)])


def no_file(folder: Path, one: Made, rng: random.Random) -> None:
    """result.txt or config.ini is gone."""
    (folder / rng.choice(("result.txt", "config.ini"))).unlink()


def other_option(folder: Path, one: Made, rng: random.Random) -> None:
    """config.ini says other options than those of the run."""
    section, key = rng.choice((("mdtest-easy", "n"), ("ior-easy", "blockSize")))
    one.options[section][key] = rng.choice(("3", "17", "99"))
    (folder / "config.ini").write_text(_ini_text(one.options))


FORGERIES = (
    forge_summary,
    forge_both,
    forge_hash,
    forge_result,
    forge_procs,
    forge_time,
    cut_line,
    cut_end,
    no_file,
    other_option,
)
