"""A test of IOR as a workload: its arithmetic, its order of phases, its names of files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from venturi.compat.ior_interface import INTERFACES, Reached, reach, strides
from venturi.compat.ior_key import TOOL
from venturi.compat.ior_memory import occupied_share
from venturi.compat.ior_refuse import refuse
from venturi.compat.ior_test import IorTest
from venturi.model.error import UserError
from venturi.model.interface import Interface
from venturi.model.interface_entry import InterfaceEntry
from venturi.model.workload import Workload

WITHOUT_STORAGE = tuple(
    name for name, ours in INTERFACES.items() if not Interface(ours).entry.reaches_storage
)
"""Interfaces of IOR that make no files."""
_ELEMENT_BYTES = 8
_US = 1e-6

Step = dict[str, Any]
SELF = "self"


@dataclass(frozen=True)
class TaskLayout:
    """How many tasks there are, and how they lie on the nodes: in blocks, node by node."""

    ranks: int
    nodes: int = 1

    @property
    def ranks_per_node(self) -> int:
        """Tasks of the first node."""
        return -(-self.ranks // self.nodes)


@dataclass(frozen=True)
class Existing:
    """The directory of existing files that a test reads, and their sizes in bytes by name."""

    directory: str = ""
    file_bytes: dict[str, int] = field(default_factory=dict)


@dataclass
class Lowered:
    """The workload of a test, and what its reader must know beside the record."""

    workload: Workload
    warnings: list[str] = field(default_factory=list)


def lower(
    test: IorTest, layout: TaskLayout, existing: Existing = Existing(), seed: int = 1
) -> Lowered:
    """The workload that does what a test asks for; `existing` is for a test without a write.

    Raises UserError for what cannot run, by its name.
    """
    refuse(test)
    return _IorLowering(test, layout, existing, seed).workload()


def file_names(test: IorTest, ranks: int, repetition: int = 0) -> list[str]:
    """IOR's names of the files of a test, relative to its directory, in order of the tasks."""
    bases = [os.path.basename(path) for path in test.files]
    tail = f".{repetition}" if test.multi_file else ""
    if not test.file_per_process:
        return [bases[0] + tail]
    names = [f"{bases[rank % len(bases)]}.{rank:08d}{tail}" for rank in range(ranks)]
    return [f"{rank}/{n}" for rank, n in enumerate(names)] if test.unique_directory else names


def reader_place(test: IorTest, layout: TaskLayout, distance: int) -> str:
    """In whose place a reader acts (-C, -Z, -ZZ); -C goes `distance` nodes further.

    On one node IOR's distance is a multiple of the tasks, so that -C does nothing.
    """
    if test.reorder_random:
        return "random" if test.reorder_random == 1 else "permuted"
    if not test.reorder or layout.nodes == 1:
        return SELF
    if len(test.files) > 1:
        return f"shift {distance * layout.ranks_per_node % layout.ranks}"
    return f"nodes {distance}"


def _escaped(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


class _IorLowering:
    """Builds the document; one object for one test."""

    def __init__(self, test: IorTest, layout: TaskLayout, existing: Existing, seed: int) -> None:
        self._test = test
        self._layout = layout
        self._existing = existing
        self._seed = seed
        sharers = 1 if test.file_per_process else layout.ranks
        self._reached: Reached = reach(test, sharers * test.block_bytes * test.segments)
        self._warnings: list[str] = []
        directories = {os.path.dirname(path) for path in test.files}
        if len(directories) > 1:
            raise UserError(
                f"{TOOL}: -o with files of several directories is refused: a run has one "
                f"directory ({', '.join(sorted(directories))})",
                "make a run for each directory",
            )

    def workload(self) -> Lowered:
        """The whole document."""
        test = self._test
        document: dict[str, Any] = {
            "workload": 1,
            "name": f"ior-{test.number}" if test.number else "ior",
            "about": f"IOR's test {test.number}, interface {test.api}",
            "repeat": test.repetitions,
            "groups": {"tasks": {"ranks": self._layout.ranks}},
            "files": self._files(),
            "program": {"tasks": self._program()},
        }
        if test.operation_log:
            document["log_operations"] = True
        self._warn_of_cache()
        return Lowered(Workload.model_validate_json(json.dumps(document)), self._warnings)

    # --- files ---

    def _names(self) -> list[str]:
        """Our names of the files: one, or one for each entry of `-o a@b`."""
        count = len(self._test.files)
        return ["data"] if count == 1 else [f"data{index}" for index in range(count)]

    def _files(self) -> dict[str, Any]:
        paths = zip(self._names(), self._test.files, strict=True)
        return {name: self._file(os.path.basename(path)) for name, path in paths}

    def _file(self, base: str) -> dict[str, Any]:
        test = self._test
        path = _escaped(base)
        if test.file_per_process:
            path += ".{rank:08d}"
        if test.unique_directory:
            path = "{rank}/" + path
        if test.multi_file:
            path += ".{iteration}"
        shared = "rank" if test.file_per_process else "all"
        checks = test.check_read or test.check_write
        keys: dict[str, Any] = {"path": path, "shared": shared, **self._reached.file_keys()}
        if strides(test):
            keys["datasets"] = {"Dataset": self._rows()}
        if self._existing.directory:
            where = os.path.join(_escaped(self._existing.directory), path)
            keys.pop("stripe", None)  # it was made before
            content = {"content": {"verify": True}} if checks else {}
            return {**keys, "path": where, "foreign": True, **content}
        # A seed is given so that a later test can check the data: they bear stamps.
        keys["content"] = {"seed": test.signature, "verify": checks or test.signature > 0}
        keys["keep"] = test.keep or test.keep_with_error
        nothing_there = not test.writes and test.interface in WITHOUT_STORAGE
        if (test.use_existing and test.writes) or test.prefill_bytes or nothing_there:
            keys["prestage"] = test.block_bytes * test.segments
        if self._entry.has_datasets:
            keys["datasets"] = {"Dataset": self._dataset()}
        return keys

    def _dataset(self) -> dict[str, Any]:
        """IOR's array of native 64-bit integers for each segment."""
        test, ranks = self._test, self._layout.ranks
        if test.block_bytes % _ELEMENT_BYTES:
            raise UserError(f"{TOOL}: -b {test.block_bytes}: {test.api} needs a multiple of 8")
        sharers = 1 if test.file_per_process else ranks
        dataset: dict[str, Any] = {
            "count": test.segments,
            "type": "i64",
            "shape": [sharers * test.block_bytes // _ELEMENT_BYTES],
            "split": [sharers],
        }
        chunk = int(test.backend.get("hdf5.chunkSize", 0))
        if chunk:
            dataset["chunks"] = [max(1, chunk // _ELEMENT_BYTES)]
        return dataset

    def _rows(self) -> dict[str, Any]:
        """The bytes of a plain file as a table: a row for each segment."""
        test = self._test
        sharers = 1 if test.file_per_process else self._layout.ranks
        return {
            "type": "i8",
            "shape": [test.segments, sharers * test.block_bytes],
            "split": [1, sharers],
        }

    # --- program ---

    def _program(self) -> list[Any]:
        test = self._test
        steps: list[Any] = []
        keeps = (test.keep or test.keep_with_error) and not test.multi_file
        again = keeps and test.repetitions > 1 and not test.use_existing
        if test.writes and again:
            steps.append({"when": "iteration > 0", "do": [self._remove("remove-before")]})
        if test.writes:
            steps += self._delayed(self._write())
        if test.check_write:
            steps.append(self._read("check", self._place(test.node_offset + 1), timed=False))
        if test.reads:
            steps += self._delayed(self._read("read", self._place(test.node_offset), timed=True))
        if test.writes and not keeps and test.verbose and not test.keep:
            steps.append(self._remove("remove"))
        return steps

    def _delayed(self, step: Step) -> list[Step]:
        delay = self._test.delay_s
        return [{"compute": delay}, step] if delay else [step]

    def _place(self, distance: int) -> str:
        return reader_place(self._test, self._layout, distance)

    def _write(self) -> Step:
        test = self._test
        verb = "open" if test.use_existing or test.prefill_bytes else "create"

        def move(name: str) -> list[Any]:
            sync = [{"sync": {"on": name, "mode": "fsync"}}] if test.fsync else []
            return [*self._transfers("write", name), *sync]

        body = self._opened(verb, move, SELF, test.barriers)
        return {"phase": "write", **self._times(), **self._occupy(), "do": body}

    def _read(self, phase: str, place: str, *, timed: bool) -> Step:
        def move(name: str) -> list[Any]:
            return self._transfers("read", name, place, verify=self._checks(timed))

        times = self._times() if timed else {}
        body = self._opened("open", move, place, timed and self._test.barriers)
        return {"phase": phase, **times, **self._occupy(), "do": body}

    def _opened(
        self, verb: str, move: Callable[[str], list[Any]], place: str, barriers: bool
    ) -> list[Any]:
        """Opening, moving, closing; with -g all tasks wait for each other between them."""
        wait: list[Any] = ["barrier"] if barriers else []
        whose = _from(place)
        return [
            *self._each_file(lambda name: [{verb: name, **whose}], place),
            *wait,
            *self._each_file(move, place),
            *wait,
            *self._each_file(lambda name: [{"close": name, **whose}], place),
        ]

    def _checks(self, timed: bool) -> bool:
        return self._test.check_read or not timed

    def _remove(self, phase: str) -> Step:
        return {"phase": phase, "do": self._each_file(lambda name: [{"unlink": name}])}

    def _each_file(self, body: Callable[[str], list[Any]], place: str = SELF) -> list[Any]:
        """The steps on the one file, or on the file whose turn a rank's is (`-o a@b`)."""
        names = self._names()
        if len(names) == 1:
            return body(names[0])
        shift = place.removeprefix("shift ")
        owner = "rank" if place == SELF else f"(rank + {shift}) % ranks"
        return [
            {"when": f"{owner} % {len(names)} == {index}", "do": body(name)}
            for index, name in enumerate(names)
        ]

    def _occupy(self) -> Step:
        share = occupied_share(self._test, self._layout.ranks_per_node)
        return {"cache": {"occupy": share}} if share else {}

    def _times(self) -> Step:
        test = self._test
        keys: Step = {"at_least": test.least_s} if test.least_s else {}
        if test.stonewall_s:
            then = "same count" if test.wear_out else "stop"
            keys["limit"] = {"after": test.stonewall_s, "then": then}
        return keys

    # --- transfers ---

    def _transfers(
        self, verb: str, name: str, place: str = "self", verify: bool = True
    ) -> list[Step]:
        """The transfers of one task on one file, in IOR's order."""
        target = name
        if strides(self._test):
            return self._columns(verb, name, place, verify)
        if self._entry.has_datasets:
            target = f"{name}.Dataset"
        wants = self._wants(verb, target, verify)
        wants["transfer"] = self._test.transfer_bytes
        if self._test.random:
            return self._random(verb, wants, place)
        return [_step(verb, {**wants, **shape}, place) for shape in self._regular(target)]

    def _wants(self, verb: str, target: str, verify: bool) -> Step:
        wants: Step = {"to" if verb == "write" else "from": target, **self._extras(verb)}
        checks = self._test.check_read or self._test.check_write
        if not verify and (checks or (self._test.signature > 0 and not self._existing.directory)):
            wants["verify"] = False
        return wants

    def _columns(self, verb: str, name: str, place: str, verify: bool) -> list[Step]:
        """With derived types: call j moves the j-th transfer of the block of every segment."""
        test = self._test
        calls = test.block_bytes // test.transfer_bytes
        sharers = 1 if test.file_per_process else self._layout.ranks
        first = "0" if test.file_per_process else f"rank * {calls}"
        wants = {
            **self._wants(verb, f"{name}.Dataset", verify),
            "split": [1, sharers * calls],
            "part": f"{first} + transfer",
        }
        return [{"for": "transfer", "in": calls, "do": [_step(verb, wants, place)]}]

    @property
    def _entry(self) -> InterfaceEntry:
        return Interface(self._reached.interface).entry

    def _extras(self, verb: str) -> Step:
        test = self._test
        extras: Step = {}
        if test.collective and self._entry.can_collect:
            extras["collective"] = True
        if test.fsync_each and verb == "write":
            extras["sync"] = "fsync"
        if test.think_us:
            extras["think"] = test.think_us * _US
        if self._reached.depth > 1:
            extras["depth"] = self._reached.depth
        return extras

    def _regular(self, target: str) -> list[Step]:
        """Segments, blocks, transfers; cut where only the first transfers are wanted."""
        test = self._test
        if "." in target:
            if test.wear_out_transfers:
                raise UserError(
                    f"{TOOL}: stoneWallingWearOutIterations is refused with -a {test.api}: its "
                    "arrays are moved whole"
                )
            return [{}]
        whole = {"pattern": "segmented", "block": test.block_bytes}
        wanted = min(test.wear_out_transfers or test.transfers, test.transfers)
        per_block = test.block_bytes // test.transfer_bytes
        segments, rest = divmod(wanted, per_block)
        shapes = [{**whole, "segments": segments}] if segments else []
        if rest:
            shapes.append({"size": rest * test.transfer_bytes, "at": self._start(segments)})
        return shapes

    def _start(self, segment: int) -> str:
        """Where a rank's block of a segment begins."""
        test = self._test
        if test.file_per_process:
            return f"{segment * test.block_bytes}"
        step = self._layout.ranks * test.block_bytes
        return f"{segment * step} + rank * {test.block_bytes}"

    def _random(self, verb: str, wants: Step, place: str) -> list[Step]:
        test = self._test
        if test.wear_out_transfers:
            raise UserError(
                f"{TOOL}: stoneWallingWearOutIterations is refused with -z: which "
                "transfers were first is not known to a reader"
            )
        if test.random > 1:
            return self._by_chance(verb, wants, place)
        if test.segments == 1:
            return [_step(verb, {**wants, "pattern": "random", "size": test.block_bytes}, place)]
        sharers = 1 if test.file_per_process else self._layout.ranks
        inner = {
            **wants,
            "pattern": "random",
            "size": test.block_bytes,
            "at": f"segment * {sharers * test.block_bytes}",
        }
        return [{"for": "segment", "in": test.segments, "do": [_step(verb, inner, place)]}]

    def _by_chance(self, verb: str, wants: Step, place: str) -> list[Step]:
        """-zz: each segment's block anywhere in the file, transfers in order within it."""
        test = self._test
        chosen = f"draw(segment * ranks + rank, {self._blocks()}, {self._key()} + iteration)"
        inner = {**wants, "size": test.block_bytes, "at": f"{chosen} * {test.block_bytes}"}
        return [{"for": "segment", "in": test.segments, "do": [_step(verb, inner, place)]}]

    def _key(self) -> int:
        return self._test.random_seed if self._test.random_seed >= 0 else self._seed

    def _blocks(self) -> int:
        """Blocks of the file that -zz chooses from: of the file as it is, or will be."""
        test = self._test
        sharers = 1 if test.file_per_process else self._layout.ranks
        sizes = self._existing.file_bytes.values()
        if not sizes:
            return sharers * test.segments
        blocks = min(sizes) // test.block_bytes
        if blocks < 1:
            raise UserError(
                f"{TOOL}: -zz: a file of {min(sizes)} bytes has no block of {test.block_bytes}",
                "choose a smaller -b",
            )
        return blocks

    def _warn_of_cache(self) -> None:
        test, bypasses = self._test, bool(self._test.backend.get("posix.odirect"))
        if self._layout.nodes > 1 or bypasses or not test.reads or not test.writes:
            return
        if test.reorder or test.reorder_random:
            word = "-C" if test.reorder else "-Z"
            self._warnings.append(
                f"{word} on one node cannot defeat the cache: whoever reads, the data may still be "
                "in this node's memory"
            )


def _from(place: str) -> Step:
    return {} if place == SELF else {"from": place}


def _step(verb: str, wants: Step, place: str) -> Step:
    return {verb: wants, **_from(place)}
