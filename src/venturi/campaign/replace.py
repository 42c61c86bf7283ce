"""Writes a copy of a file with texts replaced: what steps out of JUBE's files do to inputs.

`python -m venturi.campaign.replace IN OUT write|append [text|regex SOURCE DESTINATION]...`
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main(words: list[str]) -> int:
    """0; 2 with a message for a file that cannot be read or written."""
    source, target, mode, *rules = words
    try:
        text = Path(source).read_text("utf-8", "surrogateescape")
        for kind, old, new in zip(rules[::3], rules[1::3], rules[2::3], strict=True):
            text = text.replace(old, new) if kind == "text" else re.sub(old, new, text)
        with Path(target).open(
            "a" if mode == "append" else "w", encoding="utf-8", errors="surrogateescape"
        ) as file:
            file.write(text)
    except (OSError, re.error) as error:
        print(f"{source} -> {target}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
