"""Writes checkpoints in requests of 64 KiB, each made persistent, computes between, reads one."""

import os
import time

DUMPS = 6
REQUESTS = 400
BLOCK = bytes(65536)

for dump in range(DUMPS):
    time.sleep(0.05)
    target = os.open(f"checkpoint{dump:03d}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    for _ in range(REQUESTS):
        os.write(target, BLOCK)
    os.fsync(target)
    os.close(target)
source = os.open(f"checkpoint{DUMPS - 1:03d}", os.O_RDONLY)
while os.read(source, 65536):
    pass
os.close(source)
