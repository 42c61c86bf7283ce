"""What telling the truth costs: the log of operations, content, and verification, per operation.

Nanoseconds of an operation on null storage, the fastest of many short passes, so that nothing but
the engine's own work is in them; turn and turn about, because absolute times do not travel.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from engine.plans import LOOP, Content, file, loop, manage, nest, phase, plan, write  # noqa: E402

BLOCK = 4096
COUNT = 50_000
PASSES = 20
CASES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "log of operations": {"log_operations": True},
    "a share of duplicates": {"content": Content(duplicates=0.3)},
    "stamps, written": {"content": Content(verify=True)},
}


def cost_ns(engine: str, place: Path, content: Content | None = None, **changes: Any) -> float:
    """The fastest pass's nanoseconds of one write of 4 KiB."""
    made = plan(
        place,
        [file(interface="null", **({"content": content} if content else {}))],
        [manage("create"), loop(LOOP, PASSES, phase("w", write(BLOCK, nest(0, (COUNT, BLOCK)))))],
        loops=["pass"],
    ).model_copy(update=changes)
    (Path(made.journal) / "plan.json").write_text(made.to_json())
    command = [engine, "run", str(Path(made.journal) / "plan.json")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    events = [json.loads(line) for line in out.splitlines()]
    found = [e["seconds"]["total"] for e in events if e["event"] == "phase_finished"]
    return float(min(found)) / COUNT * 1e9


def main() -> None:
    """Prints the cost of each case and what it adds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine-dir", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    engine = str(arguments.engine_dir / "venturi-engine")
    best = dict.fromkeys(CASES, 9e9)
    for _ in range(arguments.turns):
        for name, case in CASES.items():
            with tempfile.TemporaryDirectory() as place:
                best[name] = min(best[name], cost_ns(engine, Path(place), **case))
    for name, cost in best.items():
        added = cost - best["nothing"]
        print(f"{name}: {cost:.1f} ns a write of {BLOCK} bytes (adds {added:.1f})", flush=True)


if __name__ == "__main__":
    main()
