"""What lies in a store and was not put there by it: ids, folders, links, records of others."""

from __future__ import annotations

import contextlib
import json
import os
import random as draws
from pathlib import Path

import pytest

from attack.test_planted_manifests import birth_of, identity
from report.record_factory import record
from store.test_store import result
from venturi.importers.import_path import import_path
from venturi.model.error import UserError, VenturiError
from venturi.store.archive import remove_files, remove_record
from venturi.store.journal import sweep
from venturi.store.place import make_store
from venturi.store.result import RECORD_NAME, keep, result_of

TEXT = "theirs"
IDS = [
    "../../victim",
    "..",
    ".",
    "",
    ".hidden",
    "a/b",
    "/tmp/x",
    "a\nb",
    "a\0b",
    "../x/../y",
    "x" * 300,
]


@pytest.mark.parametrize("run", IDS)
def test_an_id_that_is_no_name_is_refused_in_a_sentence(tmp_path: Path, run: str) -> None:
    """Nothing is written, in the store or beside it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    document = json.loads(result().to_json())
    (shared / "one.json").write_text(json.dumps({**document, "id": run}))
    store = tmp_path / "store"
    with pytest.raises(UserError) as refused:
        import_path(store, shared / "one.json")
    assert "id" in str(refused.value)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "store") == ["shared"]
    assert not list(store.rglob("*.json"))


@pytest.mark.parametrize("seed", range(4))
def test_a_record_of_others_removes_no_file(tmp_path: Path, seed: int) -> None:
    """It names a directory and files that are there, with their true identities."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "f").write_text(TEXT)
    if seed % 2:
        (victim / ".venturi").write_text("venturi run 20260102-000000-ours-cccc\n")
    store = tmp_path / "store"
    one = record(id="20260102-000000-ours-bbbb", left=["f"])
    path = tmp_path / RECORD_NAME
    path.write_text(one.to_json(indent=1))
    lines = [("root", victim, "."), ("kept", victim / "f", "f"), ("kept", victim / "f", "./f")]
    text = "".join(
        f"{kind} {identity(at, str(birth_of(at)))}{' 0' if seed < 2 else ''} {name}\n"
        for kind, at, name in lines
    )
    key = f"{draws.Random(seed).getrandbits(128):032x}"
    header = f"venturi manifest 2 {key}\n\n\n\n\n" + 24 * "\1"
    extra = {
        "plan.json": forged_plan(victim),
        "key": key + "\n",
        "manifest.0": (header if seed < 2 else "") + text,
    }
    files = {RECORD_NAME: path}
    for name, content in extra.items():
        (tmp_path / name).write_text(content)
        files[name] = tmp_path / name
    assert keep(store, result_of(one), files)
    folder = store / "runs" / one.id
    remove_files(folder)
    assert (victim / "f").read_text() == TEXT
    remove_record(folder)
    assert (victim / "f").read_text() == TEXT
    assert not folder.exists()


def forged_plan(directory: Path) -> str:
    """A plan of a run that worked in a directory."""
    from engine.plans import file, manage, phase, plan

    place = directory.parent / "forged"
    place.mkdir()
    made = plan(place, [file("f", keep=True)], [phase("p", manage("create"), manage("close"))])
    document = json.loads(made.to_json())
    return json.dumps({**document, "directory": str(directory)})


@pytest.mark.parametrize("kind", ["folder", "link", "file", "link with a lock"])
def test_what_is_no_journal_is_left_where_it_lies(tmp_path: Path, kind: str) -> None:
    store = tmp_path / "store"
    make_store(store)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "f").write_text(TEXT)
    if kind == "link with a lock":
        (theirs / "lock").touch()
    planted = store / "running" / "20260101-000000-x-aaaa"
    if kind == "folder":
        theirs.rename(planted)
        theirs = planted
    elif kind == "file":
        planted.write_text(TEXT)
    else:
        planted.symlink_to(theirs)
    assert sweep(store) == []
    assert (theirs / "f").read_text() == TEXT
    assert os.path.lexists(planted)


def test_an_empty_folder_that_became_no_journal_goes(tmp_path: Path) -> None:
    """The command died between making it and its lock."""
    store = tmp_path / "store"
    make_store(store)
    (store / "running" / "20260101-000000-x-aaaa").mkdir()
    assert sweep(store) == []
    assert list((store / "running").iterdir()) == []


@pytest.mark.parametrize("place", ["outside", "beside", "above"])
def test_a_journal_names_no_folder_of_commands_elsewhere(tmp_path: Path, place: str) -> None:
    store = tmp_path / "store"
    make_store(store)
    victim = tmp_path / "run" / "victim"
    victim.mkdir(parents=True)
    (victim / "f").write_text(TEXT)
    journal = store / "running" / "20260101-000000-x-aaaa"
    (journal / "commands").mkdir(parents=True)
    (journal / "lock").touch()
    forged = json.loads(forged_plan(tmp_path / "run"))
    (journal / "plan.json").write_text(json.dumps(forged))
    paths = {
        "outside": victim,
        "beside": tmp_path / "run" / ".commands.0" / ".." / "victim",
        "above": tmp_path / "run" / "victim" / ".." / "victim",
    }
    facts = victim.stat()
    noted = {"path": str(paths[place]), "device": facts.st_dev, "inode": facts.st_ino}
    (journal / "commands" / "folders.jsonl").write_text(json.dumps(noted) + "\n")
    with contextlib.suppress(VenturiError):
        sweep(store)
    assert (victim / "f").read_text() == TEXT
