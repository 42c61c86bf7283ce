"""Results in files: a summary with what lies beside it, or all of them below a folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.io500 import checksum, judge
from venturi.compat.io500.list_csv import read_list
from venturi.compat.io500.score import missing, score
from venturi.compat.io500.settings import MOST_BYTES, Sections, read_settings, why_unreadable
from venturi.compat.io500.summary import Io500Summary, read_summary
from venturi.model.error import UserError
from venturi.model.published import Check, Flag, Io500Result, Io500Score

SUMMARY_NAME = "result_summary.txt"
KEY_DIGITS = 16
_LAUNCHED = re.compile(rb"was launched with (\d+) total task\(s\) on (\d+) node")
_HEAD_BYTES = 64 << 10
_SUBMISSION = re.compile(r"submission-\d+")


@dataclass(frozen=True)
class Refused:
    """A file that is no result."""

    source: str
    why: str


def import_results(path: Path) -> Iterator[Io500Result | Refused]:
    """All results in a file or below a folder, in the order of their names.

    UserError if the path does not exist, or if a folder holds neither summaries nor lists.
    """
    if not path.exists():
        raise UserError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        yield from _read(path, path.name, path.absolute().parts)
        return
    empty = True
    for found in sorted(_scan(path)):
        empty = False
        yield from _read(found, str(found.relative_to(path)), found.absolute().parts)
    if empty:
        raise UserError(
            f"{path}: no {SUMMARY_NAME} and no list below this folder",
            "name the folder into which io500 wrote, or one above it",
        )


def _scan(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        if SUMMARY_NAME in names:
            yield Path(folder, SUMMARY_NAME)


def _read(path: Path, source: str, parts: tuple[str, ...]) -> Iterator[Io500Result | Refused]:
    try:
        if path.suffix.lower() == ".csv":
            yield from read_list(_bytes(path, source), source)
        else:
            yield _result(path, source, parts)
    except UserError as error:
        yield Refused(source, error.message)


def _bytes(path: Path, source: str) -> bytes:
    if not path.is_file():
        raise UserError(f"{source}: this is no regular file", "name a file, or a folder of some")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{source}: over {MOST_BYTES >> 20} MiB: no result is so large")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{source}: {error.strerror}") from None


def _result(path: Path, source: str, parts: tuple[str, ...]) -> Io500Result:
    data = _bytes(path, source)
    summary = read_summary(data, source)
    folder = path.parent
    result = read_settings(folder / "result.txt")
    config = read_settings(folder / "config.ini")
    procs, nodes = _size(folder, result)
    institution, system, filesystem, year = _origin(parts)
    recomputed = score(summary.phases)
    extended = score(summary.phases, extended=True) if summary.published_extended else None
    mismatches = _mismatches(summary, recomputed, extended)
    flags = mismatches + judge.judge(summary, config, result)
    hashes = checksum.score_hash(result), checksum.config_hash(result, config)
    flags += _damaged(folder, result)
    flags += _hash_flags(hashes, config, read_settings(folder / "config-orig.ini"))
    return Io500Result(
        key=hashlib.sha256(data).hexdigest()[:KEY_DIGITS],
        source=source,
        format=summary.format,
        version=summary.version,
        mode=summary.mode,
        institution=institution,
        system=system,
        filesystem=filesystem,
        year=year,
        procs=procs,
        nodes=nodes,
        phases=summary.phases,
        published=summary.published,
        published_extended=summary.published_extended,
        recomputed=recomputed,
        recomputed_extended=extended,
        match=not mismatches,
        score_hash=hashes[0],
        config_hash=hashes[1],
        ranked=not missing(summary.phases) and not summary.invalid,
        flags=flags,
    )


def _damaged(folder: Path, result: Sections) -> list[Flag]:
    """Files beside the summary of which something is lost, so that they prove nothing."""
    found = {name: why_unreadable(folder / name) for name in ("result.txt", "config.ini")}
    if result and "SCORE" not in result:
        last = next(reversed(result))
        found["result.txt"] = f"it ends within [{last}] and has no score: it is cut off"
    return [
        Flag(id="damaged-file", what=f"{name}: {why}, so no hash could be checked with it")
        for name, why in found.items()
        if why
    ]


def _mismatches(
    summary: Io500Summary, recomputed: Io500Score, extended: Io500Score | None
) -> list[Flag]:
    is_old = summary.format == "bash"
    flags = judge.explain(summary.published, recomputed, summary.phases, is_old)
    if summary.published_extended is not None and extended is not None:
        for name, theirs, ours in judge.differences(summary.published_extended, extended):
            what = f"published extended {name} {theirs:g}, but its phases give {ours:g}"
            flags.append(Flag(id=f"mismatch-extended-{name}", what=what))
    return flags


def _hash_flags(hashes: tuple[Check, Check], config: Sections, chosen: Sections) -> list[Flag]:
    flags = []
    for name, found in zip(("score", "config"), hashes, strict=True):
        if found is Check.WRONG:
            subject = "numbers" if name == "score" else "options"
            what = (
                f"the {name} hash is not that of the {subject}: edited, or of a version that "
                "computed it in another way"
            )
            flags.append(Flag(id=f"{name}-hash", what=what))
    unseen = checksum.unseen_options(config, chosen)
    if unseen:
        what = f"the config hash does not show {', '.join(unseen)}: equal options cancel in it"
        flags.append(Flag(id="config-hash-ambiguous", what=what))
    return flags


def _size(folder: Path, result: Sections) -> tuple[int | None, int | None]:
    """Client processes and nodes: from mdtest's own words, else from result.txt."""
    for name in ("mdtest-easy-write.txt", "mdtest_easy_write.txt"):
        if not (folder / name).is_file():
            continue
        try:
            with (folder / name).open("rb") as log:
                found = _LAUNCHED.search(log.read(_HEAD_BYTES))
        except OSError:
            continue
        if found:
            return int(found[1]) or None, int(found[2]) or None
    text = result.get("run", {}).get("procs") or result.get("find", {}).get("nproc", "")
    return (int(text) or None if text.isdecimal() else None), None


def _origin(parts: tuple[str, ...]) -> tuple[str, str, str, int | None]:
    """Institution, system, file system and year from a path of the list's own archive."""
    for index, part in enumerate(parts):
        if index >= 4 and _SUBMISSION.fullmatch(part) and parts[index - 1].isdecimal():
            return parts[index - 4], parts[index - 3], parts[index - 2], int(parts[index - 1])
    return "", "", "", None
