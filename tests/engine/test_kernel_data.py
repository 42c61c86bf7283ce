"""Kernels of big data: the same counts on any number of ranks, and what they leave behind."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from pathlib import Path

import pytest

from engine.running import Engine
from engine.test_kernel_compute import facts
from engine.test_kernel_form import failed, result, run, series

RECORDS = 500
MASK = (1 << 64) - 1
KERNELS = ("data_sort", "data_words", "data_grep", "data_digest", "data_sample")
OF_RANKS = {"most records on a rank"}


def mix(x: int) -> int:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def combine(a: int, b: int) -> int:
    return mix(mix((a + 0x9E3779B97F4A7C15) & MASK) ^ b)


def key_of(text: str) -> int:
    key = 0xCBF29CE484222325
    for byte in text.encode():
        key = (key ^ byte) * 0x100000001B3 & MASK
    return mix(key)


def word(number: int) -> str:
    found, rest = "", number + 100
    while rest:
        rest, syllable = divmod(rest, 100)
        found += "bcdfghjklmnpqrstvwxz"[syllable // 5] + "aeiou"[syllable % 5]
    return found


def lines(seed: int) -> list[str]:
    """The generator's lines, made here by other code."""
    shares = list(accumulate((place + 1 + 2.7) ** -1.05 for place in range(20000)))
    key = combine(seed, key_of("text"))
    made = []
    for line in range(RECORDS):
        draws = ((combine(key, 12 * line + i) >> 11) + 0.5 for i in range(12))
        places = [bisect_left(shares, math.ldexp(draw, -53) * shares[-1]) for draw in draws]
        made.append(" ".join(word(place) for place in places))
    return made


def known(engine: Engine, tmp_path: Path, ranks: int, name: str, **options: str) -> dict[str, str]:
    """The facts of a kernel on so many ranks, without those that are about ranks."""
    comm = "alone" if ranks == 1 else "forked"
    wanted = {"records": str(RECORDS), "samples": "1", **options}
    found = facts(result(run(engine, tmp_path / f"{name}-{ranks}", comm, ranks, name, **wanted)))
    return {key: value for key, value in found.items() if key not in OF_RANKS}


@pytest.mark.parametrize("name", KERNELS)
def test_counts_do_not_depend_on_ranks(engine: Engine, tmp_path: Path, name: str) -> None:
    alone = known(engine, tmp_path, 1, name)
    assert alone["records"] == str(RECORDS)
    for ranks in (2, 3, 5):
        assert known(engine, tmp_path, ranks, name) == alone


def test_counts_are_those_of_other_code(engine: Engine, tmp_path: Path) -> None:
    """The lines are made again here, and counted by Python; a plan's seed is 1."""
    seed = 1
    made = lines(seed)
    words = Counter(word for line in made for word in line.split())
    found = known(engine, tmp_path, 2, "data_words")
    assert int(found["input, bytes"]) == sum(len(line) + 1 for line in made)
    assert int(found["words"]) == words.total() == 12 * RECORDS
    assert int(found["kinds of words"]) == len(words)
    text = words.most_common(20)[-1][0]
    found = known(engine, tmp_path, 3, "data_grep", text=text)
    assert int(found["lines with it"]) == sum(text in line for line in made)
    digests = (hashlib.md5(line.encode(), usedforsecurity=False).digest() for line in made)
    total = sum(int.from_bytes(digest[:8], "little") for digest in digests) & MASK
    assert known(engine, tmp_path, 2, "data_digest")["sum of the digests"] == f"{total:016x}"
    key = combine(seed, key_of("data_sample"))
    taken = sum(math.ldexp((combine(key, i) >> 11) + 0.5, -53) < 0.25 for i in range(RECORDS))
    assert known(engine, tmp_path, 2, "data_sample", share="0.25")["lines taken"] == str(taken)


@pytest.mark.parametrize("name", KERNELS)
def test_parts_are_timed_apart_and_make_up_the_rate(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    found = series(result(run(engine, tmp_path, "forked", 2, name, records="2000", samples="3")))
    [rates] = [point["samples"] for point in found["process"]["points"]]
    parts = [
        found[part]["points"][0]["samples"] for part in ("read", "compute", "exchange", "write")
    ]
    [size] = found["process"]["points"][0]["at"]
    for index, rate in enumerate(rates):
        assert size / rate == pytest.approx(sum(part[index] for part in parts), rel=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_fewer_records_than_ranks(engine: Engine, tmp_path: Path, name: str) -> None:
    wanted = {"records": "2", "samples": "1"}
    assert facts(result(run(engine, tmp_path, "forked", 4, name, **wanted)))["records"] == "2"


@pytest.mark.parametrize("damage", ["false", "true"])
def test_files_are_removed(engine: Engine, tmp_path: Path, damage: str) -> None:
    found = run(engine, tmp_path, "forked", 2, "data_sort", records="100", damage=damage)
    assert found.code == 0
    assert not [path for path in tmp_path.rglob("*data_sort*")]


def test_too_much_for_the_memory_is_said(engine: Engine, tmp_path: Path) -> None:
    kernel = failed(run(engine, tmp_path, "alone", 1, "data_sort", records="1000000000000"))
    assert "data_sort needs" in kernel["failure"]
    assert "of memory on this node" in kernel["failure"]
