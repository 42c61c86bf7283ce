"""Results in files: a summary with what lies beside it, or all of them below a folder."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from venturi.compat.io500 import checksum, judge
from venturi.compat.io500.archive import is_archive, unpacked
from venturi.compat.io500.consistency import contradictions
from venturi.compat.io500.evidence import Evidence, gather
from venturi.compat.io500.list_csv import read_list
from venturi.compat.io500.plain_word import plain, release_of
from venturi.compat.io500.score import SCORED, score
from venturi.compat.io500.settings import MOST_BYTES, Sections, why_unreadable
from venturi.compat.io500.submitted import (
    configuration_of,
    questionnaire_of,
    submitted_files,
)
from venturi.compat.io500.summary import Io500Summary, read_summary
from venturi.model.error import UserError
from venturi.model.published import Check, Flag, Io500Result, Io500Score

SUMMARY_NAME = "result_summary.txt"
KEY_DIGITS = 16
_SUBMISSION = re.compile(r"submission-\d+")


@dataclass(frozen=True)
class Refused:
    """A file that is no result."""

    source: str
    why: str


def import_results(path: Path) -> Iterator[Io500Result | Refused]:
    """All results in a file, in a packed submission, or below a folder, by their names.

    UserError if the path does not exist, if a folder holds neither summaries nor lists, or for an
    archive that is damaged or too large.
    """
    if not path.exists():
        raise UserError(f"{path}: there is no such file or folder")
    if is_archive(path):
        with unpacked(path) as folder:
            for one in import_results(folder):
                yield _of_archive(one, path.name)
        return
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


def _of_archive(one: Io500Result | Refused, archive: str) -> Io500Result | Refused:
    """A result of an archive, with the archive's name before its own."""
    source = f"{archive}/{one.source}"
    if isinstance(one, Refused):
        return Refused(source, one.why.replace(one.source, source, 1))
    return one.model_copy(update={"source": source})


def _scan(top: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(top):
        if SUMMARY_NAME in names:
            yield Path(folder, SUMMARY_NAME)


def _read(path: Path, source: str, parts: tuple[str, ...]) -> Iterator[Io500Result | Refused]:
    try:
        if path.suffix.lower() == ".csv":
            for row in read_list(_bytes(path, source), source):
                yield Refused(source, row) if isinstance(row, str) else row
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
    evidence = gather(path.parent, [phase.name for phase in summary.phases])
    recomputed = score(summary.phases)
    extended = score(summary.phases, extended=True) if summary.published_extended else None
    mismatches = _mismatches(summary, recomputed, extended)
    config_hash = checksum.config_hash(evidence.result, evidence.exact_config)
    if config_hash is Check.WRONG and evidence.config_has_remarks:
        config_hash = Check.ABSENT
    hashes = checksum.score_hash(evidence.result), config_hash
    flags = [
        *contradictions(summary, evidence),
        *mismatches,
        *judge.judge(summary, evidence.config, evidence.result),
        *_damaged(path.parent, evidence.result),
        *_unconfirmed(summary, evidence),
        *_hash_flags(hashes, evidence),
    ]
    owner = owner_of(parts, evidence.information)
    procs, nodes = _size(evidence)
    return Io500Result(
        key=hashlib.sha256(data).hexdigest()[:KEY_DIGITS],
        source=source,
        format=summary.format,
        version=summary.version,
        mode=summary.mode,
        institution=owner.institution,
        system=owner.system,
        filesystem=owner.filesystem,
        storage_vendor=plain(evidence.information.get("storage_vendor", "")),
        release=release_of(evidence.information.get("list_name", "")),
        year=owner.year or _year(evidence),
        procs=procs,
        nodes=nodes,
        classification=evidence.information.get("system_classification", "").lower(),
        configuration=configuration_of(evidence.information),
        questionnaire=questionnaire_of(evidence.information),
        files=submitted_files(path.parent, [phase.name for phase in summary.phases]),
        phases=summary.phases,
        published=summary.published,
        published_extended=summary.published_extended,
        recomputed=recomputed,
        recomputed_extended=extended,
        match=not mismatches,
        score_hash=hashes[0],
        config_hash=hashes[1],
        evidence=evidence.weight,
        ranked=not judge.excluding(flags),
        flags=flags,
    )


def _damaged(folder: Path, result: Sections) -> list[Flag]:
    """Files beside the summary of which something is lost, so that they prove nothing."""
    found = {name: why_unreadable(folder / name) for name in ("result.txt", "config.ini")}
    if result and "hash" not in result.get("SCORE", {}):
        last = next(reversed(result))
        found["result.txt"] = f"it ends within [{last}] and has no score hash: it is cut off"
    elif lost := _lost(result):
        found["result.txt"] = f"{lost} lacks what the others have"
    return [
        Flag(id="damaged-file", what=f"{name}: {why}, so it confirms nothing")
        for name, why in found.items()
        if why
    ]


def _lost(result: Sections) -> str:
    """A phase without its time where others have one; empty if there is none."""
    timed = [name for name, keys in result.items() if "t_delta" in keys]
    untimed = [name for name in SCORED if name in result and name not in timed]
    if timed and untimed:
        return f"[{untimed[0]}]"
    return "" if "config-hash" in checksum.run_keys(result) or not result else "[run]"


def _unconfirmed(summary: Io500Summary, evidence: Evidence) -> list[Flag]:
    """That nothing beside a summary says the same numbers."""
    if evidence.result or (summary.format == "bash" and evidence.logs):
        return []
    what = "no result.txt stands beside the summary, so no hash confirms its numbers"
    if not evidence.logs:
        what = "nothing stands beside the summary that confirms its numbers"
    return [Flag(id="unconfirmed", what=what)]


def _mismatches(
    summary: Io500Summary, recomputed: Io500Score, extended: Io500Score | None
) -> list[Flag]:
    is_old = summary.format == "bash"
    flags = judge.explain(summary.published, recomputed, summary.phases, is_old)
    if summary.published_extended is not None and extended is not None:
        for name, theirs, ours in judge.differences(summary.published_extended, extended):
            what = f"published extended {name} {theirs:g}, but its phases give {ours:g}"
            flags.append(Flag(id=f"mismatch-extended-{name}", what=what, excludes=True))
    return flags


def _hash_flags(hashes: tuple[Check, Check], evidence: Evidence) -> list[Flag]:
    flags = []
    for name, found in zip(("score", "config"), hashes, strict=True):
        if found is Check.WRONG:
            subject = "numbers" if name == "score" else "options"
            what = f"the {name} hash is not that of the {subject}: one of them was edited"
            flags.append(Flag(id=f"{name}-hash", what=what, excludes=True))
    if evidence.invalid_remarks and "INVALID" not in evidence.result.get("SCORE", {}).get(
        "SCORE", ""
    ):
        remark = evidence.invalid_remarks[0]
        what = f"result.txt says 'INVALID {remark}', but does not call the run invalid"
        flags.append(Flag(id="remark", what=what))
    if hashes[0] is Check.ABSENT and "hash" in evidence.result.get("SCORE", {}):
        what = "result.txt has a score hash, but not all numbers that go into it"
        flags.append(Flag(id="damaged-file", what=what))
    if evidence.result and hashes[1] is Check.ABSENT:
        what = (
            "config.ini is not the complete one that the program writes, so its hash could not be "
            "checked"
            if evidence.config
            else "there is no config.ini, so the config hash could not be checked"
        )
        flags.append(Flag(id="config-unconfirmed", what=what))
    unseen = checksum.unseen_options(evidence.config, evidence.chosen)
    if unseen:
        what = f"the config hash does not show {', '.join(unseen)}: equal options cancel in it"
        flags.append(Flag(id="config-hash-ambiguous", what=what))
    return flags


def _size(evidence: Evidence) -> tuple[int | None, int | None]:
    """Client processes and nodes: from the logs, else from result.txt, else from the owner."""
    told = [log for log in evidence.logs if log.tasks]
    if told:
        return told[0].tasks, told[0].nodes
    run = evidence.result.get("run", {})
    text = run.get("procs") or evidence.result.get("find", {}).get("nproc", "")
    nodes = evidence.information.get("client_nodes", "")
    return _whole(text), _whole(nodes)


def _whole(text: str) -> int | None:
    return int(text) or None if text.isdecimal() else None


def _year(evidence: Evidence) -> int | None:
    started = evidence.result.get("ior-easy-write", {}).get("t_start", "")[:4]
    return int(started) if started.isdecimal() else None


@dataclass(frozen=True)
class SubmissionOwner:
    """Whose result it is."""

    institution: str = ""
    system: str = ""
    filesystem: str = ""
    year: int | None = None


def owner_of(parts: tuple[str, ...], information: Mapping[str, str]) -> SubmissionOwner:
    """From a path of the list's own archive, which its site corrects, else from the submitter."""
    for index, part in enumerate(parts):
        if index >= 4 and _SUBMISSION.fullmatch(part) and parts[index - 1].isdecimal():
            institution, system, filesystem, year = parts[index - 4 : index]
            return SubmissionOwner(institution, system, filesystem, int(year))
    names = ("filesystem_type", "filesystem_name", "storage_vendor")
    filesystem = next((information[name] for name in names if name in information), "")
    return SubmissionOwner(
        information.get("institution", ""), information.get("system", ""), filesystem
    )
