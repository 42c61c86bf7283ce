"""IOR's options and script keys: every name it knows, and which value of a test each one sets."""

from __future__ import annotations

from dataclasses import dataclass

from venturi.compat.option import CommandOption, OptionKind

TOOL = "ior"
DIRECTIVES, SCRIPT, HELP = "directives", "script", "help"
"""Options of the command line that are no values of a test: -O, -f, -h."""


@dataclass(frozen=True)
class Key:
    """One value of a test: its name here, IOR's names of it in scripts, and its letter."""

    name: str
    kind: OptionKind
    keys: tuple[str, ...]
    short: str = ""
    longs: tuple[str, ...] = ()


def _key(name: str, kind: OptionKind, keys: str, short: str = "", longs: str = "") -> Key:
    return Key(name, kind, tuple(keys.split()), short, tuple(longs.split()))


_FLAG, _NUMBER, _REAL, _TEXT = OptionKind.FLAG, OptionKind.NUMBER, OptionKind.REAL, OptionKind.TEXT

KEYS = (
    _key("api", _TEXT, "api", "a"),
    _key("reference", _NUMBER, "refnum", "A"),
    _key("block_bytes", _NUMBER, "blockSize", "b"),
    _key("collective", _FLAG, "collective", "c", "collective"),
    _key("reorder", _FLAG, "reorderTasks reorderTasksConstant", "C"),
    _key("delay_s", _REAL, "interTestDelay", "d"),
    _key("stonewall_s", _NUMBER, "deadlineForStonewalling", "D"),
    _key("wear_out", _FLAG, "stoneWallingWearOut"),
    _key("wear_out_transfers", _NUMBER, "stoneWallingWearOutIterations"),
    _key("status_file", _TEXT, "stoneWallingStatusFile"),
    _key("least_s", _NUMBER, "minTimeDuration"),
    _key("fsync", _FLAG, "fsync", "e"),
    _key("use_existing", _FLAG, "useExistingTestFile", "E"),
    _key("file_per_process", _FLAG, "filePerProc", "F"),
    _key("barriers", _FLAG, "intraTestBarriers", "g"),
    _key("signature", _NUMBER, "setTimeStampSignature", "G"),
    _key("repetitions", _NUMBER, "repetitions", "i"),
    _key("outlier_s", _NUMBER, "outlierThreshold", "j"),
    _key("keep", _FLAG, "keepFile", "k"),
    _key("keep_with_error", _FLAG, "keepFileWithError", "K"),
    _key("packet", _TEXT, "dataPacketType", "l", "dataPacketType"),
    _key("multi_file", _FLAG, "multiFile", "m"),
    _key("memory", _TEXT, "memoryPerNode", "M", "memoryPerNode"),
    _key("memory_per_task", _TEXT, "memoryPerTask"),
    _key("tasks", _NUMBER, "numTasks", "N"),
    _key("nodes", _NUMBER, "numNodes"),
    _key("tasks_on_node", _NUMBER, "numTasksOnNode0"),
    _key("file", _TEXT, "testFile", "o"),
    _key("node_offset", _NUMBER, "taskPerNodeOffset", "Q"),
    _key("read", _FLAG, "readFile", "r"),
    _key("write", _FLAG, "writeFile", "w"),
    _key("check_read", _FLAG, "checkRead", "R"),
    _key("check_write", _FLAG, "checkWrite", "W"),
    _key("segments", _NUMBER, "segmentCount", "s"),
    _key("transfer_bytes", _NUMBER, "transferSize", "t"),
    _key("most_minutes", _NUMBER, "maxTimeDuration", "T"),
    _key("unique_directory", _FLAG, "uniqueDir", "u"),
    _key("verbose", _FLAG, "verbose", "v"),
    _key("single_attempt", _FLAG, "singleXferAttempt", "x"),
    _key("reorder_seed", _NUMBER, "reorderTasksRandomSeed", "X"),
    _key("dual_mount", _FLAG, "dualMount", "y", "dualMount"),
    _key("fsync_each", _FLAG, "fsyncPerWrite", "Y"),
    _key("random", _FLAG, "randomOffset", "z"),
    _key("prefill_bytes", _NUMBER, "randomPrefill", "", "randomPrefill"),
    _key("random_seed", _NUMBER, "random-offset-seed", "", "random-offset-seed"),
    _key("reorder_random", _FLAG, "reorderTasksRandom", "Z"),
    _key("warnings_fail", _FLAG, "warningAsErrors", "", "warningAsErrors"),
    _key("dry_run", _FLAG, "dryRun", "", "dryRun"),
    _key("think_us", _NUMBER, "interIODelay"),
    _key("summary_format", _TEXT, "summaryFormat"),
    _key("summary_file", _TEXT, "summaryFile"),
    _key("summary_always", _FLAG, "summaryAlways"),
    _key("rank_details", _TEXT, "saveRankPerformanceDetailsCSV"),
    _key("operation_log", _TEXT, "savePerOpDataCSV"),
    _key("platform", _TEXT, "platform"),
    _key("debug", _TEXT, "debug"),
    _key("gpu_buffer", _NUMBER, "allocateBufferOnGPU"),
    _key("gpu", _NUMBER, "GPUid"),
    _key("gpu_direct", _FLAG, "GPUDirect"),
    _key("quit_on_error", _FLAG, "quitOnError"),
    _key("shared_pointer", _FLAG, "useSharedFilePointer"),
    _key("store_offset", _FLAG, "storeFileOffset"),
)

BACKEND_OPTIONS = {
    "posix.odirect": _FLAG,
    "posix.rangelocks": _FLAG,
    "lustre.stripecount": _NUMBER,
    "lustre.stripesize": _NUMBER,
    "lustre.startost": _NUMBER,
    "lustre.ignorelocks": _FLAG,
    "lustre.pool": _TEXT,
    "beegfs.NumTargets": _NUMBER,
    "beegfs.ChunkSize": _NUMBER,
    "gpfs.hintaccess": _FLAG,
    "gpfs.releasetoken": _FLAG,
    "gpfs.finegrainwritesharing": _FLAG,
    "gpfs.finegrainreadsharing": _FLAG,
    "gpfs.createsharing": _FLAG,
    "aio.max-pending": _NUMBER,
    "aio.granularity": _NUMBER,
    "mpiio.hintsFileName": _TEXT,
    "mpiio.showHints": _FLAG,
    "mpiio.preallocate": _FLAG,
    "mpiio.useStridedDatatype": _FLAG,
    "mpiio.useFileView": _FLAG,
    "hdf5.hintsFileName": _TEXT,
    "hdf5.showHints": _FLAG,
    "hdf5.collectiveMetadata": _FLAG,
    "hdf5.individualDataSets": _FLAG,
    "hdf5.setAlignment": _NUMBER,
    "hdf5.noFill": _FLAG,
    "hdf5.chunkSize": _NUMBER,
    "ncmpi.hintsFileName": _TEXT,
    "ncmpi.showHints": _FLAG,
    "ncmpi.preallocate": _FLAG,
    "ncmpi.useStridedDatatype": _FLAG,
    "ncmpi.useFileView": _FLAG,
    "mmap.madv_dont_need": _FLAG,
    "mmap.madv_pattern": _FLAG,
    "dummy.delay-create": _NUMBER,
    "dummy.delay-close": _NUMBER,
    "dummy.delay-sync": _NUMBER,
    "dummy.delay-xfer": _NUMBER,
    "dummy.delay-only-rank0": _FLAG,
    "username": _TEXT,
    "dfs.pool": _TEXT,
    "dfs.group": _TEXT,
    "dfs.cont": _TEXT,
    "dfs.chunk_size": _NUMBER,
    "dfs.oclass": _TEXT,
    "dfs.dir_oclass": _TEXT,
    "dfs.prefix": _TEXT,
    "dfs.destroy": _FLAG,
}
"""What each backend of IOR takes as `--name` or `--name=value`."""

_INTERFACE_MODULES = {"MPIIO": "mpiio", "HDF5": "hdf5", "NCMPI": "ncmpi"}

LEGACY_KEYS = {
    "useO_DIRECT": "posix.odirect",
    "lustreStripeCount": "lustre.stripecount",
    "lustreStripeSize": "lustre.stripesize",
    "lustreStartOST": "lustre.startost",
    "lustreIgnoreLocks": "lustre.ignorelocks",
    "beegfsNumTargets": "beegfs.NumTargets",
    "beegfsChunkSize": "beegfs.ChunkSize",
    "gpfsHintAccess": "gpfs.hintaccess",
    "gpfsReleaseToken": "gpfs.releasetoken",
    "hintsFileName": "{api}.hintsFileName",
    "showHints": "{api}.showHints",
    "preallocate": "{api}.preallocate",
    "useStridedDatatype": "{api}.useStridedDatatype",
    "useFileView": "{api}.useFileView",
    "collectiveMetadata": "hdf5.collectiveMetadata",
    "individualDataSets": "hdf5.individualDataSets",
    "setAlignment": "hdf5.setAlignment",
    "noFill": "hdf5.noFill",
}
"""Keys of older scripts, and the backend option that took their place."""

_OLD_LETTERS = {"mpiio.useFileView": "V", "mpiio.useStridedDatatype": "S"}
"""Letters that options of interfaces had before IOR 4."""

OPTIONS = (
    *(
        CommandOption(key.name, key.kind, key.short, long)
        for key in KEYS
        for long in (key.longs or (("",) if key.short else ()))
    ),
    *(
        CommandOption(name, kind, _OLD_LETTERS.get(name, ""), name)
        for name, kind in BACKEND_OPTIONS.items()
    ),
    CommandOption(DIRECTIVES, OptionKind.TEXT, "O"),
    CommandOption(SCRIPT, OptionKind.TEXT, "f"),
    CommandOption(HELP, OptionKind.FLAG, "h", "help"),
)
"""The table of the command line."""

KEY_BY_WORD = {word.lower(): key for key in KEYS for word in key.keys}
"""Values of a test by the names that scripts and -O use, in lower case."""


def legacy_option(word: str, api: str) -> str | None:
    """The backend option that an old key means, for the test's interface; None for others."""
    found = {key.lower(): option for key, option in LEGACY_KEYS.items()}.get(word.lower())
    if found is None:
        return None
    return found.replace("{api}", _INTERFACE_MODULES.get(api.upper(), "mpiio"))
