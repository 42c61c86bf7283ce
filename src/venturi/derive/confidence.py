"""What was inferred for each field, by which rule, and how sure that is."""

from __future__ import annotations

from venturi.derive.ior import api_of
from venturi.derive.layout import FlowLayout, LayoutKind
from venturi.derive.program import is_tree
from venturi.derive.stream import DerivedStream, Flow
from venturi.model.plan import Direction
from venturi.model.trace import INTERFACES, Layer, Trace
from venturi.model.units import size_text
from venturi.model.workload import Confidence

UNKNOWN = "unknown"
EVERYWHERE = "all"
"""Stands for every stream where a stream's name is expected."""

BLIND_SPOTS = {
    "mkdir": "Darshan does not count mkdir",
    "rmdir": "Darshan does not count rmdir",
    "stat": "Darshan does not see stat on current C libraries",
    "unlink": "Darshan does not count unlink",
    "reorder": "counters do not say which rank reads what another wrote (IOR -C)",
    "preallocation": "Darshan does not count fallocate and ftruncate",
    "direct": "Darshan does not record the flags of open (O_DIRECT)",
}
"""What no counter shows, whatever the log."""


def blind_spots() -> list[Confidence]:
    """The fields that the source cannot show for any stream."""
    return [
        Confidence(stream=EVERYWHERE, field=name, value=UNKNOWN, confidence=0.0, rule=why)
        for name, why in BLIND_SPOTS.items()
    ]


def confidence_of(stream: DerivedStream, layouts: dict[Direction, FlowLayout]) -> list[Confidence]:
    """The inferred fields of one stream."""
    found = _ConfidenceEntries(stream.name)
    found.add("api", api_of(stream.interface), *_api_rule(stream))
    found.add("sharing", "all" if stream.is_shared else "rank", *_sharing_rule(stream))
    found.add("ranks", str(len(stream.group.owners)), 0.95, "4: ranks that used the files")
    order = 0.6 if stream.is_interleaved else 0.9
    found.add("direction", stream.order_text, order, "3: bytes, and first time stamps")
    found.add("fsync", stream.sync.pattern.value, 0.9, f"10: {stream.sync.calls} calls counted")
    if stream.files_each > 1:
        text = (
            f"{stream.files_each} shared" if stream.is_shared else f"{stream.files_each} per rank"
        )
        found.add("files", text, 0.9, "11: files with the same name but for digits")
    if is_tree(stream):
        alone = stream.group.directory_per_rank
        where = "one per rank" if alone else "shared"
        found.add("directory", where, 0.8, "11: directories of the files of each rank")
    found.entries += _joined(stream, [_flow_fields(stream, f, layouts) for f in stream.flows])
    return found.entries


_BY_LIBRARY = ("api", "collective")
"""Fields that a library's module would tell."""

_LIBRARY_MODULES = frozenset({"MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"})


def doubted(entries: list[Confidence], trace: Trace) -> list[Confidence]:
    """The fields, without those that a damaged or incomplete module of a library might change."""
    lost = sorted({gap.layer for gap in trace.gaps} & _LIBRARY_MODULES)
    if not lost:
        return entries
    rule = f"{', '.join(lost)}: not all of it could be read"
    return [
        entry.model_copy(update={"value": UNKNOWN, "confidence": 0.0, "rule": rule})
        if entry.field.rpartition(".")[2] in _BY_LIBRARY and entry.value in _PLAIN
        else entry
        for entry in entries
    ]


_PLAIN = frozenset({"no", *(api_of(INTERFACES[layer]) for layer in (Layer.POSIX, Layer.STDIO))})
"""What these fields say where no library is known."""


def _joined(stream: DerivedStream, flows: list[list[Confidence]]) -> list[Confidence]:
    """The fields of both directions: one entry where they agree, else one for each direction."""
    if len(flows) == 2 and flows[0] == flows[1]:
        return flows[0]
    joined = []
    for flow, entries in zip(stream.flows, flows, strict=True):
        prefix = f"{flow.direction.value}." if len(flows) > 1 else ""
        joined += [e.model_copy(update={"field": prefix + e.field}) for e in entries]
    return joined


class _ConfidenceEntries:
    """Collects the entries of one stream."""

    def __init__(self, stream: str) -> None:
        self._stream = stream
        self.entries: list[Confidence] = []

    def add(self, field: str, value: str, confidence: float, rule: str) -> None:
        """One more field."""
        self.entries.append(
            Confidence(
                stream=self._stream, field=field, value=value, confidence=confidence, rule=rule
            )
        )


def _api_rule(stream: DerivedStream) -> tuple[float, str]:
    layer = stream.layer.value
    own = stream.interface.entry.elsewhere.trace_layers
    if stream.interface is INTERFACES[Layer.HDF5_DATASET] and layer != own[-1]:
        return 0.8, f"1: highest layer that knows the file; data counted at {layer}"
    if stream.layer is Layer.MPIIO and layer in own:
        return 0.85, "1: highest layer captured; a library without its module would look the same"
    return 0.95, "1: highest layer that knows the file"


def _sharing_rule(stream: DerivedStream) -> tuple[float, str]:
    if stream.ranks == 1:
        return 0.9, "2: one rank, so own and shared are the same"
    if not stream.is_shared:
        return 0.95, "2: each file used by one rank"
    owners = len(stream.group.owners)
    if owners == stream.ranks:
        return 0.95, "2: a record of all ranks, or of each"
    return 0.6, f"2: {owners} of {stream.ranks} ranks share the file"


def _flow_fields(
    stream: DerivedStream, flow: Flow, layouts: dict[Direction, FlowLayout]
) -> list[Confidence]:
    """The fields of one direction."""
    found = _ConfidenceEntries(stream.name)
    layout = layouts[flow.direction]
    mix = flow.mix
    share = min(mix.transfer_share, max(mix.known_share, 0.5))
    rule = f"5: {mix.transfer_share:.0%} of the bytes"
    if mix.known_share < 0.995:
        rule += f"; {1.0 - mix.known_share:.0%} of them in requests of mean size"
    found.add("transfer", size_text(mix.transfer), round(share, 2), rule)
    if flow.active != len(stream.group.owners):
        found.add("movers", str(flow.active), 0.8, "4: runs, variance or records of ranks")
    if flow.passes > 1 or flow.reads_whole:
        what = "whole file by each rank" if flow.reads_whole else f"{flow.passes}"
        found.add("passes", what, 0.6, "6: bytes over the file's extent")
    _add_nest(found, layout)
    random, sure, why = _random(flow, layout)
    found.add("random", random, sure, why)
    if layout.kind is LayoutKind.RANDOM and layout.run > mix.transfer:
        found.add("run", size_text(layout.run), 0.6, "9: requests between two jumps")
    collective = "yes" if flow.is_collective else "no"
    found.add("collective", collective, 0.95, "10: collective against independent calls")
    return found.entries


def _add_nest(found: _ConfidenceEntries, layout: FlowLayout) -> None:
    nest = layout.nest
    if layout.kind is LayoutKind.RANDOM or nest is None:
        why = "9: random order hides it" if layout.kind is LayoutKind.RANDOM else layout.rule
        found.add("block", UNKNOWN, 0.0, why)
        found.add("segments", UNKNOWN, 0.0, why)
        return
    rule = layout.rule
    if layout.has_free_block and nest.volume > nest.transfer:
        rule += f"; every block of whole requests that divides {size_text(nest.volume)} fits"
    found.add("block", size_text(nest.block), layout.confidence, rule)
    found.add("segments", str(nest.segments), layout.confidence, rule)


def _random(flow: Flow, layout: FlowLayout) -> tuple[str, float, str]:
    if layout.kind is LayoutKind.RANDOM:
        return "yes", layout.confidence, layout.rule
    if flow.counts.sequential is not None:
        return "no", 0.9, "9: offsets rise"
    if layout.rule.startswith("7a"):
        return "no", 0.8, "9: slabs in order"
    return "no", 0.4, "9: the order of requests was not counted; assumed rising"
