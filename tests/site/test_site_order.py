"""Whatever order runs come in, and whatever happens between builds: the site is the same."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from site_factory import result, store_of
from test_site_build import made, pages

from venturi.model.result import Result
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


def disturb(chance: random.Random, store: Path, there: list[Result], gone: Path) -> None:
    """One thing that may happen to a store between two builds."""
    one = chance.choice(there)
    what = chance.choice(("tag", "remove", "change", "known", "nothing"))
    folder = store / "runs" / one.id
    if what == "tag":
        tag(store, chance.choice(("golden", "candidate", "third")), [one.id])
    elif what == "remove" and len(there) > 5:
        there.remove(one)
        shutil.move(folder, gone / one.id)
    elif what == "change":
        path = folder / "result.json"
        path.write_text(path.read_text("utf-8").replace('"ranks": 4', '"ranks": 8'), "utf-8")
    elif what == "known":
        day = chance.randrange(1, 29)
        text = f"changes: 1\nknown:\n  - {{at: '2026-01-{day:02}', about: disks were replaced}}\n"
        (store / "known-changes.yaml").write_text(text, "utf-8")


@pytest.mark.parametrize("seed", range(4))
def test_a_site_that_grew_is_the_site_built_anew(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    runs = some_runs(chance)
    chance.shuffle(runs)
    store, place = store_of(tmp_path / "store", runs[:10]), tmp_path / "public"
    gone = tmp_path / "gone"
    gone.mkdir()
    there, rest = runs[:10], runs[10:]
    made(place, store)
    while rest:
        count = chance.choice((1, 1, 4, 9))
        store_of(store, rest[:count])
        there, rest = there + rest[:count], rest[count:]
        disturb(chance, store, there, gone)
        made(place, store)
    made(tmp_path / "anew", store)
    assert pages(place) == pages(tmp_path / "anew")


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
