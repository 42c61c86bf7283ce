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
_ALWAYS = {
    "global": {"datadir", "resultdir", "api", "drop-caches", "verbosity"},
    "ior-easy": {"api", "transfersize", "blocksize", "fileperproc", "uniquedir", "verbosity"},
    "ior-hard": {"api", "segmentcount", "verbosity"},
    "mdtest-easy": {"api", "n"},
    "mdtest-hard": {"api", "n"},
    "find": {"external-script", "external-extra-args", "nproc", "pfind-queue-length"},
}
"""Options that every generation of the program writes into its config.ini."""


def text_hash(text: str) -> int:
    """32 bits of a text: each byte is added after a rotation to the left by two."""
    value = 0
    for byte in text.encode():
        value = ((value << 2 | value >> 30) + byte) & _MASK
    return value


def score_hash(result: Sections) -> Check:
    """Whether `[SCORE] hash` of a result.txt is that of its version and numbers.

    Programs of 2021 left the two means out of it.
    """
    score = result.get("SCORE", {})
    try:
        wanted = int(score["hash"], 16)
        version = run_keys(result)["version"]
        texts = [f"version{version}"]
        texts += [f"{name}{result[name]['score']}" for name in SCORED]
        means = [f"MD{score['MD']}", f"BW{score['BW']}"]
        total, _, invalid = score["SCORE"].partition(" ")
        texts.append(f"SCORE{total}")
    except (KeyError, ValueError):
        return Check.ABSENT
    if "INVALID" in invalid:
        texts.append("validNO")
    known = (_xor([*texts, *means]), _xor(texts))
    return Check.RIGHT if wanted in known else Check.WRONG


def config_hash(result: Sections, config: Sections) -> Check:
    """Whether `config-hash` of a result.txt is that of all options in its config.ini.

    The blanks behind a value count in it. ABSENT where the file is not the one that the program
    wrote: `is_resolved` tells.
    """
    try:
        wanted = int(run_keys(result)["config-hash"], 16)
    except (KeyError, ValueError):
        return Check.ABSENT
    if _xor(_counted(config)) == wanted:
        return Check.RIGHT
    return Check.WRONG if is_resolved(config) else Check.ABSENT


def is_resolved(config: Sections) -> bool:
    """Whether a config.ini has all options, as the program writes it; users write some."""
    there = {name.lower(): {key.lower() for key in keys} for name, keys in config.items()}
    return all(keys <= there.get(name, set()) for name, keys in _ALWAYS.items())


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


def run_keys(result: Sections) -> Mapping[str, str]:
    """What a result.txt says of the whole run; early ones say it before their first section."""
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
