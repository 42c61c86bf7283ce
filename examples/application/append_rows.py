"""A simulation that appends its field to a dataset in an HDF5 file after every step.

    append_rows.py [--sync-every N] [--steps 300] [--points 16384]

The flaw is one that many programs have. To lose nothing in a crash, every step ends with a flush
and an fsync, and so the simulation waits for the storage at every step. Mended, it does so every
N steps, or once at the end (--sync-every 0): a crash then costs the steps since the last one.
"""

from __future__ import annotations

import argparse
import os
import time

import h5py
import numpy as np


def simulate(steps: int, points: int, sync_every: int) -> None:
    """The field of every step in `history.h5`."""
    field = np.random.default_rng(1).standard_normal(points)
    with h5py.File("history.h5", "w") as file:
        history = file.create_dataset(
            "history", (0, points), "f8", maxshape=(None, points), chunks=(1, points)
        )
        for step in range(1, steps + 1):
            field = 0.5 * field + 0.25 * (np.roll(field, 1) + np.roll(field, -1))
            history.resize(step, axis=0)
            history[step - 1] = field
            if step == steps or (sync_every and step % sync_every == 0):
                file.flush()
                os.fsync(file.id.get_vfd_handle())


def main() -> None:
    """One run, in the folder in which it is started."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300, help="steps of the simulation (300)")
    parser.add_argument("--points", type=int, default=16384, help="points of the field (16384)")
    parser.add_argument(
        "--sync-every", type=int, default=1, metavar="N", help="steps from sync to sync (1)"
    )
    options = parser.parse_args()
    begin_s = time.perf_counter()
    simulate(options.steps, options.points, options.sync_every)
    print(f"{options.steps} steps in {time.perf_counter() - begin_s:.3f} s")


if __name__ == "__main__":
    main()
