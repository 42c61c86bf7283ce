"""Acts as the program of a workload: loops, phases, and what stands in each phase.

What is written must always be a program that can be planned and run: a file is open before it is
used, closed where it was opened, and there before it is read. Where the operations say otherwise
(the capture began late, an opening was not seen), the program says what is needed beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from venturi.derive.operation.again import Holdings, least_reach, makes, split_by_files
from venturi.derive.operation.apart import Apart, without
from venturi.derive.operation.computing import TurnComputing
from venturi.derive.operation.data import data_steps
from venturi.derive.operation.dataset import Datasets
from venturi.derive.operation.deal import pooled_steps
from venturi.derive.operation.fold import Leaf, Loop, Node, Some, fold, leaves
from venturi.derive.operation.implied import opened_once
from venturi.derive.operation.item import Trees
from venturi.derive.operation.name_step import NameSteps
from venturi.derive.operation.naming import Choice, Key, Names, Use, any_files, owners_of
from venturi.derive.operation.one_way import one_way_each, only_opens, with_whens_joined
from venturi.derive.operation.place import base_shift
from venturi.derive.operation.run import Run, Said, Steps, seconds_text, sync_mode
from venturi.derive.operation.scene import Crew, Loops, Scene, SomeTurns, crew_of, some_turns
from venturi.derive.operation.sequence import few_of, grouped, leaves_of, sequence_of
from venturi.derive.operation.stream import Streams
from venturi.derive.operation.title import Small, Titles
from venturi.derive.operation.token import mixed_hash
from venturi.derive.operation.view import View
from venturi.model.operation import KIND_CODES, KINDS, Column, Kind
from venturi.model.workload import BareStep, StepSpec, SyncStep, Value

MOST_STEPS = 12
"""A phase of more steps is no text that people read."""
MOST_PHASE_TURNS = 64
"""Acts that repeat more often, without a pause, repeat within one phase."""
LEAST_PAUSE_SHARE = 0.5
"""A pause counts if it stands before so many of the turns."""


_Writer = Callable[[Sequence[Node], Loops, Steps], None]


@dataclass
class Told:
    """What became of one data run, for the account of confidence."""

    stream: int
    said: Said
    is_write: bool
    uses: int


@dataclass
class Program:
    """Writes the program; `write` may be called once."""

    view: View
    streams: Streams
    staged: dict[str, int]
    """Entries that must be there before the run, and how far they are read."""
    flat: dict[int, set[int]]
    """Streams whose datasets are bytes of a file, with those that are why, or none; may grow."""
    apart: set[Key]
    """Files that are read beyond what other entries wrote; more may be found."""
    lasting: set[int]
    """Streams of which nothing that was there before may be removed; more may be found."""
    plain: set[int]
    """Streams of whose files not all uses are those of a tree; more may be found."""
    private: set[int]
    """Streams of whose files each rank has its own, because one that another makes would not be
    there in time; more may be found."""
    told: list[Told] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, Value] = field(default_factory=dict)
    turn_lengths: dict[str, str] = field(default_factory=dict)
    """Of staged entries whose files differ, as an expression of the loop that chooses them."""
    """How long the files of an entry that were there before are, where loops tell."""

    def __post_init__(self) -> None:
        self.table, self.tokens = self.view.table, self.view.tokens
        self.parts, self.acts = self.view.parts, self.view.acts
        owners = owners_of(self.table, self.tokens, self.streams, self.private)
        self.names = Names(owners, self.streams)
        self.holdings = Holdings(self.names)
        self.trees = Trees(self.table, self.tokens, self.names)
        self.datasets = Datasets()
        self._named = NameSteps(
            self.table,
            self.tokens,
            self.streams,
            self.names,
            self.staged,
            self.lasting,
            self.notes,
            Apart(self.names, self.trees),
        )
        self._state = self._named.state
        self.titles = Titles(self.view, self.streams)
        self._small = Small(self.acts)
        self._crews = [crew_of(part.ranks, self.table.ranks) for part in self.parts]
        self._last: Steps = []
        self._grows = False
        self._has_tasks = False
        self._stream = -1
        self.is_ordered = True
        self.is_sound = True
        """Whether no rule of others would name files while they have the names they are made
        under, else they are told as other files, and no links are left out."""

    # ---- the program

    def write(self) -> Steps:
        """All steps."""
        steps: Steps = []
        nodes, self.is_ordered = sequence_of(self.acts, self.view.nests)
        rest: dict[int, Column] = {}
        if not self.is_ordered:
            self._note("acts of several streams come in groups; their order in time is not kept")
            nodes, rest = few_of(nodes, self.acts)
        nodes = split_by_files(nodes, self.acts, self.tokens.file, self.names.owners.nth)
        self._nodes(nodes, (), steps)
        self._named.close(0, self._last)
        for number, acts in rest.items():
            self._dealt(number, acts, steps)
        for number, part in enumerate(self.parts):
            if not part.acts:
                stream = self.streams.kept[part.stream].name
                self._note(f"{stream}: its ranks differ; its requests are dealt to all of them")
                self._pooled(number, part.tokens, steps)
        for crew in self._crews:
            if not crew.is_true:
                self._note(f"ranks 0 to {len(crew) - 1} stand for ranks without a rule")
        self.is_sound &= not (mistaken := self._named.apart.mistaken())
        for name in sorted(mistaken):
            self._note(f"{name}: left out, because which link is removed when follows no rule")
        steps = without(steps, mistaken)
        return opened_once(steps, self._named.implied, self.titles.numbered)

    def _nodes(self, nodes: Sequence[Node], loops: Loops, out: Steps) -> None:
        for node in nodes:
            is_small = not loops and self._small.is_small([node])
            if is_small and self._lumped(node, out):
                continue
            if isinstance(node, Some):
                self._some(node, loops, out, self._nodes)
            elif isinstance(node, Leaf):
                self._act(node, loops, out)
            elif not self._items(node, loops, out):
                self._loop(node, loops, out)
                if not loops:
                    self._make_before(out)
            self._grows = is_small and bool(out) and _is_phase_of(out[-1], self._last)

    def _make_before(self, out: Steps) -> None:
        """Makes the files that the loop just written adds to from its first turn on."""
        for name in self._named.made_before:
            stream = self.streams.kept[self.names.entries[name].stream].name
            steps: Steps = [StepSpec(create=name), StepSpec(close=name)]
            out.insert(-1, StepSpec(phase=self.titles.numbered(f"{stream} create"), do=steps))
        self._named.made_before.clear()

    def _some(self, node: Some, loops: Loops, out: Steps, write: _Writer) -> None:
        """What some turns of the loop around it do, under a condition."""
        body: Steps = []
        variable = loops[-1][0]
        write(node.body, some_turns(loops, node.count, node.number(variable)), body)
        if body:
            out.append(StepSpec(when=node.condition(variable), do=body))

    def _lumped(self, node: Node, out: Steps) -> bool:
        """Whether an act that matters little went into the phase before it, which does so too."""
        before = out[-1] if out else None
        if not self._grows or not isinstance(before, StepSpec) or not before.phase:
            return False
        body: Steps = []
        self._bodies([node], (), body)
        for name in self._named.made_before:
            self._last += [StepSpec(create=name), StepSpec(close=name)]
        self._named.made_before.clear()
        self._last[:] = with_whens_joined([*self._last, *body])
        out[-1] = before.model_copy(update={"phase": self.titles.with_more(before.phase)})
        return True

    def _loop(self, node: Loop, loops: Loops, out: Steps) -> None:
        scene = Scene(self._crews[0], loops)
        inner = scene.inside(node.count)
        body: Steps = []
        if self._is_one_phase(node):
            for leaf in leaves_of(node.body):
                self._note_rare(self.acts.pause_ns[leaf.places])
            name = self.titles.of(node.body)
            self._bodies(node.body, inner.loops, body)
            self._named.close(len(inner.loops), body)
            if body:
                step = StepSpec(for_=scene.variable, in_=node.count, do=body)
                self._add_phase(name, [step], out)
                self._has_tasks = self.view.is_task(leaves_of(node.body))
            return
        self._nodes(node.body, inner.loops, body)
        self._named.close(len(inner.loops), self._last)
        if body:
            out.append(StepSpec(for_=scene.variable, in_=node.count, do=body))

    def _is_one_phase(self, node: Loop) -> bool:
        inner = leaves_of(node.body)
        if self.view.is_task(inner):
            return True
        if any(self._is_told(self.acts.pause_ns[leaf.places]) for leaf in inner):
            return False
        return node.count > MOST_PHASE_TURNS or not any(
            np.any(self.acts.bytes[leaf.places]) for leaf in inner
        )

    def _bodies(self, nodes: Sequence[Node], loops: Loops, out: Steps) -> None:
        """Acts one after the other without a phase of their own."""
        for node in nodes:
            if isinstance(node, Leaf):
                if self.view.is_task([node]):
                    self._task(node, loops, out)
                else:
                    self._body(node, loops, out)
                continue
            if isinstance(node, Some):
                self._some(node, loops, out, self._bodies)
                continue
            scene = Scene(self._crews[0], loops)
            inner = scene.inside(node.count)
            body: Steps = []
            self._bodies(node.body, inner.loops, body)
            self._named.close(len(inner.loops), body)
            if body:
                out.append(StepSpec(for_=scene.variable, in_=node.count, do=body))

    def _act(self, leaf: Leaf, loops: Loops, out: Steps) -> None:
        act = int(leaf.places.flat[0])
        stream = self.parts[int(self.acts.part[act])].stream
        if self._has_tasks and self.view.is_task([leaf]) and _is_phase_of(out[-1], self._last):
            self._task(leaf, loops, self._last)
            return
        if self._joins(act, stream, loops, out):
            self._body(leaf, loops, self._last)
            return
        opened = self._opening_before(stream, loops, out)
        self._stream = stream
        body: Steps = []
        self._body(leaf, loops, body)
        if not body:
            return
        if opened:
            out.pop()
            body = with_whens_joined([*opened, *body])
        self._pause(leaf, loops, out)
        for verb, steps in one_way_each(body):
            self._add_phase(self.titles.of([leaf], verb), steps, out)

    def _task(self, leaf: Leaf, loops: Loops, out: Steps) -> None:
        """An act of tasks that are dealt: its worker computes, and waits for nobody."""
        crew = self._crews[int(self.acts.part[leaf.places.flat[0]])]
        steps: Steps = []
        self._pause(leaf, loops, steps)
        if steps and not crew.is_all:
            steps = [StepSpec(when=crew.condition, do=steps)]
        self._body(leaf, loops, steps)
        out[:] = with_whens_joined([*out, *steps])

    def _opening_before(self, stream: int, loops: Loops, out: Steps) -> Steps:
        """The steps of a phase just before, if it does no more than open a file of the stream."""
        before = out[-1] if out and not loops else None
        if stream != self._stream or not isinstance(before, StepSpec) or not before.phase:
            return []
        return list(before.do or []) if only_opens(before) else []

    def _joins(self, act: int, stream: int, loops: Loops, out: Steps) -> bool:
        """Whether an act on names alone belongs to the phase before it, of the same stream."""
        if not out or (stream != self._stream and not loops) or self.acts.pause_ns[act]:
            return False
        before = out[-1]
        if not isinstance(before, StepSpec) or before.do is not self._last:
            return False
        first = int(self.acts.first[self.acts.at[act]])
        kinds = self.tokens.kind[first : first + int(self.acts.count[act])]
        return not np.isin(kinds, [KIND_CODES[Kind.READ], KIND_CODES[Kind.WRITE]]).any()

    def _add_phase(self, name: str, body: Steps, out: Steps) -> None:
        phase = StepSpec(phase=name, do=body)
        assert phase.do is not None
        self._last = phase.do
        self._has_tasks = False
        out.append(phase)

    def _pause(self, leaf: Leaf, loops: Loops, out: Steps) -> None:
        pauses = self.acts.pause_ns[leaf.places]
        is_odd = isinstance(loops[-1], SomeTurns) if loops else False
        if not is_odd and self._is_told(pauses):
            out.append(StepSpec(compute=seconds_text(float(pauses[pauses > 0].mean()) / 1e9)))
        else:
            self._note_rare(pauses)

    def _is_told(self, pauses: Column) -> bool:
        """Whether there is a pause before so many of the turns that it is no accident."""
        there = int(np.count_nonzero(pauses))
        return there > 0 and there >= LEAST_PAUSE_SHARE * np.size(pauses)

    def _note_rare(self, pauses: Column) -> None:
        if np.any(pauses):
            self._note("rare pauses between repeated acts are left out")

    # ---- trees

    def _items(self, node: Loop, loops: Loops, out: Steps) -> bool:
        """Many files, each used in one go, as a tree."""
        leaf = node.body[0]
        if loops or len(node.body) > 1 or not isinstance(leaf, Leaf) or leaf.places.ndim != 1:
            return False
        act = int(leaf.places[0])
        number = int(self.acts.part[act])
        stream, crew = self.parts[number].stream, self._crews[number]
        if self.streams.kept[stream].is_shared or self._named.has_datasets(stream):
            return False
        if stream in self.plain:
            return False
        first = self.acts.visits(leaf.places, len(crew))
        done = self.trees.pass_of(first, int(self.acts.count[act]))
        if done is None or (not done.makes and self.holdings.has_all(done.files)):
            return False
        step = self.trees.step(stream, done, crew)
        if step is None:
            return False
        if step.each is None:
            return True
        name = self.titles.of([leaf])
        self._pause(leaf, loops, out)
        body: Steps = [self.trees.with_computing(step, first, done)]
        if not crew.is_all:
            body = [StepSpec(when=crew.condition, do=body)]
        self._add_phase(name, body, out)
        return True

    # ---- one act

    def _body(self, leaf: Leaf, loops: Loops, out: Steps) -> None:
        """What stands in the phase of an act."""
        act = int(leaf.places.flat[0])
        number = int(self.acts.part[act])
        part, crew = self.parts[number], self._crews[number]
        scene = Scene(crew, loops)
        visits = self.acts.visits(leaf.places, len(crew))
        files = self.tokens.file[visits]
        chosen = self.names.choice(part.stream, files, scene)
        is_anew = makes(self.tokens, visits, int(self.acts.count[act]))
        if not is_anew and self.trees.has_any(part.stream, files):
            self.plain.add(part.stream)
        use = self._used(chosen, files, is_anew)
        self._named.used(use.name, chosen)
        if chosen.note:
            self._note(f"{use.name}: {chosen.note}")
        if use.shift:
            visits = np.roll(visits, use.shift, axis=-1)
        first = visits.reshape(-1, len(crew))[0]
        nodes = self._tokens(first, int(self.acts.count[act]))
        body: Steps = []
        before = set(self._state.opened)
        self._token_nodes(nodes, visits, scene, use, body)
        for name in set(self._state.opened) - before:
            # Who uses a file that was opened before the capture has it open for good.
            for_good = crew.is_all or not self.names.entries[name].is_shared
            if name in self._state.implied and not for_good:
                self._named.shut(name, use, body)
        if use.name in self._state.made or use.name in self.staged:
            self.holdings.add(use.name, chosen, files)
        else:
            self.holdings.remove(files)
        is_own = not self.streams.kept[part.stream].is_shared
        if body and is_own and not crew.is_all:
            body = [StepSpec(when=crew.condition, do=body)]
        out += body

    def _tokens(self, first: Column, count: int) -> list[Node]:
        """The tokens of a visit as loops; places count from the visit's first token."""
        ids = first[:, None] + np.arange(count)
        tokens = self.tokens
        loose = tokens.kind[ids].astype(np.uint64) * np.uint64(256) + tokens.flags[ids]
        strict = (
            loose + mixed_hash(tokens.count[ids]) + mixed_hash(tokens.bytes[ids]) * np.uint64(3)
        )
        salt = mixed_hash(np.arange(len(first)))[:, None]
        symbols = np.zeros(count, np.int64)
        for names in (mixed_hash(strict + salt).sum(axis=0), loose[0]):
            _, symbols = np.unique(names, return_inverse=True)
            nodes = fold(symbols)
            if nodes is not None and leaves(nodes) <= MOST_STEPS:
                return nodes
        self._note("requests of a file both ways come in groups; their order is not kept")
        return grouped(symbols, takes_turns=True)

    def _token_nodes(
        self, nodes: Sequence[Node], visits: Column, scene: Scene, use: Use, out: Steps
    ) -> None:
        computing = TurnComputing(self.table, self.tokens, out)
        for node in nodes:
            if isinstance(node, Leaf):
                shape = (1,) * (visits.ndim - 1) + node.places.shape + (1,)
                axes = visits.shape[:-1] + (1,) * node.places.ndim + visits.shape[-1:]
                ids = visits.reshape(axes) + node.places.reshape(shape)
                computing.tell_before(ids)
                self._token(ids, scene, use, out)
                continue
            inner = scene.inside(node.count)
            body: Steps = []
            self._token_nodes(node.body, visits, inner, use, body)
            self._named.close(len(inner.loops), body)
            if body:
                out.append(StepSpec(for_=scene.variable, in_=node.count, do=body))
        computing.tell_rest()

    def _token(self, ids: Column, scene: Scene, use: Use, out: Steps) -> None:
        kind = KINDS[int(self.tokens.kind[ids.flat[0]])]
        if kind is Kind.OPEN:
            self._named.open(ids, scene, use, out)
        elif kind in (Kind.READ, Kind.WRITE):
            self._data(ids, scene, use, out)
        elif kind is Kind.CLOSE:
            self._named.closing(scene, use, out)
        elif kind in (Kind.SYNC, Kind.DATA_SYNC):
            stream = self.streams.kept[self.names.entries[use.name].stream]
            mode = sync_mode(KIND_CODES[kind], stream.interface)
            if use.name in self._state.opened:
                said = self._state.said(use.name, self.names)
                out.append(StepSpec(sync=SyncStep(on=said, mode=mode)))
        elif kind is Kind.RENAME:
            self._named.rename(scene, use, out)
        elif kind is Kind.TRUNCATE:
            self._named.truncate(ids, scene, use, out)
        else:
            self._named.call(ids, scene, use, out)

    # ---- names

    def _used(self, chosen: Choice, files: Column, is_anew: bool) -> Use:
        """The entry of an act: one that names files of others, where these are all there."""
        makers: list[str] = []
        if (
            not is_anew
            and chosen.key not in self.apart
            and not self._named.has_datasets(chosen.key[1])
        ):
            makers = self.holdings.makers(chosen, files)
        self.is_sound &= self._state.aside.isdisjoint(makers)
        if not makers or not self._state.aside.isdisjoint(makers):
            return self.names.use(chosen)
        use = self.names.use(chosen, is_again=True)
        self.holdings.link(use.name, makers)
        self._state.made[use.name] = ()
        ends = {one: self._state.sure(one, bool(chosen.note)) for one in makers}
        reach = least_reach(ends, [one for one in makers if one not in self.staged] or makers)
        if reach is not None:
            self._state.reach[use.name] = reach
        return use

    # ---- data

    def _data(self, ids: Column, scene: Scene, use: Use, out: Steps) -> None:
        state, name = self._state, use.name
        entry = self.names.entries[name]
        is_write = int(self.tokens.kind[ids.flat[0]]) == KIND_CODES[Kind.WRITE]
        if name not in state.opened:
            self._named.imply(name, is_write and name not in state.made, scene, use, out)
        said = self._on_datasets(ids, scene, name, use.shift)
        is_plain = said is None
        if said is None:
            said = self._on_bytes(ids, scene, use)
        for note in said.notes:
            self._note(f"{self.streams.kept[entry.stream].name}: {note}")
        self.told.append(Told(entry.stream, said, is_write, ids.size))
        out += said.steps
        if not is_plain:
            return
        if is_write:
            self._state.wrote(name, said, int(self.tokens.end[ids].min()))
        else:
            self._needs(use, said)

    def _needs(self, use: Use, said: Said) -> None:
        """Stages what is read but was not written, or says that it is no file of others."""
        entry = self.names.entries[use.name]
        staged = [maker for maker in entry.made_by if maker in self.staged]
        if len(staged) < len(entry.made_by) and self._lacks(use.name, said, use):
            self.apart.add(entry.key)
            return
        for each in staged or [use.name]:
            if each in self.staged or self._lacks(each, said, use):
                if entry.is_given_away:
                    self.private.add(entry.stream)
                same = self.turn_lengths.setdefault(each, said.length) == said.length
                self.turn_lengths[each] = said.length if same else ""
                self.staged[each] = max(self.staged.get(each, 0), int(said.reach.max()))

    def _on_datasets(self, ids: Column, scene: Scene, name: str, shift: int) -> Said | None:
        """The steps on datasets of a file, where it has them and they can be said."""
        entry = self.names.entries[name]
        if not self._named.has_datasets(entry.stream) or entry.stream in self.flat:
            return None
        run = Run(self.table, self.tokens, ids, scene, name, entry.is_shared, shift)
        said = self.datasets.said(run, name)
        if said is None:
            self.flat[entry.stream] = run.datasets
        return said

    def _on_bytes(self, ids: Column, scene: Scene, use: Use) -> Said:
        state, is_shared, shift = self._state, self.names.entries[use.name].is_shared, use.shift
        is_read = self.tokens.kind[ids.flat[0]] == KIND_CODES[Kind.READ]
        if is_shared and is_read and scene.crew.is_all:
            shift = base_shift(self.tokens.base[ids])
            ids = np.roll(ids, shift, axis=-1)
        have = state.reach.get(use.name) if is_read and use.name not in self.staged else None
        written = None if have is None else int(have.min())
        name = state.said(use.name, self.names)
        return data_steps(Run(self.table, self.tokens, ids, scene, name, is_shared, shift, written))

    def _lacks(self, name: str, said: Said, use: Use) -> bool:
        turns = said.turns if name == use.name and not use.shift else None
        return self._state.lacks(name, said.reach, turns)

    # ---- parts without order

    def _dealt(self, number: int, acts: Column, out: Steps) -> None:
        """Acts that are too many to be told one by one: their requests, and what is lost."""
        first = self.acts.visits(acts, len(self._crews[number]))
        spans = [
            np.arange(int(start), int(start) + int(count))
            for starts, count in zip(first, self.acts.count[acts], strict=True)
            for start in starts
        ]
        chosen = np.sort(np.concatenate(spans))
        self._pooled(number, chosen, out)
        said = [KIND_CODES[k] for k in (Kind.READ, Kind.WRITE, Kind.OPEN, Kind.CLOSE)]
        kinds, counts = np.unique(self.tokens.kind[chosen], return_counts=True)
        lost = [
            f"{n} {KINDS[k].value}" for k, n in zip(kinds, counts, strict=True) if k not in said
        ]
        name = self.streams.kept[self.parts[number].stream].name
        if lost:
            self._note(f"{name}: of its smallest groups is left out: {', '.join(lost)}")

    def _pooled(self, number: int, tokens_used: Column, out: Steps) -> None:
        """Requests without order, dealt to all ranks and files of a part."""
        part = self.parts[number]
        stream = self.streams.kept[part.stream]
        self.flat |= {part.stream: set()} if self._named.has_datasets(part.stream) else {}
        crew = self._crews[number]
        tokens = self.tokens
        used = np.unique(tokens.file[tokens_used])
        files = len(used) if stream.is_shared else -(-len(used) // len(crew))
        scene = Scene(crew)
        inner = scene.inside(files) if files > 1 else scene
        for kind in (Kind.WRITE, Kind.READ):
            chosen = tokens_used[tokens.kind[tokens_used] == KIND_CODES[kind]]
            if not len(chosen):
                continue
            of_any = any_files(used, files, crew)
            name = self.names.use(self.names.choice(part.stream, of_any, inner)).name
            use = Use(name, 0)
            body: Steps = []
            makes = kind is Kind.WRITE and name not in self._state.made
            self._named.opened(name, makes, inner, use, body)
            said = pooled_steps(self.table, tokens, chosen, inner, name, stream.is_shared)
            body += said.steps
            self._named.shut(name, use, body)
            if kind is Kind.WRITE:
                self._state.wrote(name, said, int(self.tokens.end[chosen].min()))
            else:
                self._needs(use, said)
            self.told.append(Told(part.stream, said, kind is Kind.WRITE, len(chosen)))
            self._pooled_phase(
                f"{stream.name} {kind.value}", body, inner, crew, stream.is_shared, out
            )

    def _pooled_phase(
        self, name: str, body: Steps, scene: Scene, crew: Crew, is_shared: bool, out: Steps
    ) -> None:
        if not is_shared and not crew.is_all:
            body = [StepSpec(when=crew.condition, do=body)]
        for variable, turns in reversed(scene.loops):
            body = [StepSpec(for_=variable, in_=turns, do=body)]
        self._add_phase(self.titles.numbered(name), body, out)

    def _note(self, text: str) -> None:
        self.notes[text] += 1


def _is_phase_of(step: StepSpec | BareStep, body: Steps) -> bool:
    """Whether a step is the phase that has this body."""
    return isinstance(step, StepSpec) and step.phase is not None and step.do is body
