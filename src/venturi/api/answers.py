"""Documents of several kinds on one page: what each name stands for, and the files of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from venturi.api.document import open_document
from venturi.api.source import is_capture
from venturi.model.document import Document
from venturi.model.record import Record
from venturi.model.review import Io500Review

INDEX = "index"
"""The page of answers, in a folder with the whole pages."""


@dataclass(frozen=True)
class Named:
    """A document, and what it is called."""

    name: str
    document: Document
    review: Io500Review | None = None
    """Of a run of io500."""


def opened(names: Sequence[str], store: Path) -> list[Named]:
    """What the names stand for, in their order. Raises UserError where one stands for nothing."""
    return [_opened(name, store) for name in names]


def _opened(name: str, store: Path) -> Named:
    from venturi.analyse.characterization import characterization_of
    from venturi.sources.open import read_capture
    from venturi.store.archive import find, load_record

    known = open_document(name)
    if known is not None:
        return Named(*known)
    if is_capture(name):
        title = Path(name).resolve().name.removesuffix(".trace").removesuffix(".darshan")
        return Named(title, characterization_of(read_capture(Path(name)), title))
    record = load_record(find(store, name))
    return Named(record.name, record, _review_of(record, store))


def _review_of(record: Record, store: Path) -> Io500Review | None:
    from venturi.compat.io500.own import is_io500
    from venturi.compat.io500.review import review_of
    from venturi.store.published import load_all

    return review_of(record, list(load_all(store))) if is_io500(record) else None


def page_text(found: Sequence[Named], form: str, units: str) -> str:
    """The page alone, as `html` or `md`, or the documents as a list in `json`."""
    if form == "json":
        texts = ",\n".join(one.document.to_json(indent=1) for one in found)
        return f"[\n{texts}\n]\n"
    return _page(found, [""] * len(found), form, units)


def page_files(found: Sequence[Named], form: str, units: str) -> dict[str, str]:
    """The page and the whole page of each document beside it, by the names of their files."""
    from venturi.report.render import render, render_document

    files: dict[str, str] = {}
    for one in found:
        stem = re.sub(r"[^A-Za-z0-9_.=-]", "-", f"{_kind(one.document)}-{one.name}").strip(".")
        name, number = f"{stem}.{form}", 2
        while name in files:
            name, number = f"{stem}-{number}.{form}", number + 1
        if isinstance(one.document, Record):
            reviews = {one.document.id: one.review} if one.review else {}
            files[name] = render([one.document], form, units, reviews)
        else:
            files[name] = render_document(one.document, form, units)
    return {**files, f"{INDEX}.{form}": _page(found, list(files), form, units)}


def _kind(document: Document) -> str:
    """`tuning` of `venturi.tuning/2`."""
    schema = str(getattr(document, "schema_", type(document).__name__.lower()))
    return schema.partition("/")[0].removeprefix("venturi.")


def _page(found: Sequence[Named], addresses: Sequence[str], form: str, units: str) -> str:
    from venturi.report.answers import AnsweringDocument
    from venturi.report.render import render_answers

    pairs = zip(found, addresses, strict=True)
    answers = [AnsweringDocument(one.document, address, one.review) for one, address in pairs]
    return render_answers(answers, form, units)
