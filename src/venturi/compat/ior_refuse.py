"""What IOR has and this program does not run: each by its name, with the reason."""

from __future__ import annotations

from collections.abc import Callable

from venturi.compat.ior_interface import strides
from venturi.compat.ior_key import TOOL
from venturi.compat.ior_test import IorTest
from venturi.model.error import UserError

_IsAsked = Callable[[IorTest], bool]

REFUSED: dict[str, tuple[_IsAsked, str]] = {
    "-y": (
        lambda test: test.dual_mount,
        "a run has one directory, and this wants a mount for each socket",
    ),
    "allocateBufferOnGPU": (
        lambda test: test.gpu_buffer != 0,
        "the engine has no memory on GPUs",
    ),
    "GPUid": (lambda test: test.gpu != -1, "the engine has no memory on GPUs"),
    "GPUDirect": (lambda test: test.gpu_direct, "the engine has no memory on GPUs"),
    "useSharedFilePointer": (
        lambda test: test.shared_pointer,
        "IOR itself has lost it; the engine gives every request its offset",
    ),
    "storeFileOffset": (
        lambda test: test.store_offset,
        "IOR itself has lost it; -R with its stamps finds misplaced data",
    ),
}
"""Option to whether a test asks for it, and why it does not run."""

COMBINATIONS: dict[str, tuple[_IsAsked, str, str]] = {
    "-z with -D before a read": (
        lambda test: bool(test.random) and test.stonewall_s > 0 and test.writes and test.reads,
        "readers cannot know which places the deadline left out",
        "write without -D, or read in a test of its own",
    ),
    "-R or -W without -w, with -a HDF5 or NCMPI": (
        lambda test: (
            (test.check_read or test.check_write)
            and not test.writes
            and test.interface in ("hdf5", "ncmpi")
        ),
        "the stamps of an earlier run are looked for where its file begins, and there these "
        "libraries have headers of their own",
        "write and check in one test: -w -r -R",
    ),
    "-E with -m": (
        lambda test: test.use_existing and test.multi_file and test.writes,
        "each repetition has a new file, so there is none to overwrite",
        "leave one of the two away",
    ),
    "-z with --mpiio.useFileView": (
        lambda test: bool(test.random and test.backend.get("mpiio.useFileView")),
        "a file view shows places in the order of the file",
        "leave one of the two away",
    ),
    "-D with --mpiio.useStridedDatatype, without -c": (
        lambda test: test.stonewall_s > 0 and strides(test) and not test.collective,
        "tasks set a view together before each call, and a task that the deadline stopped would "
        "be missing there",
        "add -c, or leave -D away",
    ),
    "stoneWallingWearOutIterations with --mpiio.useStridedDatatype": (
        lambda test: test.wear_out_transfers > 0 and strides(test),
        "one call moves a transfer of every segment, not the first so many of all",
        "choose -s so that the test is as long as you need",
    ),
    "minTimeDuration with --mpiio.useFileView": (
        lambda test: bool(test.least_s and test.backend.get("mpiio.useFileView")),
        "tasks repeat their transfers as often as each of them can, and set views together",
        "choose -s so that the test is as long as you need",
    ),
    "-Z with -o a@b": (
        lambda test: test.reorder_random > 0 and len(test.files) > 1,
        "whose file a task reads is drawn in the run, and which of several names it has is not",
        "use -C, or one name",
    ),
    "randomPrefill with -r alone": (
        lambda test: test.prefill_bytes > 0 and not test.writes,
        "it prepares the file of a write",
        "add -w",
    ),
}
"""Options that do not go together here: whether a test has them, why, and what to do."""


def refuse(test: IorTest) -> None:
    """Raise UserError for the first thing that a test wants and that does not run."""
    for name, (asked, reason) in REFUSED.items():
        if asked(test):
            raise UserError(f"{TOOL}: {name} is refused: {reason}")
    for name, (asked, reason, hint) in COMBINATIONS.items():
        if asked(test):
            raise UserError(f"{TOOL}: {name} is refused: {reason}", hint)
