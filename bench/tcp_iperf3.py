"""TCP streams of the kernel tcp_pairs, against iperf3 between the same addresses in the same run.

Both send blocks of 128 KiB over one connection within a name space of its own: as quick as its
loopback is, and through a token bucket of 1 Gbit/s. A ratio is the kernel's bytes per second
divided by those that iperf3's server received: 1 is the same. Beside it stands the noise: the same
ratio between neighbouring runs of iperf3. Needs root, iproute2 and iperf3.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import phase, plan  # noqa: E402
from venturi.model.plan import Kernel, Option  # noqa: E402

SPACE = f"venturi-bench-{os.getpid()}"
WITHIN = ["ip", "netns", "exec", SPACE]
LIMIT = ["tbf", "rate", "1gbit", "burst", "256kb", "latency", "50ms"]


def ours(engine: str, place: Path, seconds: float) -> float:
    """Bytes per second of the kernel in one sample."""
    wanted = {"way": "one", "samples": "1", "sample_s": str(seconds), "messages": "1"}
    step = Kernel(name="tcp_pairs", options=[Option(name=k, value=v) for k, v in wanted.items()])
    made = plan(place, [], [phase("tcp", step)], ranks=2)
    command = [*WITHIN, engine, "run", "--forked", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        event = json.loads(line)
        if event["event"] == "phase_finished":
            [kernel] = event["kernels"]
            series = {one["name"]: one for one in kernel["series"]}
            return float(series["loopback bandwidth"]["points"][0]["samples"][0])
    raise RuntimeError(out)


def theirs(seconds: float) -> float:
    """Bytes per second of iperf3."""
    server = subprocess.Popen(
        [*WITHIN, "iperf3", "-s", "-1", "--forceflush"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    while "listening" not in server.stdout.readline():
        pass
    words = ["-c", "127.0.0.1", "-t", str(max(1, round(seconds))), "-l", "128K", "-J"]
    done = subprocess.run([*WITHIN, "iperf3", *words], capture_output=True, text=True, check=True)
    server.communicate()
    return float(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]) / 8


def compare(engine: str, name: str, seconds: float, pairs: int) -> None:
    """Prints the ratio over some pairs of runs."""
    ratios: list[float] = []
    noise: list[float] = []
    last = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for pair in range(pairs):
            mine = ours(engine, Path(folder), seconds) if pair % 2 else 0.0
            other = theirs(seconds)
            mine = mine or ours(engine, Path(folder), seconds)
            ratios.append(mine / other)
            if last:
                noise.append(other / last)
            last = other
    print(
        f"TCP, {name}: {statistics.median(ratios):.3f} of iperf3 "
        f"[{min(ratios):.3f} .. {max(ratios):.3f}, {pairs} pairs; "
        f"iperf3 against itself {min(noise):.3f} .. {max(noise):.3f}; last {last / 1e6:.0f} MB/s]",
        flush=True,
    )


def main() -> None:
    """Runs both comparisons in a name space that is removed at the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    for program in ("iperf3", "ip", "tc"):
        if shutil.which(program) is None:
            sys.exit(f"tcp_iperf3: {program} is missing: run `packaging/prepare bench`")
    engine = str(arguments.engine_dir / "venturi-engine")
    subprocess.run(["ip", "netns", "add", SPACE], check=True)
    try:
        subprocess.run(["ip", "-n", SPACE, "link", "set", "lo", "up"], check=True)
        compare(engine, "loopback", arguments.seconds, arguments.pairs)
        device = ["tc", "-n", SPACE, "qdisc", "add", "dev", "lo", "root"]
        subprocess.run([*device, *LIMIT], check=True)
        compare(engine, "1 Gbit/s", arguments.seconds, arguments.pairs)
    finally:
        subprocess.run(["ip", "netns", "del", SPACE], check=True)


if __name__ == "__main__":
    main()
