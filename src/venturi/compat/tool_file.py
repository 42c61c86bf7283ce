"""Files that a tool's own options ask for, written once its run is in the archive."""

from __future__ import annotations

from pathlib import Path

from venturi.model.error import UserError


def write_tool_file(words: str, path: str | Path, text: str) -> None:
    """Write the file; UserError in the command line's own `words` where that cannot be."""
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise UserError(
            f"{words}: it cannot be written: {error.strerror}",
            "the run itself is in the archive",
        ) from None
