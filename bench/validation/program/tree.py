"""Makes a tree of small files: tree.py FOLDER."""

import random
import sys
from pathlib import Path

source = random.Random(1)
for folder in range(20):
    place = Path(sys.argv[1], f"part{folder:02d}")
    place.mkdir(parents=True)
    for file in range(50):
        (place / f"file{file:03d}").write_bytes(bytes(source.randrange(500, 60_000)))
