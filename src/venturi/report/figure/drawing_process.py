"""A process that draws figures beside its caller: the library starts while the caller goes on.

It takes half a second to start, as long as ten figures, and holds up all threads meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_PROGRAM = """
import json, sys
import vl_convert
version = json.loads(sys.stdin.readline())
empty = {"data": {"values": []}, "mark": "point"}
vl_convert.vegalite_to_svg(empty, vl_version=version, allowed_base_urls=[])
for line in sys.stdin:
    drawn = vl_convert.vegalite_to_svg(json.loads(line), vl_version=version, allowed_base_urls=[])
    print(json.dumps(drawn), flush=True)
"""


class DrawingProcess:
    """Draws one figure at a time."""

    def __init__(self, version: str) -> None:
        """Starts it; OSError where no process can be started."""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._send(version)

    def draw(self, spec: dict[str, Any]) -> str | None:
        """The picture as the library draws it; None where the process cannot go on."""
        assert self._process.stdout is not None
        self._send(spec)
        try:
            drawn = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return None
        return str(drawn)

    def _send(self, data: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{json.dumps(data)}\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            self._process.kill()

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.communicate()
