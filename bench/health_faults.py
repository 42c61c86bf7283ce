"""Faults that are really made, and how often health names them.

  rank    a busy loop is pinned to the processor of one rank, and the kernels run on one rank for
          each processor: how often is that rank named, and no other. Beside it as many without.
  link    one rank waits before each message to another one: how often is that link named.
  check   each kernel is told to spoil a value: how often does it give a number all the same.

A trial begins when others leave the machine alone, or after --patience, and its line says what
they did. Where they never do, --nice -15 gives ranks and busy loops alike a priority over them.
Printed are counts, each with its denominator.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from venturi.health.fault import named_faults
from venturi.health.load import noise_of, sampled_load
from venturi.model.health import NamedFault
from venturi.model.kernel import KERNELS
from venturi.model.record import Record

RANKS_WORKLOAD = """\
workload: 1
name: rank-faults
repeat: 2
program:
  main:
    - phase: triad
      do: [{kernel: {name: memory_triad, options: {array: 2 MiB, samples: 10}}}]
    - phase: arithmetic
      do: [{kernel: {name: compute_fma, options: {sample_s: 0.02}}}]
    - phase: multiplication
      do: [{kernel: {name: compute_dgemm, options: {n: 256, samples: 10}}}]
"""
LINKS_WORKLOAD = """\
workload: 1
name: link-faults
repeat: 1
parameters:
  from: {default: 0}
  to: {default: 0}
  slow: {default: 0}
program:
  main:
    - phase: links
      do:
        - kernel:
            name: links
            options: {size: 64 KiB, messages: 20, warmup: 3, mode: serial, slow_from: "{from}",
                      slow_to: "{to}", slow_s: "{slow}"}
"""
CHECK_WORKLOAD = """\
workload: 1
name: check-faults
repeat: 1
program:
  main:
    - phase: spoilt
      do: [{{kernel: {{name: {name}, options: {{damage: true{more}}}}}}}]
    - phase: sound
      do: [{{kernel: {{name: compute_fma, options: {{samples: 2, sample_s: 0.001}}}}}}]
"""
SMALL = {
    "memory_sweep": ", most: 64 KiB, sizes: 2, samples: 2",
    "memory_triad": ", array: 64 KiB",
    "memory_chase": ", most: 64 KiB, sizes: 2, samples: 2, loads: 1000",
    "compute_dgemm": ", n: 65, samples: 2",
    "compute_lu": ", n: 100",
    "compute_cg": ", nx: 16, ny: 16, nz: 16",
    "message_pairs": ", most: 4 KiB, size_s: 0.001",
    "message_collectives": ", most: 1 KiB, size_s: 0.001",
    "links": ", size: 1 KiB, messages: 4",
    "data_components": ", scale: 8",
    "data_fft": ", n: 32",
    "data_matrix": ", n: 33",
}


_LOOP_NICER = 5
"""A session of one loop outweighs a rank of a session of several: so they are about equal."""


def prefer(niceness: int) -> None:
    """Give this process a session of its own, and both that niceness."""
    if not niceness:
        return
    with contextlib.suppress(PermissionError):
        os.setsid()  # it leads one already
    os.nice(niceness)
    _prefer_session(os.getpid(), niceness)


def _prefer_session(process: int, niceness: int) -> None:
    """Linux shares processors among sessions first, where it groups tasks by them."""
    with contextlib.suppress(FileNotFoundError):
        Path(f"/proc/{process}/autogroup").write_text(str(niceness), "utf-8")


@contextlib.contextmanager
def busy(processor: int | None, count: int) -> Iterator[None]:
    """So many busy loops on one processor."""
    loops = []
    try:
        for _ in range(count if processor is not None else 0):
            line = [sys.executable, "-c", "while True: pass"]
            loops.append(subprocess.Popen(line, start_new_session=True))
            os.sched_setaffinity(loops[-1].pid, {processor or 0})
            _prefer_session(loops[-1].pid, min(os.nice(0) + _LOOP_NICER, 19))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def quiet(patience_s: float) -> str:
    """Wait until others leave the machine alone; what they did at the end."""
    end_s = time.monotonic() + patience_s
    while True:
        load = sampled_load()
        if not noise_of(load, "") or time.monotonic() > end_s:
            return f"others kept {load.busy_cpus:.2f} of {load.cpus} CPUs busy before"


def run(folder: Path, text: str, ranks: int, machine: str, *words: str) -> Record:
    """One run; also one whose kernel failed leaves a record."""
    path = folder / "workload.yaml"
    path.write_text(text, "utf-8")
    line = [sys.executable, "-m", "venturi", "run", str(path), "-d", str(folder), "-n", str(ranks),
            "--on", machine, "--store", str(folder / "store"), "-q", "--json", *words]  # fmt: skip
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3) or not done.stdout:
        raise SystemExit(f"{' '.join(line)} failed: {done.stderr}")
    return Record.model_validate_json(done.stdout, by_alias=True)


def ranks_trials(folder: Path, times: int, loops: int, patience_s: float) -> None:
    """A rank beside busy loops, turn and turn about with none."""
    processors = sorted(os.sched_getaffinity(0))
    draw = random.Random(7)
    named = alone = falsely = 0
    for trial in range(times):
        for is_made in (True, False):
            noise = quiet(patience_s)
            victim = draw.randrange(len(processors))
            with busy(processors[victim] if is_made else None, loops):
                record = run(folder, RANKS_WORKLOAD, len(processors), "local")
            faults = named_faults(record, [])
            right = any(_names(fault, victim) for fault in faults)
            others = sum(not _names(fault, victim) for fault in faults)
            named += is_made and right
            alone += is_made and right and not others
            falsely += not is_made and bool(faults)
            what = f"{loops} busy loops beside rank {victim}" if is_made else "no fault"
            print(f"rank {trial}: {what}; {noise}", flush=True)
            for fault in faults:
                print(f"    {fault.phase}: {fault.says}")
    print(f"rank: named in {named} of {times}, and no other rank in {alone} of {times}")
    print(f"rank: without a fault something was named in {falsely} of {times}")


def _names(fault: NamedFault, rank: int) -> bool:
    return fault.says.startswith(f"slow rank {rank} ")


def links_trials(folder: Path, times: int, ranks: int, slow_s: float, patience_s: float) -> None:
    """A link that is slow by a wait before each message one way."""
    draw = random.Random(11)
    named = falsely = 0
    for trial in range(times):
        first, second = sorted(draw.sample(range(ranks), 2))
        for is_made in (True, False):
            noise = quiet(patience_s)
            chosen = (f"from={first}", f"to={second}", f"slow={slow_s if is_made else 0}")
            words = [word for setting in chosen for word in ("--set", setting)]
            record = run(folder, LINKS_WORKLOAD, ranks, "openmpi", *words)
            faults = [fault.says for fault in named_faults(record, [])]
            right = any(f"slow link {first}-{second}" in text.lower() for text in faults)
            named += is_made and right
            falsely += not is_made and bool(faults)
            usual_s = record.metrics["links: median"].median
            made = f"{slow_s * 1e6:.0f} µs on {first}-{second}" if is_made else "no fault"
            print(f"link {trial}: {made}, median {usual_s * 1e6:.0f} µs; {noise}; {faults}")
    print(f"link: named in {named} of {times}; without a fault something was in {falsely}")


def checks_trials(folder: Path) -> None:
    """Each kernel with a spoilt value: FAILED, no number of it, and the next one has its own."""
    right = tried = 0
    for name, entry in KERNELS.items():
        if entry.needs_mpi and shutil.which("mpirun") is None:
            print(f"check {name}: left out, there is no mpirun")
            continue
        tried += 1
        machine, ranks = ("openmpi", 2) if entry.needs_mpi else ("local", 2)
        more = SMALL.get(name, ", records: 1000" if name.startswith("data_") else "")
        record = run(folder, CHECK_WORKLOAD.format(name=name, more=more), ranks, machine)
        failed = any(f"{name} FAILED" in reason for reason in record.verdict.reasons)
        numbers = [metric for metric in record.metrics if metric.startswith("spoilt")]
        fine = failed and not numbers and "sound: multiply-add" in record.metrics
        right += fine
        print(f"check {name}: {record.verdict.reasons[0]}{'' if fine else '  WRONG'}")
    print(f"check: FAILED without a number, and the next phase measured: {right} of {tried}")


def main() -> None:
    """Do what is asked for and print the counts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("rank", "link", "check"))
    options.add_argument("--times", type=int, default=10)
    options.add_argument("--loops", type=int, default=1, help="busy loops beside the rank")
    options.add_argument("--ranks", type=int, default=5, help="for links")
    options.add_argument("--slow-us", type=float, default=200.0, help="the wait of the slow link")
    options.add_argument("--nice", type=int, default=0, help="added to the niceness of all")
    options.add_argument("--patience", type=float, default=20.0, help="seconds to wait for quiet")
    chosen = options.parse_args()
    prefer(chosen.nice)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.what == "rank":
            ranks_trials(folder, chosen.times, chosen.loops, chosen.patience)
        elif chosen.what == "link":
            links_trials(folder, chosen.times, chosen.ranks, chosen.slow_us / 1e6, chosen.patience)
        else:
            checks_trials(folder)


if __name__ == "__main__":
    main()
