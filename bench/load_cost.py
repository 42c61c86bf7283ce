"""What loading a capture costs in CPU time and memory, and that the cost grows linearly.

DXT of the version that PyDarshan reads is loaded by PyDarshan, too, in turn. Times there are of the
wall clock, imports and the start of the C library's process included. Memory is that of the process
which holds the operations; the C library has one of its own here.
"""

from __future__ import annotations

import resource
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

HEADER_BYTES = 1328
RANKS = 100
ROUNDS = 3
"""Of the comparison with PyDarshan."""


def dxt_log(path: Path, count: int, version: int = 2) -> None:
    """A log of 100 ranks with `count` writes to one file (DXT_POSIX, version 1 or 2)."""
    ranks = RANKS
    each = count // ranks
    maps = [(0, 0)] * 65
    job = struct.pack("<7q", 0, 1_700_000_000, 0, 1_700_001_000, 0, ranks, 1).ljust(1200, b"\0")
    regions = [zlib.compress(job), zlib.compress(struct.pack("<Q", 7) + b"/scratch/f\0")]
    packer = zlib.compressobj(1)
    packed = []
    for rank in range(ranks):
        packed.append(packer.compress(struct.pack("<Qqq64sqq", 7, rank, 0, b"node", each, 0)))
        rows = np.zeros((each, 5), "<i8")
        rows[:, 0] = (np.arange(each) * ranks + rank) * 4096
        rows[:, 1] = 4096
        starts = np.arange(each) * 1e-4 + rank * 1e-6
        rows[:, 2], rows[:, 3] = starts.view("<i8"), (starts + 5e-5).view("<i8")
        rows[:, 4] = 140_000_000 + rank
        packed.append(packer.compress(rows[:, : 3 + version].tobytes()))
    packed.append(packer.flush())
    regions.append(b"".join(packed))
    place = HEADER_BYTES + len(regions[0])
    maps[0] = (place, len(regions[1]))
    maps[11] = (place + len(regions[1]), len(regions[2]))
    head = struct.pack("<8sqQQ", b"3.41", 6567223, 0, 0)
    head += b"".join(struct.pack("<QQ", *one) for one in maps)
    head += struct.pack("<64I", *(version if place == 10 else 0 for place in range(64)))
    path.write_bytes(head + b"".join(regions))


def dxt_text(path: Path, count: int) -> None:
    """The same as darshan-dxt-parser prints it."""
    with path.open("w") as out:
        out.write("# darshan log version: 3.41\n# start_time: 1700000000\n# nprocs: 100\n")
        out.write("# run time: 1000.0\n\n# DXT_POSIX module data\n")
        for rank in range(100):
            out.write("\n# DXT, file_id: 7, file_name: /scratch/f\n")
            out.write(f"# DXT, rank: {rank}, hostname: node\n")
            out.write(f"# DXT, write_count: {count // 100}, read_count: 0\n")
            out.writelines(
                f" X_POSIX {rank:7} write {k:8} {(k * 100 + rank) * 4096:15} {4096:15} "
                f"{k * 1e-4:11.4f} {k * 1e-4 + 5e-5:11.4f}   N/A\n"
                for k in range(count // 100)
            )


def strace_text(path: Path, count: int) -> None:
    """One process that writes a file."""
    with path.open("w") as out:
        out.write(
            '77  1700000000.000000 openat(AT_FDCWD</scratch>, "f", O_RDWR|O_CREAT|O_TRUNC, 0644) '
            "= 3</scratch/f> <0.000010>\n"
        )
        out.writelines(
            f'77  {1_700_000_000 + k // 10_000}.{k % 10_000 * 100:06} write(3</scratch/f>, ""..., '
            "4096) = 4096 <0.000020>\n"
            for k in range(1, count)
        )


def strace_places(path: Path, count: int) -> None:
    """One process that writes at places of its own: no two lines are alike."""
    with path.open("w") as out:
        out.write(
            '77  1700000000.000000 openat(AT_FDCWD</scratch>, "f", O_RDWR|O_CREAT|O_TRUNC, 0644) '
            "= 3</scratch/f> <0.000010>\n"
        )
        out.writelines(
            f"77  {1_700_000_000 + k // 10_000}.{k % 10_000 * 100:06} pwrite64(3</scratch/f>, "
            f'""..., 4096, {k * 8192}) = 4096 <0.000020>\n'
            for k in range(1, count)
        )


def dftracer_text(path: Path, count: int) -> None:
    """One process that writes a file."""
    with path.open("w") as out:
        out.write('[\n{"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":')
        out.write('{"name":"/scratch/f","value":"ab"}}\n')
        out.writelines(
            f'{{"id":{k},"name":"write","cat":"POSIX","pid":7,"tid":7,"ts":{1_700_000_000 + 10 * k}'
            ',"dur":5,"ph":"X","args":{"hhash":"h","ret":4096,"count":4096,"fhash":"ab"}}\n'
            for k in range(count)
        )


def dftracer_places(path: Path, count: int) -> None:
    """One process that writes at places of its own: no two lines are alike."""
    with path.open("w") as out:
        out.write('[\n{"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":')
        out.write('{"name":"/scratch/f","value":"ab"}}\n')
        out.writelines(
            f'{{"id":{k},"name":"pwrite","cat":"POSIX","pid":7,"tid":7,'
            f'"ts":{1_700_000_000 + 10 * k},"dur":5,"ph":"X",'
            f'"args":{{"hhash":"h","ret":4096,"offset":{k * 8192},"fhash":"ab"}}}}\n'
            for k in range(count)
        )


def recorder_text(path: Path, count: int) -> None:
    """One rank that writes a file."""
    with path.open("w") as out:
        out.write("0.000001 0.000002 open 0 0 ( /scratch/f 577 436 )\n")
        out.writelines(
            f"{k * 1e-5:.6f} {k * 1e-5 + 5e-6:.6f} write 0 0 ( /scratch/f %p 4096 )\n"
            for k in range(1, count)
        )


def recorder_places(path: Path, count: int) -> None:
    """One rank that writes at places of its own: no two lines are alike."""
    with path.open("w") as out:
        out.write("0.000001 0.000002 open 0 0 ( /scratch/f 577 436 )\n")
        out.writelines(
            f"{k * 1e-5:.6f} {k * 1e-5 + 5e-6:.6f} pwrite 0 0 ( /scratch/f %p 4096 {k * 8192} )\n"
            for k in range(1, count)
        )


def trace_folder(path: Path, count: int) -> None:
    """A folder of Venturi."""
    from venturi.model.operation import operations_of
    from venturi.model.trace import Process, Trace, TracedFile, TracedJob, TraceSource
    from venturi.model.trace_folder import Captured, write_trace

    starts = np.arange(count) * 1000
    operations = operations_of(
        kind=np.full(count, 3),
        file=np.zeros(count),
        offset=starts * 4,
        bytes=starts * 0 + 4096,
        start_ns=starts,
        end_ns=starts + 500,
    )
    trace = Trace(
        source=TraceSource(format="bench", file="bench"),
        job=TracedJob(ranks=1, seconds=1.0),
        layers=[],
        records=[],
        record_count=0,
        files=[TracedFile(path="/scratch/f")],
        processes=[Process(rank=0)],
        operation_count=count,
    )
    write_trace(path, Captured(trace, operations))


def load(path: str, answer: Any) -> None:
    """In a process of its own: CPU seconds, peak memory, operations."""
    from venturi.sources.counting import counters_of
    from venturi.sources.open import read_capture

    begin = time.process_time()
    captured = read_capture(path)
    loaded = time.process_time()
    assert captured.operations is not None
    counters_of(captured.operations, captured.trace.files, captured.trace.processes)
    counted = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    answer.put((loaded - begin, counted - loaded, peak, len(captured.operations)))


def load_by_pydarshan(path: str) -> None:
    """The single operations of a log, as PyDarshan holds them."""
    import darshan

    report = darshan.DarshanReport(path, read_all=False)
    report.mod_read_all_dxt_records("DXT_POSIX")
    assert len(report.records["DXT_POSIX"]) == RANKS


def load_here(path: str) -> None:
    """The same by Venturi."""
    from venturi.sources.open import read_capture

    assert read_capture(path).operations is not None


def timed(work: Callable[[str], None], path: str, answer: Any) -> None:
    """In a process of its own: seconds, peak memory in bytes."""
    begin = time.perf_counter()
    work(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer.put((time.perf_counter() - begin, peak))


def beside_pydarshan(most: int) -> None:
    """Prints the medians of both, and their ratio."""
    context = get_context("spawn")
    print("\nDXT, binary, version 1   operations   Venturi s   MB   PyDarshan s   MB   ratios")
    for count in (most // 10, most // 2):
        found: dict[str, list[tuple[float, float]]] = {"here": [], "pydarshan": []}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.darshan"
            dxt_log(path, count, version=1)
            for _ in range(ROUNDS):
                for name, work in (("here", load_here), ("pydarshan", load_by_pydarshan)):
                    answer = context.SimpleQueue()
                    child = context.Process(target=timed, args=(work, str(path), answer))
                    child.start()
                    found[name].append(answer.get())
                    child.join()
        ours, theirs = (np.median(found[name], axis=0) for name in found)
        times, memory = ours / theirs
        print(
            f"{'':24} {count:10} {ours[0]:11.2f} {ours[1] / 1e6:5.0f} {theirs[0]:12.2f} "
            f"{theirs[1] / 1e6:5.0f}   {times:.2f} {memory:.2f}"
        )


def cases(most: int) -> Iterator[tuple[str, Callable[[Path, int], None], int]]:
    for count in (most // 10, most):
        yield "DXT, binary", dxt_log, count
        yield "trace folder", trace_folder, count
    for count in (most // 100, most // 10):
        yield "DXT, text", dxt_text, count
        yield "strace", strace_text, count
        yield "strace, places", strace_places, count
        yield "dftracer", dftracer_text, count
        yield "dftracer, places", dftracer_places, count
        yield "Recorder, text", recorder_text, count
        yield "Recorder, places", recorder_places, count


def main() -> None:
    """Usage: load_cost.py [MOST]: the most operations (default 10 million; texts a tenth)."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    print("format            operations   load s   count s   peak GiB   load s per million (CPU)")
    for number, (name, make, count) in enumerate(cases(most)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"case{number}"
            context = get_context("spawn")
            maker = context.Process(target=make, args=(path, count))
            maker.start()
            maker.join()
            answer = context.SimpleQueue()
            child = context.Process(target=load, args=(str(path), answer))
            child.start()
            seconds, counting, peak, found = answer.get()
            child.join()
        print(
            f"{name:16} {found:11} {seconds:8.2f} {counting:9.2f} {peak:10.2f} "
            f"{seconds / found * 1e6:12.2f}"
        )
    beside_pydarshan(most)


if __name__ == "__main__":
    main()
