"""What is known of the host's load and of labels, in the form that the verdict asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from venturi.analyse.label import LabelFacts, compressible_phases
from venturi.analyse.neighbour import ObservedLoad
from venturi.model.event import Hello
from venturi.model.host_sample import HostSample
from venturi.model.plan import Interface
from venturi.model.record import MetricValue
from venturi.model.workload import Workload

_SIMULATED = frozenset(each.value for each in Interface if each.entry.is_simulated)
"""Their time passes for nobody else, so no load of a host can explain it."""

if TYPE_CHECKING:
    from venturi.store.assemble import RunFacts


def label_facts(facts: RunFacts, workload: Workload, nodes: int) -> LabelFacts:
    """What labels are made from, beside the phases."""
    cpus = facts.host_limits.cpus if facts.host_limits else float(facts.cores)
    return LabelFacts(
        file_system=facts.file_system.type,
        interfaces=frozenset(facts.interfaces),
        substituted=facts.substituted,
        faults=facts.faults,
        ranks=facts.ranks,
        cpus=cpus * nodes,
        compressible=compressible_phases(workload),
    )


def observed_of(
    facts: RunFacts,
    hosts: Sequence[str],
    metrics: Mapping[str, MetricValue],
    samples: Sequence[HostSample],
) -> ObservedLoad | None:
    """The samples and what they are judged with; None without samples, or ranks on this host."""
    ranks_here = sum(host == facts.host for host in hosts)
    if len(samples) < 2 or not ranks_here or set(facts.interfaces) <= _SIMULATED:
        return None
    widths = {name: w for name, metric in metrics.items() if (w := metric.half_width) is not None}
    return ObservedLoad(samples, ranks_here, facts.file_system.type, widths)


def unobserved(facts: RunFacts, hello: Hello | None, samples: Sequence[HostSample]) -> list[str]:
    """In words, what nobody looked at: a reader must not take it for checked."""
    if hello is None:
        return []
    others = [host for host in hello.hosts if host != facts.host]
    if len(samples) < 2 and len(others) < len(hello.hosts):
        return ["the load of this host during the run was not observed"]
    if not others:
        return []
    count = "1 node" if len(others) == 1 else f"{len(others)} nodes"
    return [f"other load on {count} was not observed ({', '.join(others[:4])})"]
