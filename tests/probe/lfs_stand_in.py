"""Answers as the `lfs` of a Lustre with three OSTs and two MDTs, and writes each dialogue down.

The layout of each directory is kept in a file beside the log. `refuse` in the folder makes it
refuse directories on other MDTs, as Lustre does to users by default; `forget` makes what is made
below a directory go to server 0, as where somebody changed the layout.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HOME = Path(__file__).parent
LAYOUTS = HOME / "layouts.json"
OSTS = ("ACTIVE", "INACTIVE", "ACTIVE")


def main(words: list[str]) -> int:
    """Run one command."""
    with (HOME / "dialogue").open("a") as log:
        log.write(" ".join(words) + "\n")
    known = json.loads(LAYOUTS.read_text()) if LAYOUTS.exists() else {}
    verb, path = words[0], words[-1]
    if verb == "osts":
        print("OBDS:")
        print("\n".join(f"{n}: scratch-OST{n:04x}_UUID {state}" for n, state in enumerate(OSTS)))
        return 0
    if verb == "mdts":
        print("MDTS:\n0: scratch-MDT0000_UUID ACTIVE\n1: scratch-MDT0001_UUID ACTIVE")
        return 0
    index = words[words.index("-i") + 1] if "-i" in words else ""
    if verb == "mkdir":
        if (HOME / "refuse").exists():
            print(f"lfs mkdir: dirstripe error on '{path}': Operation not permitted",
                  file=sys.stderr)  # fmt: skip
            return 1
        os.mkdir(path)
    elif verb in ("setstripe", "setdirstripe"):
        assert Path(path).is_dir()
        known[path] = index
        LAYOUTS.write_text(json.dumps(known))
    elif verb in ("getstripe", "getdirstripe"):
        assert Path(path).exists()
        forgets = (HOME / "forget").exists()
        print("0" if forgets else known.get(os.path.dirname(path), "0"))
    else:
        print(f"lfs: unknown command '{verb}'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
