"""Stands for a real application: saves propagators, says how long each took, sums up in JSON."""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path


def main() -> None:
    """Writes into the folder in which it is started."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--props", type=int, required=True)
    arguments.add_argument("--bytes", type=int, required=True)
    asked = arguments.parse_args()
    for number in range(asked.props):
        begin_s = time.perf_counter()
        with Path(f"prop_{number}.lime").open("wb") as file:
            file.write(os.urandom(asked.bytes))
            file.flush()
            os.fsync(file.fileno())
        print(f"Object successfully written: time= {time.perf_counter() - begin_s:.6f} secs")
    summary = {"solver": {"iterations": 17 * asked.props, "converged": True}}
    Path("result.json").write_text(json.dumps(summary), "utf-8")


if __name__ == "__main__":
    main()
