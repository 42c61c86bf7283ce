"""Invalid documents, each with the one path at which both languages refuse it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

ONE: list[dict[str, Any]] = [{"operator": "integer", "integer": 1}]
NEST = {"kind": "nest", "base": ONE, "loops": [{"count": ONE, "stride": ONE}]}
TRANSFER = {"kind": "transfer", "operation": "write", "file": 0, "owner": ONE, "size": ONE}
PLAN: dict[str, Any] = {
    "schema": "venturi.plan/2",
    "run": "r1",
    "name": "small",
    "seed": 1,
    "ranks": 2,
    "repetitions": 1,
    "directory": "/target/r1",
    "journal": "/journal",
    "slots": ["rank", "ranks", "world", "instance", "node", "iteration", "node_rank", "node_ranks"],
    "files": [
        {
            "name": "data",
            "path": [{"text": "data"}],
            "interface": "posix",
            "content": {"compressibility": 0.5},
            "tree": {"items": ONE, "size": ONE},
            "faults": [{"kind": "eio", "operation": "write"}],
        }
    ],
    "groups": [
        {
            "name": "all",
            "ranks": 2,
            "program": [
                {
                    "kind": "phase",
                    "path": "write",
                    "body": [
                        {"kind": "for", "variable": 6, "count": ONE, "body": [{"kind": "barrier"}]},
                        {**TRANSFER, "pattern": NEST},
                    ],
                },
            ],
        }
    ],
}
EVENT: dict[str, Any] = {
    "event": "phase_started",
    "path": "write",
    "group": "all",
    "instance": 0,
    "repetition": 0,
    "iteration": [{"name": "dump", "value": -1}],
    "at_s": 0.5,
}
BASES = {"plan": PLAN, "event": EVENT}
REMOVED = "removed"
MOVE = "groups[0].program[0].body[1]"


@dataclass(frozen=True)
class Case:
    """A valid document of `kind` whose value at `place` is replaced by the JSON text `value`.

    With the empty place, `value` is the whole document.
    """

    what: str
    kind: str
    place: str
    value: str
    fault: str | None = None
    """Where it is refused; None means at `place`."""

    @property
    def path(self) -> str:
        """The path at which both languages refuse it."""
        return self.place if self.fault is None else self.fault

    def text(self) -> str:
        """The invalid document."""
        if not self.place:
            return self.value
        data = json.loads(json.dumps(BASES[self.kind]))
        *way, last = [int(part) if part.isdigit() else part for part in split(self.place)]
        holder: Any = data
        for part in way:
            holder = holder[part]
        if self.value == REMOVED:
            del holder[last]
        else:
            holder[last] = "<here>"
        return json.dumps(data).replace('"<here>"', self.value)


def split(place: str) -> list[str]:
    """`a[3].b` as its parts."""
    return re.findall(r"[^.\[\]]+", place)


def nested(levels: int) -> str:
    """Lists in lists."""
    return "[" * levels + "]" * levels


LONG = json.dumps(PLAN)
ONE_TEXT = json.dumps(ONE)

CASES = [
    # The text as a whole.
    Case("empty text", "plan", "", ""),
    Case("no object", "plan", "", "[]"),
    Case("null", "event", "", "null"),
    Case("text after the end", "plan", "", LONG + " 1"),
    Case("second document", "event", "", '{"event": "warning", "what": ""}{}'),
    Case("unfinished text", "plan", "", LONG[:-1]),
    Case("comma before the end", "plan", "files", "[1,]", ""),
    Case("comment", "plan", "seed", "1 /* one */", ""),
    Case("single quotes", "plan", "name", "'small'", ""),
    Case("leading zero", "plan", "seed", "01", ""),
    Case("leading plus", "plan", "seed", "+1", ""),
    Case("hexadecimal", "plan", "seed", "0x1", ""),
    Case("point without digits", "event", "at_s", "1.", ""),
    Case("NaN", "event", "at_s", "NaN", ""),
    Case("Infinity", "event", "at_s", "Infinity", ""),
    Case("minus Infinity", "event", "at_s", "-Infinity", ""),
    Case("real beyond a double", "event", "at_s", "1e400", ""),
    Case("integer beyond a double", "event", "at_s", "9" * 400, ""),
    Case("integer of 5000 digits", "plan", "seed", "9" * 5000, ""),
    Case("byte order mark", "plan", "", "\ufeff" + LONG),
    Case("zero byte after the end", "plan", "", LONG + "\0"),
    Case("zero byte in a text", "plan", "name", '"\0"', ""),
    Case("tab in a text", "plan", "name", '"\t"', ""),
    Case("half a surrogate pair", "plan", "name", '"\\ud800"', ""),
    Case("unknown escape", "plan", "name", '"\\x41"', ""),
    Case("129 levels", "plan", "zz", nested(128), ""),
    Case("100 000 levels", "plan", "zz", nested(100_000), ""),
    Case("100 000 levels without an end", "plan", "", "[" * 100_000),
    # Keys.
    Case("128 levels are read", "plan", "zz", nested(127)),
    Case("key twice", "plan", "seed", '1, "seed": 1'),
    Case("key twice, deep", "plan", MOVE + ".file", '0, "file": 0'),
    Case("key twice in an unknown value", "plan", "zz", '{"a": [{"b": 0, "b": 1}]}', "zz.a[0].b"),
    Case("unknown key", "plan", "colour", '"red"'),
    Case("empty key", "event", "", '{"event": "warning", "what": "", "": 0}'),
    Case("name of the Python field", "plan", "schema_", '"venturi.plan/2"'),
    Case("unknown key in a step", "plan", MOVE + ".files", "0"),
    Case("key of another step", "plan", "groups[0].program[0].count", ONE_TEXT),
    Case("unknown key in an event", "event", "limit", "1"),
    Case("missing key", "plan", "run", REMOVED),
    Case("missing key in a file", "plan", "files[0].interface", REMOVED),
    Case("missing key in a step", "plan", MOVE + ".file", REMOVED),
    Case("missing key in an event", "event", "iteration[0].value", REMOVED),
    Case("wrong schema", "plan", "schema", '"venturi.plan/9"'),
    Case("schema is a number", "plan", "schema", "1"),
    # Types.
    Case("text for an integer", "plan", "ranks", '"5"'),
    Case("real for an integer", "plan", "ranks", "5.0"),
    Case("exponent for an integer", "plan", "ranks", "1e3"),
    Case("true for an integer", "plan", "ranks", "true"),
    Case("null for an integer", "plan", "ranks", "null"),
    Case("text for a real", "event", "at_s", '"0.5"'),
    Case("false for a real", "event", "at_s", "false"),
    Case("integer for a text", "plan", "name", "5"),
    Case("integer for a flag", "plan", "files[0].keep", "1"),
    Case("text for a flag", "plan", "files[0].keep", '"yes"'),
    Case("object for a list", "plan", "files", "{}"),
    Case("null for a list", "plan", "files", "null"),
    Case("list for an object", "plan", "files[0]", "[]"),
    Case("null for a part that has defaults", "plan", "files[0].content", "null"),
    Case("integer for a word", "plan", "files[0].interface", "0"),
    Case("text in a list of integers", "plan", "slots[3]", "3"),
    # Bounds.
    Case("2^63", "plan", "seed", str(2**63)),
    Case("2^64", "plan", "seed", str(2**64)),
    Case("-2^63 - 1", "event", "iteration[0].value", str(-(2**63) - 1)),
    Case("negative count", "plan", "seed", "-1"),
    Case("no ranks", "plan", "ranks", "0"),
    Case("rank below -1", "plan", "files[0].faults[0].rank", "-2"),
    Case("tree too deep", "plan", "files[0].tree.depth", "65"),
    Case("width too large", "plan", "files[0].path[0].width", "21"),
    Case("negative time", "event", "at_s", "-0.001"),
    Case("share above 1", "plan", "files[0].content.compressibility", "1.0001"),
    Case("empty text where one is needed", "plan", "run", '""'),
    Case("too few slots", "plan", "slots", '["rank"]'),
    Case("no groups", "plan", "groups", "[]"),
    Case("empty expression", "plan", MOVE + ".size", "[]"),
    Case("empty expression that may be null", "plan", "files[0].prestage", "[]"),
    # Words and unions.
    Case("unknown word", "plan", "files[0].interface", '"Posix"'),
    Case("unknown operator", "plan", MOVE + ".size[0].operator", '"plus"'),
    Case("unknown kind of step", "plan", MOVE + ".kind", '"move"'),
    Case("kind of step in capitals", "plan", MOVE + ".kind", '"Transfer"'),
    Case("kind of step is a number", "plan", MOVE + ".kind", "5"),
    Case("kind of step is null", "plan", MOVE + ".kind", "null"),
    Case("kind of step is a list", "plan", MOVE + ".kind", "[]"),
    Case("step without a kind", "plan", MOVE + ".kind", REMOVED),
    Case("step is a word", "plan", MOVE, '"barrier"'),
    Case("step is null", "plan", MOVE, "null"),
    Case("pattern without a kind", "plan", MOVE + ".pattern.kind", REMOVED),
    Case("other pattern", "plan", MOVE + ".pattern.kind", '"random"', MOVE + ".pattern.slots"),
    Case("deep in a pattern", "plan", MOVE + ".pattern.loops[0].stride", "8"),
    Case("event without its name", "event", "event", REMOVED),
    Case("unknown event", "event", "event", '"phase"'),
    Case("limit is a text", "event", "limit_s", '"1"'),
]
