"""Behaves like the site's io500 where its caller looks: arguments, ini, files, what it prints.

Written from the files that the program leaves; it measures nothing, its numbers are made up.
VENTURI_STAND_IN=fail ends it in the middle, =abort as a launcher of MPI ends it, =log with its
reason in a log alone, =signal by a signal, =mute leaves no summary, =lost lets find match nothing.
"""

from __future__ import annotations

import configparser
import math
import os
import signal
import sys
from pathlib import Path

PHASES = {
    "ior-easy-write": ("GiB/s", 2.0),
    "mdtest-easy-write": ("kIOPS", 30.0),
    "timestamp": ("kIOPS", 0.0),
    "ior-hard-write": ("GiB/s", 0.5),
    "mdtest-hard-write": ("kIOPS", 10.0),
    "find": ("kIOPS", 700.0),
    "ior-easy-read": ("GiB/s", 3.0),
    "mdtest-easy-stat": ("kIOPS", 300.0),
    "ior-hard-read": ("GiB/s", 1.5),
    "mdtest-hard-stat": ("kIOPS", 400.0),
    "mdtest-easy-delete": ("kIOPS", 60.0),
    "mdtest-hard-read": ("kIOPS", 100.0),
    "mdtest-hard-delete": ("kIOPS", 20.0),
    "ior-rnd4K-easy-read": ("GiB/s", 0.3),
}
NOT_SCORED = ("timestamp", "ior-rnd4K-easy-read")


def mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


ABORTED = """
--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
with errorcode -1.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.
--------------------------------------------------------------------------
[host:05699] 1 more process has sent help message help-mpi-api.txt / mpi-abort
[host:05699] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""


def ended(way: str, result: Path) -> int:
    """Ends as it is to end; 0 to go on."""
    if way == "fail":
        print("io500: storage went away", file=sys.stderr)
        return 7
    if way == "abort":
        print("FATAL (src/util.c:9) Couldn't create directory /x (Error: No space left)")
        print(ABORTED, file=sys.stderr)
        return 255
    if way == "log":
        (result / "ior-easy-read.txt").write_text("tasks : 4\nior ERROR: open64 failed, errno 5\n")
        print(ABORTED, file=sys.stderr)
        return 255
    if way == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "lost":
        text = "[run]\nversion = io500-stand-in\nconfig-hash = 0\n[find]\nfound = 0\n"
        (result / "result.txt").write_text(text)
    return 0


def main() -> int:
    if os.environ.get("OMPI_COMM_WORLD_RANK", "0") != "0":
        return 0
    ini = configparser.ConfigParser()
    ini.read(sys.argv[1])
    mode = sys.argv[2].removeprefix("--mode=")
    shared = ini["global"]
    result, data = Path(shared["resultdir"]), Path(shared["datadir"])
    (data / "ior-easy").mkdir(parents=True, exist_ok=True)
    (data / "ior-easy" / "ior_file_easy.00000000").write_bytes(b"x" * 4096)
    stonewall = ini.get("debug", "stonewall-time", fallback="300")
    short = " [INVALID]" if stonewall != "300" else ""
    (result / "config.ini").write_text(f"[debug]\nstonewall-time = {stonewall}\n")
    (result / "config-orig.ini").write_text(Path(sys.argv[1]).read_text())
    lines = [f"IO500 version io500-stand-in ({mode})"]
    print(lines[0])
    for name, (unit, value) in PHASES.items():
        mark = "      " if name in NOT_SCORED else "RESULT"
        bad = short if name.endswith("write") else ""
        lines.append(f"[{mark}] {name:>20} {value:15.6f} {unit} : time 301.000 seconds{bad}")
        print(lines[-1], flush=True)
        if name == "find" and (code := ended(os.environ.get("VENTURI_STAND_IN", ""), result)):
            return code
    scored = {name: one for name, one in PHASES.items() if name not in NOT_SCORED}
    bw = mean([value for unit, value in scored.values() if unit == "GiB/s"])
    md = mean([value for unit, value in scored.values() if unit == "kIOPS"])
    total = math.sqrt(bw * md)
    lines.append(
        f"[SCORE ] Bandwidth {bw:.6f} GiB/s : IOPS {md:.6f} kiops : TOTAL {total:.6f}{short}"
    )
    print(lines[-1])
    if os.environ.get("VENTURI_STAND_IN") != "mute":
        (result / "result_summary.txt").write_text("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
