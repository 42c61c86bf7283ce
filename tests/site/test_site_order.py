"""Whatever order runs come in, and whatever happens between builds: the site is the same."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from site_factory import result, store_of
from test_machine_file import put
from test_site_build import made, pages

from venturi.model.error import UserError
from venturi.model.machine import Bound
from venturi.model.result import Result
from venturi.site import build as build_module
from venturi.site.build import SiteRequest, build
from venturi.store.result import tag

_NAMES = ("quick", "checkpoint", "Über <all>")
_MACHINES = ("alpha", "beta", "gamma")


def some_runs(chance: random.Random) -> list[Result]:
    """Runs of several subjects, some INVALID, some slower, some with parameters of their own."""
    found = []
    for number in range(40):
        more = {"level": "INVALID", "metrics": {}} if chance.random() < 0.1 else {}
        found.append(
            result(
                chance.randrange(30),
                chance.choice(_NAMES[:2] if chance.random() < 0.9 else _NAMES),
                chance.choice(_MACHINES),
                minute=number,
                slower_from=15,
                session=f"session-{chance.randrange(20)}",
                ranks=chance.choice((1, 4)),
                **more,
            )
        )
    return found


def rewritten(path: Path, data: bytes) -> None:
    """Other bytes in a file that seems as old as it was."""
    times = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def flipped(chance: random.Random, path: Path) -> None:
    """One byte of a file is another; size and time are as they were."""
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1
    rewritten(path, bytes(data))


class DisturbedSite:
    """A store and its site, and what may happen to them between two builds."""

    def __init__(self, seed: int, home: Path) -> None:
        self.chance = random.Random(seed)
        self.runs = some_runs(self.chance)
        self.chance.shuffle(self.runs)
        self.home, self.place = home, home / "public"
        self.store = store_of(home / "store", self.runs[:10])
        (home / "gone").mkdir()
        self.there, self.rest = self.runs[:10], self.runs[10:]
        self.title = "Results"

    def grow(self) -> None:
        """Some new runs."""
        count = self.chance.choice((1, 1, 4, 9))
        store_of(self.store, self.rest[:count])
        self.there, self.rest = self.there + self.rest[:count], self.rest[count:]

    def tag(self) -> None:
        """A tag that runs get."""
        name = self.chance.choice(("golden", "candidate", "third"))
        tag(self.store, name, [self.chance.choice(self.there).id])

    def remove(self) -> None:
        """A run that is gone."""
        if len(self.there) > 5:
            one = self.there.pop(self.chance.randrange(len(self.there)))
            shutil.move(self.store / "runs" / one.id, self.home / "gone" / one.id)

    def come_back(self) -> None:
        """A run that was gone, with the times that it had."""
        for path in list((self.home / "gone").iterdir())[:1]:
            shutil.move(path, self.store / "runs" / path.name)
            self.there += [one for one in self.runs if one.id == path.name]

    def change(self) -> None:
        """A result in which something is changed, which its time does not tell."""
        path = self.store / "runs" / self.chance.choice(self.there).id / "result.json"
        rewritten(path, path.read_bytes().replace(b'"ranks": 4', b'"ranks": 8'))

    def damage(self) -> None:
        """A result that cannot be read, and one that can be read again."""
        path = self.store / "runs" / self.chance.choice(self.there).id / "result.json"
        data = path.read_bytes()
        rewritten(path, data[:-1] if data.endswith(b"}") else data + b"}")

    def know(self) -> None:
        """Something that people know of a day."""
        day = self.chance.randrange(1, 29)
        text = f"changes: 1\nknown:\n  - {{at: '2026-01-{day:02}', about: disks were replaced}}\n"
        (self.store / "known-changes.yaml").write_text(text, "utf-8")

    def add_machine(self) -> None:
        """A machine file that is new or another."""
        bounds = [Bound(operation="write", bytes_per_second=self.chance.choice((1e9, 2e9)))]
        put(self.store, f"{self.chance.choice('ab')}.yaml", name="delta", bounds=bounds)

    def update(self) -> None:
        """Another program, or another choice of options."""
        self.title = f"Results {self.chance.randrange(3)}"

    def tamper(self) -> None:
        """Pages that somebody changed, cut, removed, or put a link in place of."""
        paths = [path for path in self.place.rglob("*") if path.is_file()]
        for path in self.chance.sample([p for p in paths if ".venturi" not in p.parts], 4):
            how = self.chance.choice(("flip", "cut", "remove", "link", "touch"))
            if how == "flip":
                flipped(self.chance, path)
            elif how == "cut":
                path.write_bytes(path.read_bytes()[:100])
            elif how == "touch":
                path.touch()
            else:
                path.unlink()
                if how == "link":
                    path.symlink_to(self.home / "nowhere")

    def tamper_notes(self) -> None:
        """What the site keeps for itself, changed or removed."""
        notes = [
            path
            for path in (self.place / ".venturi").iterdir()
            if path.suffix in (".json", ".jsonl", ".sha256") or path.name.startswith("runs")
        ]
        for path in self.chance.sample(sorted(notes), 2):
            if self.chance.random() < 0.3:
                path.unlink()
            else:
                flipped(self.chance, path)

    def built(self, place: Path) -> None:
        """A build as its options are now."""
        build(SiteRequest((self.store,), place, self.title))


_EVENTS = ("tag", "remove", "come_back", "change", "damage", "know", "add_machine", "update",
           "tamper", "tamper_notes")  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_a_site_that_grew_is_the_site_built_anew(seed: int, tmp_path: Path) -> None:
    site = DisturbedSite(seed, tmp_path)
    site.built(site.place)
    number = 0
    while site.rest:
        site.grow()
        happened = site.chance.sample(_EVENTS, site.chance.randrange(4))
        for event in happened:
            getattr(site, event)()
        site.built(site.place)
        number += 1
        if number % 3 == 0 or not site.rest:
            anew = tmp_path / f"anew-{number}"
            site.built(anew)
            assert pages(site.place) == pages(anew), happened


def test_another_program_library_or_host_draws_all_pages_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = SiteRequest((tmp_path,), tmp_path / "public")
    seen = {build_module.program_of(request)}
    package = tmp_path / "venturi"
    package.mkdir()
    monkeypatch.setattr(build_module, "files", lambda _: package)
    for text in ("one", "two"):
        (package / "page.jinja").write_text(text)
        seen.add(build_module.program_of(request))
    monkeypatch.setattr(build_module, "version", lambda name: f"{name} of tomorrow")
    seen.add(build_module.program_of(request))
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    seen.add(build_module.program_of(request))
    assert len(seen) == 5
    assert build_module.program_of(request) in seen


def test_notes_that_say_nothing_of_the_files_are_refused_before_one_is_replaced(
    tmp_path: Path,
) -> None:
    store, place = store_of(tmp_path / "store", [result(0)]), tmp_path / "public"
    made(place, store)
    for path in (place / ".venturi").glob("files-*"):
        path.unlink()
    (place / "style.css").write_text("mine")
    with pytest.raises(UserError, match="no site wrote this file"):
        made(place, store)
    assert (place / "style.css").read_text() == "mine"


def test_one_new_run_reads_one_run_and_makes_no_other_comparison_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from venturi.site import contrast

    own = [result(day, "quick", machine) for day in range(12) for machine in _MACHINES]
    store, place = store_of(tmp_path / "store", own), tmp_path / "public"
    made(place, store)
    compared: list[tuple[str, str]] = []
    whole = contrast.compared_sets

    def counted(first: list[Result], second: list[Result], names: tuple[str, str]) -> object:
        compared.append(names)
        return whole(first, second, names)

    monkeypatch.setattr(contrast, "compared_sets", counted)
    store_of(store, [result(12, "quick", "gamma")])
    assert made(place, store).read == 1
    pairs = [names for names in compared if "week" not in names[0]]
    assert sorted(pairs) == [("alpha", "gamma"), ("beta", "gamma")]
    assert all("gamma" in first + second for first, second in compared)


@pytest.mark.parametrize("damage", ["cut", "removed", "other"])
def test_notes_of_a_site_that_are_damaged_are_made_anew(damage: str, tmp_path: Path) -> None:
    own = [result(day, "quick", machine) for day in range(8) for machine in _MACHINES[:2]]
    store, place = store_of(tmp_path / "store", own), tmp_path / "public"
    made(place, store)
    before = pages(place)
    for path in (place / ".venturi").glob("*.json*"):
        if path.name == "state.json":
            continue
        if damage == "removed":
            path.unlink()
        else:
            path.write_text("[" if damage == "cut" else '[["0/x", 1]]\n', "utf-8")
    made(place, store)
    assert pages(place) == before
    store_of(store, [result(9, "quick", "alpha")])
    made(place, store)
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")
