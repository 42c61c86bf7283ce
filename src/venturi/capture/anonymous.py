"""A capture without what says whose it is, so that it can be handed to somebody else.

Every word of a name becomes another one, by a secret key: the same word always becomes the same,
and nobody without the key can tell which it was, or try whether it was a certain one. What is no
word stays: digits, dots, separators, and so the tree of the files and the numbers in their names.
Words of a public list stay, too: formats, folders of systems, programs that all have. By these,
derive tells an application's own files from those of the system.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from venturi.capture.public_word import PUBLIC_WORDS
from venturi.derive.noise import is_foreign_path
from venturi.model.trace import CounterRecord, Gap, Process, Trace, TracedFile
from venturi.model.trace_folder import Captured

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD_LETTERS = 9
"""Of a word that stands for another: 5e12 of them, so that among 1e5 words two are the same once in
a thousand captures; then a digit is put behind one of them."""
FOREIGN_FOLDER = "/usr"
"""Where a file of the system is put whose name would not tell that any more."""

_WORD = re.compile(r"[^\W\d_]+")
_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"|\S*[./]\S+")
"""In a sentence, what is a name: quoted, or with a dot or a slash within it."""

_OURS = frozenset({"schema", "format", "library_version", "log_version", "layer", "layers"})
"""Keys of a trace whose texts no name can be in."""


@dataclass
class Names:
    """Words for words, by one key."""

    key: bytes
    given: dict[str, str] = field(default_factory=dict)
    """What stands for each word so far."""
    _taken: set[str] = field(default_factory=set)

    def of(self, text: str) -> str:
        """The text with each of its private words replaced."""
        return _WORD.sub(lambda match: self._word(match[0]), text)

    def of_path(self, path: str, is_data: bool = False) -> str:
        """The same of a path; a file of the system stays one, and the application's its own."""
        found = self.of(path)
        if is_foreign_path(path, is_data) and not is_foreign_path(found, is_data):
            return f"{FOREIGN_FOLDER}/{found.lstrip('/')}"
        return found

    def of_sentence(self, text: str) -> str:
        """A sentence of ours, in which names are quoted or have a dot or slash; call it last."""
        named = _NAMED.sub(lambda match: self.of(match[0]), text)
        return _WORD.sub(lambda match: self.given.get(match[0], match[0]), named)

    def _word(self, word: str) -> str:
        if len(word) == 1 or word.casefold() in PUBLIC_WORDS:
            return word
        if word not in self.given:
            made = self._made(word)
            while made in self._taken:
                made += "0"
            self._taken.add(made)
            self.given[word] = made
        return self.given[word]

    def _made(self, word: str) -> str:
        number = int.from_bytes(hmac.digest(self.key, word.encode("utf-8", "replace"), sha256))
        letters = []
        for _ in range(WORD_LETTERS):
            number, at = divmod(number, len(LETTERS))
            letters.append(LETTERS[at])
        return "".join(letters)


def anonymous(captured: Captured, names: Names) -> Captured:
    """The capture with other names; its calls, their times and places are as they were.

    When it ran, as which job, and the log's own numbers of files (which are computed from their
    names) are left out.
    """
    trace = captured.trace
    numbers: dict[str, str] = {}
    data = {file.path for file in trace.files if file.is_data}
    records = [_record(record, names, numbers, record.file in data) for record in trace.records]
    changed = trace.model_copy(
        update={
            "source": trace.source.model_copy(update={"file": names.of(trace.source.file)}),
            "job": trace.job.model_copy(
                update={"started": "", "number": "", "command": names.of(trace.job.command)}
            ),
            "records": records,
            "mounts": {names.of_path(place): kind for place, kind in trace.mounts.items()},
            "files": [_file(file, names) for file in trace.files],
            "processes": [_process(process, names) for process in trace.processes],
            "gaps": [],
        }
    )
    gaps = [Gap(layer=gap.layer, what=names.of_sentence(gap.what)) for gap in trace.gaps]
    return Captured(changed.model_copy(update={"gaps": gaps}), captured.operations)


def _record(
    record: CounterRecord, names: Names, numbers: dict[str, str], is_data: bool
) -> CounterRecord:
    def number(identity: str) -> str:
        return numbers.setdefault(identity, str(len(numbers) + 1)) if identity else ""

    return record.model_copy(
        update={
            "file": names.of_path(record.file, is_data),
            "identity": number(record.identity),
            "within": number(record.within),
        }
    )


def _file(file: TracedFile, names: Names) -> TracedFile:
    return file.model_copy(
        update={
            "path": names.of_path(file.path, file.is_data),
            "stands_for": names.of_path(file.stands_for, file.is_data),
        }
    )


def _process(process: Process, names: Names) -> Process:
    return process.model_copy(
        update={"host": names.of(process.host), "program": names.of(process.program)}
    )


def still_named(trace: Trace, names: Names) -> list[str]:
    """Private words, in small letters, that stand in the texts of a trace all the same.

    Looked at is every text there is, but for those that only ever hold words of Venturi's own; so
    what is added to a trace and forgotten here is seen.
    """
    private = {word.casefold() for word in names.given}
    return sorted(private & set(_words_of(trace.to_data())))


def _words_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (word.casefold() for word in _WORD.findall(value))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "mounts":
                yield from _words_of(list(inner))
            elif key not in _OURS:
                yield from _words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words_of(inner)
