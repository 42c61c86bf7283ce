"""The journal of a profile under way: every sample at once, so that a kill loses one sheet."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from pydantic import ValidationError

from venturi.model.document import Document, Seconds, parse_json
from venturi.model.error import UserError
from venturi.profile.sample import ProfileSample

FACTS = "facts.json"


class JournalEntry(Document):
    """One sheet that was measured."""

    ranks: int
    place: str
    interface: str
    collective: bool = False
    cells: list[tuple[str, int]]
    seconds: Seconds
    """That it took."""
    samples: list[ProfileSample]


class ProfileJournal:
    """A folder beside the machine file: what was measured, and the runs' own store."""

    def __init__(self, output: Path) -> None:
        self.folder = output.with_name(output.name + ".journal")
        self.store = self.folder / "store"
        self._path = self.folder / "matrices.jsonl"

    def begin(self, facts: str, resume: bool) -> tuple[str, list[JournalEntry]]:
        """The facts of the beginning and the sheets so far; UserError where one is in the way."""
        known = self.folder / FACTS
        if known.is_file():
            if not resume:
                raise UserError(
                    f"{self.folder}: a profile was begun there and did not end",
                    "--resume goes on with it; remove the folder to begin anew",
                )
            return known.read_text("utf-8"), self._entries()
        if resume:
            raise UserError(f"{self.folder}: there is nothing to go on with", "leave --resume out")
        try:
            self.store.mkdir(parents=True)
            known.write_text(facts, "utf-8")
        except OSError as error:
            known.unlink(missing_ok=True)
            for made in (self.store, self.folder):
                with contextlib.suppress(OSError):
                    made.rmdir()
            raise UserError(
                f"{self.folder}: {error.strerror}", "choose another file with -o"
            ) from None
        return facts, []

    def note(self, entry: JournalEntry) -> None:
        """Keep one sheet."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(entry.to_json() + "\n")

    def end(self) -> None:
        """The machine file is written: the journal is not needed any more."""
        shutil.rmtree(self.folder)

    def _entries(self) -> list[JournalEntry]:
        """All whole lines; one that a kill cut off is measured again."""
        if not self._path.is_file():
            return []
        found = []
        for line in self._path.read_text("utf-8", "replace").splitlines():
            try:
                found.append(parse_json(JournalEntry, line))
            except (ValidationError, UserError):
                continue
        return found
