"""Writes the JSON Schema of a document."""

from __future__ import annotations

import json

from generate.documents import DocumentKind


def text(kind: DocumentKind) -> str:
    """The text of `schema/<name>.schema.json` (JSON Schema 2020-12)."""
    schema = kind.model().model_json_schema(by_alias=True, mode="validation")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
