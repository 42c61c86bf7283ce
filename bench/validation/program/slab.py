"""Writes slabs of a chunked dataset with h5py, and reads them back in columns."""

import h5py
import numpy as np

ROWS, COLUMNS, SLAB = 2048, 2048, 64

with h5py.File("field.h5", "w") as file:
    field = file.create_dataset("field", (ROWS, COLUMNS), "f8", chunks=(128, 256))
    for first in range(0, ROWS, SLAB):
        field[first : first + SLAB] = np.full((SLAB, COLUMNS), float(first))
    file.attrs["rows"] = ROWS
with h5py.File("field.h5", "r") as file:
    for first in range(0, COLUMNS, 512):
        file["field"][:, first : first + 512].sum()
