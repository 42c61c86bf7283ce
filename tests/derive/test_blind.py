"""Names must not tell anything: traces with hashed names derive to the same workload."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

import pytest

from darshan_log import OURS, trace_of
from venturi.derive.noise import SYSTEM_PREFIXES, side_files
from venturi.derive.workload import derive
from venturi.model.trace import CounterRecord, Layer, Trace
from venturi.model.workload import Workload

KEYS = [b"one", b"another"]
_DIGITS = re.compile(r"\d")


def letters(text: str, key: bytes, length: int) -> str:
    """Letters that depend on all of `text`."""
    digest = hmac.new(key, text.encode(), hashlib.sha512).hexdigest()
    words = digest.translate(str.maketrans("0123456789", "ghijklmnop"))
    return (words * (length // len(words) + 1))[:length]


def by_words(part: str, key: bytes) -> str:
    """Every run of characters that are not digits is replaced by itself."""
    return re.sub(r"\D+", lambda word: letters(word[0], key, len(word[0])), part)


def by_shape(part: str, key: bytes) -> str:
    """The component is replaced as one; components that differ in digits stay alike."""
    new = letters(_DIGITS.sub("#", part), key, len(part))
    return "".join(old if old.isdigit() else n for old, n in zip(part, new, strict=True))


def by_component(part: str, key: bytes) -> str:
    """The component is replaced as one; two different ones have nothing in common."""
    new = letters(part, key, len(part))
    return "".join(old if old.isdigit() else n for old, n in zip(part, new, strict=True))


HASHES = [by_words, by_shape, by_component]


def hashed_path(path: str, key: bytes, component: Callable[[str, bytes], str]) -> str:
    """The path with every component hashed; the tree and system prefixes stay."""
    if path.startswith(SYSTEM_PREFIXES):
        return path
    return "/".join(component(part, key) for part in path.split("/"))


def without_names(trace: Trace, key: bytes, component: Callable[[str, bytes], str]) -> Trace:
    """The trace as somebody who hides all names would hand it over."""
    records: list[CounterRecord] = [
        record.model_copy(update={"file": hashed_path(record.file, key, component)})
        for record in trace.records
    ]
    return trace.model_copy(update={"records": records})


@pytest.mark.parametrize("component", HASHES)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", OURS)
def test_hashed_names_change_nothing(
    name: str, key: bytes, component: Callable[[str, bytes], str]
) -> None:
    trace = without_library_files(trace_of(name))
    hidden = without_names(trace, key, component)
    assert not {r.file for r in hidden.records} & {r.file for r in trace.records}
    assert _nameless(derive(hidden, name)) == _nameless(derive(trace, name))


def without_library_files(trace: Trace) -> Trace:
    """The trace without what an MPI-IO library keeps beside its files: names alone tell that."""
    paths = {record.file for record in trace.records}
    side = side_files(paths, {r.file for r in trace.records if r.layer is Layer.MPIIO})
    records = [record for record in trace.records if record.file not in side]
    return trace.model_copy(update={"records": records})


def _nameless(workload: Workload) -> Workload:
    """The workload without what it says for people: the files' own names."""
    files = {key: file.model_copy(update={"about": ""}) for key, file in workload.files.items()}
    return workload.model_copy(update={"files": files})


@pytest.mark.parametrize("name", OURS)
def test_the_order_of_records_changes_nothing(name: str) -> None:
    trace = trace_of(name)
    backwards = trace.model_copy(update={"records": trace.records[::-1]})
    assert derive(backwards, name) == derive(trace, name)


@pytest.mark.parametrize("component", HASHES)
def test_hashing_keeps_digits_and_tree(component: Callable[[str, bytes], str]) -> None:
    path = hashed_path("/scratch/run350/ckpt.004.0001", KEYS[0], component)
    assert re.sub(r"[a-p]", "x", path) == "/xxxxxxx/xxx350/xxxxx004x0001"
    assert path != hashed_path("/scratch/run350/ckpt.004.0001", KEYS[1], component)
