"""Seeded, stateless random choices: the twins of `engine/base/random.hpp` and its permutation.

The numbers must equal the engine's, because a plan's totals and expressions rely on them.
"""

from __future__ import annotations

from functools import lru_cache

_WORD = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_ROUNDS = 6
_FEW = 256


def mix(x: int) -> int:
    """SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit words."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def combine(a: int, b: int) -> int:
    """One key out of two words."""
    return mix(mix((a + _GOLDEN) & _WORD) ^ b)


def uniform(key: int, index: int, bound: int) -> int:
    """Uniform in [0, bound), the same for the same key and index; unbiased (Lemire 2019)."""
    threshold = (2**64 - bound) % bound
    draw = combine(key, index)
    while (draw * bound) & _WORD < threshold:
        draw = mix((draw + _GOLDEN) & _WORD)
    return (draw * bound) >> 64


def uniform_real(key: int, index: int) -> float:
    """Uniform in (0, 1), the same for the same key and index; 53 bits."""
    return ((combine(key, index) >> 11) + 0.5) * 2.0**-53


def key_of(text: str) -> int:
    """A key of a text: FNV-1a over its UTF-8, then mixed."""
    word = 0xCBF29CE484222325
    for letter in text.encode("utf-8", "surrogateescape"):
        word = ((word ^ letter) * 0x100000001B3) & _WORD
    return mix(word)


def permute(index: int, size: int, key: int) -> int:
    """Where a keyed permutation of [0, size) takes `index` (see `pattern/permutation.hpp`)."""
    if size <= _FEW:
        return _shuffled(size, key)[index]
    half_bits = ((size - 1).bit_length() + 1) // 2
    mask = (1 << half_bits) - 1
    while True:
        left, right = index >> half_bits, index & mask
        for turn in range(_ROUNDS):
            left, right = right, left ^ (mix((key + (turn << 56) + right) & _WORD) & mask)
        index = (left << half_bits) | right
        if index < size:
            return index


@lru_cache(maxsize=64)
def _shuffled(size: int, key: int) -> tuple[int, ...]:
    """All places of a small permutation (Fisher and Yates)."""
    places = list(range(size))
    for i in range(size, 1, -1):
        other = uniform(key, i, i)
        places[i - 1], places[other] = places[other], places[i - 1]
    return tuple(places)
