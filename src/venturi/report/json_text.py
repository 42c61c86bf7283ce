"""Records as JSON text: the documents themselves, because scripts rely on their fields."""

from __future__ import annotations

import json
from collections.abc import Sequence

from venturi.model.record import Record


def render_json(records: Sequence[Record]) -> str:
    """One record as its document; several as a list of documents."""
    if len(records) == 1:
        return records[0].to_json(indent=2) + "\n"
    data = [record.to_data() for record in records]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
