"""A capture is handed to others: no name is left, and derive says of it what it said before."""

from __future__ import annotations

import random
import re
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from capture_factory import CaptureFactory
from venturi.capture.anonymous import Names, anonymous, still_named
from venturi.derive.noise import is_foreign_path
from venturi.derive.workload import derive
from venturi.model.operation import Kind
from venturi.model.trace import CounterRecord, Gap, Layer, Trace
from venturi.model.trace_folder import Captured
from venturi.model.workload import Observed

KEY = b"k" * 32
PLACES = ("", "/usr/lib", "/opt", "/home", "/scratch", "/tmp", "/dev/shm", "/var/tmp", "/proc/self")
ENDS = ("", ".h5", ".so.6", ".py", ".jar", ".dat", "-17.lock", "_0031.bin")


def word(drawn: random.Random) -> str:
    """One that no public list and no text of ours has."""
    return "Q" + "".join(drawn.choices("bcdfghjklmnpqrstvwxzäß", k=drawn.randint(2, 9)))


def path(drawn: random.Random) -> str:
    folders = "".join(f"/{word(drawn)}{drawn.randrange(99)}" for _ in range(drawn.randrange(4)))
    return drawn.choice(PLACES) + folders + "/" + word(drawn) + drawn.choice(ENDS)


def sentences_apart(observed: Observed) -> Observed:
    """Without the words of what was left out, in which names may stand."""
    left_out = [one.model_copy(update={"what": ""}) for one in observed.left_out]
    return observed.model_copy(update={"left_out": left_out})


def random_capture(seed: int) -> tuple[Captured, set[str]]:
    """A program with names of all kinds, and every word that nobody may find again."""
    drawn = random.Random(seed)
    made = CaptureFactory(drawn.randint(1, 3))
    for number in range(drawn.randint(2, 9)):
        name = f"{path(drawn)}.{number}" if number else f"/data/{word(drawn)}"
        for rank in range(made.ranks):
            made.call(rank, Kind.OPEN, name, detail=0o101)
            for i in range(drawn.randint(1, 5)):
                made.call(rank, Kind.WRITE, name, 512 * (i + 1), -1)
            made.call(rank, Kind.CLOSE, name)
    captured = made.captured()
    trace = captured.trace
    secret = [word(drawn) for _ in range(6)]
    processes = [
        one.model_copy(update={"host": f"{secret[0]}{one.rank}", "program": secret[1]})
        for one in trace.processes
    ]
    job = trace.job.model_copy(
        update={"command": f"{secret[1]} --in=/home/{secret[2]}/x", "number": "4711"}
    )
    gaps = [
        Gap(layer="posix", what=f"'{secret[3]}' was not followed, nor {secret[1]}"),
        Gap(layer="names", what=f"/home/{secret[4]}/x.{secret[5]} is missing"),
    ]
    changed = trace.model_copy(
        update={
            "processes": processes,
            "job": job,
            "gaps": gaps,
            "mounts": {f"/{secret[5]}": "ext4"},
        }
    )
    names = [file.path for file in trace.files] + secret
    return Captured(changed, captured.operations), set(re.findall(r"Q[^\W\d_]+", " ".join(names)))


@pytest.mark.parametrize("seed", range(40))
def test_no_name_is_left_and_nothing_else_is_changed(seed: int) -> None:
    captured, private = random_capture(seed)
    assert private
    names = Names(KEY)
    found = anonymous(captured, names)
    text = found.trace.to_json()
    assert not [one for one in private if one.casefold() in text.casefold()]
    assert "4711" not in text
    assert not still_named(found.trace, names)
    assert found.operations is captured.operations
    before, after = derive(captured, "app"), derive(found, "app")
    assert before.origin
    assert after.origin
    assert after.origin.likeness == before.origin.likeness
    assert sentences_apart(after.origin.observed) == sentences_apart(before.origin.observed)
    assert [(f.id, f.at_stake_s) for f in after.origin.findings] == [
        (f.id, f.at_stake_s) for f in before.origin.findings
    ]


@given(st.integers(0, 2**32), st.booleans())
def test_a_file_stays_whose_it_was(seed: int, is_data: bool) -> None:
    name = path(random.Random(seed))
    found = Names(KEY).of_path(name, is_data)
    assert is_foreign_path(found, is_data) is is_foreign_path(name, is_data)
    assert re.findall(r"\d+", name)[:1] == re.findall(r"\d+", found)[:1]


@pytest.mark.parametrize("name", ["/bin/mypython", "/tmp/ompi.jane.7/x", "/x/hsperfdata_jane/12"])
def test_what_the_system_keeps_is_told_from_the_applications(name: str) -> None:
    assert is_foreign_path(name)
    assert is_foreign_path(Names(KEY).of_path(name))


def test_another_key_gives_other_words_and_the_same_key_the_same() -> None:
    text = "/home/jane/simulation_07"
    assert Names(KEY).of(text) == Names(KEY).of(text)
    assert Names(KEY).of(text) != Names(b"l" * 32).of(text)
    names = Names(KEY)
    assert names.of("Jane jane JANE").split()[0] not in names.of("jane JANE").split()


def test_what_is_forgotten_is_seen() -> None:
    captured, _ = random_capture(1)
    names = Names(KEY)
    found = anonymous(captured, names).trace
    secret = captured.trace.processes[0].program
    forgotten = found.model_copy(update={"gaps": [Gap(layer="x", what=f"a {secret} b")]})
    assert still_named(forgotten, names) == [secret.casefold()]


def texts_of(model: type[BaseModel], at: str = "") -> set[str]:
    """Every field of a document that can hold free text, by its place."""
    found: set[str] = set()
    for name, kind in typing.get_type_hints(model, include_extras=False).items():
        if name == "model_config" or name.startswith("__"):
            continue
        found |= _texts_in(kind, f"{at}.{name}".lstrip("."))
    return found


def _texts_in(kind: Any, at: str) -> set[str]:
    if kind is str:
        return {at}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return texts_of(kind, at)
    return set().union(*(_texts_in(inner, at) for inner in typing.get_args(kind)))


def test_every_text_of_a_trace_is_known() -> None:
    assert texts_of(Trace) == {
        "source.format", "source.file", "source.library_version", "source.log_version",
        "job.started", "job.number", "job.command",
        "records.file", "records.identity", "records.within", "records.counters", "records.times",
        "mounts", "gaps.layer", "gaps.what",
        "files.path", "files.stands_for", "processes.host", "processes.program",
    }, "say in capture/anonymous.py what becomes of it"  # fmt: skip


def test_numbers_that_are_computed_from_names_are_others() -> None:
    captured, _ = random_capture(2)
    record = CounterRecord(
        layer=Layer.POSIX, file="/home/jane", identity="1537", within="", rank=0, counters={},
        times={},
    )  # fmt: skip
    inner = record.model_copy(update={"identity": "9", "within": "1537"})
    trace = captured.trace.model_copy(update={"records": [record, inner], "record_count": 2})
    found = anonymous(Captured(trace, captured.operations), Names(KEY)).trace.records
    assert [(one.identity, one.within) for one in found] == [("1", ""), ("2", "1")]
