"""The hashes in a result: a sum of rotated characters, XORed over keys and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from venturi.compat.io500.score import SCORED
from venturi.compat.io500.settings import Sections
from venturi.model.published import Check

_MASK = 0xFFFFFFFF
_DEFAULTS = frozenset({"run=TRUE", "n=1000000", "blockSize=1073741824", "randomPrefill=0"})
"""What several sections have if nobody chooses anything."""
_EMPTY_DEFAULTS = frozenset({"external-mpi-args", "external-extra-args"})
"""Options whose default is an empty text; other empty values are not set, and do not count."""


def text_hash(text: str) -> int:
    """32 bits of a text: each byte is added after a rotation to the left by two."""
    value = 0
    for byte in text.encode():
        value = ((value << 2 | value >> 30) + byte) & _MASK
    return value


def score_hash(result: Sections) -> Check:
    """Whether `[SCORE] hash` of a result.txt is that of its version and numbers."""
    score = result.get("SCORE", {})
    try:
        wanted = int(score["hash"], 16)
        version = _run(result)["version"]
        texts = [f"version{version}"]
        texts += [f"{name}{result[name]['score']}" for name in SCORED]
        total, _, invalid = score["SCORE"].partition(" ")
        texts += [f"MD{score['MD']}", f"BW{score['BW']}", f"SCORE{total}"]
    except (KeyError, ValueError):
        return Check.ABSENT
    if "INVALID" in invalid:
        texts.append("validNO")
    return Check.RIGHT if _xor(texts) == wanted else Check.WRONG


def config_hash(result: Sections, config: Sections) -> Check:
    """Whether `config-hash` of a result.txt is that of all options in its config.ini."""
    try:
        wanted = int(_run(result)["config-hash"], 16)
    except (KeyError, ValueError):
        return Check.ABSENT
    if not config:
        return Check.ABSENT
    return Check.RIGHT if _xor(_counted(config)) == wanted else Check.WRONG


def unseen_options(config: Sections, chosen: Sections) -> list[str]:
    """Options that somebody chose and the config hash does not show, as `key=value`.

    The hash leaves out the section, so a pair that stands in an even number of sections is gone.
    """
    times = Counter(_counted(config))
    unseen = {
        f"{key}={value}"
        for options in chosen.values()
        for key, value in options.items()
        if value and times[key + value] and times[key + value] % 2 == 0
    }
    return sorted(unseen - _DEFAULTS)


def _run(result: Sections) -> Mapping[str, str]:
    return result.get("run") or result.get("", {})


def _counted(config: Sections) -> list[str]:
    return [
        key + value
        for options in config.values()
        for key, value in options.items()
        if value or key in _EMPTY_DEFAULTS
    ]


def _xor(texts: Iterable[str]) -> int:
    value = 0
    for text in texts:
        value ^= text_hash(text)
    return value
