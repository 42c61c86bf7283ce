"""The experiment: application and proxy in turn on the same storage, then one document."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from venturi.analyse.paired import interleaved
from venturi.capture.proxy import ProxyRun, machine_for
from venturi.derive.yaml_text import to_yaml
from venturi.execute import host
from venturi.execute.target import check_directory, file_system_of
from venturi.model.error import TargetProblem, UserError
from venturi.model.interface_entry import DataPath
from venturi.model.plan import Interface
from venturi.model.prediction import MeasuredSystem, Prediction
from venturi.model.workload import Workload
from venturi.predict.account import Account, layers_of
from venturi.predict.alike import check_alike, check_captured
from venturi.predict.baseline import peak_of, replayed
from venturi.predict.cache import ABOUT, CachePreparation
from venturi.predict.cold import with_cold_input
from venturi.predict.conclude import Numbered, PredictionFacts, Runs, conclude
from venturi.predict.enough import MOST_RUNS, Enough
from venturi.predict.subject import Application, Proxy

MOST_DIFFERENCE = 0.01
"""Of bytes moved: a proxy that differs by more is another application's."""

MOST_TIME_OUTSIDE = 0.05
"""Own: of I/O time; interpreters look for their modules in a little of it."""

_NAMED = 2

Say = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """What is compared, where, and how often."""

    workload: Workload
    text: str
    """The workload as YAML."""
    command: str
    directory: Path
    prepare: str = ""
    ranks: int | None = None
    rounds: int = 6
    """Runs of each side at least."""
    budget_s: float = 60.0
    """For further runs, while the interval of the error is wide."""
    cache: CachePreparation = CachePreparation.DROP
    unlike: bool = False
    """Go on where the bytes of both sides differ."""
    baselines: bool = True
    """Measure simpler predictions, too."""
    typed: tuple[str, ...] = ()
    """The command line that asks for it."""
    beside: tuple[Workload, str] | None = None
    """A workload (and its text) that our engine runs in the application's stead."""


def predict_against(wanted: Experiment, say: Say) -> Prediction:
    """Runs both `rounds` times in turn, after one of each that is checked and not counted.

    Everything that is made below `directory` is removed. `say` is told what runs. Raises
    UserError or TargetProblem, in one sentence, where unlike things would be compared.
    """
    check_directory(wanted.directory)
    hidden = unseen(wanted.workload)
    if wanted.beside is not None:
        return _baselines_beside(wanted, wanted.beside, say)
    layers = layers_of(wanted.workload)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    load_before = os.getloadavg()[0]
    workload, text = _as_run(wanted.workload, wanted.text, wanted.cache)
    home = _fresh(wanted.directory)
    try:
        application = Application(
            wanted.command, wanted.prepare, home / "application", layers, wanted.cache
        )
        say("rehearsal: application")
        captured = application.captured()
        apart = check_captured(wanted.workload, captured, wanted.unlike)
        machine = machine_for(workload, captured.trace)
        run = ProxyRun(workload, text, wanted.directory, wanted.ranks, machine)
        proxy = Proxy(run, layers, wanted.cache)
        compared = _rehearse(application.account(captured), proxy, wanted, say)
        remarks = [*hidden, *apart, *compared]
        runs, why = _measure(application, proxy, wanted, say)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    baselines = []
    if wanted.baselines:
        baselines = peak_of(runs, run, wanted.cache, say)
        baselines += replayed(captured, runs, run, wanted.cache, say)
    facts = _facts(wanted, text, (started, load_before), remarks, why)
    return conclude(facts, runs, baselines)


def _baselines_beside(wanted: Experiment, other: tuple[Workload, str], say: Say) -> Prediction:
    """The same where a workload stands in the application's stead: our engine runs both."""
    hidden = dict.fromkeys([*unseen(other[0]), *unseen(wanted.workload)])
    apart = check_alike(wanted.workload, other[0], wanted.unlike)
    layers = tuple(dict.fromkeys((*layers_of(other[0]), *layers_of(wanted.workload))))
    started = datetime.now(UTC).isoformat(timespec="seconds")
    load_before = os.getloadavg()[0]
    workload, text = _as_run(wanted.workload, wanted.text, wanted.cache)
    native, native_text = _as_run(*other, wanted.cache)
    machines = {machine_for(one, None) for one in (workload, native)}
    machine = max(machines, key=lambda name: name != "local")
    sides = [
        Proxy(
            ProxyRun(one, its_text, wanted.directory, wanted.ranks, machine),
            layers,
            wanted.cache,
            name,
        )
        for one, its_text, name in (
            (native, native_text, "application"),
            (workload, text, "proxy"),
        )
    ]
    say("rehearsal: application")
    remarks = [*hidden, *apart, *_rehearse(sides[0].run(), sides[1], wanted, say)]
    runs, why = _measure(sides[0], sides[1], wanted, say)
    baselines = peak_of(runs, sides[1].proxy, wanted.cache, say) if wanted.baselines else []
    return conclude(_facts(wanted, text, (started, load_before), remarks, why), runs, baselines)


def _as_run(workload: Workload, text: str, cache: CachePreparation) -> tuple[Workload, str]:
    """A workload and its text, its input cold where caches are dropped."""
    if cache is CachePreparation.DROP and (cold := with_cold_input(workload)) is not workload:
        return cold, to_yaml(cold)
    return workload, text


def _facts(
    wanted: Experiment, text: str, begun: tuple[str, float], remarks: list[str], why: str
) -> PredictionFacts:
    """What is known without the runs; `begun`: when, and the load then; `why` there were no more
    of them."""
    return PredictionFacts(
        name=wanted.workload.name,
        command=wanted.command,
        typed=list(wanted.typed),
        prepare=wanted.prepare,
        started=begun[0],
        cache=ABOUT[wanted.cache],
        remarks=remarks,
        enough=why,
        place=_place(wanted.directory, begun[1]),
        workload_text=text,
    )


def unseen(workload: Workload) -> list[str]:
    """What of a workload a capture does not see on either side, for the reader.

    Raises UserError where that is an interface of which nothing is seen, or there is no other.
    """
    wanted = {file.interface for file in workload.files.values()}
    hidden = [one for one in Interface if one in wanted and not one.entry.makes_calls]
    if not hidden:
        return []
    mapped = {one for one in hidden if one.entry.data_path is DataPath.MAPPING}
    if mapped != set(hidden) or mapped == wanted:
        raise UserError(
            f"workload '{workload.name}': a capture does not see requests through "
            f"{hidden[0].value}, so both sides cannot be compared",
            "name an interface that makes calls: posix, stdio, mpiio, hdf5",
        )
    names = [name for name, file in workload.files.items() if file.interface in mapped]
    return [
        f"{', '.join(names)}: what the proxy does through mapped memory is not in its I/O time, "
        "for no call makes it, nor is what the application does so; the time from the first "
        "request to the last has what lies between them"
    ]


def _fresh(directory: Path) -> Path:
    """A folder of our own below `directory`."""
    try:
        return Path(tempfile.mkdtemp(prefix="venturi-predict-", dir=directory)).resolve()
    except OSError as error:
        raise TargetProblem(f"{directory}: {error.strerror}", "choose another with -d") from None


def _rehearse(ours: Account, proxy: Proxy, wanted: Experiment, say: Say) -> list[str]:
    """A run of the proxy beside one of the application, which do not count: what the reader must
    know. Raises UserError or TargetProblem where they are unlike."""
    say("rehearsal: proxy")
    theirs = proxy.run()
    if ours.ranks != theirs.ranks:
        raise UserError(
            f"the application has {ours.ranks} ranks and the proxy {theirs.ranks}",
            f"set the proxy's with -n {ours.ranks}",
        )
    remarks = [*_unlike_bytes(ours, theirs, wanted), *ours.activity.gaps]
    outside = sum(moved for path, moved in ours.paths.items() if os.path.isabs(path))
    of_bytes = outside / max(ours.bytes_moved, 1)
    of_time = sum(ours.outside_seconds.values()) / max(ours.seconds, 1e-9)
    if of_bytes > MOST_DIFFERENCE or of_time > MOST_TIME_OUTSIDE:
        remarks.append(
            f"{of_bytes:.0%} of the application's bytes and {of_time:.0%} of its I/O time are in "
            f"files outside of the place that was measured ({_folders(ours)}); the proxy has them "
            "here"
        )
    return remarks


def _folders(account: Account) -> str:
    """Where files outside are, those that take most time first."""
    seconds = account.outside_seconds
    named = sorted(seconds, key=lambda folder: -seconds[folder])
    others = f" and {len(named) - _NAMED} others" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + others


def _unlike_bytes(ours: Account, theirs: Account, wanted: Experiment) -> list[str]:
    """A remark where both sides move different amounts. Raises TargetProblem unless wanted."""
    texts = []
    for word in ("written", "read"):
        both = [getattr(account.activity, f"bytes_{word}") for account in (ours, theirs)]
        if abs(both[1] - both[0]) > MOST_DIFFERENCE * max(ours.bytes_moved, 1):
            texts.append(f"{both[0]} bytes {word} by the application, {both[1]} by the proxy")
    if not texts:
        return []
    text = f"they do not do the same: {'; '.join(texts)}"
    if not wanted.unlike:
        raise TargetProblem(
            text, "is the workload that of this command? --unlike compares them all the same"
        )
    return [text]


def _measure(
    application: Application | Proxy, proxy: Proxy, wanted: Experiment, say: Say
) -> tuple[Runs, str]:
    """Both in turn, there and back, then back and there; and why not more often."""
    runs = Runs([], [])
    enough = Enough(wanted.rounds, wanted.budget_s)
    sides: tuple[tuple[Application | Proxy, list[Numbered], str], ...] = (
        (application, runs.application, "application"),
        (proxy, runs.proxy, "proxy"),
    )
    most = wanted.rounds if wanted.budget_s <= 0 else max(wanted.rounds, MOST_RUNS)
    for place, which in enumerate(interleaved(most)):
        subject, kept, word = sides[which]
        account = subject.run()
        kept.append((place, account))
        known = f"run {place + 1} of at least {2 * wanted.rounds}"
        say(f"{known}: {word} {account.seconds:.4g} s in I/O")
        if place % 2 and enough.reached(*([one.seconds for _, one in side[1]] for side in sides)):
            break
    return runs, enough.why


def _place(directory: Path, load_before: float) -> MeasuredSystem:
    return MeasuredSystem(
        directory=str(directory),
        file_system=file_system_of(directory).type,
        host=platform.node(),
        system=host.system_name(),
        kernel=platform.release(),
        cpu=host.cpu_name(),
        cores=os.cpu_count() or 1,
        memory_bytes=host.memory_bytes(),
        load_before=load_before,
        load_after=os.getloadavg()[0],
    )
