"""Kernels of big data: the same counts on any number of ranks, and what they leave behind."""

from __future__ import annotations

import hashlib
import math
import struct
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
OF_RECORDS = ("data_sort", "data_words", "data_grep", "data_digest", "data_sample")
SIZES = {
    **{name: {"records": str(RECORDS)} for name in OF_RECORDS},
    "data_components": {"scale": "9", "edges": "1"},
    "data_fft": {"n": "32"},
    "data_matrix": {"n": "50"},
}
TWO_RECORDS = {
    "data_components": {"scale": "1", "edges": "1"},
    "data_fft": {"n": "2"},
    "data_matrix": {"n": "2"},
}
OF_RANKS = {"most records on a rank", "exchanges of labels"}


def mix(x: int) -> int:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def combine(a: int, b: int) -> int:
    return mix(mix((a + 0x9E3779B97F4A7C15) & MASK) ^ b)


def key_of(text: str | bytes) -> int:
    key = 0xCBF29CE484222325
    for byte in text.encode() if isinstance(text, str) else text:
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


def permuted(at: int, size: int, key: int) -> int:
    """The engine's keyed order of more than 256 places, an even power of two."""
    half = (size.bit_length() - 1) // 2
    left, right = at >> half, at & ((1 << half) - 1)
    for turn in range(6):
        mixed = mix((key + (turn << 56) + right) & MASK)
        left, right = right, left ^ (mixed & ((1 << half) - 1))
    return left << half | right


def labels(seed: int, scale: int, edges: int) -> list[int]:
    """The least vertex of each vertex's component: labels go along edges until none falls."""
    key = combine(seed, key_of("graph"))
    bounds = (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19)
    joined = []
    for edge in range(edges):
        ends = [0, 0]
        for level in range(scale):
            draw = math.ldexp((combine(combine(key, edge), level) >> 11) + 0.5, -53)
            quadrant = sum(draw >= bound for bound in bounds)
            ends = [2 * ends[0] + quadrant // 2, 2 * ends[1] + quadrant % 2]
        joined.append([permuted(end, 1 << scale, combine(key, scale)) for end in ends])
    least, falls = list(range(1 << scale)), True
    while falls:
        falls = False
        for one, other in joined:
            if least[one] != least[other]:
                least[one] = least[other] = min(least[one], least[other])
                falls = True
    return least


def entry(key: int, at: int) -> int:
    """A whole number of a matrix or a square."""
    return combine(key, at) % 17 - 8


def known(
    engine: Engine, tmp_path: Path, ranks: int, name: str, *, comm: str = "", **options: str
) -> dict[str, str]:
    """The facts of a kernel on so many ranks, without those that are about ranks."""
    comm = comm or ("alone" if ranks == 1 else "forked")
    wanted = {**SIZES[name], "samples": "1", **options}
    where = tmp_path / f"{name}-{comm}-{ranks}"
    found = facts(result(run(engine, where, comm, ranks, name, **wanted)))
    return {key: value for key, value in found.items() if key not in OF_RANKS}


@pytest.mark.parametrize("name", SIZES)
def test_counts_do_not_depend_on_ranks(engine: Engine, tmp_path: Path, name: str) -> None:
    alone = known(engine, tmp_path, 1, name)
    assert alone["records"] == SIZES[name].get("n", "512" if "scale" in SIZES[name] else "500")
    for ranks in (2, 3, 4, 5):
        assert known(engine, tmp_path, ranks, name) == alone


@pytest.mark.parametrize("name", SIZES)
def test_counts_under_each_mpi_are_those_of_one_rank(
    engine: Engine, tmp_path: Path, mpi: str, name: str
) -> None:
    alone = known(engine, tmp_path, 1, name)
    for ranks in (2, 3):
        assert known(engine, tmp_path, ranks, name, comm=mpi) == alone


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


@pytest.mark.parametrize("edges", [1, 3])
def test_components_are_those_of_other_code(engine: Engine, tmp_path: Path, edges: int) -> None:
    scale, seed = 10, 1
    least = labels(seed, scale, edges << scale)
    found = known(engine, tmp_path, 3, "data_components", scale=str(scale), edges=str(edges))
    assert found["vertices"] == "1024"
    assert found["compared with components found by one rank"] == "yes"
    parts = sum(label == vertex for vertex, label in enumerate(least))
    assert 1 < parts < 1024
    assert found["components"] == str(parts)
    total = sum(combine(vertex, label) for vertex, label in enumerate(least)) & MASK
    assert found["sum of the labels"] == f"{total:016x}"


def test_square_is_that_of_other_code(engine: Engine, tmp_path: Path) -> None:
    """The first value of a transform is the sum of its input."""
    key = combine(1, key_of("square"))
    entries = [entry(key, at) for at in range(2 * 32 * 32)]
    found = known(engine, tmp_path, 3, "data_fft")
    wanted = f"{sum(entries[::2])}, {sum(entries[1::2])}"
    assert found["sum of the input, real and imaginary"] == wanted
    assert 0.0 < float(found["scaled error after the way back"]) < 4.0


def test_product_is_that_of_other_code(engine: Engine, tmp_path: Path) -> None:
    n = 13
    left, right = (
        [[entry(combine(1, key_of(name)), j * n + i) for i in range(n)] for j in range(n)]
        for name in ("left matrix", "right matrix")
    )
    total = 0
    for j in range(n):
        column = [sum(left[k][i] * right[j][k] for k in range(n)) for i in range(n)]
        total += combine(key_of(struct.pack(f"<{n}d", *column)), j)
    found = known(engine, tmp_path, 4, "data_matrix", n=str(n))
    assert found["sum of the product's columns"] == f"{total & MASK:016x}"


@pytest.mark.parametrize("n", ["2", "4", "8", "128"])
def test_squares_of_any_size_are_transformed(engine: Engine, tmp_path: Path, n: str) -> None:
    """The kernel compares places with the definition, and the way back with the input."""
    assert known(engine, tmp_path, 3, "data_fft", n=n)["records"] == n


def test_rate_of_work_is_that_of_compute_and_exchange(engine: Engine, tmp_path: Path) -> None:
    work = {"data_fft": ("transform", 5 * 1024 * 10), "data_matrix": ("multiply", 2 * 50**3)}
    for name, (figure, amount) in work.items():
        options = {**SIZES[name], "samples": "3"}
        found = series(result(run(engine, tmp_path / name, "forked", 2, name, **options)))
        rates, computed, exchanged = (
            found[part]["points"][0]["samples"] for part in (figure, "compute", "exchange")
        )
        for rate, one, other in zip(rates, computed, exchanged, strict=True):
            assert amount / rate == pytest.approx(one + other, rel=1e-6)


@pytest.mark.parametrize("name", SIZES)
def test_parts_are_timed_apart_and_make_up_the_rate(
    engine: Engine, tmp_path: Path, name: str
) -> None:
    wanted = {**SIZES[name], "samples": "3"}
    found = series(result(run(engine, tmp_path, "forked", 2, name, **wanted)))
    [rates] = [point["samples"] for point in found["process"]["points"]]
    parts = [
        found[part]["points"][0]["samples"] for part in ("read", "compute", "exchange", "write")
    ]
    [size] = found["process"]["points"][0]["at"]
    for index, rate in enumerate(rates):
        assert size / rate == pytest.approx(sum(part[index] for part in parts), rel=1e-6)


@pytest.mark.parametrize("name", SIZES)
def test_fewer_records_than_ranks(engine: Engine, tmp_path: Path, name: str) -> None:
    wanted = {**TWO_RECORDS.get(name, {"records": "2"}), "samples": "1"}
    assert facts(result(run(engine, tmp_path, "forked", 4, name, **wanted)))["records"] == "2"


@pytest.mark.parametrize("name", ["data_sort", "data_components", "data_fft", "data_matrix"])
@pytest.mark.parametrize("damage", ["false", "true"])
def test_files_are_removed(engine: Engine, tmp_path: Path, damage: str, name: str) -> None:
    found = run(engine, tmp_path, "forked", 2, name, **SIZES[name], damage=damage)
    assert found.code == 0
    assert not [path for path in tmp_path.rglob(f"*{name}*")]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("data_sort", {"records": "1000000000000"}),
        ("data_components", {"scale": "38"}),
        ("data_fft", {"n": "131072"}),
        ("data_matrix", {"n": "262144"}),
    ],
)
def test_too_much_for_the_memory_is_said(
    engine: Engine, tmp_path: Path, name: str, size: dict[str, str]
) -> None:
    kernel = failed(run(engine, tmp_path, "alone", 1, name, **size))
    assert f"{name} needs" in kernel["failure"]
    assert "of memory on this node" in kernel["failure"]


@pytest.mark.parametrize(
    ("name", "option", "value", "words"),
    [
        ("data_components", "scale", "41", "scale must be 1 to 40, not 41"),
        ("data_fft", "n", "1000", "n must be 2, 4, 8"),
        ("data_matrix", "n", "0", "n must be 1 to 262144, not 0"),
        ("data_fft", "records", "10", "there is no option records"),
    ],
)
def test_impossible_sizes_are_refused(
    engine: Engine, tmp_path: Path, name: str, option: str, value: str, words: str
) -> None:
    found = run(engine, tmp_path, "alone", 1, name, **{option: value})
    assert found.code == 2
    assert words in found.failed["message"]
