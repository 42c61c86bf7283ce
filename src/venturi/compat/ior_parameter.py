"""What IOR prints of a test before its numbers: its parameters, its options, its machine."""

from __future__ import annotations

from datetime import datetime

import venturi
from venturi.compat.ior_lower import file_names
from venturi.compat.ior_result import IorRun
from venturi.compat.ior_test import IorTest

FORM_VERSION = "4.1.0"
"""Of the tools whose forms of output these are."""
VERSION = f"{FORM_VERSION}+venturi-{venturi.__version__}"
"""The version whose output forms these are, and whose numbers."""

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"))
_PACKETS = {"t": 0, "i": 1, "o": 2, "r": 3}


def began(run: IorRun) -> str:
    """When the run began, as `ctime` writes it, in local time."""
    return datetime.fromisoformat(run.record.started).astimezone().strftime("%a %b %e %H:%M:%S %Y")


def finished_text(run: IorRun) -> str:
    """When the run's last phase ended, as `ctime` writes it."""
    return moment(
        run, max((row.at_s + row.seconds.total for row in run.record.phases), default=0.0)
    )


def moment(run: IorRun, at_s: float) -> str:
    """So many seconds after the run's begin, as `ctime` writes it."""
    start = datetime.fromisoformat(run.record.started).astimezone()
    then = datetime.fromtimestamp(start.timestamp() + at_s).astimezone()
    return then.strftime("%a %b %e %H:%M:%S %Y")


def machine(run: IorRun) -> str:
    """System and host."""
    return f"Linux {run.record.environment.host}"


def path(run: IorRun) -> str:
    """The test's first file, where its user said."""
    return f"{run.record.environment.directory}/{file_names(run.test, 1)[0]}"


def size_text(size_bytes: int) -> str:
    """A size in the largest unit that it reaches; bytes below one MiB, as IOR has it."""
    for unit, name in _UNITS:
        if size_bytes >= unit:
            whole = size_bytes % unit == 0
            return f"{size_bytes // unit} {name}" if whole else f"{size_bytes / unit:.2f} {name}"
    return f"{size_bytes} bytes"


def capacity(run: IorRun) -> dict[str, str]:
    """The file system's size and use, in words."""
    system = run.record.environment.file_system
    used = 1 - system.free_bytes / system.total_bytes if system.total_bytes else 0.0
    inodes = system.total_inodes
    used_inodes = 1 - system.free_inodes / inodes if inodes else 0.0
    return {
        "Capacity": f"{system.total_bytes / (1 << 30):.1f} GiB",
        "Used Capacity": f"{used * 100:.1f}%",
        "Inodes": f"{inodes / (1 << 20):.1f} Mi",
        "Used Inodes": f"{used_inodes * 100:.1f}%",
    }


def parameters(run: IorRun) -> dict[str, int | str]:
    """The 43 parameters of a test under IOR's names."""
    test, layout = run.test, run.layout
    return {
        "testID": test.number,
        "refnum": test.reference,
        "api": test.api.upper(),
        "platform": test.platform or f"{run.record.environment.host}(Linux)",
        "testFileName": test.file,
        "deadlineForStonewall": test.stonewall_s,
        "stoneWallingWearOut": int(test.wear_out),
        "maxTimeDuration": test.most_minutes,
        "outlierThreshold": test.outlier_s,
        "options": "(null)",
        "dryRun": int(test.dry_run),
        "nodes": layout.nodes,
        "memoryPerTask": 0,
        "memoryPerNode": 0,
        "tasksPerNode": layout.ranks_per_node,
        "repetitions": test.repetitions,
        "multiFile": int(test.multi_file),
        "interTestDelay": int(test.delay_s),
        "fsync": int(test.fsync),
        "fsyncperwrite": int(test.fsync_each),
        "useExistingTestFile": int(test.use_existing),
        "uniqueDir": int(test.unique_directory),
        "singleXferAttempt": int(test.single_attempt),
        "readFile": int(test.reads),
        "writeFile": int(test.writes),
        "filePerProc": int(test.file_per_process),
        "reorderTasks": int(test.reorder),
        "reorderTasksRandom": test.reorder_random,
        "reorderTasksRandomSeed": test.reorder_seed,
        "randomOffset": test.random,
        "checkWrite": int(test.check_write),
        "checkRead": int(test.check_read),
        "dataPacketType": _PACKETS[test.packet[:1].lower()],
        "keepFile": int(test.keep),
        "keepFileWithError": int(test.keep_with_error),
        "warningAsErrors": int(test.warnings_fail),
        "verbose": test.verbose,
        "data packet type": test.packet[:1].lower(),
        "setTimeStampSignature/incompressibleSeed": test.signature,
        "collective": int(test.collective),
        "segmentCount": test.segments,
        "transferSize": test.transfer_bytes,
        "blockSize": test.block_bytes,
    }


def options(run: IorRun) -> dict[str, int | str]:
    """The block of options in words."""
    test, layout = run.test, run.layout
    sharing = "file-per-process" if test.file_per_process else "single-shared-file"
    return {
        "api": test.api.upper(),
        "apiVersion": "",
        "test filename": test.file,
        "access": sharing,
        "type": "collective" if test.collective else "independent",
        "segments": test.segments,
        "ordering in a file": "random" if test.random else "sequential",
        **_reordering(test),
        "nodes": layout.nodes,
        "tasks": layout.ranks,
        "clients per node": layout.ranks_per_node,
        "memoryBuffer": "CPU",
        "dataAccess": "CPU",
        "GPUDirect": "0",
        "repetitions": test.repetitions,
        "xfersize": size_text(test.transfer_bytes),
        "blocksize": size_text(test.block_bytes),
        "aggregate filesize": size_text(test.block_bytes * test.segments * layout.ranks),
        **({"verbose": test.verbose} if test.verbose else {}),
        **_walls(test),
    }


def _reordering(test: IorTest) -> dict[str, int | str]:
    if test.reorder:
        return {"ordering inter file": "constant task offset", "task offset": test.node_offset}
    if test.reorder_random:
        return {"ordering inter file": "random task offset", "task offset": test.node_offset}
    return {"ordering inter file": "no tasks offsets"}


def _walls(test: IorTest) -> dict[str, int | str]:
    if not test.stonewall_s:
        return {}
    return {
        "stonewallingTime": test.stonewall_s,
        "stoneWallingWearOut": int(test.wear_out),
    }
