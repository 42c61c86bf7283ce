"""A stream as a command line of IOR, where one does the same."""

from __future__ import annotations

from venturi.derive.layout import FlowLayout, IorNest, LayoutKind
from venturi.derive.program import is_reopened, is_tree
from venturi.derive.stream import DerivedStream, Flow, SyncPattern
from venturi.model.interface import DEFAULT_INTERFACE
from venturi.model.plan import Direction, Interface

_SUFFIXES = ((2**30, "g"), (2**20, "m"), (2**10, "k"))


def api_of(interface: Interface) -> str:
    """Return IOR's name of an interface, or ours in capitals where IOR does not have it."""
    return interface.entry.elsewhere.ior or interface.value.upper()


def ior_size(size_bytes: int) -> str:
    """A size as IOR reads it: binary suffixes where they are exact, else bytes."""
    for unit, suffix in _SUFFIXES:
        if size_bytes and size_bytes % unit == 0:
            return f"{size_bytes // unit}{suffix}"
    return str(size_bytes)


def ior_line(stream: DerivedStream, layouts: dict[Direction, FlowLayout]) -> tuple[str | None, str]:
    """The command line and, where there is none or it lacks something, why."""
    if not stream.flows:
        return None, "IOR moves data, and this stream only opens files"
    if is_tree(stream):
        return None, "many small files are mdtest's shape, not IOR's"
    if stream.is_interleaved:
        return None, "IOR does not mix reads and writes"
    if any(flow.active < stream.ranks for flow in stream.flows):
        return None, "only some of the ranks move data"
    if len({_shape(flow, layouts[flow.direction]) for flow in stream.flows}) > 1:
        return None, "reads and writes have different shapes"
    flow = stream.flows[0]
    layout = layouts[flow.direction]
    if flow.reads_whole:
        return None, "every rank reads the whole file"
    if layout.nests and flow.passes > 1 and not is_reopened(stream, flow):
        return None, "the same bytes are moved again without opening the file again"
    if layout.kind is LayoutKind.RANDOM and _random_nest(stream, flow) is None:
        return None, "random requests do not cover the file exactly once"
    nest = layout.nest if layout.kind is not LayoutKind.RANDOM else _random_nest(stream, flow)
    if nest is None:
        return None, "the requests do not form one regular nest of segments, blocks and transfers"
    return " ".join(_words(stream, flow, layout, nest)), ""


def _shape(flow: Flow, layout: FlowLayout) -> tuple[object, ...]:
    if layout.kind is LayoutKind.RANDOM:
        return (LayoutKind.RANDOM, flow.mix.transfer, flow.is_collective)
    return (layout.kind, layout.nests, flow.is_collective, flow.passes, flow.reads_whole)


def _random_nest(stream: DerivedStream, flow: Flow) -> IorNest | None:
    """All of a random flow as one block: the true block cannot be seen."""
    volume, rest = divmod(flow.counts.bytes, stream.units)
    transfer = flow.mix.transfer
    if rest or len(flow.mix.parts) != 1 or volume % transfer:
        return None
    covers = flow.counts.bytes >= flow.counts.extent
    return IorNest(transfer, volume, 1) if covers else None


def _words(stream: DerivedStream, flow: Flow, layout: FlowLayout, nest: IorNest) -> list[str]:
    interface = stream.interface
    known = interface if interface.entry.elsewhere.ior else DEFAULT_INTERFACE  # IOR has no STDIO
    words = ["ior", "-a", api_of(known)]
    if not stream.is_shared and stream.ranks > 1:
        words.append("-F")
    if flow.is_collective:
        words.append("-c")
    words += [f"-{other.direction.value[0]}" for other in _write_first(stream)]
    if layout.kind is LayoutKind.RANDOM:
        words.append("-z")
    if stream.sync.pattern is not SyncPattern.NONE:
        words.append("-Y" if stream.sync.pattern is SyncPattern.EACH else "-e")
    words += ["-t", ior_size(nest.transfer), "-b", ior_size(nest.block), "-s", str(nest.segments)]
    repeats = flow.passes if layout.nests else 1
    if stream.files_each > 1:
        words += ["-i", str(repeats * stream.files_each), "-m"]
    elif repeats > 1:
        words += ["-i", str(repeats)]
    return words


def _write_first(stream: DerivedStream) -> list[Flow]:
    return sorted(stream.flows, key=lambda flow: flow.direction is Direction.READ)
