"""The entries of storage interfaces: Python has what every engine says."""

from __future__ import annotations

import dataclasses
import math
import random
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from codec_program import PROJECT

from generate.interface import MODULE, described, text_of
from venturi.execute.engine import describe, find_engine
from venturi.model.error import UserError
from venturi.model.interface import DEFAULT_INTERFACE, ENTRIES, Interface
from venturi.model.interface_entry import InterfaceEntry, InterfaceOption, OptionWord
from venturi.model.machine import MpiLibrary
from venturi.model.trace import Layer

ENTRY_KEYS = {field.name for field in dataclasses.fields(InterfaceEntry)}


def engines() -> dict[str, dict[str, Any]]:
    """What each engine that is built says of itself."""
    found = {}
    for mpi in (None, *MpiLibrary):
        try:
            found[mpi.value if mpi else "none"] = describe(find_engine(mpi))
        except UserError:
            assert mpi is not None, "the engine without MPI is always built"
    return found


NUMBERS = ("real", "integer", "bytes")
"""Types of options that have bounds."""
OPTION_TEXTS = ("name", "type", "default", "about", "range")


def plain(value: Any) -> Any:
    """An entry or a part of it as the engine writes it in JSON."""
    if isinstance(value, OptionWord):
        return value.setting
    if isinstance(value, InterfaceOption) and value.type not in NUMBERS:
        return {key: getattr(value, key) for key in OPTION_TEXTS}
    if value == math.inf:
        return None
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, StrEnum):
        return value.value
    return "" if value is None else value


def test_python_has_what_every_engine_says() -> None:
    for mpi, said in engines().items():
        rows = {row["name"]: row["description"] for row in said["backends"]}
        assert list(rows) == [interface.value for interface in Interface], mpi
        for interface, entry in ENTRIES.items():
            assert plain(entry) == rows[interface.value], (mpi, interface)


def test_what_is_not_built_is_described() -> None:
    rows = {row["name"]: row for row in engines()["none"]["backends"]}
    needing = [interface for interface in Interface if interface.entry.needs_mpi]
    assert needing
    for interface in needing:
        assert not rows[interface.value]["built"]
        assert rows[interface.value]["description"]["capabilities"]


def test_a_build_can_do_what_its_description_says() -> None:
    for mpi, said in engines().items():
        for row in said["backends"]:
            if not row["built"]:
                continue
            entry = Interface(row["name"]).entry
            with_mpi = () if mpi == "none" else entry.mpi_capabilities
            assert row["capabilities"] == [*entry.capabilities, *with_mpi], (mpi, row["name"])
            more = () if mpi == "none" else entry.mpi_options
            assert row["options"] == plain((*entry.options, *more)), (mpi, row["name"])


def test_entries_agree_with_themselves() -> None:
    assert DEFAULT_INTERFACE.entry.has_bare_files
    layers = [layer for one in Interface for layer in one.entry.elsewhere.trace_layers]
    assert len(layers) == len(set(layers))
    assert set(layers) <= {layer.value for layer in Layer}
    for interface, entry in ENTRIES.items():
        assert not entry.shared_through or Interface(entry.shared_through).entry.needs_mpi
        assert bool(entry.label) is not entry.reaches_storage, interface
        assert entry.has_keys == bool(entry.container and entry.pieces), interface
        assert not entry.gathers or entry.can_collect, interface
        for word in (entry.format.chunks_with, entry.format.narrow_with, entry.format.wide_with):
            assert word is None or entry.has_option(word.option), interface


WORDS = ["", "a", 'with "quotes"', "back\\slash", "ünï", "{sync}()", "a=b", "word " * 40]


def random_option(source: random.Random) -> dict[str, Any]:
    """An option as an engine could describe it: a number has bounds, the upper one or none."""
    kind = source.choice([*NUMBERS, "boolean", "word", "text"])
    texts = {key: source.choice(WORDS) for key in OPTION_TEXTS} | {"type": kind}
    if kind not in NUMBERS:
        return texts
    return texts | {"least": source.choice([0, 0.5, 3]), "most": source.choice([None, 7, 1e15])}


def random_row(source: random.Random, number: int) -> dict[str, Any]:
    """An interface as an engine could describe it, with every key filled by chance."""
    model: dict[str, Any] = described()[0]["description"]

    def altered(key: str, value: Any) -> Any:
        if key in ("level", "data_path", "name_space", "ownership", "addressing", "splits"):
            known = type(getattr(InterfaceEntry(), key))
            return source.choice(list(known)).value
        if key.endswith("_with"):
            return source.choice(["", "format=x y"])
        if key in ("options", "mpi_options"):
            return [random_option(source) for _ in range(source.randint(0, 3))]
        if isinstance(value, dict):
            return {inner: altered(inner, one) for inner, one in value.items()}
        if isinstance(value, list):
            return [source.choice(WORDS) for _ in range(source.randint(0, 9))]
        if isinstance(value, bool):
            return source.random() < 0.5
        return source.randint(0, 9) if isinstance(value, int) else source.choice(WORDS)

    return {"name": f"kind{number}", "description": altered("", model)}


@pytest.mark.parametrize("seed", range(8))
def test_any_description_reaches_python_whole(seed: int) -> None:
    source = random.Random(seed)
    rows = [random_row(source, number) for number in range(5)]
    written = text_of(rows)
    module: dict[str, Any] = {"__name__": "generated"}
    exec(compile(written, "generated", "exec"), module)
    assert {interface.value: plain(entry) for interface, entry in module["ENTRIES"].items()} == {
        row["name"]: row["description"] for row in rows
    }


def test_the_formatter_leaves_the_module_as_it_is() -> None:
    for command in (["format", "--check"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, str(PROJECT / MODULE)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_an_engine_that_is_older_than_its_sources_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "venturi-engine"
    engine.write_text('#!/bin/sh\necho \'{"backends": [{"name": "posix"}]}\'\n')
    engine.chmod(0o755)
    monkeypatch.setenv("VENTURI_ENGINE_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match="older than its sources: run `make setup`"):
        described()


def test_a_new_interface_needs_nothing_but_its_row() -> None:
    """A backend that only an engine knows yet becomes a member with its own entry."""
    rows = described()
    model = next(row for row in rows if row["name"] == "null")
    written = text_of([*rows, {**model, "name": "toy"}])
    module: dict[str, Any] = {"__name__": "generated"}
    exec(compile(written, "generated", "exec"), module)
    toy = module["Interface"]("toy")
    assert plain(toy.entry) == model["description"]
