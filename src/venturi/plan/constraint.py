"""What the files of each interface can hold, and files of a plan that theirs cannot.

What a library would refuse, or do otherwise than asked, in the middle of a run is refused here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from venturi.model import plan as p
from venturi.model.error import UserError
from venturi.model.interface_entry import FormatLimits, OptionWord
from venturi.plan.flat_key import check_flat_keys
from venturi.plan.signal import end_of
from venturi.plan.walk import Nesting, leaves

_MOST_CHUNK_BYTES = 2**32 - 1
_MOST_CDF2 = 2**32 - 4
"""Of a dimension's elements, and of the bytes of each variable but the last."""


def check_constraints(plan: p.Plan) -> None:
    """Raise UserError for the first file that its interface cannot hold.

    Files that no step of the plan uses with these parameters are passed over.
    """
    check_flat_keys(plan)
    used = {step.file for group in plan.groups for step in _on_files(group.program)}
    for index in sorted(used):
        _check_file(plan.files[index])
    for maker in plan.groups:
        _check_synced(plan, _twice(maker.program), set())
        for reader in plan.groups:
            if maker is not reader:
                _check_readable(plan, maker, reader)


def _limits(file: p.File) -> FormatLimits:
    limits = file.interface.entry.format
    return replace(limits, chunks=True) if _has(file, limits.chunks_with) else limits


def _has(file: p.File, wanted: OptionWord | None) -> bool:
    """Return whether an option of a file is set to a word."""
    if wanted is None:
        return False
    values = (option.value for option in file.options if option.name == wanted.option)
    return next(values, "") == wanted.word


def _check_file(file: p.File) -> None:
    where, limits = f"files.{file.name}", _limits(file)
    is_bytes = len(file.datasets) == 1 and file.datasets[0].type is p.ElementType.I8
    if not limits.shapes and file.datasets and not (is_bytes and file.datasets[0].copies == 1):
        raise UserError(
            f"{where}: a file of {file.interface.value} holds one row of bytes, no datasets",
            "choose an interface with datasets: hdf5, netcdf; or leave out 'datasets'",
        )
    for dataset in file.datasets:
        _check_chunks(file, dataset, limits, f"{where}.datasets.{dataset.name}")
    if _has(file, limits.narrow_with):
        _check_narrow(file, limits, where)


def _check_chunks(file: p.File, dataset: p.Dataset, limits: FormatLimits, where: str) -> None:
    if not dataset.chunk:
        return
    if not limits.chunks:
        other = limits.chunks_with
        raise UserError(
            f"{where}: a file of {file.interface.value}"
            f"{' in a classic format' if other else ''} has no chunks",
            "leave out 'chunks', or choose "
            + (f"'{other.text}' (--set interface.{other.setting})" if other else "hdf5"),
        )
    chunk_bytes = math.prod(dataset.chunk) * dataset.type.bytes
    if chunk_bytes > _MOST_CHUNK_BYTES:
        raise UserError(f"{where}: a chunk of {chunk_bytes} B: HDF5 has chunks below 4 GiB only")


def _check_narrow(file: p.File, limits: FormatLimits, where: str) -> None:
    """Raise UserError for a dataset that is too large for a format of 32 bits."""
    narrow, wide = limits.narrow_with, limits.wide_with
    name = narrow.word if narrow else ""
    advice = f"choose the option '{wide.text}'" if wide else ""
    last = file.datasets[-1] if file.datasets else None
    for dataset in file.datasets:
        place = f"{where}.datasets.{dataset.name}"
        if dataset.type is p.ElementType.I64:
            raise UserError(f"{place}: the format {name} has no i64", advice)
        whole = math.prod(dataset.shape) * dataset.type.bytes
        alone = dataset is last and dataset.copies == 1
        if max(dataset.shape) > _MOST_CDF2 or (whole > _MOST_CDF2 and not alone):
            raise UserError(
                f"{place}: {whole} B are more than a variable of the format {name} can have",
                advice,
            )


def _check_synced(plan: p.Plan, steps: Iterator[p.Step], unsynced: set[int]) -> None:
    """Raise UserError where a group reads from a field store what it has not synced."""
    for step in steps:
        if isinstance(step, p.Sync) or (
            isinstance(step, p.Manage) and step.verb is p.NameVerb.CLOSE
        ):
            unsynced.discard(step.file)
        if not isinstance(step, p.Transfer) or step.sync is not p.SyncMode.NONE:
            continue
        file = plan.files[step.file]
        if not file.interface.entry.format.read_after_sync:
            continue
        if step.operation is p.Direction.WRITE:
            unsynced.add(step.file)
        if step.file in unsynced and (step.operation is p.Direction.READ or step.reads):
            raise UserError(
                f"files.{file.name}: it is read while what was written is not synced, and "
                f"{file.interface.entry.container} finds only what its writers have synced",
                "put a 'sync' or a 'close' behind the writes, or choose another interface",
            )


def _twice(steps: Sequence[p.Step]) -> Iterator[p.Step]:
    """What can be done, in order; loops have two turns, so that one follows on another."""
    for step in steps:
        if isinstance(step, Nesting):
            for _ in range(2 if isinstance(step, p.For) else 1):
                yield from _twice(step.body)
        else:
            yield step


def _check_readable(plan: p.Plan, maker: p.Group, reader: p.Group) -> None:
    """Raise UserError where a group is told to use what another one may still have open."""
    index = plan.groups.index(reader)
    used = {step.file for step in _on_files(reader.program)}
    opened: dict[int, list[int]] = {}
    """What a file was made inside of: a close elsewhere may come later than it looks."""
    for step, nest in leaves(maker.program):
        around = [id(outer) for outer in nest]
        if isinstance(step, p.Manage) and step.verb is p.NameVerb.CREATE:
            opened[step.file] = around
        elif isinstance(step, p.Manage) and step.verb is p.NameVerb.CLOSE:
            if opened.get(step.file) == around:
                del opened[step.file]
        elif isinstance(step, p.Signal) and index in step.to and step.name != end_of(maker.name):
            for number in sorted(used & opened.keys()):
                _refuse_open(plan.files[number], maker, reader)


def _refuse_open(file: p.File, maker: p.Group, reader: p.Group) -> None:
    if _limits(file).read_while_open:
        return
    raise UserError(
        f"files.{file.name}: '{reader.name}' uses it while '{maker.name}' still has it open, and a "
        f"file of {file.interface.value} can be read only when it is closed",
        "choose an interface of bytes (posix, mpiio) or fieldstore, or close the file in front of "
        "the signal",
    )


_OnFile = p.Manage | p.Items | p.Transfer | p.Sync


def _on_files(steps: Sequence[p.Step]) -> Iterator[_OnFile]:
    return (step for step, _ in leaves(steps) if isinstance(step, _OnFile))
